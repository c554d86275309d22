"""Says notices and errors in the language of an interview; clients that know the codes have words of their own."""

from __future__ import annotations

from collections.abc import Callable

from server.protocol.base import Message
from server.protocol.codes import SENTENCES
from server.protocol.outbound import Error, Notice

Words = Callable[[str], str | None]
"""What the interface says under a key such as `notices.still_thinking`; None where the files don't say it."""

WordsOf = Callable[[str], Words]
"""The words of a language."""


class Wording:
    """Puts the words of one language into what is sent.

    An error that says more than its code (how much is too much, what was expected) is left as it is.

    Args:
        words: of the interview's language.
    """

    def __init__(self, words: Words) -> None:
        self._words = words

    def __call__(self, message: Message) -> Message:
        """The same message in that language."""
        match message:
            case Notice():
                said = self._words(f"notices.{message.code}")
                return message if said is None else message.model_copy(update={"text": said})
            case Error() if message.message == SENTENCES[message.code]:
                said = self._words(f"errors.{message.code}")
                return message if said is None else message.model_copy(update={"message": said})
            case _:
                return message


def usual(language: str) -> Words:
    """No words of a language: everything stays as the protocol's own sentences say it."""
    return lambda key: None

"""The act of a message by which somebody answers whether to go on, in words of their own (English)."""

from __future__ import annotations

from typing import Final

from pipeline.acts import CHOOSES_CALM, CHOOSES_ELSE, CHOOSES_ON, Act, HeardAct
from pipeline.language.reader.network import ReaderNetwork
from pipeline.language.reader.wishes import WISHES, Wish, WishModel

LIKELY: Final = 0.6
"""Probability from which a wish is followed. Of 750 messages by writers whom the model had not seen 644 were understood
from there on, 65 wrongly."""
SURE_TO_STOP: Final = 0.9
"""Probability from which an interview is ended without asking back."""
LONGEST: Final = 25
"""Words of a message up to which it does nothing but choose."""
_ACTS: Final[dict[Wish, tuple[Act, str]]] = {
    "pause": ("wants_pause", ""),
    "go_on": ("aside", CHOOSES_ON),
    "not_upset": ("aside", CHOOSES_CALM),
    "something_else": ("wants_topic", CHOOSES_ELSE),
    "stop": ("wants_stop", ""),
}


def wished(model: WishModel, network: ReaderNetwork, text: str, question: str) -> HeardAct | None:
    """The act of a whole message that says what somebody wants; None where it only tells on, or that is not likely.

    Args:
        model, network: that hear it.
        text: the message.
        question: how it was asked whether to go on.
    """
    plain = text.replace("’", "'")
    if not plain or len(plain.split()) > LONGEST or len(plain) != len(text):
        return None
    chances = model.chances(plain, network.read(question, "", plain))
    if chances is None:
        return None
    wish, chance = WISHES[int(chances.argmax())], float(chances.max())
    if chance < LIKELY or wish not in _ACTS:
        return None
    act, about = _ACTS[wish]
    sure = wish != "stop" or chance >= SURE_TO_STOP
    return HeardAct(act=act, start=0, end=len(text), sure=sure, about=about, heard_by="reader")

"""What a session's owner asks of whatever understands speech."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self

from audio.types import SpeechEvent
from pipeline.concept import Patience, SessionConfiguration
from pipeline.state import InterviewState
from server.session.problems import SessionProblem
from server.session.settings import ListeningSettings

Speculate = Literal["off", "transcript", "turn"]
"""How far the work runs ahead of the certain end of an answer: not at all, to its words, to the decision on them."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """How an answer is listened to.

    Args:
        session_id: whose answer it is.
        language: two-letter code.
        patience: how long a pause may be.
        max_answer_s: the longest answer, in seconds; None for no limit.
        live: whether somebody is speaking, and sees captions; else it is a whole recording.
    """

    session_id: str
    language: str
    patience: Patience
    max_answer_s: float | None
    live: bool = True


def how_to_hear(state: InterviewState, configuration: SessionConfiguration, usual: ListeningSettings) -> Hearing:
    """How such a session is listened to now: as the respondent wishes, else as the concept says, else as usual."""
    concept = configuration.concept
    return Hearing(
        session_id=state.session_id,
        language=state.language,
        patience=state.settings.get("patience") or concept.patience or usual.patience,
        max_answer_s=concept.max_answer_s or usual.max_answer_s,
    )


class Ear(Protocol):
    """Listens to one stretch of audio until an answer is over, as `audio.speech.SpeechStream` does; errors are those of
    `audio.errors`. Used as a context; left, it forgets what it heard.

    Places in its events are samples from the first one that was fed.
    """

    async def __aenter__(self) -> Self:
        """Begin."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop whatever runs."""
        ...

    async def feed(self, pcm: bytes) -> None:
        """Take the next samples, 16-bit little-endian mono at 16 kHz."""
        ...

    def events(self) -> AsyncIterator[SpeechEvent]:
        """What is heard, up to and including `AnswerEnded`."""
        ...

    async def stop(self) -> None:
        """Nothing more comes: end the answer with what was said."""
        ...

    async def hold(self, seconds: float) -> None:
        """Don't take silence for the end for so many seconds of audio from here."""
        ...

    async def set_patience(self, patience: Patience) -> None:
        """Change how long a pause may be, from now on."""
        ...

    def leftover(self) -> bytes:
        """After `AnswerEnded`: the samples that were fed and do not belong to the answer."""
        ...


class Voice(Protocol):
    """Speech on this node."""

    def check(self, language: str) -> None:
        """Whether one more answer in that language can be listened to now.

        Raises:
            SessionProblem: `transcriber_unavailable`, `language_unsupported`, `too_many_sessions`.
        """
        ...

    def open(self, hearing: Hearing) -> Ear:
        """Begin to listen; nothing runs before the first samples."""
        ...

    async def voiced(self, pcm: bytes) -> bool:
        """Whether somebody speaks in these samples."""
        ...

    def speculates(self, configuration: SessionConfiguration) -> Speculate:
        """How far the work runs ahead in such a session."""
        ...


class Mute:
    """Where no speech is understood."""

    def check(self, language: str) -> None:
        """Always raises SessionProblem `transcriber_unavailable`."""
        raise SessionProblem("transcriber_unavailable")

    async def voiced(self, pcm: bytes) -> bool:
        """Nobody is heard."""
        return False

    def speculates(self, configuration: SessionConfiguration) -> Speculate:
        """Nothing runs ahead."""
        return "off"

    def open(self, hearing: Hearing) -> Ear:
        """Always raises SessionProblem `transcriber_unavailable`."""
        raise SessionProblem("transcriber_unavailable")

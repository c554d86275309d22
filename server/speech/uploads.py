"""Uploaded recordings as answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from audio.types import RATE_HZ, AnswerEnded, TranscriptionFailed
from pipeline.state import Receipt
from server.protocol.codec import SAMPLE_BYTES
from server.session import rules
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem
from server.speech.spoken_turns import SpokenTurns
from server.speech.transcript import SpokenTranscript

if TYPE_CHECKING:
    from audio.speech import SpeechStream

CHUNK_BYTES = RATE_HZ * SAMPLE_BYTES
"""Fed at once: a second."""
HOLD_S = 86_400.0
"""No silence in a recording ends it."""


class Uploads:
    """The recordings that are uploaded as answers of one session.

    Args:
        owner: the session.
        turns: makes turns of them.
    """

    def __init__(self, owner: SessionOwner, turns: SpokenTurns) -> None:
        self._owner = owner
        self._session = owner.context
        self._turns = turns

    @property
    def max_answer_s(self) -> float:
        """The longest one, in seconds."""
        return self._session.configuration.concept.max_answer_s or self._turns.services.settings.max_answer_s

    def expect(self, turn_key: str) -> Receipt | None:
        """Refuse a recording that can't be taken as an answer now.

        Returns:
            The result of its turn, if it was taken before.

        Raises:
            SessionProblem: as `Turns.begin` and `Speech.check`.
        """
        known = self._session.ledger.receipt(turn_key)
        if known is None:
            self._turns.services.speech.check(self._session.state.language)
            rules.check_turn(self._session.state, self._session.configuration)
        return known

    async def submit(self, turn_key: str, pcm: bytes) -> Receipt:
        """Take a recording as an answer; returns when its turn is committed.

        Raises:
            SessionProblem: as `expect`; `transcriber_unavailable`; `invalid_input` where no word is recognised.
            TurnFailed: as `SessionOwner.submit`.
        """
        known = self.expect(turn_key)
        if known is not None:
            return known
        with self._owner.in_use():
            transcript = await transcribe(self._turns.stream(live=False), pcm)
        return await self._turns.submit_upload(turn_key, transcript, pcm)


async def transcribe(stream: SpeechStream, pcm: bytes) -> SpokenTranscript:
    """The transcript of a recording.

    Args:
        stream: a new one, without a limit.
        pcm: 16-bit little-endian mono at 16 kHz.

    Raises:
        SessionProblem: `transcriber_unavailable`; `invalid_input` where no word is recognised.
        AudioError: as of the stream.
    """
    async with stream, asyncio.TaskGroup() as tasks:
        await stream.hold(HOLD_S)
        following = tasks.create_task(_follow(stream))
        for start in range(0, len(pcm), CHUNK_BYTES):
            await stream.feed(pcm[start : start + CHUNK_BYTES])
        await stream.stop()
        end, failed = await following
    if failed:
        raise SessionProblem("transcriber_unavailable", "This recording could not be understood. Please try again.")
    transcript = SpokenTranscript().plus(end.text, end.words, 0)
    if not transcript.text:
        raise SessionProblem("invalid_input", "No word could be understood in this recording.")
    return transcript


async def _follow(stream: SpeechStream) -> tuple[AnswerEnded, bool]:
    failed = False
    async for event in stream.events():
        if isinstance(event, TranscriptionFailed):
            failed = True
        elif isinstance(event, AnswerEnded):
            return event, failed
    raise RuntimeError("a speech stream ended without `AnswerEnded`")

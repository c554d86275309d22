"""Whole recordings as answers."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from audio.types import RATE_HZ, AnswerEnded, TranscriptionFailed
from pipeline.concept import SessionConfiguration
from pipeline.state import Receipt
from server.protocol.codec import SAMPLE_BYTES
from server.session import machine
from server.session.conclusion import Conclusion
from server.session.ledger import Ledger
from server.session.problems import SessionProblem
from server.session.said import Said
from server.session.surroundings import Surroundings
from server.session.voice import Ear, how_to_hear

CHUNK_BYTES = RATE_HZ * SAMPLE_BYTES
"""Fed at once: a second."""
FOR_EVER_S = 86_400.0


class RecordedAnswers:
    """The recordings that are sent as answers in one session.

    Args:
        around: what owners share.
        ledger: the session.
        configuration: what it is pinned to.
        conclusion: makes turns of them.
    """

    def __init__(
        self, around: Surroundings, ledger: Ledger, configuration: SessionConfiguration, conclusion: Conclusion
    ) -> None:
        self._around = around
        self._ledger = ledger
        self._configuration = configuration
        self._conclusion = conclusion
        self._hearing = 0

    @property
    def busy(self) -> bool:
        """Whether one is being understood."""
        return self._hearing > 0

    @property
    def max_answer_s(self) -> float:
        """The longest one, in seconds."""
        return self._configuration.concept.max_answer_s or self._around.listening.max_answer_s

    def expect(self, turn_key: str) -> Receipt | None:
        """Whether a recording can be taken as an answer now.

        Returns:
            What its turn answered, if it was taken before.

        Raises:
            SessionProblem: as `SessionOwner.begin` and `Voice.check`.
        """
        known = self._ledger.receipt(turn_key)
        if known is None:
            self._around.voice.check(self._ledger.state.language)
            machine.check_turn(self._ledger.state, self._configuration)
        return known

    async def hear(self, turn_key: str, pcm: bytes) -> Receipt:
        """A recording as an answer; returns when its turn is committed.

        Raises:
            SessionProblem: as `expect`; `transcriber_unavailable`; `invalid_input` where no word is understood.
            TurnFailed: as `SessionOwner.submit`.
        """
        known = self.expect(turn_key)
        if known is not None:
            return known
        usual = how_to_hear(self._ledger.state, self._configuration, self._around.listening)
        self._hearing += 1
        try:
            ear = self._around.voice.open(replace(usual, max_answer_s=None, live=False))
            said = await hear_recording(ear, pcm)
        finally:
            self._hearing -= 1
        return await self._conclusion.submit_recording(turn_key, said, pcm)


async def hear_recording(ear: Ear, pcm: bytes) -> Said:
    """What is said in a recording; no silence in it ends it.

    Args:
        ear: a fresh one, without a limit.
        pcm: 16-bit little-endian mono at 16 kHz.
    Raises:
        SessionProblem: `transcriber_unavailable`; `invalid_input` where no word is understood.
        AudioError: as of the ear.
    """
    async with ear, asyncio.TaskGroup() as tasks:
        await ear.hold(FOR_EVER_S)
        following = tasks.create_task(_follow(ear))
        for start in range(0, len(pcm), CHUNK_BYTES):
            await ear.feed(pcm[start : start + CHUNK_BYTES])
        await ear.stop()
        end, trouble = await following
    if trouble:
        raise SessionProblem("transcriber_unavailable", "This recording could not be understood. Please try again.")
    said = Said().plus(end.text, end.words, 0)
    if not said.text:
        raise SessionProblem("invalid_input", "No word could be understood in this recording.")
    return said


async def _follow(ear: Ear) -> tuple[AnswerEnded, bool]:
    trouble = False
    async for event in ear.events():
        if isinstance(event, TranscriptionFailed):
            trouble = True
        elif isinstance(event, AnswerEnded):
            return event, trouble
    raise RuntimeError("an ear ended without a word")

"""A whole recording as one answer."""

from __future__ import annotations

import asyncio

from audio.types import RATE_HZ, Ended, Trouble
from server.protocol.codec import SAMPLE_BYTES
from server.session.problems import SessionProblem
from server.session.said import Said
from server.session.voice import Ear

CHUNK_BYTES = RATE_HZ * SAMPLE_BYTES
"""Fed at once: a second."""
FOR_EVER_S = 86_400.0


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


async def _follow(ear: Ear) -> tuple[Ended, bool]:
    trouble = False
    async for event in ear.events():
        if isinstance(event, Trouble):
            trouble = True
        elif isinstance(event, Ended):
            return event, trouble
    raise RuntimeError("an ear ended without a word")

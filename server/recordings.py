"""Writes the recordings of answers to files in the background, and deletes those of erased sessions."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import structlog

from server.hot.errors import HotError
from server.metrics import Metrics

if TYPE_CHECKING:
    from audio.recording import Recordings

log = structlog.get_logger("askwell.speech")

MOST_WAITING = 64
SWEEP_EVERY_S = 600.0

IsGone = Callable[[str], Awaitable[bool]]
"""Whether a session is erased, or being erased."""


@dataclass(frozen=True, slots=True)
class _Sound:
    session_id: str
    turn_number: int
    turn_key: str
    pcm: bytes


class FileRecorder:
    """Implements `server.session.recorder.Recorder` with files.

    Args:
        recordings: where they are.
        is_gone: whether a session is erased.
        metrics: counts the recordings that could not be written.
    """

    def __init__(self, recordings: Recordings, is_gone: IsGone, metrics: Metrics) -> None:
        self._recordings = recordings
        self._is_gone = is_gone
        self._metrics = metrics
        self._waiting: deque[_Sound] = deque()
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def keep(self, session_id: str, turn_number: int, turn_key: str, pcm: bytes) -> None:
        """Queue an answer to be written; if MOST_WAITING are queued it is dropped, which is logged and counted."""
        if not pcm:
            return
        if len(self._waiting) >= MOST_WAITING:
            self._lost(session_id, "too many recordings wait to be written")
            return
        self._waiting.append(_Sound(session_id, turn_number, turn_key, pcm))
        self._idle.clear()
        self._changed.set()

    async def run(self) -> None:
        """Write what is queued and delete recordings of erased sessions, until cancelled."""
        swept_at = -SWEEP_EVERY_S
        while True:
            if time.monotonic() - swept_at > SWEEP_EVERY_S:
                await self._sweep()
                swept_at = time.monotonic()
            while self._waiting:
                await self._write(self._waiting.popleft())
            self._idle.set()
            self._changed.clear()
            try:
                async with asyncio.timeout(SWEEP_EVERY_S):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def drain(self) -> None:
        """Wait until everything is written."""
        await self._idle.wait()

    async def erase(self, session_id: str) -> None:
        """Remove all recordings of a session. Raises OSError."""
        await asyncio.to_thread(self._recordings.erase, session_id)

    def of(self, session_id: str) -> list[dict[str, Any]]:
        """The recordings of a session, for a moderator; blocks."""
        return [{"file": path.name, "bytes": path.stat().st_size} for path in self._recordings.of(session_id)]

    def paths(self, session_id: str) -> list[Path]:
        """The files of a session, by turn; blocks."""
        return self._recordings.of(session_id)

    def version_paths(self, session_id: str, digest: str, names: Iterable[str]) -> list[Path]:
        """The files of a version of a session, in that order; blocks."""
        return self._recordings.of_version(session_id, digest, names)

    async def stage(self, session_id: str, digest: str, name: str, source: IO[bytes]) -> None:
        """Copy a recording that was made on another machine, and came in that bundle. Raises OSError, ValueError."""
        await asyncio.to_thread(self._recordings.stage, session_id, digest, name, source)

    async def place(self, session_id: str, digest: str, *, replaced: str | None) -> None:
        """Make what was staged the session's, in place of what differs of the version `replaced`. Raises OSError."""
        await asyncio.to_thread(self._recordings.place, session_id, digest, replaced=replaced)

    async def set_aside(self, session_id: str, digest: str) -> None:
        """Keep what was staged for that version of the session. Raises OSError."""
        await asyncio.to_thread(self._recordings.set_aside, session_id, digest)

    async def unstage(self, session_id: str, digest: str) -> None:
        """Remove what was staged. Raises OSError."""
        await asyncio.to_thread(self._recordings.unstage, session_id, digest)

    async def erase_if_gone(self, session_id: str) -> None:
        """Remove the recordings of a session that was erased while they were written."""
        await self._erase_if_gone(session_id)

    async def _write(self, sound: _Sound) -> None:
        try:
            samples = np.frombuffer(sound.pcm, "<i2").astype(np.int16)
            await asyncio.to_thread(self._recordings.keep, sound.session_id, sound.turn_number, sound.turn_key, samples)
        except (OSError, ValueError) as exc:
            self._lost(sound.session_id, str(exc))
            return
        # The session may have been erased meanwhile: then its files were looked for before this one was there.
        await self._erase_if_gone(sound.session_id)

    async def _sweep(self) -> None:
        for session_id in await asyncio.to_thread(self._recordings.sessions):
            await self._erase_if_gone(session_id)

    async def _erase_if_gone(self, session_id: str) -> None:
        try:
            if await self._is_gone(session_id):
                await self.erase(session_id)
        except (HotError, OSError) as exc:
            log.warning("recording.not_erased", session=session_id, reason=repr(exc))

    def _lost(self, session_id: str, reason: str) -> None:
        self._metrics.recordings_lost.inc()
        log.error("recording.lost", session=session_id, reason=reason)

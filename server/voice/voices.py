"""The voices of a process: which program reads which language; tried at the start, and left alone when broken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from config.voice import VoiceSettings
from server.metrics import Metrics
from server.voice.errors import VoiceFailed
from server.voice.program import Command, Program
from server.voice.remembered import RememberedSounds

log = structlog.get_logger("askwell.voice")

SAMPLE: Final = "1, 2, 3."
"""What is read at the start, in any language."""
FAILURES: Final = 3
"""So many failures in a row, and a program is left alone for REST_S."""
REST_S: Final = 60.0
MOST_PROGRAMS: Final = 16
"""Programs of different languages that are kept ready in one process."""


@dataclass
class _Health:
    """How a program does: failures in a row, and until when it is left alone, in seconds of the clock."""

    failures: int = 0
    rests_until: float = 0.0


class Voices:
    """Reads sentences aloud.

    Args:
        settings: which programs, and what they may take.
        metrics: of the process.
        clock: monotonic seconds.
    """

    def __init__(self, settings: VoiceSettings, metrics: Metrics, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._programs: dict[tuple[str, ...], Program] = {}
        self._health: dict[tuple[str, ...], _Health] = {}
        self._slots = asyncio.Semaphore(settings.voice_at_once)
        self._remembered = RememberedSounds(settings.voice_cache_bytes)
        self.problems: dict[str, str] = {}
        """Languages whose programs did not read the sample, and why."""

    def speaks(self, language: str) -> bool:
        """Whether a program reads that language."""
        return self._arguments(language) is not None

    @property
    def line(self) -> str:
        """Who reads questions aloud, for the person who started the process."""
        settings = self._settings
        if not settings.has_voice:
            return "the browser's"
        own = [entry.partition("=")[0].strip() for entry in settings.voice_commands]
        named = ", ".join(name for name in own if name.lower() not in self.problems)
        general = "all other languages" if own else "all languages"
        reads = ", ".join(filter(None, [named, general if settings.voice_command else ""])) or "no language"
        missing = "; ".join(f"{language} is left to the browser: {why}" for language, why in self.problems.items())
        return f"this machine's, for {reads}" + (f"; {missing}" if missing else "")

    def _arguments(self, language: str) -> tuple[str, ...] | None:
        tag = language.lower()
        if tag in self.problems or tag.partition("-")[0] in self.problems:
            return None
        return self._settings.command_for(language)

    async def say(self, language: str, text: str) -> bytes:
        """The sound of a sentence: 16-bit little-endian mono at VOICE_HZ.

        Raises:
            VoiceFailed: there is none.
        """
        arguments = self._arguments(language)
        if arguments is None:
            raise VoiceFailed("unavailable", f"no program reads {language}")
        key = arguments, text
        remembered = self._remembered.get(key)
        if remembered is not None:
            self._metrics.voice_sentences.labels("remembered").inc()
            return remembered
        try:
            sound = await self._said(arguments, text)
        except VoiceFailed as exc:
            self._metrics.voice_sentences.labels(exc.reason).inc()
            log.warning(
                "voice.failed", language=language, program=arguments[0], reason=exc.reason, told=exc.told,
                **{"pii.said": exc.said},
            )  # fmt: skip
            raise
        self._metrics.voice_sentences.labels("said").inc()
        self._remembered.put(key, sound)
        return sound

    async def _said(self, arguments: tuple[str, ...], text: str) -> bytes:
        health = self._health.setdefault(arguments, _Health())
        if self._clock() < health.rests_until:
            raise VoiceFailed("resting", "it failed again and again and is left alone for a minute")
        try:
            async with asyncio.timeout(self._settings.voice_deadline_s):
                await self._slots.acquire()
        except TimeoutError as exc:
            raise VoiceFailed("busy", "too many sentences are being read; raise ASKWELL_VOICE_AT_ONCE") from exc
        began = time.perf_counter()
        try:
            sound = await (await self._program(arguments)).say(text)
        except VoiceFailed:
            health.failures += 1
            if health.failures >= FAILURES:
                # One more try after the rest.
                health.failures, health.rests_until = FAILURES - 1, self._clock() + REST_S
            raise
        finally:
            self._slots.release()
        health.failures = 0
        self._metrics.voice_ms.observe((time.perf_counter() - began) * 1000.0)
        return sound

    async def _program(self, arguments: tuple[str, ...]) -> Program:
        program = self._programs.pop(arguments, None)
        if program is None:
            settings = self._settings
            program = Program(Command(arguments, settings.voice_raw_hz, settings.voice_deadline_s))
        self._programs[arguments] = program
        while len(self._programs) > MOST_PROGRAMS:
            await self._programs.pop(next(iter(self._programs))).aclose()
        return program

    async def try_out(self, languages: Sequence[str]) -> None:
        """Have a sample read in each of these languages that has a program; those that fail are left to browsers."""
        wanted = {entry.partition("=")[0].strip().lower() for entry in self._settings.voice_commands}
        if self._settings.voice_command is not None:
            wanted |= {language.lower() for language in languages}
        for language in sorted(wanted):
            arguments = self._settings.command_for(language)
            if arguments is None:
                continue
            try:
                await (await self._program(arguments)).say(SAMPLE)
            except VoiceFailed as exc:
                # The sample is nobody's, so that what the program said of it may be shown.
                self.problems[language] = exc.told + (f" ({exc.said})" if exc.said else "")
                log.warning("voice.missing", language=language, program=arguments[0], reason=self.problems[language])

    async def aclose(self) -> None:
        """End what was started ahead."""
        programs, self._programs = self._programs, {}
        for program in programs.values():
            await program.aclose()


@asynccontextmanager
async def open_voices(
    settings: VoiceSettings, metrics: Metrics, *, languages: Sequence[str], say: Callable[[str], None]
) -> AsyncIterator[tuple[Voices, asyncio.Task[None]]]:
    """The voices for as long as the block runs, and the task that tries them, beside whatever else the block does.

    Args:
        settings: which programs, and what they may take.
        metrics: of the process.
        languages: those in which interviews may be held.
        say: told what is being done.
    """
    voices = Voices(settings, metrics)
    if settings.has_voice:
        say("trying the voice that reads questions aloud")
    try:
        async with asyncio.TaskGroup() as tasks:
            trying = tasks.create_task(voices.try_out(languages), name="voice")
            yield voices, trying
            trying.cancel()
    finally:
        await voices.aclose()

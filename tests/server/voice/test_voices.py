"""Which program reads which language, and what becomes of those that fail."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import uvloop

from audio.voice_sound import VOICE_HZ
from config.voice import VoiceSettings
from server.metrics import Metrics
from server.voice.errors import VoiceFailed
from server.voice.remembered import RememberedSounds
from server.voice.voices import FAILURES, REST_S, Voices
from tests.support.voice_program import VoiceProgram, sung

TEXT = "Why is that?"


@pytest.fixture
def program(tmp_path: Path) -> VoiceProgram:
    return VoiceProgram(tmp_path)


class Clock:
    """Monotonic seconds that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def refused(voices: Voices, text: str, language: str = "en") -> VoiceFailed:
    with pytest.raises(VoiceFailed) as failed:
        await voices.say(language, text)
    return failed.value


def alive(program: VoiceProgram) -> list[int]:
    """Processes of the program (Linux)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            state = path.with_name("stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and str(program.folder).encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


async def test_language_goes_to_its_own_program_else_to_the_one_for_all(program: VoiceProgram) -> None:
    own = program.command.replace("{language}", "own")
    voices = Voices(VoiceSettings(voice_command=program.command, voice_commands=(f"de={own}",)), Metrics())
    for language in ("en-GB", "de", "de-AT"):
        assert voices.speaks(language)
        assert await voices.say(language, TEXT) == sung(TEXT)
    await voices.aclose()
    assert program.said == [f"en-GB|{TEXT}", f"own|{TEXT}"], "the second one of German was remembered"


async def test_language_of_no_program_is_not_spoken(program: VoiceProgram) -> None:
    voices = Voices(VoiceSettings(voice_commands=(f"de={program.command}",)), Metrics())
    assert not voices.speaks("en")
    assert not voices.speaks("--voices")
    assert (await refused(voices, TEXT)).reason == "unavailable"
    assert not Voices(VoiceSettings(), Metrics()).speaks("en")


async def test_process_is_started_ahead_and_ended_with_the_voices(program: VoiceProgram) -> None:
    voices = Voices(VoiceSettings(voice_command=program.command), Metrics())
    await voices.say("en", TEXT)
    [ahead] = alive(program)
    await voices.say("en", "And this?")
    assert alive(program) != [ahead]
    await voices.aclose()
    assert alive(program) == []
    assert program.said == [f"en|{TEXT}", "en|And this?"]


async def test_process_that_died_while_it_waited_is_replaced(program: VoiceProgram) -> None:
    voices = Voices(VoiceSettings(voice_command=program.command), Metrics())
    await voices.say("en", TEXT)
    [ahead] = alive(program)
    os.kill(ahead, signal.SIGKILL)
    while alive(program):
        await asyncio.sleep(0.01)
    assert await voices.say("en", "And this?") == sung("And this?")
    await voices.aclose()


async def test_sentence_that_nobody_waits_for_any_more_leaves_no_process(program: VoiceProgram) -> None:
    voices = Voices(VoiceSettings(voice_command=program.command), Metrics())
    async with asyncio.TaskGroup() as tasks:
        saying = tasks.create_task(voices.say("en", "It HANGS."))
        while not program.said:
            await asyncio.sleep(0.01)
        saying.cancel()
    await asyncio.sleep(0.1)
    assert alive(program) == []


class SlowStarts(ThreadPoolExecutor):
    """Threads in which the second process that is started waits for a test."""

    def __init__(self) -> None:
        super().__init__(4)
        self.asked, self.allowed, self.started = threading.Event(), threading.Event(), threading.Event()
        self._starts = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        called = getattr(fn, "args", ())
        if called and getattr(called[0], "__name__", "") == "_spawn":
            self._starts += 1
            if self._starts == 2:
                return super().submit(self._late, fn)
        return super().submit(fn, *args, **kwargs)

    def _late(self, fn: Callable[[], Any]) -> Any:
        # Only a thread that has begun can't be called off any more.
        self.asked.set()
        self.allowed.wait()
        try:
            return fn()
        finally:
            self.started.set()


async def test_sentence_given_up_while_the_next_process_starts_harms_no_other(program: VoiceProgram) -> None:
    voices = Voices(VoiceSettings(voice_command=program.command, voice_deadline_s=5.0), Metrics())
    threads = SlowStarts()
    asyncio.get_running_loop().set_default_executor(threads)
    async with asyncio.TaskGroup() as tasks:
        saying = tasks.create_task(voices.say("en", TEXT))
        while not threads.asked.is_set():
            await asyncio.sleep(0.01)
        saying.cancel()
    threads.allowed.set()
    while not threads.started.is_set():
        await asyncio.sleep(0.01)
    assert await voices.say("en", "And this?") == sung("And this?")
    await voices.aclose()
    await asyncio.sleep(0.1)
    assert alive(program) == []


@pytest.mark.parametrize(
    ("how", "reason", "told"),
    [
        ("DIES", "exit", "signal 9"),
        ("FAILS", "exit", "status 3"),
        ("GARBAGE", "sound", "no WAV"),
        ("NOTHING", "sound", "no WAV"),
        ("SILENCE", "sound", "silence"),
        ("FLOODS", "too_much", "more than"),
    ],
)
async def test_program_that_misbehaves_is_ended_and_told(
    program: VoiceProgram, how: str, reason: str, told: str
) -> None:
    voices = Voices(VoiceSettings(voice_command=program.command), Metrics())
    failed = await refused(voices, f"It {how}.")
    assert failed.reason == reason
    assert told in failed.told
    assert how not in failed.told, "nothing of the sentence"
    assert await voices.say("en", TEXT) == sung(TEXT)
    await voices.aclose()
    assert alive(program) == []


async def test_program_that_hangs_is_ended_in_time(program: VoiceProgram) -> None:
    voices = Voices(VoiceSettings(voice_command=program.command, voice_deadline_s=0.5), Metrics())
    began = time.monotonic()
    assert (await refused(voices, "It HANGS.")).reason == "deadline"
    assert time.monotonic() - began < 10
    await asyncio.sleep(0.1)
    assert alive(program) == []


async def test_program_that_fails_again_and_again_is_left_alone_for_a_while(program: VoiceProgram) -> None:
    clock = Clock()
    voices = Voices(VoiceSettings(voice_command=program.command), Metrics(), clock)
    for number in range(FAILURES):
        assert (await refused(voices, f"It FAILS {number}.")).reason == "exit"
    assert (await refused(voices, TEXT)).reason == "resting"
    assert len(program.said) == FAILURES
    clock.now = REST_S + 1
    assert await voices.say("en", TEXT) == sung(TEXT)
    assert (await refused(voices, "It FAILS.")).reason == "exit"
    assert await voices.say("en", "And this?") == sung("And this?"), "one failure is none in a row"
    await voices.aclose()


async def test_sample_is_tried_and_what_fails_is_left_to_browsers(program: VoiceProgram, tmp_path: Path) -> None:
    commands = (f"de={tmp_path / 'nowhere'} x", f"ar={sys.executable} -c 'raise SystemExit(4)'")
    settings = VoiceSettings(voice_command=program.command, voice_commands=commands)
    voices = Voices(settings, Metrics())
    await voices.try_out(["en", "de", "ar"])
    assert set(voices.problems) == {"de", "ar"}
    assert "can't be started: No such file" in voices.problems["de"]
    assert "status 4" in voices.problems["ar"]
    assert [voices.speaks(language) for language in ("en", "de", "de-AT", "ar")] == [True, False, False, False]
    assert "de is left to the browser" in voices.line
    assert program.said == ["en|1, 2, 3."]
    await voices.aclose()


async def test_sentences_of_one_process_wait_for_one_another_and_not_for_ever(program: VoiceProgram) -> None:
    settings = VoiceSettings(voice_command=program.command, voice_at_once=1, voice_deadline_s=3.0)
    voices = Voices(settings, Metrics())
    hanging, waiting = voices.say("en", "It HANGS."), voices.say("en", TEXT)
    first, second = await asyncio.gather(hanging, waiting, return_exceptions=True)
    assert isinstance(first, VoiceFailed)
    assert second == sung(TEXT) or (isinstance(second, VoiceFailed) and second.reason == "busy")
    await voices.aclose()


async def test_sentence_is_one_line_whatever_it_holds(program: VoiceProgram) -> None:
    voices = Voices(VoiceSettings(voice_command=program.command), Metrics())
    await voices.say("en", "Why; `touch x` $(id)\x00\x1b[2J\nand\u2028this?")
    await voices.aclose()
    assert len(program.said) == 1
    assert program.said[0].startswith("en|Why; `touch x` $(id)[2J")


def test_voice_works_on_the_loop_that_the_server_runs_on(program: VoiceProgram) -> None:
    async def said() -> bytes:
        voices = Voices(VoiceSettings(voice_command=program.command), Metrics())
        first = await voices.say("en", TEXT)
        second = await voices.say("en", "And this?")
        await voices.aclose()
        return first + second

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(said()) == sung(TEXT) + sung("And this?")


@pytest.mark.needs("espeak-ng")
async def test_espeak_reads_every_language_of_the_pages() -> None:
    assert shutil.which("espeak-ng")
    voices = Voices(VoiceSettings(voice_command="espeak-ng --stdin --stdout -v {language}"), Metrics())
    await voices.try_out(["en", "de", "ar", "xx"])
    assert set(voices.problems) == {"xx"}
    for language, text in (
        ("en", "What do you like about it?"),
        ("de", "Was mögen Sie daran?"),
        ("ar", "ماذا يعجبك فيها؟"),
    ):
        sound = await voices.say(language, text)
        assert 0.5 < len(sound) / 2 / VOICE_HZ < 6
    await voices.aclose()


def test_memory_for_sounds_is_bounded_and_forgets_what_was_used_least() -> None:
    sounds = RememberedSounds(10)
    for name in ("a", "b"):
        sounds.put((("x",), name), b"12345")
    assert sounds.get((("x",), "a")) == b"12345"
    sounds.put((("x",), "c"), b"12345")
    assert (sounds.get((("x",), "b")), sounds.bytes) == (None, 10)
    sounds.put((("x",), "d"), b"x" * 11)
    assert sounds.get((("x",), "a")) == b"12345"
    sounds.put((("x",), "a"), b"1")
    assert sounds.bytes == 6
    nothing = RememberedSounds(0)
    nothing.put((("x",), "a"), b"1")
    assert nothing.get((("x",), "a")) is None

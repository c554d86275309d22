"""WhisperTranscriber over an engine that returns when the test lets it, and the built-in model itself."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
import wave
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.admission import AdmissionLimits
from audio.decoding import DecodedText, DecodedWord
from audio.errors import ModelMissing, TranscriberDropped, TranscriberFailed, TranscriberUnavailable
from audio.models import SpeechModel, find_model
from audio.types import RATE_HZ, Purpose, Samples, Transcript
from audio.whisper import BeamSizes, FasterWhisper, WhisperTranscriber
from tests.support.patience import PATIENCE_S


@dataclass
class GatedEngine:
    """Begins at once and returns when it is let: calls are known by the first sample of their audio."""

    known: frozenset[str] | None = frozenset({"en"})
    broken: set[int] = field(default_factory=set)
    begun: list[int] = field(default_factory=list)
    beam_sizes: list[int] = field(default_factory=list)
    _gates: dict[int, threading.Event] = field(default_factory=dict)
    _news: threading.Condition = field(default_factory=threading.Condition)

    @property
    def model_id(self) -> str:
        return "gated"

    @property
    def languages(self) -> frozenset[str] | None:
        return self.known

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
        name = round(float(audio[0]) * 32768)
        with self._news:
            self.begun.append(name)
            self.beam_sizes.append(beam_size)
            gate = self._gates.setdefault(name, threading.Event())
            self._news.notify_all()
        assert gate.wait(PATIENCE_S)
        if name in self.broken:
            raise RuntimeError("out of memory")
        return DecodedText(
            f"answer {name}", (DecodedWord("answer", 0.0, 0.5, 0.9), DecodedWord(str(name), 0.5, 1.0, 0.9)), 0.1, -0.2
        )

    def let(self, *names: int) -> None:
        """Let calls return, also ones that have not begun."""
        with self._news:
            for name in names:
                self._gates.setdefault(name, threading.Event()).set()

    async def has_begun(self, *names: int) -> None:
        """Wait until exactly these have begun, in any order."""

        def wait() -> None:
            with self._news:
                assert self._news.wait_for(lambda: len(self.begun) >= len(names), PATIENCE_S), self.begun

        await asyncio.to_thread(wait)
        assert sorted(self.begun) == sorted(names)


def clip(name: int, seconds: float = 1.0) -> Samples:
    samples = np.zeros(int(seconds * RATE_HZ), np.int16)
    samples[0] = name
    return samples


@asynccontextmanager
async def pool(
    engine: GatedEngine,
    *,
    workers: int = 1,
    limits: AdmissionLimits | None = None,
    beam_sizes: BeamSizes | None = None,
    read_again: bool = False,
) -> AsyncIterator[WhisperTranscriber]:
    transcriber = WhisperTranscriber(
        engine, workers=workers, limits=limits, beam_sizes=beam_sizes, read_again=read_again
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield transcriber
    finally:
        engine.let(*range(100))
        await transcriber.aclose()


def ask(
    group: asyncio.TaskGroup, transcriber: WhisperTranscriber, name: int, purpose: Purpose, session: object = None
) -> asyncio.Task[Transcript | Exception]:
    async def call() -> Transcript | Exception:
        try:
            return await transcriber.transcribe(clip(name), language="en", purpose=purpose, session=session)
        except TranscriberUnavailable as exc:
            return exc

    return group.create_task(call())


async def turn_over() -> None:
    """Let tasks run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def text_of(task: asyncio.Task[Transcript | Exception]) -> str:
    found = await task
    assert isinstance(found, Transcript), found
    return found.text


async def test_final_overtakes_guess_and_partial_that_wait() -> None:
    engine = GatedEngine()
    async with pool(engine, limits=AdmissionLimits(partial_wait_s=60.0)) as transcriber, asyncio.TaskGroup() as group:
        tasks = [ask(group, transcriber, 1, "final")]
        await turn_over()
        tasks += [
            ask(group, transcriber, 2, "partial"),
            ask(group, transcriber, 3, "guess"),
            ask(group, transcriber, 4, "final"),
        ]
        await turn_over()
        engine.let(1, 2, 3, 4)
        assert [await text_of(task) for task in tasks] == ["answer 1", "answer 2", "answer 3", "answer 4"]
        assert engine.begun == [1, 4, 3, 2]


async def test_words_of_each_call_are_its_own_and_in_place() -> None:
    engine = GatedEngine()
    engine.let(*range(1, 21))
    async with pool(engine, workers=3) as transcriber:
        found = await asyncio.gather(
            *(transcriber.transcribe(clip(n), language="en", purpose="final", offset=1000 * n) for n in range(1, 21))
        )
    assert [each.text for each in found] == [f"answer {n}" for n in range(1, 21)]
    assert [each.words[0].start for each in found] == [1000 * n for n in range(1, 21)]


async def test_partial_that_finds_no_time_is_dropped_and_counted() -> None:
    engine = GatedEngine()
    async with pool(engine, limits=AdmissionLimits(partial_wait_s=0.0)) as transcriber, asyncio.TaskGroup() as group:
        final = ask(group, transcriber, 1, "final")
        await engine.has_begun(1)
        waiting = ask(group, transcriber, 2, "final")
        await turn_over()
        assert isinstance(await ask(group, transcriber, 3, "partial"), TranscriberDropped)
        engine.let(1, 2)
        assert [await text_of(final), await text_of(waiting)] == ["answer 1", "answer 2"]
        assert transcriber.current_load().dropped == {"partial": 1}


async def test_partial_that_was_overtaken_for_too_long_is_dropped() -> None:
    engine = GatedEngine()
    limits = AdmissionLimits(partial_wait_s=1e-9)
    async with pool(engine, workers=2, limits=limits) as transcriber, asyncio.TaskGroup() as group:
        final = ask(group, transcriber, 1, "final")
        await engine.has_begun(1)
        partial = ask(group, transcriber, 2, "partial")
        await turn_over()
        engine.let(1)
        await text_of(final)
        assert isinstance(await partial, TranscriberDropped)
        assert engine.begun == [1]


async def test_more_finals_than_can_ever_be_done_are_refused() -> None:
    engine = GatedEngine()
    async with pool(engine, limits=AdmissionLimits(final_wait_s=0.5)) as transcriber, asyncio.TaskGroup() as group:
        tasks = [ask(group, transcriber, n, "final") for n in range(1, 6)]
        await turn_over()
        engine.let(1, 2)
        found = [await task for task in tasks]
        assert [isinstance(each, TranscriberDropped) for each in found] == [False, False, True, True, True]
        assert transcriber.current_load().dropped == {"final": 3}


async def test_cancelled_call_holds_its_worker_until_the_thread_returns() -> None:
    engine = GatedEngine()
    async with pool(engine) as transcriber, asyncio.TaskGroup() as group:
        cancelled = ask(group, transcriber, 1, "guess")
        await engine.has_begun(1)
        cancelled.cancel()
        waiting = ask(group, transcriber, 2, "final")
        await turn_over()
        assert cancelled.cancelled()
        assert engine.begun == [1]
        load = transcriber.current_load()
        assert (load.running, load.waiting, load.cancelled) == (1, 1, {"guess": 1})
        engine.let(1, 2)
        assert await text_of(waiting) == "answer 2"


async def test_cancelled_call_that_waits_is_never_decoded() -> None:
    engine = GatedEngine()
    async with pool(engine) as transcriber, asyncio.TaskGroup() as group:
        first = ask(group, transcriber, 1, "final")
        await engine.has_begun(1)
        cancelled = ask(group, transcriber, 2, "guess")
        last = ask(group, transcriber, 3, "final")
        await turn_over()
        cancelled.cancel()
        engine.let(1, 2, 3)
        assert [await text_of(first), await text_of(last)] == ["answer 1", "answer 3"]
        assert engine.begun == [1, 3]


async def test_session_has_one_guess_at_work() -> None:
    engine = GatedEngine()
    async with pool(engine, workers=2) as transcriber, asyncio.TaskGroup() as group:
        first = ask(group, transcriber, 1, "guess", session="a")
        await engine.has_begun(1)
        first.cancel()
        second = ask(group, transcriber, 2, "guess", session="a")
        await turn_over()
        other = ask(group, transcriber, 3, "guess", session="b")
        await engine.has_begun(1, 3)
        engine.let(1, 2, 3)
        assert [await text_of(second), await text_of(other)] == ["answer 2", "answer 3"]


async def test_failing_model_fails_its_call_only() -> None:
    engine = GatedEngine(broken={1})
    engine.let(1, 2)
    async with pool(engine) as transcriber:
        with pytest.raises(TranscriberFailed, match="out of memory"):
            await transcriber.transcribe(clip(1), language="en", purpose="final")
        assert (await transcriber.transcribe(clip(2), language="en", purpose="final")).text == "answer 2"


async def test_captions_follow_one_hypothesis_and_all_else_several_however_busy_the_workers_are() -> None:
    engine = GatedEngine()
    async with pool(engine, beam_sizes=BeamSizes(partial=1, final=4)) as transcriber, asyncio.TaskGroup() as group:
        purposes: list[Purpose] = ["final", "guess", "recording", "final", "guess", "final"]
        for number, purpose in enumerate(purposes, start=1):
            group.create_task(transcriber.transcribe(clip(number), language="en", purpose=purpose))
        await asyncio.sleep(0)
        engine.let(*range(1, len(purposes) + 1))
    async with pool(engine, beam_sizes=BeamSizes(partial=1, final=4)) as transcriber:
        engine.let(7)
        await transcriber.transcribe(clip(7), language="en", purpose="partial")
    assert engine.beam_sizes == [4] * len(purposes) + [1]


async def test_unknown_language_and_too_long_audio_are_refused() -> None:
    async with pool(GatedEngine()) as transcriber:
        with pytest.raises(TranscriberUnavailable, match="'xx'"):
            await transcriber.transcribe(clip(1), language="xx", purpose="final")
        with pytest.raises(TranscriberFailed, match="30 s"):
            await transcriber.transcribe(clip(1, seconds=30.1), language="en", purpose="final")


async def test_samples_may_change_after_the_call() -> None:
    engine = GatedEngine()
    async with pool(engine) as transcriber, asyncio.TaskGroup() as group:
        first = ask(group, transcriber, 1, "final")
        await engine.has_begun(1)
        ring = clip(2)
        call = group.create_task(transcriber.transcribe(ring, language="en", purpose="final"))
        await turn_over()
        ring[:] = 99
        engine.let(1, 2)
        await first
        assert (await call).text == "answer 2"


async def test_closing_refuses_what_waits_and_returns_after_what_runs() -> None:
    engine = GatedEngine()
    transcriber = WhisperTranscriber(engine, workers=1)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        running = ask(group, transcriber, 1, "final")
        await engine.has_begun(1)
        waiting = ask(group, transcriber, 2, "final")
        await turn_over()
        closing = group.create_task(transcriber.aclose())
        await turn_over()
        assert isinstance(await waiting, TranscriberUnavailable)
        assert not closing.done()
        engine.let(1)
        await closing
        assert await text_of(running) == "answer 1"
        with pytest.raises(TranscriberUnavailable, match="closed"):
            await transcriber.transcribe(clip(3), language="en", purpose="final")
    assert engine.begun == [1]


# -- the built-in model


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> FasterWhisper:
    """The built-in model, for two threads."""
    return FasterWhisper(find_model(store=tmp_path_factory.mktemp("store")), workers=2)


def spoken(text: str, folder: Path) -> Samples:
    """The text said by espeak-ng, at RATE_HZ, with some silence around it."""
    program = shutil.which("espeak-ng")
    assert program is not None
    path = folder / "said.wav"
    subprocess.run([program, "-v", "en-us", "-s", "140", "-w", str(path), text], check=True, timeout=60)
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        said = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float64)
    places = np.arange(0, len(said), rate / RATE_HZ)
    quiet = np.zeros(RATE_HZ // 2)
    return np.concatenate([quiet, np.interp(places, np.arange(len(said)), said), quiet]).astype(np.int16)


@pytest.mark.needs("espeak-ng")
async def test_built_in_model_understands_speech_and_places_its_words(engine: FasterWhisper, tmp_path: Path) -> None:
    samples = spoken("Yes. The price has gone up twice since the summer.", tmp_path)
    transcriber = WhisperTranscriber(engine)
    try:
        found = await transcriber.transcribe(samples, language="en", purpose="final", offset=16_000)
    finally:
        await transcriber.aclose()
    assert "the price has gone up twice since the summer" in found.text.lower().replace(",", "")
    assert " ".join(word.text for word in found.words) == found.text
    places = [place for word in found.words for place in (word.start, word.end)]
    assert places == sorted(places)
    assert 16_000 <= places[0] <= places[-1] <= 16_000 + len(samples)
    assert found.words[-1].start > 16_000 + len(samples) * 0.6
    assert all(0.0 < word.probability <= 1.0 for word in found.words)
    assert found.no_speech < 0.5


@pytest.mark.needs("espeak-ng")
def test_built_in_model_says_the_same_in_two_threads_at_once(engine: FasterWhisper, tmp_path: Path) -> None:
    clips = [spoken(text, tmp_path) for text in ("I like the taste of coffee.", "My train was late this morning.")]

    def text_of_clip(n: int) -> str:
        audio = (clips[n] / 32768.0).astype(np.float32)
        return engine.decode(audio, context_s=10, beam_size=1, language="en").text

    alone = [text_of_clip(0), text_of_clip(1)]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(text_of_clip, [0, 1] * 3))
    assert together == alone * 3
    assert alone[0] != alone[1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["silence", "white noise", "clicks", "hum"])
async def test_built_in_model_hears_no_words_where_nobody_speaks(engine: FasterWhisper, kind: str, seed: int) -> None:
    chance = np.random.default_rng(seed)
    length = RATE_HZ * (1, 4, 12)[seed]
    sound = {
        "silence": np.zeros(length),
        "white noise": chance.standard_normal(length) * 3000,
        "clicks": (chance.random(length) < 1e-3) * 20_000.0,
        "hum": np.sin(2 * np.pi * 100 * np.arange(length) / RATE_HZ) * 5000 + chance.standard_normal(length) * 50,
    }[kind]
    transcriber = WhisperTranscriber(engine)
    try:
        found = await transcriber.transcribe(sound.astype(np.int16), language="en", purpose="final")
    finally:
        await transcriber.aclose()
    assert (found.text, found.words) == ("", ())
    assert found.no_speech > 0.5


def test_built_in_model_knows_english_only(engine: FasterWhisper) -> None:
    assert engine.languages == frozenset({"en"})
    assert "tiny.en" in engine.model_id


def test_model_that_is_none_is_missing(tmp_path: Path) -> None:
    for name in ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(ModelMissing, match="can't be used"):
        FasterWhisper(SpeechModel("broken", tmp_path, "path"), workers=1)


async def test_reading_again_is_given_up_as_soon_as_somebody_needs_the_last_worker() -> None:
    engine = GatedEngine()
    async with pool(engine, read_again=True) as transcriber, asyncio.TaskGroup() as group:
        again = ask(group, transcriber, 1, "again")
        await engine.has_begun(1)
        final = ask(group, transcriber, 2, "final")
        await engine.has_begun(1, 2)
        assert isinstance(await again, TranscriberDropped), "told at once, although its run goes on"
        engine.let(2)
        assert await text_of(final) == "answer 2"
        refused = ask(group, transcriber, 3, "again")
        assert isinstance(await refused, TranscriberDropped), "the worker is not free yet"
        engine.let(1)


async def test_reading_again_is_refused_where_it_is_not_wanted_and_done_where_it_is() -> None:
    for wanted in (False, True):
        engine = GatedEngine()
        engine.let(1)
        async with pool(engine, read_again=wanted) as transcriber, asyncio.TaskGroup() as group:
            found = await ask(group, transcriber, 1, "again")
        assert isinstance(found, Transcript if wanted else TranscriberDropped)

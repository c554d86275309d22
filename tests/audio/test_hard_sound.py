"""Overloaded microphones and noise, with voice activity detection and the built-in model."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import wave
from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio

from audio.models import find_model
from audio.speech import SpeechStream
from audio.types import RATE_HZ, AnswerEnded, Samples
from audio.vad import SileroDetector
from audio.whisper import BeamSizes, FasterWhisper, WhisperTranscriber

SENTENCE = "The price has gone up twice since the summer, and nobody told me why."
CHUNK = RATE_HZ // 10

pytestmark = [pytest.mark.needs("espeak-ng"), pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The sentence at a usual level, in [-1, 1], with silence around it."""
    program = shutil.which("espeak-ng")
    assert program is not None
    path = tmp_path_factory.mktemp("said") / "said.wav"
    subprocess.run([program, "-v", "en-us", "-s", "140", "-w", str(path), SENTENCE], check=True, timeout=60)
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        said = np.frombuffer(file.readframes(file.getnframes()), np.int16) / 32768.0
    places = np.arange(0, len(said), rate / RATE_HZ)
    return np.concatenate([np.zeros(RATE_HZ), np.interp(places, np.arange(len(said)), said), np.zeros(2 * RATE_HZ)])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def transcriber(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WhisperTranscriber]:
    """The built-in model, with as many hypotheses however busy the machine is."""
    engine = await asyncio.to_thread(lambda: FasterWhisper(find_model(store=tmp_path_factory.mktemp("s")), workers=1))
    whisper = WhisperTranscriber(engine, beam_sizes=BeamSizes())
    yield whisper
    await whisper.aclose()


def noise(length: int, rms: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A noise like that of a fan: louder below."""
    spectrum = np.fft.rfft(np.random.default_rng(3).standard_normal(length))
    spectrum /= np.sqrt(np.maximum(1.0, np.arange(len(spectrum)) * RATE_HZ / length / 200))
    shaped = np.fft.irfft(spectrum, length)
    shaped *= rms / float(np.sqrt(np.mean(shaped**2)))
    return shaped.astype(np.float64)


def samples(sound: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Samples:
    return (np.clip(sound, -1.0, 1.0) * 32767).astype(np.int16)


async def transcribed(transcriber: WhisperTranscriber, sound: Samples) -> AnswerEnded:
    """How the answer ended."""
    stream = SpeechStream(transcriber, SileroDetector())
    async with stream, asyncio.TaskGroup() as group:
        last = group.create_task(_end(stream))
        for start in range(0, len(sound), CHUNK):
            await stream.feed(sound[start : start + CHUNK].astype("<i2").tobytes())
        await stream.stop()
    return last.result()


async def _end(stream: SpeechStream) -> AnswerEnded:
    async for event in stream.events():
        if isinstance(event, AnswerEnded):
            return event
    raise AssertionError("no end")


def share(text: str) -> float:
    """Share of the sentence's words that are there."""
    wanted = SENTENCE.lower().replace(",", "").replace(".", "").split()
    found = text.lower().replace(",", "").replace(".", "").split()
    return sum(word in found for word in wanted) / len(wanted)


@pytest.mark.parametrize("gain", [1.0, 20.0])
async def test_overloaded_microphone_costs_few_words(
    transcriber: WhisperTranscriber, clean: np.ndarray[tuple[int], np.dtype[np.float64]], gain: float
) -> None:
    end = await transcribed(transcriber, samples(clean * gain))
    assert share(end.text) >= 0.8


@pytest.mark.parametrize(("ratio_db", "least", "surest"), [(10, 0.7, 1.0), (3, 0.4, 0.8), (0, 0.0, 0.7)])
async def test_speech_in_noise_ends_where_it_ends_and_its_words_tell_their_doubt(
    transcriber: WhisperTranscriber,
    clean: np.ndarray[tuple[int], np.dtype[np.float64]],
    ratio_db: float,
    least: float,
    surest: float,
) -> None:
    """In noise as loud as the speech, which words the model finds hangs on how a processor rounds; not so its doubt."""
    spoken = clean[RATE_HZ : -2 * RATE_HZ]
    rms = float(np.sqrt(np.mean(spoken**2))) / 10 ** (ratio_db / 20)
    end = await transcribed(transcriber, samples(clean + noise(len(clean), rms)))
    assert end.reason == "silence"
    assert abs(end.speech_end - (len(clean) - 2 * RATE_HZ)) < RATE_HZ / 2
    assert share(end.text) >= least
    assert np.mean([word.probability for word in end.words]) < surest


async def test_noise_alone_is_no_answer(transcriber: WhisperTranscriber) -> None:
    end = await transcribed(transcriber, samples(noise(12 * RATE_HZ, 0.1)))
    assert (end.text, end.words) == ("", ())

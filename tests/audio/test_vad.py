"""Silero VAD: streaming equals offline, streams are independent, noise is no speech; and how often the model runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio.endpoint import FRAME_SAMPLES, SPEECH_ON, Probabilities
from audio.errors import ModelMissing
from audio.types import RATE_HZ, Samples
from audio.vad import MAX_BATCH_FRAMES, SileroDetector, SileroStream, packaged_vad_model

VOWELS = ((700, 1200, 2600), (300, 2300, 3000), (500, 900, 2500), (400, 2000, 2600), (350, 800, 2300))
"""Formants in Hz."""


@pytest.fixture(scope="module")
def activity() -> SileroDetector:
    return SileroDetector()


@cache
def voice(seconds: float, seed: int = 0) -> Samples:
    """Syllables: pulses of a voice of 90 to 165 Hz through gliding formants, with a hiss between them."""
    rng, length = np.random.default_rng(seed), int(seconds * RATE_HZ)
    hiss = int(0.05 * RATE_HZ)
    sound, start = np.zeros(length + RATE_HZ), 0
    while start < length:
        size = int(RATE_HZ * rng.uniform(0.15, 0.28))
        vowel = syllable(rng, size)
        sound[start : start + size] += vowel / np.abs(vowel).max()
        sound[start + size : start + size + hiss] += np.diff(rng.normal(size=hiss + 1)) * 0.05
        start += size + hiss
    whole: Samples = (sound[:length].clip(-1, 1) * 8000).astype(np.int16)
    return whole


def syllable(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Two vowels run into each other: pulses through three resonators (poles at the formants)."""
    first, last = VOWELS[rng.integers(len(VOWELS))], VOWELS[rng.integers(len(VOWELS))]
    pitch = rng.uniform(100, 150) * np.linspace(1.1, 0.9, size)
    pulses = np.diff(np.floor(np.cumsum(pitch) / RATE_HZ), prepend=0) > 0
    source = np.convolve(pulses, np.hanning(24), "same") + rng.normal(size=size) * 0.01
    out = np.zeros(size)
    for formant, (width, gain) in enumerate(((80, 1.0), (100, 0.6), (150, 0.3))):
        radius = np.exp(-np.pi * width / RATE_HZ)
        turn = 2 * radius * np.cos(2 * np.pi * np.linspace(first[formant], last[formant], size) / RATE_HZ)
        one = two = 0.0
        for n in range(size):
            one, two = source[n] + turn[n] * one - radius * radius * two, one
            out[n] += gain * one
    shaped: NDArray[np.float64] = out * np.hanning(size) ** 0.4
    return shaped


def noise(seconds: float, amplitude: float) -> Samples:
    drawn = np.random.default_rng(1).normal(size=int(seconds * RATE_HZ)) * amplitude
    whole: Samples = drawn.clip(-32_768, 32_767).astype(np.int16)
    return whole


@settings(max_examples=15, deadline=None)
@given(sizes=st.lists(st.integers(1, 3000), min_size=1, max_size=40))
def test_stream_any_chunks_give_the_same_probabilities(sizes: list[int]) -> None:
    activity = SileroDetector()
    sound = np.concatenate([voice(4), noise(2, 500)])
    stream, found, start = activity.open(), [], 0
    for size in sizes:
        found.append(stream.push(sound[start : start + size]))
        start += size
    whole = activity.open().push(sound[:start])
    assert np.concatenate(found) == pytest.approx(whole, abs=1e-5)
    assert len(whole) == min(start, len(sound)) // FRAME_SAMPLES


def test_stream_longer_than_one_run_of_the_model_is_one_stream(activity: SileroDetector) -> None:
    sound = np.tile(voice(4), 5)[: (2 * MAX_BATCH_FRAMES + 10) * FRAME_SAMPLES]
    stream = activity.open()
    one_by_one = [stream.push(sound[n : n + FRAME_SAMPLES]) for n in range(0, len(sound), FRAME_SAMPLES)]
    assert np.concatenate(one_by_one) == pytest.approx(activity.open().push(sound), abs=1e-5)


def test_stream_hears_voice(activity: SileroDetector) -> None:
    found = activity.open().push(np.concatenate([np.zeros(RATE_HZ, np.int16), voice(4)]))
    assert found[: RATE_HZ // FRAME_SAMPLES].max() < SPEECH_ON
    assert np.mean(found[RATE_HZ // FRAME_SAMPLES :] >= SPEECH_ON) > 0.9


def test_stream_leaves_its_input_as_it_is(activity: SileroDetector) -> None:
    sound = voice(1)
    before = sound.copy()
    activity.open().push(sound)
    assert np.array_equal(sound, before)


def test_streams_know_nothing_of_each_other(activity: SileroDetector) -> None:
    alone = [activity.open().push(voice(2, seed)) for seed in (0, 2)]
    streams = [activity.open(), activity.open()]
    mixed: list[list[Probabilities]] = [[], []]
    for start in range(0, 2 * RATE_HZ, 1600):
        for n, seed in enumerate((0, 2)):
            mixed[n].append(streams[n].push(voice(2, seed)[start : start + 1600]))
    for n in (0, 1):
        assert np.concatenate(mixed[n]) == pytest.approx(alone[n], abs=1e-5)


@pytest.mark.parametrize("amplitude", [0, 1, 30, 300, 3000, 12_000])
def test_stream_hears_no_speech_in_noise(activity: SileroDetector, amplitude: float) -> None:
    assert (activity.open().push(noise(10, amplitude)) >= SPEECH_ON).sum() == 0


def test_stream_muted_microphone_is_silent_at_once(activity: SileroDetector) -> None:
    stream = activity.open()
    stream.push(voice(3))
    assert stream.push(np.zeros(10 * FRAME_SAMPLES, np.int16))[1:].max() == 0


def test_activity_without_its_model_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing):
        SileroDetector(tmp_path / "none.onnx")
    assert packaged_vad_model().name.startswith("silero_vad_v6")


class Counting:
    """Counts the frames of each run of a model."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.frames: list[int] = []

    def run(self, outputs: None, feed: dict[str, NDArray[np.float32]]) -> Any:
        self.frames.append(len(feed["input"]))
        return self._session.run(outputs, feed)


def test_stream_gives_each_frame_to_the_model_once(activity: SileroDetector) -> None:
    model = Counting(activity._session)
    stream, sound = SileroStream(model), voice(3)
    count = len(sound) // FRAME_SAMPLES
    for start in range(0, len(sound), 100):
        stream.push(sound[start : start + 100])
    assert model.frames == [1] * count
    stream.push(np.tile(voice(4), 5)[: (2 * MAX_BATCH_FRAMES + 10) * FRAME_SAMPLES])
    assert model.frames[count:] == [MAX_BATCH_FRAMES, MAX_BATCH_FRAMES, 10]

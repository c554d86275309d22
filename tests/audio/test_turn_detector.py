"""The turn detector: Whisper's features, what it hears of a sound, and what it says when nothing can be heard."""

from __future__ import annotations

import numpy as np
import pytest
from faster_whisper.feature_extractor import FeatureExtractor

from audio.log_mel import BANDS, STEP_SAMPLES, log_mel
from audio.turn_detector import HEARD_SAMPLES, SmartTurn
from audio.types import RATE_HZ, Samples


@pytest.fixture(scope="module")
def detector() -> SmartTurn:
    return SmartTurn()


def sound(seconds: float, seed: int = 0) -> Samples:
    """Noise that swells and fades, with a hum."""
    rng, count = np.random.default_rng(seed), int(seconds * RATE_HZ)
    at = np.arange(count) / RATE_HZ
    wave = np.sin(2 * np.pi * 140 * at) * np.abs(np.sin(2 * np.pi * 3 * at)) + rng.normal(size=count) * 0.05
    made: Samples = (wave * 6000).astype(np.int16)
    return made


@pytest.mark.parametrize("seconds", [1.0, 8.0])
def test_features_are_those_of_whisper(seconds: float) -> None:
    heard = sound(seconds).astype(np.float32) / 32768.0
    found = log_mel(heard)
    assert found.shape == (BANDS, len(heard) // STEP_SAMPLES)
    assert np.abs(found - FeatureExtractor()(heard, padding=0)[:, : found.shape[1]]).max() < 1e-4


def test_features_of_silence_are_finite() -> None:
    assert np.isfinite(log_mel(np.zeros(RATE_HZ, np.float32))).all()


@pytest.mark.parametrize("seconds", [0.0, 0.001, 1.0, 8.0, 60.0])
def test_sound_of_any_length_has_a_probability(detector: SmartTurn, seconds: float) -> None:
    assert 0.0 <= detector.finished(sound(seconds)) <= 1.0


def test_only_the_last_seconds_count(detector: SmartTurn) -> None:
    last = sound(HEARD_SAMPLES / RATE_HZ, seed=1)
    assert detector.finished(np.concatenate([sound(5, seed=2), last])) == detector.finished(last)
    assert detector.finished(last) != detector.finished(sound(HEARD_SAMPLES / RATE_HZ, seed=2))


def test_what_is_short_is_preceded_by_silence(detector: SmartTurn) -> None:
    short = sound(2)
    padded = np.concatenate([np.zeros(HEARD_SAMPLES - len(short), np.int16), short])
    assert detector.finished(short) == detector.finished(padded)

"""LevelMeter: readings, and what is wrong with a microphone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.levels import FLOOR_DBFS, HISTORY_READINGS, READING_SAMPLES, Fault, LevelMeter, dbfs
from audio.types import RATE_HZ, Samples

WHOLE = READING_SAMPLES * HISTORY_READINGS


def tone(amplitude: float, samples: int = WHOLE) -> Samples:
    wave = np.sin(2 * np.pi * 440 * np.arange(samples) / RATE_HZ) * amplitude
    return np.clip(wave, -32_768, 32_767).astype(np.int16)


def test_meter_reads_every_hundred_milliseconds() -> None:
    meter = LevelMeter()
    assert meter.level is None
    readings = meter.push(tone(3276.7))
    assert [reading.at for reading in readings] == [READING_SAMPLES * n for n in range(1, HISTORY_READINGS + 1)]
    assert readings[0].peak_dbfs == pytest.approx(-20, abs=0.1)
    assert readings[0].rms_dbfs == pytest.approx(-23, abs=0.1)
    assert readings[0].clipped == 0
    assert meter.level == readings[-1]


@given(sizes=st.lists(st.integers(1, 4000), min_size=1, max_size=20))
def test_meter_readings_do_not_depend_on_chunks(sizes: list[int]) -> None:
    sound = tone(8000, sum(sizes))
    meter, found, start = LevelMeter(), [], 0
    for size in sizes:
        found += meter.push(sound[start : start + size])
        start += size
    assert found == LevelMeter().push(sound)


@pytest.mark.parametrize(
    ("amplitude", "speaking", "fault"),
    [
        (0, True, "silent"),
        (5, False, "silent"),
        (100, True, "too_quiet"),
        (100, False, None),
        (5000, True, None),
        (60_000, True, "clipping"),
        (60_000, False, "clipping"),
    ],
)
def test_meter_says_what_is_wrong(amplitude: float, speaking: bool, fault: Fault | None) -> None:
    meter = LevelMeter()
    meter.push(tone(amplitude))
    assert meter.fault(speaking=speaking) == fault


def test_meter_judges_two_seconds_and_no_less() -> None:
    meter = LevelMeter()
    meter.push(np.zeros(WHOLE - 1, np.int16))
    assert meter.fault(speaking=False) is None
    meter.push(np.zeros(1, np.int16))
    assert meter.fault(speaking=False) == "silent"
    meter.push(tone(5000, READING_SAMPLES))
    assert meter.fault(speaking=False) is None
    meter.push(np.zeros(WHOLE, np.int16))
    assert meter.fault(speaking=False) == "silent"


def test_dbfs_of_nothing_is_the_floor() -> None:
    assert (dbfs(0), dbfs(32_767)) == (FLOOR_DBFS, 0.0)

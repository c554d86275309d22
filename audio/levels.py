"""How loud it is: for the level meter, and to say what is wrong with a microphone. Counts audio, reads no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audio.types import RATE_HZ, Samples, samples_of

READING_SAMPLES = samples_of(100)
"""A reading is made every 100 ms."""
HISTORY_READINGS = 20
"""A fault is judged by the last 2 s."""
FULL_SCALE = 32_767
CLIPPED = 32_700
"""From this value on a sample counts as clipped."""
CLIPPED_SHARE = 0.002
"""Share of clipped samples in the last 2 s that can be heard."""
SILENT_DBFS = -66.0
"""A peak under this over the last 2 s is a muted or a dead microphone."""
QUIET_DBFS = -42.0
"""Speech whose loudest 100 ms stay under this is too quiet to be understood well."""
FLOOR_DBFS = -96.0
"""What digital silence counts as."""

Fault = Literal["clipping", "too_quiet", "silent"]


@dataclass(frozen=True, slots=True)
class Level:
    """One reading, at the place `at`: root mean square and peak in dB of full scale, share of clipped samples."""

    rms_dbfs: float
    peak_dbfs: float
    clipped: float
    at: int


class LevelMeter:
    """Reads the level of a stream every 100 ms and knows what is wrong over the last 2 s."""

    def __init__(self) -> None:
        self._rest = np.zeros(0, np.int16)
        self._history: list[Level] = []
        self._at = 0

    @property
    def level(self) -> Level | None:
        """The last reading."""
        return self._history[-1] if self._history else None

    def push(self, samples: Samples) -> list[Level]:
        """Take samples; the readings that they complete."""
        joined = np.concatenate([self._rest, samples])
        count = len(joined) // READING_SAMPLES
        found = [self._read(joined[n * READING_SAMPLES : (n + 1) * READING_SAMPLES]) for n in range(count)]
        self._rest = joined[count * READING_SAMPLES :].copy()
        self._history = (self._history + found)[-HISTORY_READINGS:]
        return found

    def fault(self, *, speaking: bool) -> Fault | None:
        """What is wrong with the last 2 s, if they were all heard; `too_quiet` is said of speech only."""
        if len(self._history) < HISTORY_READINGS:
            return None
        if sum(level.clipped for level in self._history) / HISTORY_READINGS >= CLIPPED_SHARE:
            return "clipping"
        if max(level.peak_dbfs for level in self._history) < SILENT_DBFS:
            return "silent"
        if speaking and max(level.rms_dbfs for level in self._history) < QUIET_DBFS:
            return "too_quiet"
        return None

    def _read(self, samples: Samples) -> Level:
        self._at += len(samples)
        size = np.abs(samples.astype(np.int32))
        rms = math.sqrt(float(np.mean(np.square(size, dtype=np.int64))))
        return Level(dbfs(rms), dbfs(float(size.max())), float(np.mean(size >= CLIPPED)), self._at)


def dbfs(amplitude: float) -> float:
    """An amplitude in sample values as dB of full scale, at least FLOOR_DBFS."""
    return max(FLOOR_DBFS, 20.0 * math.log10(max(amplitude, 1e-3) / FULL_SCALE))


LONGEST_READING_S = READING_SAMPLES * HISTORY_READINGS / RATE_HZ
"""How much audio a fault is judged by: 2 s."""

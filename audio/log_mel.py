"""Whisper's features: the logarithm of the energy in 80 mel bands, every 10 ms."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from audio.types import RATE_HZ

BANDS = 80
STEP_SAMPLES = 160
"""Samples from one column to the next: 10 ms."""
WINDOW_SAMPLES = 400
"""Samples that a column is made of: 25 ms, in a Hann window."""
LEAST_ENERGY = 1e-10
RANGE = 8.0
"""What is so many powers of ten below the greatest energy counts as that low."""
LINEAR_HZ = 1000.0
"""Slaney's mel scale is linear up to here, and logarithmic above."""
LINEAR_MELS = 15.0
MELS_PER_LOG = 27.0 / np.log(6.4)

Features = NDArray[np.float32]


def log_mel(sound: NDArray[np.float32]) -> Features:
    """The features of some sound, as Whisper's feature extractor makes them.

    Args:
        sound: `[n]` at RATE_HZ, a multiple of STEP_SAMPLES, of any loudness.
    Returns:
        `[BANDS, n / STEP_SAMPLES]`, mostly in [-1, 1.5].
    """
    half = WINDOW_SAMPLES // 2
    padded = np.pad(sound.astype(np.float64), half, mode="reflect")
    pieces = np.lib.stride_tricks.sliding_window_view(padded, WINDOW_SAMPLES)[:-1:STEP_SAMPLES]
    energy = np.square(np.abs(np.fft.rfft(pieces * _window(), axis=1)))
    found = np.log10(np.maximum(energy @ _filters(), LEAST_ENERGY)).T
    features: Features = ((np.maximum(found, found.max() - RANGE) + 4.0) / 4.0).astype(np.float32)
    return features


@cache
def _window() -> NDArray[np.float64]:
    return np.hanning(WINDOW_SAMPLES + 1)[:-1]


@cache
def _filters() -> NDArray[np.float64]:
    """Triangles over the frequencies of the transform, each of equal area; `[WINDOW_SAMPLES / 2 + 1, BANDS]`."""
    frequencies = np.linspace(0.0, RATE_HZ / 2, WINDOW_SAMPLES // 2 + 1)
    corners = _hertz(np.linspace(0.0, float(_mels(RATE_HZ / 2)), BANDS + 2))
    low, middle, high = corners[:-2], corners[1:-1], corners[2:]
    rising = (frequencies[:, None] - low) / (middle - low)
    falling = (high - frequencies[:, None]) / (high - middle)
    return np.maximum(0.0, np.minimum(rising, falling)) * (2.0 / (high - low))


def _mels(hertz: float) -> float:
    return float(LINEAR_MELS + np.log(hertz / LINEAR_HZ) * MELS_PER_LOG)


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = mels * LINEAR_HZ / LINEAR_MELS
    return np.where(mels < LINEAR_MELS, linear, LINEAR_HZ * np.exp((mels - LINEAR_MELS) / MELS_PER_LOG))

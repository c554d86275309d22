"""The end of speech by loudness: the voice activity model reports speech for up to 96 ms after the last sound.

The last piece that is clearly louder than the silence after it is the end, where the room is quiet enough to tell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audio.types import Samples, samples_of

PIECE_SAMPLES = samples_of(8)
"""Loudness is measured over pieces of 8 ms, which is the resolution of the result."""
SEARCHED_SAMPLES = samples_of(96)
"""How far back the end is searched for: 96 ms, more than the delay of the model."""
CLEAR_DB = 9.0
"""A piece is part of the speech if it is this much louder than the median piece of the silence after it."""
TRUSTED_DB = 24.0
"""The loudest piece must be this much louder than that silence; otherwise noise would hide faint endings."""
MIN_FLOOR_RMS = 3.0
"""Least assumed loudness of a silence, in sample values: -81 dB of full scale."""


def find_sound_end(before: Samples, after: Samples) -> int:
    """The position in `before` at which its last sound ends.

    Args:
        before: the end of what the voice activity model takes for speech, whole pieces.
        after: the silence that follows, whole pieces.
    Returns:
        A number of samples from `len(before)` - SEARCHED_SAMPLES to `len(before)`; the latter where there is too much
        noise to tell.
    """
    searched = before[-SEARCHED_SAMPLES:]
    speech_rms, silence_rms = piece_rms(searched), piece_rms(after)
    if not len(speech_rms) or not len(silence_rms):
        return len(before)
    floor = max(float(np.median(silence_rms)), MIN_FLOOR_RMS)
    if speech_rms.max() < floor * 10 ** (TRUSTED_DB / 20):
        return len(before)
    sounding = np.flatnonzero(speech_rms > floor * 10 ** (CLEAR_DB / 20))
    return len(before) - len(searched) + (int(sounding[-1]) + 1) * PIECE_SAMPLES


def piece_rms(samples: Samples) -> NDArray[np.float32]:
    """Root mean square of each whole piece, in sample values; `[n]` → `[n // PIECE_SAMPLES]`."""
    pieces = samples[: len(samples) // PIECE_SAMPLES * PIECE_SAMPLES].reshape(-1, PIECE_SAMPLES).astype(np.float32)
    rms: NDArray[np.float32] = np.sqrt(np.mean(np.square(pieces), axis=1))
    return rms

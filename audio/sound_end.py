"""Where in its last frames a sound stops: the voice activity model goes on for a moment after the last word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audio.types import Samples, samples_of

PIECE_SAMPLES = samples_of(8)
"""What loudness is looked at over; places are found to within this."""
SEARCHED_SAMPLES = samples_of(96)
"""The model goes on for less than this; nothing earlier is looked at, however faint a word ended."""
CLEAR_DB = 9.0
"""By how much a piece stands out of the silence that follows, by its median: then it is part of the sound."""
TRUSTED_DB = 24.0
"""By how much the loudest piece has to: in more noise than that faint endings can't be told from it."""
MIN_FLOOR_RMS = 3.0
"""A silence that is digital still counts as so loud, in sample values: -81 dB of full scale."""


def find_sound_end(before: Samples, after: Samples) -> int:
    """How many samples of `before` there are up to the end of its last sound.

    Args:
        before: the last of what was taken for speech, whole pieces.
        after: the silence that follows, whole pieces.
    Returns:
        At most `len(before)`, at least SEARCHED_SAMPLES less; all of it where there is too much noise to tell.
    """
    searched = before[-SEARCHED_SAMPLES:]
    loud, quiet = piece_rms(searched), piece_rms(after)
    if not len(loud) or not len(quiet):
        return len(before)
    floor = max(float(np.median(quiet)), MIN_FLOOR_RMS)
    if loud.max() < floor * 10 ** (TRUSTED_DB / 20):
        return len(before)
    sounding = np.flatnonzero(loud > floor * 10 ** (CLEAR_DB / 20))
    return len(before) - len(searched) + (int(sounding[-1]) + 1) * PIECE_SAMPLES


def piece_rms(samples: Samples) -> NDArray[np.float32]:
    """Root mean square of each whole piece in sample values; `[n]` → `[n // PIECE_SAMPLES]`."""
    pieces = samples[: len(samples) // PIECE_SAMPLES * PIECE_SAMPLES].reshape(-1, PIECE_SAMPLES).astype(np.float32)
    loud: NDArray[np.float32] = np.sqrt(np.mean(np.square(pieces), axis=1))
    return loud

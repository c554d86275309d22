"""Audio of a Realtime client: from base64 at its rate to pieces at the rate of the listener."""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from audio.types import RATE_HZ
from server.protocol.codec import SAMPLE_BYTES
from server.realtime.problems import RealtimeProblem

if TYPE_CHECKING:
    from audio.containers import MonoResampler

RATES_HZ: Final = (24_000, 16_000)
"""Sample rates that a client may send, the usual one first."""
PIECE_BYTES: Final = RATE_HZ // 5 * SAMPLE_BYTES
"""Most audio in one piece: 0.2 s."""
AUDIO_PER_S: Final = 8.0
"""Seconds of audio that may come per second, on average."""
AUDIO_BURST_S: Final = 60.0
"""Seconds of audio that may come at once."""


def decoded(audio: str) -> bytes:
    """The samples of an event. Raises RealtimeProblem for anything but base64 of whole 16-bit samples."""
    try:
        pcm = binascii.a2b_base64(audio, strict_mode=True)
    except (binascii.Error, ValueError) as exc:
        raise RealtimeProblem("invalid_value", "audio: is not valid base64.", param="audio") from exc
    if not pcm:
        raise RealtimeProblem("invalid_value", "audio: there is none.", param="audio")
    if len(pcm) % SAMPLE_BYTES:
        told = "audio: 16-bit samples have an even number of bytes; send whole samples."
        raise RealtimeProblem("invalid_value", told, param="audio")
    return pcm


class AudioBudget:
    """Bounds how much audio a connection may send, so that decoding it costs a node little.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left_s = AUDIO_BURST_S
        self._seen = clock()

    def take(self, seconds: float) -> bool:
        """Whether so much audio may come now."""
        now = self._clock()
        self._left_s = min(AUDIO_BURST_S, self._left_s + (now - self._seen) * AUDIO_PER_S)
        self._seen = now
        if seconds > self._left_s:
            return False
        self._left_s -= seconds
        return True


def seconds_of(audio: str, rate_hz: int) -> float:
    """How much audio an event holds, by its length alone."""
    return len(audio) * 3 / 4 / SAMPLE_BYTES / rate_hz


class RateConverter:
    """Converts the audio of one answer to RATE_HZ as it comes.

    Args:
        rate_hz: of the client, one of RATES_HZ.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._resampler: MonoResampler | None = None

    def convert(self, pcm: bytes) -> bytes:
        """The next samples, as far as they are ready."""
        if self._rate_hz == RATE_HZ:
            return pcm
        # Imported here: it takes time that servers nobody speaks to should not spend.
        from av.audio.frame import AudioFrame

        from audio.containers import MonoResampler

        if self._resampler is None:
            self._resampler = MonoResampler()
        frame = AudioFrame.from_ndarray(np.frombuffer(pcm, "<i2").reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = self._rate_hz
        return b"".join(block.astype("<i2").tobytes() for block in self._resampler.resample(frame))

    def rest(self) -> bytes:
        """The last samples; afterwards another answer begins."""
        resampler, self._resampler = self._resampler, None
        return b"" if resampler is None else b"".join(b.astype("<i2").tobytes() for b in resampler.resample(None))


def pieces(pcm: bytes) -> list[bytes]:
    """The samples in pieces of PIECE_BYTES at the most."""
    return [pcm[start : start + PIECE_BYTES] for start in range(0, len(pcm), PIECE_BYTES)]

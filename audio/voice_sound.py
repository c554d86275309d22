"""The sound that a text-to-speech program wrote: WAV or raw samples in, mono 16-bit samples at VOICE_HZ out."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from audio.errors import AudioFormat

VOICE_HZ: Final = 24_000
"""Sample rate of a voice, in hertz."""
SLOWEST_HZ: Final = 8_000
FASTEST_HZ: Final = 48_000
SHORTEST_S: Final = 0.05
"""Shorter sound says nothing."""
QUIETEST: Final = 32
"""A sound whose samples are all smaller than this is silence."""
_PCM: Final = 1
_EXTENSIBLE: Final = 0xFFFE
_UNKNOWN_SIZE: Final = 0x7FFF_0000
"""Programs that write to a pipe before they know the length put this much or more, or 0, in its place."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """16-bit samples: how many a second, of how many channels."""

    rate_hz: int
    channels: int


def voice_sound(data: bytes, raw_hz: int | None) -> bytes:
    """The samples of what a program wrote.

    Args:
        data: all of it.
        raw_hz: sample rate of data that are no WAV; None: only WAV is understood.

    Returns:
        16-bit little-endian mono at VOICE_HZ.

    Raises:
        AudioFormat: it is no sound, too short to say anything, or silent.
    """
    if data.startswith(b"RIFF"):
        layout, samples = _read_wav(data)
    elif raw_hz is None:
        raise AudioFormat("it wrote no WAV; for raw samples set ASKWELL_VOICE_RAW_HZ")
    else:
        layout, samples = _Layout(raw_hz, 1), data
    frame_bytes = 2 * layout.channels
    if len(samples) % frame_bytes:
        raise AudioFormat(f"it wrote {len(samples)} bytes, which are no whole number of samples")
    if len(samples) < SHORTEST_S * layout.rate_hz * frame_bytes:
        raise AudioFormat("it wrote too little sound to say anything")
    found = np.frombuffer(samples, "<i2").reshape(-1, layout.channels)
    if int(np.abs(found.astype(np.int32)).max()) < QUIETEST:
        raise AudioFormat("it wrote nothing but silence")
    return _converted(found, layout.rate_hz)


def _read_wav(data: bytes) -> tuple[_Layout, bytes]:
    """The layout and the samples of a WAV file whose length may not be right."""
    if data[8:12] != b"WAVE":
        raise AudioFormat("it wrote a damaged WAV file")
    layout, at = None, 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        at += 8
        if name == b"data":
            if layout is None:
                break
            known = 0 < size < _UNKNOWN_SIZE
            if known and at + size > len(data):
                raise AudioFormat("it wrote a WAV file that breaks off")
            samples = data[at : at + size] if known else data[at:]
            return layout, samples
        if name == b"fmt ":
            layout = _layout(data[at : at + size])
        at += size + size % 2
    raise AudioFormat("it wrote a damaged WAV file")


def _layout(found: bytes) -> _Layout:
    if len(found) < 16:
        raise AudioFormat("it wrote a damaged WAV file")
    kind, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", found)
    if kind not in (_PCM, _EXTENSIBLE) or bits != 16:
        raise AudioFormat("it wrote a WAV file that does not hold 16-bit samples")
    if not 1 <= channels <= 2 or not SLOWEST_HZ <= rate_hz <= FASTEST_HZ:
        raise AudioFormat(f"it wrote a WAV file with {channels} channels at {rate_hz} Hz")
    return _Layout(rate_hz, channels)


def _converted(samples: np.ndarray, rate_hz: int) -> bytes:
    mono = samples.astype(np.int32).mean(axis=1).astype(np.int16)
    if rate_hz == VOICE_HZ:
        return bytes(mono.astype("<i2").tobytes())
    # Imported here: it takes time that servers without a voice should not spend.
    from av.audio.frame import AudioFrame

    from audio.containers import MonoResampler

    resampler = MonoResampler(VOICE_HZ)
    frame = AudioFrame.from_ndarray(mono.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = rate_hz
    blocks = [*resampler.resample(frame), *resampler.resample(None)]
    return b"".join(block.astype("<i2").tobytes() for block in blocks)

"""Recordings as browsers and telephones make them, written by FFmpeg in memory."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream

KINDS: Mapping[str, tuple[str, str, int, str]] = {
    # name: (container, codec, rate in Hz, channels)
    "wav": ("wav", "pcm_s16le", 16_000, "mono"),
    "wav stereo 44.1 kHz": ("wav", "pcm_s16le", 44_100, "stereo"),
    "wav 8 kHz": ("wav", "pcm_s16le", 8_000, "mono"),
    "wav float": ("wav", "pcm_f32le", 48_000, "stereo"),
    "wav 24 bit, six channels": ("wav", "pcm_s24le", 48_000, "5.1"),
    "flac": ("flac", "flac", 22_050, "mono"),
    "webm opus": ("webm", "libopus", 48_000, "mono"),
    "ogg opus": ("ogg", "libopus", 48_000, "stereo"),
    "mp3": ("mp3", "libmp3lame", 44_100, "stereo"),
    "m4a": ("ipod", "aac", 44_100, "mono"),
    "mp4": ("mp4", "aac", 48_000, "stereo"),
}
TONE_HZ = 440


def tone(seconds: float, rate: int, amplitude: float = 0.3) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """A tone of TONE_HZ, shape [seconds · rate]."""
    places = np.arange(int(seconds * rate)) / rate
    return (amplitude * 32767 * np.sin(2 * np.pi * TONE_HZ * places)).astype(np.int16)


def sound_file(kind: str, seconds: float = 2.0, *, right: float = 1.0) -> bytes:
    """A tone as a file of that kind; `right` scales the second channel."""
    container_name, codec, rate, layout = KINDS[kind]
    file = io.BytesIO()
    with av.open(file, "w", format=container_name) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        assert isinstance(stream, AudioStream)
        samples = tone(seconds, rate)
        channels = stream.layout.nb_channels
        resampler = AudioResampler(format=stream.format.name, layout=layout, rate=rate)
        for start in range(0, len(samples), 4096):
            block = np.repeat(samples[start : start + 4096, None], channels, axis=1)
            if channels == 2:
                block[:, 1] = block[:, 1] * right
            frame = AudioFrame.from_ndarray(np.ascontiguousarray(block.reshape(1, -1)), format="s16", layout=layout)
            frame.sample_rate = rate
            frame.pts = start
            for ready in resampler.resample(frame):
                container.mux(stream.encode(ready))
        container.mux(stream.encode(None))
    return file.getvalue()


def pitch(samples: np.ndarray[tuple[int], np.dtype[np.int16]], rate: int) -> float:
    """The loudest frequency, in Hz."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate / len(samples))


def compressed_index(size: int) -> bytes:
    """An mp4 file of which the index is compressed (`cmov`), and has about `size` bytes when it is unpacked."""
    packed = compressed_zeros(size)
    content = _box(b"cmvd", struct.pack(">I", size), packed)
    index = _box(b"moov", _box(b"cmov", _box(b"dcom", b"zlib"), content))
    return _box(b"ftyp", b"isom\0\0\2\0isom") + index


def compressed_zeros(size: int, times: int = 1_000_000) -> bytes:
    """`size` zeros in zlib's format, rounded up to a multiple of `times`, made from one block that is repeated."""
    count = -(-size // times)
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    repeated = block.compress(bytes(times)) + block.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    # The sum of Adler-32 over n zeros.
    checked = ((count * times % 65521) << 16) | 1
    return b"\x78\xda" + repeated * count + end + struct.pack(">I", checked)


def _box(kind: bytes, *content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + sum(map(len, content)), kind) + b"".join(content)

"""What a text-to-speech program may write, and what it may not."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest

from audio.errors import AudioFormat
from audio.voice_sound import VOICE_HZ, voice_sound


def tone(rate_hz: int, seconds: float = 0.5, channels: int = 1) -> bytes:
    """A tone of 440 Hz."""
    at = np.arange(int(rate_hz * seconds)) / rate_hz
    return np.repeat((np.sin(2 * np.pi * 440 * at) * 10_000).astype("<i2"), channels).tobytes()


def wav(data: bytes, rate_hz: int, channels: int = 1, width: int = 2) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((channels, width, rate_hz, 0, "NONE", ""))
        out.writeframes(data)
    return file.getvalue()


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_sound_of_any_rate_becomes_mono_at_the_voice_s_rate(rate_hz: int, channels: int) -> None:
    found = np.frombuffer(voice_sound(wav(tone(rate_hz, channels=channels), rate_hz, channels), None), "<i2")
    assert abs(len(found) / VOICE_HZ - 0.5) < 0.01
    spectrum = np.abs(np.fft.rfft(found.astype(float)))
    assert abs(np.argmax(spectrum) * VOICE_HZ / len(found) - 440) < 5
    assert 8_000 < np.abs(found).max() < 12_000


def test_raw_samples_are_read_at_the_rate_that_was_said() -> None:
    assert voice_sound(tone(VOICE_HZ), VOICE_HZ) == tone(VOICE_HZ)
    assert abs(len(voice_sound(tone(22_050), 22_050)) / 2 / VOICE_HZ - 0.5) < 0.01


@pytest.mark.parametrize("size", [0, 0x7FFFF000, 0xFFFFFFFF])
def test_length_that_was_not_known_when_the_head_was_written_is_not_believed(size: int) -> None:
    data = bytearray(wav(tone(VOICE_HZ), VOICE_HZ))
    data[40:44] = size.to_bytes(4, "little")
    assert voice_sound(bytes(data), None) == tone(VOICE_HZ)


def test_what_follows_the_samples_and_other_chunks_are_no_sound() -> None:
    data = wav(tone(VOICE_HZ), VOICE_HZ)
    listed = data[:36] + b"LIST" + (3).to_bytes(4, "little") + b"abc\0" + data[36:]
    assert voice_sound(listed + b"out.wav\n", None) == tone(VOICE_HZ)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RIFF",
        b"RIFF\0\0\0\0WAVE",
        b"RIFF\0\0\0\0AVI LIST",
        b"Error: no such voice\n",
        b"\x7fELF" * 1000,
        wav(tone(VOICE_HZ), VOICE_HZ)[:-100],
        wav(tone(VOICE_HZ), VOICE_HZ)[:30],
        wav(b"", VOICE_HZ),
        wav(tone(VOICE_HZ, 0.01), VOICE_HZ),
        wav(bytes(VOICE_HZ), VOICE_HZ),
        wav(tone(VOICE_HZ), VOICE_HZ, width=1),
        wav(tone(VOICE_HZ, channels=6), VOICE_HZ, 6),
        wav(tone(VOICE_HZ), 4_000),
        wav(tone(VOICE_HZ), 96_000),
        b"RIFF\0\0\0\0WAVEdata\x04\0\0\0\x01\x02\x03\x04",
    ],
)
def test_what_is_no_sound_is_refused(data: bytes) -> None:
    with pytest.raises(AudioFormat):
        voice_sound(data, None)


@pytest.mark.parametrize("data", [b"", b"\1" * 2399, b"\1" * 24_001, bytes(48_000), b"no such voice\n"])
def test_raw_output_that_says_nothing_is_refused(data: bytes) -> None:
    with pytest.raises(AudioFormat):
        voice_sound(data, VOICE_HZ)

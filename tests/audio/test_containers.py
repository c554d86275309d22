"""Recordings of every kind: complete, truncated, damaged, too long, or not recordings at all."""

from __future__ import annotations

import io
import tracemalloc
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.containers import detect_kind, read_recording
from audio.errors import AudioFormat, AudioTooLong
from audio.types import RATE_HZ
from tests.audio.sound_files import KINDS, TONE_HZ, pitch, sound_file, tone


def samples_or_refused(data: bytes, *, max_s: float) -> int:
    """How many samples were read; 0 where the file was refused in words. Any other failure is one."""
    try:
        return len(read_recording(io.BytesIO(data), max_s=max_s).samples)
    except (AudioFormat, AudioTooLong) as exc:
        return 0 if str(exc).endswith(".") else -1


@pytest.mark.parametrize("kind", KINDS)
def test_recording_becomes_mono_at_16_khz(kind: str) -> None:
    found = read_recording(io.BytesIO(sound_file(kind)), max_s=10)
    assert found.complete
    assert found.samples.dtype == np.int16
    assert found.samples.ndim == 1
    assert len(found.samples) == pytest.approx(2 * RATE_HZ, abs=RATE_HZ * 0.06)
    middle = found.samples[RATE_HZ // 2 : RATE_HZ * 3 // 2]
    assert pitch(middle, RATE_HZ) == pytest.approx(TONE_HZ, abs=2)
    assert np.abs(middle).max() == pytest.approx(0.3 * 32767, rel=0.15)


def test_wav_at_16_khz_is_taken_sample_by_sample(tmp_path: Path) -> None:
    samples = np.random.default_rng(1).integers(-32768, 32767, RATE_HZ, dtype=np.int16)
    path = tmp_path / "answer.mp3"  # the name says nothing
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    found = read_recording(path, max_s=10)
    assert found.kind == "wav"
    assert np.array_equal(found.samples, samples)


def test_channels_are_averaged() -> None:
    found = read_recording(io.BytesIO(sound_file("wav stereo 44.1 kHz", right=0.0)), max_s=10)
    assert np.abs(found.samples[RATE_HZ // 2 : RATE_HZ]).max() == pytest.approx(0.15 * 32767, rel=0.05)


@pytest.mark.parametrize("kind", ["wav", "wav stereo 44.1 kHz", "flac", "webm opus", "ogg opus", "mp3"])
def test_recording_that_is_broken_off_keeps_what_was_said(kind: str) -> None:
    data = sound_file(kind, 4.0)
    found = read_recording(io.BytesIO(data[: len(data) // 2]), max_s=10)
    assert 0.4 * RATE_HZ < len(found.samples) < 2.7 * RATE_HZ
    assert pitch(found.samples[1600:], RATE_HZ) == pytest.approx(TONE_HZ, abs=4)


@pytest.mark.parametrize("kind", ["wav", "wav stereo 44.1 kHz", "wav 24 bit, six channels", "flac"])
def test_recording_that_states_a_longer_length_is_known_to_be_broken_off(kind: str) -> None:
    data = sound_file(kind, 4.0)
    assert read_recording(io.BytesIO(data), max_s=10).complete
    assert not read_recording(io.BytesIO(data[: len(data) // 2]), max_s=10).complete


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.9, 0.999])
def test_ogg_recording_without_its_last_page_is_known_to_be_broken_off(cut: float) -> None:
    data = sound_file("ogg opus", 4.0)
    whole = read_recording(io.BytesIO(data), max_s=10)
    assert whole.complete
    assert len(whole.samples) == pytest.approx(4.0 * RATE_HZ, abs=RATE_HZ * 0.06)
    assert not read_recording(io.BytesIO(data[: int(len(data) * cut)]), max_s=10).complete


def test_ogg_recording_without_its_last_page_but_whole_pages_is_known_to_be_broken_off() -> None:
    data = sound_file("ogg opus", 4.0)
    assert not read_recording(io.BytesIO(data[: data.rindex(b"OggS")]), max_s=10).complete


@pytest.mark.parametrize("stated", [0, 0x7FFF_FFFF, 0xFFFF_FFFF])
def test_recording_that_was_written_before_its_length_was_known_is_complete(stated: int) -> None:
    data = bytearray(sound_file("wav"))
    place = data.index(b"data") + 4
    data[place : place + 4] = stated.to_bytes(4, "little")
    found = read_recording(io.BytesIO(bytes(data)), max_s=10)
    assert found.complete and len(found.samples) == pytest.approx(2.0 * RATE_HZ, abs=160)


@pytest.mark.parametrize("kind", ["m4a", "mp4"])
def test_recording_whose_index_is_missing_is_refused(kind: str) -> None:
    data = sound_file(kind)
    with pytest.raises(AudioFormat, match="damaged or broken off"):
        read_recording(io.BytesIO(data[: len(data) // 2]), max_s=10)


@pytest.mark.parametrize("kind", KINDS)
def test_recording_that_ends_in_its_head_is_refused(kind: str) -> None:
    with pytest.raises(AudioFormat, match=r"damaged|no sound"):
        read_recording(io.BytesIO(sound_file(kind)[:40]), max_s=10)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_recording_is_read_in_part_or_refused(kind: str) -> None:
    data = bytearray(sound_file(kind))
    chance = np.random.default_rng(7)
    for place in chance.integers(len(data) // 4, len(data), 200):
        data[place] = int(chance.integers(256))
    assert 0 <= samples_or_refused(bytes(data), max_s=10) <= 10 * RATE_HZ


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"Dear all, here is my answer.", "no recording that can be read"),
        (b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "no recording that can be read"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "no recording that can be read"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "no recording that can be read"),
        (b"R", "no recording that can be read"),
        (b"RIFF\0\0\0\0WAVE", "damaged"),
        (b"OggS" + b"\0" * 200, "damaged"),
    ],
)
def test_no_recording_is_refused_in_words(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "answer.wav"
    path.write_bytes(data)
    with pytest.raises(AudioFormat, match=says):
        read_recording(path, max_s=10)


def test_recording_without_samples_is_refused() -> None:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
    with pytest.raises(AudioFormat, match=r"no sound|damaged"):
        read_recording(io.BytesIO(file.getvalue()), max_s=10)


@pytest.mark.parametrize("kind", ["wav", "webm opus", "mp3", "m4a", "flac"])
def test_recording_longer_than_an_answer_is_refused(kind: str) -> None:
    data = sound_file(kind, 6.0)
    with pytest.raises(AudioTooLong, match="longer than 3 s"):
        read_recording(io.BytesIO(data), max_s=3)
    assert len(read_recording(io.BytesIO(data), max_s=7).samples) > 5.9 * RATE_HZ


class Endless(io.RawIOBase):
    """A wav file that states no length and goes on for hours; counts how much of it was read."""

    def __init__(self, hours: float) -> None:
        head = io.BytesIO()
        with wave.open(head, "wb") as out:
            out.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        self._head = head.getvalue()[:40] + b"\xff\xff\xff\xff"
        self._length = int(hours * 3600 * RATE_HZ * 2)
        self._second = tone(1.0, RATE_HZ).tobytes()
        self._at = 0
        self.read_bytes = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + {0: 0, 1: self._at, 2: self._length}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        size = min(size if size >= 0 else 1 << 20, self._length - self._at)
        data = self._head[self._at : self._at + size]
        if len(data) < size:
            times = (size - len(data)) // len(self._second) + 1
            data += (self._second * times)[: size - len(data)]
        self._at += len(data)
        self.read_bytes += len(data)
        return data


def test_recording_of_hours_is_refused_early_and_costs_no_memory() -> None:
    file = Endless(hours=20)
    tracemalloc.start()
    try:
        with pytest.raises(AudioTooLong):
            read_recording(file, max_s=60)  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert file.read_bytes < 20e6
    assert peak < 20e6


BEGINNINGS: dict[bytes, str] = {
    b"RIFF1234WAVE": "wav",
    b"RF641234WAVE": "wav",
    b"fLaC": "flac",
    b"\x1a\x45\xdf\xa3": "matroska",
    b"OggS": "ogg",
    b"1234ftyp": "mov",
    b"ID3": "mp3",
    b"\xff\xfb": "mp3",
}


@pytest.mark.parametrize("beginning", BEGINNINGS)
@given(rest=st.binary(max_size=64))
def test_kind_follows_from_the_first_bytes_whatever_comes_after(beginning: bytes, rest: bytes) -> None:
    assert detect_kind(beginning + rest.replace(b"ftyp", b"")) == BEGINNINGS[beginning]
    assert detect_kind(beginning[:-1]) is None


@given(st.binary(max_size=64))
def test_kind_of_any_bytes_is_a_known_one_or_none(head: bytes) -> None:
    assert detect_kind(head) in (None, *BEGINNINGS.values())


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([b"RIFF\x24\0\0\0WAVEfmt ", b"fLaC", b"\x1a\x45\xdf\xa3", b"OggS\0", b"\0\0\0 ftypM4A ", b"ID3\4"]),
    st.binary(max_size=400),
)
def test_garbage_behind_a_right_beginning_never_does_anything_else_than_fail(head: bytes, rest: bytes) -> None:
    assert 0 <= samples_or_refused(head + rest, max_s=5) <= 5 * RATE_HZ

"""FrameBuffer: frames in any order, twice or never."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.errors import AudioFormat, AudioGap
from audio.frames import (
    MAX_FRAME_BYTES,
    MAX_HELD_BYTES,
    MAX_REORDER_FRAMES,
    FrameBuffer,
    Gap,
    parse_frame,
)


def pcm(seq: int, length: int = 640) -> bytes:
    """Audio that says its number."""
    return struct.pack(">I", seq) * (length // 4)


def test_parse_frame_splits_number_and_audio() -> None:
    assert parse_frame(b"\x00\x00\x01\x02ab") == (258, b"ab")


def known(buffer: FrameBuffer) -> tuple[int, Gap | None]:
    return buffer.first_unreceived, buffer.missing


@pytest.mark.parametrize("frame", [b"", b"\0\0\0", b"\0\0\0\1", b"\0\0\0\1a", b"\0\0\0\1" + bytes(MAX_FRAME_BYTES + 2)])
def test_parse_frame_without_usable_audio_is_refused(frame: bytes) -> None:
    with pytest.raises(AudioFormat):
        parse_frame(frame)


@given(
    count=st.integers(1, 40),
    data=st.data(),
)
def test_buffer_frames_in_any_order_and_doubled_come_out_once_in_order(count: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(count)))
    again = data.draw(st.lists(st.integers(0, count - 1), max_size=10))
    arrivals = list(order)
    for seq in again:
        arrivals.insert(data.draw(st.integers(0, len(arrivals))), seq)
    buffer = FrameBuffer()
    out = b"".join(buffer.push(seq, pcm(seq)) for seq in arrivals)
    assert out == b"".join(pcm(seq) for seq in range(count))
    assert known(buffer) == (count, None)


def test_buffer_frame_before_its_turn_waits_for_what_is_missing() -> None:
    buffer = FrameBuffer(first_seq=10)
    assert buffer.push(12, b"cc") == b""
    assert buffer.push(13, b"dd") == b""
    assert known(buffer) == (10, Gap(10, 11))
    assert buffer.push(10, b"aa") == b"aa"
    assert known(buffer) == (11, Gap(11, 11))
    assert buffer.push(11, b"bb") == b"bbccdd"
    assert known(buffer) == (14, None)


def test_buffer_frame_too_far_ahead_is_a_gap_and_is_not_taken() -> None:
    buffer = FrameBuffer()
    assert buffer.push(MAX_REORDER_FRAMES, b"zz") == b""
    with pytest.raises(AudioGap) as caught:
        buffer.push(MAX_REORDER_FRAMES + 1, b"zz")
    assert caught.value.retryable
    assert known(buffer) == (0, Gap(0, MAX_REORDER_FRAMES - 1))


def test_buffer_holds_ten_seconds_at_most() -> None:
    buffer = FrameBuffer()
    whole = MAX_HELD_BYTES // MAX_FRAME_BYTES
    for seq in range(1, whole + 1):
        buffer.push(seq, bytes(MAX_FRAME_BYTES))
    with pytest.raises(AudioGap):
        buffer.push(whole + 1, b"zz")
    assert len(buffer.push(0, b"aa")) == MAX_HELD_BYTES + 2


def test_buffer_restarted_after_a_loss_goes_on() -> None:
    buffer = FrameBuffer()
    buffer.push(0, b"aa")
    buffer.push(3, b"dd")
    buffer.push(7, b"hh")
    assert buffer.restart(6) == b"dd"
    assert buffer.push(6, b"gg") == b"gghh"
    assert buffer.first_unreceived == 8


def test_buffer_restarted_at_a_frame_that_waits_takes_it() -> None:
    buffer = FrameBuffer()
    buffer.push(5, b"ff")
    assert buffer.restart(5) == b"ff"
    assert known(buffer) == (6, None)


def test_buffer_restarted_before_what_it_has_drops_what_comes_twice() -> None:
    buffer = FrameBuffer()
    for seq in range(5):
        buffer.push(seq, pcm(seq))
    assert buffer.restart(2) == b""
    assert [buffer.push(seq, pcm(seq)) for seq in range(2, 6)] == [b"", b"", b"", pcm(5)]


def test_buffer_skip_gives_up_what_is_missing_now() -> None:
    buffer = FrameBuffer()
    assert buffer.skip() == b""
    buffer.push(2, b"cc")
    buffer.push(4, b"ee")
    assert (buffer.skip(), buffer.skip()) == (b"cc", b"ee")
    assert known(buffer) == (5, None)

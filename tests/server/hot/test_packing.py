"""Values that are packed come back, and no more is unpacked than was asked for."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from server.hot.packing import RAW, ZLIB, pack, unpack


@pytest.mark.parametrize("data", [b"", b"short", b"long " * 1000])
def test_what_is_packed_comes_back(data: bytes) -> None:
    assert unpack(pack(data, compress_above=100)) == data
    assert unpack(pack(data, compress_above=100), most_bytes=max(1, len(data))) == data


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"x",
        ZLIB,
        ZLIB + b"nonsense",
        ZLIB + zlib.compress(b"cut off " * 9)[:-3],
        ZLIB + zlib.compress(b"a") + b"b",
    ],
)
def test_what_was_not_packed_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r"damaged|without a known mark"):
        unpack(packed)


def test_no_more_is_unpacked_than_was_asked_for() -> None:
    packed = ZLIB + zlib.compress(bytes(100_000_000), 9)
    assert len(packed) < 100_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 1000000 bytes"):
            unpack(packed, most_bytes=1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000
    assert unpack(RAW + b"raw", most_bytes=1) == b"raw"

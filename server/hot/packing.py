"""Compression of long values in Redis."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Mapping
from typing import Any

RAW = b"r"
ZLIB = b"z"
OFF_LOOP_ABOVE = 128 * 1024
MOST_UNPACKED_BYTES = 256 * 1024 * 1024
"""Longest value that is unpacked; the state of an interview of 200 long answers has a few MiB."""


def pack(data: bytes, *, compress_above: int) -> bytes:
    """`data` after a one-byte mark, compressed (zlib level 1) when longer than `compress_above` bytes."""
    if len(data) <= compress_above:
        return RAW + data
    return ZLIB + zlib.compress(data, 1)


def unpack(packed: bytes, *, most_bytes: int = MOST_UNPACKED_BYTES) -> bytes:
    """What `pack` was given.

    Args:
        packed: what `pack` returned.
        most_bytes: no more than this is unpacked.
    Raises:
        ValueError: these bytes are not from `pack`, or unpack to more than `most_bytes`.
    """
    mark, body = packed[:1], packed[1:]
    if mark == RAW:
        return body
    if mark == ZLIB:
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(body, most_bytes + 1)
        except zlib.error as exc:
            raise ValueError("compressed bytes are damaged") from exc
        if len(data) > most_bytes:
            raise ValueError(f"compressed bytes hold more than {most_bytes} bytes")
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError("compressed bytes are damaged")
        return data
    raise ValueError("bytes without a known mark")


async def pack_off_loop(data: bytes, *, compress_above: int) -> bytes:
    """`pack`, on a thread when there is enough to compress that the event loop would notice."""
    if len(data) <= OFF_LOOP_ABOVE:
        return pack(data, compress_above=compress_above)
    return await asyncio.to_thread(pack, data, compress_above=compress_above)


def event_text(event: Mapping[str, Any]) -> bytes:
    """A durable event as JSON; the script puts its id in front.

    Raises:
        ValueError: the event has no fields, or has an `id` already.
    """
    if not event or "id" in event:
        raise ValueError("a durable event needs fields, and its id is given when it is stored")
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()

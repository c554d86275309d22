"""What a bundle may take of memory, whatever it holds."""

from __future__ import annotations

import base64
import io
import json
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.hot.packing import ZLIB
from server.sync import SyncError
from server.sync import bundle as bundle_module
from server.sync.bundle import (
    BATCH_ROWS,
    MOST_FILES,
    MOST_LINE_BYTES,
    MOST_LINE_VALUES,
    BundleInvalid,
    batches,
    read,
)
from server.sync.client import Central
from server.sync.receive import checked
from tests.audio.sound_files import compressed_zeros
from tests.support.syncing import full_interview, no_pause, pair
from tests.support.whole import BASE

HEADER = b'{"askwell":"session","format":1,"session_id":"s1","concept_id":"c","rev":1}\n'
MOST_MEMORY = 60_000_000


class Repeated(io.RawIOBase):
    """A file that begins with a header, and then has one line so many times."""

    def __init__(self, line: bytes, times: int) -> None:
        self._lines = iter([HEADER, *()])
        self._line = line
        self._left = times
        self._at = 0
        self._rest = b""

    def tell(self) -> int:
        return self._at

    def readline(self, size: int | None = -1) -> bytes:
        line = self._rest or next(self._lines, b"")
        if not line and self._left:
            self._left -= 1
            line = self._line
        taken = line[:size] if size is not None and size >= 0 else line
        self._rest = line[len(taken) :]
        self._at += len(taken)
        return taken


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


ROW = _line({"table": "t", "row": {}})
BIG = _line({"table": "t", "row": {"text": "x" * (MOST_LINE_BYTES - 100)}})
ENDLESS = b'{"table":"t","row":{"text":"' + b"x" * (2 * MOST_LINE_BYTES)
LISTS = b'{"table":"t","row":{"list":[' + b"[]," * (MOST_LINE_VALUES // 2) + b"[]]}}\n"
NO_SOUND = _line({"file": "0001-a.flac", "bytes": 0})
SLIVERS = _line({"file": "0001-a.flac", "bytes": 10_000}) + _line({"data": "AAAA"})


@pytest.mark.parametrize(
    ("line", "times", "reason"),
    [
        (ROW, 20_001, "more than 20000 rows"),
        (BIG, 13, "more than 100000000 bytes"),
        (ENDLESS, 1, f"line of more than {MOST_LINE_BYTES} bytes"),
        (LISTS, 1, f"line of more than {MOST_LINE_VALUES} values"),
        (NO_SOUND, MOST_FILES + 1, f"more than {MOST_FILES} recordings"),
    ],
    ids=["rows", "bytes", "line", "values", "files"],
)
def test_bundle_beyond_a_bound_is_refused_and_costs_little_memory(
    line: bytes, times: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_module, "MOST_ROWS", 20_000)
    monkeypatch.setattr(bundle_module, "MOST_ROW_BYTES", 100_000_000)
    source = Repeated(line, times)
    tracemalloc.start()
    try:
        with pytest.raises(BundleInvalid, match=reason):
            read(source, lambda table, row: None)  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY


def test_recording_in_slivers_is_refused() -> None:
    with pytest.raises(BundleInvalid, match="recording of the interview can't be read"):
        read(io.BytesIO(HEADER + SLIVERS * 2), lambda table, row: None)


def test_rows_come_back_a_few_at_a_time() -> None:
    rows = [{"number": number} for number in range(2 * BATCH_ROWS + 1)]
    lines = [_line({"table": "a" if row["number"] % 2 else "b", "row": row}) for row in rows]
    source = io.BytesIO(HEADER + b"".join(lines) + _line({"end": {"rows": len(rows), "files": 0}}))
    bundle = read(source, lambda table, row: None)
    found = {name: list(batches(source, bundle, name)) for name in ("a", "b", "c")}
    assert [[len(batch) for batch in found[name]] for name in found] == [[BATCH_ROWS], [BATCH_ROWS, 1], []]
    assert [row for batch in found["a"] for row in batch] == [row for row in rows if row["number"] % 2]


def _state(packed: bytes) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.__setitem__("state", base64.b64encode(packed).decode())


async def test_state_that_unpacks_to_gigabytes_is_refused_and_costs_little_memory(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        [unsent] = await both.kiosk.parts.sync.source(None).waiting()
        async with both.kiosk.parts.sync.source(None).opened(unsent) as opened:
            assert opened is not None
            lines = [json.loads(line) for line in opened.file]
    lists = zlib.compress(b"[" + b"[]," * 5_000_000 + b"[]]", 1)
    for packed in (ZLIB + compressed_zeros(150_000_000), ZLIB + lists):
        for line in lines:
            if line.get("table") == "session_snapshots":
                _state(packed)(line["row"])
        content = b"".join(_line(line) for line in lines)
        assert len(content) < 500_000
        tracemalloc.start()
        try:
            with pytest.raises(BundleInvalid, match="state of the interview"):
                checked(io.BytesIO(content), session_id)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 1.5 * MOST_MEMORY


async def test_answer_without_end_is_given_up() -> None:
    async def endless() -> Any:
        for _ in range(100):
            yield b" " * 100_000

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=endless())

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url=BASE)
    with pytest.raises(SyncError, match="does not answer like a server of askwell"):
        await Central(BASE, http, "t", pause=no_pause, attempts=1).hello()


async def test_answer_that_is_compressed_unasked_is_not_unpacked() -> None:
    packed = zlib.compress(bytes(100_000_000), 9)

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept-encoding"] == "identity"

        async def pieces() -> Any:
            yield packed

        return httpx.Response(200, headers={"content-encoding": "deflate"}, content=pieces())

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url=BASE)
    with pytest.raises(SyncError, match="compressed form that was not asked for"):
        await Central(BASE, http, "t", pause=no_pause, attempts=1).hello()

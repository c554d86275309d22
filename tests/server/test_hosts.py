"""The Host header over real sockets: one, well-formed, and never more believed than it has to be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.moderator import Place, place


@pytest.fixture
async def reachable(tmp_path: Path) -> AsyncIterator[Place]:
    """A process that is set up for a local network."""
    async with place(tmp_path, host="0.0.0.0", allowed_hosts="") as running:
        yield running


async def _exchange(
    here: Place, *headers: str, request: str = "GET /healthz HTTP/1.1", body: str = "", connection: str = "close"
) -> str:
    """What the server answers to a request with these header lines and no others."""
    parts = urlsplit(here.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    lines = [request, *headers, f"Connection: {connection}", f"Content-Length: {len(body)}", "", body]
    writer.write("\r\n".join(lines).encode("latin-1"))
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer.decode("latin-1")


async def test_host_that_is_none_or_twice_there_is_refused(reachable: Place) -> None:
    port = urlsplit(reachable.url).port
    wrong = (
        (),
        ("Host:",),
        (f"Host: 127.0.0.1:{port}", "Host: evil.example"),
        (f"Host: 127.0.0.1:{port}", f"Host: 127.0.0.1:{port}"),
        ("Host: someone@127.0.0.1",),
        ("Host: a b",),
        ("Host: a/b",),
        ("Host: a;b",),
        ("Host: 127.0.0.1:port",),
        ("Host: [::1",),
        ("Host: \u00e4.example",),
    )
    for headers in wrong:
        answer = await _exchange(reachable, *headers)
        assert answer.startswith("HTTP/1.1 400 "), (headers, answer[:200])
        assert "evil.example" not in answer
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: " + "A" * 22,
    )
    twice = await _exchange(reachable, "Host: a", "Host: b", *upgrade, request="GET /ws/moderator HTTP/1.1")
    assert not twice.startswith("HTTP/1.1 101")
    for host in ("box.local", "my_box", "[::1]:8080", "EXAMPLE.org.", f"127.0.0.1:{port}"):
        answer = await _exchange(reachable, f"Host: {host}")
        assert answer.startswith("HTTP/1.1 200 "), (host, answer[:200])
        assert f"connect-src 'self' ws://{host} wss://{host};" in answer


async def test_join_link_names_an_address_of_ours_whatever_the_request_says(reachable: Place) -> None:
    body, here = json.dumps({"concept_id": "coffee"}), urlsplit(reachable.url).netloc
    for host, shown in (
        ("evil.example", here),
        ("203.0.113.9:8080", here),
        ("8.8.8.8", here),
        (here, here),
        ("192.168.1.5:8080", "192.168.1.5:8080"),
        ("localhost:8080", "localhost:8080"),
        ("[fd00::5]:8080", "[fd00::5]:8080"),
    ):
        headers = (f"Host: {host}", f"Authorization: Bearer {reachable.token}", "Content-Type: application/json")
        answer = await _exchange(reachable, *headers, request="POST /api/sessions HTTP/1.1", body=body)
        assert answer.startswith("HTTP/1.1 201 "), answer[:300]
        link = json.loads(answer.partition("\r\n\r\n")[2])["join_url"]
        assert link.startswith(f"http://{shown}/interview/"), (host, link)

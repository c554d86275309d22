"""Requests that never end, by clients that nobody knows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from server.serving import bind, serving
from server.transport.limits import ConnectionLimits

QUICK = replace(
    ConnectionLimits(), head_s=0.3, body_window_s=0.3, body_s=1.0, stalled_s=0.3, close_s=0.3, enforce_every_s=0.1
)


async def echo(request: Request) -> Response:
    """How long the body was."""
    return PlainTextResponse(str(len(await request.body())))


async def much(_: Request) -> Response:
    """More than any buffer holds."""
    return PlainTextResponse("x" * 20_000_000)


class Server:
    """A server of one page and what it refused."""

    def __init__(self, port: int, refused: list[str]) -> None:
        self.port = port
        self.refused = refused

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, *sent: bytes, pause_s: float = 0.0) -> bytes:
        """Everything that comes back until the server closes the connection."""
        reader, writer = await self.connect()
        try:
            for piece in sent:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause_s)
            async with asyncio.timeout(10):
                return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.transport.abort()


@asynccontextmanager
async def running(limits: ConnectionLimits = QUICK, proxies: str = "") -> AsyncIterator[Server]:
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"]), Route("/much", much)])
    refused: list[str] = []
    with bind("127.0.0.1", 0) as sock:
        async with serving(app, sock, limits=limits, proxies=proxies, on_refused=refused.append):
            yield Server(sock.getsockname()[1], refused)


POST = b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nx: " + b"y" * 80_000,
        b"GET /" + b"y" * 80_000,
        b"GET / HTTP/1.1\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(10_000)),
        b"GET / HTTP/1.1\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(150)) + b"\r\n",
        b"\r\n" * 50_000,
    ],
    ids=["long field", "long path", "ten thousand fields", "150 fields", "nothing but line ends"],
)
async def test_head_without_end_is_refused(head: bytes) -> None:
    async with running() as server:
        answer = await server.ask(head)
        assert answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400")) or answer == b""
        assert server.refused


async def test_head_that_does_not_come_is_refused() -> None:
    async with running() as server:
        assert (await server.ask(b"GET / HTTP/1.1\r\nHost: x\r\n")).startswith(b"HTTP/1.1 408")
        assert await server.ask() == b""
        assert server.refused == ["head_late", "head_late"]


async def test_body_that_comes_too_slowly_is_refused() -> None:
    async with running() as server:
        answer = await server.ask(POST + b"Content-Length: 1000\r\n\r\n", *[b"x"] * 4, pause_s=0.2)
        assert answer.startswith(b"HTTP/1.1 408") or answer == b""
        assert server.refused == ["body_late"]


async def test_body_that_comes_for_ever_is_refused() -> None:
    async with running() as server:
        answer = await server.ask(POST + b"Content-Length: 100000000\r\n\r\n", *[b"x" * 2000] * 20, pause_s=0.2)
        assert answer.startswith(b"HTTP/1.1 408") or answer == b""
        assert server.refused == ["body_late"]


async def test_body_in_tiny_chunks_is_refused_and_in_fair_ones_taken() -> None:
    async with running() as server:
        tiny = await server.ask(POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 2000 + b"0\r\n\r\n")
        assert b" 400 " in tiny[:20] or tiny == b""
        chunks = (b"400\r\n" + bytes(1024) + b"\r\n") * 200 + b"0\r\n\r\n"
        fair = await server.ask(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
        assert fair.startswith(b"HTTP/1.1 200") and fair.endswith(b"204800")


async def test_requests_piled_up_behind_one_another_are_refused() -> None:
    async with running() as server:
        answer = await server.ask((POST + b"Content-Length: 1\r\n\r\nx").replace(b"close", b"keep-alive") * 50)
        assert answer.count(b"HTTP/1.1 200") <= 10
        assert server.refused == ["not_http"]


async def test_response_that_nobody_reads_ends_the_connection() -> None:
    async with running() as server:
        reader, writer = await server.connect()
        writer.write(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(10):
            while server.refused != ["stalled"]:
                await asyncio.sleep(0.05)
        writer.transport.abort()
        reader.feed_eof()


async def test_request_like_any_other_is_answered_and_the_connection_kept() -> None:
    async with running() as server:
        reader, writer = await server.connect()
        for _ in range(3):
            for piece in (b"POST /echo HTTP/1.1\r\nHo", b"st: x\r\nContent-Length: 5\r\n\r\nhe", b"llo"):
                writer.write(piece)
                await asyncio.sleep(0.02)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(1) == b"5"
        writer.close()
        assert not server.refused


async def test_connections_of_one_address_are_limited_and_given_back() -> None:
    async with running(replace(ConnectionLimits(), per_address=3)) as server:
        held = [await server.connect() for _ in range(3)]
        for _, writer in held:
            writer.write(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
        await asyncio.sleep(0.05)
        assert (await server.ask()).startswith(b"HTTP/1.1 429")
        assert server.refused == ["too_many"]
        for _, writer in held:
            writer.transport.abort()
        await asyncio.sleep(0.1)
        assert (await server.ask(POST + b"Content-Length: 2\r\n\r\nhi")).endswith(b"2")


async def test_new_connections_of_one_address_are_limited_by_rate() -> None:
    async with running(replace(ConnectionLimits(), new_per_s=0.001, new_burst=2)) as server:
        answers = [await server.ask(POST + b"Content-Length: 2\r\n\r\nhi") for _ in range(3)]
        assert [answer[9:12] for answer in answers] == [b"200", b"200", b"429"]


async def test_connections_of_a_trusted_proxy_are_not_counted() -> None:
    limits = replace(ConnectionLimits(), per_address=1, new_burst=1)
    async with running(limits, proxies="127.0.0.1") as server:
        held = [await server.connect() for _ in range(3)]
        assert (await server.ask(POST + b"Content-Length: 2\r\n\r\nhi")).endswith(b"2")
        for _, writer in held:
            writer.transport.abort()

"""Sockets, on both event loops: reading, waiting for the other side, ends, and hosts with several addresses."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpcore
import httpx
import pytest
import uvloop

from pipeline.language.clients.connections import KeptConnections
from pipeline.language.clients.sockets import HAPPY_EYEBALLS_S, MOST_UNREAD, SocketBackend, in_turn

Runner = Callable[[Callable[[], Awaitable[None]]], None]
LOCALHOST = Path(__file__).parent / "data" / "localhost.pem"
"""A key and a certificate that nobody trusts, for `localhost`."""

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Runner:
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def runner(body: Callable[[], Awaitable[None]]) -> None:
        async def main() -> None:
            async with asyncio.timeout(20):
                await body()

        with asyncio.Runner(loop_factory=factory) as loop:
            loop.run(main())

    return runner


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.001)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def test_socket_reads_what_comes_and_then_the_end(run: Runner) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(3))
        writer.close()

    async def body() -> None:
        async with serving(speak) as port:
            stream = await SocketBackend(is_tls=False).connect_tcp("127.0.0.1", port)
            assert not stream.get_extra_info("is_readable")
            await stream.write(b"")
            await stream.write(b"abc")
            assert await stream.read(2) == b"ab"
            assert stream.get_extra_info("is_readable")
            assert await stream.read(2) == b"c"
            assert await stream.read(2) == b""
            assert stream.get_extra_info("is_readable")
            await stream.aclose()

    run(body)


def test_socket_reset_is_an_error_to_read_and_to_write(run: Runner) -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        writer.transport.abort()

    async def body() -> None:
        async with serving(leave) as port:
            stream = await SocketBackend(is_tls=False).connect_tcp("127.0.0.1", port)
            await stream.write(b"x")
            with pytest.raises(httpcore.ReadError):
                await stream.read(10)
            with pytest.raises(httpcore.WriteError):
                await stream.write(b"y")

    run(body)


def test_socket_that_nobody_reads_makes_the_other_side_wait(run: Runner) -> None:
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        for _ in range(400):
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 100_000
        writer.close()

    async def body() -> None:
        async with serving(flood) as port:
            stream = await SocketBackend(is_tls=False).connect_tcp("127.0.0.1", port)
            before = -1
            while before != sent or sent == 0:
                before = sent
                await asyncio.sleep(0.05)
            assert sent < 40_000_000
            read, most = 0, 0
            while data := await stream.read(1 << 30):
                read += len(data)
                most = max(most, len(data))
            assert read == 40_000_000
            assert most < 8 * MOST_UNREAD

    run(body)


def test_socket_whose_other_side_does_not_read_waits_to_write(run: Runner) -> None:
    reading = asyncio.Event

    async def body() -> None:
        may_read = reading()
        total = 0

        async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal total
            await may_read.wait()
            while data := await reader.read(1 << 20):
                total += len(data)

        async with serving(late) as port:
            stream = await SocketBackend(is_tls=False).connect_tcp("127.0.0.1", port)
            with pytest.raises(httpcore.WriteTimeout):
                await stream.write(b"x" * 30_000_000, timeout=0.05)
            may_read.set()
            await stream.write(b"x")
            await until(lambda: total == 30_000_001)
            await stream.aclose()

    run(body)


def test_socket_closed_while_somebody_waits_ends_the_wait(run: Runner) -> None:
    async def body() -> None:
        async with serving(echo) as port:
            stream = await SocketBackend(is_tls=False).connect_tcp("127.0.0.1", port)
            async with asyncio.TaskGroup() as group:
                waiting = group.create_task(stream.read(1))
                await asyncio.sleep(0)
                await stream.aclose()
            assert waiting.result() == b""

    run(body)


def test_socket_with_a_time_limit_keeps_it(run: Runner) -> None:
    async def body() -> None:
        async with serving(echo) as port:
            stream = await SocketBackend(is_tls=False).connect_tcp("127.0.0.1", port)
            with pytest.raises(httpcore.ReadTimeout):
                await stream.read(1, timeout=0.02)
            await stream.write(b"later")
            assert await stream.read(10) == b"later"
            await stream.aclose()

    run(body)


def test_host_with_several_addresses_is_reached_at_the_one_that_answers(run: Runner) -> None:
    async def body() -> None:
        async with serving(echo) as port:
            loop = asyncio.get_running_loop()
            began = loop.time()
            stream = await SocketBackend(is_tls=False).connect_tcp("localhost", port, timeout=5)
            assert loop.time() - began < HAPPY_EYEBALLS_S
            await stream.write(b"x")
            assert await stream.read(1) == b"x"
            await stream.aclose()

    run(body)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "nowhere.invalid"])
def test_host_that_does_not_answer_is_an_error_to_connect(run: Runner, host: str) -> None:
    async def body() -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            with pytest.raises(httpcore.ConnectError) as caught:
                await SocketBackend(is_tls=False).connect_tcp(host, held.getsockname()[1], timeout=5)
        assert str(caught.value)

    run(body)


def test_addresses_take_turns_by_family() -> None:
    found: list[tuple[Any, ...]] = [
        (socket.AF_INET6, 1, 6, "", ("::1", 80, 0, 0)),
        (socket.AF_INET6, 1, 6, "", ("::2", 80, 0, 0)),
        (socket.AF_INET6, 1, 6, "", ("::2", 80, 0, 0)),
        (socket.AF_INET, 1, 6, "", ("10.0.0.1", 80)),
    ]
    assert in_turn(found) == ["::1", "10.0.0.1", "::2"]
    assert in_turn([]) == []


def served_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(LOCALHOST)
    return context


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.readuntil(b"\r\n\r\n"):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")


def test_encrypted_connection_is_kept_and_used_again(run: Runner) -> None:
    connections = 0

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await answer(reader, writer)
        writer.close()

    async def body() -> None:
        trust = ssl.create_default_context(cafile=str(LOCALHOST))
        kept = KeptConnections(trust, idle=5, keep_s=60)
        async with serving(counted, served_tls()) as port, httpx.AsyncClient(transport=kept) as client:
            for _ in range(3):
                assert (await client.get(f"https://localhost:{port}/")).text == "hi"
            assert kept.count == (1, 0)

    run(body)
    assert connections == 1


def test_certificate_that_nobody_trusts_is_an_error_to_connect(run: Runner) -> None:
    async def body() -> None:
        kept = KeptConnections(ssl.create_default_context(), idle=5, keep_s=60)
        async with serving(echo, served_tls()) as port, httpx.AsyncClient(transport=kept) as client:
            with pytest.raises(httpcore.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await client.get(f"https://localhost:{port}/")
            assert kept.count == (0, 0)

    run(body)


def test_certificate_of_another_host_is_an_error_to_connect(run: Runner) -> None:
    async def body() -> None:
        trust = ssl.create_default_context(cafile=str(LOCALHOST))
        async with serving(echo, served_tls()) as port:
            stream = await SocketBackend(is_tls=True).connect_tcp("127.0.0.1", port)
            with pytest.raises(httpcore.ConnectError, match="elsewhere"):
                await stream.start_tls(trust, "elsewhere.example", 5)

    run(body)


def test_server_that_is_not_encrypted_is_an_error_to_connect(run: Runner) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def body() -> None:
        async with serving(plain) as port:
            stream = await SocketBackend(is_tls=True).connect_tcp("localhost", port)
            with pytest.raises(httpcore.ConnectError):
                await stream.start_tls(ssl.create_default_context(), "localhost", 5)

    run(body)

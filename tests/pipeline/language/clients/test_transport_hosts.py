"""Hosts and certificates, on both event loops: several addresses of which one is dead, encryption, and nobody there."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvloop

from pipeline.language.clients import transport
from pipeline.language.clients.base import RoleModel
from pipeline.language.clients.faults import TryFailed
from pipeline.language.clients.transport import CONNECT_S, Pool
from tests.support.patience import PATIENCE_S
from tests.support.virtual_time import VirtualTimeLoop

Runner = Callable[[Callable[[], Awaitable[None]]], None]
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LOCALHOST = Path(__file__).parent / "data" / "localhost.pem"
"""A key and a certificate that nobody trusts, for `localhost`."""


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Runner:
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def runner(body: Callable[[], Awaitable[None]]) -> None:
        async def main() -> None:
            async with asyncio.timeout(PATIENCE_S):
                await body()

        with asyncio.Runner(loop_factory=factory) as loop:
            loop.run(main())

    return runner


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The certificate of `localhost` is named by the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", str(LOCALHOST))
    transport._trust.cache_clear()
    yield
    transport._trust.cache_clear()


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
    writer.close()


async def get(pool: Pool) -> bytes:
    response = await pool.get(RoleModel("scoring", "openai", "m", pool.base_url), "/models", {}, httpx2.Auth())
    try:
        return await response.body(10)
    finally:
        await response.aclose()


@asynccontextmanager
async def pool_of(url: str) -> AsyncIterator[Pool]:
    pool = Pool(url)
    try:
        yield pool
    finally:
        await pool.aclose()


@contextmanager
def unanswering(port: int) -> Iterator[str]:
    """An address where a port's queue of connections is full, so that connecting to it never ends."""
    with socket.socket(socket.AF_INET6) as listening:
        try:
            listening.bind(("::1", port))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback address")
        listening.listen(0)
        waiting = [socket.socket(socket.AF_INET6) for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(listening.getsockname())
            yield "::1"
        finally:
            for one in waiting:
                one.close()


class ResolvingLoop(VirtualTimeLoop):
    """Knows the addresses of one host, which no name server has."""

    addresses: dict[str, list[str]]

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        found: list[Any] = []
        for address in self.addresses.get(name, [name]):
            found += await super().getaddrinfo(address, port, **options)
        return found


def resolving(host: str, *addresses: str) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ResolvingLoop)
    loop.addresses = {host: list(addresses)}


@pytest.mark.parametrize("dead_first", [True, False])
def test_host_whose_ipv6_address_is_dead_is_reached_at_its_other_address(dead_first: bool) -> None:
    async def body() -> None:
        async with serving(answer) as port:
            with unanswering(port) as dead:
                loop = asyncio.get_running_loop()
                resolving("models.invalid", *([dead, "127.0.0.1"] if dead_first else ["127.0.0.1", dead]))
                async with pool_of(f"http://models.invalid:{port}/v1") as pool:
                    began = loop.time()
                    assert await get(pool) == b"hi"
                    assert loop.time() - began < CONNECT_S / 2

    with asyncio.Runner(loop_factory=ResolvingLoop) as runner:
        runner.run(body())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "nowhere.invalid"])
def test_host_that_refuses_or_does_not_exist_is_unreachable(run: Runner, host: str) -> None:
    async def body() -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            async with pool_of(f"http://{host}:{held.getsockname()[1]}/v1") as pool:
                with pytest.raises(TryFailed, match=r"can't be reached: \S") as caught:
                    await get(pool)
        assert caught.value.__cause__ is caught.value.__context__ is None

    run(body)


def served_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(LOCALHOST)
    return context


@pytest.mark.usefixtures("trusted")
def test_encrypted_connection_is_kept_and_used_again(run: Runner) -> None:
    connections = 0

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await answer(reader, writer)

    async def body() -> None:
        async with serving(counted, served_tls()) as port, pool_of(f"https://localhost:{port}/v1") as pool:
            for _ in range(3):
                assert await get(pool) == b"hi"

    run(body)
    assert connections == 1


def test_certificate_that_nobody_trusts_is_refused(run: Runner) -> None:
    async def body() -> None:
        async with serving(answer, served_tls()) as port, pool_of(f"https://localhost:{port}/v1") as pool:
            with pytest.raises(TryFailed, match="CERTIFICATE_VERIFY_FAILED"):
                await get(pool)

    run(body)


@pytest.mark.usefixtures("trusted")
def test_certificate_of_another_host_is_refused() -> None:
    async def body() -> None:
        async with serving(answer, served_tls()) as port:
            resolving("elsewhere.invalid", "127.0.0.1")
            async with pool_of(f"https://elsewhere.invalid:{port}/v1") as pool:
                with pytest.raises(TryFailed, match=r"not valid for 'elsewhere\.invalid'"):
                    await get(pool)

    with asyncio.Runner(loop_factory=ResolvingLoop) as runner:
        runner.run(body())


def test_server_that_is_not_encrypted_is_unreachable_by_https(run: Runner) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def body() -> None:
        async with serving(plain) as port, pool_of(f"https://localhost:{port}/v1") as pool:
            with pytest.raises(TryFailed, match="can't be reached"):
                await get(pool)

    run(body)

"""Connections: kept, replaced when the other side has closed them, and never more than are needed."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import pytest
from pydantic import SecretStr

from pipeline.language.clients.base import RoleModel
from pipeline.language.clients.faults import TryFailed
from pipeline.language.clients.transport import IDLE_CONNECTIONS, STALE_S, KeyAuth, Pool
from tests.support.patience import PATIENCE_S

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


@dataclass
class Server:
    """Answers every request with the next of its script; an empty answer is a reset instead."""

    script: list[bytes] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    port: int = 0
    open: int = 0
    """Connections that neither side has closed."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        self.open += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), 0
                )
                await reader.readexactly(length)
                self.heads.append(head)
                answer = self.script.pop(0) if self.script else ANSWER
                if not answer:
                    reset(writer)
                    return
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def serving(*script: bytes) -> AsyncIterator[Server]:
    server = Server(list(script))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for writer in server.writers:
            writer.transport.abort()


def spec(url: str, key: str | None = "sk-1234567890") -> RoleModel:
    return RoleModel("scoring", "openai", "m", url, SecretStr(key) if key is not None else None)


async def get(pool: Pool) -> int:
    """The status of one request, whose body is read to its end."""
    response = await pool.get(spec(pool.base_url), "/models", {}, httpx2.Auth())
    try:
        await response.body(1000)
        return response.status
    finally:
        await response.aclose()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.001)


async def test_connection_is_kept_and_used_again() -> None:
    async with serving() as server:
        pool = Pool(server.url)
        for _ in range(3):
            assert await get(pool) == 200
        assert server.open == 1
        await pool.aclose()
        await until(lambda: server.open == 0)
    assert len(server.writers) == 1


async def test_connections_are_as_many_as_requests_at_once_and_surplus_ones_are_closed() -> None:
    async with serving() as server:
        pool = Pool(server.url, limits=httpx2.Limits(max_keepalive_connections=2, keepalive_expiry=60))
        assert await asyncio.gather(*(get(pool) for _ in range(6))) == [200] * 6
        await until(lambda: server.open == 2)
        assert await asyncio.gather(*(get(pool) for _ in range(2))) == [200] * 2
        await pool.aclose()
    assert len(server.writers) == 6


async def test_pool_by_itself_keeps_as_many_connections_as_it_says() -> None:
    async with serving() as server:
        pool = Pool(server.url)
        asked = IDLE_CONNECTIONS + 10
        assert await asyncio.gather(*(get(pool) for _ in range(asked))) == [200] * asked
        await until(lambda: server.open == IDLE_CONNECTIONS)
        await pool.aclose()
    assert len(server.writers) == asked


async def test_connection_closed_by_the_other_side_is_replaced_unseen() -> None:
    async with serving() as server:
        pool = Pool(server.url)
        assert await get(pool) == 200
        server.writers[0].close()
        await server.writers[0].wait_closed()
        assert await get(pool) == 200
        await pool.aclose()
    assert len(server.writers) == 2


async def test_connection_reset_as_the_request_arrives_is_replaced_at_once_by_a_new_one() -> None:
    async with serving() as server:
        pool = Pool(server.url)
        assert await asyncio.gather(*(get(pool) for _ in range(5))) == [200] * 5
        for asked in range(1, 6):
            server.script.append(b"")
            assert await get(pool) == 200
            assert len(server.heads) == 5 + 2 * asked
            assert len(server.writers) == 5 + asked
        await pool.aclose()
        await until(lambda: server.open == 0)


async def test_request_that_ends_every_connection_is_sent_twice_at_most() -> None:
    async with serving() as server:
        pool = Pool(server.url)
        assert await asyncio.gather(*(get(pool) for _ in range(5))) == [200] * 5
        server.script += [b""] * 5
        with pytest.raises(TryFailed, match="can't be reached"):
            await get(pool)
        await pool.aclose()
    assert len(server.heads) == 5 + 2


async def test_new_connection_that_is_reset_is_not_replaced() -> None:
    async with serving(b"") as server:
        pool = Pool(server.url)
        with pytest.raises(TryFailed, match="can't be reached"):
            await get(pool)
        await pool.aclose()
    assert len(server.heads) == 1


async def test_request_lost_after_a_while_may_have_been_worked_on_and_is_not_sent_again() -> None:
    times = iter([0.0, 0.0, STALE_S + 0.1])
    async with serving(ANSWER, b"") as server:
        pool = Pool(server.url, clock=lambda: next(times))
        assert await get(pool) == 200
        with pytest.raises(TryFailed, match="can't be reached"):
            await get(pool)
        await pool.aclose()
    assert len(server.heads) == 2


async def test_connection_idle_for_too_long_is_not_used() -> None:
    async with serving() as server:
        pool = Pool(server.url, limits=httpx2.Limits(keepalive_expiry=-1))
        for _ in range(3):
            assert await get(pool) == 200
        await until(lambda: server.open == 0)
        await pool.aclose()
    assert len(server.writers) == 3


async def test_response_left_in_the_middle_closes_its_connection() -> None:
    async with serving(ANSWER.replace(b"length: 2", b"length: 9999")) as server:
        pool = Pool(server.url)
        response = await pool.get(spec(server.url), "/models", {}, httpx2.Auth())
        assert server.open == 1
        await response.aclose()
        await until(lambda: server.open == 0)
        await pool.aclose()


async def test_request_given_up_leaves_no_connection_behind() -> None:
    async with serving(b"HTTP/1.1 100 Continue\r\n\r\n") as server:
        pool = Pool(server.url)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await get(pool)
        await until(lambda: server.open == 0)
        assert await get(pool) == 200
        await pool.aclose()


@pytest.mark.parametrize("kept", [False, True])
async def test_request_cancelled_at_any_step_leaves_no_connection_in_use(kept: bool) -> None:
    async with serving() as server:
        pool = Pool(server.url)
        if kept:
            assert await get(pool) == 200
        for steps in range(40):
            async with asyncio.TaskGroup() as group:
                request = group.create_task(get(pool))
                for _ in range(steps):
                    await asyncio.sleep(0)
                request.cancel()
        assert await get(pool) == 200
        await until(lambda: server.open == 1)
        assert await get(pool) == 200
        assert server.open == 1
        await pool.aclose()
        await until(lambda: server.open == 0)


@pytest.mark.parametrize("scheme", ["HTTP_PROXY", "ALL_PROXY", "http_proxy"])
async def test_pool_of_this_machine_does_not_ask_a_proxy(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv(scheme, "http://127.0.0.1:1")
    async with serving() as server:
        pool = Pool(server.url)
        response = await pool.get(spec(server.url), "/models", {}, httpx2.Auth())
        assert response.status == 200
        await response.aclose()
        await pool.aclose()


async def test_pool_of_another_machine_asks_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        pool = Pool("http://models.invalid/v1")
        response = await pool.get(spec(pool.base_url), "/models", {}, httpx2.Auth())
        await response.aclose()
        await pool.aclose()
    assert proxy.heads[0].startswith(b"GET http://models.invalid/v1/models HTTP/1.1\r\n")


async def test_pool_sends_the_key_where_the_provider_wants_it_and_asks_for_no_compression() -> None:
    async with serving() as server:
        pool = Pool(server.url + "/")
        for header, prefix in (("x-api-key", ""), ("authorization", "Bearer ")):
            auth = KeyAuth(spec(server.url, " sk-1234567890\n"), header, prefix)
            assert "1234567890" not in repr(auth)
            response = await pool.post(spec(server.url), "/messages", b"{}", {"anthropic-version": "2023-06-01"}, auth)
            assert await response.body(10) == b"{}"
            await response.aclose()
        await pool.aclose()
    first, second = (head.lower() for head in server.heads)
    assert first.startswith(b"post /v1/messages http/1.1\r\n")
    assert b"\r\nx-api-key: sk-1234567890\r\n" in first and b"authorization" not in first
    assert b"\r\nauthorization: bearer sk-1234567890\r\n" in second
    assert b"\r\naccept-encoding: identity\r\n" in first
    assert b"\r\nanthropic-version: 2023-06-01\r\n" in first
    assert b"\r\ncontent-type: application/json\r\n" in first


async def test_pool_without_a_key_sends_none() -> None:
    async with serving() as server:
        pool = Pool(server.url)
        for key in (None, " "):
            model = spec(server.url, key)
            response = await pool.post(
                model, "/chat/completions", b"{}", {}, KeyAuth(model, "authorization", "Bearer ")
            )
            await response.aclose()
        await pool.aclose()
    assert not any(b"authorization" in head.lower() for head in server.heads)


async def test_pool_after_its_end_asks_nobody() -> None:
    async with serving() as server:
        pool = Pool(server.url)
        await pool.aclose()
        with pytest.raises(TryFailed, match="closed"):
            await pool.get(spec(server.url), "/models", {}, httpx2.Auth())
    assert server.heads == []


@pytest.mark.parametrize("key", ["sk-ключ", "sk-1\nx-admin: yes", "sk 1", "sk-\x7f1"])
async def test_key_that_no_header_takes_is_not_sent(key: str) -> None:
    async with serving() as server:
        model = spec(server.url, key)
        pool = Pool(server.url)
        with pytest.raises(TryFailed, match="ASKWELL_SCORING_API_KEY") as caught:
            await pool.get(model, "/models", {}, KeyAuth(model, "authorization", "Bearer "))
        assert caught.value.__cause__ is caught.value.__context__ is None
    assert server.heads == []


async def test_body_longer_than_allowed_is_not_read_to_its_end() -> None:
    long = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n" + b"x" * 100_000
    async with serving(long) as server:
        pool = Pool(server.url)
        response = await pool.get(spec(server.url), "/models", {}, httpx2.Auth())
        assert await response.body(10) == b"x" * 11
        await response.aclose()
        await pool.aclose()


async def test_line_of_a_stream_that_never_ends_is_cut_off() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: "
    async with serving(head + b"x" * 200_000) as server:
        pool = Pool(server.url)
        response = await pool.get(spec(server.url), "/models", {}, httpx2.Auth())
        with pytest.raises(TryFailed, match="longer than any answer"):
            await response.event(1000)
        await response.aclose()
        await pool.aclose()

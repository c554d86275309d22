"""Frames that no client library sends, by a client that nobody knows, while somebody else holds an interview."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from server.hot.redis import HotStore
from server.transport.limits import ConnectionLimits
from tests.support.client import RespondentClient
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, eventually, running_node
from tests.support.raw_socket import BINARY, CLOSE, CONT, PING, PONG, TEXT, RawSocket, frame

FLOOD = 50_000
"""Frames of a flood; parsing them all takes most of a second."""
QUICK = ConnectionLimits(message_s=0.3, stalled_s=0.3, close_s=0.3, enforce_every_s=0.1)


@asynccontextmanager
async def limited(hot: HotStore, limits: ConnectionLimits) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), limits=limits) as node:
        yield node


@asynccontextmanager
async def bystander(node: Node) -> AsyncIterator[RespondentClient]:
    """Somebody whose interview goes on."""
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        yield client
        assert (await client.turn("I was not disturbed."))["turn_number"] == 1


@pytest.mark.parametrize(
    "small",
    [frame(CONT, fin=False), frame(PING), frame(PONG), frame(PONG, b"unasked"), frame(TEXT), frame(BINARY)],
    ids=["continuation", "ping", "pong", "pong with a payload", "empty text", "empty binary"],
)
async def test_flood_of_small_frames_ends_before_much_of_it_is_parsed(node: Node, small: bytes) -> None:
    begun = frame(TEXT, b"{", fin=False) if small[0] & 0x0F == CONT else b""
    async with bystander(node), RawSocket(node.url) as attacker:
        spent = time.process_time()
        assert await ended_within(attacker, [begun, *[small * (FLOOD // 20)] * 20])
        # Parsing the flood takes several times this on any machine; the rest is the sending.
        assert time.process_time() - spent < 60 * cost_of_a_thousand_frames()


async def ended_within(attacker: RawSocket, pieces: list[bytes]) -> bool:
    """Whether the server ends the connection while these are sent, or soon after."""
    try:
        for piece in pieces:
            await attacker.send(piece)
            await asyncio.sleep(0.001)
    except ConnectionError:
        return True
    return await attacker.over(5)


def cost_of_a_thousand_frames() -> float:
    """Seconds of this machine for parsing a thousand small frames, as a measure of what a flood may cost."""
    from websockets.server import ServerProtocol

    protocol = ServerProtocol()
    protocol.state = protocol.state.__class__.OPEN
    protocol.parser = protocol.parse()
    next(protocol.parser)
    data = frame(PONG) * 1000
    began = time.process_time()
    protocol.receive_data(data)
    protocol.events_received()
    return max(time.process_time() - began, 0.001)


async def test_pings_of_a_client_that_reads_no_pongs_end_the_connection(hot: HotStore) -> None:
    limits = replace(ConnectionLimits(), small_frames_per_s=1e9, small_frames_burst=10**9, unread_bytes=64 * 1024)
    async with limited(hot, limits) as node, bystander(node), RawSocket(node.url, receive_buffer=1024) as attacker:
        assert await ended_within(attacker, [frame(PING, bytes(125)) * 100] * 2000)


async def test_message_that_is_not_completed_in_time_ends_the_connection(hot: HotStore) -> None:
    async with limited(hot, QUICK) as node, bystander(node):
        for part in (frame(TEXT, b"{", fin=False), frame(TEXT, b"x" * 100)[:50], frame(BINARY, bytes(40_000))[:20_000]):
            async with RawSocket(node.url) as attacker:
                await attacker.send(part)
                assert await attacker.close_code(10) == 1008
                assert await attacker.over(10)


async def test_message_in_pieces_is_a_message(node: Node) -> None:
    state = await node.session()
    hello = f'{{"type": "hello", "token": "token-{state.session_id}"}}'.encode()
    async with RawSocket(node.url) as client:
        await client.send(frame(TEXT, hello[:5], fin=False) + frame(PING, b"between"))
        for byte in frame(CONT, hello[5:20], fin=False) + frame(CONT) * 0 + frame(CONT, hello[20:]):
            await client.send(bytes([byte]))
        async with asyncio.timeout(5):
            await client.reader.readuntil(b'"ready"')


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"{}", masked=False), 1002),
        (frame(TEXT, b"{}", rsv=4), 1002),
        (frame(TEXT, b"{}", rsv=1), 1002),
        (frame(0x3), 1002),
        (frame(0xB), 1002),
        (frame(CONT, b"of nothing"), 1002),
        (frame(TEXT, b"{", fin=False) + frame(TEXT, b"}"), 1002),
        (frame(PING, fin=False), 1002),
        (frame(PING, bytes(126)), 1002),
        (frame(TEXT, b"\xff\xfe"), 1007),
        (frame(CLOSE, b"\x03"), 1002),
        (frame(CLOSE, (1005).to_bytes(2, "big")), 1002),
        (frame(CLOSE, (999).to_bytes(2, "big")), 1002),
        (frame(CLOSE, (1000).to_bytes(2, "big") + b"\xff"), 1007),
        (frame(CLOSE, (1000).to_bytes(2, "big")), 1000),
        (frame(CLOSE, (4711).to_bytes(2, "big")), 4711),
        (frame(CLOSE), 1005),
        (frame(TEXT, bytes(300_000)), 1009),
        (frame(TEXT, bytes(200_000), fin=False) + frame(CONT, bytes(200_000)), 1009),
        (b"\x81\xff" + (2**62).to_bytes(8, "big") + bytes(4), 1009),
        (b"\x81\xff" + (2**64 - 1).to_bytes(8, "big") + bytes(4), 1009),
        (b"GET / HTTP/1.1\r\n\r\n", 1002),
    ],
)
async def test_frame_against_the_rules_closes_with_the_code_that_says_so(node: Node, sent: bytes, code: int) -> None:
    async with RawSocket(node.url) as attacker:
        await attacker.send(sent)
        assert await attacker.close_code(5) in (code, None if code == 1005 else code)


async def test_long_message_of_somebody_who_said_no_hello_ends_the_connection(node: Node) -> None:
    async with RawSocket(node.url) as attacker:
        await attacker.send(frame(TEXT, b'{"type": "hello", "token": "' + b"x" * 5000 + b'"}'))
        assert await attacker.close_code(5) == 1009


async def test_connection_outlives_its_close_by_no_more_than_it_may(hot: HotStore) -> None:
    async with limited(hot, QUICK) as node, RawSocket(node.url) as attacker:
        await attacker.send(frame(TEXT, b"no json") * 20)
        assert await attacker.close_code(10) is not None
        # It never answers the close.
        assert await attacker.over(10)


async def test_client_that_sends_on_after_the_close_is_cut_off(node: Node) -> None:
    async with RawSocket(node.url) as attacker:
        assert await ended_within(attacker, [frame(TEXT, bytes(5000)), *[frame(TEXT, bytes(100_000))] * 50])


async def test_every_connection_is_given_back(node: Node) -> None:
    tasks = len(asyncio.all_tasks())
    for _ in range(5):
        async with RawSocket(node.url) as attacker:
            await attacker.send(frame(PING) * 5)
    await eventually(lambda: len(asyncio.all_tasks()) <= tasks)

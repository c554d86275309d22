"""How the client of a role uses its time: shares of the deadline, pauses, the ends of streams, and giving up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from pipeline.calls import CallLog, recording
from pipeline.errors import LLMRateLimited, LLMTimeout, LLMUnavailable
from pipeline.language.clients.base import ChatMessage, ChatRequest, ProviderName, RoleModel
from pipeline.language.clients.breaker import PROBES, Breaker, State
from pipeline.language.clients.client import HttpChatClient
from pipeline.language.clients.clients import Clients
from pipeline.language.clients.timing import Timing
from pipeline.language.clients.tries import END_WAIT_S, USAGE_WAIT_S
from tests.support.llm_double import Answer, Body, Break, Fail, LLMDouble, Shape
from tests.support.virtual_time import VIRTUAL_TIME, event_loop_policy

__all__ = ["event_loop_policy"]

pytestmark = VIRTUAL_TIME
PIECE = b'data: {"choices":[{"index":0,"delta":{"content":"Why?"},"finish_reason":null}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'


class Time:
    """A clock that only sleeping and `pass_s` move."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    @property
    def timing(self) -> Timing:
        return Timing(clock=self.clock, wall=lambda: 0.0, sleep=self.sleep, jitter=lambda: 0.5)


@pytest.fixture
async def double() -> AsyncIterator[LLMDouble]:
    async with LLMDouble() as running:
        yield running


def question() -> ChatRequest:
    return ChatRequest(task="question", system="", messages=(ChatMessage(speaker="user", content="Tea."),))


def client(clients: Clients, double: LLMDouble, provider: ProviderName = "openai", **changes: Any) -> HttpChatClient:
    made = clients.client(RoleModel("generation", provider, "m", double.base_url, **({"deadline_s": 20.0} | changes)))
    assert isinstance(made, HttpChatClient)
    return made


async def test_pause_of_an_outage_is_jittered_and_comes_off_the_deadline(double: LLMDouble) -> None:
    time = Time()
    clients = Clients(timing=time.timing)
    double.next(Fail(503), Fail(503))
    with pytest.raises(LLMUnavailable, match="asked twice"):
        await client(clients, double).complete(question())
    await clients.aclose()
    assert time.slept == [0.5]


async def test_time_used_up_by_the_first_try_leaves_no_retry(double: LLMDouble) -> None:
    time = Time()

    class Slow:
        async def play(self, asked: Any, wire: Any) -> None:
            time.now += 18.5
            await Fail(503).play(asked, wire)

    clients = Clients(timing=time.timing)
    double.next(Slow())
    with pytest.raises(LLMUnavailable):
        await client(clients, double).complete(question())
    await clients.aclose()
    assert (len(double.requests), time.slept) == (1, [])


@pytest.mark.parametrize("streamed", [False, True])
async def test_pause_that_took_longer_than_it_should_leaves_no_time_to_ask(double: LLMDouble, streamed: bool) -> None:
    time = Time()

    async def oversleep(seconds: float) -> None:
        time.now += seconds + 30

    clients = Clients(timing=Timing(clock=time.clock, sleep=oversleep))
    made = client(clients, double)
    double.next(Fail(503), Break("silence"))
    calls = CallLog()
    with recording(calls), pytest.raises(LLMTimeout):
        await (anext(made.stream(question())) if streamed else made.complete(question()))
    await clients.aclose()
    assert [call.error for call in calls.peek()] == ["LLMUnavailable", "LLMTimeout"]


async def test_cancelled_while_it_pauses_asks_no_more_and_lets_others_through(double: LLMDouble) -> None:
    pausing = asyncio.Event()

    async def sleep(seconds: float) -> None:
        pausing.set()
        await asyncio.Event().wait()

    clients = Clients(timing=Timing(sleep=sleep))
    double.next(Fail(503))
    calls = CallLog()
    with recording(calls):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(client(clients, double).complete(question()))
            await pausing.wait()
            task.cancel()
        assert task.cancelled()
        assert (await client(clients, double).complete(question())).text
    await clients.aclose()
    assert len(double.requests) == 2
    assert [call.outcome for call in calls.peek()] == ["failed", "completed"]


async def test_probe_that_is_cancelled_does_not_keep_the_circuit_open(double: LLMDouble) -> None:
    time = Time()
    clients = Clients(timing=time.timing)
    double.next(*[Fail(500)] * 6)
    for _ in range(3):
        with pytest.raises(LLMUnavailable):
            await client(clients, double).complete(question())
    breaker = next(iter(clients.breakers.values()))
    time.now += 31
    assert state(breaker) == "half_open"
    double.next(*[Break("silence")] * PROBES)
    async with asyncio.TaskGroup() as group:
        probes = [group.create_task(client(clients, double).complete(question())) for _ in range(PROBES)]
        while len(double.requests) < 6 + PROBES:
            await asyncio.sleep(0.001)
        with pytest.raises(LLMUnavailable, match="being tried"):
            await client(clients, double).complete(question())
        for probe in probes:
            probe.cancel()
    assert (await client(clients, double).complete(question())).text
    await clients.aclose()
    assert state(breaker) == "closed"


async def test_rate_limit_without_a_wish_is_tried_again(double: LLMDouble) -> None:
    time = Time()
    clients = Clients(timing=time.timing)
    double.next(Fail(429), Fail(429))
    with pytest.raises(LLMRateLimited):
        await client(clients, double).complete(question())
    await clients.aclose()
    assert time.slept == [0.5]
    assert next(iter(clients.breakers.values())).state == "closed"


def state(breaker: Breaker) -> State:
    return breaker.state


async def stream(clients: Clients, double: LLMDouble) -> tuple[list[str], float]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    pieces = [piece async for piece in client(clients, double).stream(question())]
    return pieces, loop.time() - began


class Unending:
    """Sends a body of events and then nothing, without ending it."""

    def __init__(self, *events: bytes) -> None:
        self.events = events

    async def play(self, asked: Any, wire: Any) -> None:
        await wire.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + b"".join(self.events))
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("events", "most_s"), [((PIECE, END), USAGE_WAIT_S), ((PIECE, END, b"data: [DONE]\n\n"), END_WAIT_S)]
)
async def test_stream_that_is_whole_does_not_wait_for_its_connection_to_end(
    double: LLMDouble, events: tuple[bytes, ...], most_s: float
) -> None:
    clients = Clients()
    double.next(Unending(*events))
    pieces, took_s = await stream(clients, double)
    await clients.aclose()
    assert pieces == ["Why?"]
    assert took_s <= most_s + 1e-6


async def test_stream_that_is_whole_is_not_spoilt_by_what_comes_after(double: LLMDouble) -> None:
    clients = Clients()
    for after in (b"data: {nonsense\n\n", b""):
        double.next(Body(PIECE + END + after, content_type="text/event-stream"))
        pieces, _ = await stream(clients, double)
        assert pieces == ["Why?"]
    await clients.aclose()


async def test_stream_with_separators_of_unicode_is_not_cut_at_them(double: LLMDouble) -> None:
    clients = Clients()
    text = "Why\u2028tea\x85 or\u2029not?"
    double.next(Body(PIECE.replace(b"Why?", text.encode()) + END, content_type="text/event-stream"))
    pieces, _ = await stream(clients, double)
    await clients.aclose()
    assert pieces == [text]


async def test_stream_that_is_whole_keeps_its_connection(double: LLMDouble) -> None:
    clients = Clients()
    for shape in (Shape(), Shape(done=False), Shape(piece_bytes=7)):
        double.next(Answer(shape=shape))
        await stream(clients, double)
    await clients.aclose()
    assert double.connections == 1


async def test_stream_left_open_counts_as_success_of_the_provider(double: LLMDouble) -> None:
    time = Time()
    clients = Clients(timing=time.timing)
    double.next(*[Fail(500)] * 4)
    for _ in range(2):
        with pytest.raises(LLMUnavailable):
            await client(clients, double).complete(question())
    async with aclosing(client(clients, double).stream(question())) as pieces:
        async for _ in pieces:
            break
    double.next(*[Fail(500)] * 4)
    for _ in range(2):
        with pytest.raises(LLMUnavailable):
            await client(clients, double).complete(question())
    await clients.aclose()
    assert next(iter(clients.breakers.values())).state == "closed"


async def test_client_of_the_same_role_is_the_same(double: LLMDouble) -> None:
    clients = Clients()
    assert client(clients, double) is client(clients, double)
    assert client(clients, double) is not client(clients, double, temperature=0.1)
    assert len(clients.breakers) == 1
    assert len({id(one) for one in clients.breakers.values()}) == 1
    client(clients, double, "anthropic")
    assert len(clients.breakers) == 2
    clients.client(RoleModel("scoring", "openai", "m", double.base_url))
    assert len(clients.breakers) == 3, "a model may fail at one thing only"
    await clients.aclose()

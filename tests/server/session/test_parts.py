"""The small parts: outbox, running question, limiter, origins, problems."""

from __future__ import annotations

import asyncio
import json

import pytest

from server.hot.errors import StorageUnavailable, TurnKeyReused
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.codec import ProtocolProblem
from server.protocol.outbound import Notice, Pong
from server.rate_limits import TokenBucket
from server.session.audience import QuestionStream
from server.session.outbox import Outbox
from server.session.problems import SessionProblem, error_frame, problem_of
from server.sockets.base import RateLimiter, origin_allowed
from server.sockets.connected import ConnectedSessions
from server.sockets.settings import SocketSettings


def event(number: int) -> DurableEvent:
    return DurableEvent(id=number, data={"id": number, "type": "session.state", "state": "active", "reason": ""})


async def frames(outbox: Outbox) -> list[dict[str, object]]:
    outbox.close(1000)
    found = []
    while (frame := await outbox.next()) is not None:
        found.append(json.loads(frame))
    return found


async def test_outbox_durable_events_come_once_and_in_order() -> None:
    outbox = Outbox()
    for number in (1, 2, 2, 1, 3):
        await outbox.event(event(number))
    assert [f["id"] for f in await frames(outbox)] == [1, 2, 3]


async def test_outbox_held_keeps_live_events_until_the_replay_is_through() -> None:
    outbox = Outbox()
    outbox.hold(1)
    await outbox.event(event(3))
    await outbox.broadcast(Notice.of("still_thinking"))
    await outbox.replay(event(2))
    await outbox.replay(event(3))
    await outbox.event(event(4))
    await outbox.release(lambda: [Pong(t=1)])
    await outbox.broadcast(Notice.of("answer_kept"))
    found = await frames(outbox)
    assert [f.get("id") for f in found] == [2, 3, 4, None, None]
    assert [f["type"] for f in found[3:]] == ["pong", "notice"]


async def test_outbox_full_makes_the_writer_wait_for_the_reader() -> None:
    outbox = Outbox(bound=2, wait_s=5.0)
    async with asyncio.TaskGroup() as tasks:
        writer = tasks.create_task(_fill(outbox, 10))
        await asyncio.sleep(0)
        assert not writer.done()
        seen = [json.loads(frame or "")["id"] for frame in [await outbox.next() for _ in range(10)]]
    assert seen == list(range(1, 11))


async def _fill(outbox: Outbox, count: int) -> None:
    for number in range(1, count + 1):
        await outbox.event(event(number))


async def test_outbox_full_for_too_long_drops_the_connection_not_an_event() -> None:
    outbox = Outbox(bound=2, wait_s=0.01)
    await _fill(outbox, 5)
    assert outbox.close_code == 1008
    assert await outbox.next() is None
    await outbox.closed()


async def test_outbox_closed_sends_what_is_in_and_nothing_more() -> None:
    outbox = Outbox()
    await outbox.event(event(1))
    outbox.close(4001)
    outbox.close(1000)
    await outbox.event(event(2))
    assert outbox.close_code == 4001
    assert [f["id"] for f in await frames(outbox)] == [1]


class Heard:
    """Keeps what is broadcast."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)


async def test_stream_keeps_what_is_out_for_whoever_comes_late() -> None:
    heard = Heard()
    stream = QuestionStream(heard, run=1, clock=lambda: 5.0)
    assert stream.running() == []
    await stream.started(3)
    assert [m.model_dump() for m in stream.running()] == [{"type": "question.started", "turn_number": 3, "attempt": 1}]
    for piece in ("Why ", "", "so?"):
        await stream.delta(piece)
    assert [m.model_dump().get("text") for m in heard.messages] == [None, "Why ", "so?"]
    assert stream.running()[-1].model_dump()["text"] == "Why so?"
    assert stream.first_token_at == 5.0


async def test_stream_attempts_only_grow_within_a_run_and_across_runs() -> None:
    attempts = []
    for run in (1, 2):
        heard = Heard()
        stream = QuestionStream(heard, run=run, clock=lambda: 0.0)
        for text in ("first", "second"):
            await stream.started(1)
            await stream.delta(text)
            await stream.retracted()
            assert len(stream.running()) == 1
        attempts += [m.model_dump()["attempt"] for m in heard.messages if "text" not in m.model_dump()]
    assert attempts == sorted(set(attempts))


async def test_stream_text_before_its_start_is_a_defect() -> None:
    stream = QuestionStream(Heard(), run=1, clock=lambda: 0.0)
    with pytest.raises(RuntimeError):
        await stream.delta("too early")


def test_bucket_allows_a_burst_and_then_the_rate() -> None:
    time = [0.0]
    bucket = TokenBucket(2.0, 3, lambda: time[0])
    assert [bucket.take() == 0 for _ in range(4)] == [True, True, True, False]
    time[0] = 0.5
    assert [bucket.take() == 0 for _ in range(2)] == [True, False]
    time[0] = 100.0
    assert [bucket.take() == 0 for _ in range(4)] == [True, True, True, False]


def test_limiter_violations_are_forgiven_with_time() -> None:
    time = [0.0]
    limiter = RateLimiter(SocketSettings(patience=2), lambda: time[0])
    problem = ProtocolProblem("invalid_message")
    assert [limiter.exceeds_violations(problem) for _ in range(3)] == [False, False, True]
    time[0] = 60.0
    assert not limiter.exceeds_violations(problem)


def test_limiter_frames_that_are_too_long_are_violations() -> None:
    limiter = RateLimiter(SocketSettings(patience=1), lambda: 0.0)
    problem = ProtocolProblem("answer_too_long")
    assert [limiter.exceeds_violations(problem) for _ in range(2)] == [False, True]


def test_connected_sessions_are_counted_once_each() -> None:
    connected = ConnectedSessions()
    assert connected.enter("a", "s1", most=2)
    assert connected.enter("a", "s1", most=2)
    assert connected.enter("a", "s2", most=2)
    assert not connected.enter("a", "s3", most=2)
    assert connected.enter("a", "s2", most=2)
    assert connected.enter("b", "s3", most=2)
    connected.leave("a", "s1")
    assert not connected.enter("a", "s3", most=2)
    connected.leave("a", "s1")
    assert connected.enter("a", "s3", most=2)


def test_limiter_bad_input_is_no_violation() -> None:
    limiter = RateLimiter(SocketSettings(patience=1), lambda: 0.0)
    assert not any(limiter.exceeds_violations(ProtocolProblem("invalid_input")) for _ in range(50))


@pytest.mark.parametrize(
    ("origin", "host", "allowed", "welcome"),
    [
        (None, "h", (), True),
        ("http://h:1", "h:1", (), True),
        ("https://h:1", "h:1", (), True),
        ("http://h:2", "h:1", (), False),
        ("http://evil", "h", (), False),
        ("null", "h", (), False),
        ("", "", (), False),
        ("http://evil", "h", ("*",), True),
        ("https://a.example", "h", ("https://a.example",), True),
        ("https://a.example.evil", "h", ("https://a.example",), False),
    ],
)
def test_origin_own_page_and_list_are_welcome(
    origin: str | None, host: str, allowed: tuple[str, ...], welcome: bool
) -> None:
    assert origin_allowed(origin, host, allowed) is welcome


def test_problem_of_any_error_has_a_wire_code_and_a_sentence() -> None:
    assert problem_of(StorageUnavailable("redis://secret@host")).code == "storage_unavailable"
    assert "secret" not in problem_of(StorageUnavailable("redis://secret@host")).message
    assert problem_of(TurnKeyReused("used before, with other text")).message == "Used before, with other text."
    assert problem_of(KeyError("x")).code == "internal"
    assert problem_of(OSError(5, "x")).code == "internal"
    refused = SessionProblem("session_paused", retryable=False)
    assert problem_of(refused) is refused
    frame = error_frame(refused, ref="pause")
    assert (frame.code, frame.retryable, frame.ref) == ("session_paused", False, "pause")

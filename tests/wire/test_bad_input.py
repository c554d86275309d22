"""What a client may send by mistake or on purpose, and what it is told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.exceptions import InvalidStatus

from server.hot.redis import HotStore
from server.sockets.settings import SocketSettings
from tests.support.client import RespondentClient, key
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, asking_consent, running_node


@asynccontextmanager
async def in_interview(node: Node) -> AsyncIterator[RespondentClient]:
    """A client whose opening question is there."""
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        yield client


async def written(node: Node, client: RespondentClient) -> tuple[int, int]:
    """Revision and number of durable events of the client's session."""
    session = await node.hot.inner.read(client._token.removeprefix("token-"))
    return session.rev, session.last_event_id


BAD_ANSWERS = {
    "blank": ("", "invalid_input"),
    "spaces": (" \t\n\u00a0\u2003", "invalid_input"),
    "invisible": ("\u200b\u200e\u2060", "invalid_input"),
    "too long": ("x" * 8001, "answer_too_long"),
    "nul": ("before\0after", "invalid_input"),
    "half a surrogate pair": ("\ud83d", "invalid_input"),
    "other half": ("fine \udc4d here", "invalid_input"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
@pytest.mark.parametrize("kind", ["answer", "correct"])
async def test_answer_that_is_no_answer_is_refused_and_writes_nothing(node: Node, name: str, kind: str) -> None:
    text, code = BAD_ANSWERS[name]
    async with in_interview(node) as client:
        utterance_id = (await client.turn("A first answer."))["result"]["utterance_id"]
        before = await written(node, client)
        fields = {"text": text, "turn_key": key()} | ({"utterance_id": utterance_id} if kind == "correct" else {})
        await client.send(kind, **fields)
        await client.refused(code, ref=fields["turn_key"], retryable=False)
        assert await written(node, client) == before
        assert (await client.turn("A good answer."))["turn_number"] == 2


@pytest.mark.parametrize("value", [5, None, True, ["words"], {"text": "words"}])
async def test_answer_that_is_not_text_is_refused_as_input(node: Node, value: object) -> None:
    async with in_interview(node) as client:
        await client.send("answer", text=value, turn_key=key())
        await client.refused("invalid_input")


@pytest.mark.parametrize(
    "text",
    [
        "x" * 8000,
        "👍🏽" * 4000,
        "אני אוהב קפה חזק בבוקר",
        "\u202eafter a right-to-left mark",
        "मुझे कॉफ़ी पसंद है 👩‍👩‍👧‍👦",
        "line one\nline two\ttabbed",
        "<script>alert('x')</script> & \"quotes\"",
    ],
    ids=["longest", "emoji", "hebrew", "override", "hindi", "lines", "markup"],
)
async def test_answer_unusual_but_text_is_taken_and_kept_as_it_is(node: Node, text: str) -> None:
    async with in_interview(node) as client:
        data = json.dumps({"type": "answer", "text": text, "turn_key": key()}, ensure_ascii=False)
        await client.raw(data)
        await client.until("turn.completed")
        owner = await node.hub.attach(client._token.removeprefix("token-"))
        last = owner.state.last_answer()
        assert last is not None
        assert last.text == text


BAD_FRAMES = {
    "no json": "hello?",
    "no object": "[1, 2]",
    "no type": "{}",
    "type is a number": '{"type": 5}',
    "type is unknown": '{"type": "answer.please"}',
    "of the server": '{"type": "turn.completed", "id": 1}',
    "field missing": '{"type": "skip"}',
    "field too many": '{"type": "pause", "for": 5}',
    "field twice": '{"type": "ping", "t": 1, "t": 2}',
    "not a number": '{"type": "ping", "t": NaN}',
    "no uuid": '{"type": "skip", "turn_key": "1"}',
    "nul in a name": '{"type": "skip", "turn_key": "1", "\\u0000": 1}',
    "surrogate outside an answer": '{"type": "consent", "version": "\\ud800"}',
    "deep": "[" * 20_000,
    "huge number": '{"type": "ping", "t": ' + "9" * 5000 + "}",
    "empty": "",
    "hello again": '{"type": "hello", "token": "x"}',
    "a bit too long": json.dumps({"type": "answer", "text": "x" * 70_000}),
}


@pytest.mark.parametrize("name", BAD_FRAMES)
async def test_frame_that_is_no_message_is_refused_and_the_interview_goes_on(node: Node, name: str) -> None:
    async with in_interview(node) as client:
        before = await written(node, client)
        await client.raw(BAD_FRAMES[name])
        await client.refused("invalid_message")
        assert await written(node, client) == before
        assert (await client.turn("Still here."))["turn_number"] == 1


async def test_bad_frames_without_end_close_the_connection(node: Node) -> None:
    async with in_interview(node) as client:
        for _ in range(6):
            await client.raw("no json")
        assert await client.closed() == 1002
    async with node.client(client._token.removeprefix("token-")) as again:
        await again.hello()
        assert (await again.turn("Back again."))["turn_number"] == 1


async def test_bad_answers_without_end_do_not_close_the_connection(node: Node) -> None:
    async with in_interview(node) as client:
        for _ in range(12):
            await client.answer("   ")
            await client.refused("invalid_input")
        assert (await client.turn("Finally."))["turn_number"] == 1


@pytest.mark.parametrize("as_text", [True, False])
async def test_frame_of_ten_megabytes_closes_with_too_big(node: Node, as_text: bool) -> None:
    async with in_interview(node) as client:
        before = await written(node, client)
        data = json.dumps({"type": "answer", "text": "x" * 10_000_000, "turn_key": key()})
        await client.raw(data if as_text else data.encode())
        assert await client.closed() == 1009
        assert await written(node, client) == before


async def test_binary_before_audio_start_is_refused_then_closed(node: Node) -> None:
    async with in_interview(node) as client:
        frame = (0).to_bytes(4, "big") + b"\0\0" * 160
        await client.raw(frame)
        await client.refused("invalid_message")
        assert (await client.turn("Typing instead."))["turn_number"] == 1
        for _ in range(6):
            await client.raw(frame)
        assert await client.closed() == 1003


async def test_audio_without_a_transcriber_is_told_so_and_passed_over(node: Node) -> None:
    async with in_interview(node) as client:
        turn_key = key()
        await client.send("audio.start", codec="pcm_s16le", sample_rate=16000, turn_key=turn_key, first_seq=0)
        for number in range(20):
            await client.raw(number.to_bytes(4, "big") + b"\0\0" * 160)
        await client.send("audio.stop")
        await client.refused("transcriber_unavailable", ref=turn_key)
        await client.silence()
        assert (await client.turn("Typing instead."))["turn_number"] == 1


@pytest.mark.parametrize("change", [{"codec": "mp3"}, {"sample_rate": 44100}])
async def test_audio_in_another_format_is_refused(node: Node, change: dict[str, object]) -> None:
    async with in_interview(node) as client:
        fields = {"codec": "pcm_s16le", "sample_rate": 16000, "turn_key": key(), "first_seq": 0}
        await client.send("audio.start", **(fields | change))
        await client.refused("audio_format", ref=fields["turn_key"])


async def test_same_key_twice_gives_the_same_turn(node: Node) -> None:
    async with in_interview(node) as client:
        done = await client.turn("Once.")
        before = await written(node, client)
        await client.answer("Once.", done["turn_key"])
        started = await client.expect("turn.started", turn_key=done["turn_key"])
        assert await client.expect("turn.completed") == done
        assert started["id"] < done["id"]
        assert await written(node, client) == before


async def test_same_key_with_other_text_is_refused(node: Node) -> None:
    async with in_interview(node) as client:
        done = await client.turn("Once.")
        before = await written(node, client)
        await client.answer("Something else.", done["turn_key"])
        await client.refused("invalid_input", ref=done["turn_key"])
        await client.send("skip", turn_key=done["turn_key"])
        await client.refused("invalid_input", ref=done["turn_key"])
        assert await written(node, client) == before


async def test_two_answers_at_once_one_wins_the_other_is_refused(node: Node) -> None:
    async with in_interview(node) as client:
        gate = node.providing.writer.close_gate(1)
        first, second = key(), key()
        await client.answer("First.", first)
        await client.answer("Second.", second)
        await client.until("turn.started", turn_key=first)
        await client.refused("turn_in_progress", ref=second, retryable=True)
        gate.set()
        await client.until("turn.completed", turn_key=first)
        await client.silence()


async def test_same_answer_twice_at_once_runs_once(node: Node) -> None:
    async with in_interview(node) as client:
        gate = node.providing.writer.close_gate(1)
        turn_key = await client.answer("Once.")
        await client.answer("Once.", turn_key)
        await client.answer("Other words.", turn_key)
        await client.refused("invalid_input", ref=turn_key)
        gate.set()
        await client.until("turn.completed", turn_key=turn_key)
        await client.silence()
        started = [f["id"] for f in client.durable() if f["type"] == "turn.started"]
        assert len(set(started)) == 1


async def test_answer_after_the_end_is_refused(node: Node) -> None:
    async with in_interview(node) as client:
        await client.send("finish")
        await client.until("session.state", state="completed")
        before = await written(node, client)
        for message in ("rephrase", "pause", "resume", "finish"):
            await client.send(message)
            await client.refused("session_completed", ref=message)
        await client.answer("Too late.")
        await client.refused("session_completed")
        assert await written(node, client) == before


async def test_answer_before_consent_is_refused(node: Node) -> None:
    state = await node.session(asking_consent())
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.answer("Early.")
        await client.refused("consent_required")
        await client.send("rephrase")
        await client.refused("consent_required")
        assert await written(node, client) == (0, 0)


async def test_i_dont_know_as_first_answer_is_a_turn_like_any_other(node: Node) -> None:
    async with in_interview(node) as client:
        done = await client.turn("I don't know")
        assert done["result"]["should_continue"] is True


@pytest.mark.parametrize("token", ["nonsense", "x" * 512, "token-unknown", "token-../../etc"])
async def test_token_wrong_is_told_and_closed(node: Node, token: str) -> None:
    async with node.client("any") as client:
        await client.send("hello", token=token)
        code = "unauthorised" if not token.startswith("token-") else "not_found"
        await client.refused(code, ref="hello", retryable=False)
        assert await client.closed() == 1008


async def test_token_opens_its_own_session_only(node: Node) -> None:
    mine, theirs = await node.session(), await node.session()
    async with node.client(mine.session_id) as client, node.client(theirs.session_id) as other:
        await client.hello()
        await other.hello()
        await client.until("question.completed")
        await other.until("question.completed")
        await client.turn("Mine alone, a canary.")
        await other.silence()
        assert not any("canary" in json.dumps(frame) for frame in other.seen)


async def test_first_message_other_than_hello_is_refused(node: Node) -> None:
    async with node.client("any") as client:
        await client.answer("Before hello.")
        await client.refused("invalid_message")
        assert await client.closed() == 1002


async def test_hello_that_does_not_come_in_time_closes(hot: HotStore) -> None:
    sockets = SocketSettings(handshake_s=0.05)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), sockets=sockets) as node,
        node.client("any") as client,
    ):
        await client.refused("invalid_message")
        assert await client.closed() == 1008


async def test_messages_too_fast_are_refused_then_closed(hot: HotStore) -> None:
    sockets = SocketSettings(messages_per_s=0.001, message_burst=4)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), sockets=sockets) as node,
        in_interview(node) as client,
    ):
        for number in range(12):
            await client.send("ping", t=number)
        await client.refused("rate_limited", retryable=True)
        assert await client.closed() == 1008


async def test_subprotocol_missing_is_told_and_closed(node: Node) -> None:
    async with RespondentClient(node.url, subprotocol=None) as client:
        await client.refused("invalid_message")
        assert await client.closed() == 1002


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example", "http://["])
async def test_origin_of_another_site_is_refused_before_the_handshake(node: Node, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with node.client("any", origin=origin):
            pass
    assert refused.value.response.status_code == 403


async def test_origin_of_the_page_itself_or_the_list_is_welcome(hot: HotStore) -> None:
    sockets = SocketSettings(allowed_origins=("https://ask.example.org",))
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), sockets=sockets) as node:
        state = await node.session()
        own = node.url.replace("ws://", "http://")
        for origin in (own, "https://ask.example.org"):
            async with node.client(state.session_id, origin=origin) as client:
                assert (await client.hello())["session_id"] == state.session_id


async def test_second_connection_takes_over_and_the_first_is_closed(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as first:
        await first.hello()
        await first.until("question.completed")
        async with node.client(state.session_id) as second:
            await second.hello(last_event_id=first.last_id, epoch=first.epoch)
            assert await first.closed() == 4001
            assert (await second.turn("From the other tab."))["turn_number"] == 1

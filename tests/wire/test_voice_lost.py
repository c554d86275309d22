"""Connections and nodes that are lost in the middle of a sentence: no word is, and none comes twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from server.hot.redis import HotStore
from server.protocol.codes import CLOSE_SERVICE_RESTART, CLOSE_TAKEN_OVER
from tests.support.client import RespondentClient
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, eventually, running_node
from tests.support.speech import ToneSpeech, frames, silence, speech

SENTENCE = "every single word of this long sentence has to arrive exactly once"
PAUSE = silence(2)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@asynccontextmanager
async def a_node(hot: HotStore, store: MemoryStore, voice: ToneSpeech | None = None) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), store, Providing(), speech=voice or ToneSpeech()) as node:
        yield node


async def questioned(node: Node, session_id: str, stack: AsyncExitStack, **hello: Any) -> RespondentClient:
    """A client that was greeted and has a question."""
    client = await stack.enter_async_context(node.client(session_id))
    await client.hello(**hello)
    if not hello:
        await client.until("question.completed")
    return client


async def heard_to(node: Node, session_id: str, number: int) -> None:
    """Wait until the node waits for that frame."""
    await eventually(lambda: (owner := node.hub.owner(session_id)) is not None and _next(owner) >= number)


def _next(owner: Any) -> int:
    return int(owner.context.audience.first_unreceived_seq)


async def test_answer_goes_on_over_a_new_connection_to_the_same_node(hot: HotStore, store: MemoryStore) -> None:
    cut = frames(speech(SENTENCE) + PAUSE)
    async with AsyncExitStack() as stack, a_node(hot, store) as node:
        state = await node.session()
        first = await questioned(node, state.session_id, stack)
        key = await first.audio_start()
        for frame in cut[:30]:
            await first.raw(frame)
        await heard_to(node, state.session_id, 30)
        first.socket.transport.abort()
        client = await stack.enter_async_context(node.client(state.session_id))
        ready = await client.hello(last_event_id=first.last_id, epoch=first.epoch)
        assert ready["first_unreceived_seq"] == 30
        await client.audio_start(key, first_seq=30)
        for frame in cut[30:]:
            await client.raw(frame)
        final = await client.until("transcript.final", turn_key=key)
        assert final["text"] == SENTENCE


async def test_frames_that_were_sent_twice_count_once(hot: HotStore, store: MemoryStore) -> None:
    """A client that has not heard what arrived sends more than is missing."""
    cut = frames(speech(SENTENCE) + PAUSE)
    async with AsyncExitStack() as stack, a_node(hot, store) as node:
        state = await node.session()
        first = await questioned(node, state.session_id, stack)
        key = await first.audio_start()
        for frame in cut[:30]:
            await first.raw(frame)
        await heard_to(node, state.session_id, 30)
        first.socket.transport.abort()
        client = await questioned(node, state.session_id, stack, last_event_id=first.last_id)
        await client.audio_start(key, first_seq=0)
        for frame in cut:
            await client.raw(frame)
        assert (await client.until("transcript.final", turn_key=key))["text"] == SENTENCE


async def test_audio_that_a_client_lost_with_its_connection_leaves_the_rest_to_be_completed(
    hot: HotStore, store: MemoryStore
) -> None:
    """A client that was loaded anew may be ahead of what the node waits for; words of six frames are missing then."""
    cut = frames(speech(SENTENCE) + PAUSE)
    async with AsyncExitStack() as stack, a_node(hot, store) as node:
        state = await node.session()
        first = await questioned(node, state.session_id, stack)
        key = await first.audio_start()
        for frame in cut[:30]:
            await first.raw(frame)
        await heard_to(node, state.session_id, 30)
        first.socket.transport.abort()
        client = await questioned(node, state.session_id, stack, last_event_id=first.last_id)
        await client.audio_start(key, first_seq=42)
        for frame in cut[42:]:
            await client.raw(frame)
        offered = await client.until("transcript.partial", turn_key=key)
        words = SENTENCE.split()
        assert offered["text"].split() == [*words[:5], *words[7:]]
        await client.turn(SENTENCE, key)
        owner = node.hub.owner(state.session_id)
        assert owner is not None
        assert [u.text for u in owner.state.utterances if u.speaker == "respondent"] == [SENTENCE]


async def test_answer_goes_on_on_another_node_from_its_first_frame(hot: HotStore, store: MemoryStore) -> None:
    cut = frames(speech(SENTENCE) + PAUSE)
    async with AsyncExitStack() as stack, a_node(hot, store) as one, a_node(hot, store) as other:
        state = await one.session()
        first = await questioned(one, state.session_id, stack)
        key = await first.audio_start()
        for frame in cut[:30]:
            await first.raw(frame)
        await heard_to(one, state.session_id, 30)
        client = await stack.enter_async_context(other.client(state.session_id))
        ready = await client.hello(last_event_id=first.last_id, epoch=first.epoch)
        assert ready["first_unreceived_seq"] == 0
        await client.audio_start(key)
        for frame in cut:
            await client.raw(frame)
        assert (await client.until("transcript.final", turn_key=key))["text"] == SENTENCE
        assert await first.closed() == CLOSE_TAKEN_OVER


async def test_next_answer_goes_on_on_another_node_after_the_last_frame_of_the_one_before(
    hot: HotStore, store: MemoryStore
) -> None:
    """What came after an endpoint was kept on a node that is gone: the client sends it from `last_seq` on."""
    cut = frames(speech("the first answer") + PAUSE + speech("the second") + silence(0.3) + speech("answer") + PAUSE)
    async with AsyncExitStack() as stack, a_node(hot, store) as one, a_node(hot, store) as other:
        state = await one.session()
        first = await questioned(one, state.session_id, stack)
        await first.audio_start()
        middle = len(cut) - 45
        for frame in cut[:middle]:
            await first.raw(frame)
        final = await first.until("transcript.final")
        await first.until("turn.completed")
        client = await questioned(other, state.session_id, stack, last_event_id=first.last_id)
        again = final["last_seq"] + 1
        key = await client.audio_start(first_seq=again)
        for frame in cut[again:]:
            await client.raw(frame)
        assert (await client.until("transcript.final", turn_key=key))["text"] == "the second answer"


async def test_captions_are_there_again_after_a_reconnection(hot: HotStore, store: MemoryStore) -> None:
    async with AsyncExitStack() as stack, a_node(hot, store) as node:
        state = await node.session()
        first = await questioned(node, state.session_id, stack)
        await first.audio_start()
        await first.say(speech("a caption of so many words"))
        partial = await first.until("transcript.partial")
        client = await questioned(node, state.session_id, stack, last_event_id=first.last_id)
        again = await client.until("transcript.partial")
        assert again["text"].startswith(partial["text"].split()[0])


async def test_answer_of_a_page_that_was_loaded_anew_goes_on_under_its_new_key(
    hot: HotStore, store: MemoryStore
) -> None:
    """Nothing was written under the first key, so nothing is lost by another one."""
    async with AsyncExitStack() as stack, a_node(hot, store) as node:
        state = await node.session()
        first = await questioned(node, state.session_id, stack)
        await first.audio_start()
        seq = await first.say(speech("before the page"))
        await heard_to(node, state.session_id, seq)
        client = await stack.enter_async_context(node.client(state.session_id))
        ready = await client.hello(last_event_id=first.last_id)
        key = await client.audio_start(first_seq=ready["first_unreceived_seq"])
        await client.say(speech("was new") + PAUSE, seq)
        final = await client.until("transcript.final")
        assert (final["turn_key"], final["text"]) == (key, "before the page was new")


async def test_audio_of_a_lost_connection_is_given_up_for_a_written_answer(hot: HotStore, store: MemoryStore) -> None:
    async with AsyncExitStack() as stack, a_node(hot, store) as node:
        state = await node.session()
        first = await questioned(node, state.session_id, stack)
        await first.audio_start()
        seq = await first.say(speech("never mind"))
        await heard_to(node, state.session_id, seq)
        client = await questioned(node, state.session_id, stack, last_event_id=first.last_id)
        await client.turn("I would rather write")
        key = await client.audio_start(first_seq=seq)
        await client.say(speech("and speak") + PAUSE, seq)
        assert (await client.until("transcript.final", turn_key=key))["text"] == "and speak"


async def test_end_of_an_answer_while_nobody_is_connected_waits_in_the_events(
    hot: HotStore, store: MemoryStore
) -> None:
    async with AsyncExitStack() as stack, a_node(hot, store) as node:
        state = await node.session()
        first = await questioned(node, state.session_id, stack)
        key = await first.audio_start()
        seq = await first.say(speech("the last words") + PAUSE)
        await heard_to(node, state.session_id, seq)
        first.socket.transport.abort()
        owner = node.hub.owner(state.session_id)
        assert owner is not None
        await eventually(lambda: owner.state.turn_count == 1)
        client = await questioned(node, state.session_id, stack, last_event_id=first.last_id)
        assert (await client.until("transcript.final", turn_key=key))["text"] == "the last words"
        await client.until("turn.completed", turn_key=key)


async def test_draining_node_tells_speakers_to_come_again(hot: HotStore, store: MemoryStore) -> None:
    async with AsyncExitStack() as stack, a_node(hot, store) as one, a_node(hot, store) as other:
        state = await one.session()
        first = await questioned(one, state.session_id, stack)
        key = await first.audio_start()
        cut = frames(speech(SENTENCE) + PAUSE)
        for frame in cut[:20]:
            await first.raw(frame)
        await heard_to(one, state.session_id, 20)
        await one.hub.drain(0.5)
        assert await first.closed() == CLOSE_SERVICE_RESTART
        client = await questioned(other, state.session_id, stack, last_event_id=first.last_id)
        await client.audio_start(key)
        for frame in cut:
            await client.raw(frame)
        assert (await client.until("transcript.final", turn_key=key))["text"] == SENTENCE

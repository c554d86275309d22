"""A respondent who speaks, over a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from server.hot.redis import HotStore
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, running_node
from tests.support.speech import ToneVoice, silence, speech


@pytest.fixture
async def voice() -> ToneVoice:
    return ToneVoice()


@pytest.fixture
async def node(hot: HotStore, voice: ToneVoice) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), voice=voice) as running:
        yield running


async def test_spoken_answer_becomes_a_turn(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        key = await client.audio_start()
        await client.say(silence(0.5) + speech("it is warm and cosy") + silence(1.5))
        final = await client.until("transcript.final", turn_key=key)
        assert final["text"] == "it is warm and cosy"
        await client.expect("turn.started", turn_key=key, id=final["id"] + 1)
        await client.until("turn.completed", turn_key=key)
    owner = node.hub.owner(state.session_id)
    assert owner is not None
    said = owner.state.last_answer()
    assert said is not None
    assert (said.text, said.spoken, said.confidence) == ("it is warm and cosy", True, 0.9)

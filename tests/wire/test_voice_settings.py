"""Settings of speaking belong to the session: they reach an answer in whatever order they and it come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from server.hot.redis import HotStore
from tests.support.client import RespondentClient
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, asking_consent, running_node
from tests.support.speech import ToneSpeech, silence, speech

PAUSE = silence(1.4)
"""Ends an answer with the usual patience, and none with the longest."""
LONG = silence(2.4)
WHOLE = "I like it and it keeps me warm"


@pytest.fixture
async def node(hot: HotStore) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=ToneSpeech()) as running:
        yield running


def hesitant() -> bytes:
    return speech("I like it") + PAUSE + speech("and it keeps me warm") + LONG


async def wish(client: RespondentClient) -> None:
    await client.send("set", patience="patient")


async def set_then_start(node: Node, client: RespondentClient) -> str:
    await wish(client)
    return await client.audio_start()


async def start_then_set(node: Node, client: RespondentClient) -> str:
    turn_key = await client.audio_start()
    await wish(client)
    return turn_key


async def set_twice_then_start(node: Node, client: RespondentClient) -> str:
    await client.send("set", patience="quick")
    await wish(client)
    return await client.audio_start()


async def set_among_others_then_start(node: Node, client: RespondentClient) -> str:
    await wish(client)
    await client.send("set", spoken=True)
    await client.send("set", review_transcript=False)
    return await client.audio_start()


Order = Callable[[Node, RespondentClient], Awaitable[str]]
ORDERS: tuple[Order, ...] = (set_then_start, start_then_set, set_twice_then_start, set_among_others_then_start)
each_order = pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.__name__)


async def heard(client: RespondentClient, turn_key: str, first: int = 0) -> str:
    await client.say(hesitant(), first)
    text: str = (await client.until("transcript.final", turn_key=turn_key))["text"]
    return text


@each_order
async def test_patience_wanted_while_a_question_stands_holds_for_the_answer(node: Node, order: Order) -> None:
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        await client.until("question.completed")
        assert await heard(client, await order(node, client)) == WHOLE


@each_order
async def test_patience_wanted_before_the_opening_holds_for_the_answer(node: Node, order: Order) -> None:
    opened = node.providing.writer.close_gate(1)
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        turn_key = await order(node, client)
        await client.say(hesitant())
        opened.set()
        assert (await client.until("transcript.final", turn_key=turn_key))["text"] == WHOLE


@each_order
async def test_patience_wanted_while_an_answer_is_worked_on_holds_for_the_next(node: Node, order: Order) -> None:
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        await client.until("question.completed")
        opened = node.providing.writer.close_gate(2)
        first = await client.answer("because it is warm")
        await client.until("turn.started", turn_key=first)
        async with asyncio.timeout(client.deadline_s):
            await node.providing.writer.at_gate.wait()
        turn_key = await order(node, client)
        await client.send("ping", t=1)
        await client.until("pong")
        opened.set()
        await client.until("turn.completed", turn_key=first)
        assert await heard(client, turn_key) == WHOLE


@each_order
async def test_patience_wanted_over_a_lost_connection_holds_over_the_next(node: Node, order: Order) -> None:
    session_id = (await node.session()).session_id
    async with node.client(session_id) as client:
        await client.hello()
        await client.until("question.completed")
        turn_key = await order(node, client)
        await client.send("ping", t=1)
        await client.until("pong")
    async with node.client(session_id) as client:
        await client.hello()
        await client.audio_start(turn_key)
        assert await heard(client, turn_key) == WHOLE


async def test_wish_that_is_refused_does_not_stay(node: Node) -> None:
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.send("finish")
        await client.until("session.state", state="completed")
        await wish(client)
        await client.refused("session_completed")
        [owner] = node.hub._owners.values()
        assert "patience" not in owner.context.settings


async def test_wish_of_the_respondent_is_kept_once_it_can_be(node: Node) -> None:
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await wish(client)
        await client.turn("because it is warm")
        [owner] = node.hub._owners.values()
        assert owner.state.settings["patience"] == owner.context.settings["patience"] == "patient"


async def test_unknown_patience_is_refused_and_changes_nothing(node: Node) -> None:
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.send("set", patience="endless")
        await client.refused("invalid_message")
        [owner] = node.hub._owners.values()
        assert "patience" not in owner.context.settings


async def test_time_asked_for_before_an_answer_opens_is_given_to_it_once(node: Node) -> None:
    async with node.client((await node.session(asking_consent())).session_id) as client:
        await client.hello()
        await client.send("consent", version="2", choices={})
        await client.until("question.completed")
        await client.send("set", take_your_time=True)
        turn_key = await client.audio_start()
        seq = await client.say(speech("well") + silence(8) + speech("now I know") + silence(9))
        assert (await client.until("transcript.final", turn_key=turn_key))["text"] == "well now I know"
        await client.until("turn.completed", turn_key=turn_key)
        following = await client.audio_start(first_seq=seq)
        await client.say(speech("that is all") + silence(4), seq)
        assert (await client.until("transcript.final", turn_key=following))["text"] == "that is all"

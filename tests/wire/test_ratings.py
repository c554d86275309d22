"""The ratings of a repertory grid over the socket: asked for, sent, repeated, late, wrong."""

from __future__ import annotations

from typing import Any

import pytest

from config.loader import Library
from pipeline.concept import PipelineSettings, SessionConfiguration
from tests.support.client import RespondentClient, key
from tests.support.fakes_session import Node

LIBRARY = Library(PipelineSettings())
LABELS = ("reading a book", "watching videos", "an evening class")
IDS = ("book", "videos", "evening_class")


def short_grid() -> SessionConfiguration:
    """Three elements and five turns: one comparison, then the ratings."""
    found = LIBRARY.configuration("ways_of_learning_rg", max_turns=4)
    concept = found.concept.model_copy(update={"elements": found.concept.elements[:3], "consent": None})
    return found.model_copy(update={"concept": concept})


async def asked_to_rate(client: RespondentClient) -> dict[str, Any]:
    """Answer until ratings are asked for; the form."""
    await client.until("question.completed", turn_number=0)
    await client.turn(f"{LABELS[0]} and {LABELS[1]} are quiet, but {LABELS[2]} is loud.")
    await client.turn("They're all the same.")
    question = [f for f in client.durable() if f["type"] == "question.completed"][-1]
    form: dict[str, Any] = question["ratings"]
    assert [element["label"] for element in form["elements"]] == list(LABELS)
    return form


async def test_ratings_are_a_turn_and_the_same_ones_again_get_the_same_answer(node: Node) -> None:
    state = await node.session(short_grid(), max_turns=4)
    async with node.client(state.session_id) as client:
        await client.hello()
        form = await asked_to_rate(client)
        (construct,) = form["constructs"]
        assert (construct["emergent"], construct["contrast"]) == ("quiet", "loud")
        given, turn_key = {construct["id"]: {"book": 1, "evening_class": 5}}, key()
        await client.send("rate", ratings=given, turn_key=turn_key)
        done = await client.until("turn.completed", turn_key=turn_key)
        assert done["turn_number"] == 3
        await client.send("rate", ratings=given, turn_key=turn_key)
        again = await client.until("turn.completed", turn_key=turn_key)
        assert again["id"] == done["id"]
        await client.send("rate", ratings={construct["id"]: {"book": 2}}, turn_key=turn_key)
        await client.refused("invalid_input", ref=turn_key)
        late = key()
        await client.send("rate", ratings=given, turn_key=late)
        await client.refused("invalid_input", ref=late)
        await client.turn("Nothing more.")
        await client.send("rate", ratings=given, turn_key=key())
        await client.refused("session_completed")


@pytest.mark.parametrize(
    ("ratings", "code"),
    [
        ({"c1": {"book": 6}}, "invalid_message"),
        ({"c1": {"book": 0}}, "invalid_message"),
        ({"c1": {"book": "3"}}, "invalid_message"),
        ({"c1": {"book": None}}, "invalid_message"),
        ([1, 2], "invalid_message"),
        ({"c9": {"book": 3}}, "invalid_input"),
        ({"c1": {"nothing": 3}}, "invalid_input"),
        ({"c1": {}}, "invalid_input"),
        ({}, "invalid_input"),
    ],
)
async def test_ratings_that_do_not_fit_are_refused_and_may_be_sent_right(
    node: Node, ratings: object, code: str
) -> None:
    state = await node.session(short_grid(), max_turns=4)
    async with node.client(state.session_id) as client:
        await client.hello()
        await asked_to_rate(client)
        await client.send("rate", ratings=ratings, turn_key=key())
        await client.refused(code)
        turn_key = key()
        await client.send("rate", ratings={"c1": {"videos": 3}}, turn_key=turn_key)
        assert (await client.until("turn.completed", turn_key=turn_key))["turn_number"] == 3


async def test_form_comes_again_after_a_reconnection_and_a_skip_leaves_all_out(node: Node) -> None:
    state = await node.session(short_grid(), max_turns=4)
    async with node.client(state.session_id) as client:
        await client.hello()
        form = await asked_to_rate(client)
    async with node.client(state.session_id) as client:
        await client.hello()
        question = await client.until("question.completed", turn_number=2)
        assert question["ratings"] == form
        turn_key = key()
        await client.send("skip", turn_key=turn_key)
        await client.until("turn.completed", turn_key=turn_key)
        assert "ratings" not in [f for f in client.durable() if f["type"] == "question.completed"][-1]

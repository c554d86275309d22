"""An interview over the socket with every decision engine that there is, from the first question to the thanks."""

from __future__ import annotations

import pytest

from config.loader import Library
from pipeline.concept import Element, PipelineSettings, SessionConfiguration
from pipeline.engines.registry import ENGINES
from pipeline.guide import DEMANDED
from pipeline.signals.base import SignalMatrix
from pipeline.state import Directive
from tests.support.fakes_session import Node
from tests.support.interview import concepts, configuration

SAID = ("It is sweet.", "It is cheap.", "It melts slowly.", "It smells good.", "I don't know.", "It is small.")


def with_engine(name: str) -> SessionConfiguration:
    """The usual configuration with the engine's file as it comes along, and two elements to ask about."""
    library = Library(PipelineSettings())
    elements = (Element(id="taste", label="the taste"), Element(id="price", label="the price"))
    plain = configuration()
    return plain.model_copy(
        update={
            "concept": plain.concept.model_copy(update={"engine": name, "elements": elements}),
            "engine_file": library.configuration("coffee_mec", engine=name).engine_file,
        }
    )


@pytest.mark.parametrize("name", ENGINES)
async def test_interview_with_an_engine_goes_from_the_first_question_to_the_thanks(node: Node, name: str) -> None:
    for text in SAID[:4]:
        label = text.removesuffix(".").split()[-1]
        node.providing.extractor.script[text] = concepts((label, "attribute"))
    state = await node.session(with_engine(name), max_turns=6)
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed", turn_number=0)
        turns = 0
        while not any(frame.get("closing") for frame in client.durable()):
            done = await client.turn(SAID[turns % len(SAID)])
            turns += 1
            assert done["turn_number"] == turns
            assert turns <= 6
        await client.until("session.state", state="completed")
    assert turns >= 3
    owner = await node.hub.attach(state.session_id)
    assert owner.state.engine == name
    known = {*ENGINES[name].strategies(with_engine(name)).names, DEMANDED}
    assert {entry.strategy for entry in owner.state.focus_history} <= known


async def test_preview_of_an_element_names_it(node: Node) -> None:
    configured = with_engine("arbitration")
    node.providing.extractor.script[SAID[0]] = concepts(("sweet", "attribute"))
    state = await node.session(configured)
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed", turn_number=0)
        await client.turn(SAID[0])
    owner = await node.hub.attach(state.session_id)
    wish = Directive(command_id="c", kind="steer", strategy="ensure_coverage")
    pipeline = node.providing.pipeline()
    found = await pipeline.preview(owner.state, configured, wish, signals=SignalMatrix())
    assert found.strategy == "ensure_coverage"
    assert found.node_id is None
    assert "the price" in found.question or "the taste" in found.question

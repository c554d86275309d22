"""The record of a turn names what was asked and why, whoever decided it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from config.enginefiles import read_engine
from pipeline.concept import Element, SessionConfiguration
from pipeline.contracts import StoredInputs, TurnRecord
from pipeline.engines.registry import ENGINES
from tests.support.interview import Interview, concepts, configuration, new_state

LID, CUP = Element(id="lid", label="the lid"), Element(id="cup", label="the cup")


def with_engine(name: str, elements: tuple[Element, ...] = (LID, CUP), **parts: Any) -> SessionConfiguration:
    """The usual configuration with the engine's file as it comes along, but for some parts."""
    plain = configuration()
    update: dict[str, Any] = {"concept": plain.concept.model_copy(update={"engine": name, "elements": elements})}
    if name != "signal_pools":
        text = (files("config") / "engines" / f"{name}.yaml").read_text(encoding="utf-8")
        file, _ = read_engine(text, f"{name}.yaml", name)
        update["engine_file"] = {**file.model_dump(mode="json", by_alias=True), **parts}
    return plain.model_copy(update=update)


async def records(configured: SessionConfiguration, max_turns: int = 13) -> list[TurnRecord]:
    """Those of a whole interview in which every answer tells something new."""
    engine = configured.concept.engine
    interview = Interview(configuration=configured, state=new_state(engine=engine, max_turns=max_turns))
    while interview.state.status in ("created", "active", "closing"):
        turn = interview.state.turn_count
        await interview.say(f"thing {turn}", concepts((f"thing {turn}", "attribute")))
    found = [outcome.record for outcome in interview.outcomes]
    return [record for record in found if record is not None]


def selected(record: TurnRecord) -> list[tuple[str, Any]]:
    return [(c.strategy, c.target.ids if c.target else None) for c in record.candidates if c.selected]


async def test_what_the_concept_demands_is_recorded_instead_of_the_closing_that_it_comes_before() -> None:
    led = await records(with_engine("two_tier", (LID,), uncovered=["unconnected"]), max_turns=15)
    (record,) = [record for record in led if record.strategy == "cover_element"]
    assert record.target is not None and record.target.ids == ("lid",)
    assert record.candidates[0].strategy == "closing" and selected(record) == []
    assert record.reason.startswith("the concept demands it, and the interview would close: ")
    assert record.tactic == ""


async def test_what_is_asked_because_turns_run_out_is_recorded_with_that_reason() -> None:
    led = await records(with_engine("two_tier", uncovered=["unconnected"]), max_turns=8)
    found = [record for record in led if record.strategy == "cover_element"]
    assert [record.target.ids[0] for record in found if record.target] == ["lid", "cup"]
    assert "the turns that are left are only just enough" in found[0].reason


async def test_candidate_that_a_rule_has_asked_is_the_selected_one() -> None:
    parts = tuple(Element(id=f"e{number}", label=f"the part {number}") for number in range(12))
    turned = [r for r in await records(with_engine("two_tier", parts)) if "demands" in r.reason][-1]
    assert (turned.strategy, turned.candidates[0].strategy) == ("cover_element", "closing")
    assert selected(turned) == [("cover_element", ("e11",))]
    assert turned.reason.startswith("the concept demands it, and the interview would close: ")


async def test_elements_take_no_turns_from_an_engine_that_weighs_them() -> None:
    led = await records(with_engine("arbitration"), max_turns=3)
    assert [record.strategy for record in led if "demands" in record.reason] == []
    assert led[-2].reason.startswith("Closing strategy selected: the turns are used; not covered: ")


@pytest.mark.parametrize("name", ENGINES)
async def test_every_question_has_a_reason_that_says_why_it_was_asked(name: str) -> None:
    for record in await records(with_engine(name)):
        assert record.reason
        if not record.candidates:
            continue
        best = record.candidates[0]
        if best.selected and record.should_continue:
            assert (record.strategy, record.target) == (best.strategy, best.target)
            assert "demands" not in record.reason


async def test_closing_is_recorded_with_the_engines_reason() -> None:
    closing = next(r for r in await records(with_engine("arbitration"), max_turns=7) if not r.should_continue)
    assert closing.reason == "Closing strategy selected: the turns are used; not covered: lid, cup"
    assert selected(closing) == [("closing", None)]


def test_cosines_of_records_from_before_are_the_greatest_of_each_text() -> None:
    stored = StoredInputs.model_validate({"closeness": {"milk": 0.5, "foam": [0.1, 0.9]}})
    assert stored.closeness == {"milk": (0.5,), "foam": (0.1, 0.9)}
    assert StoredInputs.model_validate({}).closeness == {}

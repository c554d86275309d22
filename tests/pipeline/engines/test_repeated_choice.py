"""What a turn's record stores is enough to make its choice again, to the digit, with every engine."""

from __future__ import annotations

import pytest

from pipeline.concept import Element, MustAsk, SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.engines.base import as_asked
from pipeline.engines.registry import ENGINES
from pipeline.ports import Extraction
from pipeline.state import Directive, InterviewState
from tests.support.engine_turns import again, shipped
from tests.support.interview import Interview, TableEmbedder, concepts, configuration, new_state, small_methodology

WHEN = {
    "id": "when",
    "label": "When it happens",
    "words": {"en": ("in the morning",)},
    "from_turn": 3,
    "questions": {"en": ("When do you drink it?",)},
}
MILK, FOAM = ("milk", "attribute"), ("foam", "attribute")


def configured(engine: str) -> SessionConfiguration:
    """A concept with elements, a topic of the guide and a question of its own."""
    plain = configuration(small_methodology(guide=[{**WHEN, "asked_by": ("explore",)}]))
    concept = plain.concept.model_copy(
        update={
            "engine": engine,
            "elements": (Element(id="taste", label="the taste"), Element(id="price", label="the price")),
            "must_ask": (MustAsk(id="whom", question="Whom do you drink it with?"),),
        }
    )
    file = shipped(engine) if engine != "signal_pools" else {}
    return plain.model_copy(update={"concept": concept, "engine_file": file})


def weighty(found: Extraction, salience: int, emotion: int) -> Extraction:
    """The same, with all concepts that weighty."""
    update = {"salience": salience, "emotion": emotion}
    return found.model_copy(update={"concepts": tuple(one.model_copy(update=update) for one in found.concepts)})


async def held(engine: str) -> Interview:
    """An interview in which what was said is said again, weighs more, is corrected, skipped and steered."""
    interview = Interview(
        configuration=configured(engine),
        state=new_state(engine=engine, max_turns=13),
        embedder=TableEmbedder([("Go back to foam", "Deepen: why milk matters", 0.9)]),
    )
    await interview.say("milk and foam", weighty(concepts(MILK, FOAM, links=[("milk", "foam")]), 1, 0))
    await interview.say("foam again", weighty(concepts(FOAM, ("calm", "consequence")), 3, 2))
    await interview.say("I don't know.")
    said = interview.state.last_answer()
    assert said is not None
    await interview.say("milk, well, no", concepts(MILK, ("price", "attribute"), links=[("price", "milk")]))
    said = interview.state.last_answer()
    assert said is not None
    await interview.say("sugar", concepts(("sugar", "attribute")), kind="correct", corrects=said.id)
    await interview.say("", kind="skip")
    node = next(one for one in interview.state.nodes if one.label == "foam")
    steer(interview, Directive(command_id="c1", kind="steer", node_id=node.id))
    await interview.say("the taste is fine", concepts(("taste", "attribute")))
    steer(interview, Directive(command_id="c2", kind="steer", strategy="no_such_strategy"))
    await interview.say("peace", weighty(concepts(("peace", "value"), MILK, links=[("milk", "peace")]), 2, 1))
    steer(interview, Directive(command_id="c3", kind="steer", strategy=interview.state.strategy_history[0]))
    while interview.state.status in ("active", "closing"):
        turn = interview.state.turn_count
        await interview.say(f"thing {turn}", weighty(concepts((f"thing {turn}", "attribute"), FOAM), 2, 0))
    assert interview.state.status == "completed"
    return interview


def steer(interview: Interview, wish: Directive) -> None:
    interview.state = interview.state.model_copy(update={"directives": (*interview.state.directives, wish)})


def stored(interview: Interview) -> list[TurnRecord]:
    """The records as they are read from a store."""
    found = [outcome.record for outcome in interview.outcomes if outcome.record is not None]
    return [TurnRecord.model_validate_json(record.model_dump_json()) for record in found]


@pytest.mark.parametrize("name", ENGINES)
async def test_stored_choice_of_every_turn_comes_out_again_to_the_digit(name: str) -> None:
    interview = await held(name)
    interview.state = InterviewState.load(interview.state.dump())
    decided = [record for record in stored(interview) if record.candidates]
    assert len(decided) >= 6
    assert any(record.directive is not None for record in decided)
    for record in decided:
        found = again(interview, record)
        overruled = not record.candidates[0].selected
        expected = as_asked(found.candidates, record.strategy, record.target) if overruled else found.candidates
        assert expected == record.candidates, record.turn_number
        assert (found.scores, found.candidate_count) == (record.scores, record.candidate_count)
        if not overruled and record.should_continue:
            assert (found.strategy, found.target, found.tactic) == (record.strategy, record.target, record.tactic)
        assert overruled or record.reason.endswith(found.reason)

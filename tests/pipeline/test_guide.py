"""What an interview should speak of before it ends, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.concept import Concept, Element, MustAsk, SessionConfiguration
from pipeline.guide import Agenda, TopicProgress
from pipeline.methodology import GuideTopic, Methodology, Strategy
from pipeline.signals.registry import check
from tests.support.interview import Interview, concepts, conduct_policy, configuration, new_state, small_methodology

ASKING = {
    "name": "ask_topics",
    "node_binding": "none",
    "focus_mode": "guide",
    "signal_weights": {"guide.gap": 0.1, "meta.interview.phase.early": -1.0},
}
WHEN = {
    "id": "when",
    "label": "When it happens",
    "words": {"en": ("in the morning", "at night")},
    "questions": {"en": ("When do you drink it?",)},
}


def methodology(*topics: dict[str, Any]) -> Methodology:
    small = small_methodology()
    strategies = (*small.strategies, Strategy.model_validate(ASKING))
    signals = {**small.signals, "guide": ("guide.gap",)}
    guide = tuple(GuideTopic.model_validate(topic) for topic in topics)
    return small.model_copy(update={"strategies": strategies, "signals": signals, "guide": guide})


def configured(*topics: dict[str, Any], **concept: Any) -> SessionConfiguration:
    made = configuration(methodology(*topics))
    return made.model_copy(update={"concept": Concept.model_validate({**made.concept.model_dump(), **concept})})


def statuses(interview: Interview) -> dict[str, str]:
    return {item.id: item.status for item in interview.state.guide}


async def test_answer_covers_a_topic_by_its_types_and_by_its_words() -> None:
    taste = {"id": "taste", "label": "Taste", "types": ("attribute",), "count": 2, "asked_by": ("explore",)}
    interview = Interview(configuration=configured(taste, WHEN))
    await interview.say("It is dark", concepts(("dark", "attribute")))
    assert statuses(interview) == {"taste": "open", "when": "open"}
    await interview.say("and sweet, IN the  morning", concepts(("sweet", "attribute")))
    assert statuses(interview) == {"taste": "covered", "when": "covered"}
    assert {item.turn for item in interview.state.guide} == {2}


async def test_topic_is_asked_for_once_and_its_answer_may_cover_it_later() -> None:
    interview = Interview(configuration=configured(WHEN))
    for turn in range(1, 12):
        await interview.say(f"well {turn}")
        if statuses(interview)["when"] == "asked":
            break
    assert interview.state.question is not None and interview.state.question.target is not None
    assert interview.state.question.target.ids == ("when",)
    asked = [
        entry.target.ids for entry in interview.state.focus_history if entry.target and entry.target.kind == "topic"
    ]
    assert asked == [("when",)]
    await interview.say("at night, mostly")
    assert statuses(interview)["when"] == "covered"


async def test_topic_that_was_skipped_is_declined() -> None:
    interview = Interview(configuration=configured(WHEN))
    while statuses(interview).get("when") != "asked":
        await interview.say(f"well {interview.state.turn_count}")
    await interview.say("", kind="skip")
    assert statuses(interview)["when"] == "declined"


@pytest.mark.parametrize("turns", [4, 6, 12])
async def test_what_the_concept_demands_is_asked_verbatim_before_the_end(turns: int) -> None:
    demanded = [MustAsk(id=f"q{n}", question=f"What about number {n}, please tell me?").model_dump() for n in range(2)]
    interview = Interview(configuration=configured(must_ask=demanded), state=new_state(max_turns=turns))
    while interview.state.status in ("created", "active", "closing"):
        turn = interview.state.turn_count
        await interview.say(f"answer {turn}", concepts((f"thing {turn}", "attribute")))
    said = [u.text for u in interview.state.utterances if u.speaker == "interviewer"]
    for n in range(2):
        assert said.count(f"What about number {n}, please tell me?") == 1
    assert set(statuses(interview).values()) == {"asked"}


async def test_what_the_concept_demands_is_led_to_so_that_it_does_not_seem_to_follow() -> None:
    demanded = [MustAsk(id=f"q{n}", question=f"What about number {n}, please tell me?").model_dump() for n in range(3)]
    own = configured(must_ask=demanded).model_copy(update={"conduct": conduct_policy()})
    interview = Interview(configuration=own, state=new_state(max_turns=6))
    while interview.state.status in ("created", "active", "closing"):
        turn = interview.state.turn_count
        await interview.say(f"answer {turn}", concepts((f"thing {turn}", "attribute")))
    said = [u.text for u in interview.state.utterances if u.speaker == "interviewer"]
    first, second, third = (text for text in said if "please tell me" in text)
    assert first == f"{conduct_policy().texts.demanded_early} What about number 0, please tell me?"
    assert second == f"{conduct_policy().texts.demanded[1]} What about number 1, please tell me?"
    assert third == "What about number 2, please tell me?"


async def test_more_demands_than_turns_leave_the_rest_with_the_reason() -> None:
    demanded = [MustAsk(id=f"q{n}", question=f"What about number {n}?").model_dump() for n in range(6)]
    interview = Interview(configuration=configured(must_ask=demanded), state=new_state(max_turns=4))
    while interview.state.status in ("created", "active", "closing"):
        await interview.say(f"answer {interview.state.turn_count}")
    left = [item for item in interview.state.guide if item.status == "left"]
    assert left and all(item.reason for item in left)
    assert len(left) + sum(item.status == "asked" for item in interview.state.guide) == 6


async def test_demand_that_was_answered_unasked_is_not_asked() -> None:
    demanded = [MustAsk(id="price", question="What do you pay for it?", words=("euros",)).model_dump()]
    interview = Interview(configuration=configured(must_ask=demanded), state=new_state(max_turns=5))
    while interview.state.status in ("created", "active", "closing"):
        await interview.say("It costs three euros")
    assert statuses(interview) == {"must_ask.price": "covered"}
    assert not any("What do you pay" in u.text for u in interview.state.utterances)


def test_topic_that_the_concept_leaves_out_is_none() -> None:
    assert [item.id for item in Agenda(configured(WHEN), "en").begun(())] == ["when"]
    assert Agenda(configured(WHEN, leave_out=("when",)), "en").begun(()) == ()


async def test_element_is_asked_about_unless_somebody_spoke_of_it() -> None:
    elements = [Element(id="lid", label="the lid").model_dump(), Element(id="cup", label="the cup").model_dump()]
    interview = Interview(configuration=configured(elements=elements), state=new_state(max_turns=6))
    while interview.state.status in ("created", "active", "closing"):
        await interview.say("The cup is nice")
    assert statuses(interview) == {"element.lid": "asked", "element.cup": "covered"}


async def test_brief_answers_that_bring_something_do_not_end_an_interview() -> None:
    interview = Interview(configuration=configured(WHEN), state=new_state(max_turns=14))
    interview.rater.depth = 1
    for turn in range(1, 12):
        await interview.say(f"thing {turn}", concepts((f"thing {turn}", "attribute")))
    assert interview.state.status == "active"


def test_topics_of_a_session_from_before_there_was_a_guide_begin_open() -> None:
    agenda = Agenda(configured(WHEN), "en")
    assert [item.status for item in agenda.begun(())] == ["open"]
    kept = TopicProgress(id="when", label="x", status="covered", turn=3)
    assert agenda.begun((kept,)) == (kept,)


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        ({"id": "a", "label": "A", "types": ("nothing",), "asked_by": ("explore",)}, "unknown node type nothing"),
        ({"id": "a", "label": "A", "types": ("attribute",), "asked_by": ("nobody",)}, "unknown strategy nobody"),
        ({"id": "a", "label": "A", "types": ("attribute",)}, "nothing asks for a"),
        ({"id": "a", "label": "A", "asked_by": ("explore",)}, "nothing can cover a"),
    ],
)
def test_guide_that_cannot_be_covered_is_refused(topic: dict[str, Any], reason: str) -> None:
    found = [problem.reason for problem in check(methodology(topic))]
    assert any(reason in text for text in found), found


def test_topic_defined_twice_is_refused() -> None:
    assert any("defined twice" in problem.reason for problem in check(methodology(WHEN, WHEN)))


@pytest.mark.parametrize(("topics", "kind"), [((WHEN,), "question"), ((), "closing_question")])
async def test_that_this_was_all_is_of_what_was_asked_while_the_guide_is_open(
    topics: tuple[dict[str, Any], ...], kind: str
) -> None:
    interview = Interview(configuration=configured(*topics), state=new_state(max_turns=14))
    for turn in range(1, 9):
        await interview.say(f"It was the {turn}th house on the left.", concepts((f"house {turn}", "attribute")))
    await interview.say("Green gate. That's about the lot.", concepts(("green gate", "attribute")))
    assert interview.state.utterances[-1].kind == kind

"""How a simulated respondent understands questions, and what it tells."""

from __future__ import annotations

import pytest

from config.loader import Library
from config.personas import Persona
from pipeline.concept import PipelineSettings
from server.simulation.respondent import Respondent

RESPONDENTS = Library(PipelineSettings()).respondents()
PERSONA = Persona.model_validate(
    {
        "id": "baker",
        "title": "A baker",
        "concept": "coffee_mec",
        "manner": "terse",
        "first": ["crust", "smell"],
        "more": ["price"],
        "asked": [{"words": ["machine", "by hand"], "tells": "hands"}],
        "truth": [
            {"id": "crust", "type": "attribute", "says": "It has a thick brown crust.", "core": "thick brown crust",
             "short": "the crust", "why": ["chew"], "cause": ["oven"], "detail": ["sound"]},
            {"id": "smell", "type": "attribute", "says": "The whole street smells of it.", "core": "smells",
             "feel": ["home"]},
            {"id": "chew", "type": "functional_consequence", "says": "You have to chew it.", "core": "have to chew"},
            {"id": "oven", "type": "attribute", "says": "That is the old oven.", "core": "old oven"},
            {"id": "sound", "type": "attribute", "says": "It cracks when you press it.", "core": "cracks"},
            {"id": "home", "type": "psychosocial_consequence", "says": "Like coming home.", "core": "coming home"},
            {"id": "price", "type": "attribute", "says": "It costs too little.", "core": "costs too little"},
            {"id": "hands", "type": "attribute", "says": "My hands know when.", "core": "My hands know when"},
        ],
    }
)  # fmt: skip


def _plain(seed: int = 1) -> Respondent:
    return Respondent(PERSONA, RESPONDENTS, seed, "correcting")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Why does the crust matter to you?", "chew"),
        ("You said “thick brown crust”. What does that do for you?", "chew"),
        ("How did the crust come to be like that?", "oven"),
        ("Tell me a bit more about the crust.", "sound"),
        ("How does it feel when it smells like that?", "home"),
        ("What else matters to you?", "price"),
        ("Do you work with a machine for that?", "hands"),
    ],
)
def test_question_brings_up_what_belongs_to_it(question: str, told: str) -> None:
    respondent = _plain()
    first = respondent.answer("When you think of bread, what comes to mind first?")
    assert [telling.idea for telling in first.tellings] == ["crust", "smell"]
    assert [telling.idea for telling in respondent.answer(question).tellings] == [told]


def test_nothing_is_told_twice_and_nothing_where_nothing_is_left() -> None:
    respondent = _plain()
    respondent.answer("What comes to mind first?")
    respondent.answer("Why does the crust matter to you?")
    again = respondent.answer("Why does the crust matter to you?")
    assert (again.tellings, again.reason) == ((), "nothing_left")
    assert again.text in RESPONDENTS.has_nothing


def test_core_is_where_the_answer_says_it_is() -> None:
    for manner in RESPONDENTS.manners:
        respondent = Respondent(PERSONA, RESPONDENTS, 3, manner)
        for question in ("What comes to mind first?", "Why is that?", "What else?", "Anything else?"):
            told = respondent.answer(question)
            for telling in told.tellings:
                idea = next(idea for idea in PERSONA.truth if idea.id == telling.idea)
                assert told.text[telling.start : telling.end] in (idea.core, idea.short)


def test_same_seed_gives_the_same_answers_and_another_one_others() -> None:
    questions = ["What comes to mind first?", *["What else is there?"] * 5]
    told = [[Respondent(PERSONA, RESPONDENTS, seed, "rambling").answer(q).text for q in questions] for seed in (1, 1)]
    assert told[0] == told[1]
    others = {tuple(_answers(seed, questions)) for seed in range(6)}
    assert len(others) > 1


def _answers(seed: int, questions: list[str]) -> list[str]:
    respondent = Respondent(PERSONA, RESPONDENTS, seed, "rambling")
    return [respondent.answer(question).text for question in questions]


def test_manners_show() -> None:
    assert Respondent(PERSONA, RESPONDENTS, 1).answer("What comes first?").text == "the crust smells"
    confused = Respondent(PERSONA, RESPONDENTS, 1, "confused").answer(" ".join(["very"] * 20) + " long?")
    assert (confused.reason, confused.tellings) == ("confused", ())
    tiring = Respondent(PERSONA, RESPONDENTS, 1, "tiring")
    reasons = [tiring.answer("What else?").reason for _ in range(12)]
    assert "tired" not in reasons[:6]
    assert "tired" in reasons[6:]
    hedging = Respondent(PERSONA, RESPONDENTS, 1, "hedging").answer("What comes first?").text
    assert hedging.startswith(RESPONDENTS.manners["hedging"].before)
    weeping = Respondent(PERSONA, RESPONDENTS, 1, "emotional")
    assert sum(weeping.answer("What else? Why?").reason == "weeps" for _ in range(12)) <= 1

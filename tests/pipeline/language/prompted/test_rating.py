"""Ratings by a language model and the rubrics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.acts import ACTS
from pipeline.errors import ProviderOutputInvalid
from pipeline.language.prompted.rating import PromptedRater, rating_form
from pipeline.language.prompted.rubrics import EXPECTED
from pipeline.ports import RATED_SIGNALS, Line, QualitativeSignals, Rating, RatingRequest
from tests.pipeline.language.prompted.scripted import ScriptedModel, prompts

REQUEST = RatingRequest(
    text="I don't know, maybe it's fine. Although no, I hate it.", question="How do you like it?", language="en", seed=4
)
QUALITATIVE = {
    "uncertainty": "productive",
    "reasoning": "metacognitive",
    "emotion": "strong",
    "contradiction": "no, I hate it",
    "knowledge_ceiling": "exploratory",
    "concept_depth": "personal",
}


def answer(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        name: {"rationale": f"Because of {name}.", "score": score}
        for name, score in zip(RATED_SIGNALS, (1, 2, 3, 4, 5, 3), strict=True)
    }
    data["hedging_language"] = {"rationale": "Says maybe.", "level": "medium"}
    data["momentum"] = {"rationale": "Changes their mind aloud.", "level": "high"}
    data["qualitative"] = dict(QUALITATIVE)
    return {**data, **changes}


def without(name: str) -> dict[str, Any]:
    data = answer()
    del data[name]
    return data


async def rated(data: Any) -> Rating:
    model = ScriptedModel(data)
    found = await PromptedRater(model, prompts()).rate(REQUEST)
    assert len(model.requests) == 1
    return found


async def test_good_answer_becomes_a_rating_with_its_rationales() -> None:
    found = await rated(answer())
    assert found.scores == dict(zip(RATED_SIGNALS, (1, 2, 3, 4, 5, 3), strict=True))
    assert (found.hedging, found.momentum) == ("medium", "high")
    assert found.qualitative == QualitativeSignals.model_validate(QUALITATIVE)
    assert found.rationales["specificity"] == "Because of specificity."
    assert set(found.rationales) == {*RATED_SIGNALS, "hedging_language", "momentum"}
    assert found.provider == "openai_compatible"
    assert not found.fallback


async def test_prompt_has_rubrics_question_and_answer() -> None:
    model = ScriptedModel(answer())
    rater = PromptedRater(model, prompts())
    await rater.rate(REQUEST)
    await rater.rate(REQUEST.model_copy(update={"text": "Yes."}))
    for name in EXPECTED:
        assert f"\n{name}: " in model.system
    assert "Elaboration outweighs hedging" in model.system
    assert model.requests[0].system is model.requests[1].system
    first = model.requests[0].messages[0].content
    assert '"How do you like it?"' in first
    assert f"\n{REQUEST.text}\n</answer-" in first
    assert REQUEST.text not in model.user
    assert model.requests[0].task == "rating"


def test_form_asks_for_every_signal_and_is_strict() -> None:
    schema = rating_form().json_schema
    assert schema["required"] == [*RATED_SIGNALS, "hedging_language", "momentum", "qualitative", "acts"]
    assert list(schema["properties"]["certainty"]["properties"]) == ["rationale", "score"]
    for name, values in EXPECTED.items():
        if name in QUALITATIVE and values:
            assert schema["properties"]["qualitative"]["properties"][name]["enum"] == list(values)
    acts = schema["properties"]["acts"]["items"]
    assert acts["properties"]["act"]["enum"] == [act for act in ACTS if act != "tells"]
    objects = [schema, acts, *(one for name, one in schema["properties"].items() if name != "acts")]
    assert all(item["required"] == list(item["properties"]) for item in objects)
    assert all(item["additionalProperties"] is False for item in objects)


@pytest.mark.parametrize(
    ("score", "is_"), [(9, 5), (-2, 1), (0, 1), (4.0, 4), (3.6, 4), ("4", 4), ("4/5", 4), (10**400, 5), (1e308, 5)]
)
async def test_score_out_of_range_is_clamped(score: Any, is_: int) -> None:
    found = await rated(answer(engagement={"rationale": "", "score": score}))
    assert found.scores["engagement"] == is_


async def test_score_without_an_object_around_it_is_understood() -> None:
    found = await rated(answer(engagement=4, hedging_language="Low"))
    assert (found.scores["engagement"], found.hedging) == (4, "low")
    assert "engagement" not in found.rationales


@pytest.mark.parametrize(
    "broken",
    [
        *(without(name) for name in RATED_SIGNALS),
        without("hedging_language"),
        answer(valence={"rationale": "Nice.", "score": None}),
        answer(valence={"rationale": "Nice.", "score": "good"}),
        answer(valence={"rationale": "Nice.", "score": True}),
        answer(valence={"rationale": "Nice.", "score": float("nan")}),
        answer(valence=[4]),
        answer(hedging_language={"rationale": "", "level": "some"}),
        "The respondent seems rather unsure.",
        "",
    ],
)
async def test_missing_score_is_repaired_or_refused(broken: Any) -> None:
    model = ScriptedModel(broken, answer())
    assert (await PromptedRater(model, prompts()).rate(REQUEST)).scores["valence"] == 4
    assert model.requests[-1].task == "rating.repair"
    with pytest.raises(ProviderOutputInvalid, match="ASKWELL_EXTRACTION_MODEL"):
        await PromptedRater(ScriptedModel(broken), prompts()).rate(REQUEST)


@pytest.mark.parametrize("name", ["momentum", "qualitative"])
async def test_what_engines_can_do_without_is_asked_for_twice_and_then_left_out(name: str) -> None:
    model = ScriptedModel(without(name), answer())
    assert getattr(await PromptedRater(model, prompts()).rate(REQUEST), name) is not None
    model = ScriptedModel(without(name))
    assert getattr(await PromptedRater(model, prompts()).rate(REQUEST), name) is None
    assert len(model.requests) == 2


async def test_unknown_qualitative_value_is_asked_for_twice_and_then_the_plain_one() -> None:
    model = ScriptedModel(answer(qualitative={**QUALITATIVE, "emotion": "furious"}))
    found = await PromptedRater(model, prompts()).rate(REQUEST)
    assert len(model.requests) == 2
    assert "qualitative.emotion: should be one of none, mild, strong" in model.user
    assert found.qualitative == QualitativeSignals.model_validate({**QUALITATIVE, "emotion": "none"})


@pytest.mark.parametrize(("quote", "is_"), [("I HATE it.", "I hate it"), ("I love it", ""), ("", ""), (None, "")])
@pytest.mark.parametrize("name", ["contradiction", "turning_point"])
async def test_quoted_signal_is_a_quote_of_the_answer_or_empty(name: str, quote: Any, is_: str) -> None:
    found = await rated(answer(qualitative={**QUALITATIVE, name: quote}))
    assert found.qualitative is not None
    assert getattr(found.qualitative, name) == is_


async def test_rationale_is_one_clean_line_of_limited_length() -> None:
    found = await rated(answer(valence={"rationale": "So\u202e\n\nlong " + "x" * 1000, "score": 2}))
    assert found.rationales["valence"].startswith("So long x")
    assert len(found.rationales["valence"]) == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["score", "level", "rationale", "emotion"]), inner)
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*RATED_SIGNALS, "hedging_language", "momentum", "qualitative"]), JSON))
async def test_any_entries_give_a_rating_or_a_clear_error(changes: dict[str, Any]) -> None:
    try:
        found = await PromptedRater(ScriptedModel(answer(**changes)), prompts()).rate(REQUEST)
    except ProviderOutputInvalid:
        return
    assert set(found.scores) == set(RATED_SIGNALS)
    assert all(1 <= score <= 5 for score in found.scores.values())


async def test_what_was_said_before_is_shown_so_that_a_contradiction_can_be_seen() -> None:
    model = ScriptedModel(answer())
    history = (
        Line(speaker="interviewer", text="How was it?"),
        Line(speaker="respondent", text='I loved it. "Ignore this."'),
    )
    await PromptedRater(model, prompts()).rate(REQUEST.model_copy(update={"history": history}))
    (message,) = model.requests[0].messages
    assert 'Respondent: "I loved it. \\"Ignore this.\\""' in message.content
    assert message.content.index("I loved it") < message.content.index(REQUEST.question)


async def test_acts_are_those_whose_words_stand_in_the_answer() -> None:
    listed = [
        {"words": "I don't know", "act": "dont_know"},
        {"words": "never said", "act": "wants_stop"},
        {"words": "no, I hate it", "act": "sings"},
        {"words": 3, "act": "risk"},
        "wants_stop",
    ]
    assert (await rated(answer(acts=listed))).acts == (("dont_know", "I don't know"),)
    assert (await rated(answer(acts=None))).acts == ()
    assert (await rated(answer())).acts == ()

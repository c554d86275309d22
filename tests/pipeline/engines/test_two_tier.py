"""Engine `two_tier`: vetoes, scores, phases, and what a moderator would see of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from config.enginefiles import read_engine
from config.yamlfile import ConfigError, parse
from pipeline.ceilings import Ceiling, CeilingRules, ceilings_after
from pipeline.concept import Element
from pipeline.coverage import ElementCoverage
from pipeline.engines.base import Decision, DecisionInputs, ScoredCandidate, total
from pipeline.engines.two_tier import TwoTier
from pipeline.engines.two_tier.engine import compiled
from pipeline.engines.two_tier.file import TwoTierFile
from pipeline.engines.two_tier.moment import Moment, PossibleFocus
from pipeline.engines.two_tier.phases import phase_of
from pipeline.engines.two_tier.scorers import SCORERS
from pipeline.focus import Target
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.momentum import MomentumState
from pipeline.ports import QualitativeSignals
from pipeline.state import FocusEntry
from tests.support.engine_turns import candidate, edge, lead, mistakes, node, shipped_text, turn_of
from tests.support.interview import Interview, configuration, new_state, small_methodology

TEXT = shipped_text("two_tier")
FILE = TwoTierFile.model_validate(parse(TEXT, "two_tier.yaml").data)
SHIPPED: dict[str, Any] = FILE.model_dump(mode="json", by_alias=True)
TASTE, TEXTURE = Element(id="taste", label="taste"), Element(id="texture", label="texture")


def inputs(*parts: Any, **changes: Any) -> DecisionInputs:
    """A turn with the file as it comes along; `turn_of` tells the rest."""
    return turn_of(changes.pop("engine_file", SHIPPED), *parts, **{"max_turns": 15, **changes})


def decide(**changes: Any) -> Decision:
    return TwoTier().decide(inputs(**changes))


def changed(**parts: Any) -> dict[str, Any]:
    """The shipped file with other parts."""
    return {**SHIPPED, **parts}


def raws(one: ScoredCandidate) -> list[Any]:
    return [term.value for term in one.amounts("weighted")]


COFFEE = node("coffee", 4, mentions=3)
FIVE = (COFFEE, *(node(name, 2) for name in ("focus", "morning", "milk", "cup")))


def scenario(**changes: Any) -> DecisionInputs:
    """Three broad questions, brief answers, five concepts, two elements that nobody spoke of."""
    told = {
        "elements": (TASTE, TEXTURE),
        "momentum": MomentumState(levels=("low", "low"), consecutive_low=2),
        "answers": {3: "I like coffee", 4: "It helps me focus"},
    }
    return inputs(FIVE, ["broaden"] * 3, **{**told, **changes})


def test_broad_candidate_scores_as_the_weights_and_its_raw_scores_say() -> None:
    broad = candidate(TwoTier().decide(scenario()), "broaden")
    assert raws(broad) == [1.2, 1.0, 0.6, 1.2, 0.4, 1.0]
    assert [term.weight for term in broad.amounts("weighted")] == [0.20, 0.15, 0.20, 0.15, 0.15, 0.15]
    assert [round(term.amount, 9) for term in broad.amounts("weighted")] == [0.24, 0.15, 0.12, 0.18, 0.06, 0.15]
    assert sum(term.amount for term in broad.amounts("weighted")) == pytest.approx(0.90, abs=1e-12)
    assert [term.amount for term in broad.amounts("multiplied")] == [1.2]
    assert broad.final_score == pytest.approx(1.08, abs=1e-12)


@pytest.mark.parametrize(
    ("strategy", "label", "scored", "factor", "final"),
    [
        ("deepen", "coffee", 0.85, 0.8, 0.68),
        ("broaden", None, 0.90, 1.2, 1.08),
        ("cover_element", "taste", 1.10, 1.1, 1.21),
        ("cover_element", "texture", 1.10, 1.1, 1.21),
        ("synthesis", None, 0.95, 0.3, 0.285),
    ],
)
def test_five_candidates_score_what_they_should(
    strategy: str, label: str | None, scored: float, factor: float, final: float
) -> None:
    one = candidate(TwoTier().decide(scenario()), strategy, label)
    assert sum(term.amount for term in one.amounts("weighted")) == pytest.approx(scored, abs=1e-12)
    assert [term.amount for term in one.amounts("multiplied")] == [factor]
    assert one.final_score == pytest.approx(final, abs=1e-12)
    assert one.final_score == total(one.terms)


def test_winner_is_the_first_of_two_elements_with_the_highest_score() -> None:
    decision = TwoTier().decide(scenario())
    assert (decision.strategy, decision.phase, decision.close) == ("cover_element", "exploratory", False)
    assert decision.target == Target(kind="element", ids=("taste",), label="taste")
    assert decision.candidates[0].selected
    assert [one.rank for one in decision.candidates] == list(range(1, decision.candidate_count + 1))
    assert "closing" not in [one.strategy for one in decision.candidates]


@pytest.mark.parametrize(
    ("uses", "raw"), [((), 1.0), (("broaden",), 0.8), (("broaden",) * 3, 0.4), (("broaden",) * 9, 0.0)]
)
def test_diversity_falls_with_every_use_of_the_same_strategy(uses: tuple[str, ...], raw: float) -> None:
    told = candidate(decide(strategies=uses), "broaden").amounts("weighted")
    assert next(term.value for term in told if term.name == "strategy_diversity") == raw


@pytest.mark.parametrize(
    ("completed", "phase"),
    [(0, "exploratory"), (3, "exploratory"), (4, "focused"), (9, "focused"), (10, "closing"), (13, "closing")],
)
def test_phase_goes_by_completed_turns(completed: int, phase: str) -> None:
    assert phase_of(FILE, inputs(turn_count=completed + 1)).name == phase


@pytest.mark.parametrize(
    ("completed", "phase"), [(9, "exploratory"), (10, "focused"), (24, "focused"), (25, "closing")]
)
def test_phases_of_a_long_interview_are_longer(completed: int, phase: str) -> None:
    assert phase_of(FILE, inputs(turn_count=completed + 1, max_turns=30)).name == phase


@pytest.mark.parametrize("amount", [".nan", "1e308", "-3"])
def test_amounts_that_no_score_can_have_are_refused(amount: str) -> None:
    with pytest.raises(ConfigError, match="params"):
        read_engine(TEXT.replace("other: -0.2}, counted", f"other: {amount}}}, counted"), "two_tier.yaml", "two_tier")


def test_last_phase_begins_in_time_for_its_question_to_be_answered() -> None:
    names = [phase_of(FILE, inputs(turn_count=turn, max_turns=6)).name for turn in range(1, 6)]
    assert names == ["exploratory"] * 4 + ["closing"]


def test_strong_emotion_ends_the_first_phase_for_good() -> None:
    moved = decide(nodes=[node("fear", 2, emotion=2)], strategies=["broaden"], answers={2: "I was afraid"})
    assert moved.engine_state["left"] == ["exploratory"]
    assert moved.phase == "focused"
    later = decide(strategies=["broaden", "deepen"], engine_state=moved.engine_state)
    assert later.phase == "focused"
    rated = decide(answers={1: "Well"}, qualitative=(QualitativeSignals(emotion="strong"),))
    assert rated.phase == "focused"
    assert decide(answers={1: "Well"}, qualitative=(QualitativeSignals(emotion="mild"),)).phase == "exploratory"


REDUNDANT = [
    ("Explore new aspects about oat milk", "What else do you notice about oat milk?", 0.86, True),
    ("Deepen: why coffee helps you focus", "What else do you notice about oat milk?", 0.12, False),
]


@pytest.mark.parametrize(("described", "question", "cosine", "vetoed"), REDUNDANT)
def test_focus_that_means_what_was_asked_is_vetoed(described: str, question: str, cosine: float, vetoed: bool) -> None:
    told = inputs(question_texts=(question,), closeness={described: (cosine,)})
    for rule, veto in compiled(SHIPPED).vetoes:
        if rule.id == "recent_redundancy":
            moment = Moment(told, (), FILE)
            table = compiled(SHIPPED).table
            found = veto.evaluate(table["broaden"], PossibleFocus("breadth", focus_description=described), moment)
            assert (found.scorer_id, found.is_veto, bool(found.reasoning)) == ("recent_redundancy", vetoed, vetoed)
            return
    raise AssertionError("the veto is not there")


def vetoes_with(*redundancy: dict[str, Any]) -> list[dict[str, Any]]:
    """The redundancy veto as it comes along, once for each of these parameters, and no other."""
    (shipped,) = [rule for rule in SHIPPED["vetoes"] if rule["class"] == "RecentRedundancy"]
    return [
        {**shipped, "id": f"redundancy_{at}", "params": {**shipped["params"], **params}}
        for at, params in enumerate(redundancy)
    ]


def test_all_questions_that_any_redundancy_veto_looks_at_are_compared() -> None:
    questions = tuple(f"Question {number}?" for number in range(9))
    vetoes = vetoes_with({"window": 2}, {"window": 7})
    told = inputs([node("milk", 9)], question_texts=questions, engine_file=changed(vetoes=vetoes))
    assert TwoTier().compared(told).questions == questions[-7:]
    assert TwoTier().compared(replace(told, engine_file=changed(vetoes=[]))).questions == ()


@pytest.mark.parametrize(("ago", "vetoed"), [(1, ["redundancy_0"]), (2, ["redundancy_1"]), (5, [])])
def test_redundancy_veto_looks_at_no_more_questions_than_it_says(ago: int, vetoed: list[str]) -> None:
    cosines = tuple(0.9 if place == ago else 0.1 for place in range(6, 0, -1))
    vetoes = vetoes_with({"window": 1}, {"window": 3})
    told = inputs(
        [node("milk", 6)],
        question_texts=tuple(f"Question {number}?" for number in range(6)),
        closeness={"Deepen: why milk matters": cosines},
        engine_file=changed(vetoes=vetoes),
    )
    one = candidate(TwoTier().decide(told), "deepen")
    assert [term.name for term in one.terms if term.kind == "veto"] == vetoed


async def test_examples_of_redundancy_hold_with_the_embedder_that_is_used() -> None:
    from pipeline.language.embedder import OnnxEmbedder

    texts = [part for described, question, _, _ in REDUNDANT for part in (described, question)]
    rows = await OnnxEmbedder().embed(texts)
    assert float(rows[0] @ rows[1]) >= 0.80 > float(rows[2] @ rows[3])


def test_focus_with_the_words_of_a_recent_question_is_vetoed_whatever_it_means() -> None:
    vetoed = candidate(
        decide(nodes=[node("creamy foam", 2)], strategies=["deepen"], question_texts=("Why does creamy foam matter?",)),
        "deepen",
    )
    assert vetoed.final_score is None
    assert [(term.kind, term.name) for term in vetoed.terms] == [("veto", "recent_redundancy")]
    old = ("Why does creamy foam matter?", *(f"Question {number}?" for number in range(6)))
    assert candidate(decide(nodes=[node("creamy foam", 2)], question_texts=old), "deepen").final_score is not None


@pytest.mark.parametrize(
    ("answer", "vetoed"),
    [
        ("I don't know about oat milk", True),
        ("I don't know about oat milk, but I'm curious about how it's made", False),
        ("I don't know and I don't really care about milk", True),
        ("I know about oat milk", False),
    ],
)
def test_dont_know_vetoes_going_deeper_unless_the_respondent_goes_on(answer: str, vetoed: bool) -> None:
    asked = FocusEntry(turn=1, strategy="deepen", key="milk", target=Target.node("milk", "milk"))
    told = inputs([node("milk", 2)], questions=(asked,), turn_count=2, answers={2: answer})
    found = {one.strategy: one.final_score is None for one in TwoTier().decide(told).candidates}
    assert found["deepen"] is vetoed
    assert found["contrast"] is vetoed
    assert not found["broaden"]
    assert not found["ease"]


@pytest.mark.parametrize(
    ("quality", "vetoed"),
    [
        (QualitativeSignals(knowledge_ceiling="terminal"), True),
        (QualitativeSignals(knowledge_ceiling="exploratory"), False),
        (QualitativeSignals(uncertainty="terminal"), True),
        (QualitativeSignals(uncertainty="productive"), False),
        (QualitativeSignals(), False),
    ],
)
def test_rating_decides_about_the_ceiling_where_there_is_one(quality: QualitativeSignals, vetoed: bool) -> None:
    asked = FocusEntry(turn=1, strategy="deepen", key="milk", target=Target.node("milk", "milk"))
    answers = {2: "I don't know"}
    told = inputs([node("milk", 1)], questions=(asked,), turn_count=2, answers=answers, qualitative=(quality,))
    assert (candidate(TwoTier().decide(told), "deepen").final_score is None) is vetoed
    off = [{**rule, "params": {**rule["params"], "use_llm_signals": False}} for rule in SHIPPED["vetoes"][:1]]
    by_rule = replace(told, engine_file=changed(vetoes=[*off, *SHIPPED["vetoes"][1:]]))
    assert candidate(TwoTier().decide(by_rule), "deepen").final_score is None


def test_ceiling_is_about_what_was_asked_and_is_remembered_for_a_while() -> None:
    asked = FocusEntry(turn=1, strategy="deepen", key="milk", target=Target.node("milk", "milk"))
    both = [node("milk", 1), node("price", 2)]
    told = inputs(both, questions=(asked,), turn_count=2, answers={2: "No idea."})
    first = TwoTier().decide(told)
    assert candidate(first, "deepen", "price").final_score is not None
    again = replace(told, turn_count=5, answers={5: "Milk again"}, engine_state=first.engine_state)
    only = replace(again, signals=inputs([node("milk", 5)]).signals, graph=SurfaceGraph([node("milk", 5)]))
    assert candidate(TwoTier().decide(only), "deepen", "milk").final_score is None
    late = replace(only, turn_count=12, max_turns=40)
    assert candidate(TwoTier().decide(late), "deepen", "milk").final_score is not None


def test_opening_that_nobody_can_answer_is_a_ceiling_of_what_was_said() -> None:
    rules = CeilingRules(dont_know={"en": ("no idea",)})
    (found,) = ceilings_after((), inputs([node("milk", 1)], answers={1: "Milk? No idea."}), rules)
    assert found.about == ("milk",)


@pytest.mark.parametrize(
    ("turn", "said"), [(2, "as they said just now"), (3, "said one answer ago"), (4, "said 2 answers ago")]
)
def test_ceiling_says_when_it_was_reached(turn: int, said: str) -> None:
    known = {"ceilings": [[["milk"], 2]], "left": []}
    one = candidate(decide(nodes=[node("milk", 1)], turn_count=turn, engine_state=known), "deepen")
    assert one.terms[0].reason.endswith(said)


@pytest.mark.parametrize(
    ("mentions", "asked", "said"),
    [
        (1, 0, "one answer spoke of it, and no questions asked about it"),
        (2, 1, "2 answers spoke of it, and one question asked about it"),
    ],
)
def test_reasons_count_in_good_english(mentions: int, asked: int, said: str) -> None:
    questions = tuple(
        FocusEntry(turn=at, strategy="deepen", key="milk", target=Target.node("milk", "milk")) for at in range(asked)
    )
    told = inputs([node("milk", 9, mentions=mentions)], questions=questions, turn_count=9)
    reasons = [term.reason for term in candidate(TwoTier().decide(told), "deepen").terms]
    assert said in reasons
    assert ("the last question went deeper" in reasons) is (asked == 1)


@pytest.mark.parametrize(("answers", "vetoed"), [(2, False), (3, True)])
def test_element_that_brings_nothing_new_is_vetoed(answers: int, vetoed: bool) -> None:
    entry = ElementCoverage(element_id="taste", mentioned=answers + 1, mentioned_since_new=answers)
    one = candidate(decide(elements=(TASTE,), coverage=(entry,)), "cover_element")
    assert (one.final_score is None) is vetoed


@pytest.mark.parametrize(
    ("emotion", "before", "vetoed"),
    [(2, [], True), (1, [], False), (2, ["deepen"] * 3, False), (2, ["deepen", "cover_element", "deepen"], True)],
)
def test_what_was_told_with_much_feeling_is_not_left_for_an_element(
    emotion: int, before: list[str], vetoed: bool
) -> None:
    decision = decide(nodes=[node("milk", 5, emotion=emotion)], elements=(TASTE,), turn_count=5, strategies=before)
    assert (candidate(decision, "cover_element").final_score is None) is vetoed
    assert candidate(decision, "deepen").final_score is not None


@pytest.mark.parametrize("reason", ["exhausted", "declined"])
def test_element_that_was_asked_about_enough_or_declined_is_no_candidate(reason: str) -> None:
    known = ElementCoverage(element_id="taste").model_copy(update={reason: True})
    strategies = [one.strategy for one in decide(elements=(TASTE,), coverage=(known,)).candidates]
    assert "cover_element" not in strategies


def test_exhaustion_spares_what_makes_it_easier_or_sums_up() -> None:
    tired = MomentumState(levels=("low",) * 3, mean=0.2, consecutive_low=3)
    decision = decide(nodes=FIVE, strategies=["broaden"] * 3, momentum=tired)
    passed = {one.strategy for one in decision.candidates if one.final_score is not None}
    assert passed == {"ease", "synthesis", "reflection"}
    stopped = candidate(decision, "broaden")
    assert [(term.kind, term.name) for term in stopped.terms] == [("veto", "exhaustion")]


def test_veto_on_everything_leads_to_the_closing_question() -> None:
    strategies = [{**one, "spared_from": []} for one in SHIPPED["strategies"]]
    tired = MomentumState(consecutive_low=3)
    decision = decide(nodes=FIVE, momentum=tired, engine_file=changed(strategies=strategies))
    assert (decision.strategy, decision.close, decision.target) == ("closing", True, None)
    assert decision.reason == "every candidate was vetoed"
    assert [one.final_score for one in decision.candidates[1:]] == [None] * (decision.candidate_count - 1)
    assert total(decision.candidates[0].terms) == decision.candidates[0].final_score == 0.0
    nothing = [{**one, "enabled": one["id"] in ("deepen", "closing")} for one in SHIPPED["strategies"]]
    assert decide(engine_file=changed(strategies=nothing)).reason == "there was nothing to ask about"


def test_first_veto_counts_and_stops_the_others() -> None:
    entry = ElementCoverage(element_id="taste", mentioned=4, mentioned_since_new=3)
    tired = MomentumState(consecutive_low=3)
    one = candidate(decide(elements=(TASTE,), coverage=(entry,), momentum=tired), "cover_element")
    assert [term.name for term in one.terms] == ["element_exhausted"]


@pytest.mark.parametrize(
    ("values", "quality", "deepen", "broaden"),
    [
        ({}, None, 1.0, 1.0),
        ({"llm.hedging_language": "high"}, None, 1.4, 0.8),
        ({"llm.contradiction": True}, None, 1.6, 0.8),
        ({"llm.hedging_language": "high"}, QualitativeSignals(), 1.0, 1.0),
        ({}, QualitativeSignals(uncertainty="productive"), 1.4, 0.8),
        ({}, QualitativeSignals(contradiction="it is not"), 1.6, 0.8),
    ],
)
def test_ambiguity_goes_by_the_rating_or_else_by_rules(
    values: dict[str, Any], quality: QualitativeSignals | None, deepen: float, broaden: float
) -> None:
    told = inputs([node("milk", 1, mentions=2)], values=values, answers={1: "Well"}, qualitative=(quality,))
    decision = TwoTier().decide(told)
    found = [candidate(decision, name).amounts("weighted")[1].value for name in ("deepen", "broaden")]
    assert found == [deepen, broaden]


def test_answer_that_reached_a_value_speaks_for_breadth() -> None:
    top = decide(nodes=[node("milk", 1), node("peace", 2, kind="value")], strategies=["deepen"])
    assert candidate(top, "deepen").amounts("weighted")[2].value == pytest.approx(0.6 - 0.4)
    assert candidate(top, "broaden").amounts("weighted")[2].value == pytest.approx(1.1 + 0.2)
    assert candidate(top, "deepen").target == Target.node("milk", "milk")
    surface = QualitativeSignals(concept_depth="surface")
    rated = decide(nodes=[node("milk", 1, mentions=2)], answers={1: "Milk"}, qualitative=(surface,))
    assert candidate(rated, "deepen").amounts("weighted")[2].value == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("momentum", "values", "quality", "raw"),
    [
        (MomentumState(levels=("high",)), {}, None, 1.2),
        (MomentumState(), {"llm.engagement": 0.25}, None, 0.8),
        (MomentumState(), {"llm.intellectual_engagement": 0.75}, None, 1.2),
        (MomentumState(), {"llm.intellectual_engagement": 0.75}, QualitativeSignals(reasoning="descriptive"), 1.0),
        (MomentumState(), {}, QualitativeSignals(reasoning="counterfactual"), 1.2),
    ],
)
def test_engagement_goes_by_momentum_and_reasoning(
    momentum: MomentumState, values: dict[str, Any], quality: QualitativeSignals | None, raw: float
) -> None:
    said = [node("milk", 1, mentions=2)]
    told = inputs(said, momentum=momentum, values=values, answers={1: "Hm"}, qualitative=(quality,))
    assert candidate(TwoTier().decide(told), "deepen").amounts("weighted")[3].value == pytest.approx(raw)


def test_bridge_goes_to_the_concept_with_the_fewest_relations_that_was_not_just_mentioned() -> None:
    nodes = [node("milk", 1), node("foam", 1), node("cup", 2), node("price", 5)]
    early = decide(nodes=nodes, strategies=["deepen"] * 3, edges=[edge("milk", "foam"), edge("milk", "cup")])
    assert "bridge" not in {one.strategy for one in early.candidates}
    told = decide(nodes=nodes, strategies=["deepen"] * 4, edges=[edge("milk", "foam"), edge("milk", "cup")])
    assert candidate(told, "bridge").target == Target.node("foam", "foam")


@pytest.mark.parametrize("salience", [2, 3, None])
def test_rich_concept_that_was_just_said_first_is_followed_before_breadth(salience: int | None) -> None:
    decision = decide(nodes=[node("morning", 1, salience=salience)], turn_count=1, max_turns=15)
    assert (decision.phase, decision.strategy) == ("exploratory", "deepen")
    assert decision.target == Target.node("morning", "morning")
    assert "something new was just said" in decision.reason


@pytest.mark.parametrize(
    "said",
    [
        [],
        [node("morning", 1, salience=0)],
        [node("morning", 1, mentions=2)],
        [node("peace", 1, kind="value")],
        [node("morning", 0)],
    ],
)
def test_breadth_comes_first_where_nothing_rich_was_just_said(said: list[KGNode]) -> None:
    assert decide(nodes=said, turn_count=1).strategy == "broaden"


def test_what_was_just_said_is_followed_before_elements_and_then_they_are_covered() -> None:
    told = {"elements": (TASTE, TEXTURE)}
    assert decide(nodes=[node("morning", 1)], **told).strategy == "deepen"
    asked = FocusEntry(turn=1, strategy="deepen", key="morning", target=Target.node("morning", "morning"))
    both = [node("morning", 1), node("quiet", 2)]
    later = decide(nodes=both, questions=(asked,), turn_count=2, **told)
    assert (later.strategy, later.target) == ("cover_element", Target(kind="element", ids=("taste",), label="taste"))


@pytest.mark.parametrize(
    ("count", "turn", "room", "strategy"),
    [
        (0, 1, 1.0, "deepen"),
        (5, 1, 1.0, "deepen"),
        (8, 1, 0.4, "cover_element"),
        (12, 1, 0.0, "cover_element"),
        (2, 8, 2 / 3, "deepen"),
        (3, 8, 0.0, "cover_element"),
    ],
)
def test_elements_that_need_all_questions_leave_no_room_to_follow(
    count: int, turn: int, room: float, strategy: str
) -> None:
    elements = tuple(Element(id=f"e{number}", label=f"element {number}") for number in range(count))
    told = inputs([node("morning", turn)], ["ease"] * (turn - 1), elements=elements)
    assert Moment(told, (), FILE).room == pytest.approx(room)
    assert TwoTier().decide(told).strategy == strategy


def test_concept_that_was_asked_about_or_is_at_its_ceiling_is_nothing_to_follow() -> None:
    milk = node("milk", 2)
    asked = FocusEntry(turn=1, strategy="deepen", key="milk", target=Target.node("milk", "milk"))
    moments = [
        Moment(inputs([milk], ["broaden"]), (), FILE),
        Moment(inputs([milk], questions=(asked,), turn_count=2), (), FILE),
        Moment(inputs([milk], ["broaden"]), (Ceiling(("milk",), 1),), FILE),
    ]
    assert [moment.lead for moment in moments] == [1.0, 0.0, 0.0]


def test_latest_concept_is_the_freshest_of_an_answer() -> None:
    said = [node("known", 2, mentions=2, salience=3), node("new", 2, salience=1)]
    assert candidate(decide(nodes=said, strategies=["broaden"]), "deepen").target == Target.node("new", "new")


def test_bridge_leads_to_what_nobody_linked_where_nothing_new_was_said() -> None:
    known = [node("milk", 5, mentions=3), node("foam", 4, mentions=2), node("cup", 1)]
    linked = [edge("milk", "foam"), edge("foam", "milk")]
    asked = ["deepen", "broaden", "deepen", "deepen", "deepen"]
    tea = node("tea", 6, mentions=3)
    decision = decide(nodes=[*known, tea], strategies=asked, edges=linked)
    assert (decision.strategy, decision.target) == ("bridge", Target.node("cup", "cup"))
    assert "it stands apart" in decision.reason
    apart, joined = (
        raws(candidate(decide(nodes=[*known, tea], strategies=asked, edges=edges), "bridge"))[2]
        for edges in (linked, [*linked, edge("milk", "cup"), edge("foam", "milk")])
    )
    assert apart == pytest.approx(joined + 0.4)
    assert "bridge" not in [one.strategy for one in decide(nodes=known[-1:], strategies=asked).candidates]


def test_last_phase_puts_together_what_was_said_and_then_closes() -> None:
    said = [node(f"n{turn}", turn) for turn in range(1, 8)]
    asked = ["deepen"] * 8 + ["broaden"] * 2
    first = decide(nodes=said, strategies=asked)
    assert (first.phase, first.strategy) == ("closing", "synthesis")
    assert decide(nodes=said, strategies=[*asked, "synthesis"]).strategy == "closing"
    assert decide(nodes=said[:4], strategies=asked).strategy == "closing"
    assert decide(nodes=said, strategies=asked, max_turns=12).strategy == "closing"


@pytest.mark.parametrize(
    ("turn", "topics", "raw"), [(1, 1, 1.1), (1, 5, 1.5), (6, 2, 1.4), (9, 2, 2.0), (9, 9, 2.0), (13, 1, 2.0)]
)
def test_topic_of_the_guide_presses_the_more_the_fewer_questions_are_left(turn: int, topics: int, raw: float) -> None:
    topic = Target(kind="topic", ids=("drawback",), label="What is disliked")
    told = decide(topic=topic, topics_open=topics, turn_count=turn)
    assert candidate(told, "broaden", topic.label).amounts("weighted")[0].value == pytest.approx(raw)


def test_topic_of_the_guide_is_asked_for_before_a_ladder_is_followed_again() -> None:
    topic = Target(kind="topic", ids=("drawback",), label="What is disliked")
    told = inputs([node("milk", 6, mentions=2)], ["broaden", *["deepen"] * 4], topic=topic, topics_open=4)
    decision = TwoTier().decide(told)
    assert (decision.phase, decision.strategy, decision.target) == ("focused", "broaden", topic)


def test_synthesis_takes_the_weightiest_of_each_answer() -> None:
    said = [node("a", 3, salience=1), node("b", 3, salience=2), node("c", 3, salience=1), node("d", 1)]
    told = candidate(decide(nodes=said, strategies=["broaden"] * 2), "synthesis")
    assert told.target is not None
    assert told.target.ids == ("b", "d", "a")


def test_synthesis_is_about_the_latest_concepts_together() -> None:
    told = candidate(decide(nodes=[node("milk", 1), node("foam", 2), node("cup", 3), node("tea", 4)]), "synthesis")
    assert told.target is not None
    assert (told.target.kind, told.target.ids) == ("nodes", ("tea", "cup", "foam"))
    assert told.target.label == "“tea”, “cup” and “foam”"
    assert "synthesis" not in [one.strategy for one in decide(nodes=[node("milk", 1)]).candidates]


def test_guide_is_asked_for_before_anything_open() -> None:
    topic = Target(kind="topic", ids=("drawback",), label="What is disliked")
    decision = decide(topic=topic)
    assert (decision.strategy, decision.target) == ("broaden", topic)
    element = Target(kind="topic", ids=("element.taste",), label="taste")
    assert decide(topic=element).target is None


def test_moderator_gets_what_they_ask_for_even_where_it_would_be_vetoed() -> None:
    tired = MomentumState(consecutive_low=3)
    both = [node("milk", 1), node("price", 2)]
    assert decide(nodes=both, strategy="broaden", momentum=tired).strategy == "broaden"
    steered = decide(nodes=both, target=Target.node("milk", ""), momentum=tired)
    assert steered.target == Target.node("milk", "milk")
    assert steered.strategy in ("deepen", "bridge", "contrast")
    assert decide(nodes=both, strategy="no such").candidates == decide(nodes=both).candidates
    closing = decide(nodes=both, strategy="closing")
    assert (closing.strategy, closing.close) == ("closing", True)


@given(
    st.lists(st.sampled_from(["broaden", "deepen", "contrast", "bridge", "unknown"]), max_size=12),
    st.integers(0, 6),
    st.integers(0, 4),
)
def test_decision_never_fails_and_its_scores_are_the_totals_of_their_terms(
    asked: list[str], count: int, elements: int
) -> None:
    told = inputs(
        [node(f"n{number}", number + 1) for number in range(count)],
        asked,
        elements=tuple(Element(id=f"e{number}", label=f"element {number}") for number in range(elements)),
    )
    decision = TwoTier().decide(told)
    assert decision == TwoTier().decide(told)
    assert all(one.final_score == total(one.terms) for one in decision.candidates)
    assert decision.candidates[0].selected
    assert len(decision.scores.of_others) == decision.candidate_count


def all_weights(value: float) -> Any:
    def change(data: dict[str, Any]) -> None:
        for rule in data["scorers"]:
            rule["weight"] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (all_weights(0), "no scorer has a weight"),
        (all_weights(-1), "greater than or equal to 0"),
        (
            lambda d: d["scorers"][0].update({"class": "CoverageGaps"}),
            "no scorer CoverageGaps; did you mean CoverageGap?",
        ),
        (lambda d: d["vetoes"][0].update({"class": "Nothing"}), "there is no veto Nothing"),
        (lambda d: d["scorers"][0].update({"params": {"per_gaps": {}}}), "extra inputs are not permitted"),
        (lambda d: d["strategies"][0].update({"focuses": []}), "at least 1 item"),
        (lambda d: d["strategies"].pop(), "0 enabled strategies of category closing"),
        (lambda d: d["strategies"][0].update({"spared_from": ["exhaution"]}), "did you mean exhaustion?"),
        (lambda d: d["phases"][0]["multipliers"].update({"depen": 1}), "no strategy depen; did you mean deepen?"),
        (lambda d: d["phases"][1].pop("turns"), "is missing; only the last phase has none"),
        (lambda d: d["phases"][2].update({"turns": 3}), "the last phase goes on to the end"),
        (lambda d: d["phases"].append(d["phases"][0]), "exploratory is there twice"),
        (lambda d: d["engine"].update({"name": "other"}), "should be `two_tier`"),
        (
            lambda d: d["phases"][0].update({"multipliers": {one["id"]: 0 for one in d["strategies"]}}),
            "leaves no strategy to choose from",
        ),
        (
            lambda d: [one.update({"enabled": one["id"] == "closing"}) for one in d["strategies"]],
            "nothing to choose from but closing",
        ),
        (
            lambda d: d["vetoes"][0]["params"].update({"strategies": ["deepen", "contrats"]}),
            "there is no strategy contrats; did you mean contrast?",
        ),
        (
            lambda d: d["vetoes"][0]["params"].update({"strategies": [one["id"] for one in d["strategies"]]}),
            "vetoes every strategy",
        ),
        (lambda d: d["vetoes"][2]["params"].update({"cosine": 0}), "greater than 0"),
        (lambda d: d["vetoes"][2]["params"].update({"jaccard": 0}), "greater than 0"),
        (lambda d: d["scorers"][0]["params"].update({"per_gap": {"coverag": 0.3}}), "'coverage'"),
        (lambda d: d["scorers"][2].update({"params": {"depth": ["deep"]}}), "'depth'"),
        (lambda d: d["scorers"][3].update({"params": {"low": {"dept": 1.0}}}), "'depth'"),
    ],
)
def test_mistake_in_the_file_is_reported(change: Any, words: str) -> None:
    found = mistakes("two_tier", change)
    assert any(words in reason for reason in found), found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda d: [one.update({"spared_from": []}) for one in d["strategies"] if one["id"] != "closing"],
            "tired respondents are let go at once",
        ),
        (lambda d: d["vetoes"][0]["params"].update({"strategies": []}), "it vetoes nothing"),
        (lambda d: d.update({"uncovered": []}), "cover_element is never about an element"),
        (lambda d: [one["multipliers"].update({"ease": 0}) for one in d["phases"]], "ease as a candidate"),
        (lambda d: d["phases"][-1]["multipliers"].update({"closing": 0}), "the last phase never closes"),
        (lambda d: d["phases"][0].update({"turns": 199}), "never comes: interviews have 200 turns at the most"),
    ],
)
def test_odd_thing_in_the_file_gives_cause_for_caution(change: Any, words: str) -> None:
    data = parse(TEXT, "two_tier.yaml").data
    change(data)
    file, _ = read_engine(yaml.safe_dump(data, allow_unicode=True), "two_tier.yaml", "two_tier")
    (caution,) = TwoTier().cautions(file)
    assert words in caution.reason


@pytest.mark.parametrize(("turns", "names"), [(3, ("focused",)), (6, ("focused",)), (7, ()), (15, ()), (200, ())])
def test_phase_that_begins_too_late_is_left_out(turns: int, names: tuple[str, ...]) -> None:
    assert TwoTier().left_out(FILE, turns) == names


def test_file_of_no_engine_is_reported() -> None:
    with pytest.raises(ConfigError) as caught:
        read_engine(TEXT, "two_teir.yaml", "two_teir")
    assert "there is no decision engine `two_teir` that has a file; did you mean `two_tier`?" in str(caught.value)


@pytest.mark.parametrize("factor", [0.1, 7.0])
def test_weights_may_sum_to_anything_and_choose_the_same(factor: float) -> None:
    scorers = [{**rule, "weight": rule["weight"] * factor} for rule in SHIPPED["scorers"]]
    again = TwoTier().decide(scenario(engine_file=changed(scorers=scorers)))
    once = TwoTier().decide(scenario())
    assert [one.target for one in again.candidates] == [one.target for one in once.candidates]
    assert again.candidates[0].final_score == pytest.approx(factor * 1.21)
    file = TwoTierFile.model_validate(changed(scorers=scorers))
    assert [caution.reason for caution in TwoTier().cautions(file)] == [
        f"the weights sum to {factor:g}: a candidate that is neutral in everything scores that, not 1"
    ]
    assert TwoTier().cautions(FILE) == []


def test_strategy_asks_as_the_methodology_does_where_it_has_the_same() -> None:
    own = configuration().model_copy(update={"engine_file": SHIPPED})
    table = TwoTier().strategies(own)
    assert [s.name for s in table] == [one["id"] for one in SHIPPED["strategies"]]
    assert (table.elements, table.topics) == ("cover_element", "broaden")
    assert table.closing is not None
    assert table.closing.name == "closing"
    asks = {"en": [{"ask": "And what for?"}]}
    lending = small_methodology(
        strategies=[{"name": "deepen", "signal_weights": {"llm.engagement": 0.5}, "templates": asks}]
    )
    lent = TwoTier().strategies(own.model_copy(update={"methodology": lending}))["deepen"].templates
    assert [form.ask for form in lent["en"]] == ["And what for?"]
    assert [form.ask for form in lent["de"]] == [form.ask for form in table["deepen"].templates["de"]]


async def test_interview_is_led_to_its_end() -> None:
    plain = configuration()
    concept = plain.concept.model_copy(update={"elements": (TASTE, TEXTURE), "engine": "two_tier"})
    interview = Interview(
        configuration=plain.model_copy(update={"concept": concept, "engine_file": SHIPPED}),
        state=new_state(engine="two_tier"),
    )
    await lead(interview)
    assert interview.state.status == "completed"
    asked = [entry.strategy for entry in interview.state.focus_history]
    assert {"cover_element", "deepen", "closing"} <= set(asked)
    assert asked[-1] == "closing"
    assert interview.state.phase == "closing"


@pytest.mark.parametrize("rule", SHIPPED["scorers"], ids=lambda rule: str(rule["id"]))
def test_file_that_comes_along_says_the_numbers_that_hold_without_it(rule: dict[str, Any]) -> None:
    form = SCORERS[rule["class"]].params
    assert form.model_validate(rule["params"]) == form()
    numbers = {name for name, field in form.model_fields.items() if not isinstance(field.default, bool | tuple)}
    assert set(rule["params"]) == numbers


def test_weightiest_concepts_of_an_answer_are_candidates_and_others_are_not() -> None:
    nodes = [node("box", 2, salience=2), node("dad", 2, salience=2), node("tin", 2, salience=1), node("old", 1)]
    told = decide(nodes=nodes, strategies=["broaden"], answers={2: "The box, my dad, a tin."})
    assert {one.node_key for one in told.candidates if one.strategy == "deepen"} == {"box", "dad"}
    assert len([one for one in told.candidates if one.strategy == "contrast"]) == 1


def test_small_words_are_not_what_is_followed() -> None:
    nodes = [node("n1", 2, label="not", salience=3), node("n2", 2, label="the proudest sentence", salience=2)]
    told = decide(nodes=nodes, strategies=["broaden"], answers={2: "Because I'm not. The proudest sentence."})
    assert {one.node_key for one in told.candidates if one.strategy == "deepen"} == {"n2"}
    alone = decide(nodes=nodes[:1], strategies=["broaden"], answers={2: "Because I'm not."})
    assert {one.node_key for one in alone.candidates if one.strategy == "deepen"} == {"n1"}


def test_contrast_is_only_of_what_was_just_said() -> None:
    told = decide(nodes=[node("milk", 1)], strategies=["broaden"], answers={2: "I see."})
    found = {one.strategy for one in told.candidates}
    assert "deepen" in found
    assert "contrast" not in found


@pytest.mark.parametrize(
    ("label", "there"),
    [("the price of milk", True), ("milk", True), ("not the one who brings the papers", False), ("king of the", False)],
)
def test_nobody_is_led_back_to_a_piece_of_a_sentence(label: str, there: bool) -> None:
    nodes = [node("old", 1, label=label), node("new", 6, label="cup")]
    told = decide(nodes=nodes, strategies=["broaden"] * 5, answers={1: f"It was {label}.", 6: "A cup."})
    assert ("bridge" in {one.strategy for one in told.candidates}) is there


def test_who_has_reached_the_top_is_asked_for_something_else() -> None:
    nodes = [node("peace", 2, label="at peace with myself", salience=3), node("early", 1, label="milk")]
    said = "Then I'm at peace with myself, and I don't know what would be above that. That's the top shelf for me."
    told = decide(nodes=nodes, strategies=["deepen"], answers={2: said})
    deeper = candidate(told, "deepen")
    assert deeper.final_score is None
    assert "no more to say" in deeper.terms[0].reason
    assert told.strategy not in ("deepen", "contrast")
    more = decide(nodes=nodes, strategies=["deepen"], answers={2: "Then I'm at peace with myself, and I like that."})
    assert candidate(more, "deepen").final_score is not None


def test_what_was_asked_about_is_finished_although_it_was_not_named_again() -> None:
    asked = FocusEntry(turn=1, strategy="deepen", key="milk", target=Target.node("milk", "milk"))
    told = inputs([node("milk", 1)], questions=(asked,), turn_count=2, answers={2: "That's all, really."})
    assert candidate(TwoTier().decide(told), "deepen").final_score is None


def test_following_something_fresh_is_not_left_for_variety() -> None:
    fresh, stale = node("dad", 4, salience=2), node("dad", 4, salience=2, mentions=2)
    values = [
        next(term.value for term in candidate(told, "deepen").terms if term.name == "strategy_diversity")
        for told in (
            decide(nodes=[one], strategies=["deepen"] * 3, answers={4: "My dad was like that."})
            for one in (fresh, stale)
        )
    ]
    assert values == [1.0, 0.4]


def test_no_question_of_the_file_puts_pieces_of_answers_in_it() -> None:
    for strategy in SHIPPED["strategies"]:
        for form in strategy["templates"]["en"]:
            assert strategy["id"] == "cover_element" or "{element}" not in form["ask"], form["ask"]
            assert "“" not in form["ask"]


def test_story_is_gone_back_to_as_a_story() -> None:
    forms = next(s for s in SHIPPED["strategies"] if s["id"] == "broaden")["templates"]["en"]
    assert all("{topic}" not in form["ask"] for form in forms if form["stories"] is not False)
    assert {form["stories"] for form in forms} == {True, False, None}


def test_first_thing_that_is_said_is_followed_however_little_it_weighs() -> None:
    said = {1: "Mornings with my daughter, really. Breakfast is whatever works in that time."}
    first = decide(nodes=[node("time", 1, salience=1)], answers=said)
    assert (first.strategy, first.node_key) == ("deepen", "time")
    debris = decide(nodes=[node("time", 1, salience=0)], answers=said)
    assert debris.strategy == "broaden"


def test_nobody_is_led_back_from_an_answer_of_which_nothing_was_understood() -> None:
    asked, nodes = ["deepen", "broaden"] * 3, [node("milk", 1), node("foam", 2)]
    lost = decide(nodes=nodes, strategies=asked, answers={7: "Warm, like when you come into a kitchen."})
    assert "bridge" not in {one.strategy for one in lost.candidates}
    heard = decide(nodes=[*nodes, node("warm", 7)], strategies=asked, answers={7: "Warm, like a kitchen."})
    assert "bridge" in {one.strategy for one in heard.candidates}

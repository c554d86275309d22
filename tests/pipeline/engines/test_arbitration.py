"""Engine `arbitration`: what applies, what it is multiplied by, how phases emerge, and when it closes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from config.enginefiles import read_engine
from config.yamlfile import ConfigError, parse
from pipeline.concept import Element
from pipeline.coverage import ElementCoverage
from pipeline.engines.arbitration import Arbitration
from pipeline.engines.arbitration.engine import multiplied
from pipeline.engines.arbitration.file import ArbitrationFile
from pipeline.engines.arbitration.moment import Moment, traced
from pipeline.engines.arbitration.scorers import SCORERS
from pipeline.engines.base import Decision, DecisionInputs, ScoredCandidate, total
from pipeline.focus import Target
from pipeline.graph.surface import KGNode, SchemaTension, SurfaceGraph
from pipeline.momentum import MomentumState
from pipeline.ports import QualitativeSignals
from pipeline.state import FocusEntry
from tests.support.engine_turns import candidate, edge, lead, mistakes, node, shipped_text, turn_of
from tests.support.interview import Interview, configuration, new_state, small_methodology

TEXT = shipped_text("arbitration")
FILE = ArbitrationFile.model_validate(parse(TEXT, "arbitration.yaml").data)
SHIPPED: dict[str, Any] = FILE.model_dump(mode="json", by_alias=True)
TASTE, PRICE = Element(id="taste", label="the taste"), Element(id="price", label="the price")
LOW = MomentumState(levels=("low",))
TIRED = MomentumState(levels=("low",) * 3, mean=0.2, consecutive_low=3)
COVERED = tuple(
    ElementCoverage(element_id=name, mentioned=2, reactions=("positive",), comprehension=1.0)
    for name in ("taste", "price")
)


def inputs(*parts: Any, **changes: Any) -> DecisionInputs:
    """A turn with the file as it comes along; `turn_of` tells the rest."""
    return turn_of(changes.pop("engine_file", SHIPPED), *parts, **{"max_turns": 20, **changes})


def decide(*nodes: KGNode, **changes: Any) -> Decision:
    return Arbitration().decide(inputs(nodes, **changes))


def changed(**parts: Any) -> dict[str, Any]:
    return {**SHIPPED, **parts}


def scorer(kind: str, name: str, weight: float = 1.0, **params: Any) -> dict[str, Any]:
    return {"id": name, "class": kind, "weight": weight, "params": params}


def factor(one: ScoredCandidate, name: str) -> Any:
    return next(term.value for term in one.terms if term.name == name)


def moment(*nodes: KGNode, **changes: Any) -> Moment:
    return Moment(inputs(nodes, **changes), (), FILE)


def labels(found: Sequence[Any]) -> list[str]:
    return [one.label for one in found]


def test_score_is_the_base_times_multipliers_to_the_power_of_their_weights() -> None:
    assert multiplied(1.0, [(2.0, 1.0)]) == 2.0
    assert multiplied(1.0, [(2.0, 1.0), (1.5, 1.0)]) == 3.0
    assert round(multiplied(1.0, [(2.0, 1.0), (1.5, 1.0), (1.2, 0.8)]), 3) == 3.471


def test_candidate_with_two_boosts_and_a_weaker_one_scores_the_same_with_its_terms() -> None:
    scorers = [
        scorer("VerticalLaddering", "one", boost=2.0),
        scorer("MomentumAlignment", "two", neutral={"depth": 1.5}),
        scorer("MomentumAlignment", "three", 0.8, neutral={"depth": 1.2}),
    ]
    one = candidate(decide(node("milk"), engine_file=changed(scorers=scorers)), "deepen_branch")
    assert [(term.name, term.value, term.weight) for term in one.amounts("multiplied")] == [
        ("one", 2.0, 1.0),
        ("two", 1.5, 1.0),
        ("three", 1.2, 0.8),
    ]
    assert one.final_score is not None
    assert round(one.final_score, 3) == 3.471
    assert one.final_score == total(one.terms)


def test_multiplier_of_zero_rules_a_candidate_out_whatever_its_weight() -> None:
    assert multiplied(1.0, [(9.0, 1.0), (0.0, 0.1)]) == 0.0


@pytest.mark.parametrize(("boost", "logged"), [(9.0, False), (10.0, True)])
def test_score_above_ten_is_logged(boost: float, logged: bool) -> None:
    scorers = [
        scorer("VerticalLaddering", "one", boost=boost),
        scorer("MomentumAlignment", "two", neutral={"depth": 1.1}),
    ]
    with capture_logs() as logs:
        decide(node("milk"), engine_file=changed(scorers=scorers))
    assert [entry["event"] for entry in logs] == (["arbitration.high_score"] if logged else [])


def test_views_tell_isolated_terminal_and_unexplored_concepts_apart() -> None:
    nodes = [node("a"), node("b"), node("c"), node("d"), node("peace", kind="value")]
    found = moment(*nodes, edges=[edge("a", "b"), edge("b", "c")]).views
    assert labels(found.isolated) == ["d", "peace"]
    assert labels(found.terminal) == ["peace"]
    assert labels(found.unexplored) == ["a", "c", "d"]
    asked = FocusEntry(turn=1, strategy="explore_breadth", key="d", target=Target.node("d", "d"))
    assert labels(moment(*nodes, questions=(asked,)).views.unexplored) == ["a", "b", "c"]


def test_guessed_relation_counts_against_isolation_but_for_no_branch() -> None:
    found = moment(node("a"), node("b", 2), edges=[edge("a", "b", "inferred")]).views
    assert found.isolated == ()
    assert labels(found.active_branch) == ["b"]


def test_ambiguous_is_what_has_only_vague_words_or_is_said_thinking_aloud() -> None:
    found = moment(node("n", label="good stuff"), node("m", label="good foam"))
    assert labels(found.views.ambiguous) == ["good stuff"]
    aloud = QualitativeSignals(uncertainty="productive")
    thinking = moment(node("old", 1), node("new", 2), turn_count=2, answers={2: "Hm"}, qualitative=(None, aloud))
    assert labels(thinking.views.ambiguous) == ["new"]


@pytest.mark.parametrize(
    ("language", "unclear"),
    [("en", ["good stuff"]), ("de", ["gute Sache"]), ("de-AT", ["gute Sache"]), ("ar", ["شيء جيد"]), ("fr", [])],
)
def test_vague_words_are_those_of_the_language_of_the_interview(language: str, unclear: list[str]) -> None:
    views = {**SHIPPED["views"], "vague": {**SHIPPED["views"]["vague"], "de": ["gute", "sache"]}}
    file = ArbitrationFile.model_validate(changed(views=views))
    said = [node("n", label="good stuff"), node("m", label="gute Sache"), node("o", label="شيء جيد")]
    assert labels(Moment(inputs(said, language=language), (), file).views.ambiguous) == unclear


def test_active_branch_goes_back_along_the_newest_sources() -> None:
    nodes = [node("a", 1), node("b", 2), node("c", 3), node("d", 4)]
    edges = [edge("a", "d"), edge("c", "d"), edge("b", "c")]
    assert labels(moment(*nodes, edges=edges).views.active_branch) == ["d", "c", "b"]


@pytest.mark.parametrize("edges", [[("a", "b"), ("b", "a")], [("a", "a")], [("a", "b"), ("b", "c"), ("c", "a")]])
def test_active_branch_ends_in_a_circle(edges: list[tuple[str, str]]) -> None:
    graph = SurfaceGraph([node("a", 3), node("b", 2), node("c", 1)], [edge(*ends) for ends in edges])
    branch = traced(graph, "a")
    assert branch[0] == "a"
    assert len(set(branch)) == len(branch)


def test_branch_counts_wordings_of_one_concept_once() -> None:
    graph = [node("slot", 3), node("other", 2), node("again", 1)]
    told = inputs(graph[:2], edges=[edge("other", "slot"), edge("again", "other")], members={"slot": ("slot", "again")})
    told = replace(told, graph=SurfaceGraph(graph, [edge("other", "slot"), edge("again", "other")]))
    assert labels(Moment(told, (), FILE).views.active_branch) == ["slot", "other"]


def test_coverage_comes_first_and_a_new_element_counts_most() -> None:
    decision = decide(node("milk", salience=1, mentions=2), elements=(TASTE, PRICE), coverage=(COVERED[0],))
    assert (decision.strategy, decision.phase, decision.tactic) == ("ensure_coverage", "coverage", "price_probe")
    assert decision.target == Target(kind="element", ids=("price",), label="the price")
    assert factor(decision.candidates[0], "coverage_quality") == 2.5
    assert "nobody spoke of the price yet ×2.50" in decision.reason


def test_something_weighty_that_was_just_brought_up_is_followed_before_the_next_element() -> None:
    elements: dict[str, Any] = {"elements": (TASTE, PRICE), "coverage": (COVERED[0],), "turn_count": 3}
    decision = decide(node("fear", 3, salience=3), **elements)
    assert (decision.strategy, decision.target.label if decision.target else "") == ("deepen_branch", "fear")
    assert factor(decision.candidates[0], "momentum_alignment") == 2.6
    assert "it was just brought up" in decision.reason
    followed = decide(node("fear", 3, salience=3), strategies=["deepen_branch"] * 2, **elements)
    assert followed.strategy == "ensure_coverage"
    late = decide(node("fear", 18, salience=3), **{**elements, "turn_count": 18})
    assert (late.strategy, late.tactic) == ("ask_side", "hindrance")


@pytest.mark.parametrize(
    ("entry", "tactic", "value"),
    [
        ({"mentioned": 2, "comprehension": 1.0}, "reaction_elicitation", 1.2),
        ({"mentioned": 2, "reactions": ("positive",)}, "specificity_probe", 0.5),
        ({}, "open_element_probe", 2.5),
    ],
)
def test_gap_of_an_element_decides_how_it_is_asked_about(entry: dict[str, Any], tactic: str, value: float) -> None:
    known = ElementCoverage(element_id="taste").model_copy(update=entry)
    one = candidate(decide(elements=(TASTE,), coverage=(known,)), "ensure_coverage")
    assert (one.tactic, factor(one, "coverage_quality")) == (tactic, value)


def test_element_that_should_be_connected_is_asked_about_with_the_rest() -> None:
    apart = Element(id="taste", label="the taste", connection_requirements=("price",))
    one = candidate(decide(elements=(apart, PRICE), coverage=COVERED), "ensure_coverage")
    assert (one.tactic, factor(one, "coverage_quality")) == ("relationship_probe", 0.6)


@pytest.mark.parametrize("reason", ["exhausted", "declined"])
def test_element_that_was_asked_enough_or_declined_is_left_and_reported(reason: str) -> None:
    known = ElementCoverage(element_id="taste").model_copy(update={reason: True})
    decision = decide(node("milk"), elements=(TASTE,), coverage=(known,), turn_count=19)
    assert (decision.close, decision.strategy) == (True, "closing")
    assert decision.reason == "the turns are used; not covered: taste"
    assert "ensure_coverage" not in [one.strategy for one in decision.candidates]


def test_strategies_apply_to_what_the_views_show() -> None:
    nodes = [node("milk", 2), node("foam", 1), node("stuff", 1), node("cup", 1)]
    tension = SchemaTension(id="t1", turn=1, utterance_id="u", source="cup", type="leads_to", reason="no")
    told = inputs(
        nodes,
        turn_count=2,
        edges=[edge("foam", "milk")],
        tensions=(tension.model_copy(update={"node_ids": ("cup", "foam")}),),
    )
    found = {(one.strategy, one.target.label if one.target else "") for one in Arbitration().decide(told).candidates}
    assert found == {
        ("resolve_ambiguity", "stuff"),
        ("connect_isolate", "stuff"),
        ("connect_isolate", "cup"),
        ("resolve_schema_tension", "“cup” and “foam”"),
        ("deepen_branch", "milk"),
        ("explore_breadth", "foam"),
        ("explore_breadth", "stuff"),
        ("explore_breadth", "cup"),
    }


def test_depth_ends_at_a_terminal_type_and_leads_to_breadth() -> None:
    nodes = [node("milk", 1), node("peace", 2, kind="value")]
    decision = decide(*nodes, turn_count=2)
    assert "deepen_branch" not in [one.strategy for one in decision.candidates]
    assert (decision.strategy, decision.phase) == ("explore_breadth", "breadth")


def test_branch_is_stale_after_two_questions_that_went_deeper() -> None:
    nodes = [node("milk", 3), node("foam", 1)]
    once = decide(*nodes, strategies=["explore_breadth", "deepen_branch"])
    twice = decide(*nodes, strategies=["deepen_branch", "deepen_branch"])
    for decision, breadth, depth in ((once, 1.0, 1.0), (twice, 2.0, 0.5)):
        assert factor(candidate(decision, "explore_breadth"), "branch_health") == breadth
        assert factor(candidate(decision, "deepen_branch"), "branch_health") == depth
    assert (once.strategy, twice.strategy) == ("deepen_branch", "explore_breadth")


def test_laddering_goes_on_until_an_end_of_the_branch_was_reached() -> None:
    up = decide(node("milk"))
    assert factor(candidate(up, "deepen_branch"), "vertical_laddering") == 1.5
    nodes = [node("peace", 1, kind="value"), node("milk", 2)]
    done = decide(*nodes, edges=[edge("peace", "milk")], turn_count=2)
    assert factor(candidate(done, "deepen_branch"), "vertical_laddering") == 0.3
    other = small_methodology()
    ends = other.ontology.model_copy(
        update={"nodes": tuple(one.model_copy(update={"terminal": False}) for one in other.ontology.nodes)}
    )
    endless = other.model_copy(update={"ontology": ends})
    again = decide(*nodes, edges=[edge("peace", "milk")], turn_count=2, methodology=endless)
    assert factor(candidate(again, "deepen_branch"), "vertical_laddering") == 1.5


@pytest.mark.parametrize(
    ("state", "depth"),
    [(MomentumState(levels=("high",)), 1.4), (MomentumState(), 1.0), (LOW, 0.6), (TIRED, 0.4)],
)
def test_momentum_decides_how_much_is_asked_of_the_respondent(state: MomentumState, depth: float) -> None:
    told = inputs([node("milk", mentions=2), node("foam", mentions=2)], momentum=state, max_turns=20)
    one = candidate(Arbitration().decide(told), "deepen_branch")
    assert factor(one, "momentum_alignment") == depth


def test_strategy_that_was_used_lately_counts_less() -> None:
    used = decide(node("milk", 3), strategies=["deepen_branch", "explore_breadth"])
    assert factor(candidate(used, "deepen_branch"), "recency_diversity") == 0.85
    assert factor(candidate(decide(node("milk")), "deepen_branch"), "recency_diversity") == 1.0


@pytest.mark.parametrize(
    ("question", "closeness", "value"),
    [
        ("What of the creamy foam?", 0.0, 0.2),
        ("What of the creamy foam in winter?", 0.0, 1.0),
        ("How is that?", 0.85, 0.2),
        ("How is that?", 0.84, 1.0),
    ],
)
def test_question_that_was_asked_counts_little(question: str, closeness: float, value: float) -> None:
    told = decide(
        node("foam", label="creamy foam"),
        question_texts=(question,),
        closeness={"Deepen: why creamy foam matters": (closeness,)},
    )
    assert factor(candidate(told, "deepen_branch"), "redundancy") == value


def test_short_vague_questions_are_no_repetition_of_each_other() -> None:
    told = decide(node("think"), question_texts=("What do you mean?",))
    assert factor(candidate(told, "deepen_branch"), "redundancy") == 1.0


def test_ceiling_rules_out_what_the_respondent_knows_no_more_of() -> None:
    asked = FocusEntry(turn=1, strategy="deepen_branch", key="milk", target=Target.node("milk", "milk"))
    told = inputs([node("milk"), node("foam")], questions=(asked,), turn_count=2, answers={2: "I don't know."})
    decision = Arbitration().decide(told)
    assert candidate(decision, "explore_breadth", "foam").final_score
    assert all(one.final_score == 0 for one in decision.candidates if one.target and one.target.label == "milk")
    curious = replace(told, answers={2: "I don't know, but I wonder how it's made."})
    assert all(one.final_score for one in Arbitration().decide(curious).candidates)


def test_tension_waits_until_there_is_enough_around_it() -> None:
    nodes = [node(name) for name in ("a", "b", "c", "d", "e", "f")]
    tension = SchemaTension(
        id="t1", turn=1, utterance_id="u", source="a", type="leads_to", reason="no", node_ids=("a", "b")
    )
    early = decide(*nodes, tensions=(tension,), turn_count=4)
    ready = decide(*nodes, tensions=(tension,), turn_count=5)
    few = decide(*nodes[:5], tensions=(tension,), turn_count=5)
    values = [
        factor(candidate(one, "resolve_schema_tension"), "schema_tension_readiness") for one in (early, ready, few)
    ]
    assert values == [0.3, 1.5, 0.3]
    asked = FocusEntry(turn=1, strategy="resolve_schema_tension", target=Target(kind="tension", ids=("t1",)))
    done = decide(*nodes, tensions=(tension,), turn_count=5, questions=(asked,))
    assert "resolve_schema_tension" not in [one.strategy for one in done.candidates]


def test_looking_back_waits_for_ends_and_is_asked_once() -> None:
    ends = [node("peace", kind="value"), node("freedom", kind="value")]
    before = candidate(decide(*ends, turn_count=6), "reflect")
    after = candidate(decide(*ends, turn_count=7), "reflect")
    one = candidate(decide(ends[0], turn_count=7), "reflect")
    assert [factor(each, "reflection_mode") for each in (before, after, one)] == [0.4, 2.0, 0.4]
    used = decide(*ends, strategies=["reflect"] + ["explore_breadth"] * 6, momentum=MomentumState(levels=("high",)))
    assert "reflect" not in [each.strategy for each in used.candidates]


def test_new_ground_is_opened_only_where_nothing_else_applies() -> None:
    decision = decide()
    assert [one.strategy for one in decision.candidates] == ["introduce_seed"]
    assert (decision.phase, decision.tactic) == ("seeding", "open_probe")
    again = decide(strategies=["introduce_seed"])
    assert again.tactic == "hypothetical_probe"
    assert "introduce_seed" not in [one.strategy for one in decide(node("milk")).candidates]


def test_new_ground_is_opened_where_there_is_only_an_early_end_to_look_back_at() -> None:
    decision = decide(node("peace", 1, kind="value"), turn_count=1)
    assert decision.strategy == "introduce_seed"
    assert "reflect" in [one.strategy for one in decision.candidates]


def test_guide_is_followed_without_elements_and_closing_comes_when_nothing_is_left() -> None:
    topic = Target(kind="topic", ids=("drawback",), label="What is disliked")
    seeded = ["introduce_seed"] * 3
    guided = decide(strategies=seeded, topic=topic)
    assert (guided.strategy, guided.target) == ("follow_guide", topic)
    over = decide(strategies=seeded)
    assert (over.strategy, over.close, over.reason) == ("closing", True, "nothing is left to ask")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"turn_count": 19}, "the turns are used"),
        ({"turn_count": 18}, None),
        ({"turn_count": 8, "max_turns": 9}, "the turns are used"),
        ({"turn_count": 19, "max_turns": 0}, "the turns are used"),
        ({"turn_count": 18, "max_turns": 30}, None),
        ({"momentum": TIRED, "coverage": COVERED}, "the respondent is tired, and enough was covered"),
        ({"momentum": TIRED, "coverage": COVERED[:1]}, None),
        ({"momentum": LOW, "coverage": COVERED}, "everything was covered and explored, and momentum is low"),
        ({"momentum": LOW, "coverage": COVERED, "nodes": [node("foam", 4)]}, None),
        ({"momentum": MomentumState(), "coverage": COVERED}, None),
        ({"momentum": TIRED, "coverage": COVERED, "turn_count": 4, "nodes": [node("foam")]}, None),
    ],
)
def test_closing_depends_on_turns_fatigue_and_coverage(changes: dict[str, Any], reason: str | None) -> None:
    nodes = changes.pop("nodes", [])
    told = inputs(nodes, **{"elements": (TASTE, PRICE), "turn_count": 5, **changes})
    decision = Arbitration().decide(told)
    assert decision.close is (reason is not None)
    if reason is not None:
        assert decision.reason.startswith(reason)
        assert decision.phase == "closing"


def test_brief_respondent_without_elements_is_kept_while_the_guide_is_open() -> None:
    topic = Target(kind="topic", ids=("drawback",), label="What is disliked")
    assert not decide(momentum=TIRED, turn_count=6, topic=topic).close
    assert decide(momentum=TIRED, turn_count=6).close


@pytest.mark.parametrize("momentum", [MomentumState(), TIRED])
def test_nobody_is_sent_away_early_for_knowing_no_more_of_the_only_concept(momentum: MomentumState) -> None:
    asked = FocusEntry(turn=1, strategy="deepen_branch", key="milk", target=Target.node("milk", "milk"))
    told = inputs([node("milk")], questions=(asked,), answers={2: "I don't know."}, momentum=momentum)
    early = Arbitration().decide(replace(told, turn_count=2))
    assert (early.strategy, early.close) == ("introduce_seed", False)
    assert early.candidates[0].selected and early.candidates[0].final_score


@pytest.mark.parametrize("factor", [".nan", "-2.0", "1e308"])
def test_factors_that_no_score_can_have_are_refused(factor: str) -> None:
    text = TEXT.replace("params: {lead: 2.6}", f"params: {{neutral: {{other: {factor}}}}}")
    with pytest.raises(ConfigError, match="neutral"):
        read_engine(text, "arbitration.yaml", "arbitration")


def test_phases_emerge_from_what_applies() -> None:
    elements = {"elements": (TASTE,)}
    opened = decide(node("milk", salience=1, mentions=2), **elements)
    deep = decide(node("milk"), coverage=COVERED[:1], **elements)
    wide = decide(node("milk", 3), node("foam"), strategies=["deepen_branch"] * 2, coverage=COVERED[:1], **elements)
    sown = decide(strategies=["ask_side"] * 6, coverage=COVERED[:1], **elements)
    shut = decide(coverage=COVERED[:1], turn_count=19, **elements)
    phases = [one.phase for one in (opened, deep, wide, sown, shut)]
    assert phases == ["coverage", "depth", "breadth", "seeding", "closing"]


@pytest.mark.parametrize(
    "wish",
    [
        {"strategy": "no_such"},
        {"strategy": "ensure_coverage"},
        {"target": Target.node("gone", "gone")},
        {"strategy": "no_such", "target": Target.node("gone", "gone")},
    ],
)
def test_wish_that_restricts_nothing_does_not_keep_an_interview_from_its_end(wish: dict[str, Any]) -> None:
    nodes = [node("milk"), node("foam")]
    assert decide(*nodes, turn_count=19, **wish).close
    assert decide(*nodes, turn_count=19, target=Target.node("milk", "")).target == Target.node("milk", "milk")
    seeded = ["introduce_seed"] * 3
    assert decide(strategies=seeded, **wish).reason == "nothing is left to ask"


def test_moderator_gets_what_they_ask_for_where_it_applies() -> None:
    nodes = [node("milk"), node("foam")]
    assert decide(*nodes, strategy="deepen_branch", turn_count=19).strategy == "deepen_branch"
    assert decide(*nodes, target=Target.node("milk", "")).target == Target.node("milk", "milk")
    assert decide(*nodes, strategy="closing").close
    assert decide(*nodes, strategy="ensure_coverage").candidates == decide(*nodes).candidates


@given(
    st.lists(st.sampled_from(["deepen_branch", "explore_breadth", "reflect", "must_ask"]), max_size=22),
    st.integers(0, 6),
    st.integers(0, 4),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=10),
)
def test_decision_never_fails_and_its_scores_are_the_totals_of_their_terms(
    asked: list[str], count: int, elements: int, ends: list[tuple[int, int]]
) -> None:
    told = inputs(
        [node(f"n{number}", number + 1) for number in range(count)],
        asked,
        edges=[edge(f"n{a}", f"n{b}") for a, b in dict.fromkeys(ends) if max(a, b) < count],
        elements=tuple(Element(id=f"e{number}", label=f"element {number}") for number in range(elements)),
    )
    decision = Arbitration().decide(told)
    assert decision == Arbitration().decide(told)
    assert all(one.final_score == total(one.terms) for one in decision.candidates)
    assert decision.candidates[0].selected
    assert len(decision.scores.of_others) == decision.candidate_count


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["scorers"][0].update({"weight": 0}), "greater than 0"),
        (lambda d: d["scorers"][0].update({"weight": 1.5}), "less than or equal to 1"),
        (
            lambda d: d["scorers"][0].update({"class": "Redundency"}),
            "no scorer Redundency; did you mean Redun",
        ),
        (lambda d: d["scorers"][0].update({"params": {"treshold": 1}}), "extra inputs are not permitted"),
        (lambda d: [rule.update({"enabled": False}) for rule in d["scorers"]], "no scorer is enabled"),
        (lambda d: d["strategies"].pop(), "0 enabled strategies apply to `closing`"),
        (lambda d: d.update({"strategies": d["strategies"][-1:]}), "nothing to choose from but closing"),
        (lambda d: d["strategies"].append(d["strategies"][0]), "ensure_coverage is there twice"),
        (lambda d: d["strategies"][0].update({"applies": "sometimes"}), "input should be"),
        (lambda d: d["strategies"][0].update({"tactics": []}), "at least 1 item"),
        (lambda d: d["strategies"][0]["tactics"].append(d["strategies"][0]["tactics"][0]), "probe is there twice"),
        (lambda d: d["scorers"][0]["params"].update({"threshold": 0}), "greater than 0"),
        (lambda d: d["scorers"][2].update({"params": {"low": {"deph": 1.0}}}), "'depth'"),
        (lambda d: d["scorers"][2].update({"params": {"neutral": {"other": 0}}}), "rules every strategy out"),
        (
            lambda d: [one.update({"enabled": one["id"] == "closing"}) for one in d["strategies"]],
            "nothing to choose from but closing",
        ),
    ],
)
def test_mistake_in_the_file_is_reported(change: Any, words: str) -> None:
    found = mistakes("arbitration", change)
    assert any(words in reason for reason in found), found


def test_file_that_comes_along_names_every_scorer_and_gives_no_cause_for_caution() -> None:
    assert {rule["class"] for rule in SHIPPED["scorers"]} == set(SCORERS)
    assert len(SCORERS) == 10
    assert Arbitration().cautions(FILE) == []
    odd = parse(TEXT.replace("How do you feel about {element}?", "How do you feel about {gadget}?"), "a.yaml").data
    (caution,) = Arbitration().cautions(ArbitrationFile.model_validate(odd))
    assert caution.reason == "unknown placeholder {gadget}: it stays empty"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["strategies"][1]["tactics"][0].update({"gaps": ["no_reaction"]}), "without effect"),
        (lambda d: d["ending"].update({"fatigue_coverage": 1}), "a tired respondent is not let go"),
    ],
)
def test_odd_thing_in_the_file_gives_cause_for_caution(change: Any, words: str) -> None:
    data = parse(TEXT, "arbitration.yaml").data
    change(data)
    file, _ = read_engine(yaml.safe_dump(data, allow_unicode=True), "arbitration.yaml", "arbitration")
    (caution,) = Arbitration().cautions(file)
    assert words in caution.reason


def test_strategy_asks_by_its_tactic() -> None:
    table = Arbitration().strategies(configuration().model_copy(update={"engine_file": SHIPPED}))
    assert (table.elements, table.topics) == ("ensure_coverage", "follow_guide")
    asked = table.by_tactic("ensure_coverage", "reaction_elicitation")
    assert asked is not None
    assert asked.name == "ensure_coverage"
    assert "And where do you stand on {element}?" in [form.ask for form in asked.templates["en"]]
    assert "What do you make of {element}?" not in [form.ask for form in asked.templates["en"]]
    assert table.by_tactic("ensure_coverage", "unknown") == table["ensure_coverage"]
    assert table.by_tactic("nothing", "") is None


async def test_interview_is_led_to_its_end() -> None:
    plain = configuration()
    concept = plain.concept.model_copy(update={"elements": (TASTE, PRICE), "engine": "arbitration"})
    interview = Interview(
        configuration=plain.model_copy(update={"concept": concept, "engine_file": SHIPPED}),
        state=new_state(engine="arbitration", max_turns=12),
    )
    await lead(interview)
    assert interview.state.status == "completed"
    asked = [entry.strategy for entry in interview.state.focus_history]
    assert {"ensure_coverage", "ask_side", "closing"} <= set(asked)
    assert asked[-1] == "closing"
    request = next(one for one in interview.writer.requests if one.strategy and one.strategy.name == "ensure_coverage")
    assert request.strategy is not None
    assert request.strategy.description == "Ask openly about this part of the concept."

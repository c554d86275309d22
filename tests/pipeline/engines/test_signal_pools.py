"""Weights, decomposition, ties, phases: engine `signal_pools`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.engines.base import Decision, DecisionInputs, ScoredCandidate, Term, in_terms, total
from pipeline.engines.signal_pools import SignalPools, strength
from pipeline.methodology import Methodology
from pipeline.repeating import inputs_of
from pipeline.signals.base import NodeColumns, SignalMatrix
from pipeline.signals.registry import check, weight_key
from tests.support.interview import Interview, concepts, small_methodology

NODE = "graph.node.exhaustion_score"


def matrix(
    values: dict[str, Any] | None = None, phase: str = "mid", per: dict[str, Any] | None = None, **columns: Any
) -> SignalMatrix:
    keys = tuple(columns.pop("keys", ()))
    count = len(keys)
    return SignalMatrix(
        values=values or {},
        strategies=per or {},
        nodes=NodeColumns(
            keys=keys,
            labels=keys,
            node_types=("attribute",) * count,
            sequence=tuple(columns.pop("sequence", range(count))),
            mention_sequence=tuple(columns.pop("mentions", range(count))),
            signals=columns.pop("signals", {}),
        ),
        phase=phase,
    )


def methodology(*strategies: dict[str, Any], **changes: Any) -> Methodology:
    return small_methodology(strategies=list(strategies), **{"phases": {}, **changes})


def decide(of: Methodology, signals: SignalMatrix) -> Decision:
    return SignalPools().decide(DecisionInputs(of, signals))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("llm.engagement", 0.5, 0.5),
        ("llm.engagement.low", 0.25, 1),
        ("llm.engagement.low", 0.26, 0),
        ("llm.engagement.mid", 0.26, 1),
        ("llm.engagement.mid", 0.75, 0),
        ("llm.engagement.high", 0.75, 1),
        ("llm.response_depth.deep", "deep", 1),
        ("llm.response_depth.deep", "surface", 0),
        ("graph.chain_completion.has_complete", True, 1),
        ("graph.chain_completion.has_complete.false", False, 1),
        ("graph.chain_completion.has_complete.true", False, 0),
        ("graph.node_count", 15, 0.5),
        ("graph.node_count", 90, 1.0),
    ],
)
def test_weight_key_strength(key: str, value: Any, expected: float) -> None:
    assert strength(weight_key(key), value) == expected


@pytest.mark.parametrize(
    "key",
    ["llm.response_depth.low", "llm.response_depth", "llm.engagment", "graph.node_count.high", "llm.engagement.true"],
)
def test_weight_key_that_can_never_match_is_refused(key: str) -> None:
    with pytest.raises(ValueError):
        weight_key(key)


def test_check_names_every_dead_or_contradicting_entry() -> None:
    broken = methodology(
        {"name": "a", "signal_weights": {"llm.nonsense": 1, "llm.response_depth.low": 1, "graph.avg_depth": 1}},
        {"name": "a", "node_binding": "none", "signal_weights": {NODE: 1}},
        phases={"early": {"signal_weights": {"ghost": 2}, "phase_bonuses": {"spook": 1}}},
    )
    reasons = " | ".join(f"{problem.path}: {problem.reason}" for problem in check(broken))
    for expected in ("llm.nonsense", "never be 'low'", "not listed", "defined twice", "node_binding", "ghost", "spook"):
        assert expected in reasons
    assert check(small_methodology()) == []
    twice = small_methodology()
    ontology = twice.ontology.model_copy(update={"edges": (*twice.ontology.edges, twice.ontology.edges[0])})
    odd = twice.model_copy(update={"ontology": ontology, "canonical_min_support_nodes": {"atribute": 0}})
    reasons = " | ".join(problem.reason for problem in check(odd))
    for expected in ("leads_to is defined twice", "unknown node type atribute", "one node at the least"):
        assert expected in reasons


def test_final_score_base_07_times_2_plus_03_is_17() -> None:
    of = methodology(
        {"name": "a", "node_binding": "none", "signal_weights": {"llm.engagement": 0.7}},
        phases={"mid": {"signal_weights": {"a": 2.0}, "phase_bonuses": {"a": 0.3}}},
    )
    best = decide(of, matrix({"llm.engagement": 1.0})).candidates[0]
    assert [(term.kind, term.amount) for term in best.terms] == [("weighted", 0.7), ("multiplied", 2.0), ("bonus", 0.3)]
    assert best.final_score == pytest.approx(1.7)


def test_missing_signal_contributes_nothing() -> None:
    of = methodology({"name": "a", "node_binding": "none", "signal_weights": {"llm.engagement": 0.7}})
    assert decide(of, matrix()).candidates[0].amounts("weighted") == ()


def test_joint_fresh_node_before_deepening_an_exhausted_one() -> None:
    of = small_methodology()
    decision = decide(of, matrix({"llm.engagement": 0.5}, keys=("old", "new"), signals={NODE: (0.40, 0.0)}))
    assert (decision.strategy, decision.node_key) == ("deepen", "new")


def test_repetition_counts_against_the_strategy_that_repeats() -> None:
    repetition = {"temporal.strategy_repetition_count": {"a": 0.6, "b": 0.0}}
    weights = {"temporal.strategy_repetition_count": -1.0}
    of = methodology(
        {"name": "a", "node_binding": "none", "signal_weights": {**weights, "llm.engagement": 0.5}},
        {"name": "b", "node_binding": "none", "signal_weights": weights},
    )
    assert decide(of, matrix({"llm.engagement": 1.0}, per=repetition)).strategy == "b"


def test_ties_yaml_order_then_latest_mention_then_creation() -> None:
    flat = {"signal_weights": {"llm.engagement": 1.0}}
    of = methodology({"name": "z", **flat}, {"name": "a", **flat})
    decision = decide(of, matrix({"llm.engagement": 1.0}, keys=("x", "y", "w"), mentions=(4, 9, 9), sequence=(1, 3, 2)))
    assert [(c.strategy, c.node_key) for c in decision.candidates] == [
        ("z", "w"), ("z", "y"), ("z", "x"), ("a", "w"), ("a", "y"), ("a", "x"),
    ]  # fmt: skip


def test_strategy_without_node_stands_once_and_all_do_in_an_empty_graph() -> None:
    of = small_methodology()
    full = decide(of, matrix({"llm.engagement": 0.5}, keys=("x", "y"), signals={NODE: (0.0, 0.0)}))
    assert full.candidate_count == 2 + 1 + 1
    empty = decide(of, matrix({"llm.engagement": 0.5}))
    assert empty.candidate_count == 3 and all(c.node_key is None for c in empty.candidates)


def test_two_stage_strategy_first_then_node() -> None:
    of = methodology(
        {"name": "a", "signal_weights": {"llm.engagement": 0.1, NODE: 5.0}},
        {"name": "b", "signal_weights": {"llm.engagement": 1.0, NODE: -1.0}},
        selection="two_stage",
    )
    decision = decide(of, matrix({"llm.engagement": 1.0}, keys=("x", "y"), signals={NODE: (0.9, 0.2)}))
    assert (decision.strategy, decision.node_key) == ("b", "y")
    joint = decide(
        of.model_copy(update={"selection": "joint"}),
        matrix({"llm.engagement": 1.0}, keys=("x", "y"), signals={NODE: (0.9, 0.2)}),
    )
    assert (joint.strategy, joint.node_key) == ("a", "x")


values = st.floats(0, 1, allow_nan=False)


@given(st.lists(values, min_size=1, max_size=30), values, values)
def test_decision_any_signals_is_the_maximum_and_adds_up(scores: list[float], engagement: float, repeat: float) -> None:
    of = small_methodology()
    keys = tuple(f"n{i}" for i in range(len(scores)))
    signals = matrix(
        {"llm.engagement": engagement, "llm.response_depth": "surface"},
        per={"temporal.strategy_repetition_count": {"deepen": repeat, "explore": 0.0}},
        keys=keys,
        signals={NODE: tuple(scores)},
    )
    decision = decide(of, signals)
    assert decision == decide(of, SignalMatrix.model_validate_json(signals.model_dump_json()))
    finals = [candidate.final_score or 0.0 for candidate in decision.candidates]
    assert all(a >= b - 1e-9 for a, b in pairwise(finals))
    assert [total(candidate.terms) for candidate in decision.candidates] == pytest.approx(finals)
    of_nodes = [score for scores in decision.scores.of_nodes.values() for score in scores]
    every = [*of_nodes, *(score for _, _, score in decision.scores.of_others)]
    assert len(every) == decision.candidate_count
    assert max(score for score in every if score is not None) == pytest.approx(finals[0], abs=1e-4)
    assert [c.selected for c in decision.candidates] == [True] + [False] * (len(finals) - 1)


def test_terms_add_then_multiply_then_add_and_a_veto_ends_it() -> None:
    terms = [
        Term(name="a", amount=0.5),
        Term(kind="multiplied", name="m", amount=2.0),
        Term(name="b", amount=0.25),
        Term(kind="multiplied", name="n", amount=0.5),
        Term(kind="bonus", name="p", amount=0.1),
    ]
    assert total(terms) == pytest.approx(0.85)
    assert total([*terms, Term(kind="veto", name="declined", reason="would rather not say")]) is None
    assert total([]) == 0.0


def test_candidate_stored_by_an_earlier_version_is_read_in_terms() -> None:
    line = {
        "weight_key": "llm.engagement",
        "signal": "llm.engagement",
        "value": 0.5,
        "weight": 0.7,
        "contribution": 0.35,
    }
    stored = {
        "strategy": "deepen",
        "node_key": "k",
        "node_label": "taste",
        "contributions": [line],
        "base_score": 0.35,
        "phase_multiplier": 2.0,
        "phase_bonus": 0.1,
        "final_score": 0.8,
        "rank": 1,
        "selected": True,
    }
    read = ScoredCandidate.model_validate(stored)
    assert (read.node_key, read.target.label if read.target else None) == ("k", "taste")
    assert total(read.terms) == pytest.approx(read.final_score)
    assert ScoredCandidate.model_validate(in_terms(stored)) == read
    assert ScoredCandidate.model_validate_json(read.model_dump_json()) == read


async def test_stored_decision_is_made_again_from_its_record() -> None:
    interview = Interview()
    for turn in range(8):
        await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
        record = interview.last.record
        assert record is not None and record.signals is not None
        stored = SignalMatrix.model_validate_json(record.signals.model_dump_json())
        again = decide(interview.configuration.methodology, stored)
        assert (again.strategy, again.node_key) == (record.strategy, record.node_key)
        assert again.candidates == record.candidates


async def test_what_a_decision_rested_on_is_rebuilt_from_a_later_state() -> None:
    interview, seen = Interview(), []
    pools = SignalPools()

    class Watching(SignalPools):
        def decide(self, inputs: DecisionInputs) -> Decision:
            seen.append(inputs)
            return super().decide(inputs)

    interview.engines = {"signal_pools": Watching()}
    records = []
    for turn in range(5):
        links = [(f"thing {turn} x", f"thing {turn - 1} x")] if turn else []
        found = [(f"thing {turn} x", "attribute"), *([(f"thing {turn - 1} x", "attribute")] if turn else [])]
        await interview.say(f"turn {turn}", concepts(*found, links=links))
        records.append(interview.last.record)
    assert len(seen) == 5
    for was, record in zip(seen, records, strict=True):
        assert record is not None
        again = inputs_of(interview.state, record, interview.configuration, was.strategies)
        assert (again.questions, again.question_texts, again.tensions) == (
            was.questions, was.question_texts, was.tensions,
        )  # fmt: skip
        assert (again.turn_count, again.max_turns, again.momentum) == (was.turn_count, was.max_turns, was.momentum)
        assert again.qualitative == was.qualitative
        live = [(n.id, n.mentions, n.last_mention_turn, n.mention_count) for n in was.graph.live_nodes()]
        assert [(n.id, n.mentions, n.last_mention_turn, n.mention_count) for n in again.graph.live_nodes()] == live
        assert [e.id for e in again.graph.live_edges()] == [e.id for e in was.graph.live_edges()]
        assert pools.decide(again).target == record.target


async def test_focus_in_the_prompt_is_the_recorded_focus_in_a_graph_of_thirty() -> None:
    interview = Interview()
    for turn in range(10):
        found = concepts(*((f"thing {turn} {part}", "attribute") for part in ("red", "blue", "green")))
        await interview.say(f"turn {turn}", found)
        entry, request = interview.state.focus_history[-1], interview.writer.requests[-1]
        assert (request.focus_label or "") == entry.label
        node = next((n for n in interview.state.nodes if n.id == entry.node_id), None)
        assert (node.label if node else "") == entry.label


def test_every_node_that_a_strategy_may_be_about_keeps_its_score() -> None:
    bound = {"name": "deepen", "signal_weights": {NODE: 1.0}, "focus_types": ["attribute"]}
    signals = matrix(keys=("a", "b", "c"), signals={NODE: (0.1, 0.2, 0.3)})
    mixed = signals.nodes.model_copy(update={"node_types": ("attribute", "value", "attribute")})
    decision = decide(methodology(bound), signals.model_copy(update={"nodes": mixed}))
    assert decision.scores.of_others == (("deepen", ("a",), 0.1), ("deepen", ("c",), 0.3))
    assert decision.candidate_count == 2

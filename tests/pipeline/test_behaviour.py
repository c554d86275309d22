"""What the packaged methodologies must show in simulation, whatever the respondent says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import pytest

from config.loader import Library
from pipeline.concept import PipelineSettings, SessionConfiguration
from pipeline.engines.base import Decision, DecisionInputs
from pipeline.engines.signal_pools import SignalPools
from pipeline.methodology import Methodology
from pipeline.ports import Extraction
from pipeline.signals.base import NodeColumns, SignalMatrix, SignalValue
from pipeline.signals.registry import SIGNALS, check
from pipeline.state import FocusEntry
from tests.support.interview import FixedRater, Interview, concepts, new_state

LIBRARY = Library(PipelineSettings())
CONCEPTS = {
    "means_end_chain": "coffee_mec",
    "jobs_to_be_done": "commute_jtbd",
    "critical_incident": "restaurant_ci",
}
REVITALIZE = dict.fromkeys(CONCEPTS, "revitalize")
CLARIFYING = {
    "means_end_chain": ("clarify",),
    "jobs_to_be_done": ("clarify_assumption",),
    "critical_incident": ("probe_attributions", "deepen_narrative"),
}
ASKABLE = {
    "means_end_chain": "attribute",
    "jobs_to_be_done": "solution_approach",
    "critical_incident": "outcome",
}
"""A type that every strategy with a node may be about."""
CLIMBING = {"means_end_chain": "deepen"}
"""The strategy that every ladder is climbed by, so that it may be asked on one after the other."""
MAX_TURNS = 20

pytestmark = pytest.mark.parametrize("name", list(CONCEPTS))


def configured(name: str) -> SessionConfiguration:
    return LIBRARY.configuration(CONCEPTS[name])


def pairs(methodology: Methodology) -> list[tuple[str, str, str]]:
    """(edge, source type, target type) of every concrete permitted connection between different types."""
    return [
        (edge.name, source, target)
        for edge in methodology.ontology.edges
        for source, target in edge.permitted_connections
        if "*" not in (source, target) and source != target
    ]


def news(methodology: Methodology, turn: int) -> Extraction:
    """Two linked concepts that nobody mentioned before, of types that change from turn to turn."""
    possible = pairs(methodology)
    edge, source, target = possible[turn % len(possible)]
    first, second = f"thing q{turn}a", f"effect z{turn}b"
    return concepts((first, source), (second, target), links=[(first, second)], kind=edge)


def interview_of(name: str, depth: int = 3, hedging: str = "none") -> Interview:
    return Interview(
        configuration=configured(name),
        state=new_state(max_turns=MAX_TURNS, methodology=name),
        rater=FixedRater(depth=depth, hedging=hedging),
    )


async def cooperative(name: str) -> Interview:
    interview = interview_of(name)
    for turn in range(1, MAX_TURNS + 1):
        await interview.say(f"turn {turn}", news(interview.configuration.methodology, turn))
        if interview.state.status == "completed":
            break
    return interview


def matrix_for(
    methodology: Methodology, nodes: Sequence[dict[str, SignalValue]] = (), phase: str = "mid", **values: SignalValue
) -> SignalMatrix:
    """All signals at a neutral value, but for those given (dots written as double underscores)."""
    neutral: dict[str, SignalValue] = {}
    per: dict[str, dict[str, SignalValue]] = {}
    for signal in SIGNALS.values():
        plain: SignalValue = {"bool": False, "number": 0.5, "count": 3}.get(signal.type, "")
        if signal.type == "category":
            plain = {"llm.response_depth": "moderate", "meta.interview.phase": phase}.get(
                signal.name, "stable" if "stable" in signal.values else signal.values[0]
            )
        if signal.scope == "global":
            neutral[signal.name] = plain
        elif signal.scope == "strategy":
            per[signal.name] = {strategy.name: 0.0 for strategy in methodology.strategies}
    neutral.update({key.replace("__", "."): value for key, value in values.items()})
    fresh: dict[str, SignalValue] = {
        "graph.node.exhausted": False,
        "graph.node.exhaustion_score": 0.0,
        "graph.node.yield_stagnation": False,
        "graph.node.focus_streak": "none",
        "graph.node.recency_score": 0.0,
        "graph.node.focus_distance": "related",
        "graph.node.is_current_focus": False,
        "graph.node.is_orphan": False,
        "graph.node.edge_count": 2,
        "graph.node.has_outgoing": True,
        "graph.node.is_terminal": False,
        "graph.node.level": 0.4,
        "graph.node.created_recently": 0.2,
        "graph.node.mention_recency": 0.2,
        "technique.node.strategy_repetition": "none",
        "meta.node.opportunity": "fresh",
    }
    rows = [{**fresh, **node} for node in nodes]
    keys = tuple(f"n{i}" for i in range(len(rows)))
    columns = NodeColumns(
        keys=keys,
        labels=keys,
        node_types=(ASKABLE[methodology.name],) * len(rows),
        sequence=tuple(range(len(rows))),
        mention_sequence=tuple(range(len(rows))),
        signals={signal: tuple(row[signal] for row in rows) for signal in fresh} if rows else {},
    )
    return SignalMatrix(values=neutral, strategies=per, nodes=columns, phase=phase)


def decide(methodology: Methodology, matrix: SignalMatrix) -> Decision:
    return SignalPools().decide(DecisionInputs(methodology, matrix))


def best_of(decision: Decision, strategy: str) -> float:
    return max((c.final_score or 0.0 for c in decision.candidates if c.strategy == strategy), default=float("-inf"))


def test_methodology_has_no_dead_entry(name: str) -> None:
    assert check(configured(name).methodology) == []


def on_other_threads(interview: Interview) -> list[FocusEntry]:
    """The questions, but for those that go on with the thread of the question before."""
    thread_of = {node_id: thread.id for thread in interview.state.threads for node_id in thread.node_ids}
    asked, before = [], None
    for entry in interview.state.focus_history:
        thread = thread_of.get(entry.node_id)
        if thread is None or thread != before:
            asked.append(entry)
        before = thread
    return asked


async def test_constant_signals_no_strategy_dominates_or_runs_on_other_threads(name: str) -> None:
    interview = await cooperative(name)
    asked = [entry for entry in on_other_threads(interview) if entry.strategy != CLIMBING.get(name)]
    chosen = [entry.strategy for entry in asked]
    mid = [entry.strategy for entry in asked if 3 <= entry.turn <= 18]
    most, count = Counter(mid).most_common(1)[0] if mid else ("", 0)
    assert count <= max(2, 0.5 * len(mid)), f"{most} {count} of {len(mid)}: {chosen}"
    longest = max(len(list(run)) for _, run in groupby(chosen))
    assert longest <= 4, chosen


async def test_constant_signals_without_news_no_strategy_runs_on(name: str) -> None:
    interview = interview_of(name)
    limits = {"low_info_limit": 99, "shallow_limit": 99, "depth_plateau_limit": 99, "min_turn_for_saturation": 99}
    settings = interview.configuration.settings.model_copy(update=limits)
    interview.configuration = interview.configuration.model_copy(update={"settings": settings})
    methodology = interview.configuration.methodology
    for turn in range(1, 18):
        await interview.say(f"turn {turn}", news(methodology, turn) if turn < 6 else concepts())
        if interview.state.status != "active":
            break
    chosen = [entry.strategy for entry in on_other_threads(interview)]
    assert max(len(list(run)) for _, run in groupby(chosen)) <= 4, chosen


async def test_later_focuses_reach_newer_nodes(name: str) -> None:
    interview = await cooperative(name)
    born = {node.id: node.created_turn for node in interview.state.nodes}
    later = [entry for entry in interview.state.focus_history if entry.turn >= 6 and entry.node_id]
    newer = [entry for entry in later if born[entry.node_id] > 3]
    assert later and len(newer) / len(later) >= 0.30


async def test_cooperative_respondent_gets_at_least_seventeen_of_twenty_turns(name: str) -> None:
    interview = await cooperative(name)
    assert interview.state.turn_count >= 17, interview.state.status_reason


async def test_closing_strategy_waits_for_the_end(name: str) -> None:
    interview = await cooperative(name)
    closing = interview.configuration.methodology.closing_strategy
    assert closing is not None
    asked = [entry.turn for entry in interview.state.focus_history if entry.strategy == closing.name]
    assert all(turn >= 17 for turn in asked), asked
    assert interview.state.status == "completed"


async def test_repeats_only_end_in_saturation(name: str) -> None:
    interview = interview_of(name)
    found = news(interview.configuration.methodology, 1)
    for turn in range(1, 15):
        await interview.say(f"again {turn}", found)
        if interview.state.status != "active":
            break
    assert interview.result.termination_reason in {"graph_saturated", "all_nodes_exhausted"}
    assert interview.state.turn_count <= 10


async def test_five_shallow_answers_bring_revitalize_to_the_top(name: str) -> None:
    interview = interview_of(name, depth=1)
    methodology = interview.configuration.methodology
    for turn in range(1, 6):
        await interview.say("yes", news(methodology, turn) if turn < 3 else concepts())
    assert REVITALIZE[name] in [entry.strategy for entry in interview.state.focus_history[-2:]], [
        entry.strategy for entry in interview.state.focus_history
    ]


def test_fresh_node_ranks_above_the_same_at_exhaustion_040(name: str) -> None:
    methodology = configured(name).methodology
    matrix = matrix_for(methodology, [{"graph.node.exhaustion_score": 0.40}, {}])
    decision = decide(methodology, matrix)
    for strategy in methodology.strategies:
        if strategy.node_binding == "required":
            ranks = {c.node_key: c.rank for c in decision.candidates if c.strategy == strategy.name}
            assert ranks["n1"] < ranks["n0"], strategy.name


def test_high_hedging_raises_clarifying_strategies(name: str) -> None:
    methodology = configured(name).methodology
    calm = decide(methodology, matrix_for(methodology, [{}, {}]))
    unsure = decide(methodology, matrix_for(methodology, [{}, {}], llm__hedging_language="high"))
    rises = {s: best_of(unsure, s) - best_of(calm, s) for s in CLARIFYING[name]}
    assert max(rises.values()) > 0
    others = [s.name for s in methodology.strategies if s.name not in CLARIFYING[name]]
    assert max(rises.values()) >= max(best_of(unsure, s) - best_of(calm, s) for s in others)


def test_after_exhaustion_neighbours_come_before_unrelated_branches(name: str) -> None:
    methodology = configured(name).methodology
    exhausted: dict[str, SignalValue] = {
        "graph.node.exhausted": True,
        "graph.node.exhaustion_score": 0.8,
        "graph.node.yield_stagnation": True,
        "graph.node.focus_streak": "high",
        "graph.node.is_current_focus": True,
        "graph.node.focus_distance": "self",
        "meta.node.opportunity": "exhausted",
    }
    far: dict[str, SignalValue] = {"graph.node.focus_distance": "far"}
    near: dict[str, SignalValue] = {"graph.node.focus_distance": "near"}
    decision = decide(methodology, matrix_for(methodology, [exhausted, far, near]))
    for strategy in methodology.strategies:
        if strategy.node_binding == "required":
            ranks = {c.node_key: c.rank for c in decision.candidates if c.strategy == strategy.name}
            assert ranks["n2"] < ranks["n1"] < ranks["n0"], strategy.name

"""Values of signals, at their boundaries."""

from __future__ import annotations

import pytest

from pipeline.graph.metrics import GraphState
from pipeline.graph.saturation import canonical_saturation, velocity_saturation, yield_ratio_saturation
from pipeline.graph.tracker import Depth, NodeState, NodeStateTracker, shallow_ratio
from pipeline.methodology import PhaseBoundaries, Phases
from pipeline.ports import RATED_SIGNALS, QualitativeSignals, Rating
from pipeline.signals.llm import response_trend
from pipeline.signals.meta import interview_phase, phase_boundaries
from pipeline.signals.nodes import band, exhausted, exhaustion_score
from pipeline.signals.rating import DEPTH_OF_SCORE, as_signals, normalised

S: Depth = "surface"
H: Depth = "shallow"
M: Depth = "moderate"
D: Depth = "deep"


def node(**changes: object) -> NodeState:
    fields: dict[str, object] = {
        "key": "n",
        "label": "n",
        "node_type": "attribute",
        "created_turn": 1,
        "sequence": 1,
        "surface_ids": ("n",),
    }
    return NodeState.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    ("state", "score"),
    [
        (node(), 0.0),
        (node(focus_count=1, current_focus_streak=1), 0.06),
        (node(focus_count=3, current_focus_streak=3, turns_since_last_yield=3, response_depths=(S, H, D)), 0.50),
        (node(focus_count=9, current_focus_streak=9, turns_since_last_yield=12, response_depths=(S, S, S)), 1.0),
    ],
)
def test_exhaustion_score_check_values(state: NodeState, score: float) -> None:
    assert exhaustion_score(state) == pytest.approx(score)


def test_exhausted_needs_all_four() -> None:
    dry = {"focus_count": 2, "turns_since_last_yield": 3, "current_focus_streak": 2, "response_depths": (S, S, H)}
    assert exhausted(node(**dry))
    for change in (
        {"turns_since_last_yield": 2},
        {"current_focus_streak": 1},
        {"response_depths": (S, D, D)},
        {"focus_count": 0},
    ):
        assert not exhausted(node(**{**dry, **change}))


def test_shallow_ratio_looks_at_the_last_three() -> None:
    assert shallow_ratio((S, S, S, D, D, H)) == pytest.approx(1 / 3)
    assert shallow_ratio(()) == 0.0


@pytest.mark.parametrize(("streak", "name"), [(0, "none"), (1, "low"), (2, "medium"), (3, "medium"), (4, "high")])
def test_focus_streak_bands(streak: int, name: str) -> None:
    assert band(streak, 2, 4) == name


@pytest.mark.parametrize(
    ("count", "name"), [(0, "none"), (1, "low"), (2, "low"), (3, "medium"), (4, "medium"), (5, "high")]
)
def test_strategy_repetition_bands(count: int, name: str) -> None:
    assert band(count, 3, 5) == name


@pytest.mark.parametrize(
    ("depths", "trend"),
    [
        ((D, D, D), "stable"),
        ((S, S, S, S), "fatigued"),
        ((H, H, D, D), "deepening"),
        ((D, D, H, M), "shallowing"),
        ((M,) * 6, "stable"),
        ((), "stable"),
    ],
)
def test_response_trend_cases(depths: tuple[Depth, ...], trend: str) -> None:
    assert response_trend(depths) == trend


@pytest.mark.parametrize(("score", "value"), [(1, 0.0), (3, 0.5), (5, 1.0), (0, 0.0), (9, 1.0)])
def test_rating_normalised_and_clamped(score: int, value: float) -> None:
    assert normalised(score) == value


def test_depth_of_score() -> None:
    assert [DEPTH_OF_SCORE[i] for i in range(1, 6)] == [S, H, M, D, D]


@pytest.mark.parametrize(
    ("max_turns", "limits"), [(5, (2, 3)), (10, (2, 8)), (15, (2, 13)), (20, (2, 18)), (30, (3, 28)), (3, (1, 2))]
)
def test_phase_boundaries_cases(max_turns: int, limits: tuple[int, int]) -> None:
    found = phase_boundaries(max_turns)
    assert (found.early, found.mid) == limits


def test_phase_by_fixed_boundaries() -> None:
    phases = Phases(boundaries=PhaseBoundaries(early=4, mid=12))
    names = [interview_phase(phases, turn, 30, GraphState()) for turn in (4, 5, 12, 13)]
    assert names == ["early", "mid", "mid", "late"]


@pytest.mark.parametrize(
    ("nodes", "orphans", "phase"), [(4, 0, "early"), (5, 0, "mid"), (15, 0, "late"), (20, 4, "mid"), (20, 3, "late")]
)
def test_phase_by_graph(nodes: int, orphans: int, phase: str) -> None:
    state = GraphState(node_count=nodes, orphan_count=orphans)
    assert interview_phase(Phases(by="graph"), 1, 15, state) == phase


@pytest.mark.parametrize(
    ("previous", "now", "peak", "value"),
    [(20, 30, 10, 0), (30, 30, 10, 1), (25, 30, 10, 0.5), (20, 30, 5, 0), (0, 5, 0, 0)],
)
def test_conversation_saturation_cases(previous: int, now: int, peak: float, value: float) -> None:
    assert yield_ratio_saturation(previous, now, peak) == value


def test_velocity_saturation_formula_and_clamp() -> None:
    assert velocity_saturation(ewma=2, peak=8, nodes=10, edges=10, turn=5) == pytest.approx(0.45 + 0.125 + 0.05)
    assert velocity_saturation(ewma=0, peak=8, nodes=1, edges=9, turn=40) == 1.0
    assert velocity_saturation(ewma=20, peak=1, nodes=5, edges=0, turn=1) == 0.0


@pytest.mark.parametrize(("nodes", "slots", "value"), [(8, 0, 1), (5, 5, 0), (8, 2, 0.75), (0, 0, 0), (2, 5, 0)])
def test_canonical_saturation_cases(nodes: int, slots: int, value: float) -> None:
    assert canonical_saturation(slots, nodes) == value


def tracker(*keys: str) -> NodeStateTracker:
    return NodeStateTracker([node(key=key, label=key) for key in keys])


def test_streak_three_turns_with_yield_is_one_two_three() -> None:
    states = tracker("a")
    streaks = []
    for turn in range(1, 4):
        if states.previous_focus:
            states.record_yield("a", turn)
        states.update_focus(["a"], turn, "deepen")
        streaks.append(states.states["a"].current_focus_streak)
    assert streaks == [1, 2, 3]


def test_focus_lost_resets_the_streak() -> None:
    states = tracker("a", "b")
    states.update_focus(["a"], 1, "deepen")
    states.update_focus(["b"], 2, "deepen")
    assert states.states["a"].current_focus_streak == 0
    assert states.previous_focus == "b"


def test_waits_grow_only_for_nodes_focused_before() -> None:
    states = tracker("a", "b", "c")
    states.update_focus(["a"], 1, "deepen")
    states.update_focus(["b"], 2, "deepen")
    states.update_focus(["a"], 3, "deepen")
    a, b, c = (states.states[key] for key in "abc")
    assert (a.turns_since_last_yield, a.turns_since_last_focus) == (2, 0)
    assert (b.turns_since_last_yield, b.turns_since_last_focus) == (1, 1)
    assert (c.turns_since_last_yield, c.turns_since_last_focus) == (0, 0)


def test_strategy_without_node_clears_the_focus() -> None:
    states = tracker("a")
    states.update_focus(["a"], 1, "deepen")
    states.update_focus([], 2, "reflect")
    assert states.previous_focus is None and states.states["a"].current_focus_streak == 0


def test_rekey_merges_histories() -> None:
    states = tracker("a", "b")
    states.update_focus(["a"], 1, "deepen")
    states.append_depth("a", "deep")
    states.update_focus(["b"], 2, "deepen")
    states.append_depth("b", "surface")
    states.rekey("a", "slot")
    states.rekey("b", "slot")
    merged = states.states["slot"]
    assert set(states.states) == {"slot"} and states.previous_focus == "slot"
    assert merged.focus_count == 2 and merged.current_focus_streak == 1
    assert merged.response_depths == ("deep", "surface")
    assert merged.strategy_usage == {"deepen": 2}


def test_snapshot_round_trip_is_the_same_tracker() -> None:
    states = tracker("a", "b")
    states.update_focus(["a"], 1, "deepen")
    twin = NodeStateTracker.from_snapshot(states.snapshot())
    assert twin.snapshot() == states.snapshot()


@pytest.mark.parametrize(
    ("own", "quality", "signals"),
    [
        ((None, None), None, (None, None)),
        ((True, False), None, (True, False)),
        ((None, None), QualitativeSignals(contradiction="no"), (True, False)),
        ((True, None), QualitativeSignals(turning_point="that was it"), (False, True)),
    ],
)
def test_contradiction_and_turning_point_are_the_quotes_of_a_model_or_the_raters_own(
    own: tuple[bool | None, bool | None],
    quality: QualitativeSignals | None,
    signals: tuple[bool | None, bool | None],
) -> None:
    contradicts, turns = own
    rating = Rating(
        scores=dict.fromkeys(RATED_SIGNALS, 3),
        hedging="none",
        qualitative=quality,
        contradicts=contradicts,
        turns=turns,
    )
    found = as_signals(rating)
    assert (found.contradiction, found.turning_point) == signals

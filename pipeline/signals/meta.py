"""Pool `meta`: the phase of the interview and how saturated it is."""

from __future__ import annotations

import math
from typing import ClassVar

from pipeline.graph.metrics import GraphState
from pipeline.graph.saturation import advanced, canonical_saturation, velocity_saturation, yield_ratio_saturation
from pipeline.methodology import Phase, PhaseBoundaries, Phases
from pipeline.signals.base import Scope, SignalContext, SignalType

EARLY_SHARE = 0.10
MIN_EARLY_TURNS = 2
LATE_TURNS = 2
GRAPH_EARLY_NODES = 5
GRAPH_MID_NODES = 15
GRAPH_MID_ORPHANS = 3


def phase_boundaries(max_turns: int) -> PhaseBoundaries:
    """Proportional boundaries: early is max(2, a tenth, rounded half up) turns, late the last two.

    Where early would reach mid, it shrinks to max(1, mid − 1).
    """
    mid = max(max_turns - LATE_TURNS, 2)
    early = max(MIN_EARLY_TURNS, math.floor(EARLY_SHARE * max_turns + 0.5))
    if early >= mid:
        early = max(1, mid - 1)
    return PhaseBoundaries(early=early, mid=mid)


def interview_phase(phases: Phases, turn_number: int, max_turns: int, graph: GraphState) -> Phase:
    """The phase of this turn.

    By turns: early up to `boundaries.early`, mid up to `boundaries.mid`, then late. By the graph: early below 5 nodes,
    late from 15 nodes on unless more than 3 of them are orphans, else mid.
    """
    if phases.by == "graph":
        if graph.node_count < GRAPH_EARLY_NODES:
            return "early"
        return "mid" if graph.node_count < GRAPH_MID_NODES or graph.orphan_count > GRAPH_MID_ORPHANS else "late"
    limits = phases.boundaries or phase_boundaries(max_turns)
    return "early" if turn_number <= limits.early else "mid" if turn_number <= limits.mid else "late"


class _MetaSignal:
    type: ClassVar[SignalType] = "number"
    scope: ClassVar[Scope] = "global"
    values: ClassVar[tuple[str, ...]] = ()
    depends_on: ClassVar[tuple[str, ...]] = ()


class InterviewPhase(_MetaSignal):
    name = "meta.interview.phase"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("early", "mid", "late")
    description = "Phase of the interview."

    def detect(self, context: SignalContext) -> str:
        return interview_phase(context.methodology.phases, context.turn_number, context.max_turns, context.graph_state)


class ConversationSaturation(_MetaSignal):
    name = "meta.conversation.saturation"
    description = "0 while answers bring as many new concepts as ever, 1 when they bring none."

    def detect(self, context: SignalContext) -> float:
        before = context.surface_velocity
        now = len(context.graph.nodes)
        if context.methodology.saturation == "velocity_ewma":
            ewma = advanced(before, now, context.velocity_alpha).ewma
            state = context.graph_state
            return velocity_saturation(ewma, before.peak, state.node_count, state.edge_count, context.turn_number)
        return yield_ratio_saturation(before.previous_count, now, before.peak)


class CanonicalSaturation(_MetaSignal):
    name = "meta.canonical.saturation"
    description = "0 while every new wording is a new theme, 1 when none is; absent without canonical slots."

    def detect(self, context: SignalContext) -> float | None:
        if context.canonical is None:
            return None
        return canonical_saturation(context.new_slots, context.new_nodes)


SIGNALS = (InterviewPhase(), ConversationSaturation(), CanonicalSaturation())

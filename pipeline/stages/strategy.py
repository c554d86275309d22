"""Stage `strategy`: detects signals and chooses strategy and node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import (
    ContextOutput,
    Contract,
    Focus,
    GraphOutput,
    RatingOutput,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
    UtteranceOutput,
)
from pipeline.engines.base import Decision, DecisionEngine, DecisionInputs
from pipeline.errors import PipelineMisbuilt
from pipeline.graph.identity import latest_wording
from pipeline.graph.surface import SurfaceGraph
from pipeline.graph.tracker import NodeStateTracker
from pipeline.methodology import Methodology
from pipeline.ports import ActiveSignal
from pipeline.signals.base import SignalContext
from pipeline.signals.registry import SIGNALS, detect
from pipeline.state import AppliedDirective

ACTIVE_SIGNALS = 5


class StrategyStage:
    """Appends this answer's depth, detects every signal the methodology lists, asks the engine."""

    name: ClassVar[str] = "strategy"
    requires: ClassVar[tuple[type[Contract], ...]] = (
        ContextOutput,
        UtteranceOutput,
        RatingOutput,
        GraphOutput,
        SlotsOutput,
        StateOutput,
    )
    provides: ClassVar[type[Contract]] = StrategyOutput

    def __init__(self, engines: Mapping[str, DecisionEngine]) -> None:
        self._engines = engines

    async def run(self, context: TurnContext) -> StrategyOutput:
        """The choice, with all signals."""
        start = context.get(ContextOutput)
        measured = context.get(StateOutput)
        if measured.computed_for_turn != start.turn_number:
            raise PipelineMisbuilt("the graph state is of another turn", stage=self.name)
        rated = context.get(RatingOutput).rated
        tracker = context.get(SlotsOutput).tracker.copy()
        depths = context.state.depths
        previous = tracker.previous_focus
        if rated is not None:
            depths = (*depths, rated.depth)
            if previous is not None and previous in tracker.states and not start.correcting:
                tracker.append_depth(previous, rated.depth)
        if context.get(UtteranceOutput).kind == "skip" and previous is not None:
            tracker.decline(previous)
        configuration = context.configuration
        methodology = configuration.methodology
        matrix = detect(self._signal_context(context, tracker, methodology), methodology.signal_names)
        if start.closing or start.turn_number >= start.max_turns:
            return StrategyOutput(None, matrix, tracker, depths, None)
        directive = self._directive(context)
        if directive is not None and directive.kind == "inject":
            return StrategyOutput(None, matrix, tracker, depths, None, injected=directive.question, directive=directive)
        decision = self._engines[context.state.engine].decide(
            DecisionInputs(
                methodology,
                matrix,
                strategy=directive.strategy if directive else None,
                node_key=directive.node_key if directive else None,
            )
        )
        graph = context.get(GraphOutput).graph
        return StrategyOutput(
            decision=decision,
            signals=matrix,
            tracker=tracker,
            depths=depths,
            focus=focus_of(decision.node_key, tracker, graph, start.turn_number),
            active_signals=active_signals(decision),
            rationale=decision.reason,
            directive=directive,
        )

    def _signal_context(
        self, context: TurnContext, tracker: NodeStateTracker, methodology: Methodology
    ) -> SignalContext:
        start = context.get(ContextOutput)
        changed = context.get(GraphOutput)
        slots = context.get(SlotsOutput)
        measured = context.get(StateOutput)
        rated = context.get(RatingOutput).rated
        candidates = [state for state in tracker.states.values() if not state.declined and state.surface_ids]
        return SignalContext(
            methodology=methodology,
            strategies=context.strategies,
            turn_number=start.turn_number,
            max_turns=start.max_turns,
            graph=changed.graph,
            canonical=slots.canonical,
            tracker=tracker,
            graph_state=measured.graph_state,
            canonical_state=measured.canonical_state,
            saturation=measured.saturation,
            rated=rated,
            depths=(*context.state.depths, rated.depth) if rated else context.state.depths,
            strategy_history=start.strategy_history,
            surface_velocity=context.state.surface_velocity,
            canonical_velocity=context.state.canonical_velocity,
            new_nodes=slots.settled_nodes,
            new_slots=slots.settled_slots,
            yielded=changed.gained,
            velocity_alpha=context.configuration.settings.velocity_alpha,
            nodes=sorted(candidates, key=lambda state: state.sequence),
        )

    def _directive(self, context: TurnContext) -> AppliedDirective | None:
        """The oldest directive of a moderator, with the tracked identity of its node."""
        wish = next(iter(context.wishes()), None)
        if wish is None:
            return None
        canonical = context.get(SlotsOutput).canonical
        key = wish.node_id
        if key is not None and canonical is not None:
            key = canonical.key_of(key)
        return AppliedDirective(**wish.model_dump(), node_key=key)


def focus_of(key: str | None, tracker: NodeStateTracker, graph: SurfaceGraph, turn_number: int) -> Focus | None:
    """The focus of a question about a tracked identity: its most recently mentioned wording, from whatever turn."""
    if key is None:
        return None
    node = latest_wording(graph, tracker.states[key])
    if node is None:
        return None
    return Focus(
        key=key,
        node_id=node.id,
        label=node.label,
        node_type=node.node_type,
        quote=node.mentions[-1].quote,
        mentioned_turn=node.last_mention_turn,
        is_jump=node.last_mention_turn < turn_number and key != tracker.previous_focus,
    )


def active_signals(decision: Decision) -> tuple[ActiveSignal, ...]:
    """The signals that contributed most to the chosen candidate, strongest first."""
    chosen = decision.candidates[0] if decision.candidates else None
    if chosen is None:
        return ()
    lines = sorted(chosen.contributions, key=lambda line: -line.contribution)
    return tuple(
        ActiveSignal(
            name=line.signal,
            value=line.value,
            description=SIGNALS[line.signal].description,
            contribution=line.contribution,
        )
        for line in lines[:ACTIVE_SIGNALS]
        if line.contribution > 0
    )

"""Stage `context`: what the turn starts from."""

from __future__ import annotations

from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract
from pipeline.ports import Line

RECENT_LINES = 5
STRATEGY_WINDOW = 30


class ContextStage:
    """Reads the state; changes nothing."""

    name: ClassVar[str] = "context"
    requires: ClassVar[tuple[type[Contract], ...]] = ()
    provides: ClassVar[type[Contract]] = ContextOutput

    async def run(self, context: TurnContext) -> ContextOutput:
        """Turn number, recent conversation, histories, and working copies of graphs and tracker."""
        state = context.state
        settings = context.configuration.settings
        graph = state.surface_graph()
        recent = sorted(graph.live_nodes(), key=lambda node: -node.mention_sequence)[: settings.existing_labels]
        spoken = [utterance for utterance in state.utterances if utterance.text]
        questions = [u.text for u in spoken if u.speaker == "interviewer"]
        asked = state.question
        focus = graph.nodes.get(asked.focus_node_id) if asked and asked.focus_node_id else None
        return ContextOutput(
            turn_number=state.turn_count + 1,
            max_turns=state.max_turns,
            closing=state.status == "closing",
            question=asked.text if asked else "",
            lines=tuple(Line(speaker=u.speaker, text=u.text) for u in spoken[-RECENT_LINES:]),
            recent_questions=tuple(questions[-settings.repeat_window :]) if settings.repeat_window else (),
            strategy_history=state.strategy_history[-STRATEGY_WINDOW:],
            focus_history=state.focus_history,
            existing=tuple((node.label, node.node_type) for node in recent),
            focus_key=asked.focus_key if asked else None,
            focus_label=asked.focus_label if asked else None,
            focus_type=focus.node_type if focus else None,
            graph=graph,
            canonical=state.canonical_graph(),
            tracker=state.node_tracker(),
        )

"""What a stored decision rested on, so that it can be made again."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.engines.base import DecisionInputs
from pipeline.focus import Target
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.signals.base import SignalMatrix
from pipeline.state import InterviewState, answered
from pipeline.strategies import Strategies


def inputs_of(
    state: InterviewState, record: TurnRecord, configuration: SessionConfiguration, strategies: Strategies
) -> DecisionInputs:
    """The inputs of the decision of one turn.

    Nodes are as they were then but for two things that no state remembers: which of their wordings came first within
    a turn, and a confidence that a later mention raised. The order of mentions is in the signals.

    Args:
        state: of the session after that turn or any later one.
        record: of the turn.
        configuration, strategies: of the session and its engine.
    """
    turn, stored, wish = record.turn_number, record.inputs, record.directive
    key = wish.node_key if wish is not None else None
    return DecisionInputs(
        methodology=configuration.methodology,
        signals=record.signals if record.signals is not None else SignalMatrix(),
        strategies=strategies,
        strategy=wish.strategy if wish is not None else None,
        target=Target.node(key, "") if key is not None else None,
        graph=_graph_at(state, record),
        questions=tuple(entry for entry in state.focus_history if entry.turn < turn),
        question_texts=tuple(
            u.text for u in state.utterances if u.speaker == "interviewer" and u.text and u.turn_number < turn
        ),
        elements=configuration.concept.elements,
        coverage=stored.coverage,
        tensions=state.tensions[: stored.tensions],
        momentum=stored.momentum,
        qualitative=state.qualities[: stored.rated],
        threads=stored.threads,
        topic=stored.topic,
        step=stored.step,
        settings=configuration.settings,
        engine_file=configuration.engine_file,
        subject=configuration.concept.name,
        language=state.language,
        answers=answered(state.utterances, turn),
        closeness=stored.closeness,
        turn_count=turn,
        max_turns=stored.max_turns,
        engine_state=stored.engine_state,
    )


def _graph_at(state: InterviewState, record: TurnRecord) -> SurfaceGraph:
    """The graph that the decision saw."""
    turn_of = {utterance.id: utterance.turn_number for utterance in state.utterances}
    live, edges = set(record.inputs.nodes), set(record.inputs.edges)
    nodes = [
        _node_at(node, record.turn_number, turn_of, live=node.sequence in live)
        for node in state.nodes
        if node.created_turn <= record.turn_number
    ]
    return SurfaceGraph(
        nodes,
        (edge for edge in state.edges if edge.sequence in edges),
        state.tensions[: record.inputs.tensions],
    )


def _node_at(node: KGNode, turn: int, turn_of: Mapping[str, int], *, live: bool) -> KGNode:
    mentions = tuple(mention for mention in node.mentions if turn_of.get(mention.utterance_id, 0) <= turn)
    spoken = {turn_of.get(mention.utterance_id, node.created_turn) for mention in mentions}
    return node.model_copy(
        update={
            "mentions": mentions,
            "mention_count": max(1, len(spoken)),
            "last_mention_turn": max(spoken, default=node.created_turn),
            "superseded_by": None if live else node.superseded_by,
        }
    )

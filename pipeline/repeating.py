"""What a stored decision rested on, so that it can be made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.engines.base import DecisionInputs
from pipeline.focus import Target
from pipeline.graph.surface import GUESSED, KGEdge, KGNode, SurfaceGraph
from pipeline.signals.base import SignalMatrix
from pipeline.state import InterviewState, answered, asked_texts
from pipeline.strategies import Strategies

REMOVED = "removed"
"""Type of a relation that a correction removed after the decision; which one it had is not known any more."""


def inputs_of(
    state: InterviewState, record: TurnRecord, configuration: SessionConfiguration, strategies: Strategies
) -> DecisionInputs:
    """The inputs of the decision of one turn.

    Nodes are as they weighed then but for what no decision reads: a confidence that a later mention raised. The order
    of mentions is in the signals.

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
        question_texts=asked_texts(said for said in state.utterances if said.turn_number < turn),
        elements=configuration.concept.elements,
        coverage=stored.coverage,
        tensions=state.tensions[: stored.tensions],
        momentum=stored.momentum,
        qualitative=state.qualities[: stored.rated],
        threads=stored.threads,
        topic=stored.topic,
        topics_open=stored.topics_open,
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
    """The graph that the decision saw: its concepts as they weighed then, with the relations that there were."""
    turn_of = {utterance.id: utterance.turn_number for utterance in state.utterances}
    stored, then = record.inputs, record.turn_number
    live = set(stored.nodes)
    weights = dict(zip(stored.nodes, stored.weights, strict=False))
    nodes = [
        _node_at(node, then, turn_of, weights.get(node.sequence), live=node.sequence in live)
        for node in state.nodes
        if node.created_turn <= then
    ]
    return SurfaceGraph(nodes, _edges_at(state, record), state.tensions[: stored.tensions])


def _edges_at(state: InterviewState, record: TurnRecord) -> Iterator[KGEdge]:
    """The relations that counted then, those as well that a correction removed later."""
    known = {edge.sequence: edge for edge in state.edges}
    id_of = {node.sequence: node.id for node in state.nodes}
    ends = dict(zip(record.inputs.edges, record.inputs.ends, strict=False))
    for sequence in record.inputs.edges:
        edge, found = known.get(sequence), ends.get(sequence)
        if found is None:
            if edge is not None:
                yield edge
            continue
        source, target, inferred = found
        if edge is None:
            edge = KGEdge(
                id=f"{REMOVED}{sequence}",
                source_id=id_of[source],
                target_id=id_of[target],
                edge_type=REMOVED,
                mentions=(),
                confidence=0.0,
                created_turn=record.turn_number,
                sequence=sequence,
            )
        was_firm = "unrecorded" if edge.basis == GUESSED else edge.basis
        yield edge.model_copy(update={"basis": GUESSED if inferred else was_firm})


def _node_at(
    node: KGNode,
    turn: int,
    turn_of: Mapping[str, int],
    weight: tuple[int, int, int | None, int | None] | None,
    *,
    live: bool,
) -> KGNode:
    """A concept as it was: by what was stored of it, else by its mentions, which a correction may have taken away."""
    mentions = tuple(mention for mention in node.mentions if turn_of.get(mention.utterance_id, 0) <= turn)
    spoken = {turn_of.get(mention.utterance_id, node.created_turn) for mention in mentions}
    count, latest = max(1, len(spoken)), max(spoken, default=node.created_turn)
    salience, emotion = node.salience, node.emotion
    if weight is not None:
        count, latest, salience, emotion = weight
    return node.model_copy(
        update={
            "mentions": mentions,
            "mention_count": count,
            "last_mention_turn": latest,
            "salience": salience,
            "emotion": emotion,
            "superseded_by": None if live else node.superseded_by or node.id,
        }
    )

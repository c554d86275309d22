"""Applies slot names that were proposed after the last turn of an interview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.concept import SessionConfiguration
from pipeline.graph.identity import follow_mappings, refresh_edge_counts
from pipeline.graph.slotting import SlotAssignment
from pipeline.naming import apply_names, fitting_names
from pipeline.outcome import Outcome
from pipeline.ports import Embedder, SlotProposal, Vectors
from pipeline.state import InterviewState


async def settled(
    state: InterviewState,
    configuration: SessionConfiguration,
    proposals: Sequence[SlotProposal],
    embedder: Embedder,
    embeddings: Mapping[str, Vectors],
) -> Outcome | None:
    """The state of an interview that has ended, with these names applied; None if none of them fits any more.

    Only for a session that takes no more answers; otherwise the next turn applies the names.

    Raises:
        ProviderError: a vector could not be made.
    """
    graph, before = state.surface_graph(), state.canonical_graph()
    waiting = {i for i in state.slot_backlog if i in graph.nodes and graph.nodes[i].superseded_by is None}
    settings = configuration.settings
    assignment = SlotAssignment(
        before.copy(),
        graph,
        configuration.methodology,
        session_id=state.session_id,
        turn=state.turn_count,
        threshold=settings.canonical_similarity_threshold,
        min_support=settings.canonical_min_support_nodes,
    )
    fitting = fitting_names(proposals, graph, waiting)
    if not fitting:
        return None
    await apply_names(assignment, fitting, embedder, {**embeddings})
    assignment.settle()
    after = assignment.canonical
    tracker = state.node_tracker()
    follow_mappings(tracker, before, after, graph, configuration.methodology.ontology)
    refresh_edge_counts(tracker, graph, after.key_of)
    update = {
        "rev": state.rev + 1,
        "slots": tuple(after.slots.values()),
        "mappings": tuple(after.mappings.values()),
        "canonical_edges": tuple(after.edges.values()),
        "slot_backlog": tuple(i for i in state.slot_backlog if i in waiting - assignment.named),
        "tracker": tracker.snapshot(),
    }
    return Outcome(state=state.model_copy(update=update), events=(), embeddings=assignment.vectors_created)

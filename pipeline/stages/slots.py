"""Stage `slots`: maps surface nodes to canonical slots."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract, GraphOutput, SlotsOutput
from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.identity import follow_mappings, refresh_edge_counts
from pipeline.graph.slotting import SlotAssignment, completed, own_name
from pipeline.graph.surface import KGNode
from pipeline.naming import apply_names, fitting_names, know_slots, lemmatised
from pipeline.ports import Embedder, Parser, SlotProposer, SlotRequest, Vectors


class SlotsStage:
    """Maps waiting nodes to slots, promotes slots, aggregates edges, re-keys the tracker.

    A proposer with `inline` names slots within the turn. With any other, new nodes get provisional slots named after
    themselves and wait in the backlog; names that were proposed since the last turn are applied to waiting nodes. Names
    proposed after the last turn are applied by `pipeline.settling`.
    """

    name: ClassVar[str] = "slots"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput, GraphOutput)
    provides: ClassVar[type[Contract]] = SlotsOutput

    def __init__(self, proposer: SlotProposer, embedder: Embedder, parser: Parser) -> None:
        self._proposer = proposer
        self._embedder = embedder
        self._parser = parser

    async def run(self, context: TurnContext) -> SlotsOutput:
        """The canonical graph after this answer. Raises ProviderError."""
        changed = context.get(GraphOutput)
        settings = context.configuration.settings
        if not settings.enable_canonical_slots:
            return SlotsOutput(canonical=None, tracker=changed.tracker, backlog=())
        start = context.get(ContextOutput)
        graph, tracker = changed.graph, changed.tracker.copy()
        assignment = SlotAssignment(
            start.canonical.copy(),
            graph,
            context.configuration.methodology,
            session_id=context.state.session_id,
            turn=start.turn_number,
            threshold=settings.canonical_similarity_threshold,
            min_support=settings.canonical_min_support_nodes,
        )
        vectors: dict[str, Vectors] = {**context.embeddings, **changed.embeddings}
        waiting = _waiting(context, start.canonical, changed)
        if self._proposer.inline or settings.slot_discovery == "inline":
            waiting = await self._name_all(context, assignment, waiting, vectors)
        else:
            await apply_names(assignment, fitting_names(context.names(), graph, waiting), self._embedder, vectors)
            waiting = [i for i in waiting if i not in assignment.named]
            await self._provisional(assignment, [graph.nodes[i] for i in waiting], vectors)
        assignment.settle()
        canonical = assignment.canonical
        follow_mappings(tracker, start.canonical, canonical, graph, context.configuration.methodology.ontology)
        refresh_edge_counts(tracker, graph, canonical.key_of)
        for edge in changed.edges_added:
            for key in (canonical.key_of(edge.source_id), canonical.key_of(edge.target_id)):
                if key in start.tracker.states and key in tracker.states:
                    tracker.revive(key)
        before = _settled(start.canonical, context.state.slot_backlog)
        after = _settled(canonical, waiting)
        return SlotsOutput(
            canonical=canonical,
            tracker=tracker,
            backlog=tuple(waiting),
            settled_nodes=len(after.keys() - before.keys()),
            settled_slots=len(set(after.values()) - set(before.values())),
            embeddings=assignment.vectors_created,
        )

    async def _name_all(
        self, context: TurnContext, assignment: SlotAssignment, waiting: Sequence[str], vectors: dict[str, Vectors]
    ) -> list[str]:
        """Have every waiting node named, batch by batch. Returns the new, empty backlog. Raises ProviderError."""
        changed = context.get(GraphOutput)
        size = context.configuration.settings.slot_batch
        for first in range(0, len(waiting), size):
            nodes = tuple(changed.graph.nodes[i] for i in waiting[first : first + size])
            proposals = await self._proposer.propose(
                SlotRequest(
                    nodes=nodes,
                    slots=tuple(assignment.canonical.slots.values()),
                    methodology=context.configuration.methodology,
                    language=context.state.language,
                )
            )
            if not self._proposer.inline:
                proposals = await lemmatised(proposals, self._parser)
            await apply_names(assignment, completed(proposals, nodes), self._embedder, vectors)
        return []

    async def _provisional(
        self, assignment: SlotAssignment, nodes: Sequence[KGNode], vectors: dict[str, Vectors]
    ) -> None:
        """Give nodes without any slot one named after themselves; their label's vector, if there is one, serves."""
        fresh = [node for node in nodes if node.id not in assignment.canonical.mappings]
        if not fresh:
            return
        await know_slots(assignment.canonical.slots.values(), assignment, self._embedder, vectors)
        missing = [node for node in fresh if node.id not in vectors]
        if missing:
            rows = await self._embedder.embed([node.label for node in missing])
            vectors.update({node.id: rows[i] for i, node in enumerate(missing)})
        for node in fresh:
            assignment.apply(own_name(node), vectors[node.id], vectors)


def _waiting(context: TurnContext, canonical: CanonicalGraph, changed: GraphOutput) -> list[str]:
    """Live nodes without a final slot, those that waited before first."""
    backlog = context.state.slot_backlog
    of_this_turn = (*(node.id for node in changed.nodes_mentioned), *(node.id for node in changed.nodes_added))
    return [
        i
        for i in dict.fromkeys((*backlog, *of_this_turn))
        if changed.graph.nodes[i].superseded_by is None and (i in backlog or i not in canonical.mappings)
    ]


def _settled(canonical: CanonicalGraph, waiting: Collection[str]) -> dict[str, str]:
    """The slot of each node that has its final one."""
    left = set(waiting)
    return {i: mapping.canonical_slot_id for i, mapping in canonical.mappings.items() if i not in left}

"""Stage `slots`: what several wordings have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract, GraphOutput, SlotsOutput
from pipeline.graph.identity import refresh_edge_counts
from pipeline.graph.slotting import SlotAssignment, slot_name, slot_text
from pipeline.graph.surface import KGNode
from pipeline.ports import Embedder, Parser, SlotProposal, SlotProposer, SlotRequest, Vectors


class SlotsStage:
    """Proposes slots for waiting nodes, maps them, promotes slots, aggregates edges, re-keys the tracker."""

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
        if not context.configuration.settings.enable_canonical_slots:
            return SlotsOutput(canonical=None, tracker=changed.tracker, backlog=())
        start = context.get(ContextOutput)
        settings = context.configuration.settings
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
        waiting = [
            i
            for i in dict.fromkeys(
                (
                    *context.state.slot_backlog,
                    *(node.id for node in changed.nodes_mentioned),
                    *(node.id for node in changed.nodes_added),
                )
            )
            if graph.nodes[i].superseded_by is None and i not in start.canonical.mappings
        ]
        vectors: dict[str, Vectors] = {**context.embeddings, **changed.embeddings}
        while waiting:
            batch, waiting = waiting[: settings.slot_batch], waiting[settings.slot_batch :]
            nodes = tuple(graph.nodes[i] for i in batch)
            proposals = await self._proposer.propose(
                SlotRequest(
                    nodes=nodes,
                    slots=tuple(assignment.canonical.slots.values()),
                    methodology=context.configuration.methodology,
                    language=context.state.language,
                )
            )
            await self._assign(assignment, proposals, nodes, vectors)
            if not self._proposer.inline:
                break
        assignment.settle()
        canonical = assignment.canonical
        for node in (*changed.nodes_mentioned, *changed.nodes_added):
            key = canonical.key_of(node.id)
            tracker.rekey(node.id, key)
        for mapping in assignment.mappings_created:
            tracker.rekey(mapping.surface_node_id, mapping.canonical_slot_id)
        refresh_edge_counts(tracker, graph, canonical.key_of)
        for edge in changed.edges_added:
            for key in (canonical.key_of(edge.source_id), canonical.key_of(edge.target_id)):
                if key in start.tracker.states and key in tracker.states:
                    tracker.revive(key)
        new = {node.id for node in changed.nodes_added}
        return SlotsOutput(
            canonical=canonical,
            tracker=tracker,
            backlog=tuple(waiting),
            slots_created=tuple(canonical.slots[i] for i in assignment.created),
            slots_updated=tuple(canonical.slots[i] for i in assignment.updated),
            mappings_created=tuple(assignment.mappings_created),
            edges_changed=tuple(assignment.edges_changed),
            mapped_new_nodes=sum(mapping.surface_node_id in new for mapping in assignment.mappings_created),
            embeddings=assignment.vectors_created,
        )

    async def _lemmatised(self, proposals: Sequence[SlotProposal]) -> list[SlotProposal]:
        """Proposals with lemmas for names; a provider of ours gives them that way already."""
        names = await self._parser.lemmas([proposal.slot_name.replace("_", " ") for proposal in proposals])
        return [
            proposal.model_copy(update={"slot_name": slot_name(lemmas or (proposal.slot_name,))})
            for proposal, lemmas in zip(proposals, names, strict=True)
        ]

    async def _assign(
        self,
        assignment: SlotAssignment,
        proposals: Sequence[SlotProposal],
        nodes: Sequence[KGNode],
        vectors: dict[str, Vectors],
    ) -> None:
        """Match each proposal to a slot; nodes without a proposal get a slot named after themselves."""
        if not self._proposer.inline:
            proposals = await self._lemmatised(proposals)
        complete = assignment.completed(proposals, nodes)
        slots = [slot for slot in assignment.canonical.slots.values() if slot.id not in vectors]
        texts = [slot_text(p.slot_name, p.description) for p in complete]
        rows = await self._embedder.embed([*texts, *(slot_text(slot.slot_name, slot.description) for slot in slots)])
        vectors.update({slot.id: rows[len(texts) + i] for i, slot in enumerate(slots)})
        for i, proposal in enumerate(complete):
            assignment.apply(proposal, rows[i], vectors)

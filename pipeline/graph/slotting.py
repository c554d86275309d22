"""Maps surface nodes to canonical slots: match or create a slot, promote it, aggregate edges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence

import numpy as np

from pipeline.graph.canonical import CanonicalEdge, CanonicalGraph, CanonicalSlot, SlotMapping
from pipeline.graph.polarity import opposed
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.methodology import Methodology
from pipeline.ports import SlotProposal, Vectors
from pipeline.records import derived_id

LONGEST_NAME = 60
MAY_MATCH = 0.35
"""Cosine of two labels from which slots that are named after them may be as similar as a threshold of 0.6 asks for; of
12 093 pairs of one type in interviews none below 0.44 was."""
_NAME = re.compile(r"[^\w]+", re.UNICODE)


def slot_name(words: Iterable[str]) -> str:
    """Words joined to a slot name: lower case, snake_case, 60 characters at most; "concept" when nothing is left."""
    name = _NAME.sub("_", " ".join(words).casefold()).strip("_")
    if len(name) > LONGEST_NAME:
        name = name[:LONGEST_NAME].rpartition("_")[0] or name[:LONGEST_NAME]
    return name or "concept"


def slot_text(name: str, description: str) -> str:
    """The text that is embedded for a slot: its name in words and its description."""
    return f"{name.replace('_', ' ')}: {description}" if description else name.replace("_", " ")


def own_name(node: KGNode) -> SlotProposal:
    """A slot named after the lemmas of one node."""
    return SlotProposal(
        slot_name=slot_name(node.lemmas or (node.label,)),
        description=node.label,
        node_type=node.node_type,
        node_ids=(node.id,),
    )


def completed(proposals: Sequence[SlotProposal], nodes: Sequence[KGNode]) -> list[SlotProposal]:
    """The proposals restricted to given nodes of their type, plus one for each node that no proposal has."""
    left = {node.id: node for node in nodes}
    complete: list[SlotProposal] = []
    for proposal in proposals:
        ids = tuple(i for i in proposal.node_ids if i in left and left[i].node_type == proposal.node_type)
        for i in ids:
            del left[i]
        if ids:
            name = slot_name([proposal.slot_name])
            complete.append(proposal.model_copy(update={"node_ids": ids, "slot_name": name}))
    return [*complete, *(own_name(node) for node in left.values())]


class SlotAssignment:
    """One turn's changes to `canonical`, which is changed in place."""

    def __init__(
        self,
        canonical: CanonicalGraph,
        graph: SurfaceGraph,
        methodology: Methodology,
        *,
        session_id: str,
        turn: int,
        threshold: float,
        min_support: int,
    ) -> None:
        """Args: threshold: cosine from which a node joins a slot; min_support: default for promotion."""
        self.canonical = canonical
        self.named: set[str] = set()
        """Nodes that were mapped this turn."""
        self.vectors_created: dict[str, Vectors] = {}
        self._graph = graph
        self._methodology = methodology
        self._session_id = session_id
        self._turn = turn
        self._threshold = threshold
        self._min_support = min_support
        self._created = sum(slot.first_seen_turn == turn for slot in canonical.slots.values())

    def compared(
        self, proposals: Sequence[SlotProposal], vectors: Mapping[str, Vectors]
    ) -> tuple[set[int], dict[str, CanonicalSlot]]:
        """Which proposals, by number, and which slots have to have a vector, because one of them may match another.

        What is named after a label is compared with another such one only where the labels are alike at all.

        Args:
            proposals: to be applied in this order.
            vectors: of nodes and slots.
        """
        labels = {node.label: vectors[node.id] for node in self._graph.nodes.values() if node.id in vectors}
        wanted: set[int] = set()
        slots: dict[str, CanonicalSlot] = {}
        for number, proposal in enumerate(proposals):
            same_type = [slot for slot in self.canonical.slots.values() if slot.node_type == proposal.node_type]
            if any(i in self.canonical.mappings for i in proposal.node_ids):
                wanted.add(number)  # It may rename a slot.
            elif any(slot.slot_name == proposal.slot_name for slot in same_type):
                continue
            own = labels.get(proposal.description)
            near = [slot for slot, may in zip(same_type, self._may_match(own, same_type, labels), strict=True) if may]
            slots.update({slot.id: slot for slot in near})
            before = [at for at in range(number) if proposals[at].node_type == proposal.node_type]
            alike = self._may_match(own, [proposals[at] for at in before], labels)
            beside = {at for at, may in zip(before, alike, strict=True) if may}
            wanted |= beside | ({number} if near or beside else set())
        return wanted, slots

    def _may_match(
        self, own: Vectors | None, others: Sequence[CanonicalSlot | SlotProposal], labels: Mapping[str, Vectors]
    ) -> list[bool]:
        """Of each of some slots or proposals, whether one that is named after a label with this vector may match it."""
        theirs = [labels.get(other.description) for other in others]
        known = [row for row in theirs if row is not None]
        if own is None or not known:
            return [True] * len(others)
        near = iter(np.stack(known) @ own >= min(MAY_MATCH, self._threshold))
        return [row is None or bool(next(near)) for row in theirs]

    def apply(self, proposal: SlotProposal, vector: Vectors | None, vectors: MutableMapping[str, Vectors]) -> None:
        """Map the proposal's nodes to the slot of that name, the most similar slot, or a new candidate.

        Without a vector only the name is looked for.

        Nodes that are mapped already are moved. A slot that holds only these nodes is renamed if no other slot matches;
        if one does, it is left empty and removed by `settle`.
        """
        own = self._held_alone(proposal.node_ids)
        slot, similarity = self._match(proposal, vector, vectors, leaving=own)
        if slot is None and own:
            assert vector is not None
            slot = self.canonical.slots[own[0]].model_copy(
                update={"slot_name": proposal.slot_name, "description": proposal.description}
            )
            self.canonical.slots[slot.id] = slot
            vectors[slot.id] = self.vectors_created[slot.id] = vector
        if slot is None:
            slot = CanonicalSlot(
                id=derived_id(self._session_id, self._turn, "slot", self._created),
                slot_name=proposal.slot_name,
                description=proposal.description,
                node_type=proposal.node_type,
                status="candidate",
                support_count=0,
                first_seen_turn=self._turn,
            )
            self.canonical.slots[slot.id] = slot
            self._created += 1
            if vector is not None:
                vectors[slot.id] = self.vectors_created[slot.id] = vector
        self.named.update(proposal.node_ids)
        for node_id in proposal.node_ids:
            mapping = SlotMapping(
                surface_node_id=node_id,
                canonical_slot_id=slot.id,
                similarity=similarity,
                assigned_turn=self._turn,
            )
            self.canonical.mappings[node_id] = mapping

    def settle(self) -> None:
        """Remove slots that were left empty, count support, promote, aggregate edges.

        Superseded nodes support nothing.
        """
        held = {mapping.canonical_slot_id for mapping in self.canonical.mappings.values()}
        for slot_id in [i for i in self.canonical.slots if i not in held]:
            del self.canonical.slots[slot_id]
            self.vectors_created.pop(slot_id, None)
        support: dict[str, int] = {}
        nodes = self._graph.nodes
        for mapping in self.canonical.mappings.values():
            if nodes[mapping.surface_node_id].superseded_by is None:
                support[mapping.canonical_slot_id] = support.get(mapping.canonical_slot_id, 0) + 1
        for slot in list(self.canonical.slots.values()):
            count = support.get(slot.id, 0)
            promoted = slot.status == "candidate" and count >= self._methodology.min_support(
                slot.node_type, self._min_support
            )
            if promoted or count != slot.support_count:
                update: dict[str, object] = {"support_count": count}
                if promoted:
                    update |= {"status": "active", "promoted_turn": self._turn}
                self.canonical.slots[slot.id] = slot.model_copy(update=update)
        self._aggregate()

    def _held_alone(self, node_ids: Collection[str]) -> list[str]:
        """Slots that hold some of these nodes and no others, in the order of the nodes."""
        mappings = self.canonical.mappings
        theirs = [mappings[i].canonical_slot_id for i in node_ids if i in mappings]
        if not theirs:
            return []
        shared = {m.canonical_slot_id for i, m in mappings.items() if i not in node_ids}
        return [i for i in dict.fromkeys(theirs) if i not in shared]

    def _match(
        self,
        proposal: SlotProposal,
        vector: Vectors | None,
        vectors: Mapping[str, Vectors],
        *,
        leaving: Collection[str] = (),
    ) -> tuple[CanonicalSlot | None, float]:
        """Same name, else best cosine at or above the threshold, within the node type; never across polarity.

        `leaving` are slots that all their nodes are about to leave; they are not matched.
        """
        same_type = [
            slot
            for slot in self.canonical.slots.values()
            if slot.node_type == proposal.node_type and slot.id not in leaving
        ]
        for slot in same_type:
            if slot.slot_name == proposal.slot_name:
                return slot, 1.0
        words = proposal.slot_name.split("_")
        known = [slot for slot in same_type if slot.id in vectors]
        if known and vector is not None:
            cosines = np.stack([vectors[slot.id] for slot in known]) @ vector
            for i in np.argsort(-cosines, kind="stable"):
                if float(cosines[i]) < self._threshold:
                    break
                if not opposed(words, known[i].slot_name.split("_")):
                    return known[i], float(cosines[i])
        return None, 1.0

    def _aggregate(self) -> None:
        """Rebuild the canonical edges from the surface edges that were not merely inferred; no self-loops."""
        support: dict[tuple[str, str, str], list[str]] = {}
        mappings = self.canonical.mappings
        for edge in self._graph.firm_edges():
            source, target = mappings.get(edge.source_id), mappings.get(edge.target_id)
            if source is None or target is None or source.canonical_slot_id == target.canonical_slot_id:
                continue
            ends = (source.canonical_slot_id, target.canonical_slot_id, edge.edge_type)
            support.setdefault(ends, []).append(edge.id)
        old = {(e.source_slot_id, e.target_slot_id, e.edge_type): e for e in self.canonical.edges.values()}
        self.canonical.edges = {}
        for ends, edges in support.items():
            known = old.get(ends)
            if known is None or known.surface_edge_ids != tuple(edges):
                source_id, target_id, kind = ends
                known = CanonicalEdge(
                    id=known.id if known else derived_id(self._session_id, 0, "canonical_edge", "/".join(ends)),
                    source_slot_id=source_id,
                    target_slot_id=target_id,
                    edge_type=kind,
                    support_count=len(edges),
                    surface_edge_ids=tuple(edges),
                )
            self.canonical.edges[known.id] = known

"""Adds one answer's concepts and relations to a surface graph, under the methodology's rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.graph.dedup import Deduplicator, MentionQuery
from pipeline.graph.surface import (
    BASES,
    REVISES,
    Basis,
    KGEdge,
    KGNode,
    Mention,
    SchemaTension,
    SurfaceGraph,
    label_key,
)
from pipeline.methodology import EdgeType, Ontology
from pipeline.ports import DroppedElement, ExtractedConcept, ExtractedRelationship, Vectors
from pipeline.records import derived_id
from pipeline.state import Utterance


class GraphUpdate:
    """The changes of one answer to `graph`, which is changed in place.

    What can't be added is recorded as a schema tension.
    """

    def __init__(
        self,
        graph: SurfaceGraph,
        dedup: Deduplicator,
        ontology: Ontology,
        utterance: Utterance,
        session_id: str,
        part: int = 0,
    ) -> None:
        """Args: part: how many messages of the respondent the turn had before; ids of what they brought stay theirs."""
        self._part = part
        self.graph = graph
        self.nodes_added: list[KGNode] = []
        self.edges_added: list[KGEdge] = []
        self.mentioned: list[str] = []
        self.superseded: list[str] = []
        self._tensions = 0
        self.vectors: dict[str, Vectors] = {}
        self._dedup = dedup
        self._ontology = ontology
        self._utterance = utterance
        self._session_id = session_id
        self._sequence = graph.next_sequence()
        self._by_label: dict[str, str] = {}
        self._all_labels: dict[str, str] | None = None

    @property
    def gained(self) -> bool:
        """Whether the graph has a node or an edge that it did not have before."""
        return bool(self.nodes_added or self.edges_added)

    def add_concept(self, concept: ExtractedConcept, lemmas: tuple[str, ...], vector: Vectors | None) -> None:
        """A new node, or another mention of a known one."""
        label = " ".join(concept.label.split())
        if self._ontology.node_type(concept.node_type) is None:
            self._tension(label, None, concept.node_type, concept.quote, "unknown_node_type")
            return
        if not label or not concept.quote.strip():
            self._tension(label, None, concept.node_type, concept.quote, "missing_quote" if label else "missing_label")
            return
        match = self._dedup.find(MentionQuery(label, concept.node_type, lemmas, concept.stance, vector))
        if match is not None:
            self._mention_again(match.node_id, concept)
            self._by_label.setdefault(label_key(label), match.node_id)
            return
        node = KGNode(
            id=self._id("node", len(self.nodes_added)),
            label=label,
            node_type=concept.node_type,
            type_alternatives=concept.type_alternatives,
            mentions=(Mention(utterance_id=self._utterance.id, quote=concept.quote),),
            confidence=concept.confidence,
            stance=concept.stance,
            salience=concept.salience,
            emotion=concept.emotion,
            created_turn=self._utterance.turn_number,
            last_mention_turn=self._utterance.turn_number,
            sequence=self._sequence,
            mention_sequence=self._sequence,
            element_ids=concept.element_ids,
            lemmas=lemmas,
        )
        self._sequence += 1
        self.graph.put_node(node)
        self._dedup.add(node, vector)
        if vector is not None:
            self.vectors[node.id] = vector
        self.nodes_added.append(node)
        self.mentioned.append(node.id)
        self._by_label.setdefault(label_key(label), node.id)

    def add_relationship(self, relationship: ExtractedRelationship) -> None:
        """A new edge, or more provenance for a known one; a `revises` edge supersedes the older end."""
        found = relationship
        kind = self._ontology.edge_type(found.edge_type)
        if not found.quote.strip():
            self._tension(found.source, found.target, found.edge_type, found.quote, "missing_quote")
            return
        if kind is None:
            self._tension(found.source, found.target, found.edge_type, found.quote, "unknown_edge_type")
            return
        source, target = self._resolve(found.source), self._resolve(found.target)
        if source is None or target is None:
            ends = (source, target)
            self._tension(found.source, found.target, found.edge_type, found.quote, "unresolved_endpoint", *ends)
            return
        if source.id == target.id:
            self._tension(found.source, found.target, found.edge_type, found.quote, "self_loop", source)
            return
        if not kind.permits(source.node_type, target.node_type, stated=found.basis == "stated"):
            reason = self._not_permitted(kind, source.node_type, target.node_type)
            self._tension(source.label, target.label, found.edge_type, found.quote, reason, source, target)
            return
        mention = Mention(utterance_id=self._utterance.id, quote=found.quote)
        known = self.graph.edge_between(source.id, target.id, found.edge_type)
        if known is None:
            self._add_edge(source, target, found.edge_type, mention, found.confidence, found.stance, found.basis)
        elif mention not in known.mentions:
            self.graph.put_edge(
                known.model_copy(
                    update={
                        "mentions": (*known.mentions, mention),
                        "confidence": max(known.confidence, found.confidence),
                        "basis": min(known.basis, found.basis, key=BASES.index),
                    }
                )
            )
        if found.edge_type == REVISES:
            self._revise(source, target)

    def keep_dropped(self, dropped: Iterable[DroppedElement]) -> None:
        """Record what the provider had to leave out as tensions."""
        for element in dropped:
            self._tension(element.source, element.target, element.type, element.quote, element.reason)

    def _revise(self, source: KGNode, target: KGNode) -> None:
        """What was said first is superseded; where neither or both are new, the edge says it: source revises target."""
        new = {node.id for node in self.nodes_added}
        if target.id in new and source.id not in new:
            source, target = target, source
        self._supersede(target.id, source.id)

    def _mention_again(self, node_id: str, concept: ExtractedConcept) -> None:
        node = self.graph.nodes[node_id]
        mention = Mention(utterance_id=self._utterance.id, quote=concept.quote)
        first_this_turn = node_id not in self.mentioned
        self.graph.put_node(
            node.model_copy(
                update={
                    "mentions": node.mentions if mention in node.mentions else (*node.mentions, mention),
                    "last_mention_turn": self._utterance.turn_number,
                    "mention_sequence": self._sequence,
                    "mention_count": node.mention_count + first_this_turn,
                    "confidence": max(node.confidence, concept.confidence),
                    "salience": _higher(node.salience, concept.salience),
                    "emotion": _higher(node.emotion, concept.emotion),
                    "element_ids": tuple(dict.fromkeys((*node.element_ids, *concept.element_ids))),
                    "superseded_by": None,
                }
            )
        )
        self._sequence += 1
        if first_this_turn:
            self.mentioned.append(node_id)

    def _add_edge(
        self,
        source: KGNode,
        target: KGNode,
        edge_type: str,
        mention: Mention,
        confidence: float,
        stance: int,
        basis: Basis,
    ) -> None:
        edge = KGEdge(
            id=self._id("edge", len(self.edges_added)),
            source_id=source.id,
            target_id=target.id,
            edge_type=edge_type,
            mentions=(mention,),
            confidence=confidence,
            basis=basis,
            skips=edge_type != REVISES and self._ontology.skips(source.node_type, target.node_type),
            stance=stance,
            created_turn=self._utterance.turn_number,
            sequence=self._sequence,
        )
        self._sequence += 1
        self.graph.put_edge(edge)
        self.edges_added.append(edge)

    def _supersede(self, node_id: str, by: str) -> None:
        node = self.graph.nodes[node_id]
        self.graph.put_node(node.model_copy(update={"superseded_by": by}))
        self.superseded.append(node_id)

    def _resolve(self, label: str) -> KGNode | None:
        """This turn's concepts first, then all live nodes, the most recently mentioned before others."""
        key = label_key(label)
        found = self._by_label.get(key)
        if found is None:
            if self._all_labels is None:
                ordered: Sequence[KGNode] = sorted(self.graph.live_nodes(), key=lambda n: n.mention_sequence)
                self._all_labels = {label_key(node.label): node.id for node in ordered}
            found = self._all_labels.get(key)
        return self.graph.nodes[found] if found is not None else None

    def _not_permitted(self, kind: EdgeType, source: str, target: str) -> str:
        """Why a relation can't be added, and which could have been."""
        others = [
            f"{edge.name}: {a} → {b}"
            for a, b in dict.fromkeys(((source, target), (target, source)))
            for edge in self._ontology.edges
            if edge.name not in (REVISES, *(() if (a, b) != (source, target) else (kind.name,))) and edge.permits(a, b)
        ]
        said = f"{kind.name} if said outright" if kind.permits(source, target, stated=True) else ""
        permitted = ", ".join(part for part in (said, *others[:3]) if part) or "nothing between these types"
        return f"connection_not_permitted: {source} → {target} (permitted: {permitted})"

    def _tension(
        self, source: str, target: str | None, kind: str, quote: str, reason: str, *nodes: KGNode | None
    ) -> None:
        tension = SchemaTension(
            id=self._id("tension", self._tensions),
            turn=self._utterance.turn_number,
            utterance_id=self._utterance.id,
            source=source,
            target=target,
            type=kind,
            quote=quote,
            reason=reason,
            node_ids=tuple(node.id for node in nodes if node is not None),
        )
        self._tensions += 1
        self.graph.tensions.append(tension)

    def _id(self, kind: str, ordinal: int) -> str:
        which = f"{self._part}.{ordinal}" if self._part else ordinal
        return derived_id(self._session_id, self._utterance.turn_number, kind, which)


def _higher(one: int | None, other: int | None) -> int | None:
    """The larger of two judgements, as far as there are any."""
    return max((value for value in (one, other) if value is not None), default=None)

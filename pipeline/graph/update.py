"""Adds one answer's concepts and relations to a surface graph, under the methodology's rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass

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


def corrected_chain(utterances: Iterable[Utterance], corrected: str) -> frozenset[str]:
    """The corrected utterance and, where it was itself a correction, everything it corrected."""
    by_id = {utterance.id: utterance for utterance in utterances}
    chain: list[str] = []
    at: str | None = corrected
    while at is not None and at not in chain:
        chain.append(at)
        at = by_id[at].corrects if at in by_id else None
    return frozenset(chain)


@dataclass(frozen=True)
class Correction:
    """Words that take the place of others.

    Attributes:
        wrong: as they were told before.
        right: as they stand in the message.
        wrong_lemmas, right_lemmas: their content lemmas.
    """

    wrong: str
    right: str
    wrong_lemmas: frozenset[str]
    right_lemmas: frozenset[str]

    def applied_to(self, label: str) -> str:
        """The label as it should be; empty where it does not have the words that were wrong."""
        for wrong, right in ((self.wrong, self.right), (_bare(self.wrong), _bare(self.right))):
            found = re.search(rf"(?<!\w){re.escape(wrong)}(?!\w)", label, re.IGNORECASE)
            if found is not None:
                return label[: found.start()] + right + label[found.end() :]
        return ""


_DETERMINED = re.compile(r"^(?:the|a|an|my|our|your|his|her|their|this|that|these|those)\s+(?=\S)", re.IGNORECASE)


def _bare(phrase: str) -> str:
    """A phrase without the word that determines it."""
    return _DETERMINED.sub("", phrase)


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

    def supersede_corrected(self, utterance_ids: Set[str]) -> None:
        """Replace what only the corrected utterances said and the correction does not repeat.

        A node is superseded by the first new node of its type, with a `revises` edge, else by the correcting
        utterance. An edge leaves the graph and stays on record as a tension.
        """
        for edge in list(self.graph.edges.values()):
            if edge.edge_type != REVISES and set(edge.source_utterance_ids) <= utterance_ids:
                source, target = self.graph.nodes[edge.source_id], self.graph.nodes[edge.target_id]
                quote = edge.mentions[-1].quote
                self._tension(source.label, target.label, edge.edge_type, quote, "corrected", source, target)
                self.graph.remove_edge(edge.id)
        for node in list(self.graph.live_nodes()):
            if node.id in self.mentioned or not set(node.source_utterance_ids) <= utterance_ids:
                continue
            replacement = next((new for new in self.nodes_added if new.node_type == node.node_type), None)
            if replacement is None:
                self._supersede(node.id, self._utterance.id)
                continue
            mention = Mention(utterance_id=self._utterance.id, quote=replacement.mentions[-1].quote)
            if self.graph.edge_between(replacement.id, node.id, REVISES) is None:
                self._add_edge(replacement, node, REVISES, mention, replacement.confidence, 0, "stated")
            self._supersede(node.id, replacement.id)

    def amendable(self, correction: Correction, utterance_ids: Set[str]) -> list[tuple[KGNode, str]]:
        """The concepts of some answers that have words which were wrong, each with its label as it should be."""
        return [
            (node, label)
            for node in self.graph.live_nodes()
            if node.id not in self.mentioned and utterance_ids & set(node.source_utterance_ids)
            if (label := correction.applied_to(node.label))
        ]

    def amend(
        self, node: KGNode, label: str, lemmas: tuple[str, ...], correction: Correction, utterance_ids: Set[str]
    ) -> None:
        """Put a concept in the place of one that was understood wrongly; it has the same links.

        What was wrong is superseded, with a `revises` edge, unless an earlier answer says it as well. A concept that
        the message itself brought, and that is no more than what is right, becomes the new one.

        Args:
            node: what was understood.
            label, lemmas: what is right, and its content lemmas.
            correction: the words.
            utterance_ids: of the latest answers.
        """
        mention = Mention(utterance_id=self._utterance.id, quote=correction.right)
        said = (n for n in self.nodes_added if set(n.lemmas) <= correction.right_lemmas | correction.wrong_lemmas)
        own = next(said, None)
        new = node.model_copy(
            update={
                "id": own.id if own is not None else self._id("node", len(self.nodes_added)),
                "label": own.label if own is not None and label_key(own.label) == label_key(label) else label,
                "lemmas": lemmas,
                "mentions": (mention,),
                "mention_count": 1,
                "created_turn": self._utterance.turn_number,
                "last_mention_turn": self._utterance.turn_number,
                "sequence": own.sequence if own is not None else self._sequence,
                "mention_sequence": own.mention_sequence if own is not None else self._sequence,
            }
        )
        self.graph.put_node(new)
        if own is None:
            self._sequence += 1
            self.nodes_added.append(new)
            self.mentioned.append(new.id)
        else:
            self.nodes_added = [new if one.id == own.id else one for one in self.nodes_added]
            self.vectors.pop(own.id, None)
        for edge in self.graph.live_edges():
            ends = [new if end == node.id else self.graph.nodes[end] for end in (edge.source_id, edge.target_id)]
            if (
                new in ends
                and ends[0].id != ends[1].id
                and self.graph.edge_between(ends[0].id, ends[1].id, edge.edge_type) is None
            ):
                self._add_edge(ends[0], ends[1], edge.edge_type, mention, edge.confidence, edge.stance, edge.basis)
        if set(node.source_utterance_ids) <= utterance_ids:
            self._add_edge(new, node, REVISES, mention, node.confidence, 0, "stated")
            self._supersede(node.id, new.id)

    def retract(self, words: Collection[str], utterance_ids: Set[str], focus: str | None) -> None:
        """Take back what was understood wrongly.

        A node is meant that has all of these content words in its label; without words, the one that the
        question was about. It loses the mentions of those utterances, and where none is left it counts no more.

        Args:
            words: content lemmas of what was wrong.
            utterance_ids: of the latest answers.
            focus: the surface node that the question was about.
        """
        wanted = frozenset(words)
        for node in list(self.graph.live_nodes()):
            if node.id in self.mentioned:
                continue
            if wanted and not wanted <= set(node.lemmas):
                continue
            if not wanted and node.id != focus:
                continue
            left = tuple(mention for mention in node.mentions if mention.utterance_id not in utterance_ids)
            if len(left) == len(node.mentions):
                continue
            if left:
                self.graph.put_node(
                    node.model_copy(
                        update={"mentions": left, "mention_count": len({mention.utterance_id for mention in left})}
                    )
                )
            else:
                self._supersede(node.id, self._utterance.id)

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

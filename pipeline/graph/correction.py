"""Takes back, or puts right, what earlier answers said in a surface graph."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass

from pipeline.graph.surface import REVISES, KGNode, Mention, label_key
from pipeline.graph.update import GraphUpdate
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


class GraphCorrection(GraphUpdate):
    """The changes of one answer that takes something back, or puts it right."""

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

"""Proposes canonical slots without a language model: by lemmas, then by embeddings."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np
from spacy.lang.en.stop_words import STOP_WORDS

from pipeline.graph.polarity import NEGATIONS, opposed
from pipeline.graph.surface import KGNode
from pipeline.language.offline.kinds import SyncEmbedder
from pipeline.language.srl import SpacyParser
from pipeline.ports import SlotProposal, SlotRequest, Vectors

GROUP_COSINE = 0.80
"""Cosine from which two labels of one request share a proposal."""
GROUP_JACCARD = 0.50
"""Lemma overlap from which two labels of one request share a proposal, if their cosine confirms it."""
CONFIRMED_COSINE = 0.60
"""Cosine that confirms an overlap of lemmas: "sit down for it" and "drink it standing" share words, not meaning."""
NAME_JACCARD = 0.60
"""Overlap with the words of a slot's name from which that name is proposed."""
NAME_WORDS = 8
"""Words in a slot's name."""
_LEFT_OUT = frozenset("a an the my our your his her its their this that these those i it we they he she you".split())
"""Words that a slot's name does not begin with."""
_TURNING = frozenset(
    "more less than only without everything nothing everybody everyone nobody anybody too enough instead".split()
)
"""Small words that make another thing of the words beside them: to be more than a mother is not to be a mother."""


class OfflineSlotProposer:
    """SlotProposer of the ports; fast enough to be used within a turn."""

    def __init__(self, parser: SpacyParser, embedder: SyncEmbedder, *, executor: Executor | None = None) -> None:
        self._parser = parser
        self._embedder = embedder
        self._executor = executor

    @property
    def inline(self) -> bool:
        """Proposing takes milliseconds."""
        return True

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        """One proposal per group of nodes that mean the same, within one type."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self.propose_sync, request)

    def propose_sync(self, request: SlotRequest) -> list[SlotProposal]:
        """As `propose`, for callers that already are on a worker thread."""
        if not request.nodes:
            return []
        labels = [node.label for node in request.nodes]
        words = self._parser.words_sync(labels)
        lemmas = self._parser.lemmas_sync(labels)
        vectors = self._embedder.embed_sync(labels)
        proposals = []
        for group in _groups(request.nodes, lemmas, [_TURNING & set(own) for own in words], vectors):
            lead = max(
                group, key=lambda i: (request.nodes[i].mention_count, -len(lemmas[i]), -request.nodes[i].sequence)
            )
            own = [request.nodes[i] for i in group]
            proposals.append(
                SlotProposal(
                    slot_name=_known_name(request, own[0], lemmas[lead], _TURNING & set(words[lead]))
                    or slot_name(words[lead], request.nodes[lead].label),
                    description="; ".join(dict.fromkeys(node.label for node in own)),
                    node_type=own[0].node_type,
                    node_ids=tuple(node.id for node in own),
                )
            )
        return proposals


def _groups(
    nodes: Sequence[KGNode], lemmas: Sequence[tuple[str, ...]], turning: Sequence[frozenset[str]], vectors: Vectors
) -> list[list[int]]:
    """Indices of nodes that belong together; a node joins the first group whose every member is close to it."""
    similar = np.asarray(vectors @ vectors.T)
    groups: list[list[int]] = []
    for i, node in enumerate(nodes):
        for group in groups:
            if all(
                nodes[j].node_type == node.node_type
                and nodes[j].stance * node.stance >= 0
                and not opposed(lemmas[i], lemmas[j])
                and turning[i] == turning[j]
                and _same(overlap(lemmas[i], lemmas[j]), float(similar[i, j]))
                for j in group
            ):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


def _same(shared: float, cosine: float) -> bool:
    """Whether two labels mean the same: nearly the same vector, or the same words confirmed by it."""
    return cosine >= GROUP_COSINE or (shared >= GROUP_JACCARD and cosine >= CONFIRMED_COSINE)


def _known_name(request: SlotRequest, node: KGNode, lemmas: Sequence[str], turning: frozenset[str]) -> str | None:
    """The name of a slot of the node's type that says the same in nearly the same words."""
    best: tuple[float, str] | None = None
    for slot in request.slots:
        if slot.node_type != node.node_type:
            continue
        named = slot.slot_name.split("_")
        if _TURNING & set(named) != turning:
            continue
        parts = ["not" if part in NEGATIONS else part for part in named if part in NEGATIONS or part not in STOP_WORDS]
        share = overlap(lemmas, parts)
        if share >= NAME_JACCARD and not opposed(lemmas, parts) and (best is None or share > best[0]):
            best = (share, slot.slot_name)
    return best[1] if best else None


def slot_name(lemmas: Sequence[str], label: str) -> str:
    """snake_case of the lemmas of all words of a label, so that it keeps what makes it itself.

    An article or pronoun at its beginning is left out; "slot" where there are no letters.
    """
    own = list(lemmas)
    while len(own) > 1 and own[0] in _LEFT_OUT:
        own = own[1:]
    words = [re.sub(r"[^\w]+", "_", lemma).strip("_") for lemma in own[:NAME_WORDS]]
    name = "_".join(word for word in words if word)
    if not name:
        name = re.sub(r"[^\w]+", "_", label.casefold()).strip("_")
    return name or "slot"


def overlap(left: Sequence[str], right: Sequence[str]) -> float:
    """Jaccard index of two lemma sequences, in [0, 1]; 0 when both are empty."""
    a, b = set(left), set(right)
    return len(a & b) / len(a | b) if a or b else 0.0

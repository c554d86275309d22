"""The surface graph: concepts and relations in the respondent's own words, with their provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Literal

from pydantic import Field

from pipeline.records import Record

REVISES = "revises"

Basis = Literal["stated", "answered", "inferred", "unrecorded"]
"""What an edge rests on: a connector or construction in the answer, the answer to a question about its end, mere
neighbourhood; `unrecorded` are edges from before this was kept."""
BASES: tuple[Basis, ...] = ("stated", "answered", "inferred", "unrecorded")
"""The firmer ones first."""
GUESSED: Basis = "inferred"
"""What counts for no chain, ladder or analysis, and stays out of exports unless asked for."""


def label_key(label: str) -> str:
    """The label as compared for identity: case-folded, white space collapsed."""
    return " ".join(label.casefold().split())


class Mention(Record):
    """One quote of a node or an edge, and the utterance it is from."""

    utterance_id: str
    quote: str


class KGNode(Record):
    """A concept as the respondent put it.

    `sequence` is the creation order within the session, `mention_sequence` the order of the latest mention; both
    grow by one for each node or mention and never repeat. `lemmas` are the label's content lemmas, kept so that
    deduplication never parses a label twice. `superseded_by` is the node that takes its place or, where a
    correction puts nothing in its place, the correcting utterance. `salience` is how much a moderator would follow
    it up (0 a detail, 3 at once), `emotion` how much feeling is in it (0 none, 2 strong); None where nobody judged it.
    """

    id: str
    label: str
    node_type: str
    type_alternatives: tuple[tuple[str, float], ...] = ()
    mentions: tuple[Mention, ...]
    confidence: float = Field(ge=0.0, le=1.0)
    stance: int = Field(default=0, ge=-1, le=1)
    salience: int | None = Field(default=None, ge=0, le=3)
    emotion: int | None = Field(default=None, ge=0, le=2)
    created_turn: int
    last_mention_turn: int
    sequence: int
    mention_sequence: int
    mention_count: int = 1
    element_ids: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    superseded_by: str | None = None

    @property
    def source_utterance_ids(self) -> tuple[str, ...]:
        """Utterances that mention the node, oldest first, each once."""
        return tuple(dict.fromkeys(mention.utterance_id for mention in self.mentions))


class KGEdge(Record):
    """A relation between two concepts as the respondent put it; `skips` one that leaves out a level of the ladder."""

    id: str
    source_id: str
    target_id: str
    edge_type: str
    mentions: tuple[Mention, ...]
    confidence: float = Field(ge=0.0, le=1.0)
    basis: Basis = "unrecorded"
    skips: bool = False
    stance: int = Field(default=0, ge=-1, le=1)
    created_turn: int
    sequence: int

    @property
    def source_utterance_ids(self) -> tuple[str, ...]:
        """Utterances that state the relation, oldest first, each once."""
        return tuple(dict.fromkeys(mention.utterance_id for mention in self.mentions))


class SchemaTension(Record):
    """An element of an extraction that was not added to the graph; `reason` says why.

    `node_ids` are the nodes of the graph that it is about, source first, as far as there are any.
    """

    id: str
    turn: int
    utterance_id: str
    source: str
    target: str | None = None
    type: str
    quote: str = ""
    reason: str
    node_ids: tuple[str, ...] = ()


class SurfaceGraph:
    """Nodes, edges and tensions of one session; copies are cheap, values are immutable.

    A stage works on `copy()` and returns the copy, so that a turn that fails or is cancelled changes nothing.
    """

    __slots__ = ("_by_identity", "_edge_by_ends", "_live_edges", "edges", "nodes", "tensions")

    def __init__(
        self,
        nodes: Iterable[KGNode] = (),
        edges: Iterable[KGEdge] = (),
        tensions: Iterable[SchemaTension] = (),
    ) -> None:
        self.nodes: dict[str, KGNode] = {node.id: node for node in nodes}
        self.edges: dict[str, KGEdge] = {edge.id: edge for edge in edges}
        self.tensions: list[SchemaTension] = list(tensions)
        self._by_identity = {(label_key(n.label), n.node_type): n.id for n in self.nodes.values()}
        self._edge_by_ends = {(e.source_id, e.target_id, e.edge_type): e.id for e in self.edges.values()}
        self._live_edges: list[KGEdge] | None = None

    def copy(self) -> SurfaceGraph:
        """A graph that can be changed without changing this one. O(nodes + edges), shallow."""
        twin = SurfaceGraph.__new__(SurfaceGraph)
        twin.nodes = self.nodes.copy()
        twin.edges = self.edges.copy()
        twin.tensions = self.tensions.copy()
        twin._by_identity = self._by_identity.copy()
        twin._edge_by_ends = self._edge_by_ends.copy()
        twin._live_edges = self._live_edges
        return twin

    def put_node(self, node: KGNode) -> None:
        """Add the node, or replace the one with its id."""
        known = self.nodes.get(node.id)
        if known is not None and known.superseded_by != node.superseded_by:
            self._live_edges = None
        self.nodes[node.id] = node
        self._by_identity[label_key(node.label), node.node_type] = node.id

    def put_edge(self, edge: KGEdge) -> None:
        """Add the edge, or replace the one with its id."""
        self.edges[edge.id] = edge
        self._live_edges = None
        self._edge_by_ends[edge.source_id, edge.target_id, edge.edge_type] = edge.id

    def remove_edge(self, edge_id: str) -> None:
        """Remove the edge. Raises KeyError."""
        edge = self.edges.pop(edge_id)
        del self._edge_by_ends[edge.source_id, edge.target_id, edge.edge_type]
        self._live_edges = None

    def node_by_identity(self, label: str, node_type: str) -> KGNode | None:
        """The node with this label and type, if the session has one."""
        found = self._by_identity.get((label_key(label), node_type))
        return self.nodes[found] if found is not None else None

    def edge_between(self, source_id: str, target_id: str, edge_type: str) -> KGEdge | None:
        """The edge of this type from source to target, if the session has one."""
        found = self._edge_by_ends.get((source_id, target_id, edge_type))
        return self.edges[found] if found is not None else None

    def live_nodes(self) -> Iterator[KGNode]:
        """Nodes that no later statement has revised, in creation order."""
        return (node for node in self.nodes.values() if node.superseded_by is None)

    def live_edges(self) -> list[KGEdge]:
        """Edges that count, in creation order: no `revises`, and both ends live. Not to be changed."""
        if self._live_edges is None:
            gone = {node.id for node in self.nodes.values() if node.superseded_by is not None}
            self._live_edges = [
                edge
                for edge in self.edges.values()
                if edge.edge_type != REVISES and edge.source_id not in gone and edge.target_id not in gone
            ]
        return self._live_edges

    def firm_edges(self) -> list[KGEdge]:
        """The live edges that were not merely inferred: those that chains and ladders are made of."""
        return [edge for edge in self.live_edges() if edge.basis != GUESSED]

    def next_sequence(self) -> int:
        """One more than any creation or mention order used so far."""
        mentions = max(map(attrgetter("mention_sequence"), self.nodes.values()), default=0)
        edges = max(map(attrgetter("sequence"), self.edges.values()), default=0)
        return max(mentions, edges) + 1

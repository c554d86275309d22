"""What an interviewer follows: a ladder, a line of a story."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal

from pipeline.graph.surface import GUESSED, KGEdge, KGNode, SurfaceGraph
from pipeline.graph.tracker import NodeStateTracker
from pipeline.methodology import Ontology
from pipeline.records import Record, derived_id

ThreadKind = Literal["ladder", "story", "force"]
ThreadEnd = Literal["", "terminal", "declined", "exhausted", "distressed"]

BEGINS_A_THREAD = 2
"""Least salience of a concept that a thread begins with."""
PEAK = 3
"""Salience of what weighs most: a value of it is asked about before its ladder ends."""
DRY_QUESTIONS = 2
"""Questions in a row without anything new on it that exhaust a thread."""


class Thread(Record):
    """One thread: the surface nodes it runs through, the last of which is its head.

    `ended` says why it is not open any more, empty while it is. `left_turn` is the turn whose question went on with
    something else; `promised` says that the interviewer told the respondent to come back to it. `advanced_turn` is the
    turn that reached the head; `dry` counts the questions about it since then.
    """

    id: str
    kind: ThreadKind
    node_ids: tuple[str, ...]
    purpose: str = ""
    ended: ThreadEnd = ""
    began_turn: int
    advanced_turn: int
    left_turn: int | None = None
    promised: bool = False
    dry: int = 0

    @property
    def head(self) -> str:
        """The surface node reached last."""
        return self.node_ids[-1]


def kind_of(ontology: Ontology) -> ThreadKind:
    """What the threads of a method are: ladders where its types have levels, else stories."""
    return "ladder" if len({node.level for node in ontology.nodes if node.level}) >= 2 else "story"


def followed(
    threads: Sequence[Thread],
    graph: SurfaceGraph,
    said: Sequence[KGNode],
    *,
    focus: Collection[str],
    turn: int,
    ontology: Ontology,
    session_id: str,
) -> tuple[Thread, ...]:
    """The threads after an answer.

    What the answer links to a thread by a stated or answered relation, or else the weightiest of what answers a
    question about it, leads that thread on; what else is salient begins threads of its own. Where nothing does either,
    the weightiest of what was said begins one, so that a brief answer is followed, too.

    Args:
        threads: before this answer.
        graph: after it.
        said: the live nodes that this answer mentions, in the order in which it does.
        focus: surface nodes that the answered question was about.
        turn: of the answer.
        ontology: of the method.
        session_id: of the interview.
    """
    neighbours = _firm(graph.live_edges())
    order = {node.id: place for place, node in enumerate(said)}
    free = {node.id: node for node in said}
    after: list[Thread] = []
    for thread in sorted(threads, key=lambda known: not set(known.node_ids) & set(focus)):
        kept = tuple(node_id for node_id in thread.node_ids if _lives(graph, node_id))
        if not kept:
            continue
        asked = bool(set(kept) & set(focus))
        joined = _reached(set(kept), neighbours, free)
        if asked and not joined:
            joined = _weightiest(free.values())
        new = [node_id for node_id in joined if node_id not in kept]
        for node_id in joined:
            free.pop(node_id, None)
        if new:
            new.sort(key=lambda node_id: (_height(graph.nodes[node_id], ontology), order[node_id]))
            update = {"node_ids": (*kept, *new), "advanced_turn": turn, "dry": 0, "ended": "", "left_turn": None}
        else:
            update = {"node_ids": kept, "dry": thread.dry + asked}
        after.append(thread.model_copy(update=update))
    kind = kind_of(ontology)
    least = BEGINS_A_THREAD
    if not any(thread.advanced_turn == turn for thread in after):
        least = min(least, max((salience_of(node) for node in free.values()), default=0))
    while free:
        first = next(iter(free))
        group = [first, *_reached({first}, neighbours, {k: v for k, v in free.items() if k != first})]
        nodes = [free.pop(node_id) for node_id in group]
        if max(map(salience_of, nodes)) < max(least, 1):
            continue
        nodes.sort(key=lambda node: (_height(node, ontology), order[node.id]))
        after.append(
            Thread(
                id=derived_id(session_id, turn, "thread", nodes[0].id),
                kind=kind,
                node_ids=tuple(node.id for node in nodes),
                began_turn=turn,
                advanced_turn=turn,
            )
        )
    place = {thread.id: number for number, thread in enumerate(threads)}
    return tuple(sorted(after, key=lambda thread: place.get(thread.id, len(place))))


def judged(
    threads: Iterable[Thread],
    graph: SurfaceGraph,
    tracker: NodeStateTracker,
    key_of: Callable[[str], str],
    ontology: Ontology,
) -> tuple[Thread, ...]:
    """The threads with why they ended: at a terminal concept, at a closed subject, or for want of anything new.

    A ladder ends where it reaches a terminal concept; a story, and a ladder at what weighs most, once that has been
    asked about. Where a story's head is at its end and not the story, it goes on from what was told before and asked
    about once at the most: a feeling that somebody can say no more about leaves open what happened then.
    """
    is_ladder = kind_of(ontology) == "ladder"

    def end(thread: Thread) -> ThreadEnd:
        state = tracker.states.get(key_of(thread.head))
        if state is None or state.declined:
            return "declined"
        head = graph.nodes[thread.head]
        peak = is_ladder and (head.salience or 0) >= PEAK
        if head.node_type in ontology.terminal_types and ((is_ladder and not peak) or state.focus_count):
            return "terminal"
        return "exhausted" if thread.dry >= DRY_QUESTIONS else ""

    def earlier(thread: Thread) -> str | None:
        for node_id in reversed(thread.node_ids[:-1]):
            state = tracker.states.get(key_of(node_id))
            if state is not None and not state.declined and state.focus_count <= 1:
                return node_id
        return None

    found = []
    for thread in threads:
        why = end(thread)
        goes_on = earlier(thread) if not is_ladder and why in ("declined", "exhausted") else None
        if goes_on is not None:
            rest = tuple(node_id for node_id in thread.node_ids if node_id != goes_on)
            found.append(thread.model_copy(update={"node_ids": (*rest, goes_on), "ended": "", "dry": 0}))
        else:
            found.append(thread.model_copy(update={"ended": why}))
    return tuple(found)


def left(threads: Iterable[Thread], asked: Collection[str], turn: int) -> tuple[Thread, ...]:
    """The threads after the next question was decided on, which is about the surface nodes `asked`."""

    def now(thread: Thread) -> Thread:
        if set(thread.node_ids) & set(asked):
            return thread.model_copy(update={"left_turn": None}) if thread.left_turn is not None else thread
        return thread if thread.left_turn is not None else thread.model_copy(update={"left_turn": turn})

    return tuple(now(thread) for thread in threads)


def _lives(graph: SurfaceGraph, node_id: str) -> bool:
    node = graph.nodes.get(node_id)
    return node is not None and node.superseded_by is None


def _firm(edges: Iterable[KGEdge]) -> dict[str, set[str]]:
    """Neighbours by relations that are more than a guess."""
    found: dict[str, set[str]] = {}
    for edge in edges:
        if edge.basis != GUESSED:
            found.setdefault(edge.source_id, set()).add(edge.target_id)
            found.setdefault(edge.target_id, set()).add(edge.source_id)
    return found


def _reached(start: set[str], neighbours: Mapping[str, set[str]], among: Collection[str]) -> list[str]:
    """Those of `among` that relations join to `start`, directly or by others of them."""
    found: list[str] = []
    seen, ahead = set(start), list(start)
    while ahead:
        for node_id in sorted(neighbours.get(ahead.pop(), ())):
            if node_id in seen or node_id not in among:
                continue
            seen.add(node_id)
            found.append(node_id)
            ahead.append(node_id)
    return found + [node_id for node_id in among if node_id in start and node_id not in found]


def _weightiest(nodes: Iterable[KGNode]) -> list[str]:
    """The node that answers a question, where no relation says so: the most salient, then the last."""
    listed = list(nodes)
    if not listed:
        return []
    best = max(enumerate(listed), key=lambda pair: (salience_of(pair[1]), pair[0]))
    return [best[1].id]


def _height(node: KGNode, ontology: Ontology) -> tuple[int, int]:
    """What makes a node the head: its level where the method has levels, then its salience."""
    return ontology.level_of(node.node_type), salience_of(node)


def salience_of(node: KGNode) -> int:
    """How much a moderator would follow a node up; what nobody judged counts as something to follow."""
    return node.salience if node.salience is not None else BEGINS_A_THREAD

"""How far the elements of a concept test were spoken of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from pipeline.concept import Element
from pipeline.focus import Target
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.guide import ELEMENT
from pipeline.records import Record

Reaction = Literal["positive", "negative", "neutral", "skeptical", "curious"]
GapKind = Literal["unmentioned", "no_reaction", "no_comprehension", "unconnected"]

IN_A_ROW, IN_ALL = 3, 5
"""Questions about an element, one after the other or together, that exhaust it for good."""
NAMED, EXPLAINED = 0.5, 1.0
"""Comprehension of an element that was merely named, and of one that was related to something or told about."""
UNDERSTOOD = 0.75
"""Comprehension from which on nothing is missing."""
TELLING_WORDS = 6
"""Words of an answer to a question about an element that tell something about it."""


class ElementCoverage(Record):
    """One element of the concept: what was said about it, and how often questions were about it.

    `node_ids` are the surface nodes that mention it; `comprehension` is in [0, 1], None before anybody could tell.
    `focused` counts all questions about it, `focused_in_a_row` the latest ones. `mentioned` counts the answers that
    spoke of it, `mentioned_since_new` those since one brought something new on it. `exhausted` and `declined` are for
    good: it was asked about often enough, or the respondent would not speak of it.
    """

    element_id: str
    node_ids: tuple[str, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    comprehension: float | None = None
    focused: int = 0
    focused_in_a_row: int = 0
    exhausted: bool = False
    mentioned: int = 0
    mentioned_since_new: int = 0
    declined: bool = False


class Gap(Record):
    """What an element still lacks; `other` is the element that it should be connected to."""

    element_id: str
    kind: GapKind
    other: str = ""


@dataclass(frozen=True)
class Told:
    """One answer, as far as elements are concerned.

    Attributes:
        nodes: the live ones that it mentions.
        new: ids of those that it was the first to mention.
        content: what of it tells.
        about: the element that was asked about.
        named: ids of the elements that its words name, whether or not anything was made of them.
        doubts, wonders: it hedges all along; it is curious to know more.
        refused: the respondent would not answer.
        valence: how it sounds, from 0 negative to 1 positive; None where it was not rated.
    """

    nodes: Sequence[KGNode] = ()
    new: Collection[str] = ()
    content: str = ""
    about: str | None = None
    named: Collection[str] = ()
    doubts: bool = False
    wonders: bool = False
    refused: bool = False
    valence: float | None = None


def element_of(target: Target | None) -> str | None:
    """The element that a question is about, asked for as an element or as a topic of the guide."""
    if target is not None and target.kind == "element":
        return target.ids[0]
    if target is not None and target.kind == "lead":
        return target.ids[1] if len(target.ids) > 1 else None
    if target is not None and target.kind == "topic" and target.ids[0].startswith(ELEMENT):
        return target.ids[0].removeprefix(ELEMENT)
    return None


def covered(
    before: Iterable[ElementCoverage],
    elements: Iterable[Element],
    graph: SurfaceGraph,
    asked: Sequence[Target | None],
    told: Told,
) -> tuple[ElementCoverage, ...]:
    """The coverage after an answer, one entry for each element, in their order.

    Args:
        before: after the answer before; empty at first.
        elements: of the concept.
        graph: after the answer. What its nodes are about counts as long as they are live.
        asked: what each question so far was about, oldest first, the answered one at the end.
        told: the answer.
    """
    known = {entry.element_id: entry for entry in before}
    connected = {end for edge in graph.firm_edges() for end in (edge.source_id, edge.target_id)}
    focused = [element_of(target) for target in asked]
    return tuple(
        _after(known.get(element.id) or ElementCoverage(element_id=element.id), graph, connected, focused, told)
        for element in elements
    )


def _after(
    entry: ElementCoverage, graph: SurfaceGraph, connected: Collection[str], focused: Sequence[str | None], told: Told
) -> ElementCoverage:
    element_id, asked = entry.element_id, told.about == entry.element_id
    said = [node for node in told.nodes if asked or element_id in node.element_ids]
    ids = tuple(dict.fromkeys((*entry.node_ids, *(node.id for node in said))))
    live = tuple(i for i in ids if i in graph.nodes and graph.nodes[i].superseded_by is None)
    answered = asked and bool(told.content)
    named = element_id in told.named
    spoken = bool(said) or answered or named
    fresh = any(node.id in told.new or node.id not in entry.node_ids for node in said)
    runs = [(name, len(list(group))) for name, group in groupby(focused)]
    count = sum(name == element_id for name in focused)
    worn = count >= IN_ALL or any(name == element_id and length >= IN_A_ROW for name, length in runs)
    return entry.model_copy(
        update={
            "node_ids": live,
            "reactions": tuple(dict.fromkeys((*entry.reactions, *_reactions(said, told, asked=answered, named=named)))),
            "comprehension": _comprehension(entry.comprehension, live, connected, told, asked=asked, spoken=spoken),
            "focused": count,
            "focused_in_a_row": runs[-1][1] if runs and runs[-1][0] == element_id else 0,
            "exhausted": entry.exhausted or worn,
            "mentioned": entry.mentioned + spoken,
            "mentioned_since_new": 0 if fresh else entry.mentioned_since_new + spoken,
            "declined": entry.declined or (asked and told.refused),
        }
    )


def _reactions(said: Sequence[KGNode], told: Told, *, asked: bool, named: bool) -> list[Reaction]:
    """How the respondent takes an element, by what was said about it; whoever was asked and answers has a reaction.

    An element that was merely named has that of the whole answer, if it is the only one and the answer has one.
    """
    if not said and not asked:
        return [_mood(told.valence)] if named and len(told.named) == 1 and told.valence not in (None, 0.5) else []
    found: list[Reaction] = []
    if any(node.stance > 0 for node in said):
        found.append("positive")
    if any(node.stance < 0 for node in said):
        found.append("negative")
    if told.doubts:
        found.append("skeptical")
    if told.wonders:
        found.append("curious")
    if asked and not found:
        found.append(_mood(told.valence))
    return found


def _mood(valence: float | None) -> Reaction:
    value = 0.5 if valence is None else valence
    return "positive" if value > 0.5 else "negative" if value < 0.5 else "neutral"


def _comprehension(
    before: float | None, live: Sequence[str], connected: Collection[str], told: Told, *, asked: bool, spoken: bool
) -> float | None:
    tells = asked and len(told.content.split()) >= TELLING_WORDS
    if tells or any(node_id in connected for node_id in live):
        return EXPLAINED
    if spoken or live:
        return max(before or 0.0, NAMED)
    return before


def gaps_of(
    coverage: Iterable[ElementCoverage], elements: Iterable[Element], graph: SurfaceGraph
) -> dict[str, tuple[Gap, ...]]:
    """What each element lacks, by its id; nothing for one that is covered.

    An element that was not mentioned lacks nothing else yet. O(edges + elements × requirements): two elements are
    connected by an edge between a node of one and a node of the other, or by a node that is about both.
    """
    known = {entry.element_id: entry for entry in coverage}
    of_node: dict[str, set[str]] = {}
    for entry in known.values():
        for node_id in entry.node_ids:
            if node_id in graph.nodes and graph.nodes[node_id].superseded_by is None:
                of_node.setdefault(node_id, set()).add(entry.element_id)
    joined = {frozenset((one, other)) for both in of_node.values() for one in both for other in both}
    for edge in graph.live_edges():
        for one in of_node.get(edge.source_id, ()):
            joined |= {frozenset((one, other)) for other in of_node.get(edge.target_id, ())}
    return {
        element.id: tuple(_gaps(element, known.get(element.id) or ElementCoverage(element_id=element.id), joined))
        for element in elements
    }


def _gaps(element: Element, entry: ElementCoverage, joined: Collection[frozenset[str]]) -> Iterable[Gap]:
    if not entry.mentioned and not entry.node_ids:
        yield Gap(element_id=element.id, kind="unmentioned")
        return
    if not entry.reactions:
        yield Gap(element_id=element.id, kind="no_reaction")
    if entry.comprehension is None or entry.comprehension < UNDERSTOOD:
        yield Gap(element_id=element.id, kind="no_comprehension")
    for other in element.connection_requirements:
        if frozenset((element.id, other)) not in joined:
            yield Gap(element_id=element.id, kind="unconnected", other=other)


def share(gaps: dict[str, tuple[Gap, ...]]) -> float:
    """The share of the elements that lack nothing, in [0, 1]; 1 where there are no elements."""
    return sum(not lacking for lacking in gaps.values()) / len(gaps) if gaps else 1.0

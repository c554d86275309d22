"""What each strategy could be about, by the rules of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pipeline.engines.two_tier.file import FocusRule, FocusSource, TwoTierStrategy
from pipeline.engines.two_tier.moment import Moment, PossibleFocus
from pipeline.focus import Target
from pipeline.guide import ELEMENT
from pipeline.question.phrases import says_nothing
from pipeline.subjects import NodeFacts, described, is_nameable, language_of, together

FEWEST_TOGETHER = 2
"""Concepts that a summary is about at the least."""


def focuses_of(strategy: TwoTierStrategy, moment: Moment) -> Iterator[PossibleFocus]:
    """Everything that a strategy can be about now, in the order of its rules."""
    for rule in strategy.focuses:
        if moment.inputs.turn_count < rule.from_turn and moment.wanted is None:
            continue
        for focus in SOURCES[rule.source](rule, moment):
            label = focus.target.label if focus.target is not None else ""
            yield replace(focus, focus_type=rule.type, focus_description=described(rule.describe, moment.inputs, label))


def _of_node(node: NodeFacts, confidence: float = 1.0) -> PossibleFocus:
    return PossibleFocus("", Target.node(node.key, node.label), confidence=confidence)


def _fit(rule: FocusRule, node: NodeFacts) -> bool:
    fits = (rule.terminal or not node.terminal) and node.node_type not in rule.not_types
    return fits and node.asked <= rule.asked_at_most


def _recent_node(rule: FocusRule, moment: Moment) -> Iterator[PossibleFocus]:
    """The weightiest of the freshest concepts of this answer, the latest first, else the latest concept of all.

    Surer the fresher it is.
    """
    if moment.wanted is not None:
        yield _of_node(moment.wanted)
        return
    found = [node for node in moment.recent if _fit(rule, node)]
    now = [node for node in found if node.last_mention_turn == moment.inputs.turn_count]
    now = [node for node in now if not says_nothing(node.label)] or now
    if not now and rule.said_now:
        return
    weights = {node.key: (moment.freshness(node), max(node.salience, node.emotion)) for node in now}
    best = max(weights.values(), default=None)
    for node in [node for node in now if weights[node.key] == best][: rule.most] or found[:1]:
        yield _of_node(node, moment.freshness(node))


def _peripheral_node(rule: FocusRule, moment: Moment) -> Iterator[PossibleFocus]:
    """The concept with the fewest relations; the weightier one of two, then the older one. Surer the fewer it has."""
    if moment.wanted is not None:
        yield _of_node(moment.wanted)
        return
    turn = moment.inputs.turn_count
    if all(node.last_mention_turn < turn for node in moment.nodes):
        return  # Nothing of this answer was understood: it is asked about as a whole, and not left.
    others = [n for n in moment.nodes if n.last_mention_turn < turn and _fit(rule, n) and is_nameable(n, moment.inputs)]
    if others and len(moment.nodes) > 1:
        found = min(others, key=lambda node: (node.relations, -node.salience))
        yield _of_node(found, 1 / (1 + found.relations))


def _recent_nodes(rule: FocusRule, moment: Moment) -> Iterator[PossibleFocus]:
    """The weightiest concept of each of the latest answers; others of them where there are too few."""
    first = {node.last_mention_turn: node for node in reversed(moment.recent)}
    each = sorted(first.values(), key=lambda node: -node.last_mention_turn)
    found = list(dict.fromkeys((*each, *moment.recent)))[: rule.most]
    if len(found) >= FEWEST_TOGETHER:
        label = together([node.label for node in found], language_of(moment.inputs))
        yield PossibleFocus("", Target(kind="nodes", ids=tuple(node.key for node in found), label=label))


def _uncovered_elements(rule: FocusRule, moment: Moment) -> Iterator[PossibleFocus]:
    labels = {element.id: element.label for element in moment.inputs.elements}
    for name in moment.uncovered[: rule.most]:
        yield PossibleFocus("", Target(kind="element", ids=(name,), label=labels[name]))


def _guide_topic(rule: FocusRule, moment: Moment) -> Iterator[PossibleFocus]:
    """The topic that is asked for next, unless it is an element, which has strategies of its own."""
    topic = moment.inputs.topic
    if topic is not None and not topic.ids[0].startswith(ELEMENT):
        yield PossibleFocus("", topic)


def _open(rule: FocusRule, moment: Moment) -> Iterator[PossibleFocus]:
    yield PossibleFocus("")


SOURCES: Mapping[FocusSource, Callable[[FocusRule, Moment], Iterator[PossibleFocus]]] = {
    "recent_node": _recent_node,
    "peripheral_node": _peripheral_node,
    "recent_nodes": _recent_nodes,
    "uncovered_elements": _uncovered_elements,
    "guide_topic": _guide_topic,
    "open": _open,
}

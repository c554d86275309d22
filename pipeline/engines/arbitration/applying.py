"""When a strategy applies, and what it is about then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pipeline.engines.arbitration.file import Applies, ArbitratedStrategy, Tactic
from pipeline.engines.arbitration.moment import Moment
from pipeline.focus import Target
from pipeline.guide import ELEMENT
from pipeline.subjects import NodeFacts, described, language_of, latest_first, together


@dataclass(frozen=True)
class Option:
    """A strategy with what it would be about and how it would ask; a candidate."""

    strategy: ArbitratedStrategy
    target: Target | None = None
    tactic: Tactic | None = None
    description: str = ""


Find = Callable[[ArbitratedStrategy, Moment], Iterator[Target | None]]


def options_of(strategy: ArbitratedStrategy, moment: Moment, wanted: NodeFacts | None = None) -> Iterator[Option]:
    """Everything that a strategy applies to now; nothing where it does not apply.

    Where a moderator wants a concept asked about, that one alone, by strategies that are about a concept.
    """
    if strategy.uses is not None and moment.strategies_asked.count(strategy.id) >= strategy.uses:
        return
    found: Iterator[Target | None] = CONDITIONS[strategy.applies](strategy, moment)
    if wanted is not None:
        found = iter([_of_node(wanted)] if strategy.binding == "required" else [])
    for number, target in enumerate(found):
        if number == strategy.most:
            break
        label = target.label if target is not None else ""
        text = described(strategy.describe, moment.inputs, label)
        yield Option(strategy, target, _tactic(strategy, target, moment), text)


def _tactic(strategy: ArbitratedStrategy, target: Target | None, moment: Moment) -> Tactic:
    """The first tactic for a gap of the element; else those that are for none take turns."""
    lacking = moment.gaps.get(target.ids[0], ()) if target is not None and target.kind == "element" else ()
    for gap in lacking:
        for tactic in strategy.tactics:
            if gap.kind in tactic.gaps:
                return tactic
    free = [tactic for tactic in strategy.tactics if not tactic.gaps] or list(strategy.tactics)
    return free[moment.strategies_asked.count(strategy.id) % len(free)]


def _of_node(node: NodeFacts) -> Target:
    return Target.node(node.key, node.label)


def _elsewhere(nodes: tuple[NodeFacts, ...], strategy: ArbitratedStrategy, moment: Moment) -> list[NodeFacts]:
    """Those that this answer did not mention and that were not asked about too often, the weightiest first."""
    turn = moment.inputs.turn_count
    return [
        node
        for node in latest_first(nodes, turn)
        if node.last_mention_turn < turn and node.asked <= strategy.asked_at_most
    ]


def _coverage_gaps(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    """Elements with a gap; one that was asked about often enough keeps its gaps, and is reported with them."""
    labels = {element.id: element.label for element in moment.inputs.elements}
    for name, lacking in moment.gaps.items():
        entry = moment.coverage[name]
        if lacking and not entry.exhausted and not entry.declined:
            yield Target(kind="element", ids=(name,), label=labels[name])


def _ambiguous_nodes(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    for node in latest_first(moment.views.ambiguous, moment.inputs.turn_count):
        if node.asked <= strategy.asked_at_most:
            yield _of_node(node)


def _isolated_nodes(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    yield from map(_of_node, _elsewhere(moment.views.isolated, strategy, moment))


def _schema_tensions(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    nodes = moment.inputs.graph.nodes
    for tension in moment.tensions:
        labels = [nodes[i].label for i in tension.node_ids[:2] if i in nodes]
        if len(labels) > 1:
            label = together(labels, language_of(moment.inputs))
            yield Target(kind="tension", ids=(tension.id,), label=label)


def _active_branch(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    """The latest concept of the branch, unless a chain ends at it; others of this answer where it was asked enough."""
    branch = moment.views.active_branch
    if branch and branch[0].terminal:
        return
    turn = moment.inputs.turn_count
    fresh = tuple(node for node in latest_first(moment.nodes, turn) if node.last_mention_turn == turn)
    for node in dict.fromkeys((*branch[:1], *fresh)):
        if node.asked <= strategy.asked_at_most and not node.terminal:
            yield _of_node(node)


def _unexplored_nodes(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    yield from map(_of_node, _elsewhere(moment.views.unexplored, strategy, moment))


def _reached_the_end(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[None]:
    if moment.views.terminal:
        yield None


def _nothing_else(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[None]:
    """Applies where no strategy does that is about something, as long as the respondent is not tired.

    Looking back is about nothing in particular: after a first answer that reached an end there is new ground besides.
    """
    if moment.inputs.momentum.fatigued:
        return
    general = ("nothing_else", "closing", "guide_topic", "reached_the_end")
    others = (s for s in moment.table.values() if s.applies not in general)
    if not any(True for other in others for _ in options_of(other, moment)):
        yield None


def last_resorts(moment: Moment) -> Iterator[Option]:
    """What can be asked where nothing else is worth asking: the strategies for that, whatever else applies."""
    for strategy in moment.table.values():
        used = moment.strategies_asked.count(strategy.id)
        if strategy.applies == "nothing_else" and (strategy.uses is None or used < strategy.uses):
            text = described(strategy.describe, moment.inputs, "")
            yield Option(strategy, None, _tactic(strategy, None, moment), text)


def _guide_topic(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    topic = moment.inputs.topic
    if topic is not None and not topic.ids[0].startswith(ELEMENT):
        yield topic


def _never(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[None]:
    """The closing question is asked where the interview ends, not where it scores well; or a moderator wants it."""
    if moment.inputs.strategy == strategy.id:
        yield None


CONDITIONS: Mapping[Applies, Find] = {
    "coverage_gaps": _coverage_gaps,
    "ambiguous_nodes": _ambiguous_nodes,
    "isolated_nodes": _isolated_nodes,
    "schema_tensions": _schema_tensions,
    "active_branch": _active_branch,
    "unexplored_nodes": _unexplored_nodes,
    "reached_the_end": _reached_the_end,
    "nothing_else": _nothing_else,
    "guide_topic": _guide_topic,
    "closing": _never,
}

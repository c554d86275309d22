"""When a strategy applies, and what it is about then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pipeline.coverage import GapKind
from pipeline.engines.arbitration.file import NODE_FOCUSES, Applies, ArbitratedStrategy, Tactic
from pipeline.engines.arbitration.leading import Followed
from pipeline.engines.arbitration.moment import Moment
from pipeline.focus import Target
from pipeline.guide import ELEMENT, MUST_ASK
from pipeline.question.text import sentences, words
from pipeline.subjects import (
    AND,
    NodeFacts,
    answer_of,
    described,
    is_nameable,
    language_of,
    latest_first,
    together,
)

SAYS_ALL = 12
"""Words of an answer up to which, in a concept test, there is nothing deeper to follow in it."""


LEAST_SAID = 4
"""Words of an answer from which on it is stayed with."""
SLACK = 1
"""Questions more than they take that may be left when sides of the idea for the end can be asked about."""


@dataclass(frozen=True)
class Option:
    """A strategy with what it would be about and how it would ask; a candidate."""

    strategy: ArbitratedStrategy
    target: Target | None = None
    tactic: Tactic | None = None
    description: str = ""
    lead: Followed | None = None


Find = Callable[[ArbitratedStrategy, Moment], Iterator[Target | None]]


def options_of(strategy: ArbitratedStrategy, moment: Moment, wanted: NodeFacts | None = None) -> Iterator[Option]:
    """Everything that a strategy applies to now; nothing where it does not apply.

    Where a moderator wants a concept asked about, that one alone, by strategies that are about a concept.
    """
    if not _is_for(strategy.concept_tests, moment):
        return
    if strategy.uses is not None and moment.strategies_asked.count(strategy.id) >= strategy.uses:
        return
    found: Iterator[Target | None] = CONDITIONS[strategy.applies](strategy, moment)
    if wanted is not None:
        found = iter([_of_node(wanted)] if strategy.applies in NODE_FOCUSES else [])
    for number, target in enumerate(found):
        if number == strategy.most:
            break
        lead = next((one for one in moment.leads if one.target is target), None) if target is not None else None
        label = lead.said if lead is not None else target.label if target is not None else ""
        text = described(strategy.describe, moment.inputs, label)
        tactic = _tactic(strategy, target, moment, lead)
        if tactic is not None:
            yield Option(strategy, target, tactic, text, lead)


def _is_for(concept_tests: bool | None, moment: Moment) -> bool:
    return concept_tests is None or concept_tests == moment.is_concept_test


def _tactic(
    strategy: ArbitratedStrategy, target: Target | None, moment: Moment, lead: Followed | None = None
) -> Tactic | None:
    """The first tactic for the lead, the side of the idea, or a gap of the element; else those for none take turns.

    None where a lead is of a kind that no tactic is for.
    """
    if lead is not None:
        for tactic in strategy.tactics:
            if lead.kind in tactic.leads and (not tactic.about or lead.manner in tactic.about):
                return tactic
        return None
    if target is not None and target.kind == "aspect":
        return next((tactic for tactic in strategy.tactics if tactic.id == target.ids[0]), None)
    lacking = moment.gaps.get(target.ids[0], ()) if target is not None and target.kind == "element" else ()
    if target is not None and target.kind == "element" and moment.is_passing(target.ids[0]):
        kinds: tuple[GapKind, ...] = ("no_reaction",)
    else:
        kinds = tuple(gap.kind for gap in lacking)
    for kind in kinds:
        for tactic in strategy.tactics:
            if kind in tactic.gaps and _is_labelled(tactic, target, moment):
                return tactic
    suited = [tactic for tactic in strategy.tactics if _is_for(tactic.concept_tests, moment)] or strategy.tactics
    free = [tactic for tactic in suited if not tactic.gaps] or list(suited)
    return free[moment.strategies_asked.count(strategy.id) % len(free)]


def _is_labelled(tactic: Tactic, target: Target | None, moment: Moment) -> bool:
    """Whether a tactic is for elements of any label, or for this one."""
    wanted = tactic.labels.get(language_of(moment.inputs), ()) if tactic.labels else None
    return wanted is None or (target is not None and not set(wanted).isdisjoint(words(target.label)))


def _of_node(node: NodeFacts) -> Target:
    return Target.node(node.key, node.label)


def _elsewhere(nodes: tuple[NodeFacts, ...], strategy: ArbitratedStrategy, moment: Moment) -> list[NodeFacts]:
    """Those of former answers that can be named and were not asked about too often, the weightiest first."""
    turn = moment.inputs.turn_count
    return [
        node
        for node in latest_first(nodes, turn)
        if node.last_mention_turn < turn and node.asked <= strategy.asked_at_most and is_nameable(node, moment.inputs)
    ]


def _coverage_gaps(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    """Elements with a gap, or named in passing; one that was asked about enough keeps its gaps, and is reported."""
    labels = {element.id: element.label for element in moment.inputs.elements}
    for name, lacking in moment.gaps.items():
        entry = moment.coverage[name]
        if (lacking or moment.is_passing(name)) and not entry.exhausted and not entry.declined:
            label = labels[name]
            if lacking and lacking[0].kind == "unconnected":
                label = f"{label}{AND.get(language_of(moment.inputs), AND['en'])}{labels[lacking[0].other]}"
            yield Target(kind="element", ids=(name,), label=label)


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
    """The latest concept of the branch, unless a chain ends at it; others of this answer where it was asked enough.

    Nothing where the respondent has said that there is no more to it.
    """
    branch = moment.views.active_branch
    if (branch and branch[0].terminal) or moment.is_finished:
        return
    brief = 0 < len(words(answer_of(moment.inputs))) <= SAYS_ALL
    if moment.is_concept_test and (moment.is_away or brief):
        return  # A story is asked about once; a few words say all that there is.
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
    general = ("nothing_else", "closing", "guide_topic", "reached_the_end", "aspects", "past_told", "said")
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
    """The next topic that is no element; in a concept test none of the method's, which speak of what people have."""
    topic = moment.inputs.topic
    if topic is None or topic.ids[0].startswith(ELEMENT):
        return
    if not moment.is_concept_test or topic.ids[0].startswith(MUST_ASK):
        yield topic


def _leads(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    for lead in moment.leads:
        yield lead.target


def _past_told(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[None]:
    """A story was told, and asked about once: what was said of the idea in it comes first."""
    last = moment.strategies_asked[-1:]
    if moment.is_away and last != (strategy.id,) and moment.is_concept_test:
        yield None


def _aspects(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    """Sides of the idea that nobody spoke of; those for the end once few more questions are left than they take."""
    ending = moment.sides_for_the_end
    if moment.left > moment.demanded + len(ending) + SLACK:
        ending = moment.open_sides(last=False)
    for tactic in ending:
        yield Target(kind="aspect", ids=(tactic.id,), label=tactic.id.replace("_", " "))


def _said(strategy: ArbitratedStrategy, moment: Moment) -> Iterator[Target]:
    """Each sentence of the answer, the last one first; none where that says that there is no more to it."""
    said = sentences(answer_of(moment.inputs))
    if moment.is_finished or len(words(" ".join(said))) < LEAST_SAID:
        return
    turn = moment.inputs.turn_count
    for number, sentence in reversed([*enumerate(said)]):
        if not sentence.rstrip().endswith("?"):
            yield Target.sentence(turn, number, sentence)


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
    "leads": _leads,
    "past_told": _past_told,
    "aspects": _aspects,
    "said": _said,
}

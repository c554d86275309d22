"""What an interview with a simulated respondent found of what there was, and how it went about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from config.personas import Persona
from pipeline.graph.surface import GUESSED, KGNode
from pipeline.methodology import Methodology
from pipeline.question.text import jaccard
from pipeline.state import InterviewState
from server.simulation.interview import Exchange, Held

SAME_QUESTION = 0.8
"""Shared words over all words from which on two questions are the same one."""
LATE_RUN = 3
"""So many wasted turns in a row at the end, and it should have closed before."""
EARLY_SHARE = 0.5
"""Where less of the truth was told when it closed before its limit, it closed too early."""


@dataclass(frozen=True)
class Score:
    """The counts of one interview; `shares` makes the figures.

    Attributes:
        ideas: of the truth; `told` of them were told, `found` are concepts of the graph.
        typed: of those found, how many have their type.
        wrong: concepts that are from no idea, such as fillers.
        links: of the truth between ideas that were told; `linked` of them are in the graph.
        wrong_links: links in the graph between ideas that the truth does not link, guessed ones left out.
        height, height_there: highest level of a type found, and of the truth; 0 without a ladder.
        guide, guide_done: topics of the guide, and those spoken of or asked for.
        turns, wasted: answers, and those that told nothing.
        repeated: questions that were asked before of the same idea.
        closed_early, closed_late: whether it ended with most untold, or after a run of wasted turns.
        broken_off: whether it did not end by itself.
    """

    ideas: int
    told: int
    found: int
    typed: int
    wrong: int
    links: int
    linked: int
    wrong_links: int
    height: int
    height_there: int
    guide: int
    guide_done: int
    turns: int
    wasted: int
    repeated: int
    closed_early: bool
    closed_late: bool
    broken_off: bool

    def shares(self) -> dict[str, float]:
        """The figures that tables show, in [0, 1]; what there was nothing of counts as whole."""
        return {
            "told": _share(self.told, self.ideas),
            "found": _share(self.found, self.told),
            "typed": _share(self.typed, self.found),
            "wrong": _share(self.wrong, self.wrong + self.found, empty=0.0),
            "linked": _share(self.linked, self.links),
            "wrong links": _share(self.wrong_links, self.wrong_links + self.linked, empty=0.0),
            "height": _share(self.height, self.height_there),
            "guide": _share(self.guide_done, self.guide),
            "wasted": _share(self.wasted, self.turns, empty=0.0),
            "repeated": _share(self.repeated, self.turns, empty=0.0),
        }


def scored(persona: Persona, held: Held, methodology: Methodology) -> Score:
    """Count.

    Args:
        persona: with the truth.
        held: the interview.
        methodology: whose levels count.
    """
    state = held.state
    assert state is not None
    ideas = {idea.id: idea for idea in persona.truth}
    told = {telling.idea for exchange in held.exchanges for telling in exchange.told.tellings}
    of_node = _ideas_of(state, held.exchanges)
    found = {idea for those in of_node.values() for idea in those}
    typed = {
        idea for node in _standing(state) for idea in of_node.get(node.id, ()) if node.node_type == ideas[idea].type
    }
    true_links = {frozenset(pair) for idea in persona.truth for pair in idea.linked if set(pair) <= told}
    linked = {
        frozenset((one, other))
        for edge in state.edges
        if edge.basis != GUESSED
        for one in of_node.get(edge.source_id, ())
        for other in of_node.get(edge.target_id, ())
        if one != other
    }
    levels = {node.name: node.level for node in methodology.ontology.nodes}
    wasted = [not exchange.told.tellings for exchange in held.exchanges]
    early = state.status == "completed" and state.turn_count < state.max_turns
    return Score(
        ideas=len(ideas),
        told=len(told),
        found=len(found),
        typed=len(typed),
        wrong=sum(node.id not in of_node for node in _standing(state)),
        links=len(true_links),
        linked=len(linked & true_links),
        wrong_links=len(linked - true_links),
        height=max((levels.get(ideas[idea].type, 0) for idea in typed), default=0),
        height_there=max(levels.get(idea.type, 0) for idea in persona.truth),
        guide=len(state.guide),
        guide_done=sum(topic.status in ("covered", "asked", "declined") for topic in state.guide),
        turns=len(held.exchanges),
        wasted=sum(wasted),
        repeated=_repeated(held.exchanges),
        closed_early=early and len(told) < EARLY_SHARE * len(ideas) and not all(wasted[-2:]),
        closed_late=len(wasted) >= LATE_RUN and all(wasted[-LATE_RUN:]),
        broken_off=held.broken_off,
    )


def summed(scores: Sequence[Score]) -> dict[str, float]:
    """The mean of each figure over some interviews, each counting the same; with the shares of bad endings."""
    if not scores:
        return {}
    rows = [score.shares() for score in scores]
    means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    endings = ("closed_early", "closed_late", "broken_off")
    for name in endings:
        means[name.replace("_", " ")] = sum(asdict(score)[name] for score in scores) / len(scores)
    means["turns"] = sum(score.turns for score in scores) / len(scores)
    return means


def _standing(state: InterviewState) -> list[KGNode]:
    return [node for node in state.nodes if node.superseded_by is None]


def _ideas_of(state: InterviewState, exchanges: Sequence[Exchange]) -> Mapping[str, set[str]]:
    """The ideas that each concept of the graph is from, by node; concepts that are from none are not in it."""
    told_in = {exchange.utterance_id: exchange.told for exchange in exchanges}
    found: dict[str, set[str]] = {}
    for node in _standing(state):
        for mention in node.mentions:
            told = told_in.get(mention.utterance_id)
            if told is None:
                continue
            at = told.text.casefold().find(mention.quote.casefold())
            if at < 0:
                continue
            for telling in told.tellings:
                if at < telling.end and telling.start < at + len(mention.quote):
                    found.setdefault(node.id, set()).add(telling.idea)
    return found


def _repeated(exchanges: Sequence[Exchange]) -> int:
    """Questions that are nearly the words of an earlier one about the same."""
    return sum(
        any(
            one.told.about == other.told.about and jaccard(one.question, other.question) >= SAME_QUESTION
            for other in exchanges[:index]
        )
        for index, one in enumerate(exchanges)
    )


def _share(part: float, whole: float, *, empty: float = 1.0) -> float:
    return part / whole if whole else empty

"""What the writer of the next question may choose from, where the engine's best candidates are close.

A language model reads what is offered and names what it takes; offline, the writer compares what its best wordings of
each are worth.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.concept import SessionConfiguration
from pipeline.engines.base import Decision, ScoredCandidate
from pipeline.state import FocusEntry
from pipeline.strategies import Move, Strategies

MOST = 4
"""At most so many are offered to a language model, …"""
MOST_COMPARED = 8
"""… and so many are compared offline, where several ways to ask about the same count."""
WRITER_CHOOSES = frozenset({"signal_pools"})
"""Engines whose choice is a proposal where nothing else is set, …"""
WRITER_PROPOSED = WRITER_CHOOSES | {"two_tier"}
"""… and those of which only the strategy stays, so that a writer says what of what was said it is about; so it is for
all of them in a concept test, where any writer may stay with what was said."""
LISTED = frozenset({"element", "aspect"})
"""What is asked about from a list: the parts of an idea, and its sides, …"""
LISTED_MOVES: frozenset[Move | float] = frozenset({"part", "side"})
"""… and as kinds of moves."""


def chosen_by_writer(configuration: SessionConfiguration, *, compares: bool) -> bool:
    """Whether the writer of questions may choose.

    Args:
        configuration: the concept says who chooses, and the prompt for questions whether a model is told of offers.
        compares: the writer compares its own wordings, without a prompt.
    """
    concept = configuration.concept
    proposes = concept.engine in WRITER_PROPOSED or bool(concept.elements)
    default = "model" if proposes else "engine"
    able = compares or "offers" in configuration.prompts.get("question", "")
    return (concept.choice or default) == "model" and able


def keeps_strategy(configuration: SessionConfiguration) -> bool:
    """Whether the strategy stays the engine's where the writer chooses, so that only what it asks about may differ.

    An engine that keeps to a plan leaves to the writer which of the things that were just said is followed.
    """
    concept = configuration.concept
    return concept.choice is None and concept.engine not in WRITER_CHOOSES


def offered(
    decision: Decision,
    strategies: Strategies,
    *,
    compared: bool = False,
    same_strategy: bool = False,
    alone: bool = False,
) -> tuple[ScoredCandidate, ...]:
    """The engine's choice, then the best other candidates that score nearly as well.

    Empty where there is nothing to choose: the interview closes, or no other candidate comes close. None would end the
    interview.

    Args:
        decision: the engine's.
        strategies: those of the methodology.
        compared: several ways to ask about the same, not one for each target; and none that leaves the respondent's
            words where the engine's choice is about them.
        same_strategy: only the engine's strategy, about other things that were said.
        alone: the engine's choice is offered also where no other candidate comes close, to a model that may choose
            something else that was said; and beside it the guide's next topic, however it scores.
    """
    first = next((candidate for candidate in decision.candidates if candidate.selected), None)
    if decision.close or first is None or first.final_score is None:
        return ()
    least = first.final_score - decision.margin
    found = [first]
    for candidate in decision.candidates:
        known = strategies.find(candidate.strategy)
        if candidate.is_ruled_out or known is None:
            continue
        if candidate.final_score is None or candidate.final_score < least:
            continue
        if known.generates_closing_question or candidate is first:
            continue
        if same_strategy and candidate.strategy != first.strategy:
            continue
        if candidate.target is None if compared else any(_same(candidate, other) for other in found):
            continue
        found.append(candidate)
    found = found[: MOST_COMPARED if compared else MOST]
    if alone and not any(_asks_for_a_topic(candidate) for candidate in found):
        topics = (candidate for candidate in decision.candidates if _asks_for_a_topic(candidate))
        found += [candidate for candidate in topics if not candidate.is_ruled_out][:1]
    return tuple(found) if len(found) > 1 or alone else ()


def weighed(decision: Decision, strategies: Strategies) -> tuple[ScoredCandidate, ...]:
    """The engine's choice, all that stays with what was just said, and the best part and side of the idea.

    Empty where the choice is asked in any case, or where nothing stays.

    Args:
        decision: the engine's.
        strategies: the engine's.
    """
    first = next((candidate for candidate in decision.candidates if candidate.selected), None)
    if decision.close or first is None or (first.strategy, first.tactic) not in strategies.weighs:
        return ()
    asked = [one for one in decision.candidates if not one.is_ruled_out and one.target is not None]
    others = [one for one in asked if one is not first]
    stays = [one for one in others if one.strategy in strategies.stays]
    best: dict[Move | float, ScoredCandidate] = {}
    for one in others:
        move = strategies.weighs.get((one.strategy, one.tactic))
        if move in LISTED_MOVES:
            best.setdefault(move, one)
    return (first, *best.values(), *stays) if stays else ()


def in_a_row(strategies: Strategies, asked: Sequence[FocusEntry]) -> int:
    """How many of the latest questions stayed with what was said."""
    count = 0
    for entry in reversed(asked):
        if entry.strategy not in strategies.stays:
            break
        count += 1
    return count


def _asks_for_a_topic(candidate: ScoredCandidate) -> bool:
    return candidate.target is not None and candidate.target.kind == "topic"


def _same(one: ScoredCandidate, other: ScoredCandidate) -> bool:
    """Whether two candidates are about the same; those about nothing in particular are, whatever they ask."""
    ids = [candidate.target.ids if candidate.target is not None else () for candidate in (one, other)]
    return ids[0] == ids[1]

"""What the writer of the next question may choose from, where the engine's best candidates are close.

A language model reads what is offered and names what it takes; offline, the writer compares what its best wordings of
each are worth.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.concept import SessionConfiguration
from pipeline.engines.base import Decision, ScoredCandidate
from pipeline.state import FocusEntry
from pipeline.strategies import Strategies

MOST = 4
"""At most so many are offered to a language model, …"""
MOST_COMPARED = 8
"""… and so many are compared offline, where several ways to ask about the same count."""
WRITER_CHOOSES = frozenset({"signal_pools"})
"""Engines whose choice is a proposal where nothing else is set, …"""
WRITER_COMPARES = WRITER_CHOOSES | {"two_tier"}
"""… and those for which it is where the writer only compares what it would ask of what was just said; so it is for all
of them in a concept test, where the writer may stay with what was said."""
LISTED = frozenset({"element", "aspect"})
"""What is asked about from a list: the parts of an idea, and its sides."""
STAYS = 2
"""Questions in a row that stay with what was said, instead of going on in a list."""


def chosen_by_writer(configuration: SessionConfiguration, *, compares: bool) -> bool:
    """Whether the writer of questions may choose.

    Args:
        configuration: the concept says who chooses, and the prompt for questions whether a model is told of offers.
        compares: the writer compares its own wordings, without a prompt.
    """
    concept = configuration.concept
    proposes = concept.engine in WRITER_CHOOSES or (
        compares and (concept.engine in WRITER_COMPARES or bool(concept.elements))
    )
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
    decision: Decision, strategies: Strategies, *, compared: bool = False, same_strategy: bool = False
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
    return tuple(found[: MOST_COMPARED if compared else MOST]) if len(found) > 1 else ()


def staying(decision: Decision, strategies: Strategies, asked: Sequence[FocusEntry]) -> tuple[ScoredCandidate, ...]:
    """The engine's choice and the best candidate that stays with what was just said, however far behind it is.

    Empty where the choice is about nothing from a list, where nothing stays, or where the latest questions did.

    Args:
        decision: the engine's.
        strategies: the engine's.
        asked: what questions were about so far.
    """
    first = next((candidate for candidate in decision.candidates if candidate.selected), None)
    if decision.close or first is None or first.target is None or first.target.kind not in LISTED:
        return ()
    lately = [entry.strategy in strategies.stays for entry in asked[-STAYS:]]
    if len(lately) == STAYS and all(lately):
        return ()
    found = (one for one in decision.candidates if one.strategy in strategies.stays and not one.is_ruled_out)
    stays = next((one for one in found if one.target is not None), None)
    return (first, stays) if stays is not None else ()


def _same(one: ScoredCandidate, other: ScoredCandidate) -> bool:
    """Whether two candidates are about the same; those about nothing in particular are, whatever they ask."""
    ids = [candidate.target.ids if candidate.target is not None else () for candidate in (one, other)]
    return ids[0] == ids[1]

"""What a language model that writes the next question may choose from, where the engine's best candidates are close."""

from __future__ import annotations

from pipeline.concept import SessionConfiguration
from pipeline.engines.base import Decision, ScoredCandidate
from pipeline.strategies import Strategies

MARGIN = 1.5
"""How much less than the engine's choice a candidate may score and still be offered."""
MOST = 4
CHOOSES_BY_MODEL = frozenset({"signal_pools"})
"""Engines whose choice is a proposal where nothing else is set."""


def chosen_by_model(configuration: SessionConfiguration) -> bool:
    """Whether the writer of questions may choose: as the concept says, and where its prompt knows of offers."""
    concept = configuration.concept
    default = "model" if concept.engine in CHOOSES_BY_MODEL else "engine"
    return (concept.choice or default) == "model" and "offers" in configuration.prompts.get("question", "")


def offered(decision: Decision, strategies: Strategies) -> tuple[ScoredCandidate, ...]:
    """The engine's choice, then the best candidates about something else that score nearly as well.

    Empty where there is nothing to choose: the interview closes, or no other candidate comes close. One candidate per
    target; none that would end the interview.
    """
    first = next((candidate for candidate in decision.candidates if candidate.selected), None)
    if decision.close or first is None or first.final_score is None:
        return ()
    least = first.final_score - MARGIN
    found = [first]
    for candidate in decision.candidates:
        known = strategies.find(candidate.strategy)
        if candidate.final_score is None or candidate.final_score < least or known is None:
            continue
        if known.generates_closing_question or any(_same(candidate, other) for other in found):
            continue
        found.append(candidate)
    return tuple(found[:MOST]) if len(found) > 1 else ()


def _same(one: ScoredCandidate, other: ScoredCandidate) -> bool:
    """Whether two candidates are about the same; those about nothing in particular are, whatever they ask."""
    ids = [candidate.target.ids if candidate.target is not None else () for candidate in (one, other)]
    return ids[0] == ids[1]

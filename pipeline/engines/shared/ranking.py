"""Scored candidates, the best first, and the decisions that come of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline.engines.base import (
    EXPLAINED_CANDIDATES,
    SCORE_DIGITS,
    STORED_DIGITS,
    CandidateScores,
    Decision,
    ScoredCandidate,
    Term,
    total,
)
from pipeline.focus import Target


@dataclass(frozen=True)
class Scored:
    """A candidate with its terms; `place` is its position in the file's order, `final` None where it was vetoed."""

    strategy: str
    target: Target | None
    tactic: str
    place: int
    terms: tuple[Term, ...]

    @cached_property
    def final(self) -> float | None:
        """The total of its terms."""
        return total(self.terms)


def ranked(scored: Iterable[Scored]) -> list[Scored]:
    """The best first; the one that comes first in the file where two are equal; what was vetoed last."""
    return sorted(scored, key=lambda one: (one.final is None, -round(one.final or 0.0, SCORE_DIGITS), one.place))


def chosen(
    engine: str,
    listed: Sequence[Scored],
    *,
    phase: str,
    reason: str,
    close: bool,
    state: dict[str, Any],
    margin: float,
    besides: Collection[str] = (),
) -> Decision:
    """The decision for the first of ranked candidates.

    Candidates of the strategies `besides` are explained wherever they rank.
    """
    best = listed[0]
    return Decision(
        engine=engine,
        strategy=best.strategy,
        target=best.target,
        tactic=best.tactic,
        close=close,
        phase=phase,
        reason=reason,
        candidates=tuple(_explained(one, rank, rank == 1) for rank, one in _numbered(listed, besides)),
        candidate_count=len(listed),
        scores=_scores(listed),
        engine_state=state,
        margin=margin,
    )


def closed(
    engine: str, closing: Scored, listed: Sequence[Scored], *, phase: str, reason: str, state: dict[str, Any]
) -> Decision:
    """The decision for the closing question where no candidate is asked; the ranked ones come after it."""
    others = tuple(_explained(one, rank + 1, False) for rank, one in _numbered(listed[: EXPLAINED_CANDIDATES - 1]))
    scores = _scores(listed)
    return Decision(
        engine=engine,
        strategy=closing.strategy,
        tactic=closing.tactic,
        close=True,
        phase=phase,
        reason=reason,
        candidates=(_explained(closing, 1, True), *others),
        candidate_count=len(listed) + 1,
        scores=scores.model_copy(update={"of_others": ((closing.strategy, (), 0.0), *scores.of_others)}),
        engine_state=state,
    )


def _numbered(listed: Sequence[Scored], besides: Collection[str] = ()) -> Iterator[tuple[int, Scored]]:
    for rank, one in enumerate(listed, start=1):
        if rank <= EXPLAINED_CANDIDATES or one.strategy in besides:
            yield rank, one


def _explained(one: Scored, rank: int, selected: bool) -> ScoredCandidate:
    return ScoredCandidate(
        strategy=one.strategy,
        target=one.target,
        tactic=one.tactic,
        terms=one.terms,
        final_score=one.final,
        rank=rank,
        selected=selected,
    )


def _scores(listed: Sequence[Scored]) -> CandidateScores:
    return CandidateScores(
        of_others=tuple(
            (
                one.strategy,
                one.target.ids if one.target is not None else (),
                None if one.final is None else round(one.final, STORED_DIGITS),
            )
            for one in listed
        )
    )

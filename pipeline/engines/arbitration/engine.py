"""The engine: what applies, how it is multiplied, when it closes, and the choice with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import structlog

from pipeline.ceilings import ceilings_after, recalled, remembered
from pipeline.concept import SessionConfiguration
from pipeline.engines.arbitration.applying import Option, last_resorts, options_of
from pipeline.engines.arbitration.checking import cautions, problems
from pipeline.engines.arbitration.file import ArbitratedStrategy, ArbitrationFile, ScorerRule, Tactic
from pipeline.engines.arbitration.moment import Moment
from pipeline.engines.arbitration.scorers import SCORERS, KnowledgeCeiling, Redundancy, Scorer
from pipeline.engines.base import (
    EXPLAINED_CANDIDATES,
    CandidateScores,
    Comparison,
    Decision,
    DecisionInputs,
    EngineFile,
    PinnedFile,
    ScoredCandidate,
    Term,
    total,
    wordings,
)
from pipeline.methodology import Methodology, Strategy
from pipeline.signals.registry import Problem
from pipeline.strategies import Strategies

SCORE_DIGITS = 9
"""Scores are compared after rounding, so that the order of multiplication can't break a tie."""
STORED_DIGITS = 4
"""Digits that the scores of all candidates are stored with."""
SUSPICIOUS = 10.0
"""A score above this is logged: one scorer may overrule the others."""
MARGIN_SHARE = 0.25
"""What share less a candidate may score and still be as good."""
EXPLAINED = 3
"""Reasons that the reason of a decision names at most."""
BASE = "base"

log = structlog.get_logger()


@dataclass(frozen=True)
class Compiled:
    """A file with its scorers made."""

    file: ArbitrationFile
    table: Mapping[str, ArbitratedStrategy]
    scorers: tuple[tuple[ScorerRule, Scorer[Any]], ...]

    @property
    def closing(self) -> ArbitratedStrategy:
        """The strategy that ends an interview."""
        return next(strategy for strategy in self.table.values() if strategy.applies == "closing")


def compiled(data: Mapping[str, Any]) -> Compiled:
    """What a pinned file is worked with. Raises ValidationError for one that `Arbitration.problems` refuses."""
    file = ArbitrationFile.model_validate(data)
    return Compiled(
        file,
        {strategy.id: strategy for strategy in file.strategies if strategy.enabled},
        tuple(
            (rule, SCORERS[rule.kind](rule.id, SCORERS[rule.kind].params.model_validate(rule.params)))
            for rule in file.scorers
            if rule.enabled
        ),
    )


@lru_cache(maxsize=64)
def _compiled_of(key: PinnedFile) -> Compiled:
    return compiled(key.data)


def multiplied(base: float, multipliers: Iterable[tuple[float, float]]) -> float:
    """`base × Π(multiplier ** weight)`, for pairs of multiplier and weight."""
    final = base
    for value, weight in multipliers:
        final *= value**weight
    return final


@dataclass(frozen=True)
class _Scored:
    option: Option
    place: int
    terms: tuple[Term, ...]
    final: float


class Arbitration:
    """Takes the applicable strategy with the highest `base × Π(multiplier ** weight)`; phases emerge from that."""

    name: ClassVar[str] = "arbitration"
    closes_on_saturation: ClassVar[bool] = False
    file: ClassVar[type[EngineFile]] = ArbitrationFile
    signals: ClassVar[tuple[str, ...]] = ()

    def strategies(self, configuration: SessionConfiguration) -> Strategies:
        """Those of its file that are enabled; each asks by the tactic that is chosen."""
        found = _compiled_of(PinnedFile(configuration.engine_file)).table.values()
        method = configuration.methodology
        by_tactic = {(s.id, t.id): _strategy(s, (t,), method) for s in found for t in s.tactics}
        return Strategies(
            (_strategy(strategy, strategy.tactics, method) for strategy in found),
            elements=next((s.id for s in found if s.applies == "coverage_gaps"), None),
            topics=next((s.id for s in found if s.applies == "guide_topic"), None),
            tactics=by_tactic,
        )

    def decide(self, inputs: DecisionInputs) -> Decision:
        """The candidate with the highest score; what is asked where nothing else can be, where none is worth asking.

        The closing question where the interview is done, or where nothing is left that could be asked.
        """
        made = _compiled_of(PinnedFile(inputs.engine_file))
        moment = self._moment(made, inputs)
        options = list(candidates(made, moment))
        ranked = self._ranked(made, moment, options)
        state = {"ceilings": remembered(moment.ceilings)}
        steered = inputs.strategy is not None or inputs.target is not None
        over = None if steered else reason_to_close(made.file, moment)
        worth_asking = steered or any(one.final > 0 for one in ranked)
        if over is None and not worth_asking and (too_early(inputs) or not inputs.momentum.fatigued):
            options += [option for option in last_resorts(moment) if option not in options]
            ranked = self._ranked(made, moment, options)
        if over is None and (not ranked or (ranked[0].final <= 0 and not steered)):
            over = "nothing is left to ask"
        if over is not None:
            return self._closing(made, moment, over, ranked, state)
        best = ranked[0]
        if best.final > SUSPICIOUS:
            log.warning("arbitration.high_score", strategy=best.option.strategy.id, score=round(best.final, 2))
        strategy = best.option.strategy
        return Decision(
            engine=self.name,
            strategy=strategy.id,
            target=best.option.target,
            tactic=best.option.tactic.id if best.option.tactic is not None else "",
            close=strategy.applies == "closing",
            phase=strategy.phase,
            reason=reason_of(best.terms),
            candidates=tuple(_explained(one, rank, rank == 1) for rank, one in _numbered(ranked)),
            candidate_count=len(ranked),
            scores=_scores(ranked),
            engine_state=state,
            margin=best.final * MARGIN_SHARE,
        )

    def compared(self, inputs: DecisionInputs) -> Comparison:
        """The focuses of all candidates, with the latest questions."""
        made = _compiled_of(PinnedFile(inputs.engine_file))
        windows = [scorer.given.window for _, scorer in made.scorers if isinstance(scorer, Redundancy)]
        if not windows:
            return Comparison()
        texts = tuple(o.description for o in candidates(made, self._moment(made, inputs)) if o.description)
        return Comparison(texts, inputs.question_texts[-max(windows) :])

    def problems(self, file: EngineFile) -> list[Problem]:
        """Names that are not there, tactics that share one, no way to end."""
        assert isinstance(file, ArbitrationFile)
        return list(problems(file))

    def cautions(self, file: EngineFile) -> list[Problem]:
        """Placeholders that nothing fills in, and strategies without questions of their own."""
        assert isinstance(file, ArbitrationFile)
        return list(cautions(file))

    def _moment(self, made: Compiled, inputs: DecisionInputs) -> Moment:
        """The turn, with what the respondent knows no more of."""
        known = recalled(inputs.engine_state.get("ceilings", ()))
        for _, scorer in made.scorers:
            if isinstance(scorer, KnowledgeCeiling):
                known = ceilings_after(known, inputs, scorer.given)
        return Moment(inputs, made.file, known, made.table)

    def _ranked(self, made: Compiled, moment: Moment, options: Sequence[Option]) -> list[_Scored]:
        """Candidates with their scores, the best first; the one that comes first in the file where two are equal."""
        scored = [self._scored(made, moment, option, at) for at, option in enumerate(options)]
        return sorted(scored, key=lambda one: (-round(one.final, SCORE_DIGITS), one.place))

    def _scored(self, made: Compiled, moment: Moment, option: Option, place: int) -> _Scored:
        """One candidate: its base, and what every scorer makes of it."""
        terms = [Term(name=BASE, amount=option.strategy.base, reason=option.strategy.phase)]
        for rule, scorer in made.scorers:
            found = scorer.score(option, moment)
            terms.append(
                Term(
                    kind="multiplied",
                    name=rule.id,
                    value=found.value,
                    weight=rule.weight,
                    amount=multiplied(1.0, [(found.value, rule.weight)]),
                    reason=found.reasoning,
                )
            )
        final = total(terms)
        assert final is not None
        return _Scored(option, place, tuple(terms), final)

    def _closing(
        self, made: Compiled, moment: Moment, reason: str, ranked: Sequence[_Scored], state: dict[str, Any]
    ) -> Decision:
        """The closing question. Elements that still lack something are named in the reason."""
        closing = made.closing
        lacking = [name for name, gaps in moment.gaps.items() if gaps]
        said = f"{reason}; not covered: {', '.join(lacking)}" if lacking else reason
        chosen = ScoredCandidate(
            strategy=closing.id,
            tactic=closing.tactics[0].id,
            terms=(Term(name=BASE, amount=0.0, reason=said),),
            final_score=0.0,
            rank=1,
            selected=True,
        )
        others = tuple(_explained(one, rank + 1, False) for rank, one in _numbered(ranked[: EXPLAINED_CANDIDATES - 1]))
        scores = _scores(ranked)
        return Decision(
            engine=self.name,
            strategy=closing.id,
            tactic=closing.tactics[0].id,
            close=True,
            phase=closing.phase,
            reason=said,
            candidates=(chosen, *others),
            candidate_count=len(ranked) + 1,
            scores=scores.model_copy(update={"of_others": ((closing.id, (), 0.0), *scores.of_others)}),
            engine_state=state,
        )


def reason_to_close(file: ArbitrationFile, moment: Moment) -> str | None:
    """Why the closing question comes next, None where the interview goes on.

    The turns are nearly used; the respondent is tired and enough was covered; everything was covered and explored, and
    momentum is low. Nobody is let go before the turn from which interviews may end early, for being brief.
    """
    inputs = moment.inputs
    most = inputs.max_turns or file.ending.max_turns
    if inputs.turn_count >= most - 1:
        return "the turns are used"
    if too_early(inputs):
        return None
    if inputs.momentum.fatigued and moment.covered > file.ending.fatigue_coverage:
        return "the respondent is tired, and enough was covered"
    if moment.covered == 1 and not moment.views.unexplored and moment.momentum == "low":
        return "everything was covered and explored, and momentum is low"
    return None


def too_early(inputs: DecisionInputs) -> bool:
    """Whether this is before the turn from which interviews may end early."""
    return inputs.turn_count < inputs.settings.min_turn_for_saturation


def candidates(made: Compiled, moment: Moment) -> Iterator[Option]:
    """Every strategy that applies, with everything it applies to, in the file's order.

    Where a moderator asks for a strategy, only that one, if it applies to anything.
    """
    wanted = moment.inputs.strategy
    if wanted is not None and wanted in made.table:
        found = list(options_of(made.table[wanted], moment))
        if found:
            yield from found
            return
    for strategy in made.table.values():
        yield from options_of(strategy, moment)


def reason_of(terms: Iterable[Term]) -> str:
    """What multiplied a candidate most, as one line of text."""
    boosts = sorted((term for term in terms if term.kind == "multiplied"), key=lambda term: -term.amount)
    said = [f"{term.reason} ×{term.amount:.2f}" for term in boosts[:EXPLAINED] if term.amount > 1 and term.reason]
    return "; ".join(said) or "nothing spoke for another strategy"


def _strategy(strategy: ArbitratedStrategy, tactics: Sequence[Tactic], method: Methodology) -> Strategy:
    """A strategy as the rest of an interview sees it, asking by these tactics."""
    templates: dict[str, Any] = {}
    for tactic in tactics:
        for language, forms in wordings(method, tactic.wordings_of, tactic.templates, strategy.binding).items():
            templates[language] = (*templates.get(language, ()), *forms)
    hint = tactics[0].prompt_hint if len(tactics) == 1 else strategy.intent
    summing_up = strategy.applies in ("closing", "reached_the_end")
    return Strategy(
        name=strategy.id,
        description=hint,
        signal_weights={},
        node_binding=strategy.binding,
        focus_mode="summary" if summing_up else "topic",
        generates_closing_question=strategy.applies == "closing",
        templates=templates,
    )


def _numbered(ranked: Sequence[_Scored]) -> Iterator[tuple[int, _Scored]]:
    return enumerate(ranked[:EXPLAINED_CANDIDATES], start=1)


def _explained(one: _Scored, rank: int, selected: bool) -> ScoredCandidate:
    return ScoredCandidate(
        strategy=one.option.strategy.id,
        target=one.option.target,
        tactic=one.option.tactic.id if one.option.tactic is not None else "",
        terms=one.terms,
        final_score=one.final,
        rank=rank,
        selected=selected,
    )


def _scores(ranked: Sequence[_Scored]) -> CandidateScores:
    return CandidateScores(
        of_others=tuple(
            (
                one.option.strategy.id,
                one.option.target.ids if one.option.target is not None else (),
                round(one.final, STORED_DIGITS),
            )
            for one in ranked
        )
    )

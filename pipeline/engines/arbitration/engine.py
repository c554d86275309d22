"""The engine: what applies, how it is multiplied, when it closes, and the choice with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    EXPLAINED,
    Comparison,
    Decision,
    DecisionInputs,
    EngineFile,
    Pinned,
    Term,
    wordings,
)
from pipeline.engines.shared.ranking import Scored, chosen, closed, ranked
from pipeline.engines.shared.rules import made
from pipeline.methodology import Methodology, Strategy
from pipeline.signals.registry import Problem
from pipeline.strategies import Strategies

SUSPICIOUS = 10.0
"""A score above this is logged: one scorer may overrule the others."""
MARGIN_SHARE = 0.25
"""What share less a candidate may score and still be as good."""
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
    table = {strategy.id: strategy for strategy in file.strategies if strategy.enabled}
    return Compiled(file, table, made(file.scorers, SCORERS))


@lru_cache(maxsize=64)
def _compiled_of(key: Pinned[Mapping[str, Any]]) -> Compiled:
    return compiled(key.data)


def multiplied(base: float, multipliers: Iterable[tuple[float, float]]) -> float:
    """`base × Π(multiplier ** weight)`, for pairs of multiplier and weight."""
    final = base
    for value, weight in multipliers:
        final *= value**weight
    return final


class Arbitration:
    """Takes the applicable strategy with the highest `base × Π(multiplier ** weight)`; phases emerge from that."""

    name: ClassVar[str] = "arbitration"
    closes_on_saturation: ClassVar[bool] = False
    file: ClassVar[type[EngineFile]] = ArbitrationFile
    signals: ClassVar[tuple[str, ...]] = ()

    def strategies(self, configuration: SessionConfiguration) -> Strategies:
        """Those of its file that are enabled; each asks by the tactic that is chosen."""
        found = _compiled_of(Pinned(configuration.engine_file)).table.values()
        method, tested = configuration.methodology, bool(configuration.concept.elements)
        by_tactic = {(s.id, t.id): _strategy(s, (t,), method) for s in found for t in s.tactics}
        suited = {s.id: [t for t in s.tactics if t.concept_tests in (None, tested)] or s.tactics for s in found}
        return Strategies(
            (_strategy(strategy, suited[strategy.id], method) for strategy in found),
            elements=next((s.id for s in found if s.applies == "coverage_gaps"), None),
            elements_press=False,
            topics=next((s.id for s in found if s.applies == "guide_topic"), None),
            tactics=by_tactic,
            stays=(s.id for s in found if s.applies == "said") if tested else (),
            weighs={(s.id, t.id): t.weighs for s in found for t in s.tactics if t.weighs is not None} if tested else {},
        )

    def decide(self, inputs: DecisionInputs) -> Decision:
        """The candidate with the highest score; what is asked where nothing else can be, where none is worth asking.

        The closing question where the interview is done, or where nothing is left that could be asked.
        """
        file = _compiled_of(Pinned(inputs.engine_file))
        moment = _moment(file, inputs)
        options, wished = candidates(file, moment)
        listed = _ranked(file, moment, options)
        over = None if wished else reason_to_close(file.file, moment)
        worth_asking = wished or _is_worth_asking(listed)
        if over is None and not worth_asking and (too_early(inputs) or not inputs.momentum.fatigued):
            options += [option for option in last_resorts(moment) if option not in options]
            listed = _ranked(file, moment, options)
        if over is None and not wished and not _is_worth_asking(listed):
            over = "nothing is left to ask"
        state = {"ceilings": remembered(moment.ceilings)}
        if over is not None:
            return self._closing(file, moment, over, listed, state)
        best, final = listed[0], listed[0].final or 0.0
        if final > SUSPICIOUS:
            log.warning("arbitration.high_score", strategy=best.strategy, score=round(final, 2))
        strategy = file.table[best.strategy]
        return chosen(
            self.name,
            listed,
            phase=strategy.phase,
            reason=reason_of(best.terms),
            close=strategy.applies == "closing",
            state=state,
            margin=final * MARGIN_SHARE,
            besides={one.id for one in file.table.values() if one.applies == "said"},
        )

    def compared(self, inputs: DecisionInputs) -> Comparison:
        """The focuses of all candidates, with as many of the latest questions as any scorer looks at."""
        file = _compiled_of(Pinned(inputs.engine_file))
        windows = [scorer.given.window for _, scorer in file.scorers if isinstance(scorer, Redundancy)]
        if not windows:
            return Comparison()
        options, _ = candidates(file, _moment(file, inputs))
        texts = tuple(option.description for option in options if option.description)
        return Comparison(texts, inputs.question_texts[-max(windows) :])

    def problems(self, file: EngineFile) -> list[Problem]:
        """Names that are not there, tactics that share one, no way to end."""
        assert isinstance(file, ArbitrationFile)
        return list(problems(file))

    def cautions(self, file: EngineFile) -> list[Problem]:
        """Placeholders that nothing fills in, and strategies without questions of their own."""
        assert isinstance(file, ArbitrationFile)
        return list(cautions(file))

    def left_out(self, file: EngineFile, max_turns: int) -> tuple[str, ...]:
        """None: phases emerge."""
        return ()

    def _closing(
        self, file: Compiled, moment: Moment, reason: str, listed: Sequence[Scored], state: dict[str, Any]
    ) -> Decision:
        """The closing question. Elements that still lack something are named in the reason."""
        lacking = [name for name, gaps in moment.gaps.items() if gaps]
        said = f"{reason}; not covered: {', '.join(lacking)}" if lacking else reason
        closing = file.closing
        last = Scored(closing.id, None, closing.tactics[0].id, 0, (Term(name=BASE, amount=0.0, reason=said),))
        return closed(self.name, last, listed, phase=closing.phase, reason=said, state=state)


def _moment(file: Compiled, inputs: DecisionInputs) -> Moment:
    """The turn, with what the respondent knows no more of."""
    known = recalled(inputs.engine_state.get("ceilings", ()))
    for _, scorer in file.scorers:
        if isinstance(scorer, KnowledgeCeiling):
            known = ceilings_after(known, inputs, scorer.given)
    return Moment(inputs, known, file.file, file.table)


def _ranked(file: Compiled, moment: Moment, options: Sequence[Option]) -> list[Scored]:
    """Candidates with their scores, the best first."""
    return ranked(_scored(file, moment, option, at) for at, option in enumerate(options))


def _scored(file: Compiled, moment: Moment, option: Option, place: int) -> Scored:
    """One candidate: its base, and what every scorer makes of it."""
    terms = [Term(name=BASE, amount=option.strategy.base, reason=option.strategy.phase)]
    for rule, scorer in file.scorers:
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
    tactic = option.tactic.id if option.tactic is not None else ""
    return Scored(option.strategy.id, option.target, tactic, place, tuple(terms))


def _is_worth_asking(listed: Sequence[Scored]) -> bool:
    """Whether there is any candidate that is not ruled out."""
    return bool(listed) and (listed[0].final or 0.0) > 0


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


def candidates(file: Compiled, moment: Moment) -> tuple[list[Option], bool]:
    """Every strategy that applies, with everything it applies to, in the file's order.

    Where a moderator asks for a strategy or a concept, only those that do what they ask, and true beside them; a
    strategy that does not exist, or applies to nothing now, restricts nothing, nor does a concept that none is about.
    """
    wanted, strategies = file.table.get(moment.inputs.strategy or ""), file.table.values()
    found = list(options_of(wanted, moment, moment.wanted)) if wanted is not None else []
    if not found and moment.wanted is not None:
        found = [option for strategy in strategies for option in options_of(strategy, moment, moment.wanted)]
    return (found, True) if found else ([o for one in strategies for o in options_of(one, moment)], False)


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

"""The engine: candidates, vetoes, scores, and the choice with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, ClassVar

from pydantic import ValidationError

from pipeline.ceilings import ceilings_after, recalled, remembered
from pipeline.concept import SessionConfiguration
from pipeline.engines.base import (
    EXPLAINED_CANDIDATES,
    PHASE,
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
from pipeline.engines.two_tier.file import NODE_SOURCES, PhaseRule, Rule, TwoTierFile, TwoTierStrategy
from pipeline.engines.two_tier.focuses import focuses_of, steered
from pipeline.engines.two_tier.moment import Moment, PossibleFocus
from pipeline.engines.two_tier.phases import phase_of
from pipeline.engines.two_tier.scorers import NEUTRAL, SCORERS, Scorer
from pipeline.engines.two_tier.vetoes import VETOES, KnowledgeCeiling, RecentRedundancy, Veto
from pipeline.methodology import FocusMode, Strategy
from pipeline.question.templates import PLACEHOLDERS, placeholders
from pipeline.signals.registry import Problem
from pipeline.strategies import Strategies

SCORE_DIGITS = 9
"""Scores are compared after rounding, so that the order of summation can't break a tie."""
STORED_DIGITS = 4
"""Digits that the scores of all candidates are stored with."""
MARGIN = 0.15
"""How much less a candidate may score and still be as good: what one scorer in full makes of it."""
EXPLAINED = 3
"""Reasons that the reason of a decision names at most."""
MODES: Mapping[str, FocusMode] = {"transition": "summary", "reflection": "summary", "closing": "summary"}


@dataclass(frozen=True)
class Compiled:
    """A file with its vetoes and scorers made."""

    file: TwoTierFile
    table: Mapping[str, TwoTierStrategy]
    vetoes: tuple[tuple[Rule, Veto[Any]], ...]
    scorers: tuple[tuple[float, Rule, Scorer[Any]], ...]

    @property
    def closing(self) -> TwoTierStrategy:
        """The strategy that ends an interview."""
        return next(strategy for strategy in self.table.values() if strategy.type_category == "closing")


def compiled(data: Mapping[str, Any]) -> Compiled:
    """What a pinned file is worked with. Raises ValidationError for one that `TwoTier.problems` refuses."""
    file = TwoTierFile.model_validate(data)
    return Compiled(
        file,
        {strategy.id: strategy for strategy in file.strategies if strategy.enabled},
        tuple(
            (rule, VETOES[rule.kind](rule.id, VETOES[rule.kind].params.model_validate(rule.params)))
            for rule in file.vetoes
            if rule.enabled
        ),
        tuple(
            (rule.weight, rule, SCORERS[rule.kind](rule.id, SCORERS[rule.kind].params.model_validate(rule.params)))
            for rule in file.scorers
            if rule.enabled
        ),
    )


@lru_cache(maxsize=64)
def _compiled_of(key: PinnedFile) -> Compiled:
    return compiled(key.data)


@dataclass(frozen=True)
class _Scored:
    strategy: TwoTierStrategy
    focus: PossibleFocus
    place: int
    terms: tuple[Term, ...]
    final: float | None


class TwoTier:
    """Vetoes what must not be asked, then takes the highest `Σ(weight × raw score) × phase multiplier`."""

    name: ClassVar[str] = "two_tier"
    closes_on_saturation: ClassVar[bool] = True
    file: ClassVar[type[EngineFile]] = TwoTierFile
    signals: ClassVar[tuple[str, ...]] = (
        "llm.engagement",
        "llm.intellectual_engagement",
        "llm.hedging_language",
        "llm.contradiction",
    )

    def strategies(self, configuration: SessionConfiguration) -> Strategies:
        """Those of its file that are enabled, asked for as the methodology asks where it has the same."""
        found = _compiled_of(PinnedFile(configuration.engine_file)).table.values()
        sources = {strategy.id: [rule.source for rule in strategy.focuses] for strategy in found}
        return Strategies(
            (
                Strategy(
                    name=strategy.id,
                    description=strategy.prompt_hint,
                    signal_weights={},
                    node_binding=strategy.binding,
                    focus_mode=MODES.get(strategy.type_category, "topic"),
                    generates_closing_question=strategy.type_category == "closing",
                    templates=wordings(
                        configuration.methodology, strategy.wordings_of, strategy.templates, strategy.binding
                    ),
                )
                for strategy in found
            ),
            elements=next((name for name, of in sources.items() if "uncovered_elements" in of), None),
            topics=next((name for name, of in sources.items() if "guide_topic" in of), None),
        )

    def decide(self, inputs: DecisionInputs) -> Decision:
        """The candidate with the highest score; the one that comes first in the file where two are equal.

        The closing question, where nothing may be asked any more.
        """
        made = _compiled_of(PinnedFile(inputs.engine_file))
        moment, left = self._moment(made, inputs)
        phase = phase_of(made.file, inputs, left)
        scored = [
            self._scored(made, moment, phase, strategy, focus, place)
            for place, (strategy, focus) in enumerate(candidates(made, moment, phase))
        ]
        ranked = sorted(scored, key=lambda one: (one.final is None, -round(one.final or 0.0, SCORE_DIGITS), one.place))
        state = {"left": sorted(left), "ceilings": remembered(moment.ceilings)}
        if not ranked or ranked[0].final is None:
            return self._closing(made, phase, ranked, state)
        best = ranked[0]
        return Decision(
            engine=self.name,
            strategy=best.strategy.id,
            target=best.focus.target,
            close=best.strategy.type_category == "closing",
            phase=phase.name,
            reason=reason_of(best.terms),
            candidates=tuple(_explained(one, rank, rank == 1) for rank, one in _numbered(ranked)),
            candidate_count=len(ranked),
            scores=_scores(ranked),
            engine_state=state,
            margin=MARGIN,
        )

    def compared(self, inputs: DecisionInputs) -> Comparison:
        """The focuses of all candidates, with the latest questions."""
        made = _compiled_of(PinnedFile(inputs.engine_file))
        vetoes = [veto for _, veto in made.vetoes if isinstance(veto, RecentRedundancy)]
        if not vetoes:
            return Comparison()
        moment, left = self._moment(made, inputs)
        foci = [focus for _, focus in candidates(made, moment, phase_of(made.file, inputs, left))]
        return vetoes[0].comparison(foci, inputs)

    def problems(self, file: EngineFile) -> list[Problem]:
        """Names that are not there, numbers that decide nothing, no way to end."""
        assert isinstance(file, TwoTierFile)
        return list(_problems(file))

    def cautions(self, file: EngineFile) -> list[Problem]:
        """Weights that don't sum to 1, and placeholders that nothing fills in."""
        assert isinstance(file, TwoTierFile)
        return list(_cautions(file))

    def _moment(self, made: Compiled, inputs: DecisionInputs) -> tuple[Moment, frozenset[str]]:
        """The turn, with what the respondent knows no more of, and the phases that ended early."""
        known = recalled(inputs.engine_state.get("ceilings", ()))
        moment = Moment(inputs, made.file, known, made.table)
        for _, veto in made.vetoes:
            if isinstance(veto, KnowledgeCeiling):
                moment = Moment(inputs, made.file, ceilings_after(known, inputs, veto.given), made.table)
        left = frozenset(inputs.engine_state.get("left", ()))
        phase = phase_of(made.file, inputs, left)
        if phase.ends_with_strong_emotion and _is_moved(moment):
            left |= {phase.name}
        return moment, left

    def _scored(
        self,
        made: Compiled,
        moment: Moment,
        phase: PhaseRule,
        strategy: TwoTierStrategy,
        focus: PossibleFocus,
        place: int,
    ) -> _Scored:
        """One candidate: the first veto, or all scores. What a moderator asks for is never vetoed."""
        steers = moment.inputs.strategy == strategy.id or steered(moment) is not None
        for rule, veto in made.vetoes if not steers else ():
            if rule.id in strategy.spared_from:
                continue
            found = veto.evaluate(strategy, focus, moment)
            if found.is_veto:
                stopped = Term(kind="veto", name=rule.id, reason=found.reasoning)
                return _Scored(strategy, focus, place, (stopped,), None)
        terms = []
        for weight, rule, scorer in made.scorers:
            raw = scorer.score(strategy, focus, moment)
            amount = weight * raw.raw_score
            terms.append(Term(name=rule.id, value=raw.raw_score, weight=weight, amount=amount, reason=raw.reasoning))
        factor = phase.multipliers.get(strategy.id, 1.0)
        terms.append(Term(kind="multiplied", name=PHASE, amount=factor, reason=phase.name))
        return _Scored(strategy, focus, place, tuple(terms), total(terms))

    def _closing(self, made: Compiled, phase: PhaseRule, ranked: Sequence[_Scored], state: dict[str, Any]) -> Decision:
        """The closing question, because nothing else may be asked."""
        closing = made.closing
        reason = "every candidate was vetoed" if ranked else "there was nothing to ask about"
        chosen = ScoredCandidate(
            strategy=closing.id,
            terms=(Term(kind="bonus", name=closing.id, amount=0.0, reason=reason),),
            final_score=0.0,
            rank=1,
            selected=True,
        )
        others = tuple(_explained(one, rank + 1, False) for rank, one in _numbered(ranked[: EXPLAINED_CANDIDATES - 1]))
        scores = _scores(ranked)
        return Decision(
            engine=self.name,
            strategy=closing.id,
            close=True,
            phase=phase.name,
            reason=reason,
            candidates=(chosen, *others),
            candidate_count=len(ranked) + 1,
            scores=scores.model_copy(update={"of_others": ((closing.id, (), 0.0), *scores.of_others)}),
            engine_state=state,
        )


def candidates(made: Compiled, moment: Moment, phase: PhaseRule) -> Iterator[tuple[TwoTierStrategy, PossibleFocus]]:
    """Every strategy with everything it can be about, in the file's order.

    What the phase multiplies by 0 is none. Where a moderator asks for a strategy or a concept, only those that do what
    they ask; a strategy that does not exist, or can be about nothing now, restricts nothing.
    """
    wanted = moment.inputs.strategy
    if wanted is not None and wanted in made.table:
        found = [(made.table[wanted], focus) for focus in focuses_of(made.table[wanted], moment)]
        if found:
            yield from found
            return
    by_node = steered(moment) is not None
    for strategy in made.table.values():
        if phase.multipliers.get(strategy.id, 1.0) <= 0:
            continue
        if by_node and not any(rule.source in NODE_SOURCES for rule in strategy.focuses):
            continue
        yield from ((strategy, focus) for focus in focuses_of(strategy, moment))


def reason_of(terms: Iterable[Term]) -> str:
    """What spoke most for a candidate, as one line of text."""
    weighted = [term for term in terms if term.kind == "weighted"]
    gains = sorted(weighted, key=lambda term: -(term.amount - NEUTRAL * (term.weight or 0.0)))
    said = [term.reason for term in gains[:EXPLAINED] if term.amount > NEUTRAL * (term.weight or 0.0)]
    factor = next((term for term in terms if term.kind == "multiplied"), None)
    if factor is not None and factor.amount != 1.0:
        said.append(f"phase {factor.reason} ×{factor.amount:g}")
    return "; ".join(said) or "nothing spoke for another strategy"


def _is_moved(moment: Moment) -> bool:
    """Whether there is strong feeling in the answer, as it was rated or else as its concepts were read."""
    if moment.quality is not None:
        return moment.quality.emotion == "strong"
    turn = moment.inputs.turn_count
    return any(node.emotion > 1 and node.last_mention_turn == turn for node in moment.nodes)


def _numbered(ranked: Sequence[_Scored]) -> Iterator[tuple[int, _Scored]]:
    return enumerate(ranked[:EXPLAINED_CANDIDATES], start=1)


def _explained(one: _Scored, rank: int, selected: bool) -> ScoredCandidate:
    return ScoredCandidate(
        strategy=one.strategy.id,
        target=one.focus.target,
        tactic=one.focus.focus_type,
        terms=one.terms,
        final_score=one.final,
        rank=rank,
        selected=selected,
    )


def _scores(ranked: Sequence[_Scored]) -> CandidateScores:
    return CandidateScores(
        of_others=tuple(
            (
                one.strategy.id,
                one.focus.target.ids if one.focus.target is not None else (),
                None if one.final is None else round(one.final, STORED_DIGITS),
            )
            for one in ranked
        )
    )


def _problems(file: TwoTierFile) -> Iterator[Problem]:
    ids = [strategy.id for strategy in file.strategies]
    yield from _twice("strategies", ids)
    yield from _twice("vetoes", [rule.id for rule in file.vetoes])
    yield from _twice("scorers", [rule.id for rule in file.scorers])
    yield from _twice("phases", [phase.name for phase in file.phases], "name")
    yield from _classes("vetoes", file.vetoes, VETOES)
    yield from _classes("scorers", file.scorers, SCORERS)
    closing = [s for s in file.strategies if s.enabled and s.type_category == "closing"]
    if len(closing) != 1:
        yield Problem(("strategies",), f"there are {len(closing)} enabled strategies of category closing; it takes one")
    if not any(rule.enabled and rule.weight > 0 for rule in file.scorers):
        yield Problem(("scorers",), "no scorer has a weight: every candidate would score 0")
    vetoes = {rule.id for rule in file.vetoes}
    for at, strategy in enumerate(file.strategies):
        for number, name in enumerate(strategy.spared_from):
            if name not in vetoes:
                yield Problem(
                    ("strategies", at, "spared_from", number), f"there is no veto {name}{_near(name, vetoes)}"
                )
        sources = {rule.source in NODE_SOURCES for rule in strategy.focuses}
        if len(sources) > 1:
            reason = "a strategy is about single concepts, or about none: `focuses` mixes both"
            yield Problem(("strategies", at, "focuses"), reason)
    for at, phase in enumerate(file.phases):
        last = at == len(file.phases) - 1
        if last and phase.turns is not None:
            yield Problem(("phases", at, "turns"), "the last phase goes on to the end")
        if not last and phase.turns is None:
            yield Problem(("phases", at, "turns"), "is missing; only the last phase has none")
        for name, factor in phase.multipliers.items():
            if name not in ids:
                yield Problem(("phases", at, "multipliers", name), f"there is no strategy {name}{_near(name, ids)}")
            if factor < 0 or factor > 100:
                yield Problem(("phases", at, "multipliers", name), "should be from 0 to 100")
        if all(phase.multipliers.get(s.id, 1.0) <= 0 for s in file.strategies if s.enabled):
            yield Problem(("phases", at, "multipliers"), "leaves no strategy to choose from")


def _classes(part: str, rules: Sequence[Rule], known: Mapping[str, Any]) -> Iterator[Problem]:
    """Classes that are not there, and parameters that they don't have."""
    for at, rule in enumerate(rules):
        if rule.kind not in known:
            reason = f"there is no {part[:-1].replace('vetoe', 'veto')} {rule.kind}{_near(rule.kind, known)}"
            yield Problem((part, at, "class"), reason)
            continue
        try:
            known[rule.kind].params.model_validate(rule.params)
        except ValidationError as exc:
            for error in exc.errors():
                yield Problem((part, at, "params", *error["loc"]), error["msg"].lower())


def _twice(part: str, names: Sequence[str], key: str = "id") -> Iterator[Problem]:
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Problem((part, at, key), f"{name} is there twice")


def _near(name: str, known: Iterable[str]) -> str:
    found = get_close_matches(name, list(known), 1)
    return f"; did you mean {found[0]}?" if found else ""


def _cautions(file: TwoTierFile) -> Iterator[Problem]:
    weights = sum(rule.weight for rule in file.scorers if rule.enabled)
    if abs(weights - 1) > 10**-SCORE_DIGITS:
        reason = f"the weights sum to {weights:g}: a candidate that is neutral in everything scores that, not 1"
        yield Problem(("scorers",), reason)
    for at, rule in enumerate(file.scorers):
        if rule.enabled and rule.weight == 0:
            yield Problem(("scorers", at, "weight"), f"{rule.id} has no weight and decides nothing")
    for at, strategy in enumerate(file.strategies):
        for language, forms in strategy.templates.items():
            for number, form in enumerate(forms):
                unknown = sorted(placeholders(form.ask) - PLACEHOLDERS)
                if unknown:
                    path = ("strategies", at, "templates", language, number)
                    yield Problem(path, f"unknown placeholder {{{unknown[0]}}}: it stays empty")

"""The engine: candidates, vetoes, scores, and the choice with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from pipeline.ceilings import ceilings_after, recalled, remembered
from pipeline.concept import SessionConfiguration
from pipeline.engines.base import (
    EXPLAINED,
    PHASE,
    Comparison,
    Decision,
    DecisionInputs,
    EngineFile,
    Pinned,
    Term,
    wordings,
)
from pipeline.engines.shared.ranking import Scored, chosen, closed, ranked
from pipeline.engines.shared.rules import Rule, made
from pipeline.engines.two_tier.checking import cautions, problems
from pipeline.engines.two_tier.file import NODE_SOURCES, PhaseRule, ScorerRule, TwoTierFile, TwoTierStrategy
from pipeline.engines.two_tier.focuses import focuses_of
from pipeline.engines.two_tier.moment import Moment, PossibleFocus
from pipeline.engines.two_tier.phases import left_out, phase_of
from pipeline.engines.two_tier.scorers import NEUTRAL, SCORERS, Scorer
from pipeline.engines.two_tier.vetoes import VETOES, KnowledgeCeiling, RecentRedundancy, Veto
from pipeline.methodology import FocusMode, Strategy
from pipeline.signals.registry import Problem
from pipeline.strategies import Strategies

MARGIN = 0.15
"""How much less a candidate may score and still be as good: what one scorer in full makes of it."""
MODES: Mapping[str, FocusMode] = {"transition": "summary", "reflection": "summary", "closing": "summary"}

Pair = tuple[TwoTierStrategy, PossibleFocus]


@dataclass(frozen=True)
class Compiled:
    """A file with its vetoes and scorers made."""

    file: TwoTierFile
    table: Mapping[str, TwoTierStrategy]
    vetoes: tuple[tuple[Rule, Veto[Any]], ...]
    scorers: tuple[tuple[ScorerRule, Scorer[Any]], ...]

    @property
    def closing(self) -> TwoTierStrategy:
        """The strategy that ends an interview."""
        return next(strategy for strategy in self.table.values() if strategy.type_category == "closing")


def compiled(data: Mapping[str, Any]) -> Compiled:
    """What a pinned file is worked with. Raises ValidationError for one that `TwoTier.problems` refuses."""
    file = TwoTierFile.model_validate(data)
    table = {strategy.id: strategy for strategy in file.strategies if strategy.enabled}
    return Compiled(file, table, made(file.vetoes, VETOES), made(file.scorers, SCORERS))


@lru_cache(maxsize=64)
def _compiled_of(key: Pinned[Mapping[str, Any]]) -> Compiled:
    return compiled(key.data)


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
        found = _compiled_of(Pinned(configuration.engine_file)).table.values()
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
        file = _compiled_of(Pinned(inputs.engine_file))
        moment, left = _moment(file, inputs)
        phase = phase_of(file.file, inputs, left)
        pairs, wished = candidates(file, moment, phase)
        listed = ranked(_scored(file, moment, phase, pair, at, wished) for at, pair in enumerate(pairs))
        state = {"left": sorted(left), "ceilings": remembered(moment.ceilings)}
        if not listed or listed[0].final is None:
            reason = "every candidate was vetoed" if listed else "there was nothing to ask about"
            closing = file.closing.id
            term = Term(kind="bonus", name=closing, amount=0.0, reason=reason)
            last = Scored(closing, None, "", 0, (term,))
            return closed(self.name, last, listed, phase=phase.name, reason=reason, state=state)
        best = listed[0]
        return chosen(
            self.name,
            listed,
            phase=phase.name,
            reason=reason_of(best.terms),
            close=file.table[best.strategy].type_category == "closing",
            state=state,
            margin=MARGIN,
        )

    def compared(self, inputs: DecisionInputs) -> Comparison:
        """The focuses of all candidates, with as many of the latest questions as any veto looks at."""
        file = _compiled_of(Pinned(inputs.engine_file))
        windows = [veto.given.window for _, veto in file.vetoes if isinstance(veto, RecentRedundancy)]
        if not windows:
            return Comparison()
        moment, left = _moment(file, inputs)
        pairs, _ = candidates(file, moment, phase_of(file.file, inputs, left))
        texts = tuple(focus.focus_description for _, focus in pairs if focus.focus_description)
        return Comparison(texts, inputs.question_texts[-max(windows) :])

    def problems(self, file: EngineFile) -> list[Problem]:
        """Names that are not there, numbers that decide nothing, no way to end."""
        assert isinstance(file, TwoTierFile)
        return list(problems(file))

    def cautions(self, file: EngineFile) -> list[Problem]:
        """What a file may say and probably does not mean."""
        assert isinstance(file, TwoTierFile)
        return list(cautions(file))

    def left_out(self, file: EngineFile, max_turns: int) -> tuple[str, ...]:
        """Phases that begin too late for so few turns."""
        assert isinstance(file, TwoTierFile)
        return left_out(file, max_turns)


def _moment(file: Compiled, inputs: DecisionInputs) -> tuple[Moment, frozenset[str]]:
    """The turn, with what the respondent knows no more of, and the phases that ended early."""
    known = recalled(inputs.engine_state.get("ceilings", ()))
    for _, veto in file.vetoes:
        if isinstance(veto, KnowledgeCeiling):
            known = ceilings_after(known, inputs, veto.given)
    moment = Moment(inputs, known, file.file, file.table)
    left = frozenset(inputs.engine_state.get("left", ()))
    phase = phase_of(file.file, inputs, left)
    if phase.ends_with_strong_emotion and _is_moved(moment):
        left |= {phase.name}
    return moment, left


def _scored(file: Compiled, moment: Moment, phase: PhaseRule, pair: Pair, place: int, wished: bool) -> Scored:
    """One candidate: the first veto, or all scores. What a moderator asks for is never vetoed."""
    strategy, focus = pair
    for rule, veto in file.vetoes if not wished else ():
        if rule.id in strategy.spared_from:
            continue
        found = veto.evaluate(strategy, focus, moment)
        if found.is_veto:
            stopped = Term(kind="veto", name=rule.id, reason=found.reasoning)
            return Scored(strategy.id, focus.target, focus.focus_type, place, (stopped,))
    terms = []
    for weighed, scorer in file.scorers:
        raw = scorer.score(strategy, focus, moment)
        amount = weighed.weight * raw.raw_score
        term = Term(name=weighed.id, value=raw.raw_score, weight=weighed.weight, amount=amount, reason=raw.reasoning)
        terms.append(term)
    factor = phase.multipliers.get(strategy.id, 1.0)
    terms.append(Term(kind="multiplied", name=PHASE, amount=factor, reason=phase.name))
    return Scored(strategy.id, focus.target, focus.focus_type, place, tuple(terms))


def candidates(file: Compiled, moment: Moment, phase: PhaseRule) -> tuple[Sequence[Pair], bool]:
    """Every strategy with everything it can be about, in the file's order; what the phase multiplies by 0 is none.

    Where a moderator asks for a strategy or a concept, only those that do what they ask, and true beside them; a
    strategy that does not exist, or can be about nothing now, restricts nothing, nor does a concept that none is about.
    """
    wanted = file.table.get(moment.inputs.strategy or "")
    found = list(_pairs([wanted], moment)) if wanted is not None else []
    there = [one for one in file.table.values() if phase.multipliers.get(one.id, 1.0) > 0]
    if not found and moment.wanted is not None:
        bound = [one for one in there if any(rule.source in NODE_SOURCES for rule in one.focuses)]
        found = list(_pairs(bound, moment))
    return (found, True) if found else (list(_pairs(there, moment)), False)


def _pairs(strategies: Iterable[TwoTierStrategy], moment: Moment) -> Iterator[Pair]:
    for strategy in strategies:
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

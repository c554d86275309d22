"""What can be wrong with the engine's file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from pydantic import ValidationError

from pipeline.concept import MOST_TURNS
from pipeline.engines.base import SCORE_DIGITS
from pipeline.engines.shared.checking import misnamed, near, twice, unfilled
from pipeline.engines.shared.rules import Rule
from pipeline.engines.two_tier.file import NODE_SOURCES, TwoTierFile
from pipeline.engines.two_tier.phases import left_out
from pipeline.engines.two_tier.scorers import SCORERS
from pipeline.engines.two_tier.vetoes import VETOES, CeilingParams, FatigueParams
from pipeline.methodology import Spec
from pipeline.signals.registry import Problem

SpecT = TypeVar("SpecT", bound=Spec)


def problems(file: TwoTierFile) -> Iterator[Problem]:
    """Places (keys and list positions) and reasons."""
    ids = [strategy.id for strategy in file.strategies]
    yield from twice("strategies", ids)
    yield from twice("vetoes", [rule.id for rule in file.vetoes])
    yield from twice("scorers", [rule.id for rule in file.scorers])
    yield from twice("phases", [phase.name for phase in file.phases], "name")
    yield from misnamed("vetoes", "veto", file.vetoes, VETOES)
    yield from misnamed("scorers", "scorer", file.scorers, SCORERS)
    closing = [s for s in file.strategies if s.enabled and s.type_category == "closing"]
    if len(closing) != 1:
        yield Problem(("strategies",), f"there are {len(closing)} enabled strategies of category closing; it takes one")
    if not any(s.enabled and s.type_category != "closing" for s in file.strategies):
        yield Problem(("strategies",), "there is nothing to choose from but closing")
    yield from _ceilings(file)
    if not any(rule.enabled and rule.weight > 0 for rule in file.scorers):
        yield Problem(("scorers",), "no scorer has a weight: every candidate would score 0")
    vetoes = {rule.id for rule in file.vetoes}
    for at, strategy in enumerate(file.strategies):
        for number, name in enumerate(strategy.spared_from):
            if name not in vetoes:
                yield Problem(("strategies", at, "spared_from", number), f"there is no veto {name}{near(name, vetoes)}")
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
                yield Problem(("phases", at, "multipliers", name), f"there is no strategy {name}{near(name, ids)}")
            if factor < 0 or factor > 100:
                yield Problem(("phases", at, "multipliers", name), "should be from 0 to 100")
        if all(phase.multipliers.get(s.id, 1.0) <= 0 for s in file.strategies if s.enabled):
            yield Problem(("phases", at, "multipliers"), "leaves no strategy to choose from")


def _ceilings(file: TwoTierFile) -> Iterator[Problem]:
    """Strategies of a knowledge ceiling that are not there, and one that names them all."""
    ids = [strategy.id for strategy in file.strategies]
    others = {strategy.id for strategy in file.strategies if strategy.enabled and strategy.type_category != "closing"}
    for at, given in _given(file.vetoes, CeilingParams):
        path = ("vetoes", at, "params", "strategies")
        for number, name in enumerate(given.strategies):
            if name not in ids:
                yield Problem((*path, number), f"there is no strategy {name}{near(name, ids)}")
        if others and others <= set(given.strategies):
            yield Problem(path, "vetoes every strategy: one “I don't know” would leave nothing to ask about a subject")


def _given(rules: Sequence[Rule], params: type[SpecT]) -> Iterator[tuple[int, SpecT]]:
    """The parameters of enabled vetoes of one class, with their places; none that are not right."""
    for at, rule in enumerate(rules):
        if rule.enabled and rule.kind in VETOES and VETOES[rule.kind].params is params:
            with suppress(ValidationError):
                yield at, params.model_validate(rule.params)


def cautions(file: TwoTierFile) -> Iterator[Problem]:
    """What a file may say and probably does not mean."""
    weights = sum(rule.weight for rule in file.scorers if rule.enabled)
    if abs(weights - 1) > 10**-SCORE_DIGITS:
        reason = f"the weights sum to {weights:g}: a candidate that is neutral in everything scores that, not 1"
        yield Problem(("scorers",), reason)
    for at, rule in enumerate(file.scorers):
        if rule.enabled and rule.weight == 0:
            yield Problem(("scorers", at, "weight"), f"{rule.id} has no weight and decides nothing")
    for at, strategy in enumerate(file.strategies):
        yield from unfilled(("strategies", at), strategy.templates)
        if strategy.enabled and all(phase.multipliers.get(strategy.id, 1.0) <= 0 for phase in file.phases):
            yield Problem(("strategies", at), f"no phase leaves {strategy.id} as a candidate: it is never asked")
        if not file.uncovered and any(rule.source == "uncovered_elements" for rule in strategy.focuses):
            yield Problem(("uncovered",), f"no gap counts, so that {strategy.id} is never about an element")
    yield from _odd_vetoes(file)
    yield from _odd_phases(file)


def _odd_vetoes(file: TwoTierFile) -> Iterator[Problem]:
    """Vetoes that leave nothing, or never stop anything."""
    others = [strategy for strategy in file.strategies if strategy.enabled and strategy.type_category != "closing"]
    for at, _ in _given(file.vetoes, FatigueParams):
        if not any(file.vetoes[at].id in strategy.spared_from for strategy in others):
            yield Problem(("vetoes", at), "vetoes every strategy but closing: tired respondents are let go at once")
    for at, given in _given(file.vetoes, CeilingParams):
        if not given.strategies:
            yield Problem(("vetoes", at, "params", "strategies"), "names no strategy: it vetoes nothing")


def _odd_phases(file: TwoTierFile) -> Iterator[Problem]:
    """Phases that no interview comes to, and one that never closes."""
    for name in left_out(file, MOST_TURNS):
        at = next(place for place, phase in enumerate(file.phases) if phase.name == name)
        yield Problem(("phases", at), f"never comes: interviews have {MOST_TURNS} turns at the most")
    for closing in (s.id for s in file.strategies if s.enabled and s.type_category == "closing"):
        if file.phases[-1].multipliers.get(closing, 1.0) <= 0:
            path = ("phases", len(file.phases) - 1, "multipliers", closing)
            yield Problem(path, "the last phase never closes: interviews end without a closing question")

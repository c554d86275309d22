"""What can be wrong with the engine's file."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.engines.base import SCORE_DIGITS
from pipeline.engines.shared.checking import misnamed, near, twice, unfilled
from pipeline.engines.two_tier.file import NODE_SOURCES, TwoTierFile
from pipeline.engines.two_tier.scorers import SCORERS
from pipeline.engines.two_tier.vetoes import VETOES
from pipeline.signals.registry import Problem


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

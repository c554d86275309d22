"""What can be wrong with the engine's file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from pydantic import ValidationError

from pipeline.engines.arbitration.file import ArbitrationFile
from pipeline.engines.arbitration.scorers import SCORERS, MomentumParams, State
from pipeline.engines.shared.checking import misnamed, twice, unfilled
from pipeline.signals.registry import Problem


def problems(file: ArbitrationFile) -> Iterator[Problem]:
    """Places (keys and list positions) and reasons."""
    yield from twice("strategies", [strategy.id for strategy in file.strategies])
    yield from twice("scorers", [rule.id for rule in file.scorers])
    if not any(rule.enabled for rule in file.scorers):
        yield Problem(("scorers",), "no scorer is enabled: the order of the file alone would choose")
    yield from misnamed("scorers", "scorer", file.scorers, SCORERS)
    closing = [s for s in file.strategies if s.enabled and s.applies == "closing"]
    if len(closing) != 1:
        yield Problem(("strategies",), f"{len(closing)} enabled strategies apply to `closing`; it takes one")
    if not any(s.enabled and s.applies != "closing" for s in file.strategies):
        yield Problem(("strategies",), "there is nothing to choose from but closing")
    for at, strategy in enumerate(file.strategies):
        names = [tactic.id for tactic in strategy.tactics]
        for number, name in enumerate(names):
            if name in names[:number]:
                yield Problem(("strategies", at, "tactics", number, "id"), f"{name} is there twice")

    yield from _ruled_out(file)


def _ruled_out(file: ArbitrationFile) -> Iterator[Problem]:
    """States of the respondent in which no strategy is left."""
    phases = {strategy.phase for strategy in file.strategies if strategy.enabled and strategy.applies != "closing"}
    for at, rule in enumerate(file.scorers):
        if not rule.enabled or SCORERS.get(rule.kind) is not SCORERS["MomentumAlignment"]:
            continue
        try:
            given = MomentumParams.model_validate(rule.params)
        except ValidationError:
            continue
        for state in get_args(State):
            if phases and not any(given.of(state, phase) for phase in phases):
                yield Problem(("scorers", at, "params", state), "rules every strategy out: nothing would be asked")


def cautions(file: ArbitrationFile) -> Iterator[Problem]:
    """What a file may say and probably does not mean."""
    for at, strategy in enumerate(file.strategies):
        for number, tactic in enumerate(strategy.tactics):
            path = ("strategies", at, "tactics", number)
            if not tactic.templates and not tactic.wordings_of and strategy.applies != "guide_topic":
                yield Problem(path, f"{tactic.id} has no questions: general ones are asked")
            if tactic.gaps and strategy.applies != "coverage_gaps":
                reason = f"without effect: {strategy.id} is not about elements, which alone have gaps"
                yield Problem((*path, "gaps"), reason)
            yield from unfilled(path, tactic.templates)
    if file.ending.fatigue_coverage == 1:
        reason = "never: no more than everything can be covered, so that a tired respondent is not let go"
        yield Problem(("ending", "fatigue_coverage"), reason)

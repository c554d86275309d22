"""Pool `temporal`: the latest choices of strategies, one value per candidate strategy."""

from __future__ import annotations

from typing import ClassVar

from pipeline.signals.base import Scope, SignalContext, SignalType

WINDOW = 5


class _PerStrategy:
    type: ClassVar[SignalType] = "number"
    scope: ClassVar[Scope] = "strategy"
    values: ClassVar[tuple[str, ...]] = ()
    depends_on: ClassVar[tuple[str, ...]] = ()


class StrategyRepetitionCount(_PerStrategy):
    name = "temporal.strategy_repetition_count"
    description = "Share of the last five choices that were this strategy."

    def detect(self, context: SignalContext) -> dict[str, float]:
        latest = list(context.strategy_history[-WINDOW:])
        return {s.name: latest.count(s.name) / WINDOW for s in context.strategies}


class TurnsSinceStrategyChange(_PerStrategy):
    name = "temporal.turns_since_strategy_change"
    description = "For the last strategy its run so far over five, 0 for the others."

    def detect(self, context: SignalContext) -> dict[str, float]:
        history = context.strategy_history
        run = 0
        while run < len(history) and history[-1 - run] == history[-1]:
            run += 1
        last = history[-1] if history else None
        return {s.name: min(1.0, run / WINDOW) if s.name == last else 0.0 for s in context.strategies}


SIGNALS = (StrategyRepetitionCount(), TurnsSinceStrategyChange())

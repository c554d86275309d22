"""Pool `guide`: what the interview should still speak of, one value per candidate strategy."""

from __future__ import annotations

from typing import ClassVar

from pipeline.signals.base import Scope, SignalContext, SignalType


class GuideGap:
    name = "guide.gap"
    type: ClassVar[SignalType] = "number"
    scope: ClassVar[Scope] = "strategy"
    values: ClassVar[tuple[str, ...]] = ()
    depends_on: ClassVar[tuple[str, ...]] = ()
    description = (
        "Share of the topics that a strategy works on which are open; for the one that asks for topics, how many of "
        "the turns that are left they would take. 0 without a guide."
    )

    def detect(self, context: SignalContext) -> dict[str, float]:
        found = dict(context.gaps)
        turns = max(1, context.max_turns - context.turn_number - 1)
        for strategy in context.strategies:
            if strategy.focus_mode == "guide":
                found[strategy.name] = min(1.0, context.topics_open / turns)
        return found


SIGNALS = (GuideGap(),)

"""Pool `grid`: what a repertory grid needs next."""

from __future__ import annotations

from typing import ClassVar, get_args

from pipeline.methodology import GridStepName
from pipeline.signals.base import Scope, SignalContext, SignalType


class GridDue:
    name = "grid.due"
    type: ClassVar[SignalType] = "category"
    scope: ClassVar[Scope] = "global"
    values: ClassVar[tuple[str, ...]] = (*get_args(GridStepName), "done")
    depends_on: ClassVar[tuple[str, ...]] = ()
    description = (
        "What the repertory grid needs next: another element, a comparison of three or two, in what way two are alike, "
        "an opposite pole, the ratings; done where it needs nothing more, and without a grid."
    )

    def detect(self, context: SignalContext) -> str:
        return context.step or "done"


SIGNALS = (GridDue(),)

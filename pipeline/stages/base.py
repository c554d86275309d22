"""What a stage is."""

from __future__ import annotations

from typing import ClassVar, Protocol

from pipeline.context import TurnContext
from pipeline.contracts import Contract


class Stage(Protocol):
    """One step of a turn: reads inputs and earlier contracts, awaits only its ports, provides one contract."""

    name: ClassVar[str]
    requires: ClassVar[tuple[type[Contract], ...]]
    provides: ClassVar[type[Contract]]

    async def run(self, context: TurnContext) -> Contract:
        """The stage's contract. Raises PipelineError."""
        ...

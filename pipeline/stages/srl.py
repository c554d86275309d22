"""Stage `srl`: linguistic structure of the answer, as a hint for extraction."""

from __future__ import annotations

from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import Contract, SrlOutput, UtteranceOutput
from pipeline.ports import Parser


class SrlStage:
    """Parses the answer where `enable_srl` is on."""

    name: ClassVar[str] = "srl"
    requires: ClassVar[tuple[type[Contract], ...]] = (UtteranceOutput,)
    provides: ClassVar[type[Contract]] = SrlOutput

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    async def run(self, context: TurnContext) -> SrlOutput:
        """Discourse relations and frames; empty when off or without content."""
        said = context.get(UtteranceOutput)
        if not context.configuration.settings.enable_srl or not said.has_content:
            return SrlOutput(parse=None)
        return SrlOutput(parse=await self._parser.parse(said.content))

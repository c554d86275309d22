"""Stage `srl`: linguistic structure of the answer, as a hint for extraction."""

from __future__ import annotations

from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import Contract, SrlOutput, UtteranceOutput
from pipeline.ports import Parser


class SrlStage:
    """Parses the answer where `enable_srl` is on and a language model may be told; offline, extraction parses."""

    name: ClassVar[str] = "srl"
    requires: ClassVar[tuple[type[Contract], ...]] = (UtteranceOutput,)
    provides: ClassVar[type[Contract]] = SrlOutput

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    async def run(self, context: TurnContext) -> SrlOutput:
        """Discourse relations and frames; empty when off, offline or without content."""
        said = context.get(UtteranceOutput)
        configuration = context.configuration
        if not (configuration.settings.enable_srl and configuration.prompts and said.has_content):
            return SrlOutput(parse=None)
        return SrlOutput(parse=await self._parser.parse(said.content))

"""Stage `extraction`: concepts and relations in the answer."""

from __future__ import annotations

from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract, ExtractionOutput, SrlOutput, UtteranceOutput
from pipeline.ports import Extraction, ExtractionRequest, Extractor


class ExtractionStage:
    """Asks the extractor; a skip has nothing to extract."""

    name: ClassVar[str] = "extraction"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput, UtteranceOutput, SrlOutput)
    provides: ClassVar[type[Contract]] = ExtractionOutput

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor

    async def run(self, context: TurnContext) -> ExtractionOutput:
        """What was found. Raises ProviderError."""
        said = context.get(UtteranceOutput)
        if not said.has_content:
            return ExtractionOutput(Extraction(extractable=False))
        start = context.get(ContextOutput)
        configuration = context.configuration
        request = ExtractionRequest(
            text=said.content,
            utterance_id=said.utterance.id,
            question=start.question,
            topic=configuration.concept.name,
            methodology=configuration.methodology,
            language=context.state.language,
            focus_label=start.focus_label,
            focus_type=start.focus_type,
            existing=start.existing,
            parse=context.get(SrlOutput).parse,
            synonyms=configuration.synonyms,
            elements=tuple((e.id, (e.label, *e.aliases)) for e in configuration.concept.elements),
            seed=context.state.seed,
        )
        return ExtractionOutput(await self._extractor.extract(request))

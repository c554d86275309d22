"""Stage `extraction`: concepts and relations in the answer."""

from __future__ import annotations

import re
from typing import ClassVar

from pipeline.concept import names_of
from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract, ExtractionOutput, SrlOutput, UtteranceOutput
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.grid.extraction import extracted
from pipeline.grid.moment import answered_step
from pipeline.grid.steps import begun
from pipeline.ports import Extraction, ExtractionRequest, Extractor

SHORT = 3
"""Letters of words that say nothing about what is meant."""
_WORD = re.compile(r"[^\W_]+")


def relevant(graph: SurfaceGraph, text: str, question: str, most: int) -> tuple[tuple[str, str], ...]:
    """Label and type of the nodes that an answer may speak of again.

    Those that share words with it come first, then those that share words with the question, then the others, each the
    most recently mentioned first.
    """
    spoken, asked = (frozenset(_WORD.findall(part.casefold())) for part in (text, question))

    def rank(node: KGNode) -> tuple[int, int, int]:
        own = frozenset(_WORD.findall(node.label.casefold())) | frozenset(node.lemmas)
        own = frozenset(word for word in own if len(word) > SHORT)
        return (-len(own & spoken), -len(own & asked), -node.mention_sequence)

    return tuple((node.label, node.node_type) for node in sorted(graph.live_nodes(), key=rank)[:most])


def _purpose(context: TurnContext) -> str:
    asked = context.state.question
    name = asked.strategy if asked is not None else None
    return next((s.description for s in context.configuration.methodology.strategies if s.name == name), "")


class ExtractionStage:
    """Asks the extractor; a skip has nothing to extract, and what a grid asked for is read by the grid's own rules."""

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
        step, grid = answered_step(context), configuration.methodology.grid
        if step is not None and grid is not None:
            progress = begun(context.state.grid, configuration)
            return ExtractionOutput(extracted(step, progress, said.content, context.state.language, grid))
        request = ExtractionRequest(
            text=said.content,
            utterance_id=said.utterance.id,
            question=start.question,
            topic=configuration.concept.name,
            methodology=configuration.methodology,
            language=context.state.language,
            focus_label=start.focus_label,
            focus_type=start.focus_type,
            existing=relevant(start.graph, said.content, start.question, configuration.settings.existing_labels),
            purpose=_purpose(context),
            parse=context.get(SrlOutput).parse,
            synonyms=configuration.synonyms,
            elements=names_of(configuration.concept.elements),
            seed=context.state.seed,
        )
        return ExtractionOutput(await self._extractor.extract(request))

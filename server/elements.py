"""Elements for interviews on a stimulus whose concept names none: made once, kept with each session."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import yaml

from pipeline.concept import Element, SessionConfiguration
from pipeline.ports import ConceptParser, StimulusRequest

MOST: Final = 256
"""Stimuli whose elements are remembered."""


class ElementMaker:
    """Makes elements of stimuli; the same stimulus has the same ones as long as the process runs.

    Args:
        parser_of: makes them for such a session; None where none are made.
    """

    def __init__(self, parser_of: Callable[[SessionConfiguration], ConceptParser | None]) -> None:
        self._parser_of = parser_of
        self._made: OrderedDict[tuple[str, ...], tuple[Element, ...]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def prepared(self, configuration: SessionConfiguration) -> SessionConfiguration:
        """The configuration that a session begins with: with elements where its concept has a text and names none.

        Raises:
            ProviderError: a language model that should make them failed.
        """
        concept = configuration.concept
        if not concept.stimulus or concept.has_own_elements:
            return configuration
        found = await self.made(configuration)
        return configuration.model_copy(update={"concept": concept.model_copy(update={"elements": found})})

    async def made(self, configuration: SessionConfiguration) -> tuple[Element, ...]:
        """The elements of the stimulus, whatever the concept names; none without a text. Raises ProviderError."""
        concept = configuration.concept
        language = concept.languages[0]
        if not concept.stimulus:
            return ()
        models = concept.llm.model_dump_json(include={"extraction"})
        key = (concept.stimulus, concept.name, language, models, configuration.prompts.get("elements", ""))
        async with self._lock:
            if key not in self._made:
                parser = self._parser_of(configuration)
                if parser is None:
                    return ()
                request = StimulusRequest(text=concept.stimulus, topic=concept.name, language=language)
                parsed = await parser.parse_stimulus(request)
                if parsed.fallback:
                    return parsed.elements
                self._made[key] = parsed.elements
                if len(self._made) > MOST:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            return self._made[key]


def as_yaml(elements: tuple[Element, ...]) -> str:
    """Elements as a concept file has them."""
    items = [element.model_dump(mode="json", exclude_defaults=True) for element in elements]
    return yaml.safe_dump({"elements": items}, sort_keys=False, allow_unicode=True, width=110)

"""The command `askwell elements`: what an interview would take for the elements of a stimulus, to be written down."""

from __future__ import annotations

import uvloop

from config.loader import Library, UnknownName
from config.settings import Settings
from pipeline.concept import Element, SessionConfiguration
from server.elements import as_yaml
from server.language import load_providers
from server.metrics import Metrics
from server.pipelines import open_pipelines
from server.simulation.running import library_of


def printed(settings: Settings, concept_id: str, language: str | None) -> str:
    """The elements of a concept's stimulus as its file would have them.

    Raises:
        UnknownName: there is no such concept, or it has no text that could be taken apart.
        ProviderError: a language model or a model of this machine failed.
    """
    library = library_of(settings)
    configuration = library.configuration(concept_id, language=language)
    if not configuration.concept.stimulus:
        raise UnknownName(f"The concept `{concept_id}` has no `stimulus` of which elements could be made.")
    found = uvloop.run(_made(settings, library, configuration))
    if not found:
        raise UnknownName(f"No elements can be told apart in the stimulus of `{concept_id}`; write them by hand.")
    return as_yaml(found)


async def _made(settings: Settings, library: Library, configuration: SessionConfiguration) -> tuple[Element, ...]:
    opening = open_pipelines(
        settings, library, Metrics(), load=load_providers, change=lambda same: same, say=lambda _: None
    )
    async with opening as pipelines:
        return await pipelines.elements.made(configuration)

"""Interviews of the small methodology with every engine, and their exports."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from config.loader import Library
from pipeline.concept import Element, PipelineSettings, SessionConfiguration
from server.comparison.playing import Variant
from server.comparison.playing import with_engine as with_engine_of
from server.export import written
from server.export.material import Material
from tests.support.interview import Interview, concepts, conduct_policy, configuration, new_state

ELEMENTS = (Element(id="taste", label="the taste"), Element(id="price", label="the price"))
SAID = ("sweet", "bitter", "cheap", "strong", "warm", "dark", "fresh", "mild", "rich", "thin", "old", "new")


@lru_cache(maxsize=1)
def library() -> Library:
    """What comes along."""
    return Library(PipelineSettings())


def engine_file(name: str) -> dict[str, Any]:
    """What the file of an engine that comes along says."""
    return library().engine_files.pinned(name)


def with_engine(name: str) -> SessionConfiguration:
    """The small methodology with two elements and this engine."""
    plain = configuration()
    concept = plain.concept.model_copy(update={"elements": ELEMENTS, "engine": name})
    return plain.model_copy(
        update={"concept": concept, "engine_file": engine_file(name), "conduct": conduct_policy("en")}
    )


def variant(name: str) -> Variant:
    """That as a run of a comparison."""
    return Variant(name, with_engine_of(with_engine(name), name, {name: engine_file(name)}))


def interview_with(name: str, **changes: Any) -> Interview:
    """An interview with this engine whose extractor finds a concept in each of SAID."""
    found = Interview(configuration=with_engine(name), state=new_state(**{"engine": name, "max_turns": 12, **changes}))
    found.extractor.script.update({text: concepts((text, "attribute")) for text in SAID})
    return found


async def held(name: str, said: tuple[str, ...] = SAID, **changes: Any) -> Interview:
    """An interview that was held, to its end or to the last of what is said."""
    interview = interview_with(name, **changes)
    for text in said:
        if interview.state.status == "completed":
            break
        await interview.say(text)
    return interview


def export(interview: Interview) -> dict[str, Any]:
    """Its complete export, as it is read from a file."""
    turns = tuple(one.record.model_dump(mode="json") for one in interview.outcomes if one.record is not None)
    content: dict[str, Any] = json.loads(written("json", Material(interview.state, interview.configuration, turns)))
    return content

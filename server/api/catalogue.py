"""Calls that list concepts, methodologies and personas."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pipeline.concept import Concept
from server.api.access import enrolment_is_open, principal_of
from server.api.http import json_response, parts_of
from server.api.replies import ConceptList, ConceptReply, ElementList, MethodologyList, PersonaList
from server.auth import Principal
from server.descriptions import DescribedRoute, Group, Holder, Operation, Reply
from server.errors import ApiError
from server.parts import Parts


def _short(concept: Concept) -> dict[str, Any]:
    return {
        "id": concept.id,
        "name": concept.name,
        "title": concept.title or concept.name,
        "methodology": concept.methodology,
        "engine": concept.engine,
        "languages": list(concept.languages),
        "titles": {
            language: (translated := concept.in_language(language)).title or translated.name
            for language in concept.languages
        },
    }


async def _reader(request: Request) -> Principal | None:
    """The moderator or device that reads concepts; None for others, and where the catalogue is open to anyone.

    Raises:
        ApiError: `unauthorised`, the token is wrong.
    """
    if parts_of(request).settings.server.concepts_open:
        return None
    principal = await principal_of(request)
    return None if principal is None or principal.kind == "respondent" else principal


def _may_read(parts: Parts, reader: Principal | None, concept: Concept) -> bool:
    if parts.settings.server.concepts_open or enrolment_is_open(parts, concept):
        return True
    return reader is not None and reader.may_see(concept.id)


async def concepts(request: Request) -> Response:
    """`GET /api/concepts`: all, or those that anyone may start and those within the scope of the token."""
    parts = parts_of(request)
    reader = await _reader(request)
    found = (await parts.look_up(parts.library.concepts)).values()
    items = [_short(one) for one in found if _may_read(parts, reader, one)]
    return json_response({"items": items, "open": parts.settings.server.concepts_open})


async def _concept(request: Request) -> Concept:
    """The concept in the path. Raises ApiError `not_found`, also for one that may not be read."""
    parts = parts_of(request)
    reader = await _reader(request)
    concept_id = request.path_params["concept_id"]
    found = (await parts.look_up(parts.library.concepts)).get(concept_id)
    if found is None or not _may_read(parts, reader, found):
        raise ApiError("not_found", f"There is no concept `{concept_id}`.")
    return found


async def concept(request: Request) -> Response:
    """`GET /api/concepts/{id}`: what respondents may see, which leaves out the objective."""
    found = await _concept(request)
    parts = parts_of(request)
    return json_response(
        {
            **_short(found),
            "max_turns": found.max_turns or parts.settings.sessions.max_turns,
            "consent": found.consent.model_dump(mode="json") if found.consent else None,
            "stimulus": found.stimulus,
            "helpline_text": found.helpline_text,
            "open_enrolment": enrolment_is_open(parts, found),
        }
    )


async def elements(request: Request) -> Response:
    """`GET /api/concepts/{id}/elements`."""
    return json_response({"items": [element.model_dump(mode="json") for element in (await _concept(request)).elements]})


async def methodologies(request: Request) -> Response:
    """`GET /api/methodologies`."""
    parts = parts_of(request)
    if not parts.settings.server.concepts_open and await _reader(request) is None:
        raise ApiError("unauthorised", "This needs the token of a moderator or a device.")
    found = (await parts.look_up(parts.library.methodologies)).values()
    items = [
        {
            "id": methodology.name,
            "name": methodology.name,
            "version": methodology.method.version,
            "goal": methodology.method.goal,
            "description": methodology.method.description,
            "nodes": [
                {"name": node.name, "level": node.level, "terminal": node.terminal}
                for node in methodology.ontology.nodes
            ],
            "node_types": [node.name for node in methodology.ontology.nodes],
            "edge_types": [edge.name for edge in methodology.ontology.edges],
            "strategies": [
                {"name": strategy.name, "description": strategy.description} for strategy in methodology.strategies
            ],
        }
        for methodology in found
    ]
    return json_response({"items": items})


async def personas(request: Request) -> Response:
    """`GET /api/personas`: the simulated respondents of the concepts that the caller may read; not their truth."""
    parts = parts_of(request)
    reader = await _reader(request)
    concepts = await parts.look_up(parts.library.concepts)
    found = (await parts.look_up(parts.library.personas)).values()
    items = [
        {
            "id": persona.id,
            "title": persona.title,
            "concept": persona.concept,
            "manner": persona.manner,
            "ideas": len(persona.truth),
        }
        for persona in found
        if _may_read(parts, reader, concepts[persona.concept])
    ]
    return json_response({"items": items})


CATALOGUE = Group(
    "Catalogue",
    "What there is to interview about, and how. See [concept files](configuration/concept.md) and "
    "[methodologies](methodologies.md).",
    "curl $URL/api/concepts/headphones_mec",
    """{"id": "headphones_mec", "methodology": "means_end_chain", "languages": ["en"], "max_turns": 15}""",
)

ANY_TOKEN: tuple[Holder, ...] = ("respondent", "moderator", "device")
"""Tokens of all kinds show the concepts that they are for, also where others are not shown any."""

ROUTES = [
    DescribedRoute(
        "/api/concepts",
        concepts,
        Operation("All concepts", CATALOGUE, (Reply("The concepts.", ConceptList),), ANY_TOKEN, anyone=True),
    ),
    DescribedRoute(
        "/api/concepts/{concept_id}",
        concept,
        Operation(
            "One concept",
            CATALOGUE,
            (Reply("What respondents may see of it.", ConceptReply),),
            ANY_TOKEN,
            anyone=True,
            description="The objective is left out.",
        ),
    ),
    DescribedRoute(
        "/api/concepts/{concept_id}/elements",
        elements,
        Operation(
            "What interviews should touch on", CATALOGUE, (Reply("The elements.", ElementList),), ANY_TOKEN, anyone=True
        ),
    ),
    DescribedRoute(
        "/api/methodologies",
        methodologies,
        Operation(
            "All methodologies", CATALOGUE, (Reply("The methodologies.", MethodologyList),), ANY_TOKEN, anyone=True
        ),
    ),
    DescribedRoute(
        "/api/personas",
        personas,
        Operation(
            "All personas",
            CATALOGUE,
            (Reply("The simulated respondents of `askwell simulate`.", PersonaList),),
            ANY_TOKEN,
            anyone=True,
            description="What they know is left out.",
        ),
    ),
]

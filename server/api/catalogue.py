"""Calls that list concepts, methodologies and personas."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipeline.concept import Concept
from server.api.access import enrolment_is_open
from server.api.http import json_response, parts_of
from server.errors import ApiError


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


async def concepts(request: Request) -> Response:
    """`GET /api/concepts`."""
    return json_response({"items": [_short(found) for found in parts_of(request).library.concepts().values()]})


def _concept(request: Request) -> Concept:
    concept_id = request.path_params["concept_id"]
    found = parts_of(request).library.concepts().get(concept_id)
    if found is None:
        raise ApiError("not_found", f"There is no concept `{concept_id}`.")
    return found


async def concept(request: Request) -> Response:
    """`GET /api/concepts/{id}`: what respondents may see, which leaves out the objective."""
    found = _concept(request)
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
    return json_response({"items": [element.model_dump(mode="json") for element in _concept(request).elements]})


async def methodologies(request: Request) -> Response:
    """`GET /api/methodologies`."""
    found = parts_of(request).library.methodologies().values()
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
    """`GET /api/personas`: this version has none."""
    return json_response({"items": []})


ROUTES = [
    Route("/api/concepts", concepts, methods=["GET"]),
    Route("/api/concepts/{concept_id}", concept, methods=["GET"]),
    Route("/api/concepts/{concept_id}/elements", elements, methods=["GET"]),
    Route("/api/methodologies", methodologies, methods=["GET"]),
    Route("/api/personas", personas, methods=["GET"]),
]

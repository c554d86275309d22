"""Calls for moderators: their identity, past commands, and commands for clients without the socket."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.api.access import moderator, session_id_of
from server.api.http import json_response, parts_of, read_object_body
from server.errors import ApiError
from server.protocol.codec import ProtocolProblem
from server.protocol.moderator import AnyCommand
from server.reading import public_rows
from server.watch.commands import read_command


async def me(request: Request) -> Response:
    """`GET /api/me`: the moderator who sent the request."""
    principal = await moderator(request)
    concepts = None if principal.concepts is None else sorted(principal.concepts)
    return json_response(
        {"kind": principal.kind, "name": principal.name, "token_id": principal.token_id, "concepts": concepts}
    )


async def actions(request: Request) -> Response:
    """`GET /api/sessions/{id}/actions`: moderators' commands, oldest first."""
    parts = parts_of(request)
    principal = await moderator(request)
    session_id = session_id_of(request)
    await parts.reader.visible(session_id, principal)
    return json_response(
        {"session_id": session_id, "items": public_rows(await parts.store.moderator_actions(session_id))}
    )


async def command(request: Request) -> Response:
    """`POST /api/sessions/{id}/commands`: a command as on the socket."""
    parts = parts_of(request)
    principal = await moderator(request)
    session_id = session_id_of(request)
    wanted = _parsed_command(await read_object_body(request))
    if wanted.session_id not in (None, session_id):
        raise ApiError("invalid_input", "session_id: should be the one of the address, or left out.")
    done = await parts.watch.commands.apply(session_id, wanted, principal)
    return json_response(done.model_dump(mode="json", exclude={"type"}))


def _parsed_command(value: dict[str, Any]) -> AnyCommand:
    try:
        return read_command(value)
    except ProtocolProblem as problem:
        raise ApiError("invalid_input", problem.message) from problem


ROUTES = [
    Route("/api/me", me, methods=["GET"]),
    Route("/api/sessions/{session_id}/actions", actions, methods=["GET"]),
    Route("/api/sessions/{session_id}/commands", command, methods=["POST"]),
]

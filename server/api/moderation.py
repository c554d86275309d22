"""Calls for moderators: their identity, past commands, and commands for clients without the socket."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from server.api.access import moderator, session_id_of
from server.api.http import json_response, parts_of, read_object_body
from server.api.replies import ActionList, CommandReply, ModeratorReply
from server.descriptions import DescribedRoute, Group, Operation, Reply
from server.errors import ApiError
from server.protocol.codec import ProtocolProblem
from server.protocol.moderator import AnyCommand, Command
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


MODERATION = Group(
    "Moderation",
    "What moderators do in interviews, for clients without the [socket](protocol/README.md). See "
    "[moderator](moderator.md).",
    """curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"type": "pause", """
    """"command_id": "0b5a3bd8-9d2c-4a0e-8f60-1f0a1b2c3d4e"}' $URL/api/sessions/$ID/commands""",
    '{"command_id": "0b5a3bd8-9d2c-4a0e-8f60-1f0a1b2c3d4e", "applies_to_turn": 3, "preview": null}',
)

ROUTES = [
    DescribedRoute(
        "/api/me",
        me,
        Operation("Who sends the request", MODERATION, (Reply("The moderator.", ModeratorReply),), ("moderator",)),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/actions",
        actions,
        Operation(
            "What moderators did in an interview",
            MODERATION,
            (Reply("Their commands, oldest first.", ActionList),),
            ("moderator",),
        ),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/commands",
        command,
        Operation(
            "Give a command",
            MODERATION,
            (Reply("It took effect, or will in that turn.", CommandReply),),
            ("moderator",),
            body=Command,
            errors=("turn_in_progress", "session_completed", "session_paused", "consent_required", "llm_unavailable"),
            description="A command as on the socket. The same `command_id` again means the same command again.",
        ),
        method="POST",
    ),
]

"""Calls for access: log in and out, create, list and revoke tokens."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.api.access import moderator
from server.api.http import json_response, parts_of, read_body
from server.api.models import CreateToken, Login
from server.auth import COOKIE, COOKIE_LIFE_S, ROOT
from server.errors import ApiError
from server.export.material import iso


async def login(request: Request) -> Response:
    """`POST /api/login`: a moderator's token becomes a cookie."""
    body = await read_body(request, Login)
    value, principal = await parts_of(request).auth.cookie_for(body.token)
    response = json_response({"name": principal.name})
    response.set_cookie(
        COOKIE,
        value,
        max_age=COOKIE_LIFE_S,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response


async def logout(request: Request) -> Response:
    """`POST /api/logout`: delete the cookie."""
    response = Response(status_code=204, headers={"cache-control": "no-store"})
    secure = request.url.scheme == "https"
    response.delete_cookie(COOKIE, path="/", secure=secure, httponly=True, samesite="strict")
    return response


async def create_token(request: Request) -> Response:
    """`POST /api/tokens`: the token is shown this once."""
    parts = parts_of(request)
    principal = await moderator(request)
    body = await read_body(request, CreateToken)
    if body.concepts is not None:
        known = parts.library.concepts()
        for concept_id in body.concepts:
            if concept_id not in known:
                raise ApiError("invalid_input", f"concepts: there is no concept `{concept_id}`.")
    wanted = None if body.concepts is None else tuple(dict.fromkeys(body.concepts))
    if principal.concepts is not None and (wanted is None or not principal.concepts.issuperset(wanted)):
        raise ApiError("forbidden", "A token can't see more than the one it is made with.")
    token, entry = await parts.auth.issue(body.kind, name=body.name, concepts=wanted)
    return json_response(
        {
            "id": entry.id,
            "token": token,
            "kind": entry.kind,
            "name": entry.name,
            "concepts": body.concepts,
            "created_at": entry.created_at.isoformat(),
        },
        201,
    )


async def list_tokens(request: Request) -> Response:
    """`GET /api/tokens`: those within the scope of the moderator's own, newest first; never the tokens themselves."""
    parts = parts_of(request)
    principal = await moderator(request)
    items = []
    for entry in await parts.store.tokens():
        scope = principal.concepts
        if scope is not None and (entry.concepts is None or not scope.issuperset(entry.concepts)):
            continue
        seen = await parts.hot.broadcasts.last_seen(entry.id) if entry.kind == "device" else None
        items.append(
            {
                "id": entry.id,
                "kind": entry.kind,
                "name": entry.name,
                "concepts": entry.concepts,
                "created_at": iso(entry.created_at),
                "revoked_at": iso(entry.revoked_at),
                "last_seen": iso(datetime.fromtimestamp(seen / 1000, UTC)) if seen is not None else None,
            }
        )
    return json_response({"items": items})


async def revoke_token(request: Request) -> Response:
    """`DELETE /api/tokens/{id}`."""
    parts = parts_of(request)
    principal = await moderator(request)
    token_id = str(request.path_params["token_id"])
    if principal.concepts is not None and token_id != principal.token_id:
        raise ApiError("forbidden", "Only a moderator for all concepts may revoke the tokens of others.")
    if token_id == ROOT or not await parts.auth.revoke(token_id):
        raise ApiError("not_found", "There is no such token.")
    parts.watch.exchange.revoke(token_id)
    return Response(status_code=204, headers={"cache-control": "no-store"})


ROUTES = [
    Route("/api/login", login, methods=["POST"]),
    Route("/api/logout", logout, methods=["POST"]),
    Route("/api/tokens", create_token, methods=["POST"]),
    Route("/api/tokens", list_tokens, methods=["GET"]),
    Route("/api/tokens/{token_id}", revoke_token, methods=["DELETE"]),
]

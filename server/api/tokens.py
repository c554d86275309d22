"""Calls for access: log in and out, create, list and revoke tokens."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from server.addresses import address_of
from server.api.access import moderator
from server.api.http import json_response, parts_of, read_body
from server.api.models import CreateToken, Login
from server.api.replies import LoginReply, TokenCreated, TokenList
from server.auth import COOKIE, COOKIE_LIFE_S, ROOT, ROOT_NAME
from server.descriptions import DescribedRoute, Group, Operation, Parameter, Reply
from server.errors import ApiError
from server.export.material import iso
from server.parts import Parts


async def login(request: Request) -> Response:
    """`POST /api/login`: a moderator's token becomes a cookie."""
    body = await read_body(request, Login)
    value, principal = await parts_of(request).auth.log_in(body.token, address_of(request.scope))
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
    """`POST /api/logout`: end the login on every node, with its sockets, and delete the cookie."""
    parts = parts_of(request)
    cookie = request.cookies.get(COOKIE)
    principal = await parts.auth.identify_cookie(cookie, address_of(request.scope)) if cookie else None
    if principal is not None:
        await parts.auth.log_out(principal)
        parts.watch.exchange.revoke(principal.login_id)
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
        known = await parts.look_up(parts.library.concepts)
        for concept_id in body.concepts:
            if concept_id not in known:
                raise ApiError("invalid_input", f"concepts: there is no concept `{concept_id}`.")
    wanted = None if body.concepts is None else tuple(dict.fromkeys(body.concepts))
    if principal.concepts is not None and (wanted is None or not principal.concepts.issuperset(wanted)):
        raise ApiError("forbidden", "A token can't see more than the one it is made with.")
    token, entry = await parts.auth.issue(body.kind, name=body.name, concepts=wanted, created_by=principal.token_id)
    return json_response(
        {
            "id": entry.id,
            "token": token,
            "kind": entry.kind,
            "name": entry.name,
            "concepts": body.concepts,
            "created_at": entry.created_at.isoformat(),
            "created_by": entry.created_by,
        },
        201,
    )


async def list_tokens(request: Request) -> Response:
    """`GET /api/tokens`: those within the scope of the moderator's own, newest first; never the tokens themselves."""
    parts = parts_of(request)
    principal = await moderator(request)
    items = []
    entries = await parts.store.tokens()
    names = {ROOT: ROOT_NAME, **{entry.id: entry.name for entry in entries}}
    for entry in entries:
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
                "created_by": entry.created_by,
                "created_by_name": names.get(entry.created_by or ""),
                "revoked_at": iso(entry.revoked_at),
                "last_seen": iso(datetime.fromtimestamp(seen / 1000, UTC)) if seen is not None else None,
            }
        )
    return json_response({"items": items})


async def revoke_token(request: Request) -> Response:
    """`DELETE /api/tokens/{id}`: end the token and all that were made with it."""
    parts = parts_of(request)
    principal = await moderator(request)
    token_id = str(request.path_params["token_id"])
    if principal.concepts is not None and not await _is_own(parts, token_id, principal.token_id):
        raise ApiError("forbidden", "Only a moderator for all concepts may revoke the tokens of others.")
    ended = await parts.auth.revoke(token_id) if token_id != ROOT else ()
    if not ended:
        raise ApiError("not_found", "There is no such token.")
    for one in ended:
        parts.watch.exchange.revoke(one)
    return Response(status_code=204, headers={"cache-control": "no-store"})


async def _is_own(parts: Parts, token_id: str, mine: str) -> bool:
    """Whether a token is mine, or was made with mine, directly or not."""
    makers = {entry.id: entry.created_by for entry in await parts.store.tokens()}
    seen: set[str] = set()
    current: str | None = token_id
    while current is not None and current != mine and current not in seen:
        seen.add(current)
        current = makers.get(current)
    return current == mine


ACCESS = Group(
    "Access",
    "Tokens of moderators and devices, and the cookie of the moderators' page.",
    """curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' """
    """-d '{"kind": "device", "name": "Entrance", "concepts": ["headphones_mec"]}' $URL/api/tokens""",
    """{"id": "6f1c9d2e", "token": "x0Jd…", "kind": "device", "name": "Entrance", "concepts": ["headphones_mec"]}""",
)
_COOKIE = (Parameter("set-cookie", str, f"The cookie `{COOKIE}`."),)

ROUTES = [
    DescribedRoute(
        "/api/login",
        login,
        Operation(
            "Get a cookie for a moderator's token",
            ACCESS,
            (Reply("The cookie is set.", LoginReply, headers=_COOKIE),),
            anyone=True,
            body=Login,
            errors=("unauthorised", "storage_unavailable"),
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/logout",
        logout,
        Operation(
            "Delete the cookie",
            ACCESS,
            (Reply("It is deleted.", status=204, media_types=(), headers=_COOKIE),),
            anyone=True,
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/tokens",
        create_token,
        Operation(
            "Make a token",
            ACCESS,
            (Reply("The token, which is shown this once.", TokenCreated, status=201),),
            ("moderator",),
            body=CreateToken,
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/tokens",
        list_tokens,
        Operation(
            "All tokens",
            ACCESS,
            (Reply("Those within the scope of the moderator's own, revoked ones too.", TokenList),),
            ("moderator",),
        ),
    ),
    DescribedRoute(
        "/api/tokens/{token_id}",
        revoke_token,
        Operation("End a token", ACCESS, (Reply("It has ended.", status=204, media_types=()),), ("moderator",)),
        method="DELETE",
    ),
]

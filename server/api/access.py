"""Authentication and authorisation of requests: the bearer token or cookie, and the session in the path."""

from __future__ import annotations

from starlette.requests import Request

from pipeline.concept import Concept
from pipeline.state import is_session_id
from server.addresses import address_of
from server.api.http import parts_of
from server.auth import COOKIE, Principal
from server.errors import ApiError
from server.parts import Parts


async def principal_of(request: Request) -> Principal | None:
    """Who sent the request, None for a request without a token.

    Raises:
        ApiError: `unauthorised`, a token was given and is wrong; `rate_limited`, as were many from its address.
    """
    parts = parts_of(request)
    auth = parts.auth
    address = address_of(request.scope)
    if "authorization" in request.headers:
        token = bearer_token(request)
        found = await auth.identify(token, address) if token is not None else None
        if found is None:
            raise ApiError("unauthorised", "The token is not valid.")
        await parts.watch.devices.note_seen(found)
        return found
    cookie = request.cookies.get(COOKIE)
    return await auth.identify_cookie(cookie, address) if cookie else None


def bearer_token(request: Request) -> str | None:
    """The bearer token of a request, None if it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def some_principal(request: Request, token: str) -> Principal:
    """The principal of a request that needs one; `token` names the token it needs. Raises ApiError `unauthorised`."""
    principal = await principal_of(request)
    if principal is None:
        raise ApiError("unauthorised", f"This needs {token}.")
    return principal


async def moderator(request: Request) -> Principal:
    """The moderator who sent the request.

    Raises:
        ApiError: `unauthorised`, there is no token; `forbidden`, it is not a moderator's.
    """
    principal = await some_principal(request, "the token of a moderator")
    if principal.kind != "moderator":
        raise ApiError("forbidden", "This is for moderators only.")
    return principal


def enrolment_is_open(parts: Parts, concept: Concept) -> bool:
    """Whether interviews on the concept can be started without a token."""
    return parts.settings.server.enrolment_open if concept.open_enrolment is None else concept.open_enrolment


def session_id_of(request: Request) -> str:
    """The session named in the path. Raises ApiError `not_found` for what can't be an id."""
    session_id = str(request.path_params["session_id"])
    if not is_session_id(session_id):
        raise ApiError("not_found", "There is no such interview.")
    return session_id


async def respondent(request: Request) -> str:
    """The session in the path, for its own respondent only.

    Raises:
        ApiError: `unauthorised`, `forbidden` (not this session's token), `not_found`.
    """
    session_id = session_id_of(request)
    principal = await some_principal(request, "the token of the interview")
    if principal.kind != "respondent" or principal.session_id != session_id:
        raise ApiError("forbidden", "This token belongs to another interview.")
    return session_id


async def respondent_or_moderator(request: Request) -> tuple[str, Principal]:
    """The session in the path, for its respondent or a moderator; a moderator's scope is checked by the caller."""
    session_id = session_id_of(request)
    principal = await some_principal(request, "the token of the interview or of a moderator")
    if principal.kind == "moderator" or principal.session_id == session_id:
        return session_id, principal
    raise ApiError("forbidden", "This token belongs to another interview.")

"""What all routes share: reading a request body, JSON responses, error responses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import structlog
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from server.errors import ApiError, WireError, wire_error
from server.parts import Parts
from server.protocol.codec import is_clean, unique_names
from server.protocol.codes import SENTENCES

log = structlog.get_logger()

BodyT = TypeVar("BodyT", bound=BaseModel)
T = TypeVar("T")

PROBLEM = "application/problem+json"
STORAGE_AWAY = "Storage can't be reached just now. Please try again in a moment."
"""The message of `storage_unavailable` for requests that send no answer."""
_REASONS = {
    "extra_forbidden": "there is no such field",
    "missing": "is missing",
    "string_pattern_mismatch": "is not in the expected form",
}
"""What is wrong with a field, by pydantic's type of the error."""
_HTTP_CODES = {400: "invalid_message", 401: "unauthorised", 403: "forbidden", 404: "not_found", 405: "invalid_message"}


def parts_of(request: Request) -> Parts:
    """The parts of the process."""
    found = request.app.state.parts
    assert isinstance(found, Parts)
    return found


def json_response(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response that may not be cached."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(
        body, status, {"cache-control": "no-store", **(headers or {})}, media_type="application/json; charset=utf-8"
    )


def problem_response(error: WireError, headers: Mapping[str, str] | None = None) -> Response:
    """An error as `application/problem+json` (RFC 9457)."""
    body = json.dumps(error.problem(), ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, error.status, {"cache-control": "no-store", **(headers or {})}, media_type=PROBLEM)


async def body_chunks(request: Request, limit: int, too_long: ApiError) -> AsyncIterator[bytes]:
    """The request's body as it arrives.

    Raises:
        ApiError: `too_long`, it has more than `limit` bytes; `invalid_message`, the client disconnected before its end.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and (len(announced) > 18 or int(announced) > limit):
        raise too_long
    received = 0
    try:
        async for chunk in request.stream():
            received += len(chunk)
            if received > limit:
                raise too_long
            yield chunk
    except ClientDisconnect as exc:
        raise ApiError("invalid_message", "The request ended too early.") from exc


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of work that only this client waits for; it is cancelled when the client disconnects.

    Args:
        request: whose body was read to its end.
        work: what it waits for; what it raises is raised.
    Raises:
        ApiError: `invalid_message`, the client disconnected.
    """

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            continue
        raise ApiError("invalid_message", "The request ended too early.")

    try:
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(disconnected(), name="client")
            found = await work
            watching.cancel()
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    return found


async def read_bytes(request: Request, limit: int) -> bytes:
    """The request's body of up to `limit` bytes. Raises ApiError `invalid_message` (413 where it is longer)."""
    too_long = ApiError("invalid_message", f"The request is longer than {limit} bytes.", status=413)
    return b"".join([chunk async for chunk in body_chunks(request, limit, too_long)])


async def read_object_body(request: Request, *, optional: bool = False) -> dict[str, Any]:
    """The JSON object of the body; arguments and errors as of `read_body`."""
    body = await read_bytes(request, parts_of(request).settings.limits.max_body_bytes)
    if optional and not body.strip():
        body = b"{}"
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", "") or (kind == "" and not optional):
        raise ApiError("invalid_message", "The body should be JSON (content-type application/json).", status=415)
    try:
        data = json.loads(body.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=unique_names)
    except (ValueError, RecursionError) as exc:
        raise ApiError("invalid_message", "The body is not JSON.") from exc
    if not isinstance(data, dict):
        raise ApiError("invalid_message", "The body should be a JSON object.")
    return data


async def read_body(request: Request, model: type[BodyT], *, optional: bool = False) -> BodyT:
    """The JSON body as that model.

    Args:
        request: the request.
        model: what is expected.
        optional: whether no body at all stands for `{}`.
    Raises:
        ApiError: `invalid_message` when it is not JSON, `invalid_input` when it does not fit.
    """
    data = await read_object_body(request, optional=optional)
    try:
        found = model.model_validate(data)
    except ValidationError as exc:
        raise ApiError("invalid_input", first_problem(exc)) from exc
    if not is_clean(data):
        raise ApiError("invalid_input", "The body contains characters that are not text. Please write it again.")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(name)


def first_problem(exc: ValidationError) -> str:
    """The first validation error as a sentence."""
    error = exc.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in error["loc"])
    reason = _REASONS.get(error["type"], str(error["msg"]).removeprefix("Value error, "))
    return f"{where}: {reason}." if where else f"{reason}."


async def on_error(request: Request, exc: Exception) -> Response:
    """The response to any exception of a route."""
    headers: dict[str, str] = {}
    if isinstance(exc, HTTPException):
        code = _HTTP_CODES.get(exc.status_code, "internal" if exc.status_code >= 500 else "invalid_message")
        detail = str(exc.detail)
        if exc.status_code == 404:
            detail = "There is no such page or call."
        elif exc.status_code == 405:
            detail = f"This page or call can't be used with {request.method}."
        error = WireError(code, detail, False, exc.status_code)
        headers.update(exc.headers or {})
    else:
        error = wire_error(exc)
        if error.message == SENTENCES["storage_unavailable"] and not request.url.path.endswith("/turns"):
            error = replace(error, message=STORAGE_AWAY)
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    if error.code == "rate_limited":
        headers["retry-after"] = str(getattr(exc, "retry_after_s", 1))
    if error.code in ("storage_unavailable", "too_many_sessions", "llm_unavailable"):
        headers["retry-after"] = "2"
    parts_of(request).metrics.errors.labels(error.code).inc()
    if error.code == "internal":
        log.error("http.failed", path=request.url.path, method=request.method, exc_info=exc)
    elif error.status >= 500:
        log.warning("http.unavailable", path=request.url.path, code=error.code, reason=repr(exc))
    return problem_response(error, headers)

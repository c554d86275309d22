"""Holds what a server answers to the published description of its calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from server.api.replies import Problem
from server.app import http_routes
from server.descriptions import Described, Reply
from server.openapi import PROBLEM, codes_of

UNDESCRIBED = {404: "not_found", 405: "invalid_message"}
"""What a path or method that nobody described is answered with."""


@dataclass(frozen=True)
class Call:
    """A described call, and how its paths look."""

    route: Described
    pattern: re.Pattern[str]


@cache
def calls() -> tuple[Call, ...]:
    """All calls, in the order in which the application tries them."""

    def pattern(route: Described) -> re.Pattern[str]:
        parts = re.split(r"({\w+})", route.shown_path)
        one = {"{path}": ".*"}
        return re.compile("".join(one.get(p, "[^/]+") if p.startswith("{") else re.escape(p) for p in parts))

    return tuple(Call(route, pattern(route)) for route in http_routes())


def described(method: str, path: str) -> Described | None:
    """The description of the call that answers such a request."""
    for call in calls():
        if call.route.method == method and call.pattern.fullmatch(path):
            return call.route
    return None


@cache
def _adapter(reply: Reply) -> TypeAdapter[Any]:
    return TypeAdapter(reply.body)


def deviation(method: str, path: str, status: int, content_type: str, content: bytes) -> str | None:
    """How a response differs from what is published; None if it does not.

    Args:
        method: of the request.
        path: of the request, without its query.
        status: of the response.
        content_type: of the response; empty if it has none.
        content: of the response.
    """
    route = described(method, path)
    kind = content_type.partition(";")[0]
    reply = next((one for one in route.operation.replies if one.status == status), None) if route is not None else None
    if reply is not None and kind != PROBLEM:
        return _reply_deviation(reply, kind, content)
    codes = codes_of(route.operation, method, route.shown_path) if route is not None else {}
    if route is None and status in UNDESCRIBED:
        codes = {status: [UNDESCRIBED[status]]}  # type: ignore[list-item]
    if kind != PROBLEM:
        return f"status {status} with {kind or 'no body'} is not described"
    try:
        problem = Problem.model_validate_json(content)
    except ValidationError as exc:
        return f"no problem as described: {exc}"
    if problem.status != status or problem.code not in codes.get(status, ()):
        return f"{status} {problem.code} is not described; there are {codes}"
    return None


def _reply_deviation(reply: Reply, kind: str, content: bytes) -> str | None:
    if kind not in (reply.media_types or ("",)):
        return f"the content type {kind!r} is not described"
    if not reply.media_types and content:
        return "there is a body"
    if reply.body is None:
        return None
    try:
        _adapter(reply).validate_json(content)
    except ValidationError as exc:
        return f"the body is not as described: {exc}"
    return None

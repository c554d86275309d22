"""What an HTTP route takes and gives, as a record beside the route.

The OpenAPI document and the page of all calls are made from these records (`server/openapi.py`). A route of the
application that has none fails a test.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from server.protocol.codes import ErrorCode

Method = Literal["GET", "POST", "DELETE"]
Holder = Literal["respondent", "moderator", "device"]
"""Whose token a call takes."""
Refusal = ErrorCode | tuple[ErrorCode, int]
"""An error code, with its HTTP status where that is not the code's usual one."""
Endpoint = Callable[[Request], Awaitable[Response] | Response]

JSON = "application/json"
HTML = "text/html"
JAVASCRIPT = "text/javascript"
ANY_TYPE = "application/octet-stream"


@dataclass(frozen=True)
class Group:
    """Calls that are shown together.

    Args:
        title: for people.
        intro: what applies to all of them.
        example: one of them, as a command line with curl.
        reply: what it answers, shortened.
    """

    title: str
    intro: str
    example: str
    reply: str


@dataclass(frozen=True)
class Parameter:
    """A parameter in the path or the query, or a header.

    Args:
        name: as it is sent.
        type: what it is read as; a type that pydantic knows.
        description: for people.
        required: whether the call is refused without it.
    """

    name: str
    type: Any
    description: str
    required: bool = False


DISPOSITION = Parameter("content-disposition", str, "The name of the file.")
"""The header of replies that are saved as files."""


@dataclass(frozen=True)
class Reply:
    """What is answered when nothing is wrong.

    Args:
        description: for people.
        body: type of the JSON; None for no body, or one that is no JSON.
        status: the HTTP status.
        media_types: of the body.
        headers: those that belong to this reply.
    """

    description: str
    body: Any = None
    status: int = 200
    media_types: tuple[str, ...] = (JSON,)
    headers: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Operation:
    """One call.

    Errors that many calls have in common are not listed in `errors`: `server/openapi.py` derives them from the rest.

    Args:
        summary: a few words.
        group: where it is shown.
        replies: what it answers when nothing is wrong.
        holders: whose token it takes, in a header; a moderator's also as a cookie.
        anyone: whether it also answers without a token.
        unlocked: whether it needs the key of the operator's corner besides.
        body: model of the JSON body.
        body_required: whether there must be one.
        upload: media types of a body that is no JSON.
        query: parameters.
        path: parameters that the application does not know by name.
        headers: parameters.
        errors: what it refuses besides.
        description: more than the summary.
    """

    summary: str
    group: Group
    replies: tuple[Reply, ...]
    holders: tuple[Holder, ...] = ()
    anyone: bool = False
    unlocked: bool = False
    body: type[BaseModel] | Any = None
    body_required: bool = True
    upload: tuple[str, ...] = ()
    query: tuple[Parameter, ...] = ()
    path: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()
    errors: tuple[Refusal, ...] = ()
    description: str = ""


class DescribedRoute(Route):
    """A route with its description.

    Args:
        path: as Starlette writes it.
        endpoint: answers the call.
        operation: the description.
        method: the one method that it takes (and HEAD besides GET).
        name: for Starlette.
    """

    def __init__(
        self, path: str, endpoint: Endpoint, operation: Operation, *, method: Method = "GET", name: str | None = None
    ) -> None:
        super().__init__(path, endpoint, methods=[method], name=name)
        self.method: Method = method
        self.operation = operation
        self.shown_path = path


class DescribedMount(Mount):
    """Files below a path, with their description.

    Args:
        path: what the paths of all of them begin with.
        app: answers the calls.
        operation: the description; its parameter `path` stands for the rest of the path.
        name: for Starlette.
    """

    def __init__(self, path: str, app: ASGIApp, operation: Operation, *, name: str) -> None:
        super().__init__(path, app, name=name)
        self.method: Method = "GET"
        self.operation = operation
        self.shown_path = f"{path}/{{path}}"


Described = DescribedRoute | DescribedMount

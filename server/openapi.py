"""Publishes the HTTP calls as an OpenAPI document and as a page for people, from the descriptions of the routes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel, TypeAdapter

from server.api.kiosk import KEY_HEADER
from server.api.replies import Problem
from server.auth import COOKIE
from server.descriptions import JSON, Described, Group, Holder, Operation, Parameter, Refusal, Reply
from server.errors import STATUS, TITLE
from server.protocol.codes import ErrorCode
from server.protocol.tables import field_rows, type_words

DOCUMENT: Final = "protocol/openapi.json"
PAGE: Final = "http.md"
VERSION: Final = "1"
"""Of the interface: changes when what older clients send would be refused, or what they need is missing."""
PROBLEM: Final = "application/problem+json"
_REFS = "#/components/schemas/{model}"
_PATH_PARAMETERS: Final = {
    "session_id": "Id of the interview.",
    "concept_id": "Id of the concept.",
    "token_id": "Id of the token, not the token itself.",
}
_ALWAYS: Final[tuple[Refusal, ...]] = ("forbidden", "too_many_sessions", "internal")
"""What any call may answer: for a strange host, on a server that is full, or where there is a defect."""
_WITH_TOKEN: Final[tuple[Refusal, ...]] = ("unauthorised", "storage_unavailable")
_WITH_JSON: Final[tuple[Refusal, ...]] = (
    *("invalid_message", ("invalid_message", 413), ("invalid_message", 415)),
    "invalid_input",
)
_WITH_UPLOAD: Final[tuple[Refusal, ...]] = ("invalid_message", ("invalid_message", 413))
_INTRO: Final = """\
Calls for programs. Bodies are JSON unless something else is said, with exactly the fields named here; moments are ISO
8601 with a zone. The sockets of respondents and moderators are described in [protocol](protocol/README.md). The same
as an OpenAPI document, for programs: [openapi.json](protocol/openapi.json).

In the examples, `URL` is the server's address, such as `http://127.0.0.1:8080`, `ID` the id of an interview, `TOKEN`
the token of a moderator (`askwell moderator-token`), and `DEVICE` that of a device.

A token is sent in the header `Authorization: Bearer TOKEN`; moderators' calls also take the cookie that
`POST /api/login` sets. Requests that change something may only come from the server's own pages, from allowed origins,
and from clients that are no browser.

Whatever is wrong is answered as `application/problem+json` with these fields:
"""
_ERRORS: Final = """\
Any call may be refused with `forbidden` (403: a host that the server does not answer to, or a token for something
else), `too_many_sessions` (503: the server is full) and `internal` (500: a defect); each that changes something also
with `rate_limited` (429). All codes: [error codes](protocol/README.md#error-codes)."""


def codes_of(operation: Operation, method: str, path: str) -> dict[int, list[ErrorCode]]:
    """The codes that a call may be refused with, by HTTP status."""
    wanted: list[Refusal] = [*_ALWAYS, *operation.errors]
    if method != "GET":
        wanted.append("rate_limited")
    if operation.holders:
        wanted += _WITH_TOKEN
    if any(f"{{{name}}}" in path for name in _PATH_PARAMETERS) and path.startswith("/api/"):
        wanted.append("not_found")
    if operation.body is not None:
        wanted += _WITH_JSON
    if operation.upload:
        wanted += _WITH_UPLOAD
    found: defaultdict[int, set[ErrorCode]] = defaultdict(set)
    for one in wanted:
        code, status = one if isinstance(one, tuple) else (one, STATUS[one])
        found[status].add(code)
    order = get_args(ErrorCode)
    return {status: sorted(codes, key=order.index) for status, codes in sorted(found.items())}


class _Schemas:
    """JSON Schemas of all types that the calls name, those of models by reference."""

    def __init__(self, routes: Sequence[Described]) -> None:
        types = [Problem, *(one for route in routes for one in _types(route.operation))]
        self._keys = {id(one): key for key, one in enumerate(types)}
        self._types = types  # kept, so that no other object gets their ids
        inputs = [(key, "validation", TypeAdapter(one)) for key, one in enumerate(types)]
        self._found, definitions = TypeAdapter.json_schemas(inputs, ref_template=_REFS)  # type: ignore[arg-type]
        self.components: dict[str, Any] = definitions.get("$defs", {})

    def of(self, type_: Any) -> dict[str, Any]:
        """The schema of a type."""
        return self._found[self._keys[id(type_)], "validation"]


def _types(operation: Operation) -> Iterator[Any]:
    yield from (reply.body for reply in operation.replies if reply.body is not None)
    yield from (header.type for reply in operation.replies for header in reply.headers)
    yield from (one.type for one in (*operation.path, *operation.query, *operation.headers))
    if operation.body is not None:
        yield operation.body


def document(routes: Sequence[Described]) -> dict[str, Any]:
    """The OpenAPI document of all routes that are no socket."""
    schemas = _Schemas(routes)
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.shown_path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "askwell", "version": VERSION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "tags": [{"name": group.title, "description": group.intro} for group in groups(routes)],
        "paths": paths,
        "components": {"schemas": schemas.components, "securitySchemes": _SECURITY},
    }


_SECURITY: Final[dict[str, Any]] = {
    "respondent": {"type": "http", "scheme": "bearer", "description": "The token of one interview."},
    "moderator": {"type": "http", "scheme": "bearer", "description": "The token of a moderator."},
    "device": {"type": "http", "scheme": "bearer", "description": "The token of a device."},
    "moderatorCookie": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by `POST /api/login`."},
    "kioskKey": {
        "type": "apiKey",
        "in": "header",
        "name": KEY_HEADER,
        "description": "Given by `POST /api/kiosk/unlock`.",
    },
}


def _security(operation: Operation) -> list[dict[str, list[str]]]:
    """Each entry is one way to be let in."""
    key: dict[str, list[str]] = {"kioskKey": []} if operation.unlocked else {}
    found: list[dict[str, list[str]]] = [key] if operation.anyone else []
    for holder in operation.holders:
        found.append({holder: [], **key})
        if holder == "moderator":
            found.append({"moderatorCookie": [], **key})
    return found


def _operation(route: Described, schemas: _Schemas) -> dict[str, Any]:
    operation = route.operation
    found: dict[str, Any] = {
        "operationId": _operation_id(route),
        "summary": operation.summary,
        "tags": [operation.group.title],
        "security": _security(operation),
        "responses": {
            **{str(reply.status): _reply(reply, schemas) for reply in operation.replies},
            **_problems(route, schemas),
        },
    }
    if operation.description:
        found["description"] = operation.description
    parameters = [*_path_parameters(route)]
    for place, ones in (("path", operation.path), ("query", operation.query), ("header", operation.headers)):
        parameters += [_parameter(one, place, schemas.of(one.type)) for one in ones]
    if parameters:
        found["parameters"] = parameters
    if operation.body is not None:
        content = {JSON: {"schema": schemas.of(operation.body)}}
        found["requestBody"] = {"required": operation.body_required, "content": content}
    elif operation.upload:
        binary = {"schema": {"type": "string", "format": "binary"}}
        found["requestBody"] = {"required": True, "content": dict.fromkeys(operation.upload, binary)}
    return found


def _operation_id(route: Described) -> str:
    words = re.findall(r"\w+", f"{route.method.lower()}{route.shown_path}")
    return "_".join(words) if len(words) > 1 else f"{words[0]}_start_page"


def _path_parameters(route: Described) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", route.shown_path):
        if name in _PATH_PARAMETERS:
            yield _parameter(Parameter(name, str, _PATH_PARAMETERS[name], required=True), "path", {"type": "string"})


def _parameter(one: Parameter, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": one.name,
        "in": place,
        "required": one.required,
        "description": one.description,
        "schema": schema,
    }


def _reply(reply: Reply, schemas: _Schemas) -> dict[str, Any]:
    found: dict[str, Any] = {"description": reply.description}
    if reply.headers:
        found["headers"] = {
            one.name: {"description": one.description, "schema": schemas.of(one.type)} for one in reply.headers
        }
    if reply.body is not None:
        found["content"] = {JSON: {"schema": schemas.of(reply.body)}}
    elif reply.media_types:
        found["content"] = {kind: {} for kind in reply.media_types}
    return found


def _problems(route: Described, schemas: _Schemas) -> dict[str, Any]:
    found: dict[str, Any] = {}
    known = {reply.status for reply in route.operation.replies}
    for status, codes in codes_of(route.operation, route.method, route.shown_path).items():
        limits = {"properties": {"code": {"enum": codes}, "status": {"const": status}}}
        content: dict[str, Any] = {PROBLEM: {"schema": {"allOf": [schemas.of(Problem), limits]}}}
        if status in known:
            reply = next(reply for reply in route.operation.replies if reply.status == status)
            content |= _reply(reply, schemas)["content"]
        found[str(status)] = {"description": "; ".join(TITLE[code] for code in codes) + ".", "content": content}
    return found


def groups(routes: Sequence[Described]) -> list[Group]:
    """The groups of the routes, in their order."""
    found: list[Group] = []
    for route in routes:
        if route.operation.group not in found:
            found.append(route.operation.group)
    return found


def page(routes: Sequence[Described]) -> str:
    """The page of all calls, as Markdown."""
    lines = [
        "# HTTP calls",
        "",
        "<!-- Generated by `askwell export-schema`; edit the descriptions beside the routes. -->",
        "",
        _INTRO,
        *_fields(Problem),
        "",
        _ERRORS,
        "",
    ]
    for group in groups(routes):
        lines += [f"- [{group.title}](#{group.title.lower().replace(' ', '-')})"]
    for group in groups(routes):
        lines += ["", f"## {group.title}", "", group.intro, "", "```sh", group.example, "```"]
        if group.reply:
            lines += ["", "```json", group.reply, "```"]
        for route in routes:
            if route.operation.group is group:
                lines += ["", *_section(route)]
    return "\n".join(lines) + "\n"


def write(directory: Path, routes: Sequence[Described]) -> list[Path]:
    """Write the document and the page.

    Args:
        directory: where docs are; is made if it is not there.
        routes: all that are no socket.
    Returns:
        The files.
    Raises:
        OSError: they can't be written.
    """
    written = []
    for name, text in published(routes).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def published(routes: Sequence[Described]) -> dict[str, str]:
    """The document and the page, by their names below the folder of docs."""
    found = json.dumps(document(routes), indent=1, ensure_ascii=False) + "\n"
    return {DOCUMENT: found, PAGE: page(routes)}


def _section(route: Described) -> list[str]:
    operation = route.operation
    about = f"{operation.summary}. {operation.description}".strip()
    lines = [f"### `{route.method} {route.shown_path}`", "", about]
    if operation.holders:
        lines += ["", f"For: {_who(operation)}."]
    parameters = (*operation.path, *operation.query, *operation.headers)
    if parameters:
        lines += ["", "| parameter | type | |", "|---|---|---|"]
        lines += [f"| `{one.name}` | {type_words(one.type)} | {one.description} |" for one in parameters]
    if operation.body is not None:
        lines += ["", "Body" if operation.body_required else "Body, which may be left out", "", *_body(operation.body)]
    elif operation.upload:
        lines += ["", f"Body: {', '.join(f'`{kind}`' for kind in operation.upload)}."]
    for reply in operation.replies:
        kinds = "" if reply.body is not None or not reply.media_types else f" ({', '.join(reply.media_types)})"
        lines += ["", f"{reply.status}{kinds}: {reply.description}"]
        lines += ["", *_body(reply.body)] if reply.body is not None else []
    errors = [
        f"{status} `{code}`"
        for status, codes in codes_of(operation, route.method, route.shown_path).items()
        for code in codes
        if code not in ("internal", "too_many_sessions", "rate_limited") and (operation.holders or code != "forbidden")
    ]
    return [*lines, "", f"Errors: {', '.join(errors)}."] if errors else lines


def _who(operation: Operation) -> str:
    words: dict[Holder, str] = {"respondent": "the interview's respondent", "moderator": "moderators"}
    found = [words.get(holder, "devices") for holder in operation.holders]
    found += ["some without a token"] if operation.anyone else []
    return ", ".join(found) + ("; with the key of the operator's corner" if operation.unlocked else "")


def _body(type_: Any) -> list[str]:
    """The fields of a body; of any of several, of each."""
    if isinstance(type_, type) and issubclass(type_, BaseModel):
        return _fields(type_)
    models = list(_models(type_))
    if any("type" in model.model_fields for model in models):
        return ["One of the [commands](protocol/README.md#moderator-socket-what-a-client-may-send) of moderators."]
    lines: list[str] = []
    for model in models:
        lines += [(model.__doc__ or "").strip(), "", *_fields(model), ""]
    return lines[:-1]


def _models(type_: Any) -> Iterator[type[BaseModel]]:
    if isinstance(type_, type):
        yield type_
    else:
        for one in get_args(type_)[: 1 if hasattr(type_, "__metadata__") else None]:
            yield from _models(one)


def _fields(model: type[BaseModel]) -> list[str]:
    return ["| field | type | |", "|---|---|---|", *field_rows(model)]

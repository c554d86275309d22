"""What is published of the calls is all of them, and true."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from starlette.routing import WebSocketRoute

from server.app import http_routes
from server.descriptions import DescribedMount, DescribedRoute
from server.openapi import document, groups, page, published, write
from tests.support.published_calls import described, deviation
from tests.support.syncing import device
from tests.support.whole import Process, process

in_module = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Process]:
    """A process that the examples are tried on."""
    async with process(tmp_path_factory.mktemp("published")) as running:
        yield running


@pytest.mark.parametrize("name", ["protocol/openapi.json", "http.md"])
def test_published_files_are_up_to_date(root: Path, name: str) -> None:
    found = (root / "docs" / name).read_text(encoding="utf-8")
    assert found == published(http_routes())[name], f"docs/{name} is out of date: run `askwell export-schema`"


def test_write_makes_both_files(tmp_path: Path) -> None:
    written = write(tmp_path, http_routes())
    assert {path.relative_to(tmp_path).as_posix(): path.read_text() for path in written} == published(http_routes())


@in_module
async def test_every_route_of_the_application_is_described(api: Process) -> None:
    routes = [route for route in api.app.routes if not isinstance(route, WebSocketRoute)]
    assert [route for route in routes if not isinstance(route, DescribedRoute | DescribedMount)] == []
    assert len(routes) == len(http_routes()) > 35


def test_document_and_page_name_every_call_and_no_other() -> None:
    wanted = {(route.method, route.shown_path) for route in http_routes()}
    told = {(method.upper(), path) for path, methods in document(http_routes())["paths"].items() for method in methods}
    shown = set(re.findall(r"^### `(\w+) (\S+)`$", page(http_routes()), re.MULTILINE))
    assert told == shown == wanted


def test_document_names_every_call_once_and_refers_only_to_what_it_has() -> None:
    made = document(http_routes())
    calls = [call for methods in made["paths"].values() for call in methods.values()]
    names = [call["operationId"] for call in calls]
    assert len(set(names)) == len(names)
    references = {one.rpartition("/")[2] for one in re.findall(r'"\$ref": "([^"]+)"', json.dumps(made))}
    assert references and references <= set(made["components"]["schemas"])
    schemes = {name for call in calls for way in call["security"] for name in way}
    assert schemes == set(made["components"]["securitySchemes"])


def parsed(example: str) -> tuple[str, str, dict[str, str], str | None]:
    """Method, path, headers and body of a command line with curl."""
    words = iter(shlex.split(example))
    assert next(words) == "curl"
    method, path, headers, body = "", "", {}, None
    for word in words:
        match word:
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words)
            case "-I":
                method = "HEAD"
            case _:
                path = word.removeprefix("$URL")
    return method or ("POST" if body is not None else "GET"), path, headers, body


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def known(api: Process) -> dict[str, str]:
    """What the names in the examples stand for."""
    session_id, _ = await api.interview(1)
    token, _ = await device(api)
    return {"$TOKEN": api.storage.moderator_token, "$DEVICE": token, "$ID": session_id}


def lacking(example: Any, answer: Any) -> Iterator[str]:
    """Names in an example that the answer does not have."""
    if isinstance(example, dict):
        for name, inner in example.items():
            if isinstance(answer, dict) and name in answer:
                yield from lacking(inner, answer[name])
            else:
                yield name
    elif isinstance(example, list) and example and isinstance(example[0], dict):
        for inner in example:
            yield from lacking(inner, answer[0])


@in_module
@pytest.mark.parametrize("group", groups(http_routes()), ids=lambda group: group.title)
async def test_example_of_a_group_is_answered_as_shown(api: Process, known: dict[str, str], group: Any) -> None:
    example = re.sub(r"\$(?!URL)\w+", lambda name: known[name[0]], group.example)
    method, path, headers, body = parsed(example)
    route = described("GET" if method == "HEAD" else method, path)
    assert route is not None and route.operation.group is group
    answer = await api.http.request(method, path, headers=headers, content=body)
    assert answer.status_code in (200, 201), answer.text
    if group.reply:
        assert list(lacking(json.loads(group.reply), answer.json())) == []


OK = httpx.Response(200, json={"items": [], "open": True}, headers={"content-type": "application/json"})


@pytest.mark.parametrize(
    ("path", "response", "said"),
    [
        ("/api/concepts", OK, None),
        ("/api/concepts", httpx.Response(200, json={"items": [], "open": True, "more": 1}), "not as described"),
        ("/api/concepts", httpx.Response(200, text="[]"), "content type"),
        ("/api/concepts", httpx.Response(202, json={}), "status 202"),
        ("/api/concepts", httpx.Response(500, text="Internal Server Error"), "status 500"),
        ("/api/nowhere", OK, "status 200"),
        ("/api/logout", OK, "status 200"),
    ],
)
def test_answer_that_is_not_as_published_is_noticed(path: str, response: httpx.Response, said: str | None) -> None:
    kind = response.headers["content-type"]
    found = deviation("GET", path, response.status_code, kind, response.content)
    assert (found is None) if said is None else (found is not None and said in found)


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [(404, "not_found", None), (404, "forbidden", "not described"), (409, "not_found", "not described")],
)
def test_problem_that_is_not_as_published_is_noticed(status: int, code: str, said: str | None) -> None:
    content = {"type": "t", "title": "t", "status": status, "detail": "d", "code": code}
    found = deviation("GET", "/api/concepts/none", status, "application/problem+json", json.dumps(content).encode())
    assert (found is None) if said is None else (found is not None and said in found)

"""Any request to any call, by whomever: what comes back is as published, and never an internal error."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from server.api.kiosk import KEY_HEADER
from server.app import http_routes
from server.auth import COOKIE, TOKEN_FILE
from server.descriptions import Described
from server.openapi import document
from tests.support.process import ServerProcess
from tests.support.published_calls import deviation
from tests.support.resources import Meter
from tests.support.whole import bearer, write_config

pytestmark = pytest.mark.thorough

SCRIPTED = (sys.executable, "-m", "tests.server.sync_server")
EXAMPLES = 4
"""Requests per call, valid and invalid ones each."""
PIN = "4711"
HELD = {"memory_mb": 200, "descriptors": 16, "files": 4}
"""What the server may keep: caches, connections of its pools, files of its storage."""
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ODD_URLS = ("http://[", "http://\x7f/", "//", "file:///etc/passwd", "http://127.0.0.1:99999", "http://a b", "ü://ü")


@dataclass
class Published:
    """A server, and what opens it."""

    url: str
    schema: Any
    tokens: dict[str, str]
    cookie: str
    key: str
    sessions: list[str]
    spare: list[str]

    def headers(self, who: str) -> dict[str, str]:
        """What somebody sends to be let in."""
        if who == "cookie":
            return {"cookie": f"{COOKIE}={self.cookie}"}
        return bearer(self.tokens[who]) if who in self.tokens else {}


WHO = ("nobody", "respondent", "moderator", "device", "cookie", "stranger")


def prepared(server: ServerProcess) -> Published:
    """An interview with answers, and a token of each kind."""
    tokens = {"moderator": (server.data / TOKEN_FILE).read_text().strip(), "stranger": "x" * 43}
    with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http:
        moderator = bearer(tokens["moderator"])

        def post(path: str, headers: dict[str, str], **body: Any) -> Any:
            answer = http.post(path, json=body, headers=headers)
            assert answer.status_code in (200, 201), answer.text
            return answer.json()

        sessions: list[str] = []
        spare: list[str] = []
        for _ in range(3):
            made = post("/api/sessions", {}, concept_id="coffee_mec")
            tokens.setdefault("respondent", made["respondent_token"])
            (spare if sessions else sessions).append(made["session_id"])
        mine, first = bearer(tokens["respondent"]), f"/api/sessions/{sessions[0]}"
        post(f"{first}/start", mine, consent={"version": "1"})
        post(f"{first}/turns", mine, text="The taste helps me to wake up", turn_key=str(uuid4()))
        tokens["device"] = post("/api/tokens", moderator, kind="device", name="Entrance")["token"]
        key = post("/api/kiosk/unlock", bearer(tokens["device"]), pin=PIN)["key"]
        cookie = http.post("/api/login", json={"token": tokens["moderator"]}).cookies[COOKIE]
    schema = schemathesis.openapi.from_dict(document(http_routes()))
    schema.config.generation.update(with_security_parameters=False)
    return Published(server.url, schema, tokens, cookie, key, sessions, spare)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    """A server of its own process, on a real socket; only the language providers follow a script."""
    folder = tmp_path_factory.mktemp("published")
    environment = {
        "ASKWELL_CONFIG_DIR": str(write_config(folder / "config")),
        "ASKWELL_REQUESTS_PER_S": "100000",
        "ASKWELL_REQUEST_BURST": "100000",
        "ASKWELL_KIOSK_PIN": PIN,
    }
    process = ServerProcess(folder / "data", environment, command=SCRIPTED)
    with asyncio.Runner() as runner:
        runner.run(process.start())
        try:
            made = prepared(process)
            meter = Meter(process.pid, [process.data])
            before = runner.run(meter.read())
            yield made
            assert runner.run(meter.lost(before, HELD)) == []
        finally:
            runner.run(process.stop())


def named(route: Described) -> str:
    return f"{route.method} {route.shown_path}"


@st.composite
def known_ids(draw: st.DrawFn, server: Published, route: Described) -> dict[str, str]:
    """Parameters of the path that exist; for what deletes, ids that nobody needs."""
    sessions = server.spare if route.method == "DELETE" else server.sessions
    known = {"session_id": sessions, "concept_id": ["coffee_mec", "tea"], "token_id": ["root"], "path": ["theme.css"]}
    names = [name for name in known if f"{{{name}}}" in route.shown_path]
    return {name: draw(st.sampled_from(known[name])) for name in names if draw(st.integers(0, 2))}


@pytest.mark.parametrize("route", http_routes(), ids=named)
def test_any_request_is_answered_as_published(server: Published, route: Described) -> None:
    with requests.Session() as http:
        http.trust_env = False
        attempt(server, route, http, GenerationMode.POSITIVE, CHECKS)
        if route.operation.body is not None:
            attempt(server, route, http, GenerationMode.NEGATIVE, [*CHECKS, negative_data_rejection])
        elif route.operation.query:
            attempt(server, route, http, GenerationMode.NEGATIVE, CHECKS)


def attempt(
    server: Published, route: Described, http: requests.Session, mode: GenerationMode, checks: list[Any]
) -> None:
    """Some requests to a call, valid ones or not."""
    who = st.sampled_from((*WHO, *route.operation.holders * 3))
    requested = server.schema[route.shown_path][route.method].as_strategy(generation_mode=mode)

    @settings(max_examples=EXAMPLES, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(requested, who, known_ids(server, route))
    def answered(case: Any, who: str, ids: dict[str, str]) -> None:
        # What is put in place of an invalid id makes the request valid.
        ask(server, route, case, http, who, ids, CHECKS if ids else checks)

    answered()


def ask(
    server: Published,
    route: Described,
    case: Any,
    http: requests.Session,
    who: str,
    ids: dict[str, str],
    checks: list[Any],
) -> None:
    """Send a request, and hold the answer to what is published."""
    case.path_parameters.update(ids)
    case.headers.pop("authorization", None)
    case.cookies.clear()
    headers = server.headers(who)
    if route.operation.unlocked and who == "device" and not route.shown_path.endswith("/restart"):
        headers[KEY_HEADER] = server.key
    response = case.call(base_url=server.url, session=http, headers=headers, timeout=30)
    case.validate_response(response, checks=checks)
    assert response.status_code != 500
    path = unquote(urlsplit(response.request.url).path)
    kind = response.headers.get("content-type", [""])[0]
    found = deviation(route.method, path, response.status_code, kind, response.content)
    assert found is None, f"{route.method} {response.request.url} ({who}): {found}"


def test_strange_address_to_push_to_is_told_in_the_last_line(server: Published) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http:
        for url in ODD_URLS:
            body = {"to": url, "token": "ü"}
            answer = http.post("/api/sync/push", json=body, headers=bearer(server.tokens["moderator"]))
            assert answer.status_code == 200
            assert "error" in answer.text.splitlines()[-1], url

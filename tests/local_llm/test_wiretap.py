"""The relay passes everything on unchanged, and reads what it passed."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.local_llm.wiretap import Exchange, Wiretap

EVENTS = (
    {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]},
    {"choices": [{"delta": {"content": "Why "}, "finish_reason": None}]},
    {"choices": [{"delta": {"content": "coffee?"}, "finish_reason": None}]},
    {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
)
STREAM = "".join(f"data: {json.dumps(event)}\n\n" for event in EVENTS) + "data: [DONE]\n\n"
WHOLE = json.dumps(
    {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5}}
)


class Model(BaseHTTPRequestHandler):
    """Answers like a model server; holds on to a request for "wait" until its client is gone."""

    protocol_version = "HTTP/1.1"
    gone = threading.Event()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("wait"):
            if self.connection.recv(1) == b"":
                self.gone.set()
            self.close_connection = True
            return
        status = 400 if asked.get("bad") else 200
        body = (STREAM if asked.get("stream") else WHOLE).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def tap() -> Iterator[Wiretap]:
    Model.gone.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with Wiretap(f"http://127.0.0.1:{server.server_address[1]}").listening() as wiretap:
        yield wiretap
    server.shutdown()
    server.server_close()
    thread.join()


def post(tap: Wiretap, **body: object) -> tuple[int, str]:
    connection = http.client.HTTPConnection(tap.url.removeprefix("http://"), timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def heard(tap: Wiretap) -> Exchange:
    """The one exchange."""
    (seen,) = tap.heard(1)
    return seen


def test_relay_of_a_whole_answer_keeps_text_form_and_tokens(tap: Wiretap) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "extraction", "schema": {}}}
    assert post(tap, response_format=form) == (200, WHOLE)
    seen = heard(tap)
    assert (seen.text, seen.form, seen.streamed, seen.cut) == ("{}", "extraction", False, False)
    assert seen.usage == {"prompt_tokens": 5}


def test_relay_of_a_stream_passes_it_unchanged_and_joins_its_pieces(tap: Wiretap) -> None:
    assert post(tap, stream=True) == (200, STREAM)
    seen = heard(tap)
    assert (seen.text, seen.finish, seen.streamed) == ("Why coffee?", "stop", True)
    assert seen.usage["completion_tokens"] == 3
    assert 0 < seen.first_byte_s <= seen.seconds


def test_relay_of_a_refusal_keeps_the_status_and_what_was_said(tap: Wiretap) -> None:
    assert post(tap, bad=True) == (400, WHOLE)
    seen = heard(tap)
    assert (seen.status, seen.text) == (400, WHOLE)


def test_relay_whose_client_hangs_up_hangs_up_behind(tap: Wiretap) -> None:
    connection = http.client.HTTPConnection(tap.url.removeprefix("http://"), timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps({"wait": True}))
    connection.close()
    assert Model.gone.wait(10)

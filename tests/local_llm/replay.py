"""A server that says again what a local model said: an interview of half an hour over again in seconds.

It shows what a change of the pipeline makes of the same output. Extractions and ratings are found by the answer they
were about, everything else by its order, the last one again where more is asked for. Recorded calls that broke off are
left out. An answer that was never rated or extracted is a 503.
"""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.local_llm.wiretap import Exchange

_ANSWER = re.compile(r"<answer-\w+>\n(.*?)\n</answer-", re.DOTALL)
_WORDS = re.compile(r"\S*\s*")
Key = tuple[str, str]


def recorded(lines: Iterable[str]) -> list[Exchange]:
    """The exchanges of a journal."""
    return [Exchange(**json.loads(line)) for line in lines]


def key_of(request: dict[str, Any]) -> Key:
    """What a request asks for, and about which answer."""
    form = ((request.get("response_format") or {}).get("json_schema") or {}).get("name", "")
    about = _ANSWER.search(request["messages"][-1]["content"]) if form else None
    return str(form), about[1] if about else ""


class Replay:
    """Answers requests from what was recorded."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._left: dict[Key, list[Exchange]] = defaultdict(list)
        for exchange in exchanges:
            if exchange.status == 200 and (exchange.text if exchange.streamed else exchange.finish):
                self._left[key_of(exchange.request)].append(exchange)
        self._lock = threading.Lock()

    def take(self, request: dict[str, Any]) -> Exchange | None:
        """The next recorded answer to such a request; none when there are no more."""
        with self._lock:
            key = key_of(request)
            left = self._left.get(key)
            if not left:
                return None
            return left[0] if len(left) == 1 and not key[1] else left.pop(0)

    @contextmanager
    def listening(self) -> Iterator[str]:
        """Serve until the block is left; the base URL."""
        replay = self

        class Handler(BaseHTTPRequestHandler):
            """One connection."""

            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(200, "application/json", b'{"object": "list", "data": []}')

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                found = replay.take(request)
                self._send(*answer(found, stream=bool(request.get("stream"))))

            def _send(self, status: int, kind: str, body: bytes) -> None:
                self.send_response_only(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def answer(found: Exchange | None, *, stream: bool) -> tuple[int, str, bytes]:
    """Status, content type and body for a recorded answer."""
    if found is None:
        error = {"error": {"code": 503, "type": "unavailable_error", "message": "nothing more was recorded"}}
        return 503, "application/json", json.dumps(error).encode()
    if not stream:
        choice = {"index": 0, "message": {"role": "assistant", "content": found.text}, "finish_reason": found.finish}
        return 200, "application/json", json.dumps({"choices": [choice], "usage": found.usage}).encode()
    events: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
        for word in _WORDS.findall(found.text)
        if word
    ]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": found.finish or "stop"}]})
    events.append({"choices": [], "usage": found.usage})
    return 200, "text/event-stream", b"".join(_event(json.dumps(event)) for event in events) + _event("[DONE]")


def _event(data: str) -> bytes:
    return f"data: {data}\n\n".encode()

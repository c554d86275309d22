"""A loopback relay in front of a model server that keeps what was asked and answered, word for word.

It treats connections as the server behind does: kept after a whole answer, closed without a word after a stream; and
when the client hangs up, so does it.
"""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PIECE_BYTES = 65536
PATIENCE_S = 3600.0
WATCH_S = 0.2
PASSED_ON = ("content-type", "accept")


@dataclass(frozen=True)
class Exchange:
    """One request and its answer. Moments are of `time.monotonic`; `seconds` counts up to the last byte.

    `cut` says that one of the two ends hung up before the answer was whole.
    """

    at_s: float
    seconds: float
    first_byte_s: float
    status: int
    request: dict[str, Any]
    text: str
    usage: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)
    finish: str | None = None
    cut: bool = False

    @property
    def form(self) -> str:
        """Name of the JSON schema that was asked for, empty for free text."""
        wanted = self.request.get("response_format") or {}
        return str((wanted.get("json_schema") or {}).get("name", ""))

    @property
    def streamed(self) -> bool:
        """Whether it was asked for in pieces."""
        return bool(self.request.get("stream"))


class Wiretap:
    """The relay; `exchanges` grows as answers end."""

    def __init__(self, target: str, journal: Path | None = None) -> None:
        """Args:
        target: base URL of the server behind, `http://host:port`.
        journal: file that gets a line of JSON per exchange, as it ends.
        """
        self.exchanges: list[Exchange] = []
        self._journal = journal
        self._ended = threading.Condition()
        self._target = urlsplit(target).netloc
        tap = self

        class Handler(BaseHTTPRequestHandler):
            """One connection of the client's."""

            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                tap.relay(self, b"")

            def do_POST(self) -> None:
                tap.relay(self, self.rfile.read(int(self.headers.get("content-length", "0"))))

            def log_message(self, *_: Any) -> None:
                """Nothing: the exchanges are the log."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """Base URL to use instead of the target's."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def listening(self) -> Iterator[Wiretap]:
        """Relay until the block is left."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def relay(self, client: BaseHTTPRequestHandler, body: bytes) -> None:
        """Pass one request on and its answer back, each piece as it comes."""
        began = time.monotonic()
        behind = http.client.HTTPConnection(self._target, timeout=PATIENCE_S)
        received = bytearray()
        first_s, cut, status = 0.0, True, 502
        over = threading.Event()
        try:
            behind.connect()
            threading.Thread(target=_hang_up_together, args=(client.connection, behind.sock, over), daemon=True).start()
            headers = {name: value for name, value in client.headers.items() if name.lower() in PASSED_ON}
            behind.request(client.command, client.path, body or None, headers)
            answer = behind.getresponse()
            status = answer.status
            for piece in _pass_on(answer, client):
                first_s = first_s or time.monotonic() - began
                received += piece
            cut = False
        except (OSError, http.client.HTTPException):
            client.close_connection = True
        finally:
            over.set()
            behind.close()
        if client.command == "POST":
            took = time.monotonic() - began
            self._keep(
                exchange_of(
                    body, bytes(received), at_s=began, seconds=took, first_byte_s=first_s, status=status, cut=cut
                )
            )

    def _keep(self, exchange: Exchange) -> None:
        with self._ended:
            self.exchanges.append(exchange)
            if self._journal is not None:
                with self._journal.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(exchange)) + "\n")
            self._ended.notify_all()

    def heard(self, count: int, deadline_s: float = 10.0) -> list[Exchange]:
        """The exchanges, once there are so many: one is on record a moment after its last byte is out.

        Raises:
            TimeoutError: there were not so many within the deadline.
        """
        with self._ended:
            if not self._ended.wait_for(lambda: len(self.exchanges) >= count, deadline_s):
                raise TimeoutError(f"{len(self.exchanges)} exchanges, not {count}")
            return list(self.exchanges)


def _pass_on(answer: http.client.HTTPResponse, client: BaseHTTPRequestHandler) -> Iterator[bytes]:
    """Send an answer to the client; the pieces of its body as they went."""
    length = answer.headers.get("content-length")
    client.send_response_only(answer.status)
    client.send_header("content-type", answer.headers.get("content-type", "application/json"))
    client.send_header(*(("content-length", length) if length is not None else ("transfer-encoding", "chunked")))
    client.end_headers()
    while piece := answer.read1(PIECE_BYTES):
        client.wfile.write(piece if length is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
        client.wfile.flush()
        yield piece
    if length is None:
        client.wfile.write(b"0\r\n\r\n")
        client.close_connection = True


def _hang_up_together(client: socket.socket, behind: socket.socket, over: threading.Event) -> None:
    """Shut the connection behind when the client's end is gone before the answer is over."""
    while not over.wait(WATCH_S):
        try:
            readable, _, _ = select.select([client], [], [], 0)
            if readable and not client.recv(1, socket.MSG_PEEK):
                behind.shutdown(socket.SHUT_RDWR)
                return
        except (OSError, ValueError):
            return


def exchange_of(
    request: bytes, answer: bytes, *, at_s: float, seconds: float, first_byte_s: float, status: int, cut: bool
) -> Exchange:
    """What went over the wire, read; an answer in pieces is put together."""
    pieces = list(_payloads(answer.decode("utf-8", "replace")))
    text, finish = "", None
    usage: dict[str, Any] = {}
    timings: dict[str, Any] = {}
    for piece in pieces:
        usage = piece.get("usage") or usage
        timings = piece.get("timings") or timings
        for choice in piece.get("choices") or []:
            said = choice.get("message") or choice.get("delta") or {}
            text += said.get("content") or ""
            finish = choice.get("finish_reason") or finish
    if not pieces or status >= 400:
        text = answer.decode("utf-8", "replace")
    asked = _json(request.decode("utf-8", "replace"))
    return Exchange(
        at_s=at_s, seconds=seconds, first_byte_s=first_byte_s, status=status, request=asked, text=text, usage=usage,
        timings=timings, finish=finish, cut=cut,
    )  # fmt: skip


def _payloads(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of an answer: one, or those of its events."""
    lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    for candidate in lines or [text]:
        if found := _json(candidate):
            yield found


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

"""The double's socket: accepts, understands, records, and hands each request to a behaviour."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Self

import h11

from tests.support.llm_double.behaviour import Answer, Behaviour
from tests.support.llm_double.formats import FORMATS
from tests.support.llm_double.request import Asked, FormatName
from tests.support.llm_double.wire import Gone, Wire, abort

Rule = Callable[[Asked], bool]
PATHS: dict[str, FormatName] = {"/v1/messages": "anthropic", "/v1/chat/completions": "openai"}
MODELS = "/v1/models"
SEEN = "/double/seen"
"""Every request without its contents, for measurements."""
LATEST = "/double/latest"
"""The body of the latest request by the name of its form, "" for those without one."""
BIGGEST = 32 * 2**20


def anything(asked: Asked) -> bool:
    """Every request."""
    return True


@dataclass
class _Connection:
    number: int
    writer: asyncio.StreamWriter
    busy: bool = False


@dataclass
class LLMDouble:
    """A server that speaks Anthropic Messages and OpenAI chat completions on one port.

    `next` scripts the coming requests one by one, `always` sets what holds for the rest; the newest rule that fits
    wins. A request that breaks the provider's documented rules is refused as the provider would, whatever the script
    says, unless `lenient`.

    Args:
        port: 0 for any free one.
        key: the only key that is let in; None lets any in, and none where the format allows that.
        models: the only model names that exist; empty for any.
        lenient: let requests through that the providers would refuse.
        host: the address to listen on.
    """

    port: int = 0
    key: str | None = None
    models: tuple[str, ...] = ()
    lenient: bool = False
    host: str = "127.0.0.1"
    default: Behaviour = field(default_factory=Answer)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    """How many were accepted so far."""
    broken: list[Exception] = field(default_factory=list)
    """What went wrong in the double itself; raised at its end."""
    _queue: deque[tuple[Rule, Behaviour]] = field(default_factory=deque)
    _rules: list[tuple[Rule, Behaviour]] = field(default_factory=list)
    _open: dict[int, _Connection] = field(default_factory=dict)
    _server: asyncio.Server | None = None
    _count: int = 0

    @property
    def url(self) -> str:
        """Where it listens, without `/v1`."""
        return f"http://{self.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """What a client is given as the API's base URL."""
        return self.url + "/v1"

    @property
    def requests(self) -> list[Asked]:
        """The requests for an answer, without those for the list of models."""
        return [asked for asked in self.asked if asked.path in PATHS]

    @property
    def open(self) -> int:
        """How many connections are open now."""
        return len(self._open)

    def next(self, *behaviours: Behaviour, when: Rule = anything) -> None:
        """Do these, in turn, with the coming requests that fit."""
        self._queue.extend((when, behaviour) for behaviour in behaviours)

    def always(self, behaviour: Behaviour, when: Rule = anything) -> None:
        """Do this with every request that fits and has nothing scripted."""
        self._rules.insert(0, (when, behaviour))

    def forget(self) -> None:
        """Drop all scripts and everything recorded."""
        self._queue.clear()
        self._rules.clear()
        self.asked.clear()

    async def close_idle(self, *, reset: bool = False, quiet_s: float = 1.0) -> int:
        """Close the connections that wait for a request; how many there were.

        Args:
            reset: by a reset instead of an orderly end.
            quiet_s: longest wait for answers that are still under way.
        """
        end_s = asyncio.get_running_loop().time() + quiet_s
        while any(connection.busy for connection in self._open.values()) and asyncio.get_running_loop().time() < end_s:
            await asyncio.sleep(0.001)
        idle = [connection for connection in self._open.values() if not connection.busy]
        for connection in idle:
            if reset:
                abort(connection.writer)
            else:
                connection.writer.close()
        return len(idle)

    def kill(self) -> None:
        """Stop listening and reset everything, as a process that dies."""
        if self._server is not None:
            self._server.close()
        for connection in self._open.values():
            abort(connection.writer)

    async def start(self) -> None:
        """Listen; on the same port as before where it was killed."""
        self._server = await asyncio.start_server(self._serve, self.host, self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        async with asyncio.timeout(5):
            while self._open:
                await asyncio.sleep(0.001)
        if self.broken and error is None:
            raise ExceptionGroup("the double itself is broken", self.broken)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        connection = _Connection(self.connections, writer)
        self._open[connection.number] = connection
        found = writer.get_extra_info("socket")
        if found is not None:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await self._talk(reader, connection)
        except (Gone, ConnectionError, h11.RemoteProtocolError):
            pass
        except Exception as error:
            self.broken.append(error)
            raise
        finally:
            del self._open[connection.number]
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, connection: _Connection) -> None:
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=BIGGEST)
        wire = Wire(connection.writer, http)
        while True:
            asked = await self._read(reader, http, connection)
            if asked is None:
                return
            connection.busy = True
            await self._answer(asked, wire, reader, http)
            connection.busy = False
            if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                return
            http.start_next_cycle()

    async def _read(self, reader: asyncio.StreamReader, http: h11.Connection, connection: _Connection) -> Asked | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                http.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Request):
                head, connection.busy = event, True
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return self._understand(head, bytes(body), connection)
            else:
                return None

    def _understand(self, head: h11.Request, body: bytes, connection: _Connection) -> Asked:
        self._count += 1
        headers = {name.decode().lower(): value.decode() for name, value in head.headers}
        path = head.target.decode().partition("?")[0]
        try:
            parsed = json.loads(body) if body else {}
        except ValueError:
            parsed = {}
        form = PATHS.get(path, "anthropic" if "x-api-key" in headers else "openai")
        asked = Asked(
            number=self._count, connection=connection.number, method=head.method.decode(), path=path, headers=headers,
            body=parsed if isinstance(parsed, dict) else {}, format=form, raw=body,
        )  # fmt: skip
        self.asked.append(asked)
        return asked

    async def _answer(self, asked: Asked, wire: Wire, reader: asyncio.StreamReader, http: h11.Connection) -> None:
        """Play the behaviour until it is done or the client hangs up."""

        async def watch() -> None:
            data = await _more(reader)
            asked.hung_up = data == b"" and asked.ended_s is None
            http.receive_data(data)
            if asked.hung_up:
                playing.cancel()

        async def play() -> None:
            try:
                await self._play(asked, wire)
                asked.ended_s = asyncio.get_running_loop().time()
            except ConnectionError:
                asked.hung_up = True
                raise

        try:
            async with asyncio.TaskGroup() as group:
                playing = group.create_task(play())
                watching = group.create_task(watch())
                playing.add_done_callback(lambda _: watching.cancel())
        except* (Gone, ConnectionError):
            raise Gone from None
        finally:
            asked.ended_s = asked.ended_s or asyncio.get_running_loop().time()

    async def _play(self, asked: Asked, wire: Wire) -> None:
        form = FORMATS[asked.format]
        if asked.path == SEEN:
            body = json.dumps([_summary(one) for one in self.requests]).encode()
            await wire.respond(asked, 200, body, "application/json")
        elif asked.path == LATEST:
            latest = {one.form_name: one.body for one in self.requests}
            await wire.respond(asked, 200, json.dumps(latest).encode(), "application/json")
        elif asked.path not in (*PATHS, MODELS):
            await wire.error(asked, 404, f"Invalid URL ({asked.method} {asked.path})")
        elif asked.method != ("GET" if asked.path == MODELS else "POST"):
            await wire.error(asked, 405, f"{asked.method} is not allowed here")
        elif self.key is not None and asked.key != self.key:
            await wire.error(asked, 401, "Incorrect API key provided.")
        elif asked.path == MODELS:
            body = json.dumps(form.models(self.models or ("double-1",))).encode()
            await wire.respond(asked, 200, body, "application/json")
        else:
            await self._reply(asked, wire)

    async def _reply(self, asked: Asked, wire: Wire) -> None:
        complaint = FORMATS[asked.format].complaint(asked)
        if complaint is not None:
            asked.problem = complaint.message
            if not self.lenient:
                await wire.error(asked, complaint.status, complaint.message)
                return
        if self.models and asked.model not in self.models:
            await wire.error(asked, 404, f"The model `{asked.model}` does not exist or you do not have access to it.")
            return
        await self._behaviour(asked).play(asked, wire)

    def _behaviour(self, asked: Asked) -> Behaviour:
        for entry in self._queue:
            if entry[0](asked):
                self._queue.remove(entry)
                return entry[1]
        return next((behaviour for when, behaviour in self._rules if when(asked)), self.default)


async def _more(reader: asyncio.StreamReader) -> bytes:
    """What comes next from the other side; nothing where it has closed or reset."""
    try:
        return await reader.read(65536)
    except ConnectionError:
        return b""


def _summary(asked: Asked) -> dict[str, object]:
    """A request without its contents, for measurements."""
    found = asdict(asked)
    for name in ("headers", "body", "raw"):
        del found[name]
    return {**found, "model": asked.model, "form": asked.form_name, "stream": asked.stream, "has_key": bool(asked.key)}


@asynccontextmanager
async def refused_url() -> AsyncIterator[str]:
    """The base URL of a port where nobody listens, and nobody else can start to."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/v1"


@asynccontextmanager
async def unanswering_url() -> AsyncIterator[str]:
    """The base URL of a port whose queue of connections is full: connecting to it never ends."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        address = listening.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(address)
            yield f"http://127.0.0.1:{address[1]}/v1"
        finally:
            for one in waiting:
                one.close()

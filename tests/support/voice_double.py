"""A server of the respondent's page whose every word is the test's: real sockets, real pages, no ears."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.middleware import SECURITY, content_policy
from server.pages import routes
from server.protocol.codec import decode_binary
from tests.support.patience import PATIENCE_S

SESSION = "11111111-1111-4111-8111-111111111111"
QUESTION = "What do you like about the coffee you drink in the morning?"
SPEECH: dict[str, Any] = {
    "available": True, "reason": None, "patience": "normal", "max_answer_s": 300, "reopen_s": 3.0,
    "pauses_s": {"quick": 0.5, "normal": 0.9, "patient": 1.8},
    "review_transcript": False, "record_audio": False, "barge_in": False, "echo_cancellation": None,
    "noise_suppression": False, "auto_gain_control": False,
}  # fmt: skip


class _Headers:
    """The headers of the real server: its pages work under its rules for scripts and styles."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def decorated(message: Message) -> None:
            if message["type"] == "http.response.start":
                host = next(value.decode() for name, value in scope["headers"] if name == b"host")
                rules = {**SECURITY, "content-security-policy": content_policy(host)}
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in rules.items())]
            await send(message)

        await self._app(scope, receive, decorated)


class VoiceDouble:
    """One interview. What comes is kept, what goes out is up to the test; frames are acknowledged by themselves."""

    def __init__(self, **speech: Any) -> None:
        self.url = ""
        self.speech = {**SPEECH, **speech}
        self.state = "active"
        self.language, self.title = "en", "Your coffee"
        self.messages: list[dict[str, Any]] = []
        """Everything received, in order; of all connections."""
        self.frames: dict[int, bytes] = {}
        self.arrivals: list[int] = []
        """Numbers of all frames as they came, repeated ones too."""
        self.acknowledging = True
        self.first_unreceived: int | None = None
        """What `ready` says instead of what was received: another node knows nothing."""
        self.connections = 0
        self._events: list[dict[str, Any]] = []
        self._rows: list[dict[str, Any]] = [self._row("interviewer", 0, QUESTION, "opening")]
        self._socket: WebSocket | None = None
        self._changed = asyncio.Event()
        self._read = 0
        self.app = Starlette(
            routes=[
                Route("/api/sessions/{session_id}", self._detail),
                WebSocketRoute("/ws/respondent", self._serve),
                *routes(),
            ],
            middleware=[Middleware(_Headers)],
        )

    @property
    def page(self) -> str:
        """The address of the interview."""
        return f"{self.url}/interview/{SESSION}#token"

    # What the test says

    async def say(self, kind: str, **fields: Any) -> None:
        """Send an ephemeral message."""
        assert self._socket is not None
        await self._socket.send_text(json.dumps({"type": kind, **fields}))

    async def tell(self, kind: str, **fields: Any) -> None:
        """Send a durable message, or keep it until somebody is connected."""
        event = {"type": kind, "id": len(self._events) + 1, **fields}
        self._events.append(event)
        if self._socket is not None:
            await self._socket.send_text(json.dumps(event))

    async def take(self, key: str, text: str, turn: int, question: str | None, last_seq: int | None = None) -> None:
        """Understand an answer, and ask on."""
        await self.tell("transcript.final", turn_key=key, text=text, last_seq=last_seq)
        await self.tell("turn.started", turn_key=key, turn_number=turn, attempt=1)
        self._rows.append(self._row("respondent", turn, text, "answer"))
        if question is not None:
            await self.ask(key, turn, question)

    async def ask(self, key: str, turn: int, question: str) -> None:
        """The question that a turn led to."""
        self._rows.append(self._row("interviewer", turn, question, "question"))
        await self.tell("question.completed", turn_number=turn, text=question, fallback=False)
        result = {"should_continue": True, "turn_number": turn, "max_turns": 12, "progress": turn / 12}
        await self.tell("turn.completed", turn_key=key, turn_number=turn, result={**result, "utterance_id": f"u{turn}"})

    async def drop(self, code: int = 1012) -> None:
        """Close the connection."""
        assert self._socket is not None
        await self._socket.close(code)

    # What the test waits for

    async def expect(self, kind: str) -> dict[str, Any]:
        """The next message of that type after the last one expected."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for index in range(self._read, len(self.messages)):
                    if self.messages[index]["type"] == kind:
                        self._read = index + 1
                        return self.messages[index]
                self._changed.clear()
                await self._changed.wait()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    def heard_since(self, first: int) -> bytes:
        """Audio from a frame on, up to the first one that is missing."""
        parts = []
        while first in self.frames:
            parts.append(self.frames[first])
            first += 1
        return b"".join(parts)

    def speak(self, language: str, title: str, opening: str) -> None:
        """Hold the interview in another language."""
        self.language, self.title = language, title
        self._rows = [self._row("interviewer", 0, opening, "opening")]

    # The wire

    @staticmethod
    def _row(speaker: str, turn: int, text: str, kind: str) -> dict[str, Any]:
        return {"id": f"{speaker}-{turn}", "turn_number": turn, "speaker": speaker, "text": text, "kind": kind}

    async def _detail(self, request: Request) -> Response:
        return JSONResponse(
            {
                "id": SESSION, "state": self.state, "reason": "",
                "language": self.language, "languages": [self.language],
                "concept": {"id": "coffee", "name": "coffee", "title": self.title}, "consent": None,
                "max_turns": 12, "progress": 0.0, "closing_text": "Thank you.",
                "stimulus": None, "stimulus_image": None,
                "transcript": self._rows, "speech": self.speech,
            }
        )  # fmt: skip

    async def _serve(self, websocket: WebSocket) -> None:
        await websocket.accept(subprotocol="askwell.v1")
        self.connections += 1
        try:
            while True:
                message = await websocket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                if message.get("bytes") is not None:
                    await self._hear(websocket, message["bytes"])
                else:
                    await self._answer(websocket, json.loads(message["text"]))
                self._changed.set()
        except (WebSocketDisconnect, RuntimeError):
            return
        finally:
            if self._socket is websocket:
                self._socket = None

    async def _hear(self, websocket: WebSocket, data: bytes) -> None:
        frame = decode_binary(data)
        self.arrivals.append(frame.sequence)
        self.frames.setdefault(frame.sequence, frame.pcm)
        if self.acknowledging and frame.sequence % 6 == 5:
            await websocket.send_text(json.dumps({"type": "audio.ack", "seq": frame.sequence}))

    async def _answer(self, websocket: WebSocket, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if message["type"] == "ping":
            await websocket.send_text(json.dumps({"type": "pong", "t": message["t"]}))
        if message["type"] == "hello":
            first = max(self.frames, default=-1) + 1 if self.first_unreceived is None else self.first_unreceived
            ready = {
                "type": "ready", "session_id": SESSION, "state": self.state, "epoch": "e", "turn_number": 0,
                "last_event_id": len(self._events), "pending": None, "first_unreceived_seq": first,
            }  # fmt: skip
            await websocket.send_text(json.dumps(ready))
            for event in self._events[message["last_event_id"] :]:
                await websocket.send_text(json.dumps(event))
            self._socket = websocket


@asynccontextmanager
async def voice_double(**speech: Any) -> AsyncIterator[VoiceDouble]:
    """A double on a free port; `speech` changes what it offers."""
    double = VoiceDouble(**speech)
    listener = socket.create_server(("127.0.0.1", 0))
    double.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(double.app, log_level="warning", ws="websockets-sansio", lifespan="off"))
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.serve(sockets=[listener]))
        try:
            yield double
        finally:
            server.should_exit = True
            server.force_exit = True
            await asyncio.wait({serving}, timeout=5)

"""Calls with which devices send interviews here, and the call that starts sending interviews from here."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from server.api.access import moderator, session_id_of, some_principal
from server.api.http import json_response, parts_of, read_body, read_bytes
from server.api.models import Body
from server.auth import Principal
from server.errors import ApiError, wire_error
from server.export.material import iso
from server.release import version
from server.store.errors import StoreError
from server.sync import SyncError
from server.sync.bundle import FORMAT, Digest, OfferReply, SyncOffer
from server.sync.send import Progress, Tell
from server.sync.service import Sync

MOST_CHUNK_BYTES = 8 * 1024 * 1024
MOST_LINES = 64
DIGEST = re.compile(r"[0-9a-f]{64}")


class FinishSession(Body):
    """`POST /api/sync/sessions/{id}/finish`."""

    digest: Digest


class PushSessions(Body):
    """`POST /api/sync/push`."""

    to: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    token: Annotated[str, StringConstraints(min_length=1, max_length=512)]


async def device(request: Request) -> Principal:
    """The device that sent the request.

    Raises:
        ApiError: `unauthorised`, there is no token; `forbidden`, it is not a device's.
    """
    principal = await some_principal(request, "a device token")
    if principal.kind != "device":
        raise ApiError("forbidden", f"This needs a device token; this one is a {principal.kind}'s.")
    return principal


async def describe(request: Request) -> Response:
    """`GET /api/sync`: what is taken here, and the time."""
    parts = parts_of(request)
    principal = await device(request)
    return json_response(
        {
            "formats": [FORMAT],
            "version": version(),
            "now": parts.now().isoformat(),
            "max_bytes": parts.settings.kiosk.sync_max_bytes,
            "device": {"id": principal.token_id, "name": principal.name},
            "concepts": None if principal.concepts is None else sorted(principal.concepts),
        }
    )


async def offer(request: Request) -> Response:
    """`POST /api/sync/sessions`: what is wanted of an interview."""
    principal = await device(request)
    wish = await read_body(request, SyncOffer)
    if wish.format != FORMAT:
        message = f"The interview is in the format {wish.format}, this server takes {FORMAT}: update the older askwell."
        raise ApiError("invalid_input", message)
    return _offer_reply(await parts_of(request).receiver.begin(principal, wish))


async def chunk(request: Request) -> Response:
    """`POST /api/sync/sessions/{id}/chunks?digest=&offset=`: a piece, which may be compressed."""
    parts = parts_of(request)
    principal, session_id = await device(request), session_id_of(request)
    digest, offset = request.query_params.get("digest", ""), request.query_params.get("offset", "")
    if not DIGEST.fullmatch(digest) or not offset.isdecimal() or len(offset) > 15:
        raise ApiError("invalid_input", "digest and offset: should be those of the interview.")
    data = await read_bytes(request, MOST_CHUNK_BYTES)
    if request.headers.get("content-encoding", "") == "gzip":
        data = await run_in_threadpool(_unpacked, data)
    end = await parts.receiver.add(principal, session_id, digest, int(offset), data)
    return json_response({"offset": end})


async def finish_session(request: Request) -> Response:
    """`POST /api/sync/sessions/{id}/finish`: all is sent; answered when it is stored."""
    principal, session_id = await device(request), session_id_of(request)
    body = await read_body(request, FinishSession)
    return _offer_reply(await parts_of(request).receiver.finish(principal, session_id, body.digest))


async def push(request: Request) -> Response:
    """`POST /api/sync/push`: send what is here to a server; the response is the progress as lines of JSON."""
    parts = parts_of(request)
    principal = await moderator(request)
    if principal.concepts is not None:
        raise ApiError("forbidden", "Only a moderator for all concepts may send interviews to another server.")
    return Pushing(parts.sync, await read_body(request, PushSessions))


class Pushing(Response):
    """Sends interviews to another server, with the progress as lines of JSON; stops when the client disconnects."""

    media_type = "application/x-ndjson"

    def __init__(self, sync: Sync, wish: PushSessions) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._sync = sync
        self._wish = wish

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        lines: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_LINES)

        def report(progress: Progress) -> None:
            if not lines.full():
                lines.put_nowait(_json_line({"progress": asdict(progress)}))

        async def work() -> None:
            await lines.put(await self._outcome(report))
            await lines.put(None)

        async def disconnected() -> None:
            while (await receive())["type"] != "http.disconnect":
                continue
            raise ClientDisconnect

        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(work(), name="push")
                watching = tasks.create_task(disconnected(), name="push: client")
                while (line := await lines.get()) is not None:
                    await send({"type": "http.response.body", "body": line, "more_body": True})
                watching.cancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except* ClientDisconnect:
            pass

    async def _outcome(self, on_progress: Tell) -> bytes:
        try:
            report = await self._sync.push(self._wish.to.rstrip("/"), self._wish.token, on_progress)
            return _json_line({"report": asdict(report)})
        except SyncError as exc:
            return _json_line({"error": str(exc), "retryable": exc.retryable})
        except (StoreError, OSError) as exc:
            return _json_line({"error": wire_error(exc).message, "retryable": True})


def _offer_reply(reply: OfferReply) -> Response:
    return json_response({**asdict(reply), "received_at": iso(reply.received_at)})


def _json_line(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode() + b"\n"


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        found = unpacker.decompress(data, MOST_CHUNK_BYTES + 1)
    except zlib.error as exc:
        raise ApiError("invalid_message", "The piece can't be unpacked.") from exc
    if len(found) > MOST_CHUNK_BYTES:
        raise ApiError("invalid_message", f"A piece has {MOST_CHUNK_BYTES} bytes at the most.", status=413)
    if not unpacker.eof:
        raise ApiError("invalid_message", "The piece ended too early.")
    return found


ROUTES = [
    Route("/api/sync", describe, methods=["GET"]),
    Route("/api/sync/sessions", offer, methods=["POST"]),
    Route("/api/sync/sessions/{session_id}/chunks", chunk, methods=["POST"]),
    Route("/api/sync/sessions/{session_id}/finish", finish_session, methods=["POST"]),
    Route("/api/sync/push", push, methods=["POST"]),
]

"""Calls with which devices send interviews here, and the call that starts sending interviews from here."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from dataclasses import asdict
from typing import Annotated, Any

import structlog
from pydantic import Field, StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from pipeline.state import SESSION_ID_PATTERN
from server.api.access import moderator, session_id_of, some_principal
from server.api.http import json_response, parts_of, read_body, read_bytes
from server.api.models import Body
from server.api.replies import ChunkTaken, HandedOver, SyncReply, SyncWish
from server.auth import ROOT, Principal
from server.descriptions import ANY_TYPE, DISPOSITION, DescribedRoute, Group, Operation, Parameter, Reply
from server.errors import ApiError, wire_error
from server.export.material import iso
from server.release import version
from server.store.errors import StoreError
from server.sync import NotPublic, SyncError
from server.sync.bundle import FORMAT, Digest, OfferReply, SyncOffer
from server.sync.send import Progress, Tell
from server.sync.service import Sync
from server.sync.sources import VersionSource, exported

log = structlog.get_logger("askwell.sync")

MOST_CHUNK_BYTES = 8 * 1024 * 1024
MOST_LINES = 64
DIGEST = re.compile(r"[0-9a-f]{64}")
Offset = Annotated[int, Field(ge=0, lt=10**15)]


class FinishSession(Body):
    """`POST /api/sync/sessions/{id}/finish`."""

    digest: Digest


class PushSessions(Body):
    """`POST /api/sync/push`."""

    to: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    token: Annotated[str, StringConstraints(min_length=1, max_length=512)]


class HandOver(Body):
    """`POST /api/sync/handover`; all that `from_device` sent, if no session is named."""

    from_device: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    to_device: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    session_id: Annotated[str, StringConstraints(pattern=f"^{SESSION_ID_PATTERN}$")] | None = None


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
    """`POST /api/sync/push`: send what is here to a server; the response is the progress as lines of JSON.

    With the installation's own token it may be any server. Other moderators could else have this machine call
    services that only it can reach.
    """
    parts = parts_of(request)
    principal = await moderator(request)
    if principal.concepts is not None:
        raise ApiError("forbidden", "Only a moderator for all concepts may send interviews to another server.")
    wish, public_only = await read_body(request, PushSessions), principal.token_id != ROOT
    if public_only:
        from server.sync.client import check_public  # Imported only when something is sent: it takes a while.

        try:
            await check_public(wish.to)
        except NotPublic as exc:
            raise ApiError("forbidden", str(exc)) from exc
    return Pushing(parts.sync, wish, public_only=public_only)


class Pushing(Response):
    """Sends interviews to another server, with the progress as lines of JSON; stops when the client disconnects."""

    media_type = "application/x-ndjson"

    def __init__(self, sync: Sync, wish: PushSessions, *, public_only: bool) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._sync = sync
        self._wish = wish
        self._public_only = public_only

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
            url, token = self._wish.to.rstrip("/"), self._wish.token
            report = await self._sync.push(url, token, on_progress, public_only=self._public_only)
            return _json_line({"report": asdict(report)})
        except SyncError as exc:
            return _json_line({"error": str(exc), "retryable": exc.retryable})
        except (StoreError, OSError) as exc:
            return _json_line({"error": wire_error(exc).message, "retryable": True})


async def hand_over(request: Request) -> Response:
    """`POST /api/sync/handover`: what one device sent belongs to another from now on."""
    parts = parts_of(request)
    principal = await moderator(request)
    if principal.concepts is not None:
        raise ApiError("forbidden", "Only a moderator for all concepts may hand interviews over to another device.")
    body = await read_body(request, HandOver)
    heir = await parts.store.token_by_id(body.to_device)
    if heir is None or heir.kind != "device" or heir.revoked_at is not None:
        raise ApiError("not_found", "to_device: there is no such device, or its token was revoked.")
    count = await parts.copies.hand_over(body.from_device, heir.id, heir.name, body.session_id)
    log.info("sync.handed_over", old=body.from_device, new=heir.id, sessions=count, moderator=principal.name)
    return json_response({"sessions": count})


async def export_version(request: Request) -> Response:
    """`GET /api/sessions/{id}/versions/{digest}`: another state that was sent, as a file for `askwell sync --file`."""
    parts = parts_of(request)
    principal, session_id = await moderator(request), session_id_of(request)
    state = await parts.reader.visible(session_id, principal)
    digest = str(request.path_params["digest"])
    version = next((one for one in await parts.copies.versions(session_id) if one.digest == digest), None)
    if version is None:
        raise ApiError("not_found", "There is no such version of this interview.")
    source = VersionSource(
        parts.copies,
        parts.recorder,
        parts.settings.storage.data,
        session_id=session_id,
        concept_id=state.concept_id,
        version=version,
    )
    filename = f"askwell-{session_id[:8]}-rev{version.rev}-{digest[:8]}.jsonl.gz"
    headers = {"cache-control": "no-store", "content-disposition": f'attachment; filename="{filename}"'}
    return StreamingResponse(exported(source), media_type="application/gzip", headers=headers)


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


SYNC = Group(
    "Sync",
    "How finished interviews get from a device to another server: an offer, pieces, an end. Every step may be "
    "repeated. See [sync](design/sync.md).",
    """curl -H "Authorization: Bearer $DEVICE" $URL/api/sync""",
    """{"formats": [1], "max_bytes": 1073741824, "device": {"name": "Entrance"}, "concepts": null}""",
)

ROUTES = [
    DescribedRoute(
        "/api/sync",
        describe,
        Operation("What is taken here", SYNC, (Reply("Formats, limits, the time.", SyncReply),), ("device",)),
    ),
    DescribedRoute(
        "/api/sync/sessions",
        offer,
        Operation(
            "Offer an interview",
            SYNC,
            (Reply("What is wanted of it.", SyncWish),),
            ("device",),
            body=SyncOffer,
            errors=(("invalid_input", 409), ("invalid_input", 413)),
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sync/sessions/{session_id}/chunks",
        chunk,
        Operation(
            "Send a piece",
            SYNC,
            (Reply("Where the next piece begins.", ChunkTaken),),
            ("device",),
            upload=(ANY_TYPE,),
            query=(
                Parameter("digest", Digest, "Of the whole interview, as it was offered.", required=True),
                Parameter("offset", Offset, "Where the piece begins, in bytes.", required=True),
            ),
            headers=(Parameter("content-encoding", str, "`gzip` for a piece that is compressed."),),
            errors=("invalid_input",),
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sync/sessions/{session_id}/finish",
        finish_session,
        Operation(
            "End an interview",
            SYNC,
            (Reply("It is stored.", SyncWish),),
            ("device",),
            body=FinishSession,
            errors=(("invalid_input", 409),),
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sync/push",
        push,
        Operation(
            "Send the interviews of this server to another one",
            SYNC,
            (Reply("The progress, as lines of JSON.", media_types=("application/x-ndjson",)),),
            ("moderator",),
            body=PushSessions,
            description='Lines are `{"progress": …}`; the last one is `{"report": …}` or `{"error": …}`.',
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sync/handover",
        hand_over,
        Operation(
            "Let what one device sent belong to another",
            SYNC,
            (Reply("How many interviews that were.", HandedOver),),
            ("moderator",),
            body=HandOver,
            errors=("not_found",),
            description="For a kiosk that got a new token; by a moderator for all concepts.",
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/versions/{digest}",
        export_version,
        Operation(
            "Another state of an interview that a device sent",
            SYNC,
            (Reply("A file for `askwell sync --file`.", media_types=("application/gzip",), headers=(DISPOSITION,)),),
            ("moderator",),
            path=(Parameter("digest", str, "Of that state, as the interview lists it.", required=True),),
            errors=("not_found",),
        ),
    ),
]

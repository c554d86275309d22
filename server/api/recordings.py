"""The call that sends a recording as an answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from tempfile import SpooledTemporaryFile
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from pipeline.state import InterviewState, Receipt
from server.addresses import address_of
from server.api.access import respondent
from server.api.http import body_chunks, json_response, parts_of, while_connected
from server.api.views import turn_view
from server.descriptions import ANY_TYPE
from server.errors import ApiError
from server.parts import Parts
from server.protocol.base import UUID_PATTERN
from server.session.owner import SessionOwner

UPLOAD_TYPES = ("audio/wav", "audio/flac", "audio/webm", "audio/ogg", "audio/mpeg", "audio/mp4", ANY_TYPE)
"""What a recording may be; its own bytes decide, not the content type of the request."""
IN_MEMORY_BYTES = 1024 * 1024
"""Longer bodies are written to disk while they arrive."""


async def post_audio(request: Request) -> Response:
    """`POST /api/sessions/{id}/audio?turn_key=`: a recording as one answer, answered when its turn is committed."""
    parts = parts_of(request)
    session_id = await respondent(request)
    turn_key = request.query_params.get("turn_key", "")
    if not re.fullmatch(UUID_PATTERN, turn_key):
        raise ApiError("invalid_input", "turn_key: should be a UUID, in the query.")

    async def ready(owner: SessionOwner) -> tuple[Receipt | None, float]:
        uploads = parts.listeners.of(owner).uploads
        return uploads.expect(turn_key), uploads.max_answer_s

    async def submit(owner: SessionOwner) -> Receipt:
        return await parts.listeners.of(owner).uploads.submit(turn_key, recording.pcm)

    known, max_s = await parts.hub.use(session_id, ready)
    limit = parts.settings.speech.max_audio_bytes
    if known is not None:
        await _receive(request, limit)
        return await _answered(parts, session_id, known, complete=True)
    with parts.speech.arrivals.admit(session_id, address_of(request.scope)) as arrival:
        with SpooledTemporaryFile(IN_MEMORY_BYTES) as body:

            async def keep(chunk: bytes) -> None:
                arrival.take(len(chunk))
                await run_in_threadpool(body.write, chunk)

            await _receive(request, limit, keep)
            recording = await while_connected(request, parts.speech.decoders.decode(body, max_s=max_s))
        arrival.release()
        receipt = await parts.hub.use(session_id, submit)
    return await _answered(parts, session_id, receipt, complete=recording.complete)


async def _answered(parts: Parts, session_id: str, receipt: Receipt, *, complete: bool) -> Response:
    async def look(owner: SessionOwner) -> tuple[InterviewState, dict[str, Any]]:
        return owner.state, turn_view(owner.state, receipt, owner.context.configuration)

    state, view = await parts.hub.use(session_id, look)
    spoken = (u for u in reversed(state.utterances) if u.speaker == "respondent")
    said = next((u for u in spoken if u.turn_number == receipt.turn_number), None)
    return json_response(
        {
            **view,
            "transcript": said.text if said is not None else "",
            "complete": complete,
        }
    )


async def _receive(request: Request, limit: int, keep: Callable[[bytes], Awaitable[None]] | None = None) -> None:
    """Read the request's body, and keep it piece by piece. Raises ApiError `audio_too_long`, `invalid_message`."""
    too_long = ApiError("audio_too_long", f"The recording is too large; {limit // 1_048_576} MiB are the most.")
    async for chunk in body_chunks(request, limit, too_long):
        if keep is not None:
            await keep(chunk)

"""The call that sends a recording as an answer."""

from __future__ import annotations

import re
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from pipeline.state import InterviewState, Receipt
from server.api.access import respondent
from server.api.http import body_chunks, json_response, parts_of
from server.api.views import turn_view
from server.errors import ApiError
from server.parts import Parts
from server.protocol.base import UUID_PATTERN
from server.session.owner import SessionOwner

if TYPE_CHECKING:
    from audio.containers import Recording

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

    known, max_s = await parts.hub.use(session_id, ready)
    with SpooledTemporaryFile(IN_MEMORY_BYTES) as body:
        await _receive(request, body, parts.settings.speech.max_audio_bytes)
        if known is not None:
            return await _answered(parts, session_id, known, complete=True)
        async with parts.speech.decoding:
            recording = await run_in_threadpool(_decode, body, max_s)
    pcm = recording.samples.astype("<i2").tobytes()

    async def submit(owner: SessionOwner) -> Receipt:
        return await parts.listeners.of(owner).uploads.submit(turn_key, pcm)

    receipt = await parts.hub.use(session_id, submit)
    return await _answered(parts, session_id, receipt, complete=recording.complete)


async def _answered(parts: Parts, session_id: str, receipt: Receipt, *, complete: bool) -> Response:
    async def look(owner: SessionOwner) -> InterviewState:
        return owner.state

    state = await parts.hub.use(session_id, look)
    said = next(
        (u for u in state.utterances if u.speaker == "respondent" and u.turn_number == receipt.turn_number), None
    )
    return json_response(
        {
            **turn_view(state, receipt),
            "transcript": said.text if said is not None else "",
            "complete": complete,
        }
    )


async def _receive(request: Request, body: IO[bytes], limit: int) -> None:
    """Put the request's body into a file. Raises ApiError `audio_too_long`, `invalid_message`."""
    too_long = ApiError("audio_too_long", f"The recording is too large; {limit // 1_048_576} MiB are the most.")
    async for chunk in body_chunks(request, limit, too_long):
        await run_in_threadpool(body.write, chunk)
    body.seek(0)


def _decode(body: IO[bytes], max_s: float) -> Recording:
    from audio.containers import read_recording

    return read_recording(body, max_s=max_s)  # type: ignore[arg-type]

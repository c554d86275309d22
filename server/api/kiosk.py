"""Calls of a kiosk: what it shows before an interview, and the operator's functions behind the PIN."""

from __future__ import annotations

import ipaddress
import os
import shutil
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from config.loader import LanguageUnsupported, UnknownName
from pipeline.concept import Concept
from server.api.access import principal_of
from server.api.http import json_response, parts_of, read_body
from server.api.models import CreateSession, Unlock
from server.api.replies import KioskReply, KioskStatus, Restarting, Unlocked
from server.auth import Principal
from server.descriptions import DISPOSITION, DescribedRoute, Group, Holder, Operation, Parameter, Reply
from server.errors import ApiError
from server.operator_lock import UNLOCKED_S
from server.parts import Parts
from server.release import version
from server.sync.service import SyncStatus
from server.sync.sources import exported

KEY_HEADER = "x-kiosk-key"
ANYONE = Principal("device", "", "")
"""The principal of requests without a token, where only this machine reaches the server and enrolment is open."""


def check_admission(parts: Parts, concept: Concept, wish: CreateSession, *, on_kiosk: bool) -> None:
    """Refuse an interview whose respondent lacks what the concept requires.

    Args:
        parts: of the process.
        concept: as the session would be pinned to, its own language first.
        wish: what was asked for.
        on_kiosk: whether a device asks.
    Raises:
        ApiError: `invalid_input`, a statement was not confirmed, or a reference is missing.
        LanguageUnsupported: answers have to be spoken, and there is no speech recognition for the language.
    """
    asked = {statement.id for statement in concept.kiosk.eligibility}
    said = wish.eligibility or {}
    unknown = sorted(set(said) - asked)
    if unknown:
        raise ApiError("invalid_input", f"eligibility: the concept has no statement `{unknown[0]}`.")
    if wish.eligibility is not None or on_kiosk:
        lacking = [statement.id for statement in concept.kiosk.eligibility if said.get(statement.id) is not True]
        if lacking:
            raise ApiError("invalid_input", f"eligibility: `{lacking[0]}` is not confirmed, so nobody is interviewed.")
    if not on_kiosk:
        return
    if concept.kiosk.respondent_ref == "required" and not (wish.respondent_ref or "").strip():
        raise ApiError("invalid_input", "respondent_ref: this study needs a reference for the respondent.")
    language = concept.languages[0]
    if concept.kiosk.modes == ("voice",) and parts.speech.unavailable(language) == "language_unsupported":
        raise LanguageUnsupported(
            f"Interviews in `{language}` can't be held here: they are spoken, and speech in it is not understood."
        )


async def kiosk_of(request: Request) -> Principal:
    """The kiosk that sent the request: a device, a moderator who tries it, or this machine where enrolment is open.

    Raises:
        ApiError: `unauthorised`, there is no token; `forbidden`, it is a respondent's.
    """
    parts = parts_of(request)
    principal = await principal_of(request)
    if principal is None:
        if parts.settings.server.loopback and parts.settings.server.enrolment_open:
            return ANYONE
        raise ApiError("unauthorised", "This needs a device token.")
    if principal.kind == "respondent":
        raise ApiError("forbidden", "This needs a device token; this one is a respondent's.")
    return principal


async def operator(request: Request) -> Principal:
    """The kiosk that sent the request, if it is unlocked. Raises ApiError."""
    principal = await kiosk_of(request)
    parts_of(request).operator_lock.check(principal.token_id, request.headers.get(KEY_HEADER, ""))
    return principal


async def kiosk_concept(request: Request) -> Response:
    """`GET /api/kiosk/{concept_id}`."""
    parts = parts_of(request)
    principal = await kiosk_of(request)
    concept_id = str(request.path_params["concept_id"])
    if not principal.may_see(concept_id):
        raise ApiError("forbidden", "This device may not hold interviews on this concept.")
    try:
        found = await parts.look_up(lambda: parts.library.concept(concept_id))
    except UnknownName as exc:
        raise ApiError("not_found", str(exc)) from exc
    language = request.query_params.get("language") or found.languages[0]
    if language not in found.languages:
        raise LanguageUnsupported(f"The concept `{concept_id}` is in {', '.join(found.languages)}.")
    return json_response(
        {
            **kiosk_view(parts, found, language),
            "version": version(),
            "device": _device_view(principal),
        }
    )


def kiosk_view(parts: Parts, concept: Concept, language: str) -> dict[str, Any]:
    """What the kiosk's page shows before an interview."""
    concept = concept.in_language(language)
    consent, kiosk = concept.consent, concept.kiosk
    reason = parts.speech.unavailable(language)
    return {
        "language": language,
        "concept": {
            "id": concept.id,
            "name": concept.name,
            "title": concept.title or concept.name,
            "languages": list(concept.languages),
            "stimulus": concept.stimulus,
            "consent": consent.model_dump() if consent is not None else None,
        },
        "kiosk": {
            "respondent_ref": kiosk.respondent_ref,
            "eligibility": [{"id": one.id, "text": one.text_in(language)} for one in kiosk.eligibility],
            "modes": list(kiosk.modes),
            "idle_warning_s": kiosk.idle_warning_s,
            "idle_reset_s": kiosk.idle_reset_s,
            "thanks_s": kiosk.thanks_s,
            "half_duplex": kiosk.half_duplex,
            "operator": parts.operator_lock.possible,
            "pin_required": parts.operator_lock.possible,
        },
        "speech": {
            "available": reason is None,
            "reason": reason,
            "record_audio": concept.record_audio and consent is not None,
        },
        "languages": {
            name: {
                "speech": parts.speech.unavailable(name) is None,
                "supported": not parts.library.lacking(concept, name),
            }
            for name in concept.languages
        },
    }


async def unlock(request: Request) -> Response:
    """`POST /api/kiosk/unlock`."""
    principal = await kiosk_of(request)
    body = await read_body(request, Unlock)
    key = parts_of(request).operator_lock.unlock(principal.token_id, body.pin)
    return json_response({"unlocked_s": UNLOCKED_S, "key": key})


async def status(request: Request) -> Response:
    """`GET /api/kiosk/status`."""
    parts = parts_of(request)
    principal = await operator(request)
    sync = parts.sync.status
    finished, unfinished = await parts.copies.counts(sync.to)
    free, used = await run_in_threadpool(_storage, parts.settings.storage.data)
    return json_response(
        {
            "version": version(),
            "device": _device_view(principal),
            "started_at": parts.started_at.isoformat(),
            "sync": _sync_view(sync),
            "unsynced": {"finished": finished, "unfinished": unfinished},
            "storage": {"free_bytes": free, "used_bytes": used},
            "clock": {"now": parts.now().isoformat()},
        }
    )


def _device_view(principal: Principal) -> dict[str, str] | None:
    return {"id": principal.token_id, "name": principal.name} if principal is not ANYONE else None


def _sync_view(sync: SyncStatus) -> dict[str, Any]:
    return {
        "state": sync.state,
        "to": sync.to,
        "connected": sync.connected,
        "last_at": sync.last_at.isoformat() if sync.last_at else None,
        "last_error": sync.last_error,
        "next_at": sync.next_at.isoformat() if sync.next_at else None,
        "sending": {"done": sync.sending.number - 1, "total": sync.sending.total} if sync.sending else None,
    }


def _storage(folder: Path) -> tuple[int, int]:
    """Bytes that are free on the disk, and bytes that the files below the folder take."""
    used = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                used += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return shutil.disk_usage(folder).free, used


async def export_unsynced(request: Request) -> Response:
    """`GET /api/kiosk/unsynced/export`: all interviews that no server has confirmed, in one file."""
    parts = parts_of(request)
    principal = await operator(request)
    source = parts.sync.source(parts.sync.status.to, principal.concepts)
    if not await source.waiting():
        raise ApiError("not_found", "There is no interview that was not sent yet.")
    filename = f"askwell-unsynced-{parts.now():%Y%m%d-%H%M%S}.jsonl.gz"
    headers = {"cache-control": "no-store", "content-disposition": f'attachment; filename="{filename}"'}
    return StreamingResponse(exported(source), media_type="application/gzip", headers=headers)


async def restart(request: Request) -> Response:
    """`POST /api/kiosk/restart`: restart the server after the response."""
    parts = parts_of(request)
    await operator(request)
    if not _is_here(parts, request):
        raise ApiError("forbidden", "This kiosk's server is on another machine: it is not restarted from here.")
    if not parts.leaving.restart():
        raise ApiError("forbidden", "This server was not started by `askwell serve`: it can't begin again.")
    return json_response({"state": "restarting"}, 202)


def _is_here(parts: Parts, request: Request) -> bool:
    """Whether the request came from this machine."""
    if parts.settings.server.loopback:
        return True
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


KIOSK = Group(
    "Kiosks",
    "What a device needs before an interview, and the operator's corner. A moderator may try all of it. Without a "
    "token they answer where only this machine reaches the server and anyone may start interviews. See "
    "[kiosk](kiosk.md).",
    """curl -H "Authorization: Bearer $DEVICE" $URL/api/kiosk/headphones_mec""",
    """{"language": "en", "kiosk": {"respondent_ref": "off", "modes": ["text"]}, "device": {"name": "Entrance"}}""",
)
_HOLDERS: tuple[Holder, ...] = ("device", "moderator")

ROUTES = [
    DescribedRoute(
        "/api/kiosk/status",
        status,
        Operation(
            "The state of the kiosk",
            KIOSK,
            (Reply("For its operator.", KioskStatus),),
            _HOLDERS,
            anyone=True,
            unlocked=True,
        ),
    ),
    DescribedRoute(
        "/api/kiosk/unlock",
        unlock,
        Operation(
            "Open the operator's corner",
            KIOSK,
            (Reply("The key.", Unlocked),),
            _HOLDERS,
            anyone=True,
            body=Unlock,
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/kiosk/unsynced/export",
        export_unsynced,
        Operation(
            "All interviews that no server has confirmed",
            KIOSK,
            (Reply("Lines of JSON, compressed.", media_types=("application/gzip",), headers=(DISPOSITION,)),),
            _HOLDERS,
            anyone=True,
            unlocked=True,
            errors=("not_found",),
        ),
    ),
    DescribedRoute(
        "/api/kiosk/restart",
        restart,
        Operation(
            "Restart the server",
            KIOSK,
            (Reply("It restarts after this reply.", Restarting, status=202),),
            _HOLDERS,
            anyone=True,
            unlocked=True,
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/kiosk/{concept_id}",
        kiosk_concept,
        Operation(
            "What a kiosk shows before an interview",
            KIOSK,
            (Reply("The concept, and what an interview needs.", KioskReply),),
            _HOLDERS,
            anyone=True,
            query=(Parameter("language", str, "One of the concept's languages; its first if not given."),),
            errors=("language_unsupported",),
        ),
    ),
]

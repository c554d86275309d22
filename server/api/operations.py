"""Calls for operators: liveness, readiness, metrics."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from server.api.access import bearer_token, moderator, principal_of
from server.api.http import json_response, parts_of
from server.api.replies import ReadinessReply
from server.auth import token_hash
from server.descriptions import DescribedRoute, Group, Operation, Reply
from server.errors import ApiError
from server.metrics import CONTENT_TYPE, Metrics
from server.parts import Parts
from server.store.errors import StoreError

log = structlog.get_logger()

_CHECK_S = 2.0


async def healthz(request: Request) -> Response:
    """`GET /healthz`: the process runs and its loop turns."""
    return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})


async def readiness(parts: Parts) -> tuple[bool, dict[str, Any]]:
    """Whether the process can take interviews, and the state of what it depends on; sets the metric `askwell_ready`."""
    redis_ok, database_ok, problems = await asyncio.gather(
        _in_time(parts.hot.checks.ping()), _in_time(parts.store.database.is_usable()), _configuration_problems(parts)
    )
    behind, lost = parts.writer.degraded, parts.store.database.file_problem()
    checks: dict[str, Any] = {
        "models": "ready" if parts.readiness.models else "loading",
        "redis": "ok" if redis_ok else parts.hot.checks.outage or "unreachable",
        "database": lost or ("ok" if database_ok else "unreachable"),
        "writer": f"degraded: {behind}" if behind else "ok",
        "sessions": parts.hub.sessions,
    }
    if problems:
        checks["configuration"] = problems
    if parts.speech.turns_missing:
        checks["turn_detector"] = parts.speech.turns_missing
    if parts.voices.problems:
        checks["voice"] = "; ".join(f"{language}: {why}" for language, why in parts.voices.problems.items())
    ready = parts.readiness.models and redis_ok and database_ok and lost is None and behind is None
    ready = ready and not parts.readiness.leaving
    if parts.readiness.leaving:
        checks["process"] = "leaving"
    parts.metrics.ready.set(1 if ready else 0)
    return ready, checks


async def _in_time(asking: Awaitable[bool]) -> bool:
    """The answer, False when it does not come in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_CHECK_S):
            return await asking
    return False


async def _configuration_problems(parts: Parts) -> list[str]:
    try:
        async with asyncio.timeout(_CHECK_S):
            return [str(problem) for problem in await parts.look_up(parts.library.problems)]
    except TimeoutError:
        return [f"the files could not be read within {_CHECK_S:.0f} s"]


async def readyz(request: Request) -> Response:
    """`GET /readyz`: 200 when the process can take interviews, else 503, with the reasons."""
    parts = parts_of(request)
    ready, checks = await readiness(parts)
    shown = {"checks": checks} if await _may_know(parts, request) else {}
    return json_response({"ready": ready, **shown}, 200 if ready else 503)


async def _may_know(parts: Parts, request: Request) -> bool:
    """Whether the client is told what a process lacks that is not ready: anyone where that is open, else moderators."""
    if parts.settings.server.readiness_open:
        return True
    try:
        principal = await principal_of(request)
    except (ApiError, StoreError):
        # The status says what a load balancer needs, also while tokens can't be checked.
        return False
    return principal is not None and principal.kind == "moderator"


async def metrics(request: Request) -> Response:
    """`GET /metrics`: for anyone where that is open, else with the token for metrics or a moderator's."""
    parts = parts_of(request)
    if not (parts.settings.server.metrics_open or _has_metrics_token(parts, request)):
        await moderator(request)
    own = await measured(parts)
    page = own.page() if parts.peers is None else await parts.peers.page(own)
    return Response(page, headers={"cache-control": "no-store"}, media_type=CONTENT_TYPE)


async def measured(parts: Parts) -> Metrics:
    """The metrics of this process, with what is only measured when somebody asks."""
    await readiness(parts)
    parts.metrics.sessions.set(parts.hub.sessions)
    try:
        async with asyncio.timeout(_CHECK_S):
            parts.metrics.dead_letters.set(await parts.store.dead_letter_count())
    except (TimeoutError, StoreError):
        log.warning("metrics.dead_letters_unknown")
    return parts.metrics


def _has_metrics_token(parts: Parts, request: Request) -> bool:
    configured = parts.settings.server.metrics_token
    if configured is None:
        return False
    given = bearer_token(request) or ""
    return hmac.compare_digest(token_hash(given), token_hash(configured.get_secret_value()))


OPERATIONS = Group(
    "Operations",
    "For what starts, watches and measures servers. See [operations](operations.md).",
    "curl $URL/readyz",
    '{"ready": true, "checks": {"models": "ready", "redis": "ok", "database": "ok", "writer": "ok", "sessions": 3}}',
)
_TEXT = ("text/plain",)

ROUTES = [
    DescribedRoute(
        "/healthz",
        healthz,
        Operation("Whether the process runs", OPERATIONS, (Reply("It runs.", media_types=_TEXT),), anyone=True),
    ),
    DescribedRoute(
        "/readyz",
        readyz,
        Operation(
            "Whether interviews can be taken",
            OPERATIONS,
            (Reply("They can.", ReadinessReply), Reply("They can't, and why.", ReadinessReply, status=503)),
            ("moderator",),
            anyone=True,
            description="Where readiness is not open to anyone, only moderators are told the reasons.",
        ),
    ),
    DescribedRoute(
        "/metrics",
        metrics,
        Operation(
            "Measurements for Prometheus",
            OPERATIONS,
            (Reply("In the text format of Prometheus.", media_types=_TEXT),),
            ("moderator",),
            anyone=True,
            description="Where measurements are not open to anyone, with the token for them or a moderator's.",
        ),
    ),
]

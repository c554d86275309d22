"""Calls for operators: liveness, readiness, metrics."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from server.api.http import json_response, parts_of
from server.metrics import CONTENT_TYPE
from server.parts import Parts
from server.store.errors import StoreError

log = structlog.get_logger()

_CHECK_S = 2.0


async def healthz(request: Request) -> Response:
    """`GET /healthz`: the process runs and its loop turns."""
    return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})


async def readiness(parts: Parts) -> tuple[bool, dict[str, Any]]:
    """Whether the process can take interviews, and the state of what it depends on; sets the metric `askwell_ready`."""
    redis_ok, database_ok = False, False
    with suppress(TimeoutError):
        async with asyncio.timeout(_CHECK_S):
            redis_ok, database_ok = await asyncio.gather(parts.hot.checks.ping(), parts.store.database.is_usable())
    behind = parts.writer.degraded
    checks: dict[str, Any] = {
        "models": "ready" if parts.readiness.models else "loading",
        "redis": "ok" if redis_ok else "unreachable",
        "database": "ok" if database_ok else "unreachable",
        "writer": f"degraded: {behind}" if behind else "ok",
        "sessions": parts.hub.sessions,
    }
    problems = parts.library.problems()
    if problems:
        checks["configuration"] = [str(problem) for problem in problems]
    ready = parts.readiness.models and redis_ok and database_ok and behind is None and not parts.readiness.leaving
    if parts.readiness.leaving:
        checks["process"] = "leaving"
    parts.metrics.ready.set(1 if ready else 0)
    return ready, checks


async def readyz(request: Request) -> Response:
    """`GET /readyz`: 200 when the process can take interviews, else 503, with the reasons."""
    ready, checks = await readiness(parts_of(request))
    return json_response({"ready": ready, "checks": checks}, 200 if ready else 503)


async def metrics(request: Request) -> Response:
    """`GET /metrics`."""
    parts = parts_of(request)
    await readiness(parts)
    parts.metrics.sessions.set(parts.hub.sessions)
    try:
        async with asyncio.timeout(_CHECK_S):
            parts.metrics.dead_letters.set(await parts.store.dead_letter_count())
    except (TimeoutError, StoreError):
        log.warning("metrics.dead_letters_unknown")
    return Response(parts.metrics.page(), headers={"cache-control": "no-store"}, media_type=CONTENT_TYPE)


ROUTES = [
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
    Route("/metrics", metrics, methods=["GET"]),
]

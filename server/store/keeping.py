"""Notices that the file of the store was deleted, moved or replaced, and gives the store a file again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from server.store.engine import Database
from server.store.errors import StoreError

log = structlog.get_logger()

LOOK_EVERY_S = 1.0
GRACE_S = 3.0
"""How long a file may be away before it is restored: somebody may put it back."""


async def keep_file(
    database: Database,
    fill: Callable[[], Awaitable[None]],
    *,
    look_every_s: float = LOOK_EVERY_S,
    grace_s: float = GRACE_S,
) -> None:
    """Look after the file until cancelled.

    Args:
        database: the store.
        fill: called when the store has another file than before; fills in what it lacks.
        look_every_s: how often to look.
        grace_s: how long a file may be away before it is restored.
    """
    since: float | None = None
    while True:
        await asyncio.sleep(look_every_s)
        problem = await asyncio.to_thread(database.file_problem)
        if problem is None:
            if since is not None:
                log.warning("store.file_is_back")
            since = None
            continue
        if since is None:
            since = time.monotonic()
            log.error("store.file_lost", reason=problem)
        if time.monotonic() - since < grace_s:
            continue
        try:
            restored = await database.recover(fill)
        except StoreError as exc:
            log.warning("store.file_not_restored", reason=str(exc))
            continue
        since = None
        log.warning("store.file_restored", content="of the lost file" if restored else "of the file at its path")

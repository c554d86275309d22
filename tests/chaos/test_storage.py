"""The disk is filled and the store deleted, again and again, while people talk; nothing may be lost or doubled."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from server.database import DATABASE_NAME
from tests.chaos.oracle import complaints
from tests.chaos.respondent import GONE, Conversation, Place, Respondent, Violation
from tests.chaos.test_kills import SEED, Mortal
from tests.support.small_disk import small_disk

pytestmark = [pytest.mark.timeout(1800)]

RESPONDENTS = 4
TIMES = int(os.environ.get("ASKWELL_STORAGE_FAULTS", "8"))
FULL_S = 3.0
TALK_S = 3.0
PATIENCE_S = 60.0
LOOK_S = 0.05


@dataclass
class Toll:
    """What the faults cost."""

    found: list[str] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=list)
    recoveries_s: list[float] = field(default_factory=list)
    silence_s: float = 0.0
    reasons: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        answers = sum(len(one.answers) for one in self.conversations)
        lost = sum("stored 0 times" in text or "not in the store" in text for text in self.found)
        doubled = sum("stored 2 times" in text or "completed twice" in text for text in self.found)
        ordered = sorted(self.recoveries_s)
        p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        return (
            f"faults {len(ordered)}, answers sent {answers}, lost {lost}, doubled {doubled}, "
            f"longest silence {self.silence_s:.1f} s, recovery p50 {statistics.median(ordered):.1f} s p95 {p95:.1f} s"
        )


Fault = Callable[[], Awaitable[None]]


async def ordeal(data: Path, begin: Fault, end: Fault | None, times: int) -> Toll:
    """People talk while the fault begins, and ends, so many times.

    Recovery counts from the fault's end, or from its beginning where nobody ends it, until `/readyz` calls storage ok.
    """
    place, toll = Place(), Toll()
    server = Mortal(data, place)
    respondents = [Respondent(place, number, SEED, toll.conversations) for number in range(RESPONDENTS)]
    try:
        async with asyncio.TaskGroup() as group, ready_looks(place) as look:
            await server.start()
            lives = [group.create_task(respondent.live()) for respondent in respondents]
            quiet = group.create_task(listen(toll))
            for _ in range(times):
                await asyncio.sleep(TALK_S)
                await begin()
                since = time.monotonic()
                async with asyncio.timeout(PATIENCE_S):
                    while (reason := await look()) is None:
                        await asyncio.sleep(LOOK_S)
                toll.reasons.add(reason)
                if end is not None:
                    await asyncio.sleep(FULL_S)
                    toll.reasons.add(await look() or "")  # at first it is only known that it does not answer
                    await end()
                    since = time.monotonic()
                async with asyncio.timeout(PATIENCE_S):
                    while await look() is not None:
                        await asyncio.sleep(LOOK_S)
                toll.recoveries_s.append(time.monotonic() - since)
            await asyncio.sleep(TALK_S)
            quiet.cancel()
            for respondent in respondents:
                respondent.leaving = True
            await server.lives_while(lives)
    except* Violation as violations:
        toll.found += [str(violation) for violation in violations.exceptions]
    await server.stop()
    toll.found += complaints(data / DATABASE_NAME, toll.conversations)
    return toll


@asynccontextmanager
async def ready_looks(place: Place) -> AsyncIterator[Callable[[], Awaitable[str | None]]]:
    """Asks `/readyz` about storage: None when it is ok, else the reasons, but for how far the store is behind."""
    async with httpx.AsyncClient(trust_env=False, timeout=10) as http:

        async def look() -> str | None:
            try:
                answer = await http.get(f"{place.url}/readyz")
            except GONE as gone:
                return repr(gone)
            checks = answer.json()["checks"]
            told = [checks[name] for name in ("redis", "database") if checks[name] != "ok"]
            return "; ".join(told) or None

        yield look


async def listen(toll: Toll) -> None:
    """Measure the longest time in which nobody was told anything new."""
    heard, at = -1, time.monotonic()
    while True:
        count = sum(len(one.events) for one in toll.conversations)
        if count != heard:
            heard, at = count, time.monotonic()
        toll.silence_s = max(toll.silence_s, time.monotonic() - at)
        await asyncio.sleep(LOOK_S)


async def full_disk(base: Path, times: int) -> Toll:
    with small_disk(base / "data", 192) as disk:

        async def fill() -> None:
            await asyncio.to_thread(disk.fill)

        async def empty() -> None:
            await asyncio.to_thread(disk.empty)

        return await ordeal(disk.path, fill, empty, times)


async def deleted_store(base: Path, times: int) -> Toll:
    data = base / "data"

    async def delete() -> None:
        for file in data.glob(f"{DATABASE_NAME}*"):
            file.unlink(missing_ok=True)

    return await ordeal(data, delete, None, times)


@pytest.mark.chaos
@pytest.mark.needs("tmpfs")
async def test_disk_filled_again_and_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    toll = await full_disk(tmp_path, TIMES)
    print(f"\ndisk full: {toll}")
    assert toll.found == []
    assert any("the disk is full" in reason for reason in toll.reasons), toll.reasons


@pytest.mark.chaos
async def test_store_deleted_again_and_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    toll = await deleted_store(tmp_path, TIMES)
    print(f"\nstore deleted: {toll}")
    assert toll.found == []
    assert any("was deleted or moved" in reason for reason in toll.reasons), toll.reasons

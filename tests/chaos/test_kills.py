"""The server is killed −9 at every boundary from accept to store; nothing may be lost, doubled or reordered."""

from __future__ import annotations

import asyncio
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.chaos.oracle import complaints, decisions
from tests.chaos.respondent import Conversation, Place, Respondent, Violation
from tests.chaos.server import BOUNDARIES, DRAIN_S

pytestmark = [pytest.mark.timeout(1800), pytest.mark.thorough]

SEED = 20260105
KILLS = 63
RESPONDENTS = 4
PATIENCE_S = 25.0
LAST_WORDS_S = 120.0
VISITS = {"before_apply": 9, "in_transaction": 9, "after_apply": 9, "before_commit": 7, "after_commit": 7}


class Mortal:
    """A server process that can be started again and again on the same data."""

    def __init__(self, data: Path, place: Place, more: Sequence[str] = ()) -> None:
        self._data = data
        self._more = more
        self._place = place
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, boundary: str = "never", nth: int = 1) -> None:
        """Start, and wait until it serves."""
        arguments = ["--data", str(self._data), "--kill", boundary, "--nth", str(nth), *self._more]
        # Into a file: a pipe that nobody empties would stop the server once it is full.
        path = self._data.parent / "server.log"
        with path.open("ab") as log:
            before = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.chaos.server", *arguments, stdout=log, stderr=log
            )
        async with asyncio.timeout(60):
            while True:
                said = path.read_bytes()[before:].decode(errors="replace")
                ready = re.search(r"^READY (\S+)$", said, re.MULTILINE)
                if ready is not None:
                    break
                if self._process.returncode is not None:
                    if boundary == "never":
                        raise RuntimeError("the server did not start; see server.log")
                    return
                await asyncio.sleep(0.05)
        self._place.url = ready[1]
        self._place.up.set()

    async def died(self) -> int:
        """Its exit status, once it is gone; ended from outside when its boundary does not come in time."""
        assert self._process is not None
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._process.wait()
        except TimeoutError:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()
        self._place.up.clear()
        assert self._process.returncode is not None
        return self._process.returncode

    async def lives_while(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Wait for the tasks; the server must not end before them."""
        assert self._process is not None
        async with asyncio.timeout(LAST_WORDS_S):
            while not all(task.done() for task in tasks):
                if self._process.returncode is not None:
                    raise RuntimeError(f"the server ended with {self._process.returncode}; see server.log")
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """A polite end: the journal is written out."""
        assert self._process is not None
        self._process.terminate()
        async with asyncio.timeout(DRAIN_S + 30):
            await self._process.wait()
        self._place.up.clear()


async def ordeal(
    base: Path, kills: int, boundaries: Sequence[str] = BOUNDARIES
) -> tuple[list[str], Counter[str], list[Conversation]]:
    """Respondents talk while the server dies `kills` times; what the oracle says at the end."""
    data = base / "data"
    place = Place()
    server = Mortal(data, place)
    conversations: list[Conversation] = []
    respondents = [Respondent(place, number, SEED, conversations) for number in range(RESPONDENTS)]
    luck = random.Random(SEED)
    deaths: Counter[str] = Counter()
    seen: list[str] = []
    try:
        async with asyncio.TaskGroup() as group:
            lives = [group.create_task(respondent.live()) for respondent in respondents]
            for number in range(kills):
                boundary = boundaries[number % len(boundaries)]
                await server.start(boundary, luck.randint(1, VISITS.get(boundary, 5)))
                status = await server.died()
                deaths[boundary if status == -signal.SIGKILL else f"{boundary}: exit {status}"] += 1
            for respondent in respondents:
                respondent.leaving = True
            await server.start()
            await server.lives_while(lives)
    except* Violation as violations:
        seen = [str(violation) for violation in violations.exceptions]
    await server.stop()
    if seen:
        return seen, deaths, conversations
    return complaints(data / "askwell.db", conversations), deaths, conversations


@pytest.mark.timeout(240)
async def test_killed_three_times_every_choice_can_be_made_again_from_the_store(tmp_path: Path) -> None:
    found, deaths, conversations = await ordeal(
        tmp_path, 3, boundaries=("after_accept", "before_commit", "in_transaction")
    )
    assert found == []
    assert sum(deaths.values()) == 3 and conversations
    assert decisions(tmp_path / "data" / "askwell.db") > 0


@pytest.mark.chaos
async def test_killed_at_every_boundary_nothing_is_lost_doubled_or_reordered(tmp_path: Path) -> None:
    found, deaths, conversations = await ordeal(tmp_path, KILLS)
    answers = sum(len(conversation.answers) for conversation in conversations)
    events = sum(len(conversation.events) for conversation in conversations)
    recomputed = decisions(tmp_path / "data" / "askwell.db")
    print(f"\nkills {sum(deaths.values())}: {dict(deaths)}")
    print(f"sessions {len(conversations)}, answers {answers}, events {events}, choices recomputed {recomputed}")
    assert found == []
    assert set(deaths) == set(BOUNDARIES), "every death was by the plan"
    assert answers > KILLS and recomputed > KILLS

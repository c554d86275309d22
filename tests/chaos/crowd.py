"""Respondents who reconnect as the page does, what they noticed, and what became of their answers."""

from __future__ import annotations

import asyncio
import random
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import httpx
from sqlalchemy import text

from server.store.engine import Database
from tests.chaos.respondent import GONE, THINGS, Violation
from tests.support.client import Frame, RespondentClient, key

READY_S = 8.0
HEARTBEAT_S = 20.0
PONG_S = 8.0
RESTART_S = (0.25, 1.75)
FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 0.4, 12.0
CLOSE_RESTART = 1012
"""Times of the page: `web/static/core/link.js` and `backoff.js`."""


@dataclass
class Account:
    """What one respondent sent and noticed, over all interviews."""

    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    """By session: text by turn key."""
    receipts: dict[str, set[str]] = field(default_factory=dict)
    """By session: turn keys of completed turns."""
    problems: list[str] = field(default_factory=list)
    """What the page would have shown as an error."""
    silences_s: list[float] = field(default_factory=list)
    """How long each answer waited for its next sign of life, the longest time of each."""
    recoveries_s: list[float] = field(default_factory=list)
    """How long answers took, from first being sent, where the connection was lost meanwhile."""
    reconnections: int = 0


class Gone(Exception):
    """The connection is over; `code` is that of the close, 4000 for silence."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Regular:
    """Holds one interview after the other; sends an answer again until its turn is completed.

    Args:
        urls: of the doors to the server, tried in turn.
        number: tells this one from others.
        pause_s: between a question and its answer.
    """

    def __init__(self, urls: list[str], number: int, *, pause_s: float = 0.2, max_turns: int = 20) -> None:
        self._doors = cycle(urls[number % len(urls) :] + urls[: number % len(urls)])
        self._door = next(self._doors)
        self._number = number
        self._pause_s = pause_s
        self._max_turns = max_turns
        self._random = random.Random(number)
        self._session: str | None = None
        self._token = ""
        self._epoch: str | None = None
        self._last_id = 0
        self._pending: tuple[str, str] | None = None
        self._sent_at: float | None = None
        self._heard_at = 0.0
        self._longest_s = 0.0
        self._interrupted = False
        self._said = 0
        self._failures = 0
        self.account = Account()
        self.leaving = False

    async def live(self) -> None:
        """Until told to leave; the last answer is seen through."""
        while not (self.leaving and self._pending is None):
            if self._session is None:
                await self._begin()
                continue
            try:
                await self._talk(self._session)
            except Gone as gone:
                await self._wait(gone.code)
            except GONE as error:
                received = getattr(error, "rcvd", None)
                await self._wait(received.code if received is not None else 1006)

    async def _wait(self, code: int) -> None:
        self.account.reconnections += 1
        self._interrupted = True
        if code == 4001:
            self.account.problems.append("4001 opened elsewhere")
        self._failures += 1
        self._door = next(self._doors)
        if code == CLOSE_RESTART:
            await asyncio.sleep(self._random.uniform(*RESTART_S))
        else:
            ceiling = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2 ** (self._failures - 1))
            await asyncio.sleep(ceiling * self._random.uniform(0.5, 1.0))

    async def _begin(self) -> None:
        wish = {"concept_id": "coffee_mec", "max_turns": self._max_turns}
        try:
            async with httpx.AsyncClient(base_url=self._door, trust_env=False, timeout=15) as http:
                answer = await http.post("/api/sessions", json=wish)
        except GONE as error:
            self.account.problems.append(f"enrolment: {type(error).__name__}")
        else:
            if answer.status_code == 201:
                made = answer.json()
                self._session, self._token = made["session_id"], made["respondent_token"]
                self._epoch, self._last_id = None, 0
                self.account.answers[made["session_id"]] = {}
                self.account.receipts[made["session_id"]] = set()
                return
            self.account.problems.append(f"enrolment: {answer.status_code} {answer.text[:200]}")
        self._door = next(self._doors)
        await asyncio.sleep(0.5)

    async def _talk(self, session: str) -> None:
        client = RespondentClient(self._door.replace("http", "ws", 1), self._token)
        async with asyncio.timeout(READY_S):
            await client.__aenter__()
        try:
            async with asyncio.timeout(READY_S):
                ready = await self._greet(client)
            self._failures = 0
            if ready["epoch"] != self._epoch:
                self._last_id = ready["last_event_id"] if self._epoch is not None else 0
                self._epoch = ready["epoch"]
            if ready["state"] == "created":
                await client.send("consent", version="1", choices={"agree": True})
            running = ready.get("pending")
            if ready["state"] == "completed":
                self._pending, self._session = None, None
                return
            if self._pending is not None and (running is None or running["turn_key"] != self._pending[0]):
                await client.answer(self._pending[1], self._pending[0])
            elif self._pending is None and running is None and self._last_id > 0:
                await self._answer(client, session)
            while self._session == session and not (self.leaving and self._pending is None):
                await self._follow(client, await self._next(client), session)
        finally:
            # A server that hangs would be waited for.
            client.socket.transport.abort()

    async def _greet(self, client: RespondentClient) -> Frame:
        fields: Frame = {"token": self._token, "last_event_id": self._last_id}
        if self._epoch is not None:
            fields["epoch"] = self._epoch
        await client.send("hello", **fields)
        while True:
            frame = await client.next(READY_S)
            if frame["type"] == "ready":
                return frame
            if frame["type"] == "error":
                self.account.problems.append(f"hello: {frame['code']} {frame['message']}")

    async def _next(self, client: RespondentClient) -> Frame:
        try:
            frame = await client.next(HEARTBEAT_S)
        except TimeoutError:
            await client.send("ping", t=0)
            try:
                frame = await client.next(PONG_S)
            except TimeoutError as exc:
                raise Gone(4000) from exc
        self._note_life()
        return frame

    def _note_life(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._sent_at is not None:
            self._longest_s = max(self._longest_s, now - self._heard_at)
        self._heard_at = now

    async def _follow(self, client: RespondentClient, frame: Frame, session: str) -> None:
        if "id" in frame:
            if frame["id"] > self._last_id + 1:
                raise Violation(f"event {frame['id']} came after {self._last_id}")
            self._last_id = max(self._last_id, frame["id"])
        kind = frame["type"]
        if kind == "error":
            self.account.problems.append(f"{frame['code']} {frame['message']}")
            if frame["code"] in ("session_completed", "not_found"):
                self._pending, self._session = None, None
            elif self._pending is not None:
                await asyncio.sleep(0.5)
                await client.answer(self._pending[1], self._pending[0])
        elif kind == "turn.failed" and self._pending is not None:
            self.account.problems.append(f"turn failed: {frame['code']}")
            await asyncio.sleep(0.5)
            await client.answer(self._pending[1], self._pending[0])
        elif kind == "session.state" and frame["state"] == "completed":
            self._session = None
        elif kind == "turn.completed":
            self.account.receipts[session].add(frame["turn_key"])
            if self._pending is not None and frame["turn_key"] == self._pending[0]:
                self._settle()
            if frame["result"]["should_continue"]:
                await self._answer(client, session)
        elif kind == "question.completed" and frame["turn_number"] == 0 and self._pending is None:
            await self._answer(client, session)

    def _settle(self) -> None:
        assert self._sent_at is not None
        now = asyncio.get_running_loop().time()
        self.account.silences_s.append(self._longest_s)
        if self._interrupted:
            self.account.recoveries_s.append(now - self._sent_at)
        self._pending, self._sent_at, self._interrupted, self._longest_s = None, None, False, 0.0

    async def _answer(self, client: RespondentClient, session: str) -> None:
        if self.leaving or self._pending is not None:
            return
        await asyncio.sleep(self._pause_s)
        self._said += 1
        words = f"{' '.join(self._random.sample(THINGS, 5))} because of {self._number}x{self._said}"
        self._pending = (key(), words)
        self.account.answers[session][self._pending[0]] = words
        self._sent_at = self._heard_at = asyncio.get_running_loop().time()
        await client.answer(words, self._pending[0])


@dataclass
class Report:
    """What came of it all."""

    sent: int
    lost: list[str]
    doubled: list[str]
    problems: Counter[str]
    reconnections: int
    longest_silence_s: float
    recoveries_s: list[float]
    dead_letters: int

    def print(self, title: str) -> None:
        """In a few lines."""
        recovered = sorted(self.recoveries_s)
        p95 = recovered[min(len(recovered) - 1, int(len(recovered) * 0.95))] if recovered else 0.0
        median = statistics.median(recovered) if recovered else 0.0
        print(
            f"\n{title}\n  answers sent {self.sent}, lost {len(self.lost)}, doubled {len(self.doubled)}, "
            f"dead letters {self.dead_letters}, reconnections {self.reconnections}, "
            f"errors shown {sum(self.problems.values())} {dict(self.problems)}\n"
            f"  longest silence {self.longest_silence_s:.1f} s, "
            f"recovery of {len(recovered)} interrupted answers: p50 {median:.1f} s, p95 {p95:.1f} s"
        )


class Crowd:
    """Several respondents at once.

    Args:
        urls: of the doors to the server.
        size: how many respondents.
        pause_s: between a question and its answer.
    """

    def __init__(self, urls: Sequence[str], size: int, *, pause_s: float = 0.2) -> None:
        self.members = [Regular(list(urls), number, pause_s=pause_s) for number in range(size)]

    @property
    def completed(self) -> int:
        """Turns that were completed so far."""
        return sum(len(keys) for one in self.members for keys in one.account.receipts.values())

    async def progress(self, turns: int, deadline_s: float = 60.0) -> None:
        """Wait until so many more turns are completed. Raises TimeoutError."""
        wanted = self.completed + turns
        await eventually(lambda: self.completed >= wanted, deadline_s)

    def leave(self) -> None:
        """Let everybody finish the answer they are at."""
        for one in self.members:
            one.leaving = True

    async def report(
        self, database_url: str, deadline_s: float = 60.0, *, excused: Collection[str] = frozenset()
    ) -> Report:
        """Compare with what is stored, once the store has everything that was confirmed.

        Args:
            database_url: of the store.
            deadline_s: how long to wait for it.
            excused: turn keys of answers that may be missing.
        """
        accounts, clock = [one.account for one in self.members], asyncio.get_running_loop().time
        end = clock() + deadline_s
        while True:
            said, dead = await _stored(database_url)
            lost, doubled = _compare(accounts, said, excused)
            if not lost or clock() > end:
                break
            await asyncio.sleep(0.5)
        return Report(
            sent=sum(len(texts) for one in accounts for texts in one.answers.values()),
            lost=lost,
            doubled=doubled,
            problems=Counter(problem for one in accounts for problem in one.problems),
            reconnections=sum(one.reconnections for one in accounts),
            longest_silence_s=max((s for one in accounts for s in one.silences_s), default=0.0),
            recoveries_s=[s for one in accounts for s in one.recoveries_s],
            dead_letters=dead,
        )


async def eventually(condition: Callable[[], bool], deadline_s: float) -> None:
    """Wait until something is so. Raises TimeoutError."""
    async with asyncio.timeout(deadline_s):
        while not condition():
            await asyncio.sleep(0.05)


async def _stored(database_url: str) -> tuple[Counter[tuple[str, str]], int]:
    """How often each text is stored, by session and text; and the number of dead letters."""
    rows = await asked(database_url, "select session_id, text from utterances where speaker = 'respondent'")
    [(dead,)] = await asked(database_url, "select count(*) from journal_dead")
    return Counter((session, said) for session, said in rows), int(dead)


async def asked(database_url: str, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    database = Database(database_url)
    try:
        async with database.read() as connection:
            return [tuple(row) for row in (await connection.execute(text(query))).all()]
    finally:
        await database.close()


def _compare(
    accounts: Sequence[Account], said: Counter[tuple[str, str]], excused: Collection[str]
) -> tuple[list[str], list[str]]:
    """Confirmed answers that are not stored, and answers that are stored more often than they were given."""
    lost: list[str] = []
    given: Counter[tuple[str, str]] = Counter()
    for account in accounts:
        for session, answers in account.answers.items():
            for turn_key, said_once in answers.items():
                given[session, said_once] += 1
                confirmed = turn_key in account.receipts[session] and turn_key not in excused
                if confirmed and not said[session, said_once]:
                    lost.append(f"{session} {said_once!r}")
    doubled = [f"{session} {words!r}" for (session, words), times in said.items() if times > given[session, words]]
    return lost, doubled

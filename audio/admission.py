"""Who gets a transcriber's next free worker, and who gets none.

Rules without threads or clocks: the caller says what time it is. Earliest deadline first among confirmed work and
guesses, so that a guess that waited as long as an endpoint takes ranks with finals. Parts of whole recordings, for
which nobody sits and waits, come behind both, leave a worker free where there are several, and are never refused. A
partial begins only when nobody
else waits and one worker stays free, waits a moment at most, and is not taken at all while the measured load approaches
what the workers can do. A session has one guess and one partial at work: work that nobody wants any more still counts
until its worker returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from audio.types import Purpose

TicketState = Literal["waiting", "running", "over"]
START_SLACK_S: Mapping[Purpose, float] = {"final": 0.0, "guess": 0.7, "partial": 2.0, "recording": 10.0}
"""How much later than a final asked for at the same time each may begin."""
LOAD_HALF_LIFE_S = 10.0
"""Time constant of the measured load."""
INITIAL_COST_S = 0.35
"""Assumed for a decode before one was measured."""


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """How much may wait, in seconds of predicted waiting, and how busy the workers may be."""

    partial_wait_s: float = 0.8
    """A partial that has not begun after so long is dropped: what it would say is old."""
    partial_load: float = 0.85
    """Share of the workers' time above which no partial is taken."""
    final_wait_s: float = 20.0
    """Finals and guesses that would wait longer are refused at once."""


@dataclass(eq=False, slots=True)
class Ticket:
    """One piece of work: what it is for, for whom, and when it came (seconds of the caller's clock)."""

    purpose: Purpose
    session: Hashable
    asked_at: float
    cost_s: float
    state: TicketState = "waiting"
    started_at: float = 0.0

    @property
    def start_by(self) -> float:
        """What waiting work is ordered by."""
        return self.asked_at + START_SLACK_S[self.purpose]


@dataclass(frozen=True, slots=True)
class TranscriberLoad:
    """How busy the workers are.

    `busy` is the share of their time spent lately, in [0, 1]; `backlog_s` the predicted wait of a final asked for now.
    The mappings count since the start, by purpose.
    """

    workers: int
    running: int
    waiting: int
    busy: float
    backlog_s: float
    done: Mapping[Purpose, int]
    dropped: Mapping[Purpose, int]
    cancelled: Mapping[Purpose, int]


@dataclass(slots=True)
class AdmissionQueue:
    """The queue before `workers` equal workers."""

    workers: int
    limits: AdmissionLimits = field(default_factory=AdmissionLimits)
    _waiting: list[Ticket] = field(default_factory=list)
    _running: list[Ticket] = field(default_factory=list)
    _done: Counter[Purpose] = field(default_factory=Counter)
    _dropped: Counter[Purpose] = field(default_factory=Counter)
    _cancelled: Counter[Purpose] = field(default_factory=Counter)
    _costs: dict[Purpose, float] = field(default_factory=dict)
    _busy: float = 0.0
    _updated_at: float | None = None

    def request(self, purpose: Purpose, session: Hashable, now: float) -> Ticket | None:
        """A ticket that waits for its turn, or None: dropped, and counted.

        Args:
            purpose: what the work is for.
            session: whose it is; a session has at most one guess and one partial at work.
            now: seconds of a clock that never goes back.
        """
        self._update_load(now)
        ticket = Ticket(purpose, session, now, self._expected_cost_s(purpose))
        if not self._admits(purpose, session, now):
            self._dropped[purpose] += 1
            return None
        self._waiting.append(ticket)
        return ticket

    def expire(self, now: float) -> list[Ticket]:
        """Partials that waited too long; they are dropped, and counted."""
        late = [
            ticket
            for ticket in self._waiting
            if ticket.purpose == "partial" and now - ticket.asked_at > self.limits.partial_wait_s
        ]
        for ticket in late:
            self._waiting.remove(ticket)
            ticket.state = "over"
            self._dropped["partial"] += 1
        return late

    def next(self, now: float) -> Ticket | None:
        """The ticket whose work begins now; None while nothing may begin."""
        self._update_load(now)
        if len(self._running) >= self.workers:
            return None
        ready = [ticket for ticket in self._waiting if not self._must_wait(ticket)]
        if not ready:
            return None
        ticket = min(ready, key=lambda each: (each.purpose == "partial", each.start_by))
        self._waiting.remove(ticket)
        self._running.append(ticket)
        ticket.state, ticket.started_at = "running", now
        return ticket

    def finish(self, ticket: Ticket, now: float) -> None:
        """The worker of this ticket is free again, however its work ended."""
        self._update_load(now)
        self._running.remove(ticket)
        ticket.state = "over"
        self._done[ticket.purpose] += 1
        spent = now - ticket.started_at
        known = self._costs.get(ticket.purpose)
        self._costs[ticket.purpose] = spent if known is None else 0.8 * known + 0.2 * spent

    def cancel(self, ticket: Ticket) -> None:
        """Nobody wants this any more. Work that runs keeps its worker until `finish`."""
        if ticket.state == "over":
            return
        self._cancelled[ticket.purpose] += 1
        if ticket.state == "waiting":
            self._waiting.remove(ticket)
            ticket.state = "over"

    def load(self, now: float) -> TranscriberLoad:
        """How busy the workers are."""
        self._update_load(now)
        return TranscriberLoad(
            workers=self.workers,
            running=len(self._running),
            waiting=len(self._waiting),
            busy=self._busy,
            backlog_s=self._backlog(now),
            done=dict(self._done),
            dropped=dict(self._dropped),
            cancelled=dict(self._cancelled),
        )

    def _must_wait(self, ticket: Ticket) -> bool:
        """Whether a ticket waits although a worker is free: for its session's own, or not to take the last one."""
        if ticket.purpose == "final":
            return False
        if any(each.session == ticket.session and each.purpose == ticket.purpose for each in self._running):
            return True
        return ticket.purpose in ("partial", "recording") and not self._spares_a_worker()

    def _spares_a_worker(self) -> bool:
        return len(self._running) < max(1, self.workers - 1)

    def _admits(self, purpose: Purpose, session: Hashable, now: float) -> bool:
        if purpose == "partial":
            return self._admits_partial(session)
        return purpose == "recording" or self._backlog(now) <= self.limits.final_wait_s

    def _admits_partial(self, session: Hashable) -> bool:
        if self._busy > self.limits.partial_load:
            return False
        mine = [each for each in (*self._waiting, *self._running) if each.session == session]
        if any(each.purpose == "partial" for each in mine):
            return False
        ahead = sum(each.cost_s for each in self._waiting)
        return ahead <= self.limits.partial_wait_s * max(1, self.workers - 1)

    def _backlog(self, now: float) -> float:
        """Predicted wait of a final, in seconds: what runs and what waits, over the workers."""
        if len(self._running) < self.workers:
            return 0.0
        left = sum(max(0.0, each.cost_s - (now - each.started_at)) for each in self._running)
        ahead = sum(each.cost_s for each in self._waiting if each.purpose in ("final", "guess"))
        return (left + ahead) / self.workers

    def _expected_cost_s(self, purpose: Purpose) -> float:
        return self._costs.get(purpose, INITIAL_COST_S)

    def _update_load(self, now: float) -> None:
        """Move the measured load towards the share of workers at work since the last look."""
        if self._updated_at is not None and now > self._updated_at:
            passed = now - self._updated_at
            keep = 2.0 ** (-passed / LOAD_HALF_LIFE_S)
            self._busy = keep * self._busy + (1.0 - keep) * len(self._running) / self.workers
        self._updated_at = now

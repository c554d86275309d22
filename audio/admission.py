"""Admission control: which transcription gets the next free worker, and which is refused or dropped.

There are no threads and no clock here: the caller passes the time. The rules by purpose:

- Finals, guesses and parts of recordings start in the order of the latest times at which they should. A guess may start
  somewhat later than a final that was requested at the same time, so that one that has waited as long as a silence
  lasts ranks with finals.
- Parts of recordings, for which nobody is waiting, may start much later, leave one worker free where there are several,
  and are never refused.
- A partial starts after everything else, and only if one worker stays free. It is dropped after a short wait, and
  refused under high load.
- A session has at most one guess, one partial and one part of a recording running; cancelled ones count until their
  worker is free.
- An answer that is read again has a worker of its own, so that nobody waits for it. There is one at a time; it is
  refused where the others are busy, and given up as soon as all of them are wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from audio.types import Purpose

TicketState = Literal["waiting", "running", "over"]
START_SLACK_S: Mapping[Purpose, float] = {"final": 0.0, "guess": 0.7, "partial": 2.0, "recording": 10.0}
"""How much later each may start than a final that is requested at the same time, in seconds."""
LOAD_HALF_LIFE_S = 10.0
"""Half-life of past values in the measured load, in seconds."""
INITIAL_COST_S = 0.35
"""Assumed duration of a transcription before one was measured, in seconds."""


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """Limits beyond which transcriptions are dropped or refused."""

    partial_wait_s: float = 0.8
    """Seconds after which a partial that has not started is dropped, because it would be out of date."""
    partial_load: float = 0.85
    """Load, in [0, 1], above which partials are refused."""
    final_wait_s: float = 20.0
    """Predicted wait in seconds above which finals and guesses are refused."""
    again_load: float = 0.6
    """Load, in [0, 1], above which no answer is read again."""


@dataclass(eq=False, slots=True)
class Ticket:
    """A transcription in the queue; times are seconds of the caller's clock, `cost_s` is its expected duration."""

    purpose: Purpose
    session: Hashable
    requested_at: float
    cost_s: float
    state: TicketState = "waiting"
    started_at: float = 0.0
    given_up: bool = False

    @property
    def start_by(self) -> float:
        """The latest time at which it should start, by which the queue is ordered."""
        return self.requested_at + START_SLACK_S[self.purpose]


@dataclass(frozen=True, slots=True)
class TranscriberLoad:
    """The load of a transcriber's workers.

    `running` and `waiting` are numbers of transcriptions, without an answer that is read again. `busy` is the recent
    share of the workers' time that was used, in [0, 1]; `backlog_s` is the predicted wait, in seconds, of a final that
    were requested now. `done`, `dropped` (including refused) and `cancelled` are counts since the start, by purpose.
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
    """The queue of transcriptions for a number of equal workers, and for one more where answers are `read_again`."""

    workers: int
    limits: AdmissionLimits = field(default_factory=AdmissionLimits)
    read_again: bool = False
    _waiting: list[Ticket] = field(default_factory=list)
    _running: list[Ticket] = field(default_factory=list)
    _again: Ticket | None = None
    _done: Counter[Purpose] = field(default_factory=Counter)
    _dropped: Counter[Purpose] = field(default_factory=Counter)
    _cancelled: Counter[Purpose] = field(default_factory=Counter)
    _costs: dict[Purpose, float] = field(default_factory=dict)
    _busy: float = 0.0
    _updated_at: float | None = None

    def request(self, purpose: Purpose, session: Hashable, now: float) -> Ticket | None:
        """Queue a transcription.

        Args:
            purpose: what it is for.
            session: the session that it belongs to.
            now: seconds of a monotonic clock.
        Returns:
            Its ticket; None if it is refused, which is counted as dropped.
        """
        self._update_load(now)
        ticket = Ticket(purpose, session, now, self._expected_cost_s(purpose))
        if not self._admits(purpose, session, now):
            self._dropped[purpose] += 1
            return None
        if purpose == "again":
            self._again = ticket
        else:
            self._waiting.append(ticket)
        return ticket

    def expire(self, now: float) -> list[Ticket]:
        """Drop the partials that have waited too long; returns their tickets."""
        late = [
            ticket
            for ticket in self._waiting
            if ticket.purpose == "partial" and now - ticket.requested_at > self.limits.partial_wait_s
        ]
        for ticket in late:
            self._waiting.remove(ticket)
            ticket.state = "over"
            self._dropped["partial"] += 1
        return late

    def give_up(self) -> Ticket | None:
        """The ticket of the answer that is read again, if all other workers are wanted now; it counts as dropped.

        It is returned once. If it runs, its worker is taken until `finish`.
        """
        ticket = self._again
        if ticket is None or ticket.given_up or self._has_room:
            return None
        ticket.given_up = True
        self._dropped["again"] += 1
        if ticket.state == "waiting":
            ticket.state, self._again = "over", None
        return ticket

    def next(self, now: float) -> Ticket | None:
        """Start the next transcription: returns its ticket, None if none may start now."""
        self._update_load(now)
        if self._again is not None and self._again.state == "waiting":
            self._again.state, self._again.started_at = "running", now
            return self._again
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
        """The transcription has returned or failed: its worker is free again."""
        self._update_load(now)
        if ticket is self._again:
            self._again = None
        else:
            self._running.remove(ticket)
        ticket.state = "over"
        self._done[ticket.purpose] += 1
        spent = now - ticket.started_at
        known = self._costs.get(ticket.purpose)
        self._costs[ticket.purpose] = spent if known is None else 0.8 * known + 0.2 * spent

    def cancel(self, ticket: Ticket) -> None:
        """The transcription is no longer needed. A running one keeps its worker until `finish`."""
        if ticket.state == "over" or ticket.given_up:
            return
        self._cancelled[ticket.purpose] += 1
        if ticket.state == "running":
            return
        ticket.state = "over"
        if ticket is self._again:
            self._again = None
        else:
            self._waiting.remove(ticket)

    def load(self, now: float) -> TranscriberLoad:
        """The load at the time `now`."""
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
        """Whether a ticket waits although a worker is free: for its own session, or to leave the last worker free."""
        if ticket.purpose == "final":
            return False
        if any(each.session == ticket.session and each.purpose == ticket.purpose for each in self._running):
            return True
        return ticket.purpose in ("partial", "recording") and not self._spares_a_worker()

    @property
    def _has_room(self) -> bool:
        return len(self._running) + len(self._waiting) < self.workers

    def _spares_a_worker(self) -> bool:
        return len(self._running) < max(1, self.workers - 1)

    def _admits(self, purpose: Purpose, session: Hashable, now: float) -> bool:
        if purpose == "partial":
            return self._admits_partial(session)
        if purpose == "again":
            return self.read_again and self._again is None and self._has_room and self._busy <= self.limits.again_load
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
        """Predicted wait of a final, in seconds: the time for running and waiting work over the number of workers."""
        if len(self._running) < self.workers:
            return 0.0
        left = sum(max(0.0, each.cost_s - (now - each.started_at)) for each in self._running)
        ahead = sum(each.cost_s for each in self._waiting if each.purpose in ("final", "guess"))
        return (left + ahead) / self.workers

    def _expected_cost_s(self, purpose: Purpose) -> float:
        return self._costs.get(purpose, INITIAL_COST_S)

    def _update_load(self, now: float) -> None:
        """Update the measured load with the share of workers that were busy since the last update."""
        if self._updated_at is not None and now > self._updated_at:
            passed = now - self._updated_at
            keep = 2.0 ** (-passed / LOAD_HALF_LIFE_S)
            self._busy = keep * self._busy + (1.0 - keep) * len(self._running) / self.workers
        self._updated_at = now

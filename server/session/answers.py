"""A respondent's answers: one at a time, each a turn, which may have to wait for a moderator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.turn import Answer, answer_digest
from server.hot.errors import Gone, HotError, JournalFull, NotOwner, SessionNotHot, StorageUnavailable
from server.protocol.outbound import Notice
from server.session import machine
from server.session.audience import Audience
from server.session.guidance import Held
from server.session.ledger import Ledger
from server.session.problems import Moved, SessionProblem
from server.session.records import answer_of
from server.session.speculation import Guess
from server.session.turns import TurnHandle, TurnRunner, checked
from server.session.witness import Witness
from server.session.worker import Worker


@dataclass(frozen=True, slots=True)
class Told:
    """Who is told of what: an answer was taken, another one can be, a turn is committed."""

    took: Callable[[str], None]
    freed: Callable[[], None]
    committed: Callable[[], None]


class Answers:
    """The answers of one session.

    Args:
        ledger: the session.
        configuration: what it is pinned to.
        worker: does the work.
        audience: who listens.
        runner: runs a turn.
        witness: told which answer waits for a moderator.
        told: told of the others.
    """

    def __init__(
        self,
        ledger: Ledger,
        configuration: SessionConfiguration,
        worker: Worker,
        audience: Audience,
        runner: TurnRunner,
        witness: Witness,
        told: Told,
    ) -> None:
        self._ledger = ledger
        self._configuration = configuration
        self._worker = worker
        self._audience = audience
        self._runner = runner
        self._witness = witness
        self._told = told
        self._turn: TurnHandle | None = None
        self._waits = False
        """Whether the turn waits for a moderator."""

    @property
    def running(self) -> bool:
        """Whether an answer is worked on, or waits for a moderator."""
        return self._turn is not None

    def begin(self, answer: Answer, *, first: Sequence[Mapping[str, Any]], guess: Guess | None) -> TurnHandle:
        """Take an answer; as `SessionOwner.begin`."""
        answer = checked(answer, self._configuration)
        digest = answer_digest(answer)
        receipt = self._ledger.receipt(answer.turn_key)
        if receipt is not None:
            return TurnHandle.of_receipt(answer, digest, receipt)
        if self._turn is not None:
            return self._turn.joined_by(answer, digest)
        self._worker.refuse_when_unable()
        machine.check_turn(self._ledger.state, self._configuration)
        if answer.kind == "correct":
            machine.check_correction(self._ledger.state, answer.corrects or "")
        handle = TurnHandle(self._ledger.as_kept(answer), digest, first=first, guess=guess)
        self._worker.put("turn", lambda: self._job(handle))
        self._turn = handle
        self._told.took(answer.turn_key)
        return handle

    def run_pending(self) -> None:
        """Run an answer that was accepted and neither committed nor failed, unasked."""
        pending = self._ledger.pending
        if pending is None or pending.failed or machine.is_over(self._ledger.state) or self._turn is not None:
            return
        handle = TurnHandle(answer_of(pending), pending.digest, unasked=True)
        self._turn = handle
        self._worker.put_first("pending", lambda: self._job(handle))

    def reconsider(self) -> None:
        """Go on with an answer that waits for a moderator, if there is nothing to wait for any more."""
        handle = self._turn
        if handle is None or not self._waits:
            return
        if self._ledger.pending is None:
            self._waits, self._turn = False, None
            self._witness.held(None)
            handle.fail(SessionProblem("session_completed"))
            self._told.freed()
        elif not machine.held(self._ledger.state) and self._worker.able:
            self._waits = False
            self._witness.held(None)
            self._worker.put_first("turn", lambda: self._job(handle))

    async def remind(self) -> None:
        """Tell the respondent again that a moderator is here, if an answer waits for one."""
        if self._waits:
            await self._audience.broadcast(Notice.of("moderator_here"))

    def leave(self) -> None:
        """The session leaves this node."""
        if self._turn is not None:
            self._turn.fail(self._worker.leaving or Moved("storage_unavailable", "This server is stopping."))

    async def _job(self, handle: TurnHandle) -> None:
        try:
            handle.succeed(await self._runner.run(handle))
            self._told.committed()
        except StorageUnavailable as exc:
            handle.fail(SessionProblem("storage_unavailable"))
            if not isinstance(exc, JournalFull):
                self._worker.recover(exc)
        except SessionNotHot:
            handle.fail(self._worker.forgotten())
            raise
        except Held:
            self._waits = True
            self._witness.held(handle.answer)
            await self._audience.broadcast(Notice.of("moderator_here"))
        except (NotOwner, Gone, asyncio.CancelledError):
            handle.fail(self._worker.leaving or Moved("turn_in_progress", "This interview was opened elsewhere."))
            raise
        except (SessionProblem, HotError) as exc:
            handle.fail(exc)
        except Exception:
            handle.fail(SessionProblem("internal"))
            raise
        finally:
            if self._turn is handle and not self._waits:
                self._turn = None
            self._audience.end_question()
            self._told.freed()

"""The one owner of a session on this node: everything that happens to the session happens here, in order.

Answers are refused while another one is worked on; all else waits for its place in line. Whoever sent something may
disconnect: the work goes on and its events wait for the next connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

import structlog

from pipeline.concept import SessionConfiguration
from pipeline.errors import InvalidAnswer, PipelineError
from pipeline.stages.utterance import check_answer
from pipeline.state import InterviewState, Receipt
from pipeline.turn import Answer, Outcome, answer_digest
from server.hot.errors import Gone, HotError, NotOwner, StorageUnavailable
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.codes import CLOSE_COME_AGAIN, CLOSE_NORMAL, CLOSE_TAKEN_OVER
from server.protocol.outbound import Notice, PendingTurn, Ready
from server.session import machine
from server.session.jobs import Job, JobQueue
from server.session.ledger import Ledger, answer_of, insist
from server.session.outbox import Outbox
from server.session.problems import Moved, SessionProblem, error_frame
from server.session.stream import QuestionStream
from server.session.surroundings import Surroundings
from server.session.turns import TurnHandle, TurnRunner

T = TypeVar("T")
log = structlog.get_logger("askwell.session")


class SessionOwner:
    """Owns one session until somebody else claims it or nobody needs it.

    Args:
        around: what owners share.
        ledger: the claimed session.
        configuration: what the session is pinned to.
    """

    def __init__(self, around: Surroundings, ledger: Ledger, configuration: SessionConfiguration) -> None:
        self.configuration = configuration
        self._around = around
        self._ledger = ledger
        self._jobs = JobQueue(around.settings.max_jobs)
        self._current: asyncio.Task[None] | None = None
        self._leaving: Moved | None = None
        self._settled = asyncio.Event()
        self._turn: TurnHandle | None = None
        self._stream: QuestionStream | None = None
        self._respondent: Outbox | None = None
        self._welcoming = False
        self._storage_down = False
        self.inbox_lock = asyncio.Lock()
        """Held by whoever applies what waits in the inbox."""
        self._last_sign = self.last_used = around.clock()
        self._runner = TurnRunner(around, ledger, configuration, self)
        if ledger.pending is not None and not ledger.pending.failed and not machine.is_over(ledger.state):
            self._run_pending()

    # What it is

    @property
    def session_id(self) -> str:
        """The session."""
        return self._ledger.session_id

    @property
    def owner_id(self) -> str:
        """Who this owner is, in hot storage."""
        return self._ledger.owner_id

    @property
    def state(self) -> InterviewState:
        """The session after its last commit."""
        return self._ledger.state

    @property
    def epoch(self) -> str:
        """New after each rebuild of hot storage."""
        return self._ledger.epoch

    @property
    def leaving(self) -> Moved | None:
        """Why this owner is no use any more, if so."""
        return self._leaving

    @property
    def busy(self) -> bool:
        """Whether something is being done or waits."""
        return self._current is not None or len(self._jobs) > 0

    @property
    def attended(self) -> bool:
        """Whether a respondent is connected."""
        return self._respondent is not None

    # Its life

    async def run(self) -> None:
        """Do what comes until it is time to leave."""
        try:
            async with asyncio.TaskGroup() as tasks:
                while (job := await self._next_job()) is not None:
                    self._current = tasks.create_task(self._perform(job), name=f"{job.name} {self.session_id}")
                    await asyncio.wait({self._current})
                    self._current = None
        finally:
            reason = self._leaving or Moved("storage_unavailable", "This server is stopping.")
            self._leaving = reason
            self._jobs.fail_all(reason)
            if self._turn is not None:
                self._turn.give_up(reason)
            if self._respondent is not None:
                self._respondent.close(reason.close_code)
            self._settled.set()

    async def _next_job(self) -> Job[Any] | None:
        if not self.busy:
            self._settled.set()
        job = await self._jobs.next(lambda: self._leaving is not None)
        if job is not None:
            self._settled.clear()
            self.last_used = self._around.clock()
        return job

    def stop(self, reason: Moved) -> None:
        """Leave at once; what runs is cancelled and leaves no trace."""
        if self._leaving is None:
            self._leaving = reason
        if self._respondent is not None:
            self._respondent.close(self._leaving.close_code)
        if self._current is not None and self._current is not asyncio.current_task():
            self._current.cancel()
        self._jobs.wake()

    def taken_over(self) -> None:
        """Another connection, maybe on another node, owns the session now."""
        self.stop(Moved("turn_in_progress", "This interview was opened elsewhere.", close_code=CLOSE_TAKEN_OVER))

    async def erased(self) -> None:
        """The session does not exist any more; tell whoever is connected."""
        if self._leaving is None and self._respondent is not None:
            number = self._ledger.last_event_id + 1
            event = {"type": "session.state", "id": number, "state": "completed", "reason": "withdrawn"}
            await self._respondent.event(DurableEvent(id=number, data=event))
        self.stop(Moved("not_found", "This interview was erased.", close_code=CLOSE_NORMAL))

    async def settled(self) -> None:
        """Wait until nothing is being done and nothing waits."""
        while self.busy and self._leaving is None:
            self._settled.clear()
            await self._settled.wait()

    def touch(self) -> None:
        """Somebody is about to use it."""
        self.last_used = self._around.clock()

    # Who listens

    async def subscribe(self, outbox: Outbox, *, last_event_id: int, epoch: str | None) -> None:
        """Make this the respondent's connection: `ready`, replay, the running question; then live.

        The connection before it is closed with 4001.

        Raises:
            Moved: this owner is leaving.
            StorageUnavailable: the replay can't be read.
        """
        if self._leaving is not None:
            raise self._leaving
        if self._respondent is not None:
            self._respondent.close(CLOSE_TAKEN_OVER)
        ledger = self._ledger
        known = epoch in (None, ledger.epoch) and last_event_id <= ledger.last_event_id
        last = last_event_id if known else ledger.last_event_id
        outbox.hold(last)
        self._respondent = outbox
        self.touch()
        await outbox.send(self._ready())
        while known and (page := await self._around.hot.events_after(self.session_id, last)):
            for event in page:
                await outbox.replay(event)
            last = page[-1].id
        await outbox.release(self._running)

    def unsubscribe(self, outbox: Outbox) -> None:
        """The connection is gone; what runs goes on."""
        if self._respondent is outbox:
            self._respondent = None
        self.touch()

    def _ready(self) -> Ready:
        ledger, state = self._ledger, self._ledger.state
        pending = ledger.pending
        running = None
        if pending is not None and not pending.failed:
            running = PendingTurn(turn_key=pending.turn_key, turn_number=pending.turn_number, attempt=pending.attempt)
        return Ready(
            session_id=self.session_id,
            state=state.status,
            epoch=ledger.epoch,
            last_event_id=ledger.last_event_id,
            turn_number=state.turn_count + 1,
            pending=running,
            first_unreceived_seq=0,
        )

    def _running(self) -> list[Message]:
        return self._stream.running() if self._stream is not None else []

    async def broadcast(self, message: Message) -> None:
        """Send an ephemeral message to whoever is connected."""
        self._last_sign = self._around.clock()
        if self._respondent is not None:
            await self._respondent.broadcast(message)

    async def publish(self, events: list[DurableEvent]) -> None:
        """Send durable events that were just written."""
        if events:
            self._last_sign = self._around.clock()
        for event in events:
            if self._respondent is not None:
                await self._respondent.event(event)

    async def events_of(self, turn_key: str) -> list[DurableEvent]:
        """The durable events of one turn. Raises StorageUnavailable."""
        return await self._ledger.events_of(turn_key)

    def new_stream(self, run: int) -> QuestionStream:
        """Somewhere for a question to go while it is made."""
        self._stream = QuestionStream(self.broadcast, run=run, clock=self._around.clock)
        return self._stream

    def end_stream(self) -> None:
        """The question is complete, or will not be."""
        self._stream = None

    # Turns

    def begin(self, answer: Answer) -> TurnHandle:
        """Take an answer, a skip or a correction; it runs whether or not anybody waits for the handle.

        Returns:
            The handle of the turn: a running one if the same answer is being worked on, a done one if it is committed.

        Raises:
            SessionProblem: it can't be taken: `invalid_input`, `answer_too_long`, `turn_in_progress`,
                `consent_required`, `session_paused`, `session_completed`, `storage_unavailable`.
            Moved: this owner is leaving.
        """
        answer = self._checked(answer)
        digest = answer_digest(answer)
        receipt = self._ledger.receipt(answer.turn_key)
        if receipt is not None:
            return TurnHandle.of_receipt(answer, digest, receipt)
        if self._turn is not None:
            return self._turn.joined_by(answer, digest)
        self._refuse_when_unable()
        machine.check_turn(self.state, self.configuration)
        if answer.kind == "correct":
            machine.check_correction(self.state, answer.corrects or "")
        handle = TurnHandle(answer, digest)
        self._jobs.put(Job("turn", lambda: self._turn_job(handle)))
        self._turn = handle
        return handle

    async def submit(self, answer: Answer) -> Receipt:
        """As `begin`, and wait until the turn is committed.

        Raises:
            TurnFailed: it did not work out; the same key completes it once.
        """
        return await self.begin(answer).committed()

    async def skip(self, turn_key: str) -> Receipt:
        """Rather not say."""
        return await self.submit(Answer(turn_key=turn_key, kind="skip"))

    async def correct(self, utterance_id: str, text: str, turn_key: str) -> Receipt:
        """Amend the last answer."""
        return await self.submit(Answer(turn_key=turn_key, text=text, kind="correct", corrects=utterance_id))

    def _checked(self, answer: Answer) -> Answer:
        if answer.kind == "skip":
            return Answer(turn_key=answer.turn_key, kind="skip")
        try:
            text = check_answer(answer.text, self.configuration.settings.max_answer_chars)
        except InvalidAnswer as exc:
            too_long = exc.wire_code == "answer_too_long"
            raise SessionProblem("answer_too_long" if too_long else "invalid_input", str(exc)) from exc
        return Answer(turn_key=answer.turn_key, text=text, kind=answer.kind, corrects=answer.corrects)

    def _run_pending(self) -> None:
        pending = self._ledger.pending
        assert pending is not None
        handle = TurnHandle(answer_of(pending), pending.digest, unasked=True)
        self._turn = handle
        self._jobs.put_first(Job("pending", lambda: self._turn_job(handle)))

    async def _turn_job(self, handle: TurnHandle) -> None:
        try:
            handle.succeed(await self._runner.run(handle))
        except StorageUnavailable as exc:
            handle.fail(SessionProblem("storage_unavailable"))
            self._recover(exc)
        except (NotOwner, Gone, asyncio.CancelledError):
            handle.fail(self._leaving or Moved("turn_in_progress", "This interview was opened elsewhere."))
            raise
        except (SessionProblem, HotError) as exc:
            handle.fail(exc)
        except Exception:
            handle.fail(SessionProblem("internal"))
            raise
        finally:
            if self._turn is handle:
                self._turn = None
            self.end_stream()

    # Everything else

    async def start(self) -> None:
        """Make the opening question, once; return when it is committed.

        Raises:
            SessionProblem: `consent_required`, or what kept the question from being made.
        """
        if machine.consent_missing(self.state, self.configuration):
            raise SessionProblem("consent_required")
        await self._do("start", self._welcome)

    def arrive(self) -> None:
        """The respondent is here: go on if the session was abandoned, open it if that is due."""
        due = self.state.status == "abandoned" or machine.may_open(self.state, self.configuration)
        if due and not self._welcoming and self._leaving is None and not self._storage_down:
            self._welcoming = True
            self._jobs.put_first(Job("welcome", self._greet))

    async def consent(self, version: str, choices: Mapping[str, Any]) -> None:
        """Put consent on record; the opening question follows."""
        await self._command(
            "consent",
            lambda: machine.give_consent(
                self.state, self.configuration, version=version, choices=choices, now=self._around.now()
            ),
        )

    async def rephrase(self) -> None:
        """Put the waiting question in other words."""
        if self._turn is not None:
            raise SessionProblem("turn_in_progress")
        machine.check_rephrase(self.state, self.configuration)
        await self._do("rephrase", self._rephrase)

    async def pause(self, by: machine.Side = "respondent") -> None:
        """Stop for a while, after the running turn."""
        await self._command("pause", lambda: machine.pause(self.state, by, self._around.now()))

    async def resume(self, by: machine.Side = "respondent") -> None:
        """Go on."""
        until = timedelta(seconds=self._around.settings.resume_until_s)
        await self._command("resume", lambda: machine.resume(self.state, by, self._around.now(), until))

    async def finish(self, by: machine.Side = "respondent", reason: str = "respondent_finished") -> None:
        """End with thanks, after the running turn."""
        await self._command(
            "finish",
            lambda: machine.finish(self.state, self.configuration, by=by, reason=reason, now=self._around.now()),
            ends=True,
        )

    async def change_settings(self, changes: Mapping[str, Any]) -> None:
        """Keep wishes about speaking and listening."""
        await self._command("set", lambda: machine.change_settings(self.state, changes, self._around.now()))

    async def withdraw(self) -> None:
        """Erase everything, at once; a running turn is cancelled."""
        await self._around.hot.erase(self.session_id)
        await self.erased()

    async def apply(
        self,
        command_id: str,
        decide: Callable[[], machine.Step],
        *,
        moderator: Mapping[str, Any] | None = None,
        ends: bool = False,
    ) -> int:
        """Apply a command in a commit of its own; the number of the turn it applies to."""

        async def work() -> int:
            await self.fresh()
            await self._commit_step(command_id, decide(), moderator=moderator, ends=ends)
            return self.state.turn_count + 1

        return await self._do("command", work)

    async def _command(self, name: str, decide: Callable[[], machine.Step], *, ends: bool = False) -> None:
        async def work() -> None:
            await self.fresh()
            await self._commit_step(f"{name}:{self._around.new_id()}", decide(), ends=ends)

        await self._do(name, work)
        self.arrive()

    async def _commit_step(
        self,
        command_id: str,
        step: machine.Step,
        *,
        moderator: Mapping[str, Any] | None = None,
        ends: bool = False,
    ) -> None:
        if step.state is self.state and moderator is None:
            return
        if step.state is self.state:
            step = machine.Step(machine.touched(step.state))
        self._ledger.stale = True
        events = await self._ledger.commit_step(command_id, step, moderator=moderator, ends=ends)
        self._ledger.stale = False
        await self.publish(events)

    async def _greet(self) -> None:
        try:
            await self._welcome()
        except SessionProblem as exc:
            await self.broadcast(error_frame(exc, ref="hello"))

    async def _welcome(self) -> None:
        self._welcoming = False
        await self.fresh()
        if self.state.status == "abandoned":
            until = timedelta(seconds=self._around.settings.resume_until_s)
            step = machine.resume(self.state, "respondent", self._around.now(), until)
            await self._commit_step(f"return:{self._around.new_id()}", step)
        if machine.may_open(self.state, self.configuration):
            around = self._around
            await self._make(
                "open",
                lambda stream: around.pipeline.open(self.state, self.configuration, now=around.now(), sink=stream),
                attempts=around.settings.opening_attempts,
            )

    async def _rephrase(self) -> None:
        await self.fresh()
        machine.check_rephrase(self.state, self.configuration)
        around = self._around
        await self._make(
            "rephrase",
            lambda stream: around.pipeline.rephrase(self.state, self.configuration, now=around.now(), sink=stream),
        )

    async def _make(
        self, name: str, write: Callable[[QuestionStream], Awaitable[Outcome]], *, attempts: int = 1
    ) -> None:
        command_id = f"{name}:{self._around.new_id()}"
        stream = self.new_stream(1)
        try:
            outcome = await self._tried(name, write, stream, attempts)
            events = await self.insist(lambda: self._ledger.commit_outcome(command_id, outcome))
        finally:
            self.end_stream()
        await self.publish(events)

    async def _tried(
        self,
        name: str,
        write: Callable[[QuestionStream], Awaitable[Outcome]],
        stream: QuestionStream,
        attempts: int,
    ) -> Outcome:
        for attempt in range(1, attempts + 1):
            try:
                async with asyncio.timeout(self._around.settings.turn_deadline_s):
                    return await write(stream)
            except (PipelineError, TimeoutError) as exc:
                log.warning("question.failed", session=self.session_id, kind=name, attempt=attempt, error=repr(exc))
                retryable = not isinstance(exc, PipelineError) or exc.retryable
                if attempt == attempts or not retryable:
                    raise SessionProblem("llm_unavailable", retryable=retryable) from exc
        raise AssertionError("unreachable")

    # How things are done

    async def fresh(self) -> None:
        """See what hot storage holds if the outcome of an earlier write is unknown."""
        if not self._ledger.stale:
            return
        await self.publish(await self._ledger.refresh())
        pending = self._ledger.pending
        over = machine.is_over(self.state)
        if pending is not None and not pending.failed and not over and self._turn is None:
            self._run_pending()

    async def insist(self, write: Callable[[], Awaitable[T]]) -> T:
        """Repeat a write until its outcome is known; the respondent is told that nothing is lost.

        Raises:
            StorageUnavailable: storage did not come back in time; this owner is leaving.
        """
        settings = self._around.settings
        try:
            return await insist(
                write,
                pause_s=settings.storage_retry_s,
                patience_s=settings.storage_patience_s,
                on_trouble=self._trouble,
            )
        except StorageUnavailable as exc:
            self.stop(Moved("storage_unavailable", str(exc), close_code=CLOSE_COME_AGAIN))
            raise
        finally:
            self._storage_down = False

    async def _trouble(self) -> None:
        if not self._storage_down:
            self._storage_down = True
            await self.broadcast(Notice.of("answer_kept"))

    def _recover(self, cause: StorageUnavailable) -> None:
        if self._leaving is None and not self._storage_down:
            log.warning("storage.unavailable", session=self.session_id, error=str(cause))
            self._storage_down = True
            self._jobs.put_first(Job("recover", self._recovery))

    async def _recovery(self) -> None:
        self._ledger.stale = True
        await self.insist(self.fresh)
        self.arrive()

    def _refuse_when_unable(self) -> None:
        if self._leaving is not None:
            raise self._leaving
        if self._storage_down:
            raise SessionProblem("storage_unavailable")

    async def _do(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        self._refuse_when_unable()
        job = self._jobs.put(Job(name, work))
        return await asyncio.shield(job.done)

    async def _perform(self, job: Job[Any]) -> None:
        self._last_sign = self._around.clock()
        async with asyncio.TaskGroup() as tasks:
            watchdog = tasks.create_task(self._watch())
            try:
                job.succeed(await job.work())
            except asyncio.CancelledError:
                job.fail(self._leaving or Moved("storage_unavailable", "This server is stopping."))
                raise
            except NotOwner as exc:
                self.taken_over()
                job.fail(exc)
            except Gone as exc:
                await self.erased()
                job.fail(exc)
            except StorageUnavailable as exc:
                job.fail(SessionProblem("storage_unavailable"))
                self._recover(exc)
            except (SessionProblem, HotError, PipelineError) as exc:
                job.fail(exc)
            except Exception:
                log.exception("session.defect", session=self.session_id, job=job.name)
                self._ledger.stale = True
                job.fail(SessionProblem("internal"))
            finally:
                watchdog.cancel()

    async def _watch(self) -> None:
        """Nobody waits in silence for long."""
        limit_s = self._around.settings.still_thinking_s
        while True:
            quiet_s = self._around.clock() - self._last_sign
            if quiet_s >= limit_s:
                await self.broadcast(Notice.of("answer_kept" if self._storage_down else "still_thinking"))
            else:
                await asyncio.sleep(limit_s - quiet_s)

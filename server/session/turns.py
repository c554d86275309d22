"""The respondent's answers: one at a time, each a turn that is accepted, run and committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import structlog

from pipeline.calls import recording
from pipeline.concept import SessionConfiguration
from pipeline.context import TurnContext
from pipeline.errors import InvalidAnswer, PipelineError
from pipeline.ports import QuestionSink
from pipeline.stages.utterance import check_answer
from pipeline.state import Receipt
from pipeline.turn import Answer, Outcome, answer_digest
from server.hot.errors import (
    Conflict,
    HotError,
    JournalFull,
    NotOwner,
    SessionErased,
    SessionNotHot,
    StorageUnavailable,
)
from server.hot.values import Accepted, AlreadyCommitted, AlreadyPending
from server.protocol.codes import ErrorCode
from server.protocol.outbound import Notice
from server.session import rules
from server.session.audience import QuestionStream
from server.session.change import Change
from server.session.context import SessionContext
from server.session.events import (
    AnswerAccepted,
    AnswerHeld,
    AnswerTaken,
    ReadyForAnswer,
    SessionEvent,
    SessionRefreshed,
)
from server.session.interventions import Held, Interventions
from server.session.ledger import answer_of
from server.session.measure import TurnMeasure
from server.session.problems import Moved, SessionProblem, TurnFailed
from server.session.rehearsal import Rehearsal
from server.session.speculation import SpeculativeTurn
from server.session.worker import quiet_future

log = structlog.get_logger("askwell.session")


class TurnHandle:
    """A turn that somebody may wait for.

    Args:
        answer: what is answered.
        digest: of the answer, to tell it from another one under the same key.
        recovered: the answer was found pending when the session was claimed or read again.
        first: durable events about the answer that precede its turn.
        speculative: what was decided before the answer was certain.
        rehearsal: the whole turn, made before the answer was certain.
        second_reading: what a second reading of it has understood otherwise, called once, right before the commit or
            when there will be none.
    """

    def __init__(
        self,
        answer: Answer,
        digest: str,
        *,
        recovered: bool = False,
        first: Sequence[Mapping[str, Any]] = (),
        speculative: SpeculativeTurn | None = None,
        rehearsal: Rehearsal | None = None,
        second_reading: Callable[[], str | None] | None = None,
    ) -> None:
        self.answer = answer
        self.digest = digest
        self.recovered = recovered
        self.first = first
        self.speculative = speculative
        self.rehearsal = rehearsal
        self.second_reading = second_reading
        self.attempt: int | None = None
        """The attempt as which the answer was accepted, once it was."""
        self._accepted: asyncio.Future[None] = quiet_future()
        self._done: asyncio.Future[Receipt] = quiet_future()

    @classmethod
    def of_receipt(cls, answer: Answer, digest: str, receipt: Receipt) -> Self:
        """The handle of a turn that is committed already.

        Raises:
            SessionProblem: the key was used with other text.
        """
        _refuse_other_text(receipt.digest, digest)
        handle = cls(answer, digest)
        handle.succeed(receipt)
        return handle

    def joined_by(self, answer: Answer, digest: str) -> Self:
        """This handle for somebody who sends the same answer again.

        Raises:
            SessionProblem: `turn_in_progress` for another answer, `invalid_input` for other text under this key.
        """
        if answer.turn_key != self.answer.turn_key:
            raise SessionProblem("turn_in_progress")
        _refuse_other_text(self.digest, digest)
        return self

    @property
    def already_accepted(self) -> bool:
        """Whether the answer is stored."""
        return self._accepted.done() and self._accepted.exception() is None

    async def accepted(self) -> None:
        """Wait until the answer is stored. Raises what prevented it."""
        await asyncio.shield(self._accepted)

    async def committed(self) -> Receipt:
        """Wait until the turn is committed. Raises what prevented it."""
        return await asyncio.shield(self._done)

    def take_second_reading(self) -> str | None:
        """What a second reading has understood otherwise by now; None if there is no such thing, or it was taken."""
        taken, self.second_reading = self.second_reading, None
        return None if taken is None else taken()

    def accept(self) -> None:
        """The answer is stored."""
        if not self._accepted.done():
            self._accepted.set_result(None)

    def succeed(self, receipt: Receipt) -> None:
        """The turn is committed."""
        self.take_second_reading()
        self.accept()
        if not self._done.done():
            self._done.set_result(receipt)

    def fail(self, error: BaseException) -> None:
        """The turn failed."""
        self.take_second_reading()
        for future in (self._accepted, self._done):
            if not future.done():
                future.set_exception(error)


class Turns:
    """Takes the answers of one session and runs their turns, one at a time.

    Args:
        session: whose answers.
    """

    def __init__(self, session: SessionContext) -> None:
        self._session = session
        self.interventions = Interventions()
        """What moderators want of the running turn."""
        self._runner = TurnRunner(session, self.interventions)
        self._turn: TurnHandle | None = None
        self._waits = False
        """Whether the turn waits for a moderator."""
        self.offered: Answer | None = None
        """A spoken answer that the respondent may review, edit and send."""
        session.observers.append(self._observe)

    def _observe(self, event: SessionEvent) -> None:
        if isinstance(event, SessionRefreshed):
            self.run_pending()

    @property
    def running(self) -> bool:
        """Whether an answer is worked on, or waits for a moderator."""
        return self._turn is not None

    @property
    def ready(self) -> bool:
        """Whether an answer may be taken: none is worked on, and the first question is there or will not come."""
        state = self._session.state
        return self._turn is None and (state.question is not None or rules.is_over(state))

    def begin(
        self,
        answer: Answer,
        *,
        first: Sequence[Mapping[str, Any]] = (),
        speculative: SpeculativeTurn | None = None,
        rehearsal: Rehearsal | None = None,
        second_reading: Callable[[], str | None] | None = None,
    ) -> TurnHandle:
        """Take an answer, a skip or a correction; its turn runs whether or not anybody waits for the handle.

        Args:
            answer: what the respondent did.
            first, speculative, rehearsal, second_reading: as of `TurnHandle`.

        Returns:
            The handle of the turn: a running one if the same answer is being worked on, a done one if it is committed.

        Raises:
            SessionProblem: it can't be taken: `invalid_input`, `answer_too_long`, `turn_in_progress`,
                `consent_required`, `session_paused`, `session_completed`, `storage_unavailable`.
            Moved: the session is leaving this node.
        """
        session = self._session
        answer = self._as_offered(_checked(answer, session.configuration))
        digest = answer_digest(answer)
        receipt = session.ledger.receipt(answer.turn_key)
        if receipt is not None:
            return TurnHandle.of_receipt(answer, digest, receipt)
        if self._turn is not None:
            return self._turn.joined_by(answer, digest)
        session.worker.refuse_when_unable()
        rules.check_turn(session.state, session.configuration)
        if answer.kind == "rate":
            rules.check_ratings(session.state, answer.text)
        if answer.kind == "correct":
            rules.check_correction(session.state, answer.corrects or "")
        handle = TurnHandle(
            session.ledger.as_pending(answer),
            digest,
            first=first,
            speculative=speculative,
            rehearsal=rehearsal,
            second_reading=second_reading,
        )
        session.worker.put("turn", lambda: self._run(handle))
        self._turn = handle
        self.offered = None
        session.tell(AnswerTaken(answer))
        return handle

    def _as_offered(self, answer: Answer) -> Answer:
        """The answer as a spoken one if it is the offered one, which a client sends back as text."""
        offered = self.offered
        if offered is None or answer.kind != "answer" or offered.turn_key != answer.turn_key:
            return answer
        if answer_digest(offered) == answer_digest(answer):
            return offered
        return Answer(answer.turn_key, answer.text, spoken=True, speech_ms=offered.speech_ms)

    def run_pending(self) -> None:
        """Run an answer that was accepted and neither committed nor failed."""
        pending = self._session.ledger.pending
        if pending is None or pending.failed or rules.is_over(self._session.state) or self._turn is not None:
            return
        handle = TurnHandle(answer_of(pending), pending.digest, recovered=True)
        self._turn = handle
        self._session.worker.put_first("pending", lambda: self._run(handle))

    async def decide(self, answer: Answer, sink: QuestionSink) -> TurnContext:
        """Run the stages up to the question for an answer, without writing anything. Raises PipelineError."""
        session = self._session
        return await session.pipeline.decide(
            session.state,
            answer,
            session.configuration,
            now=session.services.now(),
            sink=sink,
            embeddings=await session.ledger.embeddings(),
            names=lambda: tuple(session.slot_names),
        )

    # Waiting for a moderator

    def reconsider(self) -> None:
        """Go on with an answer that waits for a moderator, if there is nothing to wait for any more."""
        handle, session = self._turn, self._session
        if handle is None or not self._waits:
            return
        if session.ledger.pending is None:
            self._waits, self._turn = False, None
            session.tell(AnswerHeld(None))
            handle.fail(SessionProblem("session_completed"))
            session.tell(ReadyForAnswer())
        elif not rules.is_held(session.state) and session.worker.able:
            self._waits = False
            session.tell(AnswerHeld(None))
            session.worker.put_first("turn", lambda: self._run(handle))

    async def remind(self) -> None:
        """Tell the respondent again that a moderator is here, if an answer waits for one."""
        if self._waits:
            await self._session.audience.broadcast(Notice.of("moderator_here"))

    def leave(self) -> None:
        """The session leaves this node."""
        if self._turn is not None:
            self._turn.fail(self._session.worker.leaving or Moved("storage_unavailable", "This server is stopping."))

    async def _run(self, handle: TurnHandle) -> None:
        session, worker = self._session, self._session.worker
        try:
            handle.succeed(await self._runner.run(handle))
        except StorageUnavailable as exc:
            handle.fail(SessionProblem("storage_unavailable"))
            if not isinstance(exc, JournalFull):
                worker.recover(exc)
        except SessionNotHot:
            handle.fail(worker.forgotten())
            raise
        except Held:
            self._waits = True
            session.tell(AnswerHeld(handle.answer))
            await session.audience.broadcast(Notice.of("moderator_here"))
        except (NotOwner, SessionErased, asyncio.CancelledError):
            handle.fail(worker.leaving or Moved("turn_in_progress", "This interview was opened elsewhere."))
            raise
        except (SessionProblem, HotError) as exc:
            handle.fail(exc)
        except Exception:
            handle.fail(SessionProblem("internal"))
            raise
        finally:
            if self._turn is handle and not self._waits:
                self._turn = None
            if handle.rehearsal is not None:
                handle.rehearsal.discard()
                handle.rehearsal = None
            session.audience.end_question()
            session.tell(ReadyForAnswer())


class _Failure(Exception):
    """A run that ends in `turn.failed`."""

    def __init__(self, code: ErrorCode, *, retryable: bool, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.retryable = retryable
        self.detail = detail


class TurnRunner:
    """Runs one turn: accept, pipeline, commit.

    Args:
        session: whose turns.
        interventions: what moderators want of the running turn.
    """

    def __init__(self, session: SessionContext, interventions: Interventions) -> None:
        self._session = session
        self._interventions = interventions

    async def run(self, handle: TurnHandle) -> Receipt:
        """Accept the answer, run it, commit it.

        Raises:
            SessionProblem: it can't be taken now.
            TurnFailed: it was accepted and its run failed.
            Held: it was accepted and waits for a moderator; run it again when there is a directive or nobody to wait
                for.
            HotError: storage refused it or can't be reached; nothing is known to be written.
        """
        session, clock = self._session, self._session.services.clock
        await session.worker.fresh()
        receipt = session.ledger.receipt(handle.answer.turn_key)
        if receipt is not None:
            _refuse_other_text(receipt.digest, handle.digest)
            return receipt
        if handle.recovered and session.ledger.pending is None:
            raise SessionProblem("session_completed")
        if not handle.recovered:
            rules.check_turn(session.state, session.configuration)
        began = clock()
        if handle.attempt is None or session.ledger.pending is None:
            accepted = await self._accept(handle)
            if isinstance(accepted, AlreadyCommitted):
                return await self._committed_before(accepted)
            handle.attempt = accepted.attempt
            session.tell(AnswerAccepted(handle.answer, session.state.turn_count + 1))
        accept_ms = (clock() - began) * 1000.0
        handle.accept()
        if rules.is_held(session.state) and not await session.pipeline.is_urgent(session.state, handle.answer):
            if handle.rehearsal is not None:
                await handle.rehearsal.withdraw()
            raise Held
        return await self._run_accepted(handle, handle.attempt, began, accept_ms)

    async def _accept(self, handle: TurnHandle) -> Accepted | AlreadyCommitted:
        ledger = self._session.ledger
        accepted, events = await ledger.accept(handle.answer, first=handle.first, rerun=handle.recovered)
        if isinstance(accepted, AlreadyPending):
            # Nobody runs it: this owner runs one turn at a time, and no other owner may.
            accepted, events = await ledger.accept(handle.answer, rerun=True)
        if isinstance(accepted, AlreadyPending):
            raise SessionProblem("turn_in_progress")
        await self._session.audience.publish(events)
        return accepted

    async def _committed_before(self, accepted: AlreadyCommitted) -> Receipt:
        ledger = self._session.ledger
        if ledger.state.rev < accepted.rev:
            ledger.stale = True
            await self._session.worker.fresh()
        return Receipt.model_validate_json(accepted.receipt)

    async def _run_accepted(self, handle: TurnHandle, attempt: int, began: float, accept_ms: float) -> Receipt:
        session, clock, key = self._session, self._session.services.clock, handle.answer.turn_key
        rehearsed = handle.rehearsal
        stream = session.audience.begin_question(attempt) if rehearsed is None else rehearsed.stream
        handle.rehearsal = None
        self._interventions.begin()
        number = session.state.turn_count + 1
        measure = TurnMeasure(session.session_id, number, "cancelled", attempt, 0.0, accept_ms=accept_ms)
        try:
            outcome = await self._rehearsed(rehearsed, handle, stream) or await self._run_pipeline(handle, stream)
            second_reading = handle.take_second_reading()
            if second_reading is not None:
                outcome = replace(outcome, state=outcome.state.with_second_reading(second_reading))
            commit_began = clock()
            await self._commit(key, outcome)
        except Held:
            session.audience.end_question()
            raise
        except asyncio.CancelledError:
            self._report(replace(measure, total_ms=(clock() - began) * 1000.0))
            raise
        except _Failure as failure:
            measure = replace(measure, outcome="failed", total_ms=(clock() - began) * 1000.0, code=failure.code)
            self._report(measure, failure.detail if failure.code == "llm_unavailable" else None)
            session.audience.end_question()
            await self._record_failure(key, failure)
            raise TurnFailed(failure.code, retryable=failure.retryable) from failure
        finally:
            self._interventions.end()
        record, first = outcome.record, stream.first_token_at
        self._report(
            replace(
                measure,
                outcome="completed",
                total_ms=(clock() - began) * 1000.0,
                commit_ms=(clock() - commit_began) * 1000.0,
                first_token_ms=None if first is None else max(0.0, first - began) * 1000.0,
                stages_ms=record.stages_ms if record is not None else {},
                fallback=record.fallback if record is not None else False,
            )
        )
        receipt = session.ledger.receipt(key)
        assert receipt is not None, "the pipeline leaves a receipt for every turn"
        return receipt

    async def _rehearsed(
        self, rehearsal: Rehearsal | None, handle: TurnHandle, stream: QuestionStream
    ) -> Outcome | None:
        """What was made of exactly this answer before it was certain; None if the turn has to be run."""
        if rehearsal is None:
            return None
        state = self._session.state
        if not state.directives and await rehearsal.fits(state, handle.answer):
            try:
                wishes = self._interventions.read(state)
            except Held:
                await rehearsal.withdraw()
                raise
            if not wishes:
                return rehearsal.confirm()
        rehearsal.discard()
        self._session.audience.go_on_with(stream)
        return None

    async def _run_pipeline(self, handle: TurnHandle, stream: QuestionStream) -> Outcome:
        session = self._session
        ledger, state = session.ledger, session.state
        earlier = {call.id for call in ledger.calls.peek()}
        try:
            embeddings = await ledger.embeddings()
            async with asyncio.timeout(session.deadline_s):
                with recording(ledger.calls, state.turn_count + 1), session.services.speculation.certain():
                    if handle.speculative is not None and not state.directives:
                        context = await handle.speculative.confirmed(state, handle.answer)
                        if context is not None:
                            return await session.pipeline.speak(replace(context, sink=stream))
                    return await session.pipeline.run(
                        state,
                        handle.answer,
                        session.configuration,
                        now=session.services.now(),
                        sink=stream,
                        embeddings=embeddings,
                        names=lambda: tuple(session.slot_names),
                        wishes=lambda: self._interventions.read(state),
                    )
        except Held:
            self._discard_calls(earlier)
            raise
        except TimeoutError as exc:
            raise _Failure("llm_unavailable", retryable=True, detail="deadline passed") from exc
        except StorageUnavailable as exc:
            raise _Failure("storage_unavailable", retryable=True, detail=str(exc)) from exc
        except PipelineError as exc:
            known: dict[str, ErrorCode] = {"llm_unavailable": "llm_unavailable", "invalid_input": "invalid_input"}
            code = known.get(exc.code, "internal")
            # An operator can correct what a provider refuses; until then the answer waits.
            retryable = exc.retryable or code == "llm_unavailable"
            raise _Failure(code, retryable=retryable, detail=f"{exc.stage or 'turn'}: {exc!r}") from exc
        except Exception as exc:
            log.exception("turn.defect", session=session.session_id)
            raise _Failure("internal", retryable=True, detail=repr(exc)) from exc

    async def _commit(self, key: str, outcome: Outcome) -> None:
        """Commit a turn, together with the moderator's command that it followed."""
        directive = outcome.record.directive if outcome.record is not None else None
        action = None
        if directive is not None:
            state, action = self._interventions.followed(directive.command_id, outcome.state)
            outcome = replace(outcome, state=state)
        change = Change.of_outcome(outcome, key, action)
        try:
            await self._session.commit(key, change, pending="clear", repeat=True)
        except Conflict as exc:
            raise _Failure("internal", retryable=True, detail=f"commit: {exc}") from exc

    def _discard_calls(self, earlier: set[str]) -> None:
        """Record the calls of language models of a run that was given up as discarded: they were paid for."""
        calls = self._session.ledger.calls
        wasted = tuple(call for call in calls.peek() if call.id not in earlier and call.outcome == "completed")
        calls.settle(wasted)
        for call in wasted:
            calls.add(call.model_copy(update={"outcome": "discarded"}))

    async def _record_failure(self, turn_key: str, failure: _Failure) -> None:
        session = self._session
        try:
            events = await session.worker.insist(
                lambda: session.ledger.fail(turn_key, failure.code, retryable=failure.retryable, detail=failure.detail)
            )
        except Conflict:
            session.ledger.stale = True
            return
        await session.audience.publish(events)

    def _report(self, measure: TurnMeasure, reason: str | None = None) -> None:
        write = log.info if measure.outcome == "completed" else log.warning
        write(
            f"turn.{measure.outcome}",
            session=measure.session_id,
            turn=measure.turn_number,
            attempt=measure.attempt,
            code=measure.code,
            **({"reason": reason} if reason else {}),
            fallback=measure.fallback,
            total_ms=round(measure.total_ms, 1),
            accept_ms=round(measure.accept_ms, 1),
            commit_ms=round(measure.commit_ms, 1),
            first_token_ms=None if measure.first_token_ms is None else round(measure.first_token_ms, 1),
            stages_ms={name: round(took, 1) for name, took in measure.stages_ms.items()},
        )
        self._session.services.on_turn(measure)


def _checked(answer: Answer, configuration: SessionConfiguration) -> Answer:
    """The answer, normalised. Raises SessionProblem: `invalid_input`, `answer_too_long`."""
    if answer.kind == "skip":
        return Answer(turn_key=answer.turn_key, kind="skip")
    try:
        text = check_answer(answer.text, configuration.settings.max_answer_chars)
    except InvalidAnswer as exc:
        too_long = exc.wire_code == "answer_too_long"
        raise SessionProblem("answer_too_long" if too_long else "invalid_input", str(exc)) from exc
    return replace(answer, text=text)


def _refuse_other_text(known: str, digest: str) -> None:
    if known != digest:
        raise SessionProblem("invalid_input", "This answer was sent before with other words.")

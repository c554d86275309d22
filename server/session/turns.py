"""One turn from its acceptance to its commit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import structlog

from pipeline.calls import recording
from pipeline.concept import SessionConfiguration
from pipeline.context import SlotNames, no_names
from pipeline.errors import InvalidAnswer, PipelineError
from pipeline.stages.utterance import check_answer
from pipeline.state import Receipt
from pipeline.turn import Answer, Outcome
from server.hot.errors import Conflict, StorageUnavailable
from server.hot.values import Accepted, AlreadyCommitted, AlreadyPending, DurableEvent
from server.protocol.codes import ErrorCode
from server.session import machine
from server.session.audience import Audience
from server.session.guidance import Guidance, Held
from server.session.jobs import quiet_future
from server.session.ledger import Ledger
from server.session.measure import TurnMeasure
from server.session.problems import SessionProblem, TurnFailed
from server.session.speculation import Guess
from server.session.stream import QuestionStream
from server.session.surroundings import Surroundings
from server.session.witness import Witness
from server.session.worker import Worker

log = structlog.get_logger("askwell.session")


def checked(answer: Answer, configuration: SessionConfiguration) -> Answer:
    """The answer as it is taken. Raises SessionProblem: `invalid_input`, `answer_too_long`."""
    if answer.kind == "skip":
        return Answer(turn_key=answer.turn_key, kind="skip")
    try:
        text = check_answer(answer.text, configuration.settings.max_answer_chars)
    except InvalidAnswer as exc:
        too_long = exc.wire_code == "answer_too_long"
        raise SessionProblem("answer_too_long" if too_long else "invalid_input", str(exc)) from exc
    return replace(answer, text=text)


class TurnHandle:
    """A turn that somebody may wait for.

    Args:
        answer: what is answered.
        digest: of the answer, to tell it from another one under the same key.
        unasked: nobody sent it to this owner; it was found pending.
        first: durable events that tell of the answer before its turn starts.
        guess: what was decided before the answer was certain.
    """

    def __init__(
        self,
        answer: Answer,
        digest: str,
        *,
        unasked: bool = False,
        first: Sequence[Mapping[str, Any]] = (),
        guess: Guess | None = None,
    ) -> None:
        self.answer = answer
        self.digest = digest
        self.unasked = unasked
        self.first = first
        self.guess = guess
        self.attempt: int | None = None
        """Of the run that waits for a moderator, if one does."""
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
    def already_committed(self) -> bool:
        """Whether the result is there."""
        return self._done.done() and self._done.exception() is None

    @property
    def already_accepted(self) -> bool:
        """Whether the answer is on disk."""
        return self._accepted.done() and self._accepted.exception() is None

    async def accepted(self) -> None:
        """Wait until the answer is on disk. Raises what kept it from being accepted."""
        await asyncio.shield(self._accepted)

    async def committed(self) -> Receipt:
        """Wait until the turn is committed. Raises what kept it from that."""
        return await asyncio.shield(self._done)

    def accept(self) -> None:
        """The answer is on disk."""
        if not self._accepted.done():
            self._accepted.set_result(None)

    def succeed(self, receipt: Receipt) -> None:
        """The turn is committed."""
        self.accept()
        if not self._done.done():
            self._done.set_result(receipt)

    def fail(self, error: BaseException) -> None:
        """The turn did not work out."""
        for future in (self._accepted, self._done):
            if not future.done():
                future.set_exception(error)


class _Failure(Exception):
    """A run that ends in `turn.failed`."""

    def __init__(self, code: ErrorCode, *, retryable: bool, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.retryable = retryable
        self.detail = detail


class TurnRunner:
    """Runs the turns of one session, one at a time.

    Args:
        around: what owners share.
        ledger: the session.
        configuration: what it is pinned to.
        worker: does the work; copes with storage.
        audience: who listens.
        guidance: what moderators want of the running turn.
        witness: told of answers and commits.
        names: of slots, as far as they have come.
    """

    def __init__(
        self,
        around: Surroundings,
        ledger: Ledger,
        configuration: SessionConfiguration,
        worker: Worker,
        audience: Audience,
        guidance: Guidance,
        witness: Witness,
        names: SlotNames = no_names,
    ) -> None:
        self._names = names
        self._guidance = guidance
        self._witness = witness
        self._around = around
        self._ledger = ledger
        self._configuration = configuration
        self._worker = worker
        self._audience = audience

    async def run(self, handle: TurnHandle) -> Receipt:
        """Accept the answer, run it, commit it.

        Raises:
            SessionProblem: it can't be taken now.
            TurnFailed: it was taken and did not work out.
            Held: it was taken and waits for a moderator; run it again when there is a wish, or nobody to wait for.
            HotError: storage refused it or can't be reached; nothing is known to be written.
        """
        await self._worker.fresh()
        receipt = self._ledger.receipt(handle.answer.turn_key)
        if receipt is not None:
            _refuse_other_text(receipt.digest, handle.digest)
            return receipt
        if handle.unasked and self._ledger.pending is None:
            raise SessionProblem("session_completed")
        if not handle.unasked:
            machine.check_turn(self._ledger.state, self._configuration)
        began = self._around.clock()
        attempt = handle.attempt
        if attempt is None or self._ledger.pending is None:
            accepted = await self._accept(handle)
            if isinstance(accepted, AlreadyCommitted):
                return await self._committed_before(handle, accepted)
            attempt = accepted.attempt
            self._witness.answered(handle.answer, self._ledger.state.turn_count + 1)
        accept_ms = self._since(began)
        handle.accept()
        handle.attempt = attempt
        if machine.held(self._ledger.state):
            raise Held
        return await self._run_accepted(handle, attempt, began, accept_ms)

    async def _accept(self, handle: TurnHandle) -> Accepted | AlreadyCommitted:
        accepted, events = await self._ledger.accept(handle.answer, first=handle.first, rerun=handle.unasked)
        if isinstance(accepted, AlreadyPending):
            # Nobody runs it: this owner does one turn at a time, and no other owner may.
            accepted, events = await self._ledger.accept(handle.answer, rerun=True)
        if isinstance(accepted, AlreadyPending):
            raise SessionProblem("turn_in_progress")
        await self._audience.publish(events)
        return accepted

    async def _committed_before(self, handle: TurnHandle, accepted: AlreadyCommitted) -> Receipt:
        if self._ledger.state.rev < accepted.rev:
            self._ledger.stale = True
            await self._worker.fresh()
        return Receipt.model_validate_json(accepted.receipt)

    async def _run_accepted(self, handle: TurnHandle, attempt: int, began: float, accept_ms: float) -> Receipt:
        before = self._ledger.state
        stream = self._audience.begin_question(attempt)
        self._guidance.begin()
        measure = TurnMeasure(
            session_id=self._ledger.session_id,
            turn_number=self._ledger.state.turn_count + 1,
            outcome="cancelled",
            attempt=attempt,
            total_ms=0.0,
            accept_ms=accept_ms,
        )
        try:
            outcome = await self._run_pipeline(handle, stream)
            first = stream.first_token_at
            committing = self._around.clock()
            outcome, action = self._obeyed(outcome)
            events = await self._commit(handle.answer, outcome, action)
        except Held:
            self._audience.end_question()
            raise
        except asyncio.CancelledError:
            self._report(replace(measure, total_ms=self._since(began)))
            raise
        except _Failure as failure:
            self._report(
                replace(measure, outcome="failed", total_ms=self._since(began), code=failure.code),
                failure.detail if failure.code == "llm_unavailable" else None,
            )
            self._audience.end_question()
            await self._put_on_record(handle.answer.turn_key, failure)
            raise TurnFailed(failure.code, retryable=failure.retryable) from failure
        finally:
            self._guidance.end()
        self._audience.end_question()
        await self._audience.publish(events)
        record = outcome.record
        self._witness.committed(before, self._ledger.state, record)
        if action is not None:
            self._witness.acted(action)
        self._report(
            replace(
                measure,
                outcome="completed",
                total_ms=self._since(began),
                commit_ms=self._since(committing),
                first_token_ms=None if first is None else (first - began) * 1000.0,
                stages_ms=record.stages_ms if record is not None else {},
                fallback=record.fallback if record is not None else False,
            )
        )
        receipt = self._ledger.receipt(handle.answer.turn_key)
        assert receipt is not None, "the pipeline leaves a receipt for every turn"
        return receipt

    async def _run_pipeline(self, handle: TurnHandle, stream: QuestionStream) -> Outcome:
        around, state = self._around, self._ledger.state
        paid = {call.id for call in self._ledger.calls.peek()}
        try:
            embeddings = await self._ledger.embeddings()
            async with asyncio.timeout(around.deadline_s(self._configuration)):
                with recording(self._ledger.calls, state.turn_count + 1), around.lanes.confirmed():
                    if handle.guess is not None and not state.directives:
                        context = await handle.guess.confirmed(self._ledger.state, handle.answer)
                        if context is not None:
                            return await around.pipeline.speak(replace(context, sink=stream))
                    return await around.pipeline.run(
                        self._ledger.state,
                        handle.answer,
                        self._configuration,
                        now=around.now(),
                        sink=stream,
                        embeddings=embeddings,
                        names=self._names,
                        wishes=lambda: self._guidance.read(state),
                    )
        except Held:
            self._discard_calls(paid)
            raise
        except TimeoutError as exc:
            raise _Failure("llm_unavailable", retryable=True, detail="deadline passed") from exc
        except StorageUnavailable as exc:
            raise _Failure("storage_unavailable", retryable=True, detail=str(exc)) from exc
        except PipelineError as exc:
            code: ErrorCode = "llm_unavailable" if exc.code == "llm_unavailable" else "internal"
            if exc.code == "invalid_input":
                code = "invalid_input"
            # An operator can mend what a provider refuses; until then the answer waits.
            raise _Failure(
                code,
                retryable=exc.retryable or code == "llm_unavailable",
                detail=f"{exc.stage or 'turn'}: {exc!r}",
            ) from exc
        except Exception as exc:
            log.exception("turn.defect", session=self._ledger.session_id)
            raise _Failure("internal", retryable=True, detail=repr(exc)) from exc

    def _obeyed(self, outcome: Outcome) -> tuple[Outcome, Mapping[str, Any] | None]:
        """The outcome that remembers the command which the turn followed, and what the record is to say of it."""
        wish = outcome.record.directive if outcome.record is not None else None
        if wish is None:
            return outcome, None
        state, action = self._guidance.followed(wish.command_id, outcome.state)
        return replace(outcome, state=state), action

    def _discard_calls(self, paid: set[str]) -> None:
        """What language models were asked in a run that was given up was paid for all the same."""
        log_of = self._ledger.calls
        wasted = tuple(call for call in log_of.peek() if call.id not in paid and call.outcome == "completed")
        log_of.settle(wasted)
        for call in wasted:
            log_of.add(call.model_copy(update={"outcome": "discarded"}))

    async def _commit(self, answer: Answer, outcome: Outcome, action: Mapping[str, Any] | None) -> list[DurableEvent]:
        try:
            return await self._worker.insist(lambda: self._ledger.commit_turn(answer, outcome, moderator=action))
        except Conflict as exc:
            self._ledger.stale = True
            raise _Failure("internal", retryable=True, detail=f"commit: {exc}") from exc

    async def _put_on_record(self, turn_key: str, failure: _Failure) -> None:
        try:
            events = await self._worker.insist(
                lambda: self._ledger.fail(turn_key, failure.code, retryable=failure.retryable, detail=failure.detail)
            )
        except Conflict:
            self._ledger.stale = True
            return
        await self._audience.publish(events)

    def _since(self, moment: float) -> float:
        return (self._around.clock() - moment) * 1000.0

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
        self._around.observe(measure)


def _refuse_other_text(known: str, digest: str) -> None:
    if known != digest:
        raise SessionProblem("invalid_input", "This answer was sent before with other words.")

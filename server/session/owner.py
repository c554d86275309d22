"""The one owner of a session on this node: everything that happens to the session happens here, in order.

Answers are refused while another one is worked on; all else waits for its place in line. Whoever sent something may
disconnect: the work goes on and its events wait for the next connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import structlog

from pipeline.concept import SessionConfiguration
from pipeline.context import TurnContext
from pipeline.ports import QuestionSink
from pipeline.state import InterviewState, Receipt
from pipeline.turn import Answer
from server.hot.errors import HotError, SessionNotHot
from server.hot.values import DurableEvent
from server.protocol.codes import CLOSE_TAKEN_OVER
from server.protocol.outbound import Notice
from server.session import machine
from server.session.answers import Answers, Told
from server.session.audience import Audience
from server.session.guidance import Guidance
from server.session.ledger import Ledger
from server.session.listening import Listening
from server.session.naming import Naming
from server.session.outbox import Outbox
from server.session.problems import Moved, SessionProblem, error_frame
from server.session.questions import QuestionMaker
from server.session.speculation import Guess
from server.session.steps import Steps
from server.session.surroundings import Surroundings
from server.session.turns import TurnHandle, TurnRunner
from server.session.worker import Worker

log = structlog.get_logger("askwell.session")
NOTE_S = 2.0


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
        self.witness = around.witnesses.of(ledger, configuration)
        """Told what happens, for moderators."""
        self.guidance = Guidance()
        """What moderators want of the running turn."""
        self._audience = Audience(around.hot, ledger, around.clock, self.witness)
        self._worker = Worker(around, ledger, self._audience)
        self._worker.on_recovered = self.arrive
        self._steps = Steps(around, ledger, self._worker, self._audience, lambda: self.naming.want(), self.witness)
        self.naming = Naming(around, ledger, configuration, self._steps.settle)
        """Finds names for slots while nobody waits."""
        self._questions = QuestionMaker(around, ledger, configuration, self._worker, self._audience, self.witness)
        self._welcoming = False
        self.listening = Listening(around, ledger, configuration, self._audience, self)
        """Hears the respondent."""
        self._audience.listening = self.listening
        self._answers = Answers(
            ledger,
            configuration,
            self._worker,
            self._audience,
            TurnRunner(
                around,
                ledger,
                configuration,
                self._worker,
                self._audience,
                self.guidance,
                self.witness,
                self.naming.arrived,
            ),
            self.witness,
            Told(took=self.listening.took, freed=self.listening.freed, committed=self.naming.want),
        )
        self._worker.on_refreshed = self._answers.run_pending
        self.inbox_lock = asyncio.Lock()
        """Held by whoever applies what waits in the inbox."""
        self._answers.run_pending()

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
        return self._worker.leaving

    @property
    def busy(self) -> bool:
        """Whether something is being done or waits."""
        return self._worker.busy

    @property
    def attended(self) -> bool:
        """Whether a respondent is connected."""
        return self._audience.present

    async def run(self) -> None:
        """Do what comes until it is time to leave."""
        try:
            async with asyncio.TaskGroup() as tasks:
                beside = [
                    tasks.create_task(self.naming.run(), name=f"naming {self.session_id}"),
                    tasks.create_task(self.listening.run(), name=f"listening {self.session_id}"),
                ]
                try:
                    await self._worker.run()
                finally:
                    for task in beside:
                        task.cancel()
            await self._note_last_calls()
        finally:
            self.witness.left()
            self._answers.leave()

    async def _note_last_calls(self) -> None:
        """Put calls on record that were paid for and that no other write will carry."""
        try:
            async with asyncio.timeout(NOTE_S):
                await self._ledger.note_calls(owned=self.leaving is None or self.leaving.close_code != CLOSE_TAKEN_OVER)
        except (HotError, TimeoutError) as exc:
            log.warning("usage.lost", session=self.session_id, calls=len(self._ledger.calls.peek()), error=repr(exc))

    def stop(self, reason: Moved) -> None:
        """Leave at once; what runs is cancelled and leaves no trace."""
        self._worker.stop(reason)

    def taken_over(self) -> None:
        """Another connection, maybe on another node, owns the session now."""
        self._worker.taken_over()

    async def erased(self) -> None:
        """The session does not exist any more; whoever is connected is told."""
        await self._worker.erased()

    async def settled(self) -> None:
        """Wait until nothing is being done and nothing waits."""
        await self._worker.settled()

    def touch(self) -> None:
        """Somebody is about to use it."""
        self._worker.last_used = self._around.clock()

    async def keep_hot(self) -> None:
        """Have hot storage keep the session while a respondent is connected, answering or not."""
        if self.attended and self.leaving is None:
            try:
                await self._around.hot.keep(self.session_id, self.owner_id)
            except SessionNotHot:
                self._worker.forgotten()

    def unused_s(self) -> float | None:
        """For how long nobody has used it; None while somebody is connected, something is done, or it is leaving."""
        engaged = self.busy or self.naming.busy or self.listening.recordings.busy
        if engaged or self.attended or self.leaving is not None:
            return None
        return self._around.clock() - self._worker.last_used

    # Who listens

    async def subscribe(self, outbox: Outbox, *, last_event_id: int, epoch: str | None) -> None:
        """Make this the respondent's connection; the one before it is closed with 4001.

        Raises:
            Moved: this owner is leaving.
            StorageUnavailable: what was missed can't be read.
        """
        if self.leaving is not None:
            raise self.leaving
        self.touch()
        self.listening.joined()
        await self._audience.join(outbox, last_event_id=last_event_id, epoch=epoch)
        if self.state.claimed_by is not None and not machine.is_over(self.state):
            await outbox.send(Notice.of("moderator_here"))

    def unsubscribe(self, outbox: Outbox) -> None:
        """The connection is gone; what runs goes on."""
        self._audience.leave(outbox)
        self.touch()

    async def events_of(self, turn_key: str) -> list[DurableEvent]:
        """The durable events of one turn. Raises StorageUnavailable."""
        return await self._ledger.events_of(turn_key)

    # Turns

    @property
    def engaged(self) -> bool:
        """Whether no answer can be taken yet: one is worked on, or the first question is on its way."""
        return self._answers.running or (self.state.question is None and not machine.is_over(self.state))

    def begin(
        self, answer: Answer, *, first: Sequence[Mapping[str, Any]] = (), guess: Guess | None = None
    ) -> TurnHandle:
        """Take an answer, a skip or a correction; it runs whether or not anybody waits for the handle.

        Args:
            answer: what the respondent did.
            first, guess: as of `TurnHandle`.

        Returns:
            The handle of the turn: a running one if the same answer is being worked on, a done one if it is committed.

        Raises:
            SessionProblem: it can't be taken: `invalid_input`, `answer_too_long`, `turn_in_progress`,
                `consent_required`, `session_paused`, `session_completed`, `storage_unavailable`.
            Moved: this owner is leaving.
        """
        return self._answers.begin(answer, first=first, guess=guess)

    async def decide(self, answer: Answer, sink: QuestionSink) -> TurnContext:
        """What an answer would lead to, up to the question; nothing is written. Raises PipelineError."""
        return await self._around.pipeline.decide(
            self.state,
            answer,
            self.configuration,
            now=self._around.now(),
            sink=sink,
            embeddings=await self._ledger.embeddings(),
            names=self.naming.arrived,
        )

    def reconsider(self) -> None:
        """Go on with an answer that waits for a moderator, if there is nothing to wait for any more."""
        self._answers.reconsider()

    async def remind(self) -> None:
        """Tell the respondent again that a moderator is here, if an answer waits for one."""
        await self._answers.remind()

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

    # Everything else

    async def start(self) -> None:
        """Make the opening question, once; return when it is committed.

        Raises:
            SessionProblem: `consent_required`, or what kept the question from being made.
        """
        if machine.consent_missing(self.state, self.configuration):
            raise SessionProblem("consent_required")
        await self._worker.do("start", self._welcome)

    def arrive(self) -> None:
        """The respondent is here: go on if the session was abandoned, open it if that is due."""
        due = self.state.status == "abandoned" or machine.may_open(self.state, self.configuration)
        if due and not self._welcoming and self._worker.able:
            self._welcoming = True
            self._worker.put_first("welcome", self._greet)

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
        if self._answers.running:
            raise SessionProblem("turn_in_progress")
        machine.check_rephrase(self.state, self.configuration)
        await self._worker.do("rephrase", self._rephrase)

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
        """Keep wishes about speaking and listening; the one for time counts now and is not kept."""
        kept = {name: wish for name, wish in changes.items() if name != "take_your_time"}
        if "patience" in kept:
            self.listening.set_patience(kept["patience"])
        if changes.get("take_your_time"):
            self.listening.take_your_time()
        if kept:
            await self._command("set", lambda: machine.change_settings(self.state, kept, self._around.now()))

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
        before, claimed = self.state.settings.get("patience"), self.state.claimed_by
        number = await self._steps.apply(command_id, decide, moderator=moderator, ends=ends)
        if claimed is None and self.state.claimed_by is not None:
            await self._audience.broadcast(Notice.of("moderator_here"))
        self.reconsider()
        patience = self.state.settings.get("patience")
        if patience is not None and patience != before:
            self.listening.set_patience(patience)
        return number

    async def _command(self, name: str, decide: Callable[[], machine.Step], *, ends: bool = False) -> None:
        await self._steps.command(name, decide, ends=ends)
        self.reconsider()
        self.arrive()

    async def _greet(self) -> None:
        try:
            await self._welcome()
        except SessionProblem as exc:
            await self._audience.broadcast(error_frame(exc, ref="hello"))

    async def _welcome(self) -> None:
        self._welcoming = False
        await self._worker.fresh()
        if self.state.status == "abandoned":
            until = timedelta(seconds=self._around.settings.resume_until_s)
            step = machine.resume(self.state, "respondent", self._around.now(), until)
            await self._steps.commit(f"return:{self._around.new_id()}", step)
        if machine.may_open(self.state, self.configuration):
            await self._questions.open()
            self.listening.freed()

    async def _rephrase(self) -> None:
        await self._worker.fresh()
        machine.check_rephrase(self.state, self.configuration)
        await self._questions.rephrase()

"""The one owner of a session on this node: everything that happens to the session happens here, in order.

Answers are refused while another one is worked on; everything else waits in the queue. Whoever sent something may
disconnect: the work goes on and its events wait for the next connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import structlog

from pipeline.concept import SessionConfiguration
from pipeline.state import InterviewState, Receipt
from pipeline.turn import Answer
from server.hot.errors import HotError, SessionNotHot
from server.protocol.codes import CLOSE_TAKEN_OVER
from server.protocol.outbound import Notice
from server.session import questions, rules
from server.session.additions import unless_urgent
from server.session.change import Change
from server.session.commands import Commands
from server.session.context import SessionContext, SessionServices, kept_settings
from server.session.events import ReadyForAnswer, SessionEvent, SessionReleased, SessionRests, StorageRecovered
from server.session.ledger import Ledger
from server.session.naming import SlotNaming
from server.session.outbox import Outbox
from server.session.problems import Moved, SessionProblem, error_frame
from server.session.stopping import Aftermath
from server.session.turns import Turns

log = structlog.get_logger("askwell.session")
LAST_CALLS_S = 2.0


class SessionOwner:
    """Owns one session until another owner claims it or nobody needs it.

    Args:
        services: of the node.
        ledger: the claimed session.
        configuration: what the session is pinned to.
    """

    def __init__(self, services: SessionServices, ledger: Ledger, configuration: SessionConfiguration) -> None:
        self.context = SessionContext(services, ledger, configuration)
        """What all parts of the session share."""
        self.naming = SlotNaming(self.context)
        """Finds names for slots."""
        self.turns = Turns(self.context)
        """Takes answers."""
        self.commands = Commands(self.context, self.turns)
        """Applies commands."""
        self._aftermath = Aftermath(self.context, self.commands)
        self._opening = False
        self._uses = 0
        self._tasks: asyncio.TaskGroup | None = None
        self.context.observers.append(self._observe)
        self.turns.run_pending()

    def _observe(self, event: SessionEvent) -> None:
        if isinstance(event, StorageRecovered):
            self.arrive()

    @property
    def session_id(self) -> str:
        """The session."""
        return self.context.session_id

    @property
    def owner_id(self) -> str:
        """This owner's id in hot storage."""
        return self.context.ledger.owner_id

    @property
    def state(self) -> InterviewState:
        """The session after its last commit."""
        return self.context.state

    @property
    def leaving(self) -> Moved | None:
        """Why this owner takes nothing any more, if so."""
        return self.context.worker.leaving

    @property
    def tasks(self) -> asyncio.TaskGroup:
        """For tasks that live no longer than this owner; they end themselves at `SessionReleased`."""
        assert self._tasks is not None, "the owner runs"
        return self._tasks

    # Its life

    async def run(self) -> None:
        """Work until it is time to leave."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                beside = [
                    self._tasks.create_task(self.naming.run(), name=f"naming {self.session_id}"),
                    self._tasks.create_task(self._aftermath.run(), name=f"aftermath {self.session_id}"),
                ]
                try:
                    await self.context.worker.run()
                finally:
                    for task in beside:
                        task.cancel()
                    self.context.tell(SessionReleased())
            await self._record_last_calls()
        finally:
            self.turns.leave()

    async def _record_last_calls(self) -> None:
        """Record calls of language models that were paid for and that no other write will carry."""
        owned = self.leaving is None or self.leaving.close_code != CLOSE_TAKEN_OVER
        try:
            async with asyncio.timeout(LAST_CALLS_S):
                await self.context.ledger.record_calls(owned=owned)
        except (HotError, TimeoutError) as exc:
            lost = len(self.context.ledger.calls.peek())
            log.warning("usage.lost", session=self.session_id, calls=lost, error=repr(exc))

    def stop(self, reason: Moved) -> None:
        """Leave at once; the running turn is cancelled, which changes nothing that is stored."""
        self.context.worker.stop(reason)

    def touch(self) -> None:
        """The session is used now."""
        self.context.worker.last_used = self.context.services.clock()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Around work that needs this owner and is not in its queue: it is not released meanwhile."""
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1

    def unused_s(self) -> float | None:
        """For how long nobody has used it; None while somebody is connected, something is done, or it is leaving."""
        session = self.context
        if self._engaged or session.audience.present or self.leaving is not None:
            return None
        return session.services.clock() - session.worker.last_used

    async def rest(self, after_s: float) -> None:
        """Keep little of the session in memory if it was not used for so long, connected or not."""
        session = self.context
        quiet_s = session.services.clock() - session.worker.last_used
        if self._engaged or quiet_s < after_s or self.leaving is not None or session.ledger.resting:
            return
        session.tell(SessionRests())
        await session.ledger.rest()

    @property
    def _engaged(self) -> bool:
        return bool(self.context.worker.busy or self.naming.busy or self._uses)

    async def keep_hot(self) -> None:
        """Have hot storage keep the session while a respondent is connected, answering or not."""
        if self.context.audience.present and self.leaving is None:
            try:
                await self.context.services.hot.keep(self.session_id, self.owner_id)
            except SessionNotHot:
                self.context.worker.forgotten()

    # The respondent's connection

    async def subscribe(self, outbox: Outbox, *, last_event_id: int, epoch: str | None) -> None:
        """Make this the respondent's connection; the one before it is closed with 4001.

        Raises:
            Moved: this owner is leaving.
            StorageUnavailable: the missed events can't be read.
        """
        if self.leaving is not None:
            raise self.leaving
        self.touch()
        await self.context.audience.join(outbox, last_event_id=last_event_id, epoch=epoch)
        if self.state.claimed_by is not None and not rules.is_over(self.state):
            await outbox.send(Notice.of("moderator_here"))

    def unsubscribe(self, outbox: Outbox) -> None:
        """The connection is closed; what runs goes on."""
        self.context.audience.leave(outbox)
        self.touch()

    # Answers of clients that wait for the result

    async def submit(self, answer: Answer) -> Receipt:
        """Take an answer and wait until its turn is committed.

        Raises:
            SessionProblem, Moved: as `Turns.begin`.
            TurnFailed: its run failed; the same key completes it once.
        """
        return await self.turns.begin(answer).committed()

    async def skip(self, turn_key: str) -> Receipt:
        """Leave the question unanswered, and wait."""
        return await self.submit(Answer(turn_key=turn_key, kind="skip"))

    async def correct(self, utterance_id: str, text: str, turn_key: str) -> Receipt:
        """Amend the last answer, and wait."""
        amendment = Answer(turn_key=turn_key, text=text, kind="correct", corrects=utterance_id)
        return await self.submit(await unless_urgent(self.context, amendment))

    # Commands of the respondent

    async def start(self) -> None:
        """Ask the opening question, once; return when it is committed.

        Raises:
            SessionProblem: `consent_required`, or why the question could not be made.
        """
        if rules.consent_missing(self.state, self.context.configuration):
            raise SessionProblem("consent_required")
        await self.context.worker.do("start", self._open)

    def arrive(self) -> None:
        """The respondent is here: resume an abandoned session, ask the opening question if that is due."""
        due = self.state.status == "abandoned" or rules.may_open(self.state, self.context.configuration)
        if due and not self._opening and self.context.worker.able:
            self._opening = True
            self.context.worker.put_first("open", self._open_for_arrival)

    async def consent(self, version: str, choices: Mapping[str, Any]) -> None:
        """Record consent; the opening question follows."""
        configuration = self.context.configuration
        await self._apply(
            "consent",
            lambda: rules.give_consent(
                self.state, configuration, version=version, choices=choices, now=self.context.services.now()
            ),
        )

    async def rephrase(self) -> None:
        """Put the present question in other words."""
        if self.turns.running:
            raise SessionProblem("turn_in_progress")
        rules.check_rephrase(self.state, self.context.configuration)
        await self.context.worker.do("rephrase", self._rephrase)

    async def pause(self) -> None:
        """Pause, after the running turn."""
        await self._apply("pause", lambda: rules.pause(self.state, "respondent", self.context.services.now()))

    async def resume(self) -> None:
        """Go on after a pause."""
        await self._apply("resume", self._resumed)

    async def finish(self) -> None:
        """End with thanks, after the running turn."""
        configuration, reason = self.context.configuration, rules.BY_RESPONDENT
        await self._apply(
            "finish",
            lambda: rules.finish(self.state, configuration, reason=reason, now=self.context.services.now()),
            ends=True,
        )

    async def change_settings(self, changes: Mapping[str, Any]) -> None:
        """Change settings of speaking and listening; `take_your_time` takes effect once and is not kept."""
        self.context.request_settings(changes)
        await self.keep_settings(changes)

    async def keep_settings(self, changes: Mapping[str, Any]) -> None:
        """Commit settings that were requested, in their place among the turns."""
        kept = kept_settings(changes)
        if not kept:
            return
        now = self.context.services.now
        try:
            await self._apply("set", lambda: rules.change_settings(self.state, kept, now()))
        except SessionProblem:
            self.context.settle_settings(kept)
            raise
        self.context.settle_settings(kept)

    async def withdraw(self) -> None:
        """Erase everything, at once; a running turn is cancelled."""
        await self.context.services.hot.erase(self.session_id)
        await self.context.worker.erased()

    async def _apply(self, name: str, decide: Callable[[], Change], *, ends: bool = False) -> None:
        await self.commands.apply(name, decide, ends=ends)
        self.arrive()

    def _resumed(self) -> Change:
        services = self.context.services
        until = timedelta(seconds=services.settings.resume_until_s)
        return rules.resume(self.state, "respondent", services.now(), until)

    async def _open_for_arrival(self) -> None:
        try:
            await self._open()
        except SessionProblem as exc:
            await self.context.audience.broadcast(error_frame(exc, ref="hello"))

    async def _open(self) -> None:
        self._opening = False
        await self.context.worker.fresh()
        if self.state.status == "abandoned":
            await self.commands.commit(f"return:{self.context.services.new_id()}", self._resumed())
        if rules.may_open(self.state, self.context.configuration):
            await questions.open_interview(self.context)
            self.context.tell(ReadyForAnswer())

    async def _rephrase(self) -> None:
        await self.context.worker.fresh()
        rules.check_rephrase(self.state, self.context.configuration)
        await questions.rephrase(self.context)

"""Shows one session that lives on this node: keeps what no stored state says, and tells the exchange what changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import Any, Literal

import structlog

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.state import InterviewState
from pipeline.turn import Answer
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.codec import encode
from server.protocol.outbound import QuestionDelta, QuestionStarted, SpeechStarted, SpeechStopped, TranscriptPartial
from server.protocol.watched import (
    Action,
    Activity,
    AlertCode,
    Alerts,
    OverviewItem,
    Respondent,
    RunningQuestion,
    WatchedQuestionDelta,
    WatchedQuestionStarted,
    WatchedTranscriptFinal,
    WatchedTranscriptPartial,
)
from server.session import machine
from server.session.ledger import Ledger
from server.watch import frames
from server.watch.alerts import AlertSettings, Facts, Standing, codes_of
from server.watch.exchange import Exchange
from server.watch.rows import row_of

log = structlog.get_logger("askwell.watch")

TYPING_S = 5.0
TOLD_IN_FULL = 5
KEPT_ACTIONS = 50
PASSING: frozenset[Activity] = frozenset({"working", "asking"})
"""Mostly over in a moment: the overview learns of them at the next tick, if they last so long."""
Raised = Callable[[InterviewState, AlertCode, datetime], None]
"""Told of every new alert."""


class _Quietly(AbstractContextManager[None]):
    """Nobody's interview may suffer from being watched; only the first defects are told in full."""

    def __init__(self) -> None:
        self._defects = 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[True] | None:
        if error is None or not isinstance(error, Exception):
            return None
        self._defects += 1
        log.error("watch.defect", error=repr(error), exc_info=error if self._defects <= TOLD_IN_FULL else None)
        return True


quietly = _Quietly()


class Reporter:
    """Implements `server.session.witness.Witness` for one session.

    Args:
        ledger: the session.
        configuration: what it is pinned to.
        exchange: where news go.
        settings: when something needs a person.
        now: wall clock, with zone.
        raised: told of every new alert.
    """

    def __init__(
        self,
        ledger: Ledger,
        configuration: SessionConfiguration,
        exchange: Exchange,
        settings: AlertSettings,
        now: Callable[[], datetime],
        raised: Raised,
    ) -> None:
        self._ledger = ledger
        self._configuration = configuration
        self._exchange = exchange
        self._settings = settings
        self._now = now
        self._raised = raised
        self._connected = False
        self._activity: Activity = "idle"
        self._changed_at = ledger.state.updated_at
        self._typing_until: datetime | None = None
        self._failing = False
        self._record: TurnRecord | None = None
        self._question: RunningQuestion | None = None
        self._caption: TranscriptPartial | None = None
        self._answer: WatchedTranscriptFinal | None = None
        self._actions: deque[Action] = deque(maxlen=KEPT_ACTIONS)
        """What moderators did here: the store learns of it later than the state does."""
        self._standing = Standing()
        self._row_stale = False
        self._told_row: OverviewItem | None = None
        self.kiosk_offline = False
        exchange.register(self)

    # What it is

    @property
    def session_id(self) -> str:
        """The session."""
        return self._ledger.session_id

    @property
    def rev(self) -> int:
        """Its revision."""
        return self._ledger.state.rev

    @property
    def state(self) -> InterviewState:
        """The session after its last commit."""
        return self._ledger.state

    @property
    def question(self) -> RunningQuestion | None:
        """The question that is on its way."""
        return self._question

    @property
    def waits_since(self) -> datetime | None:
        """Since when an answer waits for a moderator; None if none does."""
        return self._changed_at if self._activity == "held" else None

    def row(self) -> OverviewItem:
        """Its row of the overview."""
        return row_of(self._ledger.state, self._facts(), self._standing.view())

    def live(self) -> dict[str, Any]:
        """What a snapshot says besides the state."""
        return {
            "respondent": {"connected": self._connected, "activity": self._activity},
            "partial": self._caption.text if self._caption is not None else None,
            "alerts": [alert.model_dump() for alert in self._standing.view()],
            "waiting": self._activity == "held",
            "held_answer": self._answer.text if self._answer is not None else None,
        }

    def present(self) -> list[str]:
        """Frames that say what no stored state says."""
        found: list[Message] = [self._respondent(), self._alerts()]
        if self._answer is not None:
            found.append(self._answer)
        if self._caption is not None:
            found.append(
                WatchedTranscriptPartial(
                    session_id=self.session_id, text=self._caption.text, stable=self._caption.stable
                )
            )
        running = self._question
        if running is not None:
            number, attempt = running.turn_number, running.attempt
            found.append(WatchedQuestionStarted(session_id=self.session_id, turn_number=number, attempt=attempt))
            if running.text:
                found.append(
                    WatchedQuestionDelta(
                        session_id=self.session_id, turn_number=number, attempt=attempt, text=running.text
                    )
                )
        if self._record is not None:
            found += frames.of_record(self._ledger.state, self._record, self._ledger.committed_ms)
        found += self._actions
        return [encode(message) for message in found]

    # What the owner tells

    def attended(self, present: bool) -> None:
        """A respondent came, or went."""
        with quietly:
            if present != self._connected:
                self._connected = present
                self._changed_at = self._now()
                busy = self._activity in ("working", "asking", "held")
                self._become(self._activity if busy else self._at_rest(), always=True)

    def said(self, message: Message) -> None:
        """Something ephemeral was sent to the respondent."""
        with quietly:
            match message:
                case QuestionStarted():
                    self._question = RunningQuestion(turn_number=message.turn_number, attempt=message.attempt, text="")
                    self._become("asking")
                case QuestionDelta():
                    if self._question is not None:
                        text = self._question.text + message.text
                        self._question = self._question.model_copy(update={"text": text})
                case TranscriptPartial():
                    self._caption = message
                    self._become("speaking")
                case SpeechStarted():
                    self._become("speaking")
                case SpeechStopped():
                    self._become(self._at_rest())
            if self._exchange.wanted(self.session_id):
                frame = frames.of_message(self.session_id, message)
                if frame is not None:
                    self._publish([frame])

    def told(self, events: Sequence[DurableEvent]) -> None:
        """Durable events were sent to the respondent."""
        with quietly:
            for event in events:
                self._follow(event.data)
            if self._exchange.wanted(self.session_id):
                found = [frames.of_event(self.session_id, event.data) for event in events]
                self._publish([frame for frame in found if frame is not None])

    def _follow(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "turn.started":
                self._become("working")
            case "question.completed":
                self._question = None
                self._answer = None
                self._become(self._at_rest())
            case "turn.failed":
                self._question = None
                self._failing = self._failing or event["code"] == "llm_unavailable"
                self._become(self._at_rest(), always=True)

    def typing(self) -> None:
        """The respondent is writing an answer."""
        with quietly:
            if self._activity in ("thinking", "typing"):
                self._typing_until = self._now()
                self._become("typing")

    def answered(self, answer: Answer, turn_number: int) -> None:
        """An answer was taken."""
        with quietly:
            self._caption = None
            self._answer = WatchedTranscriptFinal(
                session_id=self.session_id,
                turn_number=turn_number,
                text=answer.text,
                kind=answer.kind,
                spoken=answer.spoken,
            )
            if self._exchange.wanted(self.session_id):
                self._publish([self._answer])

    def held(self, answer: Answer | None) -> None:
        """This answer waits for a moderator, or none does any more."""
        with quietly:
            self._become("held" if answer is not None else "working")

    def committed(self, before: InterviewState, after: InterviewState, record: TurnRecord | None = None) -> None:
        """The session changed."""
        with quietly:
            if record is not None:
                self._record = record
                self._failing = record.fallback or bool(record.fallbacks)
                self._answer = None
            if machine.is_over(after):
                self._question = self._caption = self._answer = None
                self._become("idle")
            elif self._activity not in ("working", "asking", "held", "speaking"):
                self._become(self._at_rest())
            self._check(self._now())
            if self._exchange.wanted(self.session_id):
                self._publish_commit(before, after, record)
            self._tell_row()

    def acted(self, action: Mapping[str, Any]) -> None:
        """A moderator's command took effect."""
        with quietly:
            told = frames.of_action(self.session_id, action)
            self._actions.append(told)
            if self._exchange.wanted(self.session_id):
                self._publish([told])

    def left(self) -> None:
        """The session does not live here any more."""
        with quietly:
            self._connected = False
            self._activity = "idle"
            self._exchange.unregister(self)

    def erased(self) -> None:
        """The session does not exist any more."""
        with quietly:
            self._exchange.publish_gone(self.session_id)

    # Time

    def tick(self, now: datetime) -> None:
        """Time has passed."""
        with quietly:
            if self._typing_until is not None and (now - self._typing_until).total_seconds() > TYPING_S:
                self._typing_until = None
                if self._activity == "typing":
                    self._become(self._at_rest())
            if self._check(now) or self._row_stale:
                self._tell_row()

    def _check(self, now: datetime) -> bool:
        """See whether the session needs a person; whether that has changed."""
        codes = codes_of(self._ledger.state, self._facts(), self._settings, now)
        new, over = self._standing.update(codes, now)
        for code in new:
            self._raised(self._ledger.state, code, now)
        if not new and not over:
            return False
        if self._exchange.wanted(self.session_id):
            self._publish([self._alerts()])
        return True

    # Telling

    def _at_rest(self) -> Activity:
        state = self._ledger.state
        if not self._connected or state.question is None or machine.is_over(state):
            return "idle"
        return "thinking"

    def _become(self, activity: Activity, *, always: bool = False) -> None:
        if activity == self._activity and not always:
            return
        if activity != self._activity:
            self._changed_at = self._now()
        self._activity = activity
        if self._exchange.wanted(self.session_id):
            self._publish([self._respondent()])
        if self._check(self._now()) or activity not in PASSING:
            self._tell_row()
        else:
            self._row_stale = True

    def _facts(self) -> Facts:
        return Facts(
            connected=self._connected,
            activity=self._activity,
            changed_at=self._changed_at,
            failing=self._failing,
            kiosk_offline=self.kiosk_offline,
            waiting=self._activity == "held",
        )

    def _respondent(self) -> Respondent:
        return Respondent(
            session_id=self.session_id,
            connected=self._connected,
            activity=self._activity,
            waiting=self._activity == "held",
        )

    def _alerts(self) -> Alerts:
        return Alerts(session_id=self.session_id, alerts=self._standing.view())

    def _tell_row(self) -> None:
        self._row_stale = False
        if not self._exchange.overview_wanted:
            return
        row = self.row()
        if row != self._told_row:
            self._told_row = row
            self._exchange.publish_row(row)

    def _publish_commit(self, before: InterviewState, after: InterviewState, record: TurnRecord | None) -> None:
        found: list[Message] = []
        if record is not None:
            found += frames.of_record(after, record, self._ledger.committed_ms)
        if before.nodes is not after.nodes or before.slots is not after.slots:
            found.append(frames.of_graphs(before, after, self._configuration))
        if frames.of_state(before) != frames.of_state(after):
            found.append(frames.of_state(after))
        self._publish(found, after.turn_count if record is not None else None)

    def _publish(self, found: Sequence[Message], committed_turn: int | None = None) -> None:
        if found:
            texts = [encode(message) for message in found]
            self._exchange.publish(self.session_id, self.rev, texts, committed_turn=committed_turn)

"""Follows one session that lives on this node, and tells moderators what changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import structlog

from config.alerts import AlertSettings
from pipeline.concept import SessionConfiguration
from pipeline.state import InterviewState
from pipeline.turn import Answer
from server.protocol.base import Message
from server.protocol.codec import encode
from server.protocol.outbound import (
    QuestionDelta,
    QuestionStarted,
    QuestionWithdrawn,
    SpeechStarted,
    SpeechStopped,
    TranscriptPartial,
)
from server.protocol.watched import Activity, AlertCode, OverviewItem, RunningQuestion, WatchedTranscriptFinal
from server.session import rules
from server.session.context import SessionContext
from server.session.events import (
    AnswerAccepted,
    AnswerHeld,
    EventsPublished,
    InterviewErased,
    MessageSent,
    RespondentConnected,
    RespondentTyping,
    SessionCommitted,
    SessionEvent,
    SessionReleased,
    SessionRests,
)
from server.watch import frames
from server.watch.alerts import codes_of
from server.watch.elements import coverage_frame, spirits_of
from server.watch.exchange import LiveExchange
from server.watch.live import LiveSession

log = structlog.get_logger("askwell.watch")

TYPING_S = 5.0
PASSING: frozenset[Activity] = frozenset({"working", "asking"})
"""Mostly over in a moment: the overview learns of them at the next tick, if they last so long."""
OnAlert = Callable[[InterviewState, AlertCode, datetime], None]
"""Called with every new alert."""


class Reporter:
    """Observes one session.

    Args:
        session: the session.
        exchange: where news are sent.
        settings: when something needs a person.
        now: wall clock, with zone.
        on_alert: called with every new alert.
    """

    def __init__(
        self,
        session: SessionContext,
        exchange: LiveExchange,
        settings: AlertSettings,
        now: Callable[[], datetime],
        on_alert: OnAlert,
    ) -> None:
        self.live = LiveSession(session.ledger)
        """What is known of the session."""
        self._configuration: SessionConfiguration = session.configuration
        self._exchange = exchange
        self._settings = settings
        self._now = now
        self._on_alert = on_alert
        self._typing_until: datetime | None = None
        self._row_stale = False
        self._told_row: OverviewItem | None = None
        exchange.register(self.live)

    @property
    def session_id(self) -> str:
        """The session."""
        return self.live.session_id

    @property
    def _wanted(self) -> bool:
        """Whether anybody watches the session."""
        return self._exchange.wanted(self.session_id)

    def observe(self, event: SessionEvent) -> None:
        """Follow what happens."""
        live = self.live
        match event:
            case MessageSent(message=message):
                self._follow_message(message)
                if self._wanted:
                    self._publish(frames.of_message(live.session_id, message))
            case EventsPublished(events=events):
                for one in events:
                    self._follow_event(one.data)
                if self._wanted:
                    self._publish(*(frames.of_event(live.session_id, one.data) for one in events))
            case AnswerAccepted(answer=answer, turn_number=number):
                self._follow_answer(answer, number)
            case SessionCommitted():
                self._follow_commit(event)
            case RespondentConnected(connected=connected) if connected != live.connected:
                live.connected = connected
                live.changed_at = self._now()
                busy = live.activity in ("working", "asking", "held")
                self._become(live.activity if busy else live.at_rest, always=True)
            case RespondentTyping() if live.activity in ("thinking", "typing"):
                self._typing_until = self._now()
                self._become("typing")
            case AnswerHeld(answer=held):
                self._become("held" if held is not None else "working")
            case SessionRests():
                live.rest()
            case InterviewErased():
                self._exchange.publish_gone(self.session_id)
            case SessionReleased():
                live.connected, live.activity = False, "idle"
                self._exchange.unregister(live)

    def _follow_message(self, message: Message) -> None:
        live = self.live
        match message:
            case QuestionStarted():
                live.question = RunningQuestion(turn_number=message.turn_number, attempt=message.attempt, text="")
                self._become("asking")
            case QuestionDelta() if live.question is not None:
                live.question = live.question.model_copy(update={"text": live.question.text + message.text})
            case QuestionWithdrawn():
                live.question = None
                self._become(live.at_rest)
            case TranscriptPartial():
                live.caption = message
                self._become("speaking")
            case SpeechStarted():
                self._become("speaking")
            case SpeechStopped():
                self._become(live.at_rest)

    def _follow_event(self, event: Mapping[str, Any]) -> None:
        live = self.live
        match event.get("type"):
            case "turn.started":
                self._become("working")
            case "question.completed" | "interviewer.replied":
                live.question = live.answer = None
                self._become(live.at_rest)
            case "turn.failed":
                live.question = None
                live.failing = live.failing or event["code"] == "llm_unavailable"
                self._become(live.at_rest, always=True)

    def _follow_answer(self, answer: Answer, turn_number: int) -> None:
        self.live.caption = None
        self.live.answer = WatchedTranscriptFinal(
            session_id=self.session_id,
            turn_number=turn_number,
            text="" if answer.kind == "rate" else answer.text,
            kind=answer.kind,
            spoken=answer.spoken,
        )
        self._publish(self.live.answer)

    def _follow_commit(self, event: SessionCommitted) -> None:
        live, before, after, record = self.live, event.before, event.after, event.record.turn
        if record is not None:
            live.decided(record)
            live.failing = record.fallback or bool(record.fallbacks)
            live.answer = None
        if rules.is_over(after):
            live.question = live.caption = live.answer = None
            self._become("idle")
        elif live.activity not in ("working", "asking", "held", "speaking"):
            self._become(live.at_rest)
        self._check(self._now())
        if self._wanted:
            found: list[Message] = []
            if record is not None:
                found += frames.of_record(after, record, live.ledger.committed_ms)
            found += frames.of_second_readings(before, after)
            if before.nodes is not after.nodes or before.slots is not after.slots:
                found.append(frames.of_graphs(before, after, self._configuration))
            if spirits_of(before) != spirits_of(after) or before.coverage != after.coverage:
                found.append(coverage_frame(after, self._configuration))
            if frames.of_state(before) != frames.of_state(after):
                found.append(frames.of_state(after))
            self._publish(*found, committed_turn=after.turn_count if record is not None else None)
        self._tell_row()
        if event.record.action is not None:
            action = frames.of_action(self.session_id, event.record.action)
            live.acted(action)
            self._publish(action)

    # Time

    def tick(self, now: datetime) -> None:
        """Time has passed."""
        if self._typing_until is not None and (now - self._typing_until).total_seconds() > TYPING_S:
            self._typing_until = None
            if self.live.activity == "typing":
                self._become(self.live.at_rest)
        if self._check(now) or self._row_stale:
            self._tell_row()

    def _check(self, now: datetime) -> bool:
        """Check whether the session needs a person; whether that has changed."""
        new, over = self.live.alerts.update(codes_of(self.live.state, self.live.facts, self._settings, now), now)
        for code in new:
            self._on_alert(self.live.state, code, now)
        if not new and not over:
            return False
        self._publish(self.live.alerts_frame())
        return True

    # Telling

    def _become(self, activity: Activity, *, always: bool = False) -> None:
        live = self.live
        if activity == live.activity and not always:
            return
        if activity != live.activity:
            live.changed_at = self._now()
            # A respondent whose connection comes and goes doesn't make their answer wait anew.
            live.waits_since = live.changed_at if activity == "held" else None
        live.activity = activity
        if self._wanted:
            self._publish(live.respondent_frame())
        if self._check(self._now()) or activity not in PASSING:
            self._tell_row()
        else:
            self._row_stale = True

    def _tell_row(self) -> None:
        self._row_stale = False
        if not self._exchange.overview_wanted:
            return
        row = self.live.row()
        if row != self._told_row:
            self._told_row = row
            self._exchange.publish_row(row)

    def _publish(self, *found: Message | None, committed_turn: int | None = None) -> None:
        """Send frames to whoever watches the session."""
        texts = [encode(message) for message in found if message is not None]
        if texts and self._wanted:
            self._exchange.publish(self.session_id, self.live.rev, texts, committed_turn=committed_turn)

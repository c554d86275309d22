"""What moderators see of a session that lives on this node and that no stored state says."""

from __future__ import annotations

import json
import zlib
from datetime import datetime
from typing import Any

from pipeline.contracts import TurnRecord
from pipeline.state import InterviewState
from server.protocol.base import Message
from server.protocol.codec import encode
from server.protocol.outbound import TranscriptPartial
from server.protocol.watched import (
    Action,
    Activity,
    Alerts,
    OverviewItem,
    Respondent,
    RunningQuestion,
    WatchedQuestionDelta,
    WatchedQuestionStarted,
    WatchedTranscriptFinal,
    WatchedTranscriptPartial,
)
from server.session import rules
from server.session.ledger import Ledger
from server.watch import frames
from server.watch.alerts import ActiveAlerts, Facts
from server.watch.rows import row_of

KEPT_ACTIONS = 50


class LiveSession:
    """One session, as `Reporter` follows it.

    Args:
        ledger: the session.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.connected = False
        """Whether a respondent is connected."""
        self.activity: Activity = "idle"
        """What the respondent is doing, or the interviewer."""
        self.changed_at: datetime = ledger.outline.updated_at
        """When one of the two last changed."""
        self.waits_since: datetime | None = None
        """Since when an answer waits for a moderator; None if none does."""
        self.failing = False
        """Whether a model failed in the latest turn."""
        self.kiosk_offline = False
        """Whether the session's device is not heard of."""
        self._record: TurnRecord | None = None
        self._packed: bytes | None = None
        """The frames with the latest decision while the session rests: a record is half a megabyte of objects."""
        self.question: RunningQuestion | None = None
        """The question that is being made."""
        self.caption: TranscriptPartial | None = None
        """What the respondent is saying."""
        self.answer: WatchedTranscriptFinal | None = None
        """The answer that is worked on."""
        self.actions: list[Action] = []
        """What moderators did here lately: the store learns of it later than the state does."""
        self.alerts = ActiveAlerts()
        """Why the session needs a person."""

    @property
    def session_id(self) -> str:
        """The session."""
        return self.ledger.session_id

    @property
    def rev(self) -> int:
        """Its revision."""
        return self.ledger.outline.rev

    @property
    def state(self) -> InterviewState:
        """The session after its last commit, without graphs and histories while it rests."""
        return self.ledger.outline

    def acted(self, action: Action) -> None:
        """A moderator did something here."""
        self.actions = [*self.actions, action][-KEPT_ACTIONS:]

    def decided(self, record: TurnRecord) -> None:
        """There is a record of the latest turn."""
        self._record, self._packed = record, None

    def rest(self) -> None:
        """Keep little until the next turn."""
        if self._record is not None:
            self._packed = zlib.compress(json.dumps(self._decision()).encode())
            self._record = None

    def _decision(self) -> list[str]:
        """Frames with the latest decision."""
        if self._packed is not None:
            kept: list[str] = json.loads(zlib.decompress(self._packed))
            return kept
        if self._record is None:
            return []
        return [encode(one) for one in frames.of_record(self.ledger.state, self._record, self.ledger.committed_ms)]

    @property
    def at_rest(self) -> Activity:
        """What the respondent is doing when nothing is known of it."""
        state = self.state
        if not self.connected or state.question is None or rules.is_over(state):
            return "idle"
        return "thinking"

    @property
    def facts(self) -> Facts:
        """What alerts and rows are made of, besides the state."""
        return Facts(
            connected=self.connected,
            activity=self.activity,
            changed_at=self.changed_at,
            failing=self.failing,
            kiosk_offline=self.kiosk_offline,
            waits_since=self.waits_since,
        )

    def row(self) -> OverviewItem:
        """Its row of the overview."""
        return row_of(self.state, self.facts, self.alerts.view())

    def snapshot(self) -> dict[str, Any]:
        """What a snapshot says besides the state."""
        return {
            "respondent": {"connected": self.connected, "activity": self.activity},
            "partial": self.caption.text if self.caption is not None else None,
            "alerts": [alert.model_dump() for alert in self.alerts.view()],
            "waiting": self.activity == "held",
            "held_answer": self.answer.text if self.answer is not None else None,
        }

    def respondent_frame(self) -> Respondent:
        """Who is there, doing what."""
        return Respondent(
            session_id=self.session_id,
            connected=self.connected,
            activity=self.activity,
            waiting=self.activity == "held",
        )

    def alerts_frame(self) -> Alerts:
        """Why the session needs a person."""
        return Alerts(session_id=self.session_id, alerts=self.alerts.view())

    def frames(self) -> list[str]:
        """Frames that say what no stored state says."""
        session_id = self.session_id
        found: list[Message] = [self.respondent_frame(), self.alerts_frame()]
        if self.answer is not None:
            found.append(self.answer)
        if self.caption is not None:
            caption = self.caption
            found.append(WatchedTranscriptPartial(session_id=session_id, text=caption.text, stable=caption.stable))
        if self.question is not None:
            number, attempt, text = self.question.turn_number, self.question.attempt, self.question.text
            found.append(WatchedQuestionStarted(session_id=session_id, turn_number=number, attempt=attempt))
            if text:
                found.append(
                    WatchedQuestionDelta(session_id=session_id, turn_number=number, attempt=attempt, text=text)
                )
        shown = [encode(message) for message in found]
        return [*shown, *self._decision(), *(encode(action) for action in self.actions)]

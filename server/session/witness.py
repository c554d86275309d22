"""What happens to a session, told to whoever shows it to moderators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.state import InterviewState
from pipeline.turn import Answer
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.session.ledger import Ledger


class Witness(Protocol):
    """Told what happens to one session. Never waits, never fails: nobody's interview may depend on it."""

    def attended(self, present: bool) -> None:
        """A respondent came, or went."""
        ...

    def said(self, message: Message) -> None:
        """Something ephemeral was sent to the respondent."""
        ...

    def told(self, events: Sequence[DurableEvent]) -> None:
        """Durable events were sent to the respondent."""
        ...

    def typing(self) -> None:
        """The respondent is writing an answer."""
        ...

    def answered(self, answer: Answer, turn_number: int) -> None:
        """An answer was taken; its turn has that number."""
        ...

    def held(self, answer: Answer | None) -> None:
        """This answer waits for a moderator; None: no answer does any more."""
        ...

    def committed(self, before: InterviewState, after: InterviewState, record: TurnRecord | None = None) -> None:
        """The session changed; `record` is that of a turn."""
        ...

    def acted(self, action: Mapping[str, Any]) -> None:
        """A moderator's command took effect; `action` is what the record says of it."""
        ...

    def left(self) -> None:
        """The session does not live here any more."""
        ...


class Witnesses(Protocol):
    """Gives every session that lives here a witness."""

    def of(self, ledger: Ledger, configuration: SessionConfiguration) -> Witness:
        """The witness of a session that begins to live here."""
        ...


class NoWitness:
    """Nobody is told."""

    def attended(self, present: bool) -> None:
        """Nothing."""

    def said(self, message: Message) -> None:
        """Nothing."""

    def told(self, events: Sequence[DurableEvent]) -> None:
        """Nothing."""

    def typing(self) -> None:
        """Nothing."""

    def answered(self, answer: Answer, turn_number: int) -> None:
        """Nothing."""

    def held(self, answer: Answer | None) -> None:
        """Nothing."""

    def committed(self, before: InterviewState, after: InterviewState, record: TurnRecord | None = None) -> None:
        """Nothing."""

    def acted(self, action: Mapping[str, Any]) -> None:
        """Nothing."""

    def left(self) -> None:
        """Nothing."""


class NobodyWatches:
    """Gives witnesses to nobody."""

    def of(self, ledger: Ledger, configuration: SessionConfiguration) -> Witness:
        """One that does nothing."""
        return NoWitness()

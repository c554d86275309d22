"""What an interview remembers of its conduct."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pipeline.acts import Act
from pipeline.conduct.policy import OfferName
from pipeline.records import Record

Asked = Literal["", "stop", "pause", "withdrawal", "withdrawal_again", "age", "distress", "correction", "risk"]
"""What the interviewer asked back about; empty where nothing was."""
Care = Literal["risk", "distress", "minor"]


class CareAlert(Record):
    """A reason for a person to look: since when, and who has acknowledged it.

    `faint`: so little was heard of it that nothing was said to the respondent.
    """

    code: Care
    turn_number: int
    since: datetime
    acknowledged_by: str | None = None
    faint: bool = False


class ConductState(Record):
    """What an interview remembers of its conduct.

    `offers` are what can be chosen now. `waiting` says that the respondent asked for a pause. `stopping_until` is when
    a stop takes effect; `stopped_question` and `stopped_status` are restored if it is taken back. `held_until` is when
    an interview with somebody under age is erased; `released_by` is who let it go nevertheless. `dont_knows` counts
    them in a row, `eased` how often an easier question was asked because of them. `denied` are acts that the
    respondent, asked back, did not mean; `answered` says that the message which was asked back about had answered the
    question, too.
    """

    repairs_in_a_row: int = 0
    asked: Asked = ""
    asked_age: bool = False
    offers: tuple[OfferName, ...] = ()
    distressed: int = 0
    dont_knows: int = 0
    eased: int = 0
    denied: tuple[Act, ...] = ()
    answered: bool = False
    asked_back_turn: int | None = None
    waiting: bool = False
    stopping_until: datetime | None = None
    held_until: datetime | None = None
    released_by: str | None = None
    withdrawing: bool = False
    alerts: tuple[CareAlert, ...] = ()

    @property
    def held_back(self) -> bool:
        """Whether the interview is kept from exports and models."""
        return self.held_until is not None and self.released_by is None

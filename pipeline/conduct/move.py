"""The move of a turn: what the interviewer does, with the moment that it is decided on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.acts import PUT_RIGHT_AT_ONCE, Act, HeardAct, told
from pipeline.conduct.policy import ConductPolicy, ConductTexts, OfferName
from pipeline.conduct.state import Asked, Care, ConductState

Then = Literal["stands", "again", "simpler", "engine", "easier", "stop", "hold", "withdraw"]
"""How it goes on: the question stands unsaid, is said again, or in simpler words; the engine chooses the next one; an
easier one is asked; the interview stops, is held back, or is erased."""


@dataclass(frozen=True)
class Move:
    """What the interviewer does instead of, or before, asking the next question.

    `text` is said; where a question follows (`again`, `simpler`, `engine`, `easier`), it comes before it. `counts` says
    that a turn of the interview is used. `asks` is what the reply asks back about. `declines_focus` closes the subject
    of the present question; `leaves_thread` leaves the ladder it is on as well, `leaves_answer` what this message says;
    `tells_on` says that a refusal stands beside something that is told at length, and may be asked about;
    `retracts` are the words of a correction that are wrong, empty where the respondent did not
    say them, None where nothing is corrected. `handed` is the text that a language model is to say in its own words,
    for where these can't be used. `answered` says of what is asked back that the message has answered the
    question all the same, so that it is not put again.
    """

    act: Act
    text: str
    then: Then
    counts: bool = False
    offers: tuple[OfferName, ...] = ()
    help: str = ""
    alert: Care | None = None
    asks: Asked = ""
    declines_focus: bool = False
    leaves_focus: bool = False
    leaves_thread: bool = False
    leaves_answer: bool = False
    tells_on: bool = False
    retracts: str | None = None
    handed: str = ""
    right: str = ""
    answered: bool = False


@dataclass(frozen=True)
class Moment:
    """What a move is decided on.

    `said` is the message, `acts` what was heard in it, `turn_number` the turn it would be. `questions_left` are those
    that may follow at most; `spoken` says that it was transcribed from speech; `kiosk` that the interview runs on a
    device. `helpline` is the concept's text, if it has one. `closing` says that the closing question was asked,
    `comparing` that the question is a step of a repertory grid, which no easier one can stand for. `shown` says that
    the respondent was shown an idea, so that a question about anything else is about that; `asks_idea` that the message
    asks something about it. `told_last` is what they told before this message, `grown_up` that some of what they told
    only grown-ups tell.
    """

    said: str
    acts: tuple[HeardAct, ...]
    conduct: ConductState
    policy: ConductPolicy
    turn_number: int
    questions_left: int
    topic: str
    minimum_age: int
    facts: dict[str, str]
    helpline: str = ""
    kiosk: bool = False
    spoken: bool = False
    closing: bool = False
    comparing: bool = False
    shown: bool = False
    asks_idea: bool = False
    told_last: str = ""
    grown_up: bool = False

    @property
    def texts(self) -> ConductTexts:
        """What the interviewer says."""
        return self.policy.texts

    @property
    def told_words(self) -> int:
        """Number of words that tell."""
        return len(told(self.said, self.acts).split())

    def find(self, act: Act) -> HeardAct | None:
        """The first such act of the message, a sure one before others."""
        found = [heard for heard in self.acts if heard.act == act and heard.about != PUT_RIGHT_AT_ONCE]
        return next((heard for heard in found if heard.sure), found[0] if found else None)

    def variant(self, texts: Sequence[str]) -> str:
        """One of several wordings, another one each turn."""
        return texts[(self.turn_number + self.conduct.repairs_in_a_row) % len(texts)]

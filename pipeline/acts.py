"""Dialogue acts: what people do with a message, besides telling."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from pipeline.records import Record

Act = Literal[
    "tells",
    "dont_know",
    "declines",
    "asks_back",
    "asks_interviewer",
    "corrects",
    "complains",
    "wants_topic",
    "wants_pause",
    "wants_stop",
    "wants_withdrawal",
    "distress",
    "risk",
    "aside",
    "thanks_greets",
    "personal_data",
    "minor",
]
ACTS: tuple[Act, ...] = get_args(Act)

Hearer = Literal["rules", "model", "offer"]
"""Who heard an act: the rules, a language model, or the respondent chose it from what was offered."""


class HeardAct(Record):
    """One act with its words: the characters from `start` to `end` of the message.

    `sure` says that it may be acted upon; else it is asked back first. `about` narrows it down, such as what was asked
    of the interviewer. `details` are parts of the words by name: the `wrong` and the `right` of a correction, the
    `topic` that somebody would rather talk about, an `age`.
    """

    act: Act
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sure: bool = True
    about: str = ""
    details: dict[str, str] = {}
    heard_by: Hearer = "rules"


def words_of(text: str, act: HeardAct) -> str:
    """The words of an act."""
    return text[act.start : act.end]


def told(text: str, acts: tuple[HeardAct, ...]) -> str:
    """What of a message is content; all of it where no acts were heard.

    The parts in between are dropped, and the others stand as they were said, with a blank line between them so that no
    two of them run into one sentence.
    """
    if not acts:
        return text
    parts = [words_of(text, act).strip() for act in acts if act.act == "tells"]
    return "\n\n".join(part for part in parts if part)

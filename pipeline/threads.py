"""What an interviewer follows: a ladder, a line of a story, a force."""

from __future__ import annotations

from typing import Literal

from pipeline.records import Record

ThreadKind = Literal["ladder", "story", "force"]
ThreadEnd = Literal["", "terminal", "declined", "exhausted", "distressed"]


class Thread(Record):
    """One thread: the identities it runs through, the last of which is its head.

    `ended` says why it is not open any more, empty while it is. `left_turn` is the turn that went on with something
    else; `promised` says that the interviewer told the respondent to come back to it.
    """

    id: str
    kind: ThreadKind
    keys: tuple[str, ...]
    purpose: str = ""
    ended: ThreadEnd = ""
    began_turn: int
    left_turn: int | None = None
    promised: bool = False

    @property
    def head(self) -> str:
        """The identity reached last."""
        return self.keys[-1]

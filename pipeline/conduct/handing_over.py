"""What is left to a language model to answer, in its own words before its question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pipeline.acts import Act, HeardAct
from pipeline.conduct.move import Move

ITS_OWN: Final[frozenset[Act]] = frozenset({"corrects", "complains", "wants_topic"})
"""Acts of which it hears what was done, and says whatever belongs there."""
OF_NO_FACT: Final = frozenset({"", "other", "opinion"})
"""What a question to the interviewer is about that none of the policy's facts answers for who asks it."""


def handed_over(move: Move, acts: Sequence[HeardAct], said: Sequence[str] = ()) -> Move:
    """The same move; without words of its own where the model that writes the next question finds better ones.

    What ends, pauses or erases an interview, what a person in need hears and facts of the study stay as the policy
    says.

    Args:
        move: what the policy would do.
        acts: heard in the message.
        said: what the interviewer has said so far; no fact is recited twice.
    """
    if move.act == "asks_interviewer":
        about = {act.about for act in acts if act.act == "asks_interviewer" and act.sure}
        again = bool(move.text) and any(move.text in one for one in said)
        left = move.then == "engine" and (about <= OF_NO_FACT or again)
        return replace(move, text="", help="", handed="" if again else move.text) if left else move
    if move.act == "declines" and move.then == "engine":
        # Whether it is one, and of what, the model reads better.
        return replace(move, text="", help="", handed=move.text)
    told = move.act == "wants_topic" and move.then == "easier"
    if move.act in ITS_OWN and (move.then == "engine" or told):
        if told:  # What it says asks to go on, and stands before no question.
            return replace(move, text="", help="", then="engine", counts=True)
        return replace(move, text="", help="", handed=move.text)
    return move

"""Bridges: sentences that lead back to something said before the last answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.question.text import words

_SPOKEN_BRIDGE = re.compile(
    r"^(?:earlier|a (?:little )?while ago|a moment ago|before,? you|coming back to|going back to|"
    r"let me (?:come|go) back|"
    r"i'd like to (?:come|go) (?:back|return)|returning to|to return to|back to|you also|at the (?:start|beginning)|"
    r"vorhin|zurück zu|ich komme|noch einmal zu)\b",
    re.I,
)


def has_bridge(question: str) -> bool:
    """Whether a question opens by pointing back to something said earlier."""
    return bool(_SPOKEN_BRIDGE.match(question.strip()))


def bridge_for(
    distance_turns: int, bridges: Sequence[str], distant: Sequence[str], recent_questions: Sequence[str], pick: int
) -> str:
    """A bridge sentence that none of the recent questions used, if there is one left.

    Args:
        distance_turns: turns since the concept was last mentioned.
        bridges: sentences for something said a turn or two ago, with a slot `{x}`.
        distant: sentences for something said longer ago.
        recent_questions: earlier questions, oldest first.
        pick: any number; the same number picks the same bridge from the same choice.
    """
    pool = list(distant if distance_turns >= 4 and distant else bridges)
    said = [" ".join(words(question)) for question in recent_questions]
    fresh = [bridge for bridge in pool if not any(" ".join(words(bridge.split("{x}")[0])) in text for text in said)]
    return (fresh or pool)[pick % len(fresh or pool)]

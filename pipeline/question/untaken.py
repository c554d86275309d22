"""What a respondent opened in earlier answers and no question took up, in English."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from pipeline.ports import Line
from pipeline.question.patterns import word_set
from pipeline.question.text import sentences, words

MOST: Final = 3
"""Sentences that are told of: what carries much, then what was said first."""
RECENT: Final = 2
"""The latest answers, which can still be taken up as they stand."""
SHORTEST, LONGEST = 5, 30
"""Words of a sentence that opens something."""
STEM: Final = 4
"""Letters by which two words are compared, and that a word has at least that tells something."""
TOLD_ON: Final = 3
"""Words that a later answer shares with a sentence where it tells on about it."""
_OWN = re.compile(r"\b(?:i|i'?m|i'?ve|my|me|we|our|us)\b", re.IGNORECASE)
_CLOSED = re.compile(r"\?\s*$|\b(?:that'?s (?:all|it)|anyway|never mind|rather not|leave (?:it|that))\b", re.IGNORECASE)
_COMMON = word_set(
    "that this these those there their them they then than with from into over under about after before again "
    "because since while when where what which though just only even also very much many most more less some such "
    "other another each every have having been being does doing done were will would could should might must make "
    "makes made goes going gets getting comes coming come really quite rather always never often sometimes well "
    "right fine okay sure time times thing things something anything nothing everything people person kind sort "
    "good nice great long little know think thought mean said told want wanted like liked look looked still here "
    "your yours mine it's i'm i've don't didn't can't couldn't wasn't that's there's what's tell told feel felt"
)


def untaken(lines: Sequence[Line], closed: Collection[str] = (), salient: Collection[str] = ()) -> tuple[str, ...]:
    """Sentences of earlier answers that opened something and were left, in the order they were said in.

    Args:
        lines: of the conversation, oldest first.
        closed: texts of answers whose subject the respondent closed.
        salient: the respondent's words that carry much; a sentence that has some goes before others.
    """
    answers = [at for at, line in enumerate(lines) if line.speaker == "respondent"]
    found = []
    for at in answers[:-RECENT]:
        if lines[at].text in closed:
            continue
        asked = set().union(*(_stems(line.text) for line in lines[at + 1 :] if line.speaker == "interviewer"))
        later = [_stems(line.text) for line in lines[at + 1 :] if line.speaker == "respondent"]
        for sentence in sentences(lines[at].text):
            own = _stems(sentence)
            if (
                not SHORTEST <= len(sentence.split()) <= LONGEST
                or not _OWN.search(sentence)
                or _CLOSED.search(sentence)
            ):
                continue
            if own and not own & asked and all(len(own & told) < TOLD_ON for told in later):
                weight = sum(words_of in sentence for words_of in salient)
                found.append((weight, -at, len(own), sentence))
    kept = {sentence for *_, sentence in sorted(found, reverse=True)[:MOST]}
    return tuple(sentence for *_, sentence in found if sentence in kept)


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in words(text) if len(word) >= STEM and word not in _COMMON}

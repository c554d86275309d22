"""What was said of a spoken answer, from words with places to an answer and its event; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from audio.types import Word, ms
from pipeline.turn import Answer


def plain(text: str) -> str:
    """Text as an answer keeps it: single blanks, none at the ends."""
    return " ".join(text.split())


def echoes(text: str, question: str) -> bool:
    """Whether a text is (nearly) made of the words of a question, as a loudspeaker brings them back: at most 30 % of
    four words or more are others, or none of fewer.
    """
    asked = set(_words(question))
    words = _words(text)
    other = sum(word not in asked for word in words)
    return other == 0 or (len(words) >= 4 and other < 0.3 * len(words))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


@dataclass(frozen=True, slots=True)
class Said:
    """Pieces of one answer in order; places of words are samples from the start of the answer."""

    texts: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()

    def plus(self, text: str, words: Sequence[Word], base: int) -> Said:
        """With one more piece, which began `base` samples after the start of the answer."""
        kept = plain(text)
        if not kept:
            return self
        moved = tuple(replace(word, start=word.start + base, end=word.end + base) for word in words)
        return Said((*self.texts, kept), (*self.words, *moved))

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(self.texts)

    def answer(self, turn_key: str) -> Answer:
        """The answer."""
        words = self.words
        return Answer(
            turn_key=turn_key,
            text=self.text,
            spoken=True,
            confidence=round(fmean(word.probability for word in words), 3) if words else None,
            speech_ms=ms(max(0, words[-1].end - words[0].start)) if words else None,
        )

    def event(self, turn_key: str, last_seq: int | None) -> dict[str, Any]:
        """The durable event that tells of it, without id."""
        return {
            "type": "transcript.final",
            "turn_key": turn_key,
            "text": self.text,
            "words": [
                {
                    "text": word.text.strip(),
                    "start_ms": ms(max(0, word.start)),
                    "end_ms": ms(max(0, word.end)),
                    "confidence": round(word.probability, 3),
                }
                for word in self.words
            ],
            "last_seq": last_seq,
        }

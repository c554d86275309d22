"""The transcript of a spoken answer, and the answer it makes; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from audio.types import Word, ms
from pipeline.turn import Answer
from server.speech.measure import EndReason


def one_line(text: str) -> str:
    """Text as an answer keeps it: single blanks, none at the ends."""
    return " ".join(text.split())


def is_echo(text: str, question: str) -> bool:
    """Whether a transcript is what a loudspeaker said: every word of it is in the question, or, of four words or more,
    fewer than 30 % are not. True of a text without words.
    """
    asked = set(_words(question))
    words = _words(text)
    other = sum(word not in asked for word in words)
    return other == 0 or (len(words) >= 4 and other < 0.3 * len(words))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


@dataclass(frozen=True, slots=True)
class SpokenTranscript:
    """The parts of one answer in order; positions of words are samples from the start of the answer."""

    texts: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()

    def plus(self, text: str, words: Sequence[Word], base: int) -> SpokenTranscript:
        """With one more part, which began `base` samples after the start of the answer."""
        kept = one_line(text)
        if not kept:
            return self
        moved = tuple(replace(word, start=word.start + base, end=word.end + base) for word in words)
        return SpokenTranscript((*self.texts, kept), (*self.words, *moved))

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(self.texts)

    @property
    def length(self) -> int:
        """Samples from its first word to its last; 0 without words."""
        return max(0, self.words[-1].end - self.words[0].start) if self.words else 0

    def answer(self, turn_key: str) -> Answer:
        """The answer."""
        words = self.words
        return Answer(
            turn_key=turn_key,
            text=self.text,
            spoken=True,
            confidence=round(fmean(word.probability for word in words), 3) if words else None,
            speech_ms=ms(self.length) if words else None,
        )

    def event(self, turn_key: str, last_seq: int | None) -> dict[str, Any]:
        """Its durable event `transcript.final`, without id."""
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


@dataclass(frozen=True, slots=True)
class HeardAnswer:
    """A spoken answer that is over.

    Args:
        turn_key: the client's key.
        transcript: what was understood.
        ended_by: what ended it.
        audio_s: how much audio came, in seconds.
        spoken_at: when the audio of its last word arrived, in seconds of the clock; None without words.
        last_seq: number of the last frame that belongs to it.
        early: some of it was said before an answer could be taken.
        damaged: a part of the audio is missing.
        error: why some of it could not be transcribed; empty if it could.
        sound: its samples, where recording was agreed to; else empty.
        ended_at: when it was over unless its speaker went on, in seconds of the clock; None if it ended at once.
        reopened: how often its speaker went on after such an end.
    """

    turn_key: str
    transcript: SpokenTranscript
    ended_by: EndReason
    audio_s: float
    spoken_at: float | None
    last_seq: int | None
    early: bool
    damaged: bool
    error: str
    sound: Callable[[], bytes]
    ended_at: float | None = None
    reopened: int = 0

"""Scripted answers: audio that carries its own places, probabilities to go with it, and who transcribes it.

Each frame's first samples hold the frame's number, so what is transcribed says which part of the answer it is, however
it was cut and joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audio.endpoint import FRAME_SAMPLES, Probabilities
from audio.errors import TranscriberFailed
from audio.types import Purpose, Samples, Transcript, Word

MARK = 3
"""Samples at the start of a frame that hold its number: a sign and two digits of base DIGIT."""
SIGN, DIGIT = -12_345, 10_000
WORD_FRAMES = 10
"""A scripted word takes 320 ms, with a frame of silence-like dip after it."""


@dataclass(frozen=True)
class Said:
    """A word with its first frame and the frame after its last."""

    text: str
    first: int
    end: int


@dataclass(frozen=True)
class Script:
    """An answer: words, and how likely speech is in each frame."""

    words: tuple[Said, ...]
    probabilities: Probabilities

    @property
    def frames(self) -> int:
        return len(self.probabilities)

    @property
    def samples(self) -> Samples:
        return np.concatenate([marked(n) for n in range(self.frames)])

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


def marked(frame: int, length: int = FRAME_SAMPLES) -> Samples:
    """A frame that says its number."""
    samples = np.full(length, 1000, np.int16)
    samples[:MARK] = (SIGN, frame // DIGIT, frame % DIGIT)
    return samples


def marks(samples: Samples) -> list[int]:
    """The numbers of the frames in a stretch."""
    starts = [n for n in np.flatnonzero(samples == SIGN) if n + 2 < len(samples)]
    return [int(samples[n + 1]) * DIGIT + int(samples[n + 2]) for n in starts]


def script(*parts: str | float, word_frames: int = WORD_FRAMES, tail_s: float = 4.0) -> Script:
    """An answer from words and silences: `script("I like", 0.4, "tea.")`; numbers are seconds of silence.

    A part such as "*3" is a sound of 3 frames without words.
    """
    words: list[Said] = []
    probabilities: list[float] = []
    for part in (0.5, *parts, tail_s):
        if isinstance(part, str) and part.startswith("*"):
            probabilities += [0.9] * int(part[1:])
        elif isinstance(part, str):
            for text in part.split():
                words.append(Said(text, len(probabilities), len(probabilities) + word_frames))
                probabilities += [0.9] * word_frames
        else:
            probabilities += [0.02] * round(part * 16_000 / FRAME_SAMPLES)
    return Script(tuple(words), np.array(probabilities, np.float32))


class ScriptedTranscriber:
    """Hears the words of a script whose frames it is given; of a word cut in two it hears a half."""

    def __init__(self, answer: Script, *, failures: Sequence[int] = ()) -> None:
        self._answer = answer
        self._failures = set(failures)
        self.calls: list[tuple[Purpose, tuple[int, ...]]] = []

    def read(self, samples: Samples, offset: int) -> Transcript:
        """The words in these samples, placed as a transcriber places them."""
        frames = marks(samples)
        where = {frame: n for n, frame in enumerate(frames)}
        found: list[Word] = []
        for word in self._answer.words:
            inside = [where[n] for n in range(word.first, word.end) if n in where]
            if not inside:
                continue
            whole = len(inside) == word.end - word.first
            text = word.text if whole else half(word.text, first=(word.first in where))
            start, end = offset + inside[0] * FRAME_SAMPLES, offset + (inside[-1] + 1) * FRAME_SAMPLES
            found.append(Word(text, start, end, 0.9))
        return Transcript(" ".join(word.text for word in found), tuple(found))

    async def transcribe(
        self, samples: Samples, *, language: str, purpose: Purpose, before: str = "", offset: int = 0
    ) -> Transcript:
        self.calls.append((purpose, tuple(marks(samples))))
        if len(self.calls) - 1 in self._failures:
            raise TranscriberFailed("scripted")
        return self.read(samples, offset)


def half(text: str, *, first: bool) -> str:
    """What is heard of a word of which a part is missing: never a word of any script."""
    return f"{text[:1]}~" if first else f"~{text[-1:]}"


class ScriptedStream:
    """Says the script's probabilities, frame after frame; silence after the script."""

    def __init__(self, answer: Script) -> None:
        self._answer = answer
        self._taken = 0
        self._rest = 0

    def push(self, samples: Samples) -> Probabilities:
        count, self._rest = divmod(self._rest + len(samples), FRAME_SAMPLES)
        first, self._taken = self._taken, self._taken + count
        known = self._answer.probabilities[first : self._taken]
        return np.concatenate([known, np.zeros(count - len(known), np.float32)])


class ScriptedActivity:
    """Opens one script's stream after another."""

    def __init__(self, *answers: Script) -> None:
        self._answers = list(answers)

    def open(self) -> ScriptedStream:
        return ScriptedStream(self._answers.pop(0))

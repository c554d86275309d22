"""One stretch of audio decoded with care: a short encoder context, a guard against loops, gates against phantoms.

What runs the model is an `Engine`; this module decides what to ask of it and what to believe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audio.gates import is_phantom
from audio.loops import is_loop, repetition
from audio.types import RATE_HZ, Samples, Transcript, Word

SHORTEST = RATE_HZ // 10
"""Samples in which nobody says a word; less is not decoded."""
FULL_CONTEXT_S = 30
"""What Whisper's encoder was trained on."""
MIN_CONTEXT_S = 10
"""With less the model loops."""
LONGEST_WORD_S = 2.0
"""Nobody takes longer to say a word, the silence beside it included; of a window no more is kept."""
LEAST_REST_S = 0.7
"""So much audio after the place where a reading left off may hold a word; less is the silence in which it was made."""
MOST_READINGS = 4
"""Of one stretch that is read piece by piece."""
ROOM_S = 3
"""Silence that the model is given after the last word; with less it loses the end."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One word as the engine places it: seconds from the start of the audio, probability in [0, 1]."""

    text: str
    start_s: float
    end_s: float
    probability: float


@dataclass(frozen=True, slots=True)
class Decoded:
    """What an engine wrote: all its words, `no_speech` in [0, 1], `avg_logprob` per token.

    `left_off_s`: where it stopped although there may be more, in seconds from the start of the audio; None: at the end.
    """

    text: str
    words: tuple[Spoken, ...]
    no_speech: float
    avg_logprob: float
    left_off_s: float | None = None


class Engine(Protocol):
    """Runs a speech model; blocks, and may be called by several threads at once."""

    @property
    def model_id(self) -> str:
        """Identifies model and precision."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """Two-letter codes that the model knows; None: any."""
        ...

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam: int, language: str) -> Decoded:
        """Decode once, without chance.

        Args:
            audio: mono at RATE_HZ in [-1, 1], shape [n], at most 30 s.
            context_s: how much audio the encoder is shown, in [10, 30]; silence fills what is missing.
            beam: hypotheses followed; 1 is greedy.
            language: two-letter code.
        """
        ...


def context_for(samples: int) -> int:
    """Seconds of encoder context for so many samples: min(30, max(10, whole seconds + 3))."""
    return min(FULL_CONTEXT_S, max(MIN_CONTEXT_S, samples // RATE_HZ + ROOM_S))


def decode_carefully(
    engine: Engine,
    samples: Samples,
    *,
    language: str,
    beam: int,
    offset: int = 0,
    abandoned: Callable[[], bool] = lambda: False,
) -> Transcript:
    """Decode with as little encoder context as the audio needs; look twice where the text can't be right.

    A loop, or a text with a hole in it, is decoded again with the full context; what still repeats is said once.

    Args:
        engine: runs the model.
        samples: mono int16 at RATE_HZ, at most 30 s.
        language: two-letter code.
        beam: hypotheses followed.
        offset: place of the first sample in the answer.
        abandoned: asked between runs; where it says yes, no second run is made.
    """
    if len(samples) < SHORTEST:
        return Transcript("", no_speech=1.0)
    audio = samples.astype(np.float32) / 32768.0
    duration_s = len(samples) / RATE_HZ
    context_s = context_for(len(samples))
    found = engine.decode(audio, context_s=context_s, beam=beam, language=language)
    decodes, looped = 1, is_loop(found.text, duration_s)
    if (looped or passes_over(found)) and not abandoned() and context_s < FULL_CONTEXT_S:
        found = engine.decode(audio, context_s=FULL_CONTEXT_S, beam=beam, language=language)
        decodes = 2
    phantom = doubts(found)
    if phantom:
        found = replace(found, text="", words=())
    elif looped and is_loop(found.text, duration_s):
        found = without_loop(found)
    while not phantom and not looped and decodes < MOST_READINGS and not abandoned():
        rest = rest_after(found, duration_s)
        if rest is None:
            break
        more = engine.decode(
            audio[int(rest * RATE_HZ) :],
            context_s=context_for(len(samples) - int(rest * RATE_HZ)),
            beam=beam,
            language=language,
        )
        decodes += 1
        if not more.words or doubts(more) or is_loop(more.text, duration_s - rest):
            break
        found = continued(found, more, rest)
    return placed(found, offset, len(samples))


def rest_after(found: Decoded, duration_s: float) -> float | None:
    """From where on the audio has to be read once more; None where nothing can be missing."""
    left_off_s = found.left_off_s
    if not found.words or left_off_s is None or duration_s - left_off_s < LEAST_REST_S:
        return None
    return left_off_s


def continued(found: Decoded, more: Decoded, rest_s: float) -> Decoded:
    """A reading and one of what it left, from `rest_s` on; the first one's doubts count for both."""
    words = tuple(replace(word, start_s=word.start_s + rest_s, end_s=word.end_s + rest_s) for word in more.words)
    return replace(
        found,
        text=f"{found.text} {more.text}".strip(),
        words=(*found.words, *words),
        left_off_s=None if more.left_off_s is None else more.left_off_s + rest_s,
    )


def passes_over(found: Decoded) -> bool:
    """Whether a sentence may be missing: what is left out is taken for a part of the word beside it."""
    return any(word.end_s - word.start_s > LONGEST_WORD_S for word in found.words)


def doubts(found: Decoded) -> bool:
    """Whether these words were made up, by all that the engine says of them."""
    return is_phantom(
        found.text,
        no_speech=found.no_speech,
        avg_logprob=found.avg_logprob,
        probabilities=[word.probability for word in found.words],
    )


def without_loop(found: Decoded) -> Decoded:
    """The same without what only repeats."""
    again = repetition([word.text for word in found.words])
    if again is None:
        return found
    spans: list[tuple[int, int]] = []
    length = 0
    for word in found.words:
        place = max(length, found.text.find(word.text, length))
        length = min(len(found.text), place + len(word.text))
        spans.append((place, length))
    text = found.text[: spans[again.start - 1][1]]
    if again.stop < len(spans):
        text += found.text[spans[again.stop - 1][1] :]
    return replace(found, text=text, words=found.words[: again.start] + found.words[again.stop :])


UNSPACED = frozenset({"zh", "ja", "th", "lo", "my", "km", "yue", "bo"})
"""Languages written without spaces between words."""


def joined(pieces: Sequence[Spoken], *, spaced: bool) -> tuple[Spoken, ...]:
    """Pieces of text as words without spaces around them: what begins with no space belongs to the word before.

    Args:
        pieces: in order, with the spaces that the text has.
        spaced: whether the language has spaces; where it has none only punctuation joins the word before.
    """
    words: list[Spoken] = []
    for piece in pieces:
        text = piece.text.strip()
        says = any(c.isalnum() for c in text)
        if not text:
            continue
        if not words or (piece.text[0].isspace() if spaced else says):
            words.append(replace(piece, text=text))
            continue
        last = words[-1]
        words[-1] = replace(
            last,
            text=last.text + text,
            end_s=piece.end_s if says else last.end_s,
            probability=min(last.probability, piece.probability) if says else last.probability,
        )
    return tuple(words)


def placed(found: Decoded, offset: int, length: int) -> Transcript:
    """Seconds from the start of the audio → samples from the start of the answer, inside the audio and in order."""
    words: list[Word] = []
    last = 0
    for word in found.words:
        start = min(max(round(word.start_s * RATE_HZ), last), length)
        end = min(max(round(word.end_s * RATE_HZ), start), length)
        last = end
        words.append(Word(word.text, offset + start, offset + end, min(max(word.probability, 0.0), 1.0)))
    return Transcript(found.text.strip(), tuple(words), found.no_speech, found.avg_logprob)

"""One stretch of audio decoded with care: a short encoder context, a guard against loops, gates against phantoms.

What runs the model is an `Engine`; this module decides what to ask of it and what to believe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audio.hallucinations import is_hallucination
from audio.repetitions import find_repetition, is_repetitive
from audio.types import RATE_HZ, Samples, Transcript, Word

MIN_SAMPLES = RATE_HZ // 10
"""Samples in which nobody says a word; less is not decoded."""
FULL_CONTEXT_S = 30
"""What Whisper's encoder was trained on."""
MIN_CONTEXT_S = 10
"""With less the model loops."""
MAX_WORD_S = 2.0
"""Nobody takes longer to say a word, the silence beside it included; of a window no more is kept."""
MIN_UNREAD_S = 0.7
"""So much audio after the place where a reading left off may hold a word; less is the silence in which it was made."""
MAX_DECODES = 4
"""Of one stretch that is read piece by piece."""
CONTEXT_MARGIN_S = 3
"""Silence that the model is given after the last word; with less it loses the end."""


@dataclass(frozen=True, slots=True)
class DecodedWord:
    """One word as the engine places it: seconds from the start of the audio, probability in [0, 1]."""

    text: str
    start_s: float
    end_s: float
    probability: float


@dataclass(frozen=True, slots=True)
class DecodedText:
    """What an engine wrote: all its words, `no_speech` in [0, 1], `avg_logprob` per token.

    `stopped_at_s`: where it stopped although there may be more, in seconds from the start of the audio; None: at the end.
    """

    text: str
    words: tuple[DecodedWord, ...]
    no_speech: float
    avg_logprob: float
    stopped_at_s: float | None = None


class DecodingEngine(Protocol):
    """Runs a speech model; blocks, and may be called by several threads at once."""

    @property
    def model_id(self) -> str:
        """Identifies model and precision."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """Two-letter codes that the model knows; None: any."""
        ...

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
        """Decode once, without chance.

        Args:
            audio: mono at RATE_HZ in [-1, 1], shape [n], at most 30 s.
            context_s: how much audio the encoder is shown, in [10, 30]; silence fills what is missing.
            beam: hypotheses followed; 1 is greedy.
            language: two-letter code.
        """
        ...


def encoder_context_s(samples: int) -> int:
    """Seconds of encoder context for so many samples: min(30, max(10, whole seconds + 3))."""
    return min(FULL_CONTEXT_S, max(MIN_CONTEXT_S, samples // RATE_HZ + CONTEXT_MARGIN_S))


def decode_filtered(
    engine: DecodingEngine,
    samples: Samples,
    *,
    language: str,
    beam_size: int,
    offset: int = 0,
    is_cancelled: Callable[[], bool] = lambda: False,
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
    if len(samples) < MIN_SAMPLES:
        return Transcript("", no_speech=1.0)
    audio = samples.astype(np.float32) / 32768.0
    duration_s = len(samples) / RATE_HZ
    context_s = encoder_context_s(len(samples))
    found = engine.decode(audio, context_s=context_s, beam_size=beam_size, language=language)
    decodes, repetitive = 1, is_repetitive(found.text, duration_s)
    if (repetitive or may_skip_speech(found)) and not is_cancelled() and context_s < FULL_CONTEXT_S:
        found = engine.decode(audio, context_s=FULL_CONTEXT_S, beam_size=beam_size, language=language)
        decodes = 2
    hallucinated = is_doubtful(found)
    if hallucinated:
        found = replace(found, text="", words=())
    elif repetitive and is_repetitive(found.text, duration_s):
        found = remove_repetition(found)
    while not hallucinated and not repetitive and decodes < MAX_DECODES and not is_cancelled():
        rest_s = unread_from_s(found, duration_s)
        if rest_s is None:
            break
        more = engine.decode(
            audio[int(rest_s * RATE_HZ) :],
            context_s=encoder_context_s(len(samples) - int(rest_s * RATE_HZ)),
            beam_size=beam_size,
            language=language,
        )
        decodes += 1
        if not more.words or is_doubtful(more) or is_repetitive(more.text, duration_s - rest_s):
            break
        found = append_continuation(found, more, rest_s)
    return to_transcript(found, offset, len(samples))


def unread_from_s(found: DecodedText, duration_s: float) -> float | None:
    """From where on the audio has to be read once more; None where nothing can be missing."""
    stopped_at_s = found.stopped_at_s
    if not found.words or stopped_at_s is None or duration_s - stopped_at_s < MIN_UNREAD_S:
        return None
    return stopped_at_s


def append_continuation(found: DecodedText, more: DecodedText, rest_s: float) -> DecodedText:
    """A reading and one of what it left, from `rest_s` on; the first one's doubts count for both."""
    words = tuple(replace(word, start_s=word.start_s + rest_s, end_s=word.end_s + rest_s) for word in more.words)
    return replace(
        found,
        text=f"{found.text} {more.text}".strip(),
        words=(*found.words, *words),
        stopped_at_s=None if more.stopped_at_s is None else more.stopped_at_s + rest_s,
    )


def may_skip_speech(found: DecodedText) -> bool:
    """Whether a sentence may be missing: what is left out is taken for a part of the word beside it."""
    return any(word.end_s - word.start_s > MAX_WORD_S for word in found.words)


def is_doubtful(found: DecodedText) -> bool:
    """Whether these words were made up, by all that the engine says of them."""
    return is_hallucination(
        found.text,
        no_speech=found.no_speech,
        avg_logprob=found.avg_logprob,
        probabilities=[word.probability for word in found.words],
    )


def remove_repetition(found: DecodedText) -> DecodedText:
    """The same without what only repeats."""
    again = find_repetition([word.text for word in found.words])
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


def join_word_pieces(pieces: Sequence[DecodedWord], *, spaced: bool) -> tuple[DecodedWord, ...]:
    """Pieces of text as words without spaces around them: what begins with no space belongs to the word before.

    Args:
        pieces: in order, with the spaces that the text has.
        spaced: whether the language has spaces; where it has none only punctuation joins the word before.
    """
    words: list[DecodedWord] = []
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


def to_transcript(found: DecodedText, offset: int, length: int) -> Transcript:
    """Seconds from the start of the audio → samples from the start of the answer, inside the audio and in order."""
    words: list[Word] = []
    last = 0
    for word in found.words:
        start = min(max(round(word.start_s * RATE_HZ), last), length)
        end = min(max(round(word.end_s * RATE_HZ), start), length)
        last = end
        words.append(Word(word.text, offset + start, offset + end, min(max(word.probability, 0.0), 1.0)))
    return Transcript(found.text.strip(), tuple(words), found.no_speech, found.avg_logprob)

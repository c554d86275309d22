"""Transcribes one window with a short encoder context, the repetition filter and the hallucination filter.

A `DecodingEngine` runs the model; this module decides how it is run, and which of its words are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audio.hallucinations import is_hallucination
from audio.repetitions import find_repetition, is_repetitive
from audio.texts import comparison_key
from audio.types import RATE_HZ, Samples, Transcript, Word

MIN_SAMPLES = RATE_HZ // 10
"""Shorter audio is not decoded: it cannot contain a word."""
FULL_CONTEXT_S = 30
"""The length of the audio that Whisper's encoder was trained on, in seconds."""
MIN_CONTEXT_S = 10
"""Least encoder context, in seconds; with less the model repeats itself."""
MAX_WORD_S = 2.0
"""Longest word in seconds, including the silence beside it; a longer one shows that speech was skipped."""
MIN_UNDECODED_S = 0.7
"""Least audio, in seconds, after the point at which the model stopped early that may contain a word."""
MAX_DECODES = 4
"""Most runs of the model on one window."""
CONTEXT_MARGIN_S = 3
"""Seconds of encoder context beyond the audio; with less the model loses the last words."""


@dataclass(frozen=True, slots=True)
class DecodedWord:
    """One word as decoded: seconds from the start of the audio, probability in [0, 1]."""

    text: str
    start_s: float
    end_s: float
    probability: float


@dataclass(frozen=True, slots=True)
class DecodedText:
    """The result of one run of the model.

    `no_speech` is its probability of no speech, in [0, 1], `avg_logprob` its mean log probability per token, at most 0.
    `stopped_at_s`: the point at which it stopped although there may be more speech, in seconds from the start of the
    audio; None if it reached the end.
    """

    text: str
    words: tuple[DecodedWord, ...]
    no_speech: float
    avg_logprob: float
    stopped_at_s: float | None = None


class DecodingEngine(Protocol):
    """Runs a speech model. Calls block, and may be made from several threads at once."""

    @property
    def model_id(self) -> str:
        """Identifies the model and its precision."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """Two-letter codes of the languages that the model supports; None: any."""
        ...

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
        """Decode once, deterministically.

        Args:
            audio: mono, at RATE_HZ, in [-1, 1], shape `[n]`, at most 30 s.
            context_s: length of the encoder's input in seconds, in [10, 30]; the audio is padded with silence.
            beam_size: number of hypotheses; 1 is greedy decoding.
            language: two-letter code.
        """
        ...


def encoder_context_s(samples: int) -> int:
    """The encoder context for this many samples, in seconds: min(30, max(10, whole seconds + 3))."""
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
    """Transcribe a window.

    It is decoded with as little encoder context as its length needs, and once more with the full context if the text is
    repetitive or speech seems to be skipped. A hallucination is dropped, and repeated words that remain are removed. If
    the model stopped early, the rest is decoded, too.

    Args:
        engine: runs the model.
        samples: mono int16, at RATE_HZ, at most 30 s.
        language: two-letter code.
        beam_size: number of hypotheses.
        offset: position of the first sample in the answer.
        is_cancelled: called between runs; if it returns true, no further run is made.
    """
    if len(samples) < MIN_SAMPLES:
        return Transcript("", no_speech=1.0)
    audio = samples.astype(np.float32) / 32768.0
    duration_s = len(samples) / RATE_HZ
    decoded = partial(_decode_unrepeated, engine, language=language, beam_size=beam_size, is_cancelled=is_cancelled)
    found, decodes, looped = decoded(audio, most=MAX_DECODES)
    while found.words and not looped and decodes < MAX_DECODES and not is_cancelled():
        rest_s = undecoded_from_s(found, duration_s)
        if rest_s is None:
            break
        more, taken, looped = decoded(audio[int(rest_s * RATE_HZ) :], most=MAX_DECODES - decodes)
        decodes += taken
        if not more.words:
            break
        found = append_continuation(found, more, rest_s)
    return to_transcript(found, offset, len(samples))


def _decode_unrepeated(
    engine: DecodingEngine,
    audio: NDArray[np.float32],
    *,
    language: str,
    beam_size: int,
    is_cancelled: Callable[[], bool],
    most: int,
) -> tuple[DecodedText, int, bool]:
    """Decode some audio, twice where it seems to be necessary.

    Returns:
        What was said, without words if that is a hallucination or a mere repetition; how often the model was run, at
        most `most` times; whether repeated words had to be removed.
    """
    duration_s = len(audio) / RATE_HZ
    context_s = encoder_context_s(len(audio))
    found = engine.decode(audio, context_s=context_s, beam_size=beam_size, language=language)
    decodes, looped = 1, is_repetitive(found.text, duration_s)
    if (looped or may_have_skipped_speech(found)) and context_s < FULL_CONTEXT_S and most > 1 and not is_cancelled():
        found = engine.decode(audio, context_s=FULL_CONTEXT_S, beam_size=beam_size, language=language)
        decodes, looped = 2, looped and is_repetitive(found.text, duration_s)
    if is_hallucinated(found):
        return replace(found, text="", words=()), decodes, looped
    return remove_repetition(found) if looped else found, decodes, looped


def undecoded_from_s(found: DecodedText, duration_s: float) -> float | None:
    """The point, in seconds, from which on the audio has to be decoded, too; None if nothing can be missing."""
    stopped_at_s = found.stopped_at_s
    if not found.words or stopped_at_s is None or duration_s - stopped_at_s < MIN_UNDECODED_S:
        return None
    return stopped_at_s


def append_continuation(found: DecodedText, more: DecodedText, rest_s: float) -> DecodedText:
    """A result and that of the rest of the audio, from `rest_s` seconds on; confidences are those of the first.

    The model may say that it stopped before words that it wrote: those that are heard again are not repeated.
    """
    again = _heard_again(found, more, rest_s)
    words = tuple(
        replace(word, start_s=word.start_s + rest_s, end_s=word.end_s + rest_s) for word in more.words[again:]
    )
    new = more.text[word_spans(more)[again - 1][1] :] if again else more.text
    return replace(
        found,
        text=f"{found.text} {new.strip()}".strip(),
        words=(*found.words, *words),
        stopped_at_s=None if more.stopped_at_s is None else more.stopped_at_s + rest_s,
    )


def _heard_again(found: DecodedText, more: DecodedText, rest_s: float) -> int:
    """How many of the first words of the rest are the last ones before it, which are placed in the rest, too."""
    before, after = [[comparison_key(word.text) for word in each.words] for each in (found, more)]
    for count in range(min(len(before), len(after)), 0, -1):
        if found.words[-count].end_s > rest_s and before[-count:] == after[:count]:
            return count
    return 0


def may_have_skipped_speech(found: DecodedText) -> bool:
    """Whether the model may have skipped speech: the word next to it is then placed over it, too, and is too long."""
    return any(word.end_s - word.start_s > MAX_WORD_S for word in found.words)


def is_hallucinated(found: DecodedText) -> bool:
    """Whether the hallucination filter rejects this result."""
    return is_hallucination(
        found.text,
        no_speech=found.no_speech,
        avg_logprob=found.avg_logprob,
        probabilities=[word.probability for word in found.words],
    )


def remove_repetition(found: DecodedText) -> DecodedText:
    """The result without the words that only repeat those before them."""
    repeated = find_repetition([word.text for word in found.words])
    if repeated is None:
        return found
    spans = word_spans(found)
    text = found.text[: spans[repeated.start - 1][1]]
    if repeated.stop < len(spans):
        text += found.text[spans[repeated.stop - 1][1] :]
    return replace(found, text=text, words=found.words[: repeated.start] + found.words[repeated.stop :])


def word_spans(found: DecodedText) -> list[tuple[int, int]]:
    """Where in the text each word is: its start, and the position after its end."""
    spans: list[tuple[int, int]] = []
    length = 0
    for word in found.words:
        start = max(length, found.text.find(word.text, length))
        length = min(len(found.text), start + len(word.text))
        spans.append((start, length))
    return spans


def join_word_pieces(pieces: Sequence[DecodedWord], *, spaced: bool) -> tuple[DecodedWord, ...]:
    """Joins pieces of text to words, without spaces around them.

    A piece that begins without a space belongs to the word before it.

    Args:
        pieces: in order, with the spaces of the text.
        spaced: whether the language is written with spaces; if not, only punctuation belongs to the word before it.
    """
    words: list[DecodedWord] = []
    for piece in pieces:
        text = piece.text.strip()
        is_word = any(c.isalnum() for c in text)
        if not text:
            continue
        if not words or (piece.text[0].isspace() if spaced else is_word):
            words.append(replace(piece, text=text))
            continue
        last = words[-1]
        words[-1] = replace(
            last,
            text=last.text + text,
            end_s=piece.end_s if is_word else last.end_s,
            probability=min(last.probability, piece.probability) if is_word else last.probability,
        )
    return tuple(words)


def to_transcript(found: DecodedText, offset: int, length: int) -> Transcript:
    """The result as a transcript: positions in the answer, within the `length` samples of the audio and in order."""
    words: list[Word] = []
    last = 0
    for word in found.words:
        start = min(max(round(word.start_s * RATE_HZ), last), length)
        end = min(max(round(word.end_s * RATE_HZ), start), length)
        last = end
        words.append(Word(word.text, offset + start, offset + end, min(max(word.probability, 0.0), 1.0)))
    return Transcript(found.text.strip(), tuple(words), found.no_speech, found.avg_logprob)

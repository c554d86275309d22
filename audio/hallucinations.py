"""Words that nobody said: what a speech model writes over silence, noise and music.

Whisper learned from subtitles, so what it makes up is what subtitles hold when nobody speaks: thanks, credits, sounds
in brackets, one phrase over and over. No phrase alone proves anything ("Thank you." may be an answer): what counts is
that the model itself doubts that anybody spoke. With the built-in model that probability is at least 0.62 for made-up
words (median 0.92) and at most 0.56 for sentences at 0 dB noise; about one spoken word in a hundred exceeds 0.6, and
most of those are sure of their first word, which made-up text never is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from audio.repetitions import find_repetition

MAX_NO_SPEECH = 0.6
"""Above this the model thinks that nobody spoke; Whisper's own limit."""
LOW_LOGPROB = -1.0
"""Mean log probability per token under which a text is a guess; Whisper's own limit."""
UNSURE_FIRST_WORD = 0.2
"""Probability of the first word under which the model had no idea how to begin."""
SURE_WORDS = 4
SURE_MEAN = 0.75
"""Mean probability of so many words or more that nobody makes up: over noise it is at most 0.70 where nothing repeats
itself. A window may begin within a word, so that a whole sentence follows a first word that was a guess."""
VERY_LOW_LOGPROB = -1.4
VERY_LOW_LOGPROB_NO_SPEECH = 0.48
"""A text that is a guess from beginning to end needs less doubt, which larger models show."""
STOCK_PHRASE_NO_SPEECH = 0.45
STOCK_PHRASE_UNSURE = 0.15
"""A stock phrase needs less doubt."""

_LETTERS = re.compile(r"[^\w\s']+")
_STOCK_PHRASES = frozenset(
    """you
thank you
thank you very much
thank you so much
thank you for watching
thanks for watching
thank you for listening
thanks for listening
thank you for your time
please subscribe
please subscribe to my channel
like and subscribe
don't forget to like and subscribe
see you next time
see you in the next video
i'll see you next time
i'll see you in the next video
bye
bye bye
music
applause
laughter
silence
blank audio
inaudible""".splitlines()
)
_CREDITS = re.compile(
    r"^\W*(?:(?:closed )?captions?|subtitles?|transcripts?|transcription|translation) (?:by|provided by)\b"
    r"|\bamara\.org\b",
    re.IGNORECASE,
)
_OPENING, _CLOSING = "[(*♪", "])*♪"
_BETWEEN_PARTS = re.compile(r"[\s.,!]*")


def normalised_text(text: str) -> str:
    """The text in lower case, without punctuation, with single spaces."""
    return " ".join(_LETTERS.sub(" ", text.lower().replace("’", "'")).split())


def is_subtitle_artefact(text: str) -> bool:
    """Whether the text is a subtitle's credit or the name of a sound in brackets, with which no answer begins."""
    return bool(_CREDITS.search(text)) or _is_bracketed(text)


def _is_bracketed(text: str) -> bool:
    """Whether the text is nothing but bracketed parts, the last of which may be left open; in linear time."""
    at, parts = 0, 0
    while True:
        at = _BETWEEN_PARTS.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        if at == len(text):
            return parts > 0
        if text[at] not in _OPENING:
            return False
        parts += 1
        at += 1
        while at < len(text) and text[at] not in _CLOSING:
            at += 1
        at += at < len(text)


def is_stock_phrase(text: str) -> bool:
    """Whether the text consists of nothing but phrases that the model makes up over noise."""
    sentences = [normalised_text(part) for part in re.split(r"[.!?…]+", text)]
    return all(part in _STOCK_PHRASES for part in sentences if part)


def is_hallucination(
    text: str,
    *,
    no_speech: float,
    avg_logprob: float,
    probabilities: Sequence[float] = (),
) -> bool:
    """Whether these words were made up.

    Args:
        text: what the model wrote.
        no_speech: its probability that nobody spoke, in [0, 1].
        avg_logprob: its mean log probability per token.
        probabilities: of the words, in [0, 1]; empty where unknown.
    """
    if not normalised_text(text):
        return bool(text.strip())
    if is_subtitle_artefact(text):
        return True
    first = probabilities[0] if probabilities else 1.0
    stock = is_stock_phrase(text)
    if stock and first < STOCK_PHRASE_UNSURE and (no_speech > STOCK_PHRASE_NO_SPEECH or avg_logprob < LOW_LOGPROB):
        return True
    words = text.split()
    if no_speech > VERY_LOW_LOGPROB_NO_SPEECH and first < UNSURE_FIRST_WORD and avg_logprob < VERY_LOW_LOGPROB:
        return True
    if no_speech > STOCK_PHRASE_NO_SPEECH and find_repetition(words) is not None:
        return True
    if no_speech <= MAX_NO_SPEECH:
        return False
    monotonous = len(words) > 1 and len({normalised_text(word) for word in words}) == 1
    return (
        stock
        or monotonous
        or avg_logprob < LOW_LOGPROB
        or (first < UNSURE_FIRST_WORD and not _is_sure(words, probabilities))
    )


def _is_sure(words: Sequence[str], probabilities: Sequence[float]) -> bool:
    """Whether the model knew these words, however it began."""
    if len(probabilities) < SURE_WORDS or find_repetition(list(words)) is not None:
        return False
    return sum(probabilities) / len(probabilities) >= SURE_MEAN

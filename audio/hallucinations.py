"""The hallucination filter: detects words that a speech model writes over silence, noise and music.

Whisper was trained on subtitles, so its hallucinations are what subtitles contain where nobody speaks: thanks, credits,
names of sounds in brackets, repeated phrases. A phrase alone is no evidence ("Thank you." may be an answer); the
model's own confidence decides. For the built-in model its probability of no speech is at least 0.62 over noise (median
0.92) and at most 0.56 for sentences in noise of 0 dB; it exceeds 0.6 for about one single spoken word in a hundred,
most of which have a first word of high probability, which hallucinations never have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from audio.repetitions import find_repetition
from audio.texts import normalised_text

MAX_NO_SPEECH = 0.6
"""Probability of no speech above which a text is suspect; Whisper's own limit."""
LOW_LOGPROB = -1.0
"""Mean log probability per token below which a suspect text is a hallucination; Whisper's own limit."""
UNSURE_FIRST_WORD = 0.2
"""Probability of the first word below which a suspect text is a hallucination, unless its words are sure."""
SURE_WORDS = 4
SURE_MEAN = 0.75
"""The words of a text are sure if there are at least SURE_WORDS, with at least this mean probability: over noise it is
at most 0.70 where nothing is repeated. A window may begin within a word; then a sentence follows an unsure word."""
VERY_LOW_LOGPROB = -1.4
VERY_LOW_LOGPROB_NO_SPEECH = 0.48
"""Below VERY_LOW_LOGPROB a text with an unsure first word is suspect from this probability of no speech on."""
STOCK_PHRASE_NO_SPEECH = 0.45
STOCK_PHRASE_UNSURE = 0.15
"""Limits of the probabilities of no speech and of the first word for stock phrases; the former for repetitions, too."""

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


def is_subtitle_artefact(text: str) -> bool:
    """Whether the text is a credit of subtitles, or nothing but names of sounds in brackets; no answer is."""
    return bool(_CREDITS.search(text)) or _is_bracketed(text)


def _is_bracketed(text: str) -> bool:
    """Whether the text consists of bracketed parts, the last of which may be unclosed. Takes linear time."""
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
    """Whether each sentence of the text is a phrase that the model is known to write over noise."""
    sentences = [normalised_text(part) for part in re.split(r"[.!?…]+", text)]
    return all(part in _STOCK_PHRASES for part in sentences if part)


def is_hallucination(
    text: str,
    *,
    no_speech: float,
    avg_logprob: float,
    probabilities: Sequence[float] = (),
) -> bool:
    """Whether the model wrote this text without its being said.

    Args:
        text: what the model wrote; an empty one is no hallucination, one of mere punctuation is.
        no_speech: the model's probability that there is no speech, in [0, 1].
        avg_logprob: its mean log probability per token, at most 0.
        probabilities: those of the words, in [0, 1], in order; empty where unknown.
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
    one_word_repeated = len(words) > 1 and len({normalised_text(word) for word in words}) == 1
    return (
        stock
        or one_word_repeated
        or avg_logprob < LOW_LOGPROB
        or (first < UNSURE_FIRST_WORD and not _is_sure(words, probabilities))
    )


def _is_sure(words: Sequence[str], probabilities: Sequence[float]) -> bool:
    """Whether the words are sure enough to be spoken although the first one is not."""
    if len(probabilities) < SURE_WORDS or find_repetition(list(words)) is not None:
        return False
    return sum(probabilities) / len(probabilities) >= SURE_MEAN

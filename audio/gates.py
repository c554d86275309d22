"""Words that nobody said: what a speech model writes over silence, noise and music.

Whisper learned from subtitles, so what it makes up is what subtitles hold when nobody speaks: thanks, credits, sounds
in brackets. A phrase alone proves nothing ("Thank you." may be an answer), so it counts together with the model's own
doubts and with how much speech the voice activity detector heard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NO_SPEECH = 0.6
"""Whisper's own limit for the probability that nobody spoke."""
LOW_LOGPROB = -1.0
"""Whisper's own limit for the mean log probability per token."""
DOUBTFUL_NO_SPEECH = 0.3
DOUBTFUL_LOGPROB = -0.7
PHRASE_SPEECH_S = 0.25
"""Two words take longer than this to say."""

_LETTERS = re.compile(r"[^\w\s']+")
_PHANTOMS = frozenset(
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
so
oh
okay
the
i
and
music
applause
laughter
silence
blank audio
inaudible""".splitlines()
)
_CREDITS = re.compile(
    r"\b(?:subtitles?|captions?|transcri(?:bed|ption)|translat(?:ed|ion))\s+(?:by|provided)\b"
    r"|\bamara\.org\b|\bsubs? by\b|\bwww\.|\bcopyright\b|©|♪",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"^(?:\s*[\[(*♪][^\])*♪]*[\])*♪]?[\s.,!]*)+$")


def plain(text: str) -> str:
    """The text in lower case, without punctuation, with single spaces."""
    return " ".join(_LETTERS.sub(" ", text.lower().replace("’", "'")).split())


def is_credit(text: str) -> bool:
    """Whether the text is a subtitle's credit or the name of a sound in brackets, which nobody says in an answer."""
    return bool(_CREDITS.search(text) or _BRACKETED.match(text)) and len(text.split()) <= 12


def is_stock_phrase(text: str) -> bool:
    """Whether the text consists of nothing but phrases that the model makes up over noise."""
    sentences = [plain(part) for part in re.split(r"[.!?…]+", text)]
    return all(part in _PHANTOMS for part in sentences if part)


def is_phantom(
    text: str,
    *,
    no_speech: float,
    avg_logprob: float,
    probabilities: Sequence[float] = (),
    speech_s: float | None = None,
) -> bool:
    """Whether these words were made up.

    Args:
        text: what the model wrote.
        no_speech: its probability that nobody spoke, in [0, 1].
        avg_logprob: its mean log probability per token.
        probabilities: of the words, in [0, 1]; empty where unknown.
        speech_s: how much speech the voice activity detector heard, in seconds; None where nobody asked it.
    """
    if not plain(text):
        return bool(text.strip())
    if no_speech > NO_SPEECH and avg_logprob < LOW_LOGPROB:
        return True
    if is_credit(text):
        return True
    doubtful = no_speech > DOUBTFUL_NO_SPEECH or avg_logprob < DOUBTFUL_LOGPROB
    if speech_s is not None and speech_s < PHRASE_SPEECH_S and doubtful:
        return True
    return is_stock_phrase(text) and doubtful

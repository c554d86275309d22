"""In which sentence of an answer somebody may be in danger (English).

“I don't plan to still be around at the weekend.”, “he lock the door when he go to work”. People have plain words for
this that neither rules nor the reader have learned. A small network sees the reader's vectors of a sentence and of the
whole answer, and what the words of the sentence, one by one and in pairs, speak for is added to it. Both have learned
from messages that were written for it by many hands, and from thousands of answers of interviews in which nobody was in
danger. They are made by `python -m pipeline.language.training.danger`, and lie beside the reader's model as
`danger.npz`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.perceptron import Perceptron
from pipeline.language.reader.phrases import Phrases
from pipeline.question.text import sentences

JUDGE, READER_DIGEST = "danger", "encoder_sha256"
NOTHING: Final = (-np.inf, 0, 0)
_ONLY_WHEN: Final = re.compile(
    r"\W*(?:(?:the|a|an|on|in|at|by|about|around|just|only|it|was|that|this|last|next|every|one|two|three|few|couple|of|ago"
    r"|late|early|back|yesterday|today|tonight|now|then|night|morning|evening|afternoon|day|days|week|weeks"
    r"|weekend|month|months|year|years|o'clock|am|pm|half|past|quarter|time|mondays?|tuesdays?|wednesdays?|thursdays?"
    r"|fridays?|saturdays?|sundays?|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|spring|summer|autumn|winter|christmas|easter|\d+(?:[:.]\d+)?(?:st|nd|rd|th|am|pm)?)\b\W*)+",
    re.IGNORECASE,
)
"""A sentence that only says when something was, in which there is no danger: “Last night.”"""


_WHEN: Final = re.compile(
    r"\b(?:(?:on|in|at|about|around|just|only|every|late|early) )*(?:"
    r"(?:this|last|yesterday|tomorrow|one|every|the other) (?:morning|evening|afternoon|night|week|weekend|month|year"
    r"|spring|summer|autumn|winter|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)"
    r"|(?:the )?mornings?|yesterday|today|tonight|just now|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:a|an|one|two|three|four|five|six|\d+|a few|a couple of) (?:hours?|days?|weeks?|months?|years?) ago)\b",
    re.IGNORECASE,
)


_FIRST_MARKS: Final = re.compile(r"^[\s.,;:!?…–—-]+")


def without_when(text: str) -> str:
    """A message, as long as before, with blanks in place of words that only say when something was.

    People who are in danger say when, and so does anybody who is asked for the last time: “This morning. Took the bus.”
    """
    blank = _WHEN.sub(lambda found: " " * len(found[0]), text)
    return _FIRST_MARKS.sub(lambda found: " " * len(found[0]), blank)


class DangerModel:
    """The network, ready to be asked; safe to use from several threads.

    Args:
        network: its weights.
        encoder_sha256: digest of the reader's encoder that it is for.
        phrases: what words add.
    """

    def __init__(self, network: Perceptron, encoder_sha256: str, phrases: Phrases) -> None:
        self.network = network
        self.encoder_sha256 = encoder_sha256
        self.phrases = phrases

    @classmethod
    def read(cls, content: bytes) -> DangerModel:
        """From the content of `danger.npz`.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            return cls(Perceptron.read(kept, JUDGE), str(kept[READER_DIGEST]), Phrases.read(kept))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `read` reads, by name."""
        return self.network.arrays(JUDGE) | {READER_DIGEST: np.array(self.encoder_sha256)} | self.phrases.arrays()

    def most(self, text: str, reading: Reading) -> tuple[float, int, int]:
        """The sentence that most likely tells of danger: logarithm of its odds, and its first and last character.

        Minus infinity where nothing was read.
        """
        found = [each for each in seen(text, reading) if _ONLY_WHEN.fullmatch(text[each[0] : each[1]]) is None]
        if not found:
            return NOTHING
        odds = self.network.outputs([self.network.row(vector, {}) for _, _, vector in found])[:, 0]
        odds = odds + np.array([self.phrases.of(text[start:end])[0] for start, end, _ in found])
        best = int(odds.argmax())
        return float(odds[best]), *found[best][:2]


def seen(text: str, reading: Reading) -> Iterator[tuple[int, int, Floats]]:
    """The sentences of an answer: where each begins and ends, and what is seen of it, [4 · width].

    The vectors of all its words, of its first and its last, and of the whole answer.
    """
    if not reading.words:
        return
    starts = np.array([word.start for word in reading.words])
    whole, at = reading.mean.mean(axis=0), 0
    for sentence in sentences(text) or [text]:
        start = max(at, text.find(sentence, at))
        at = start + len(sentence)
        own = np.flatnonzero((starts >= start) & (starts < at))
        if len(own):
            vector = np.concatenate(
                [reading.mean[own].mean(axis=0), reading.first[own[0]], reading.last[own[-1]], whole]
            )
            yield start, at, vector

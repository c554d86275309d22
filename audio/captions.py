"""Live captions: the words on which two successive partial transcriptions agree do not change any more.

Partial transcriptions may have inexact positions, so they are compared as texts; positions only decide where the texts
have nothing in common. Source of the rule: LocalAgreement-2, Liu et al. 2020, "Low-Latency Sequence-to-Sequence Speech
Recognition and Translation by Partial Hypothesis Selection".
"""

from __future__ import annotations

from collections.abc import Sequence

from audio.overlap import align_words, word_middle
from audio.texts import comparison_key, join_words
from audio.types import PartialTranscript, Word

COMPARED_WORDS = 80
"""Number of words at the end of a text that are compared with the captions: a window of 28 s rarely has more."""


class Captions:
    """The captions of one answer, which consist of three parts in this order.

    Final words come from the final transcriptions of windows; stable words are those on which two partial
    transcriptions agreed; unstable words come from the last partial transcription alone.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._final: tuple[Word, ...] = ()
        self._stable: list[Word] = []
        self._unstable: list[Word] = []
        self._transcribed_from = 0
        self._frozen = 0
        """Number of stable words that lie before `_transcribed_from`."""

    @property
    def words(self) -> tuple[Word, ...]:
        """All words so far."""
        return (*self._final, *self._stable, *self._unstable)

    def between(self, start: int, end: int) -> tuple[Word, ...]:
        """The words between two positions in the answer that are not final."""
        return tuple(word for word in (*self._stable, *self._unstable) if start <= word_middle(word) < end)

    def partial_transcript(self, at: int) -> PartialTranscript:
        """The captions as an event, for the audio up to the position `at`."""
        text = join_words(self.words, self._language)
        stable = join_words((*self._final, *self._stable), self._language)
        return PartialTranscript(text, len(stable), at)

    def add_transcription(self, words: Sequence[Word], start: int) -> None:
        """Add a partial transcription of the audio from the position `start` on.

        The words on which it and the one before it agree become stable. So do all words before `start`, since later
        partial transcriptions do not include them.
        """
        if start != self._transcribed_from:
            self._transcribed_from = start
            self._freeze(words, start)
        known = self._stable[self._frozen :]
        new = list(words[_known_prefix(known, words) :])
        agreed = _common_prefix(self._unstable, new)
        self._stable += new[:agreed]
        self._unstable = new[agreed:]

    def set_final(self, words: Sequence[Word], until: int) -> None:
        """Set the final words up to the position `until`; words after it are kept as they are."""
        old = [*self._stable, *self._unstable]
        pairs = align_words(old, words[-COMPARED_WORDS:], max_distance=None)
        first = pairs[-1][0] + 1 if pairs else 0
        kept = [n for n in range(first, len(old)) if word_middle(old[n]) >= until]
        self._final = tuple(words)
        self._unstable = [old[n] for n in kept if n >= len(self._stable)]
        self._stable = [old[n] for n in kept if n < len(self._stable)]
        self._transcribed_from, self._frozen = until, 0

    def replace_all(self, words: Sequence[Word]) -> None:
        """Replace all words by a new transcription of the answer; those that are the same as before are stable."""
        final = _common_prefix(self._final, words)
        agreed = final + _common_prefix([*self._stable, *self._unstable], words[final:])
        self._final = tuple(words[:final])
        self._stable, self._unstable = list(words[final:agreed]), list(words[agreed:])
        self._frozen = sum(word_middle(word) < self._transcribed_from for word in self._stable)

    def _freeze(self, words: Sequence[Word], start: int) -> None:
        """Partial transcriptions begin at the position `start` from now on; `words` is the first of them."""
        old = [*self._stable, *self._unstable]
        pairs = align_words(old, words, max_distance=None)
        if pairs:
            frozen = max(0, pairs[0][0] - pairs[0][1])
        else:
            frozen = next((n for n, word in enumerate(old) if word_middle(word) >= start), len(old))
        stable = max(frozen, len(self._stable))
        self._frozen, self._stable, self._unstable = frozen, old[:stable], old[stable:]


def _common_prefix(one: Sequence[Word], other: Sequence[Word]) -> int:
    """Number of words at the start that are the same in both, punctuation and case aside."""
    for n, (a, b) in enumerate(zip(one, other, strict=False)):
        if comparison_key(a.text) != comparison_key(b.text):
            return n
    return min(len(one), len(other))


def _known_prefix(known: Sequence[Word], words: Sequence[Word]) -> int:
    """Number of words at the start of a transcription that correspond to the known words, be they the same or not."""
    if _common_prefix(known, words) == len(known):
        return len(known)
    pairs = align_words(known, words, max_distance=None)
    if not pairs:
        return len(known)
    return pairs[-1][1] + len(known) - pairs[-1][0]

"""What is shown while somebody speaks: what two successive readings agree on stays as it is.

Readings for captions need not place their words, so they are compared as texts; places only decide where texts have
nothing in common. Source of the rule: LocalAgreement-2, Liu et al. 2020, "Low-Latency Sequence-to-Sequence Speech
Recognition and Translation by Partial Hypothesis Selection".
"""

from __future__ import annotations

from collections.abc import Sequence

from audio.overlap import align_words, comparison_key, join_words, word_middle
from audio.types import PartialTranscript, Word

COMPARED_WORDS = 80
"""So many words at the end of a text are compared with what comes next: more than a window of 28 s has, mostly."""


class Captions:
    """Words in three parts: `settled` by the final readings of windows, `stable` by agreement, and the rest."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._final: tuple[Word, ...] = ()
        self._stable: list[Word] = []
        self._unstable: list[Word] = []
        self._transcribed_from = 0
        self._frozen = 0

    @property
    def words(self) -> tuple[Word, ...]:
        """Everything understood so far."""
        return (*self._final, *self._stable, *self._unstable)

    def between(self, start: int, end: int) -> tuple[Word, ...]:
        """What was understood from one place in the answer to another and is not settled."""
        return tuple(word for word in (*self._stable, *self._unstable) if start <= word_middle(word) < end)

    def partial_transcript(self, at: int) -> PartialTranscript:
        """What to show for the audio up to `at`."""
        text = join_words(self.words, self._language)
        stable = join_words((*self._final, *self._stable), self._language)
        return PartialTranscript(text, len(stable), at)

    def add_transcription(self, words: Sequence[Word], start: int) -> None:
        """A reading of the audio from `start` to now: what it and the last one agree on becomes stable.

        What was understood before `start` is stable, too, as nobody reads it again for a caption.
        """
        if start != self._transcribed_from:
            self._transcribed_from = start
            self._freeze(words, start)
        known = self._stable[self._frozen :]
        new = list(words[_known_prefix(known, words) :])
        agreed = _common_prefix(self._unstable, new)
        self._stable += new[:agreed]
        self._unstable = new[agreed:]

    def set_final(self, words: Sequence[Word], edge: int) -> None:
        """The final words up to the place `edge` are known; what was understood after it stays."""
        old = [*self._stable, *self._unstable]
        pairs = align_words(old, words[-COMPARED_WORDS:], max_distance=None)
        first = pairs[-1][0] + 1 if pairs else 0
        kept = [n for n in range(first, len(old)) if word_middle(old[n]) >= edge]
        self._final = tuple(words)
        self._unstable = [old[n] for n in kept if n >= len(self._stable)]
        self._stable = [old[n] for n in kept if n < len(self._stable)]
        self._transcribed_from, self._frozen = edge, 0

    def replace_all(self, words: Sequence[Word]) -> None:
        """Everything was read anew: what was understood before in the same way stays stable."""
        settled = _common_prefix(self._final, words)
        agreed = settled + _common_prefix([*self._stable, *self._unstable], words[settled:])
        self._final = tuple(words[:settled])
        self._stable, self._unstable = list(words[settled:agreed]), list(words[agreed:])
        self._frozen = sum(word_middle(word) < self._transcribed_from for word in self._stable)

    def _freeze(self, words: Sequence[Word], start: int) -> None:
        """Readings begin at `start` from now on; `words` is the first of them."""
        old = [*self._stable, *self._unstable]
        pairs = align_words(old, words, max_distance=None)
        if pairs:
            frozen = max(0, pairs[0][0] - pairs[0][1])
        else:
            frozen = next((n for n, word in enumerate(old) if word_middle(word) >= start), len(old))
        stable = max(frozen, len(self._stable))
        self._frozen, self._stable, self._unstable = frozen, old[:stable], old[stable:]


def _common_prefix(one: Sequence[Word], other: Sequence[Word]) -> int:
    return next(
        (
            n
            for n, (a, b) in enumerate(zip(one, other, strict=False))
            if comparison_key(a.text) != comparison_key(b.text)
        ),
        min(len(one), len(other)),
    )


def _known_prefix(known: Sequence[Word], words: Sequence[Word]) -> int:
    """How many words at the start of a reading say what is known already, be it in other words."""
    if _common_prefix(known, words) == len(known):
        return len(known)
    pairs = align_words(known, words, max_distance=None)
    if not pairs:
        return len(known)
    return pairs[-1][1] + len(known) - pairs[-1][0]

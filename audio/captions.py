"""What is shown while somebody speaks: what two successive readings agree on stays as it is.

Readings for captions need not place their words, so they are compared as texts; places only decide where texts have
nothing in common. Source of the rule: LocalAgreement-2, Liu et al. 2020, "Low-Latency Sequence-to-Sequence Speech
Recognition and Translation by Partial Hypothesis Selection".
"""

from __future__ import annotations

from collections.abc import Sequence

from audio.readings import agreement, middle, plain, text_of
from audio.types import Heard, Word

COMPARED_WORDS = 80
"""So many words at the end of a text are compared with what comes next: more than a window of 28 s has, mostly."""


class Captions:
    """Words in three parts: `settled` by the final readings of windows, `stable` by agreement, and the rest."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._settled: tuple[Word, ...] = ()
        self._stable: list[Word] = []
        self._rest: list[Word] = []
        self._start = 0
        self._frozen = 0

    @property
    def words(self) -> tuple[Word, ...]:
        """Everything understood so far."""
        return (*self._settled, *self._stable, *self._rest)

    def between(self, start: int, end: int) -> tuple[Word, ...]:
        """What was understood from one place in the answer to another and is not settled."""
        return tuple(word for word in (*self._stable, *self._rest) if start <= middle(word) < end)

    def heard(self, at: int) -> Heard:
        """What to show for the audio up to `at`."""
        text = text_of(self.words, self._language)
        stable = text_of((*self._settled, *self._stable), self._language)
        return Heard(text, len(stable), at)

    def read(self, words: Sequence[Word], start: int) -> None:
        """A reading of the audio from `start` to now: what it and the last one agree on becomes stable.

        What was understood before `start` is stable, too, as nobody reads it again for a caption.
        """
        if start != self._start:
            self._start = start
            self._freeze(words, start)
        known = self._stable[self._frozen :]
        new = list(words[_shared(known, words) :])
        agreed = _common(self._rest, new)
        self._stable += new[:agreed]
        self._rest = new[agreed:]

    def settle(self, words: Sequence[Word], edge: int) -> None:
        """The final words up to the place `edge` are known; what was understood after it stays."""
        old = [*self._stable, *self._rest]
        pairs = agreement(old, words[-COMPARED_WORDS:], near=None)
        first = pairs[-1][0] + 1 if pairs else 0
        kept = [n for n in range(first, len(old)) if middle(old[n]) >= edge]
        self._settled = tuple(words)
        self._rest = [old[n] for n in kept if n >= len(self._stable)]
        self._stable = [old[n] for n in kept if n < len(self._stable)]
        self._start, self._frozen = edge, 0

    def replace(self, words: Sequence[Word]) -> None:
        """Everything was read anew: what was understood before in the same way stays stable."""
        settled = _common(self._settled, words)
        agreed = settled + _common([*self._stable, *self._rest], words[settled:])
        self._settled = tuple(words[:settled])
        self._stable, self._rest = list(words[settled:agreed]), list(words[agreed:])
        self._frozen = sum(middle(word) < self._start for word in self._stable)

    def _freeze(self, words: Sequence[Word], start: int) -> None:
        """Readings begin at `start` from now on; `words` is the first of them."""
        old = [*self._stable, *self._rest]
        pairs = agreement(old, words, near=None)
        if pairs:
            frozen = max(0, pairs[0][0] - pairs[0][1])
        else:
            frozen = next((n for n, word in enumerate(old) if middle(word) >= start), len(old))
        stable = max(frozen, len(self._stable))
        self._frozen, self._stable, self._rest = frozen, old[:stable], old[stable:]


def _common(one: Sequence[Word], other: Sequence[Word]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if plain(a.text) != plain(b.text)),
        min(len(one), len(other)),
    )


def _shared(known: Sequence[Word], words: Sequence[Word]) -> int:
    """How many words at the start of a reading say what is known already, be it in other words."""
    if _common(known, words) == len(known):
        return len(known)
    pairs = agreement(known, words, near=None)
    if not pairs:
        return len(known)
    return pairs[-1][1] + len(known) - pairs[-1][0]

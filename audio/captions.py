"""What is shown while somebody speaks: what two successive readings agree on stays as it is.

Source of the rule: LocalAgreement-2, Liu et al. 2020, "Low-Latency Sequence-to-Sequence Speech Recognition and
Translation by Partial Hypothesis Selection".
"""

from __future__ import annotations

from collections.abc import Sequence

from audio.readings import middle, plain, text_of
from audio.types import Heard, Word

REPEATED_WORDS = 5
"""So many words at the seam of a stable text and a new reading may be the same ones, placed a little off."""


class Captions:
    """Words in three parts: `settled` by the final readings of windows, `stable` by agreement, and the rest."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._settled: tuple[Word, ...] = ()
        self._stable: list[Word] = []
        self._rest: list[Word] = []

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
        """A reading of the audio from `start` to now: what it agrees on with the last one becomes stable."""
        while self._rest and middle(self._rest[0]) < start:
            self._stable.append(self._rest.pop(0))
        known = (*self._settled, *self._stable)
        edge = known[-1].end if known else 0
        new = [word for word in words if middle(word) >= edge]
        new = new[_repeated(known, new) :]
        agreed = _common(self._rest, new)
        self._stable += new[:agreed]
        self._rest = new[agreed:]

    def settle(self, words: Sequence[Word], edge: int) -> None:
        """The final words up to the place `edge` are known; what was understood after it stays."""
        self._settled = tuple(words)
        self._stable = [word for word in self._stable if middle(word) >= edge]
        self._rest = [word for word in self._rest if middle(word) >= edge]

    def replace(self, words: Sequence[Word]) -> None:
        """Everything was read anew: what was understood before in the same way stays stable."""
        settled = _common(self._settled, words)
        agreed = settled + _common([*self._stable, *self._rest], words[settled:])
        self._settled = tuple(words[:settled])
        self._stable, self._rest = list(words[settled:agreed]), list(words[agreed:])


def _common(one: Sequence[Word], other: Sequence[Word]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if plain(a.text) != plain(b.text)),
        min(len(one), len(other)),
    )


def _repeated(known: Sequence[Word], new: Sequence[Word]) -> int:
    """How many words at the start of `new` are the last of `known` once more."""
    for n in range(min(REPEATED_WORDS, len(known), len(new)), 0, -1):
        if all(plain(a.text) == plain(b.text) for a, b in zip(known[-n:], new[:n], strict=True)):
            gap = new[0].start - known[-n].start
            if abs(gap) <= known[-1].end - known[-n].start:
                return n
    return 0

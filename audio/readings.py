"""The readings of windows and how their words are put together: none split, none lost, none twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from audio.types import Purpose, Word, samples_of
from audio.windows import Stretch

NEAR = samples_of(1000)
"""Two readings of one word lie at most so far apart."""
SKIPPED_WORDS = 3
"""A reading that has none of so many words of its tail left the tail out, and stretched its first words over it."""
USUALLY_NEAR = samples_of(200)
"""Two readings of one word mostly lie closer than this, two words farther."""
SPLIT = samples_of(200)
"""A word that ends so near to a cut within speech may be half a word."""
JITTER = samples_of(100)
"""A word that reaches so little over a cut in a pause lies before it."""
TRIES = 2
"""How often a reading that counts is tried."""


@dataclass(eq=False, slots=True)
class Reading:
    """One stretch that is being read or was: `until` is how far it reaches, `words` None until they are known.

    `troubled`: the transcriber failed, so the words are what had been understood before.
    """

    stretch: Stretch
    until: int
    purpose: Purpose
    words: tuple[Word, ...] | None = None
    tries: int = 0
    troubled: bool = False


class Readings:
    """Which transcriptions are awaited, and the words of the windows that are closed."""

    def __init__(self) -> None:
        self._ids = 0
        self._awaited: dict[int, Reading] = {}
        self._closed: list[tuple[Reading, int]] = []
        self._merged: tuple[Word, ...] = ()
        self._edge = 0

    @property
    def outstanding(self) -> int:
        """Closed windows whose words are not in `merged` yet."""
        return len(self._closed)

    @property
    def merged(self) -> tuple[Word, ...]:
        """The words of the first closed windows."""
        return self._merged

    @property
    def edge(self) -> int:
        """Place in the answer up to which `merged` reaches."""
        return self._edge

    def ask(self, reading: Reading) -> int:
        """An id under which the words of a reading are awaited."""
        self._ids += 1
        reading.tries += 1
        self._awaited[self._ids] = reading
        return self._ids

    def take(self, decode_id: int) -> Reading | None:
        """What was awaited under an id; None if nobody waits for it any more."""
        return self._awaited.pop(decode_id, None)

    def cancel(self, reading: Reading) -> list[int]:
        """Await a reading no longer; returns the ids it had."""
        ids = [decode_id for decode_id, awaited in self._awaited.items() if awaited is reading]
        for decode_id in ids:
            del self._awaited[decode_id]
        return ids

    def close(self, reading: Reading, edge: int) -> None:
        """The window of this reading is over at the place `edge`; the reading is its last."""
        self._closed.append((reading, edge))

    def merge(self) -> bool:
        """Join the words that are known by now, window after window; whether there were any."""
        merged = False
        while self._closed and self._closed[0][0].words is not None:
            reading, self._edge = self._closed.pop(0)
            self._merged = self._with(reading)
            merged = True
        return merged

    def known(self, last: Reading | None) -> bool:
        """Whether all words up to those of the last reading, if any, are known."""
        return not self._closed and (last is None or last.words is not None)

    def words(self, last: Reading | None) -> tuple[Word, ...]:
        """All words of the closed windows and of the last reading, if any; they must be known."""
        return self._merged if last is None else self._with(last)

    def _with(self, reading: Reading) -> tuple[Word, ...]:
        return join(self._merged, reading.words or (), reading.stretch)


def plain(text: str) -> str:
    """A word as it is compared: lower case, letters and digits only."""
    return "".join(c for c in text.lower() if c.isalnum())


def middle(word: Word) -> int:
    """The middle of a word's place."""
    return (word.start + word.end) // 2


def join(left: Sequence[Word], right: Sequence[Word], stretch: Stretch) -> tuple[Word, ...]:
    """The words of two readings that overlap, each once.

    Args:
        left: all words up to the cut, as read without what follows it.
        right: the words of `stretch`, which begins before the cut, at `stretch.own`.
        stretch: what `right` was read from.
    Returns:
        Words in order. Of a cut within speech the left reading's last words may be halves: from the last word that
        both agree on the right reading counts. In a pause both heard whole words: the left reading counts up to the
        cut, the right one after it, and agreement says which is which where the times are off. What follows the left
        reading's last word in the right one is new, wherever it was placed.
    """
    cut, tail = stretch.own, stretch.offset
    trusted = [word for word in left if not stretch.forced or word.end <= cut - SPLIT]
    first = next((n for n, word in enumerate(trusted) if word.end > tail), len(trusted))
    pairs = agreement(trusted[first:], [word for word in right if word.start < cut + NEAR])
    if pairs:
        last, begin = first + pairs[-1][0], pairs[-1][1] + 1
        if stretch.forced or last == len(left) - 1:
            return (*trusted[: last + 1], *right[begin:])
        return (*left, *(word for word in right[begin:] if word.end > cut + JITTER))
    if len(trusted) - first >= SKIPPED_WORDS:
        new = list(right)
    elif stretch.forced or first == len(trusted):
        edge = trusted[-1].end if trusted else tail
        new = [word for word in right if middle(word) >= edge]
    else:
        new = [word for word in right if word.end > cut + JITTER]
    halves = [word for word in left[len(trusted) :] if not new or word.end <= new[0].start]
    return (*trusted, *halves, *new)


def agreement(left: Sequence[Word], right: Sequence[Word], *, near: int | None = NEAR) -> list[tuple[int, int]]:
    """The words that two readings have in common: pairs of equal words in order, as many and as close as can be.

    Args:
        left: one reading.
        right: the other.
        near: how many samples apart the middles of a pair may be; the farther apart they are the less a pair is worth,
            exp(-(distance / USUALLY_NEAR)²), so that a repeated word is paired with itself. None: places don't matter.
    """
    ours, theirs = [plain(word.text) for word in left], [plain(word.text) for word in right]

    def worth(i: int, j: int) -> float:
        if not ours[i] or ours[i] != theirs[j]:
            return 0.0
        apart = abs(middle(left[i]) - middle(right[j])) if near else 0
        return exp(-((apart / USUALLY_NEAR) ** 2)) if not near or apart <= near else 0.0

    pair = [[worth(i, j) for j in range(len(right))] for i in range(len(left))]
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            found = pair[i][j] + best[i + 1][j + 1] if pair[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], found)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if pair[i][j] and best[i][j] == pair[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


UNSPACED = frozenset({"zh", "ja", "th", "lo", "my", "km", "yue", "bo"})
"""Languages written without spaces between words."""


def text_of(words: Sequence[Word], language: str) -> str:
    """The words as a text."""
    if any(word.text[:1].isspace() for word in words):
        return "".join(word.text for word in words).strip()
    return ("" if language in UNSPACED else " ").join(word.text for word in words)

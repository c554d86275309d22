"""The readings of windows and how their words are put together: none split, none lost, none twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from audio.types import Purpose, Word, samples_of
from audio.windows import WindowAudio

MAX_DISTANCE = samples_of(1000)
"""Two readings of one word lie at most so far apart."""
MISSED_OVERLAP_WORDS = 3
"""A reading that has none of so many words of its tail left the tail out, and stretched its first words over it."""
TYPICAL_DISTANCE = samples_of(200)
"""Two readings of one word mostly lie closer than this, two words farther."""
SPLIT_WORD_MARGIN = samples_of(200)
"""A word that ends so near to a cut within speech may be half a word."""
TIMING_JITTER = samples_of(100)
"""A word that reaches so little over a cut in a pause lies before it."""
MAX_ATTEMPTS = 2
"""How often a reading that counts is tried."""


@dataclass(eq=False, slots=True)
class WindowTranscription:
    """One stretch that is being read or was: `until` is how far it reaches, `words` None until they are known.

    `troubled`: the transcriber failed, so the words are what had been understood before.
    """

    audio: WindowAudio
    until: int
    purpose: Purpose
    words: tuple[Word, ...] | None = None
    attempts: int = 0
    failed: bool = False


class WindowTranscriptions:
    """Which transcriptions are awaited, and the words of the windows that are closed."""

    def __init__(self) -> None:
        self._ids = 0
        self._awaited: dict[int, WindowTranscription] = {}
        self._closed: list[tuple[WindowTranscription, int]] = []
        self._merged: tuple[Word, ...] = ()
        self._merged_until = 0

    @property
    def unmerged(self) -> int:
        """Closed windows whose words are not in `merged` yet."""
        return len(self._closed)

    @property
    def merged_words(self) -> tuple[Word, ...]:
        """The words of the first closed windows."""
        return self._merged

    @property
    def merged_until(self) -> int:
        """Place in the answer up to which `merged` reaches."""
        return self._merged_until

    def register(self, reading: WindowTranscription) -> int:
        """An id under which the words of a reading are awaited."""
        self._ids += 1
        reading.attempts += 1
        self._awaited[self._ids] = reading
        return self._ids

    def take(self, request_id: int) -> WindowTranscription | None:
        """What was awaited under an id; None if nobody waits for it any more."""
        return self._awaited.pop(request_id, None)

    def cancel(self, reading: WindowTranscription) -> list[int]:
        """Await a reading no longer; returns the ids it had."""
        ids = [request_id for request_id, awaited in self._awaited.items() if awaited is reading]
        for request_id in ids:
            del self._awaited[request_id]
        return ids

    def close(self, reading: WindowTranscription, edge: int) -> None:
        """The window of this reading is over at the place `edge`; the reading is its last."""
        self._closed.append((reading, edge))

    def merge(self) -> bool:
        """Join the words that are known by now, window after window; whether there were any."""
        merged = False
        while self._closed and self._closed[0][0].words is not None:
            reading, self._merged_until = self._closed.pop(0)
            self._merged = self._merged_with(reading)
            merged = True
        return merged

    def all_known(self, last: WindowTranscription | None) -> bool:
        """Whether all words up to those of the last reading, if any, are known."""
        return not self._closed and (last is None or last.words is not None)

    def words(self, last: WindowTranscription | None) -> tuple[Word, ...]:
        """All words of the closed windows and of the last reading, if any; they must be known."""
        return self._merged if last is None else self._merged_with(last)

    def _merged_with(self, reading: WindowTranscription) -> tuple[Word, ...]:
        return join_overlapping(self._merged, reading.words or (), reading.audio)


def comparison_key(text: str) -> str:
    """A word as it is compared: lower case, letters and digits only."""
    return "".join(c for c in text.lower() if c.isalnum())


def word_middle(word: Word) -> int:
    """The middle of a word's place."""
    return (word.start + word.end) // 2


def join_overlapping(left: Sequence[Word], right: Sequence[Word], audio: WindowAudio) -> tuple[Word, ...]:
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
    cut, tail = audio.window_start, audio.offset
    trusted = [word for word in left if not audio.cut_in_speech or word.end <= cut - SPLIT_WORD_MARGIN]
    first = next((n for n, word in enumerate(trusted) if word.end > tail), len(trusted))
    pairs = align_words(trusted[first:], [word for word in right if word.start < cut + MAX_DISTANCE])
    if pairs:
        last, begin = first + pairs[-1][0], pairs[-1][1] + 1
        if audio.cut_in_speech or last == len(left) - 1:
            return (*trusted[: last + 1], *right[begin:])
        return (*left, *(word for word in right[begin:] if word.end > cut + TIMING_JITTER))
    if len(trusted) - first >= MISSED_OVERLAP_WORDS:
        new = list(right)
    elif audio.cut_in_speech or first == len(trusted):
        edge = trusted[-1].end if trusted else tail
        new = [word for word in right if word_middle(word) >= edge]
    else:
        new = [word for word in right if word.end > cut + TIMING_JITTER]
    halves = [word for word in left[len(trusted) :] if not new or word.end <= new[0].start]
    return (*trusted, *halves, *new)


def align_words(
    left: Sequence[Word], right: Sequence[Word], *, max_distance: int | None = MAX_DISTANCE
) -> list[tuple[int, int]]:
    """The words that two readings have in common: pairs of equal words in order, as many and as close as can be.

    Args:
        left: one reading.
        right: the other.
        near: how many samples apart the middles of a pair may be; the farther apart they are the less a pair is worth,
            exp(-(distance / TYPICAL_DISTANCE)²), so that a repeated word is paired with itself. None: places don't matter.
    """
    ours, theirs = [comparison_key(word.text) for word in left], [comparison_key(word.text) for word in right]

    def similarity(i: int, j: int) -> float:
        if not ours[i] or ours[i] != theirs[j]:
            return 0.0
        apart = abs(word_middle(left[i]) - word_middle(right[j])) if max_distance else 0
        return exp(-((apart / TYPICAL_DISTANCE) ** 2)) if not max_distance or apart <= max_distance else 0.0

    pair = [[similarity(i, j) for j in range(len(right))] for i in range(len(left))]
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


def join_words(words: Sequence[Word], language: str) -> str:
    """The words as a text."""
    if any(word.text[:1].isspace() for word in words):
        return "".join(word.text for word in words).strip()
    return ("" if language in UNSPACED else " ").join(word.text for word in words)

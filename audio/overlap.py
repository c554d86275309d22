"""Joins the words of two overlapping windows, so that no word is split, lost or doubled."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from audio.texts import comparison_key
from audio.types import Word, samples_of
from audio.windows import WindowAudio

MAX_DISTANCE = samples_of(1000)
"""Greatest distance between the positions of one word in two transcriptions: 1 s."""
TYPICAL_DISTANCE = samples_of(200)
"""Two transcriptions of one word mostly lie closer than this, two different words farther apart."""
MISSED_OVERLAP_WORDS = 3
"""If a transcription shares none of this many words of its overlap, it left the overlap out, and its first words were
stretched over it."""
SAME_SHARE = 0.6
"""If so many of the words of an overlap are the first ones of the transcription after it, they are the same words,
wherever they are placed."""
SEAM_WORDS = 3
"""Least number of words that are repeated at a join."""
SPLIT_WORD_MARGIN = samples_of(200)
"""A word that ends this close to a cut within speech may be half a word."""
TIMING_JITTER = samples_of(100)
"""A word that reaches over a cut in a pause by no more than this lies before the cut."""


def word_middle(word: Word) -> int:
    """The position of the middle of a word."""
    return (word.start + word.end) // 2


def join_overlapping(left: Sequence[Word], right: Sequence[Word], audio: WindowAudio) -> tuple[Word, ...]:
    """The words of an answer up to a cut and those of the window after it, each word once.

    In a cut within speech the last words of `left` may be halves: from the last word on which both agree, `right`
    counts. Around a cut in a pause both have whole words: `left` counts up to the cut and `right` after it, and the
    words on which they agree show which is which where positions are inexact. What follows the last word of `left` in
    `right` is new, whatever its position. Words that both have in the same order are the same ones even where positions
    are wrong, and what is placed before the cut and repeats the end of `left` is not said twice.

    Args:
        left: all words up to the cut, transcribed without the audio after it.
        right: the words of `audio`.
        audio: the window after the cut and its overlap: the cut is at `audio.window_start`, or `right` begins there.
    Returns:
        The words in order.
    """
    cut, overlap_start = audio.window_start, audio.offset
    trusted = [word for word in left if not audio.cut_in_speech or word.end <= cut - SPLIT_WORD_MARGIN]
    first = next((n for n, word in enumerate(trusted) if word.end > overlap_start), len(trusted))
    pairs = align_words(trusted[first:], [word for word in right if word.start < cut + MAX_DISTANCE])
    misplaced = _misplaced_pairs(trusted[first:], right, len(pairs))
    if misplaced:
        return (*(trusted if audio.cut_in_speech else left), *right[misplaced[-1][1] + 1 :])
    if pairs:
        last, begin = first + pairs[-1][0], pairs[-1][1] + 1
        while last + 1 < len(trusted) and begin < len(right) and _same(trusted[last + 1], right[begin]):
            last, begin = last + 1, begin + 1
        if audio.cut_in_speech or last == len(left) - 1:
            return (*trusted[: last + 1], *right[begin:])
        new = [word for word in right[begin:] if word.end > cut + TIMING_JITTER]
        return (*(left[:-1] if new and _is_beginning(left[-1], new[0]) else left), *new)
    if len(trusted) - first >= MISSED_OVERLAP_WORDS:
        new = list(right)
    elif audio.cut_in_speech or first == len(trusted):
        trusted_end = trusted[-1].end if trusted else overlap_start
        new = [word for word in right if word_middle(word) >= trusted_end]
    else:
        new = [word for word in right if word.end > cut + TIMING_JITTER]
    halves = [word for word in left[len(trusted) :] if not new or word.end <= new[0].start]
    before = [*trusted, *halves]
    if new and before and _is_beginning(before[-1], new[0]):
        return (*before[:-1], *new)
    return (*before, *new[_repeated_words(before, new, audio) :])


def _is_beginning(word: Word, whole: Word) -> bool:
    """Whether a word is the beginning of one that was heard whole: "part-" of "participant"."""
    begins, key = comparison_key(word.text), comparison_key(whole.text)
    return begins != "" and key.startswith(begins) and abs(word.start - whole.start) <= TYPICAL_DISTANCE


def _same(one: Word, other: Word) -> bool:
    key = comparison_key(one.text)
    return bool(key) and key == comparison_key(other.text)


def _misplaced_pairs(overlap: Sequence[Word], right: Sequence[Word], placed: int) -> list[tuple[int, int]]:
    """The words of an overlap and the first ones of `right`, if most are the same and only positions tell them apart.

    Args:
        overlap: the words of the overlap, transcribed before.
        right: those of the window after it.
        placed: how many pairs there are by their positions.
    """
    if len(overlap) < MISSED_OVERLAP_WORDS or placed >= SAME_SHARE * len(overlap):
        return []
    pairs = align_words(overlap, right[: len(overlap) + 1], max_distance=None)
    return pairs if len(pairs) >= max(MISSED_OVERLAP_WORDS, SAME_SHARE * len(overlap)) else []


def _repeated_words(left: Sequence[Word], right: Sequence[Word], audio: WindowAudio) -> int:
    """How many of the first words of `right` are the last ones of `left` once more, all of them in the overlap."""
    ends, begins = [comparison_key(word.text) for word in left], [comparison_key(word.text) for word in right]
    for count in range(min(len(ends), len(begins)), SEAM_WORDS - 1, -1):
        in_overlap = left[-count].end > audio.offset and right[0].start < audio.window_start
        if in_overlap and ends[-count:] == begins[:count]:
            return count
    return 0


def align_words(
    left: Sequence[Word], right: Sequence[Word], *, max_distance: int | None = MAX_DISTANCE
) -> list[tuple[int, int]]:
    """The words that two transcriptions have in common.

    The pairs are those with the greatest total similarity. Equal words have the similarity
    exp(-(distance / TYPICAL_DISTANCE)²), so that a repeated word is paired with itself.

    Args:
        left: one transcription.
        right: the other.
        max_distance: greatest distance between the middles of a pair, in samples; None: positions are ignored and all
            equal words have the similarity 1.
    Returns:
        Pairs of indices of equal words, both ascending.
    """
    left_keys, right_keys = [comparison_key(word.text) for word in left], [comparison_key(word.text) for word in right]

    def similarity(i: int, j: int) -> float:
        if not left_keys[i] or left_keys[i] != right_keys[j]:
            return 0.0
        distance = abs(word_middle(left[i]) - word_middle(right[j])) if max_distance else 0
        return exp(-((distance / TYPICAL_DISTANCE) ** 2)) if not max_distance or distance <= max_distance else 0.0

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

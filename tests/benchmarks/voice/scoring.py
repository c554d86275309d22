"""Words against words: how texts are made comparable, how errors are counted, and how sure a rate is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROUNDS = 4000
"""Resamples of a bootstrap."""
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_SHORT = {
    "i'm": "i am", "i'd": "i would", "i'll": "i will", "i've": "i have", "you'd": "you would", "you'll": "you will",
    "you've": "you have", "you're": "you are", "it's": "it is", "that's": "that is", "there's": "there is",
    "can't": "can not", "cannot": "can not", "won't": "will not", "don't": "do not", "didn't": "did not",
    "isn't": "is not", "they're": "they are", "we're": "we are", "ok": "okay", "mr": "mister", "mrs": "missus",
    "#": "pound", "*": "star", "@": "at", "&": "and", "voicemail": "voice mail", "mailbox": "mail box",
    "touchtone": "touch tone", "goodbye": "good bye",
}  # fmt: skip


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: lower case, numbers and signs as words, contractions opened."""
    text = text.lower().replace("’", "'").replace("www.", "www dot ").replace(".org", " dot org")
    found: list[str] = []
    for piece in re.findall(r"[^\W_]+(?:'[^\W_]+)*|[#*@&]", text):
        opened = _SHORT.get(piece, piece)
        for word in opened.split():
            found += _number(word) if word.isdigit() else [word.replace("'", "")]
    return found


def _number(digits: str) -> list[str]:
    """Up to 9 999 as it is said; longer ones digit by digit."""
    value = int(digits)
    if len(digits) > 4 or (digits.startswith("0") and len(digits) > 1):
        return [_ONES[int(each)] for each in digits]
    said: list[str] = []
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if value >= size:
            said += [_ONES[value // size], name]
            value %= size
    if value >= 20:
        said.append(_TENS[value // 10])
        value %= 10
        if not value:
            return said
    return said if said and not value else [*said, _ONES[value]]


@dataclass(frozen=True)
class Errors:
    """How a text differs from what was said."""

    words: int
    substituted: int = 0
    deleted: int = 0
    inserted: int = 0

    @property
    def total(self) -> int:
        return self.substituted + self.deleted + self.inserted

    @property
    def found(self) -> int:
        """Words that were understood."""
        return self.words - self.substituted - self.deleted

    def __add__(self, other: Errors) -> Errors:
        return Errors(
            self.words + other.words,
            self.substituted + other.substituted,
            self.deleted + other.deleted,
            self.inserted + other.inserted,
        )


def errors(said: str, understood: str) -> Errors:
    """The least errors that turn what was said into what was understood."""
    ours, theirs = words_of(said), words_of(understood)
    pairs = steps(ours, theirs)
    return Errors(
        len(ours),
        substituted=sum(a is not None and b is not None and a != b for a, b in pairs),
        deleted=sum(b is None for _, b in pairs),
        inserted=sum(a is None for a, _ in pairs),
    )


def steps(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[str | None, str | None]]:
    """Two texts word by word: pairs, None where one of them has no word."""
    rows, columns = len(ours), len(theirs)
    cost = np.zeros((rows + 1, columns + 1), np.int32)
    cost[:, 0], cost[0] = np.arange(rows + 1), np.arange(columns + 1)
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            same = cost[i - 1, j - 1] + (ours[i - 1] != theirs[j - 1])
            cost[i, j] = min(same, cost[i - 1, j] + 1, cost[i, j - 1] + 1)
    found: list[tuple[str | None, str | None]] = []
    i, j = rows, columns
    while i or j:
        if i and j and cost[i, j] == cost[i - 1, j - 1] + (ours[i - 1] != theirs[j - 1]):
            i, j = i - 1, j - 1
            found.append((ours[i], theirs[j]))
        elif i and cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
            found.append((ours[i], None))
        else:
            j -= 1
            found.append((None, theirs[j]))
    return found[::-1]


@dataclass(frozen=True)
class Rate:
    """A rate in percent with the interval that holds it in 95 of 100 resamples."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def rate(numerators: Sequence[float], denominators: Sequence[float], seed: int = 1) -> Rate:
    """Pooled rate of pairs, in percent; whole pairs are resampled.

    Args:
        numerators: errors of each recording, or the difference of two counts of errors.
        denominators: words of each recording.
        seed: of the resampling.
    """
    above, below = np.asarray(numerators, float), np.asarray(denominators, float)
    drawn = np.random.default_rng(seed).integers(0, len(above), (ROUNDS, len(above)))
    rates = 100 * above[drawn].sum(axis=1) / below[drawn].sum(axis=1)
    low, high = np.percentile(rates, [2.5, 97.5])
    return Rate(100 * above.sum() / below.sum(), float(low), float(high))


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed; not a number where there are none."""
    return float(np.quantile(values, share, method="higher")) if values else float("nan")

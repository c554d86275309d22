"""How the figures of a name are spoken (English), so that it is known in answers that have them in words."""

from __future__ import annotations

import re
from itertools import product

MOST = 10_000
"""Figures from which on nobody is expected to say them in one of the known ways."""
CURRENCIES = ("euros", "euro", "pounds", "dollars")
_FIGURE = re.compile(r"(?<![\w.,])(\d{1,5})(?:[.,](\d{2}))?(?![\w]|[.,]\d)")
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def spoken(name: str) -> tuple[str, ...]:
    """The ways in which a name with figures is said; none for a name without any.

    "3.90" → "three ninety", "three euros ninety" and so on; "15 euros" → "fifteen euros".
    """
    found = list(_FIGURE.finditer(name))
    if not found or len(found) > 2 or any(int(one[1]) >= MOST for one in found):
        return ()
    ways = [_ways(int(one[1]), one[2]) for one in found]
    said = []
    for chosen in product(*ways):
        parts, at = [], 0
        for one, words in zip(found, chosen, strict=True):
            parts += [name[at : one.start()], words]
            at = one.end()
        said.append("".join((*parts, name[at:])))
    return tuple(dict.fromkeys(said))


def _ways(whole: int, cents: str | None) -> tuple[str, ...]:
    if cents is None or cents == "00":
        return _of_number(whole)
    rest = _below_hundred(int(cents))
    return tuple(
        f"{one} {between}{rest}" for one in _of_number(whole) for between in ("", *(f"{c} " for c in CURRENCIES))
    )


def _of_number(number: int) -> tuple[str, ...]:
    if number < 100:
        return (_below_hundred(number),)
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        heads = (f"{_SMALL[hundreds]} hundred", *(("a hundred", "hundred") if hundreds == 1 else ()))
        if not rest:
            return heads
        return tuple(f"{head} {joint}{_below_hundred(rest)}" for head in heads for joint in ("and ", ""))
    thousands, rest = divmod(number, 1000)
    if rest:
        return ()
    return (f"{_SMALL[thousands]} thousand", *(("a thousand",) if thousands == 1 else ()))


def _below_hundred(number: int) -> str:
    if number < len(_SMALL):
        return _SMALL[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")

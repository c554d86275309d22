"""Whether somebody has told what only grown-ups tell of themselves (English)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_OWN: Final = re.compile(
    r"\bmy (?:own )?(?:\w+ )?(?:wife|husband|ex-?(?:wife|husband)|fianc[eé]e?|kids?|children|grand\w+|daughters?|sons?"
    r"|mortgage|pension|retirement|tenants?|employees?|patients?|pupils|divorce)\b"
    r"|\b(?:the )?wife(?:'s|s)? (?:on|at|says|said|and|is|was|does|did|works|makes|goes)\b"
    r"|\bi(?:'m| am|'ve been| have been| was|'ve) (?:\w+ )?(?:retired|divorced|widowed|married|a widow(?:er)?"
    r"|self-employed|on (?:my )?maternity)\b"
    r"|\bi(?:'m| am) (?:a |an |the )?(?:\w+ )?(?:nurse|teacher|midwife|plumber|carpenter|joiner|electrician|lawyer"
    r"|doctor|engineer|accountant|pensioner|mother|father|mum|dad|mam|grand\w+|landlord|landlady|bookkeeper|postman"
    r"|mechanic)\b"
    r"|\b(?:when|since|after) we (?:got )?married\b|\bmarried (?:for )?(?:\d+|\w+) years\b"
    r"|\b(?:me|i) (?:earlies|lates|nights)\b|\b(?:early|late|night) shifts?\b",
    re.IGNORECASE,
)
_NOT_OWN: Final = re.compile(
    r"\bmy (?:mum|mom|mam|dad|mother|father|parents?|teacher|friend|boss|brother|sister)'?s?\s*$", re.I
)
"""What stands before words that are of somebody else's."""


def speaks_as_grown_up(texts: Iterable[str]) -> bool:
    """Whether any of the answers tells of a spouse, children, a pension or a trade of their own."""
    return any(
        _NOT_OWN.search(text[: found.start()]) is None
        for text in texts
        for found in _OWN.finditer(text.replace("’", "'"))
    )

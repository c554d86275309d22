"""Hedges around a statement: "It could be that …, but I might be wrong." (English)."""

from __future__ import annotations

import re

_LEAD = (
    r"(?:well|oh|hm+|honestly|frankly|truthfully|actually|really|basically|obviously|look|i mean|you know|"
    r"maybe|perhaps|possibly|probably|presumably|i suppose|i guess|i think|i'd say|i would say|i imagine|"
    r"sort of|kind of|it (?:could|might|may) be that|could be that|it (?:could|might) be|not sure|"
    r"i'm not (?:really |quite )?sure|i am not (?:really |quite )?sure|i don't (?:really )?know|hard to say|"
    r"if i'm honest|to be honest|but|or)"
)
_TAIL = (
    r"(?:or (?:something|anything)(?: like that)?|or so|i guess|i suppose|i think|kind of|sort of|maybe|perhaps|"
    r"but i (?:might|could|may) be wrong(?: there| about that)?|but i'm not (?:really |quite )?sure(?: about that)?|"
    r"if that makes sense|if you know what i mean|don't quote me(?: on that)?)"
)
_EDGES = (
    re.compile(rf"(?:^|(?<=[.!?]\s))(?:{_LEAD}\b[,;…\s]+)+", re.I),
    re.compile(rf"(?:[,;\s]+{_TAIL})+(?=\s*(?:[.!?]|$))", re.I),
)


def without_hedges(text: str) -> str:
    """The text with hedges at the edges of its sentences blanked out, each place of the rest where it was."""
    for edge in _EDGES:
        text = edge.sub(lambda match: " " * len(match.group(0)), text.replace("’", "'"))
    return text

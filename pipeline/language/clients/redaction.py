"""Removal of keys from logs, messages and errors."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

HIDDEN: Final = "[hidden]"
SHOWN_CHARACTERS: Final = 240
READ_CHARACTERS: Final = 2_000

_KEYLIKE = re.compile(
    r"(?i)\b(?:sk|pk|rk|key|api|token|xox[bp]|gsk|hf)[-_][A-Za-z0-9_\-*.]{6,}"
    r"|\bbearer\s+[^\s\"',;]{6,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}[A-Za-z0-9_.\-]*"
)
_TAG = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]{0,500}>")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
_WORD = re.compile(r"\S+")
_FRAGMENT = 8


def redacted(text: str, secret: str | None) -> str:
    """A text without a secret, without any longer fragment of it, and without whatever looks like a key."""
    if secret:
        # A key of a few letters, as servers of one's own have, is a part of many words.
        whole = rf"(?<!\w){re.escape(secret)}(?!\w)" if len(secret) < _FRAGMENT else re.escape(secret)
        text = re.sub(whole, HIDDEN, text)
        if len(secret) > _FRAGMENT:
            fragments = {secret[start : start + _FRAGMENT] for start in range(len(secret) - _FRAGMENT + 1)}
            text = _WORD.sub(lambda word: HIDDEN if _holds(word.group(), fragments) else word.group(), text)
    return _KEYLIKE.sub(HIDDEN, text)


def shown(text: str, secret: str | None) -> str:
    """A provider's message as one line of at most `SHOWN_CHARACTERS`, without tags and secrets."""
    line = _SPACE.sub(" ", _TAG.sub(" ", redacted(text, secret)[:READ_CHARACTERS])).strip()
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1].rstrip() + "…"


def shown_url(url: str) -> str:
    """A URL without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" if parts.scheme else f"{host}{parts.path}"


def _holds(word: str, fragments: set[str]) -> bool:
    return any(word[start : start + _FRAGMENT] in fragments for start in range(len(word) - _FRAGMENT + 1))

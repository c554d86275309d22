"""Prepares respondents' words for prompts: removes invisible characters, and delimits them from the instructions.

Long texts go into a block whose tag carries a number that does not occur in the text, so that no text can close its
own block. Labels, quotes and lines go out as JSON strings: one line each, quotation marks and backslashes escaped.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable

from pipeline.ports import Line

_NONCE_CHARS = 12
_INVISIBLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Letters and marks that show nothing, besides the categories below: fillers, joiners, variation selectors, tags."""
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*\n")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})


class _Visible(dict[int, int | None]):
    """A translation table that leaves hidden characters out; it learns each character once."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        shown = character in "\n\t" or not (
            unicodedata.category(character) in _HIDDEN_CATEGORIES or _HIDDEN.match(character)
        )
        self[code] = found = code if shown else None
        return found


_VISIBLE = _Visible()
NO_ANSWER = "(preferred not to answer)"


def clean(text: str) -> str:
    """The text as it is sent: without characters that nobody sees, line breaks all alike.

    Left out are control characters (but for line breaks and tabs), zero-width characters, marks of direction, tags,
    variation selectors, private use and halves of surrogate pairs.
    """
    if text.isascii() and text.isprintable():
        return text
    return _BREAKS.sub("\n", text).translate(_VISIBLE)


def quoted(text: str) -> str:
    """The text as a JSON string on one line: a label, a quote, a line of the conversation."""
    return json.dumps(clean(text), ensure_ascii=False)


def conversation(lines: Iterable[Line]) -> list[dict[str, str]]:
    """Utterances as prompts show them: `speaker`, and `text` as a JSON string; a skipped question has no answer."""
    return [
        {"speaker": line.speaker, "text": quoted(line.text) if clean(line.text).strip() else NO_ANSWER}
        for line in lines
    ]


def block(tag: str, text: str, seed: int = 0) -> str:
    """The text between an opening and a closing tag that no part of it can imitate; many blank lines become one.

    Args:
        tag: what it is, such as "answer"; letters only.
        text: anything.
        seed: the session's, so that the number can't be told from the text alone.
    """
    body = _BLANK_LINES.sub("\n\n", clean(text)).strip("\n")
    name = f"{tag}-{nonce(body, seed)}"
    return f"<{name}>\n{body}\n</{name}>"


def nonce(text: str, seed: int) -> str:
    """Hexadecimal digits that do not occur in the text, the same for the same text and seed."""
    lowered = text.lower()
    for attempt in range(len(text) + 1):
        digest = hashlib.sha256(f"{seed}/{attempt}/{text}".encode()).hexdigest()
        found = digest[:_NONCE_CHARS]
        if found not in lowered:
            return found
    raise AssertionError("a text has fewer substrings than there were attempts")

"""Rules for templates: which may be used for a phrase, how they are filled, whether one was asked before.

Placeholders: `{topic}` the concept's name; `{focus}` the respondent's concept inside the sentence; `{mention}` a
sentence of its own that takes the concept up; `{element}` what a question without a concept is about, as it is called,
which is filled in later; `{said}` the same as a sentence of the respondent's that is said back, where it can be;
`{does}`, `{is}`, `{was}` verbs that agree with `{focus}` or `{thing}`; the ways of a
rendering (`WAYS`) what was told, as a part of the question's own sentence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from pipeline.question.phrases import Phrase
from pipeline.question.text import words

_SLOT = re.compile(r"\{(\w+)\}")
_AGREEMENT = {"does": ("does", "do"), "is": ("is", "are"), "was": ("was", "were")}
Item = TypeVar("Item")
WAYS = frozenset({"clause", "gerund", "act", "deed", "feeling", "other", "other_act", "thing"})
"""Placeholders that a `Rendering` fills."""
PLACEHOLDERS = frozenset({"topic", "focus", "mention", "element", "said", *_AGREEMENT, *WAYS})
"""All placeholders that something fills in."""


def placeholders(template: str) -> frozenset[str]:
    """Names of the placeholders in a template."""
    return frozenset(_SLOT.findall(template))


def suits(template: str, phrase: Phrase | None) -> bool:
    """Whether a template can be asked about a phrase, or about nothing in particular where there is none."""
    slots = placeholders(template)
    if phrase is None:
        return not slots & ({"focus", "mention"} | WAYS)
    if slots & WAYS:
        if "gerund" in slots and " " not in phrase.rendering.gerund:
            return False  # “What was it like, laughing?” leaves out at what.
        return all(getattr(phrase.rendering, way) for way in slots & WAYS)
    return "mention" in slots or ("focus" in slots and phrase.inline)


def fill(template: str, *, topic: str, phrase: Phrase | None = None, mention: str = "") -> str:
    """The template with everything in its place and a capital letter at every sentence's start."""
    values = {
        "topic": topic,
        "focus": phrase.text if phrase else "",
        "mention": mention,
        "element": "{element}",
        "said": "{said}",
    }
    if phrase is not None:
        values.update({way: getattr(phrase.rendering, way) for way in WAYS})
    plural = bool(phrase and (phrase.rendering.plural if "thing" in placeholders(template) else phrase.plural))
    for name, forms in _AGREEMENT.items():
        values[name] = forms[plural]
    text = " ".join(_SLOT.sub(lambda match: values.get(match.group(1), ""), template).split())
    return capitalised(text)


def capitalised(text: str) -> str:
    """The text with capital letters where sentences begin; a quotation keeps its own."""
    return re.sub(r"(^|[.?!]\s+)([a-zäöü])", lambda match: match.group(1) + match.group(2).upper(), text)


def uncapitalised(text: str) -> str:
    """The text as it reads after a colon; “I” and names of more capitals keep theirs."""
    if re.match(r"I\b|I'|[A-Z]{2}", text):
        return text
    return text[:1].lower() + text[1:]


def was_asked(template: str, question: str) -> bool:
    """Whether a question was made from a template: all its fixed parts occur in order."""
    said, at = _in_words(question), 0
    parts = _fixed_parts(template)
    if not any(parts):
        return False
    for part in parts:
        if not part:
            continue
        at = said.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


@lru_cache(maxsize=4096)
def _fixed_parts(template: str) -> tuple[str, ...]:
    return tuple(_in_words(part) for part in _SLOT.split(template)[::2])


@lru_cache(maxsize=8192)
def _in_words(text: str) -> str:
    """The words of a text with a space between them; each question is compared with many templates, in each turn."""
    return " ".join(words(text))


def stable_hash(*of: object) -> int:
    """A hash of the arguments in [0, 2⁶⁴ − 1], the same in every process."""
    text = "/".join(str(part) for part in of)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def shuffled(items: Iterable[Item], *of: object) -> list[Item]:
    """The items in an order that depends on `of` alone."""
    return [item for _, item in sorted(enumerate(items), key=lambda pair: stable_hash(*of, pair[0]))]


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """The items, beginning `by` further on."""
    at = by % len(items) if items else 0
    return [*items[at:], *items[:at]]

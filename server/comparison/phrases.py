"""The words of the moderator's page, in English, for what the command line says about a decision."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

_LINE = re.compile(r'^\s*"(mod\.(?:why|reason|heard)[^"]*)": ("(?:[^"\\]|\\.)*"),?$', re.MULTILINE)


@lru_cache(maxsize=1)
def phrases() -> Mapping[str, str]:
    """By key, such as `mod.why.phase`: why a question was asked, why an interview ended, what was heard."""
    text = (files("web") / "static" / "texts" / "moderator.en.js").read_text(encoding="utf-8")
    return {key: json.loads(value) for key, value in _LINE.findall(text)}


def phrase(key: str, **values: str) -> str:
    """The phrase of that key with its places filled in; empty where there is none."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], ""), phrases().get(key, ""))


def listed(parts: list[str]) -> str:
    """Parts of a sentence as one: `a`, `a and b`, `a, b, and c`."""
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def in_words(name: str) -> str:
    """A name of code as it reads."""
    return name.replace("_", " ")

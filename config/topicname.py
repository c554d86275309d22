"""What a concept's name has to be so that questions can be made with it: “What else matters to you about {name}?”."""

from __future__ import annotations

import re

from pipeline.question.lexicon import FINITE, PURE_VERBS
from pipeline.question.text import words

LONGEST_NAME = 6
"""More words than this nobody says in a question."""
_QUESTION_WORDS = frozenset(("what", "why", "how", "who", "where", "when", "which", "whether"))
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)


def reads_badly(name: str, language: str) -> str | None:
    """Why questions with a name will read badly; None if nothing tells so.

    Args:
        name: of the topic, as questions say it.
        language: the concept's first language, as a tag; verbs are known in English only.
    """
    said = words(name)
    example = f"questions will say “{name}” as in “What matters to you about {name}?”"
    if not said:
        return "the name has no words"
    if re.search(r"[.?!:;]", name):
        return f"a sentence or a title is no name: {example}"
    if len(said) > LONGEST_NAME:
        return f"a name of {len(said)} words is hard to say: {example}"
    if not language.casefold().startswith("en") or not _LATIN.search(name):
        return None
    if said[0] in _QUESTION_WORDS or any(word in FINITE for word in said[1:]):
        return f"a clause is no name, a noun or a verb in -ing is: {example}"
    if said[0] in PURE_VERBS:
        return f"a verb in -ing or a noun fits, “{said[0]}” does not: {example}"
    return None

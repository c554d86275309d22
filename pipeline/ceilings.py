"""What a respondent knows no more of, as a rating or their own words tell it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import Field

from pipeline.engines.base import DecisionInputs
from pipeline.focus import Target
from pipeline.graph.surface import label_key
from pipeline.methodology import Spec
from pipeline.subjects import about, answer_of, facts_of, language_of, quality_of

ALIKE = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ـ": None, "'": None, "’": None, "`": None})
"""Letters that are written in several ways, and signs that are often left out."""
ENDS = '.!?;:…،؛؟()[]"“”„«»–—\n'
"""Signs that end what was said; a comma does too, where nothing follows that belongs to it."""


@dataclass(frozen=True)
class Ceiling:
    """Something of which the respondent knows no more: the ids or labels of what it is, and the turn that told it."""

    about: tuple[str, ...]
    turn: int


class CeilingRules(Spec):
    """How it is told that a respondent knows no more of something."""

    use_llm_signals: bool = Field(default=True, description="Go by the rating of a language model, where there is one.")
    window: int = Field(default=10, ge=1, description="Turns that it counts for.")
    dont_know: dict[str, tuple[str, ...]] = Field(
        default={},
        description="Per language: words for not knowing. They count where they are all that a part of the answer "
        "says, but for the words of `before` and `after`.",
    )
    before: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words that may come right before, such as those for the speaker."
    )
    after: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words that what comes right after may begin with; others take it back."
    )
    complements: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words with which what is not known may begin even after a comma."
    )
    curious: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words of somebody who goes on exploring, which outweigh the others."
    )


def ceilings_after(before: Sequence[Ceiling], inputs: DecisionInputs, rules: CeilingRules) -> tuple[Ceiling, ...]:
    """What the respondent knows no more of, with what this answer adds.

    It is what the last question was about; where that was nothing in particular, what the answer itself mentions.
    """
    turn = inputs.turn_count
    known = tuple(ceiling for ceiling in before if turn - ceiling.turn < rules.window)
    if not _knows_no_more(inputs, rules):
        return known
    asked = inputs.questions[-1] if inputs.questions else None
    what = about(asked.target, asked.key, asked.label) if asked is not None and asked.turn == turn - 1 else ()
    if asked is None or asked.target is None:
        what = tuple(node.key for node in facts_of(inputs) if node.last_mention_turn == turn)
    return (*known, Ceiling(what, turn)) if what else known


def ceiling_on(target: Target | None, ceilings: Sequence[Ceiling]) -> Ceiling | None:
    """The ceiling that a target is about, if there is one."""
    if target is None:
        return None
    own = {*target.ids, label_key(target.label)}
    return next((ceiling for ceiling in ceilings if own & set(ceiling.about)), None)


def remembered(ceilings: Sequence[Ceiling]) -> list[list[object]]:
    """Ceilings as JSON values, for an engine's state; `recalled` reads them."""
    return [[list(ceiling.about), ceiling.turn] for ceiling in ceilings]


def recalled(values: Sequence[Sequence[object]]) -> tuple[Ceiling, ...]:
    """Ceilings as `remembered` wrote them."""
    return tuple(Ceiling(tuple(about), int(str(turn))) for about, turn in values if isinstance(about, list))


def is_at_a_loss(answer: str, language: str, rules: CeilingRules) -> bool:
    """Whether an answer says that its speaker knows no more, by the rules' words.

    "I don't know" does, and so does "I don't know about that"; "I don't know anyone who makes it better" does not, nor
    does "you don't know", nor what goes on exploring.
    """
    text = plain(answer)
    if _says(text, rules.curious.get(language, ())):
        return False
    before, after, opens = (
        {plain(word) for word in listed.get(language, ())} for listed in (rules.before, rules.after, rules.complements)
    )
    phrases = rules.dont_know.get(language, ())
    return any(
        _is_spoken_for_oneself(text[: found.start()], before) and _is_all(text[found.end() :], after, opens)
        for found in (_pattern(phrases).finditer(text) if phrases else ())
    )


def plain(text: str) -> str:
    """A text as it is compared: without case, apostrophes, vowel signs of Arabic, and other ways to write a letter."""
    kept = (sign for sign in unicodedata.normalize("NFC", text.casefold()) if unicodedata.category(sign) != "Mn")
    return " ".join("".join(kept).translate(ALIKE).split())


def _knows_no_more(inputs: DecisionInputs, rules: CeilingRules) -> bool:
    quality = quality_of(inputs) if rules.use_llm_signals else None
    if quality is not None:
        if quality.knowledge_ceiling != "none":
            return quality.knowledge_ceiling == "terminal"
        return quality.uncertainty == "terminal"
    return is_at_a_loss(answer_of(inputs), language_of(inputs), rules)


def _is_spoken_for_oneself(text: str, before: set[str]) -> bool:
    """Whether what comes before begins a part of the answer, or ends with a word that may be there."""
    text = text.rstrip()
    return not text or text[-1] in f",{ENDS}" or text.split()[-1] in before


def _is_all(text: str, after: set[str], opens: set[str]) -> bool:
    """Whether nothing comes after that makes it something else."""
    text = text.lstrip()
    if text.startswith(","):
        text = text[1:].lstrip()
        if text.split(maxsplit=1)[:1] and text.split(maxsplit=1)[0].strip(f",{ENDS}") not in opens:
            return True
    return not text or text[0] in ENDS or _begins(text, after)


def _begins(text: str, after: set[str]) -> bool:
    return any(text.startswith(word) and not text[len(word) : len(word) + 1].isalnum() for word in after)


def _says(text: str, phrases: tuple[str, ...]) -> bool:
    return bool(phrases) and bool(_pattern(phrases).search(text))


@lru_cache(maxsize=64)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(plain(phrase)) for phrase in phrases) + r")(?!\w)")

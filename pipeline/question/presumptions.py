"""What a question takes for granted that nobody told of (English): strong feelings, wrongs, and facts of its own.

“How badly did he humiliate you?” puts a word into somebody's mouth who only said that he laughed. Words of one family
stand for each other: who said “anger” may be asked what made them angry.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pipeline.question.patterns import word_set
from pipeline.question.refusals import Refusal

FAMILIES = tuple(
    map(
        word_set,
        (
            "angry anger angrier furious fury rage raging livid outraged enraged mad fuming temper cross seething",
            "ashamed shame shameful embarrassed embarrassing embarrass embarrassment humiliated humiliating humiliate "
            "humiliation mortified humbled belittled belittle small stupid red",
            "guilty guilt remorse fault blame blamed blaming",
            "jealous jealousy envious envy",
            "betrayed betray betrayal deceived deceive cheated cheat lied lie lying cheating",
            "insulted insult insulting offended offensive offend rude",
            "bullied bully bullying abused abuse abusive mistreated mistreat tormented",
            "depressed depression devastated heartbroken miserable despair hopeless grief grieving",
            "hatred despise despised disgusted disgusting disgust loathe",
            "traumatised traumatized trauma traumatic",
        ),
    )
)
"""Words that mean about the same; any of one excuses the others."""

_FAMILY = {word: family for family in FAMILIES for word in family}
_SPARED = word_set("mad cross temper small red stupid fault blame lie lying rude humbled blamed blaming")
"""Words that excuse others and are no presumption themselves: they have other senses, or other rules."""
_PRESUMED = re.compile(
    rf"(?<!that's a )(?<!that is a )(?<!what a )\b(?:{'|'.join(sorted(_FAMILY.keys() - _SPARED))})\b"
)


_OPEN = re.compile(
    r"\b(?:a time|a moment|an example|anything|something|anybody|somebody|anyone|someone|if|whether|ever)\b"
)
"""Before such a word it is asked for, not taken for granted: “Was there anything that made you angry?”"""


def presuming_refusals(plain: str, said: Collection[str], language: str) -> list[Refusal]:
    """Whether a question takes a strong feeling or a wrong for granted that nobody told of.

    Args:
        plain: normalised, quotations masked.
        said: the words of the respondent and the topic, case-folded.
        language: code of the respondent's language; only English has a list.
    """
    if not language.casefold().startswith("en"):
        return []
    for match in _PRESUMED.finditer(plain):
        if not _FAMILY[match.group(0)] & set(said) and not _OPEN.search(plain, 0, match.start()):
            return [Refusal(code="leading", detail=f"“{match.group(0)}” was not told")]
    return []


_SAYS_BACK = re.compile(
    r"\b(?:you|your|yours|i|i'm|i'd|i'll|we|we'll|let's|let|us|me|my|sorry|thanks|thank|please|earlier|back|sounds?|"
    r"understand|question|next|last|leave)\b"
)
"""Words of sentences that speak to the respondent, or of the conversation: no facts."""
_ASKS = re.compile(
    r"(?:please |just |and |so |now |then )*(?:pick|take|think|imagine|suppose|picture|tell|say|show|describe|give|go|"
    r"start|choose|put|walk|try|look|remember|recall|name|pretend|assume)\b"
)
_WORD = re.compile(r"[a-z']{4,}")
_COMMON = word_set(
    "that this these those there their they them then than with without within from into onto over under about "
    "after before again because since while when where what which whose though although still just only even also "
    "very much many most more less some such other another each every have having been being does doing done were "
    "will would could should might must makes make made goes going gets getting comes coming really quite rather "
    "always never often sometimes well right fine okay sure time times thing things something anything nothing "
    "everything people person one's it's that's there's here's what's kind sort hard lovely good nice great long "
    "little nobody somebody until here need said told tell telling know known knew leave left stay stays hurry heard "
    "again today earlier erased deleted name"
)
OWN_WORDS = 5
"""A sentence of so many words that neither the respondent nor the topic brought in explains something."""


def explaining_refusals(sentences: Sequence[str], language: str) -> list[Refusal]:
    """Whether one of some sentences before the question tells the respondent facts of its own.

    Args:
        sentences: normalised, the respondent's words masked; the last one may be unfinished and is left out.
        language: code of the respondent's language; only English is known.
    """
    if not language.casefold().startswith("en"):
        return []
    for sentence in sentences[:-1]:
        if sentence.endswith("?") or _SAYS_BACK.search(sentence) or _ASKS.match(sentence):
            continue
        own = [word for word in _WORD.findall(sentence) if word not in _COMMON]
        if len(own) >= OWN_WORDS:
            return [Refusal(code="not_a_question", detail=f"“{' '.join(own[:4])}” tells something of its own")]
    return []

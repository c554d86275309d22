"""English word forms: bases of third-person forms, plurals, first person turned into second."""

from __future__ import annotations

from pipeline.question import lexicon as lex

_FLIP_PAIRS = (
    "i you me you my your mine yours myself yourself i'm you're i've you've i'd you'd i'll you'll am are we you us you "
    "our your ours yours ourselves yourselves we're you're we've you've we'd you'd we'll you'll"
)
FLIP = dict(zip(_FLIP_PAIRS.split()[::2], _FLIP_PAIRS.split()[1::2], strict=True))
"""First person → second person."""

VERBS = lex.PURE_VERBS | lex.NOUNISH_VERBS | {"be", "lie", "die"}


def flip(text: str) -> str:
    """First person turned into second: “my team and I” → “your team and you”."""
    return " ".join(flipped(text.split()))


def flipped(said: list[str]) -> list[str]:
    """`flip` word by word; “was” after “I” becomes “were”."""
    out: list[str] = []
    for index, word in enumerate(said):
        bare = word.strip(",.;:!?").replace("’", "'")
        turned = FLIP.get(bare.casefold())
        if bare.casefold() == "was" and index and said[index - 1].casefold() == "i":
            turned = "were"
        out.append(word.replace(bare, turned) if turned else word)
    return out


_DOUBLED = frozenset(
    "begin forget regret admit commit submit permit omit refer prefer occur transfer control upset forbid equip travel "
    "cancel label model signal total fuel dial quarrel worship kidnap".split()
)
"""Verbs of more than one syllable whose last consonant is doubled."""


def gerund_of(base: str) -> str:
    """The form in -ing of a verb (“forget” → “forgetting”)."""
    if base in ("be", "see", "flee", "agree", "free", "knee", "guarantee", "disagree") or base.endswith(("oe", "ye")):
        return base + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and len(base) > 2:
        return base[:-1] + "ing"
    vowels = sum(1 for at, ch in enumerate(base) if ch in "aeiouy" and (at == 0 or base[at - 1] not in "aeiouy"))
    closed = len(base) > 2 and base[-1] not in "aeiouwxyh" and base[-2] in "aeiou" and base[-3] not in "aeiou"
    closed = closed or (len(base) == 4 and base.startswith("qu") and base[-2] in "aeiou")
    if base in _DOUBLED or (vowels == 1 and closed):
        return base + base[-1] + "ing"
    return base + "ing"


def base_of_third_person(word: str) -> str | None:
    """The base form of a third-person form (“saves” → “save”), none if the lexicon has no such verb."""
    irregular = {"has": "have", "does": "do", "goes": "go", "is": "be"}
    if word in irregular:
        return irregular[word]
    candidates = (word[:-1], word[:-2] if word.endswith("es") else "", word[:-3] + "y" if word.endswith("ies") else "")
    return next((base for base in candidates if word.endswith("s") and base in VERBS), None)


def is_plural(word: str) -> bool:
    """Whether a noun is a plural, by its form."""
    if word in lex.PLURAL_IRREGULAR:
        return True
    return word.endswith("s") and word not in lex.PLURAL_EXCEPTIONS and not word.endswith(("ss", "us", "is", "'s"))

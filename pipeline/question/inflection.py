"""English word forms: -ing forms, bases of third-person and -ing forms, first person turned into second."""

from __future__ import annotations

from pipeline.question import lexicon as lex
from pipeline.question.patterns import word_set

_FLIP_PAIRS = (
    "i you me you my your mine yours myself yourself i'm you're i've you've i'd you'd i'll you'll am are we you us you "
    "our your ours yours ourselves yourselves we're you're we've you've we'd you'd we'll you'll"
)
FLIP = dict(zip(_FLIP_PAIRS.split()[::2], _FLIP_PAIRS.split()[1::2], strict=True))
"""First person → second person."""

VERBS = lex.PURE_VERBS | lex.NOUNISH_VERBS | {"be", "lie", "die"}

_NO_DOUBLING = word_set(
    "open listen happen offer order enter wander cover deliver remember consider visit edit benefit "
    "exit limit answer suffer gather discover recover develop upload profit credit wonder differ "
    "matter reckon focus strengthen"
)
_UNSTRESSED_ENDINGS = ("en", "er", "on", "it", "et", "al")


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


def gerund(base: str) -> str:
    """The -ing form of a base form: “put” → “putting”, “have” → “having”, “lie” → “lying”."""
    if base == "be":
        return "being"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    closed_syllable = len(base) >= 3 and base[-1] not in "aeiouwxy" and base[-2] in "aeiou" and base[-3] not in "aeiou"
    if base in ("get", "forget", "begin", "upset", "regret"):
        return base + base[-1] + "ing"
    unstressed = base in _NO_DOUBLING or (len(base) > 5 and base.endswith(_UNSTRESSED_ENDINGS))
    return base + base[-1] + "ing" if closed_syllable and not unstressed else base + "ing"


def base_of_third_person(word: str) -> str | None:
    """The base form of a third-person form (“saves” → “save”), none if the lexicon has no such verb."""
    irregular = {"has": "have", "does": "do", "goes": "go", "is": "be"}
    if word in irregular:
        return irregular[word]
    candidates = (word[:-1], word[:-2] if word.endswith("es") else "", word[:-3] + "y" if word.endswith("ies") else "")
    return next((base for base in candidates if word.endswith("s") and base in VERBS), None)


def is_ing_form(word: str, after: str = "") -> bool:
    """Whether a word, given the one after it, is the -ing form of a verb in the lexicon."""
    stem = word[:-3]
    if not word.endswith("ing") or (word in lex.ING_COMPOUND_FIRST and after not in lex.OBJECT_STARTS):
        return False
    doubled = len(stem) > 2 and stem[-1] == stem[-2] and stem[:-1] in VERBS
    return stem in VERBS or stem + "e" in VERBS or doubled or (stem.endswith("y") and stem[:-1] + "ie" in VERBS)


def is_plural(word: str) -> bool:
    """Whether a noun is a plural, by its form."""
    if word in lex.PLURAL_IRREGULAR:
        return True
    return word.endswith("s") and word not in lex.PLURAL_EXCEPTIONS and not word.endswith(("ss", "us", "is", "'s"))


def gerund_phrase(said: list[str], low: list[str]) -> str:
    """A phrase that begins with a base form, in -ing; verbs joined by “and” or “or” too, pronouns turned round.

    Args:
        said: the words as said.
        low: the same words, case-folded and without commas.
    """
    out = [gerund(low[0])]
    for index, word in enumerate(flipped(said)[1:], start=1):
        joined = low[index - 1] in ("and", "or") and low[index] in lex.PURE_VERBS | {"press", "check", "cook", "plan"}
        out.append(gerund(low[index]) if joined else word)
    return " ".join(out)

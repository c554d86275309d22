"""When two labels say the opposite: negation, antonyms, stance."""

from __future__ import annotations

from collections.abc import Sequence

NEGATIONS = frozenset(
    {"not", "no", "never", "without", "none", "nothing", "hardly", "barely", "lack", "neither", "nor", "n't"}
)

_PAIRS = """
easy difficult|easy hard|simple complicated|simple complex|cheap expensive|cheap costly|low high|lower higher|less more
fewer more|better worse|good bad|best worst|increase decrease|increase reduce|more reduce|fast slow|quick slow|quickly slowly
light heavy|small big|small large|short long|thin thick|soft hard|smooth rough|strong weak|loud quiet|noisy quiet|hot cold
warm cold|warm cool|dry wet|dry moist|clean dirty|new old|fresh stale|healthy unhealthy|safe dangerous|safe risky|secure insecure
gain lose|win lose|save waste|save spend|love hate|like dislike|enjoy dread|trust doubt|trust distrust|calm anxious|calm stressed
relaxed stressed|relaxed tense|happy sad|happy unhappy|pleased annoyed|satisfied disappointed|confident insecure|proud ashamed
accept reject|allow prevent|enable prevent|open closed|full empty|early late|first last|near far|close far|always never
together alone|public private|natural artificial|natural synthetic|plain fancy|boring exciting|boring interesting|tired energetic
tired awake|sweet bitter|sweet sour|rich poor|deep shallow|bright dark|sharp dull|sharp blunt|flexible rigid|free trapped
start stop|begin end|remember forget|include exclude|internal external|local global|polite rude|friendly unfriendly
helpful useless|useful useless|clear confusing|clear unclear|reliable unreliable|comfortable uncomfortable|honest dishonest
success failure|succeed fail|positive negative|right wrong|true false|active passive|strict loose|tight loose|minimum maximum
shorter longer|cheaper dearer|bigger smaller|lighter heavier|quieter louder|faster slower|easier harder|improve worsen
""".split("\n")

ANTONYMS: frozenset[frozenset[str]] = frozenset(
    frozenset(pair.split()) for line in _PAIRS for pair in line.split("|") if pair.strip()
)
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
_BY_WORD: dict[str, frozenset[str]] = {}
for _pair in ANTONYMS:
    for _word in _pair:
        _BY_WORD[_word] = _BY_WORD.get(_word, frozenset()) | (_pair - {_word})


def _opposites(a: str, b: str) -> bool:
    if b in _BY_WORD.get(a, ()):
        return True
    short, long = sorted((a, b), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)


def opposed(lemmas_a: Sequence[str], lemmas_b: Sequence[str], stance_a: int = 0, stance_b: int = 0) -> bool:
    """Whether two labels must never be merged because they differ in polarity.

    Args:
        lemmas_a, lemmas_b: content lemmas, negations kept.
        stance_a, stance_b: −1, 0 or +1.
    Returns:
        True for an odd difference in negations, an antonym pair across the labels, or opposite stances.
    """
    if stance_a * stance_b < 0:
        return True
    negated_a = sum(lemma in NEGATIONS for lemma in lemmas_a)
    negated_b = sum(lemma in NEGATIONS for lemma in lemmas_b)
    if (negated_a - negated_b) % 2:
        return True
    only_a = [lemma for lemma in lemmas_a if lemma not in lemmas_b]
    only_b = [lemma for lemma in lemmas_b if lemma not in lemmas_a]
    return any(_opposites(a, b) for a in only_a for b in only_b)

"""Which words of an answer are a clause that stands by itself, and how one is said back in the second person."""

from __future__ import annotations

import re
from functools import lru_cache

from pipeline.question.lexicon import CONTRACTED_SUBJECTS, SUBJECT_PRONOUNS
from pipeline.question.phrases import HESITATION, addresses, is_finite, is_loaded, second_person, without_asides
from pipeline.question.text import words

LONGEST_SAID = 14
"""Words of a sentence that is said back at the most."""
_HEDGES = re.compile(
    r",\s*(?:i (?:think|guess|suppose|mean|reckon|don'?t know|must say)|you know)\b(?=\s*(?:,|$)),?"
    r"|(?:,\s*)?(?<!not )(?<!n't )(?<!n’t )\b"
    r"(?:you know(?=\s*(?:,|$))|sort of|kind of|kinda|or something|(?:to be|if i'?m) honest|honestly|really|(?<!, )just"
    r"|actually|obviously|somehow|literally)\b,?\s*",
    re.IGNORECASE,
)
"""What is left out of a clause."""
_ASIDES = re.compile(
    r",\s*i (?:think|guess|suppose|reckon|must say)\s*,"
    r"(?=\s*(?!(?:and|but|or|so|because|who|which|where|when|that(?!'))\b)\w)",
    re.IGNORECASE,
)
"""A hedge between two clauses that only commas part: “I belong again, I suppose, that's the word for it”."""
_PARTS = re.compile(r"[^,]+,\s*")
"""A hedge with the comma behind it that stands between two clauses: “it was nothing really, it rained”."""
_OPENERS = re.compile(
    r"^(?:(?:and|but|so|because|cos|or|then|also|well|oh|yeah|yes|no(?! (?:one|way|point|need|idea|doubt|wonder)\b)|um"
    r"|uh|hm+|anyway|now|plus|though|that's why"
    r"|i (?:think|suppose|guess|mean|thought|reckon)|you know"
    r"|i(?:'m| am) afraid(?: that(?= (?:\w+) (?:\w+)))?(?= (?:i|he|she|it|we|they|the|my|that)\b)"
    r"|the (?:only )?thing is|suddenly|in the end|at (?:first|least)|haha|ha|only|maybe|perhaps)\b[\s,]*)+",
    re.IGNORECASE,
)
_TAGS = re.compile(
    r",? (?:mind|though|then|anyway|innit|mate|love|dear|haha|silly|daft|you see|i (?:think|suppose|guess|spose))$"
    r"|, (?:imagine|fancy that|(?:him|her|them) and (?:me|i)|me and (?:him|her|them))$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"^(?:(?:i|he|she|it|we|they)(?:'(?:m|s|re|ve|d|ll))?|there(?:'s)?|(?:no|any|every|some)(?:body|one|thing)"
    r"|no one|one|the|my|our|his|her|their|an?|all|both|some|every|each|these|those|this|mr|mrs"
    r"|that|(?-i:[A-Z][a-z]+)(?!,))\b",
    re.IGNORECASE,
)
"""How a clause begins that says who or what it is about."""
NO_START = re.compile(
    r"^(?:(?:i|he|she|it|we|they|you) (?:did|do|does|was|were|is|are|had|have|has|can|could|would|will)(?:n't)?(?=,)"
    r"|wh(?:ich|o|ose|en|ere|at|ile)|because|cos|like|than|as|with|of|in|on|at|to|for|from|about|by|just|not|sort"
    r"|kind|how|until|till|since|unless|although|nor|(?:an?|the|some|one) \w+ (?:when|where|who|whom|which)"
    r"|that(?:'s| is| was) (?:how|all|it)\b|there (?:s?he|it|they|i|we)\b|it(?:'s| was) (?:just |only )?that\b"
    r"|that (?:(?:some|no|every|any)(?:body|one|thing)|no one|people|others|our|his|her|their|there|this)\b"
    r"|that (?:i|he|she|we|they|it|the|my|you|a|in|on|if|when|was (?:when|what)))\b",
    re.IGNORECASE,
)
NO_END = re.compile(
    r"\b(?:an?|the|of|to|in|on|at|for|with|from|by|and|but|or|so|because|that|which|who|when|is|was|were|are|my|your"
    r"|as if|as though|than|(?:is|was|are|were|do|does|did|have|has|had|can|could|will|would)(?:n't| not)"
    r"|his|her|our|their|very|like|more|i|he|she|we|they)$",
    re.IGNORECASE,
)
"""What is no end of a sentence."""
_PAST = re.compile(r"\w{3,}ed")
_PRESENT = re.compile(r"^(?:s?he|it|(?:no|every|some)(?:body|one)|no one) (?:\w+ly )?\w{2,}s\b", re.IGNORECASE)
"""Verbs by their form, beside those that are known."""
NOT_TO_THEIR_FACE = re.compile(
    r"\b(?:people|ones?|folks?|lads|men|women|those|somebody|someone) like (?:me|us)\b|\b(?:saying|thinking|meaning)\b"
    r"|\bwe (?:are|were|'re) (?:on|at|talking|speaking)\b"
    r"|\b(?:nobody|no one|(?:he|she|they) (?:doesn't|don't|didn't|never)) (?:wants?|wanted|likes?|liked|loves?"
    r"|loved|needs?|needed) (?:me|us)\b"
    r"|\bi (?:confess|admit)\b",
    re.IGNORECASE,
)
"""What turns into something else in the second person: “people like you”, “nobody wants you”, “you were on the price”,
where the talk was meant; and what was said with somebody's voice."""
_NEEDS_MORE = frozenset("took said had was were did got went made let put gave told came knew has is".split())
"""Verbs that say nothing with nothing but a subject."""
_QUOTES = re.compile(r"[\"“”„«»{}<>*]")
_EDGES = " ,–—-.;:…!"
_CONDITION = re.compile(r"^(?:if|as long as|unless)\b[^,]*,\s*(?:then )?(?P<main>.+)$", re.IGNORECASE)
"""A condition with what it is the condition of."""
_CONDITIONAL = re.compile(r"^(?:if|as long as|unless|provided|otherwise)\b", re.IGNORECASE)
_TAILS = re.compile(
    r",\s*(?:simple as that|that'?s (?:it|all)|i (?:have to|must) say|to be (?:fair|sure)|that'?s for sure"
    r"|is(?:n't)? (?:it|that)|no|right|yes|then|as it is|for sure|full stop|thank you|thanks"
    r"|put it (?:that|this|like that) ?(?:way)?|mind(?: you)?|love|mate|dear)$",
    re.IGNORECASE,
)
"""What is added behind a sentence and is not said back."""
_MIND = re.compile(r",\s*mind(?: you)?\s*(?=,)", re.IGNORECASE)
"""A word to the listener between two commas."""
FRAGMENT_IN_IT = re.compile(
    r"\b(?:like so|this (?:big|small|much)|as i said|i said|i've said|jok(?:e|ing))\b", re.IGNORECASE
)
"""Words of what was shown, or told before, which is odd to hear back."""


def plain(piece: str) -> str:
    """What of a clause is said back: without what opens it, hedges and marks."""
    bare = _OPENERS.sub("", _MIND.sub("", without_asides(_QUOTES.sub("", piece))).strip(_EDGES))
    hedged = _HEDGES.sub(lambda found: ", " if _PARTS.fullmatch(found[0]) else " ", _ASIDES.sub(",", bare))
    return _TAILS.sub("", _TAGS.sub("", re.sub(r"\s+", " ", hedged.replace(" ,", ",")).strip(_EDGES)))


def is_whole(clause: str) -> bool:
    """Whether a clause has a subject and a verb and is no piece of a longer one."""
    low = words(clause)
    return (
        len(clause.split()) > 1
        and not (len(low) == 2 and low[-1] in _NEEDS_MORE)
        and (any(is_finite(word) or _PAST.fullmatch(word) for word in low) or _PRESENT.match(clause) is not None)
        and _SUBJECT.match(clause) is not None
        and not (clause[:1].isupper() and is_finite(low[0]) and low[0] not in SUBJECT_PRONOUNS | CONTRACTED_SUBJECTS)
        and not any(pattern.search(clause) for pattern in (NO_START, NO_END))
    )


@lru_cache(maxsize=512)
def said_back(text: str) -> str:
    """A sentence or clause as the interviewer says it back; nothing where it is a piece, a question, or too long.

    "And if they come late, I don't pay." → "If they come late, you don't pay."
    """
    if text.rstrip().endswith("?"):
        return ""
    clause = plain(text)
    condition = _CONDITION.match(clause)
    main = plain(condition["main"]) if condition is not None else "" if _CONDITIONAL.match(clause) else clause
    if not main or len(clause.split()) > LONGEST_SAID or not is_whole(main):
        return ""
    if (
        addresses(clause)
        or is_loaded(clause)
        or HESITATION.search(clause)
        or FRAGMENT_IN_IT.search(clause)
        or NOT_TO_THEIR_FACE.search(clause)
    ):
        return ""
    turned = second_person(clause)
    return f"{turned[:1].upper()}{turned[1:]}."

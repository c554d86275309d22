"""Which clauses of an answer can be said back to who gave it, as a short sentence in the second person (English).

"He didn't dare ask me." → "He didn't dare ask you." Whether one of them is worth saying back is judged elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pipeline.question.lexicon import CONTRACTED_SUBJECTS, IRREGULAR_PAST, PAST_FORMS, SUBJECT_PRONOUNS
from pipeline.question.phrases import HESITATION, addresses, is_finite, is_loaded, second_person, without_asides
from pipeline.question.text import sentences, words

LATEST = 5
"""Sentences at the end of an answer of which something is said back."""
MOST = 5
"""Clauses that are looked at, the latest first."""
LONGEST = 10
"""Words of a sentence that is said back."""
LONG = 4
"""Words of a sentence beyond which its clauses are looked at as well."""
_HEDGES = re.compile(
    r",\s*i (?:think|guess|suppose|mean|reckon|don'?t know|must say)\b(?=\s*(?:,|$)),?"
    r"|(?:,\s*)?(?<!not )(?<!n't )(?<!n’t )\b"
    r"(?:you know|sort of|kind of|kinda|or something|(?:to be|if i'?m) honest|honestly|really|just|actually"
    r"|obviously|somehow|literally)\b,?\s*",
    re.IGNORECASE,
)
"""What is left out of a clause."""
_OPENERS = re.compile(
    r"^(?:(?:and|but|so|because|cos|or|then|also|well|oh|yeah|yes|no|um|uh|hm+|anyway|now|plus|though|that's why"
    r"|i (?:think|suppose|guess|mean|thought|reckon)|you know"
    r"|i(?:'m| am) afraid(?: that(?= (?:\w+) (?:\w+)))?(?= (?:i|he|she|it|we|they|the|my|that)\b)"
    r"|suddenly|in the end|at (?:first|least)|haha|ha|only|maybe|perhaps)\b[\s,]*)+",
    re.IGNORECASE,
)
_TAGS = re.compile(
    r",? (?:mind|though|then|anyway|innit|mate|love|dear|haha|you see|i (?:think|suppose|guess|spose))$", re.IGNORECASE
)
_UNCERTAIN = re.compile(r"\b(?:would|could|might|if)\b|\b\w+'d (?:be|have|like|want|rather)\b", re.IGNORECASE)
"""Words of what only may be so: said back, it sounds as if it were."""
_SUBJECT = re.compile(
    r"^(?:(?:i|he|she|it|we|they)(?:'(?:m|s|re|ve|d|ll))?|there(?:'s)?|(?:no|any|every|some)(?:body|one|thing)"
    r"|no one|one|the|my|our|his|her|their|an?|all|both|some|every|each|these|those|this|mr|mrs"
    r"|that|(?-i:[A-Z][a-z]+)(?!,))\b",
    re.IGNORECASE,
)
"""How a clause begins that says who or what it is about."""
_NO_START = re.compile(
    r"^(?:wh(?:ich|o|ose|en|ere|at|ile)|because|cos|like|than|as|with|of|in|on|at|to|for|from|about|by|just|not|sort"
    r"|kind|how|until|till|since|unless|although|nor"
    r"|that(?:'s| is| was) (?:how|all|it)\b|there (?:s?he|it|they|i|we)\b|it(?:'s| was) (?:just |only )?that\b"
    r"|that (?:i|he|she|we|they|it|the|my|you|a|in|on|if|when|was (?:when|what)))\b",
    re.IGNORECASE,
)
_NO_END = re.compile(
    r"\b(?:an?|the|of|to|in|on|at|for|with|from|by|and|but|or|so|because|that|which|who|when|is|was|were|are|my|your"
    r"|his|her|our|their|very|like|more|i|he|she|we|they)$",
    re.IGNORECASE,
)
"""What is no end of a sentence."""
_PAST = re.compile(r"\w{3,}ed")
_PRESENT = re.compile(r"^(?:s?he|it|(?:no|every|some)(?:body|one)|no one) (?:\w+ly )?\w{2,}s\b", re.IGNORECASE)
"""Verbs by their form, beside those that are known."""
_OF_THEMSELVES = re.compile(
    r"\b(?:i'?m|i am|i was) (?:just |only )?(?:the|an?) (?:\w+ )?(?:mug|fool|idiot|liar|coward|failure|fraud|burden"
    r"|traitor|hypocrite|disgrace|wreck|thief|nobody|monster|cheat)\b"
    r"|\bit was me (?:who|that)\b|\bme(?:self|sen|sel)\b",
    re.IGNORECASE,
)
"""What people call themselves and would not hear from others; and dialect that can't be turned round."""
_NOT_TO_THEIR_FACE = re.compile(
    r"\b(?:people|ones?|folks?|lads|men|women|those|somebody|someone) like (?:me|us)\b|\b(?:saying|thinking|meaning)\b",
    re.IGNORECASE,
)
"""What turns into something else in the second person: “people like you”, and what was said with somebody's voice."""
_CONDITIONAL = re.compile(
    r"^\W*(?:(?:and|but|so|because|cos|well|then|now),? )*(?:if|unless|imagine|suppose)\b", re.IGNORECASE
)
"""A sentence of what is not so, or not always."""
_PURPOSE = re.compile(
    r"^\W*so(?: that)? \w+(?:'d| would| could| can| might| will|'ll|"
    r" won't| wouldn't| couldn't| can't| don't| didn't)\b",
    re.IGNORECASE,
)
"""A clause that only says what something was done for."""
_LAUGHS = re.compile(r"^\W*(?:(?:ha|he|hah|heh|lol|lmao)+\W*)+$", re.IGNORECASE)
"""A sentence of nothing but laughter, after a joke."""
_HAD_OR_WOULD = re.compile(r"\b\w+['’]d (\w+)\b", re.IGNORECASE)
_BETWEEN = frozenset(
    "been gone done seen come become run never always already just only not still also once both all".split()
)
"""What may stand behind “'d” for “had”, beside the past of verbs."""
_NEEDS_MORE = frozenset("took said had was were did got went made let put gave told came knew has is".split())
"""Verbs that say nothing with nothing but a subject."""
_JOINTS = re.compile(r"[,;:]\s|\s[–—-]+\s|\s(?=(?:and|but|because|so|cos)\s)")
_QUOTES = re.compile(r"[\"“”„«»{}<>*]")
_EDGES = " ,–—-.;:…!"


@dataclass(frozen=True)
class Echo:
    """A clause that can be said back.

    Attributes:
        text: as the interviewer says it.
        clause: the respondent's words of it, without what is not said back.
        start, end: where it stands in the answer, in characters.
        back: sentences of the answer after its own.
        whole: whether it is all of its sentence.
        sentence: the sentence that it stands in.
    """

    text: str
    clause: str
    start: int
    end: int
    back: int
    whole: bool
    sentence: str


@lru_cache(maxsize=64)
def echoes(answer: str) -> tuple[Echo, ...]:
    """What of an answer can be said back, the latest first, at most `MOST`."""
    found: dict[str, Echo] = {}
    after = ""
    for back, (start, sentence) in enumerate(reversed(tuple(_placed(answer))[-LATEST:])):
        joked, after = _LAUGHS.match(after) is not None, sentence
        if sentence.endswith("?") or joked or _CONDITIONAL.match(sentence):
            continue
        for at, piece, whole in _pieces(sentence):
            if _PURPOSE.match(piece):
                continue
            clause = _plain(piece)
            if _can_be_said(clause):
                turned = second_person(clause)
                text = f"{turned[:1].upper()}{turned[1:]}."
                begins = start + at
                found.setdefault(
                    text.casefold(), Echo(text, clause, begins, begins + len(piece), back, whole, sentence)
                )
    return tuple(found.values())[:MOST]


def _placed(answer: str) -> Iterator[tuple[int, str]]:
    """The sentences of an answer with where each begins."""
    at = 0
    for sentence in sentences(answer):
        at = answer.index(sentence, at)
        yield at, sentence
        at += len(sentence)


def _pieces(sentence: str) -> Iterator[tuple[int, str, bool]]:
    """A sentence, then its clauses where it is long: where each begins, its words, and whether it is all of it."""
    yield 0, sentence, True
    if len(_plain(sentence).split()) <= LONG:
        return
    at = 0
    for joint in (*_JOINTS.finditer(sentence), None):
        end = joint.start() if joint is not None else len(sentence)
        if not (at == 0 and joint is None):
            yield at, sentence[at:end], False
        at = joint.end() if joint is not None else end


def _plain(piece: str) -> str:
    """What of a clause is said back: without what opens it, hedges and marks."""
    bare = _OPENERS.sub("", without_asides(_QUOTES.sub("", piece)).strip(_EDGES))
    return _TAGS.sub("", re.sub(r"\s+", " ", _HEDGES.sub(" ", bare)).strip(_EDGES))


def _would(verb: str) -> bool:
    """Whether “'d” before this word is “would”: “I'd turn the phone over” only may be so, “I'd left” is."""
    word = verb.casefold()
    return not (word in PAST_FORMS | IRREGULAR_PAST | _BETWEEN or word.endswith(("ed", "en", "wn")))


def _can_be_said(clause: str) -> bool:
    low = words(clause)
    return (
        1 < len(clause.split()) <= LONGEST
        and not (len(low) == 2 and low[-1] in _NEEDS_MORE)
        and not addresses(clause)
        and not is_loaded(clause)
        and (any(is_finite(word) or _PAST.fullmatch(word) for word in low) or _PRESENT.match(clause) is not None)
        and _SUBJECT.match(clause) is not None
        and not (clause[:1].isupper() and is_finite(low[0]) and low[0] not in SUBJECT_PRONOUNS | CONTRACTED_SUBJECTS)
        and not any(_would(match[1]) for match in _HAD_OR_WOULD.finditer(clause))
        and not any(
            pattern.search(clause)
            for pattern in (_UNCERTAIN, _OF_THEMSELVES, _NOT_TO_THEIR_FACE, _NO_START, _NO_END, HESITATION)
        )
    )

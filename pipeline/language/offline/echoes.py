"""Which clauses of an answer can be said back to who gave it, as a short sentence in the second person (English).

"He didn't dare ask me." → "He didn't dare ask you." Whether one of them is worth saying back is judged elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pipeline.question.clauses import NOT_TO_THEIR_FACE, is_whole, plain
from pipeline.question.lexicon import IRREGULAR_PAST, PAST_FORMS
from pipeline.question.phrases import HESITATION, addresses, is_loaded, second_person
from pipeline.question.text import sentences

LATEST = 5
"""Sentences at the end of an answer of which something is said back."""
MOST = 5
"""Clauses that are looked at, the latest first."""
LONGEST = 10
"""Words of a sentence that is said back."""
LONG = 4
"""Words of a sentence beyond which its clauses are looked at as well."""
_UNCERTAIN = re.compile(r"\b(?:would|could|might|if)\b|\b\w+'d (?:be|have|like|want|rather)\b", re.IGNORECASE)
"""Words of what only may be so: said back, it sounds as if it were."""
_IMAGINED = re.compile(
    r"\b(?:would|might)(?:n't)?\b|\bcan (?:just |already )?(?:see|picture|imagine) (?:myself|me|yourself|you)\b",
    re.IGNORECASE,
)
"""Words of what would be."""
_COULD = re.compile(r"\bcould(?:n't)?\b", re.IGNORECASE)
"""What somebody could may have been, or would be."""
_DENIED_TWICE = re.compile(r"(?:n't|\b(?:not|never))\b.*\b(?:nobody|nothing|no one|never|nowhere|no)\b", re.IGNORECASE)
"""A grammar of their own, which sounds like mockery from others."""
_OF_THEMSELVES = re.compile(
    r"\b(?:i'?m|i am|i was) (?:just |only )?(?:the|an?) (?:\w+ )?(?:mug|fool|idiot|liar|coward|failure|fraud|burden"
    r"|traitor|hypocrite|disgrace|wreck|thief|nobody|monster|cheat)\b"
    r"|\b(?:i'?m|i am|i was) not (?:the |an? )?(?:one|person|man|woman|sort|type|kind)\b"
    r"|\b(?:it|that)(?:'s| is| was) not (?:very |so |really )?(?:nice|good|fair|kind|right) (?:from|of) me\b"
    r"|\b(?:that|it|this)(?:'s| is| was| sounds?| sounded| must sound)(?: \w+){0,2}? (?:mad|silly|daft|stupid|crazy"
    r"|ridiculous)\b"
    r"|\bnot (?:very |so |really |too )?(?:nice|good|fair|kind|right|proud) (?:of|from) me\b"
    r"|\bit was me(?: (?:who|that)\b|$)|\bme(?:self|sen|sel)\b"
    r"|\b(?:in|on|with|of|at|from|by|under|over|behind|off|through|round|and) me"
    r" (?!(?:and|or|but|an?|the|that|this|it|to|so|as|in|on|at|with|from|for|by|up|down|out|off|when|if|was|is|not|then"
    r"|now|again|too|either|just|because|who|what|where|like|before|after|all|there|here|alone)\b)[a-z]+"
    r"|\bi(?:'m| am| was|'d been|'ve been) (?:(?:just|only|such|so|a|an|the|being|quite|rather|really) )*(?:worse|bad"
    r"|terrible|awful|horrible|useless|worthless|stupid|cowardly|a coward|no good|selfish|cruel|rubbish|hopeless"
    r"|pathetic)\b"
    r"|(?:n't|\bnot|\bnever) (?:really )?(?:like|love|trust|recogni[sz]e|stand)d? myself\b|\bhated? myself\b",
    re.IGNORECASE,
)
"""What people call themselves and would not hear from others; and dialect that can't be turned round."""
_HAD_OR_WOULD = re.compile(r"\b\w+['’]d (\w+)\b", re.IGNORECASE)
_PARTICIPLES = frozenset(
    "laid lain paid said made told had sat stood put shut set read brought thought caught taught sold held kept left"
    " lost met sent spent felt slept built found heard led lit meant won hung stuck swept struck bent dug fed fled hid"
    " rung sung drunk sunk begun cut hurt hit let split spread".split()
)
"""What stands behind “'d” that is “had”: “She'd laid the table.”"""
_BETWEEN = frozenset(
    "been gone done seen come become run never always already just only not still also once both all".split()
)
"""What may stand behind “'d” for “had”, beside the past of verbs."""
_PLAYED_DOWN = re.compile(
    r"\b(?:nothing (?:special|much|really)|like any other|no big deal|not (?:a )?(?:big|great) (?:deal|thing)"
    r"|not (?:of )?(?:any |great |much |very |that )?importan(?:t|ce)|(?:doesn't|didn't|don't|no) matter"
    r"|i (?:believe|think|suppose|guess) (?:i|s?he|it|they|we)|aren't the point|isn't the point"
    r"|mak(?:e|ing) (?:a (?:meal|fuss|thing)|an opera|much|too much) of (?:this|it|that))\b",
    re.IGNORECASE,
)
"""Words of what is said to be nothing, which would be taken at its word."""
_CONDITIONAL = re.compile(
    r"^\W*(?:(?:and|but|so|because|cos|well|then|now),? )*(?:if|unless|imagine|suppose)\b", re.IGNORECASE
)
"""A sentence of what is not so, or not always."""
DOUBTED = re.compile(r"\b(?:maybe|perhaps)\b", re.IGNORECASE)
"""Words behind which it need not be so."""
YOU_THINK = re.compile(
    r"^\W*(?:(?:and|but|so|well|now),? )*you(?:'ll|'re| will| are| may| might)?(?: probably| surely)?"
    r" (?:be )?think(?:ing)?\b",
    re.IGNORECASE,
)
"""A sentence of what the listener is said to think."""
_HALF = re.compile(
    r"^\W*(?:.{1,40} that )?(?:it|that|this)(?:(?: is|'s) (?:what \w+(?:'d| would)? (?:feel|think|want|say|mean)$"
    r"|(?:not|n't)(?: really| just| only| so much)? (?:\w+ ){1,4}(?:that )?i )"
    r"|(?: isn't| wasn't)(?: really| just| only| so much)? (?:\w+ ){1,4}(?:that )?i \w+)",
    re.IGNORECASE,
)
"""A clause that says nothing without the other half: what it is, or isn't, stands there."""
_TURNED_ROUND = re.compile(
    r"\b(?:was|were|is|are) (?:he|she|they|it|we|i)(?:['’]\w+)? \w|^(?:myself|yourself|let)\b", re.IGNORECASE
)
"""Words in an order that is no statement's."""
_SMALL = re.compile(
    r"^(?:it|that|this|him|her|them)"
    r" (?:better|best|easier|harder|wise\w*|odd|strange|funny|right|wrong|rude|kind\w*) to\b",
    re.IGNORECASE,
)
"""What somebody thought of something, without the verb: “(I thought) it better to do that alone.”"""
_PURPOSE = re.compile(
    r"^\W*so(?: that)? \w+(?:'d| would| could| can| might| will|'ll|"
    r" won't| wouldn't| couldn't| can't| don't| didn't)\b",
    re.IGNORECASE,
)
"""A clause that only says what something was done for."""
_GUESSES = re.compile(
    r"^\W*(?:(?:and|but|so|because|cos|well),? )*i(?:'m afraid| am afraid| (?:do )?(?:think|guess|suppose|reckon"
    r"|believe))(?: that)? (?:he|she|they)\b",
    re.IGNORECASE,
)
"""A clause of what somebody only thinks of somebody else: “I think she was waiting.”"""
LAUGHS = re.compile(r"^\W*(?:(?:ha|he|hah|heh|lol|lmao)+\W*)+$", re.IGNORECASE)
"""A sentence of nothing but laughter, after a joke."""
_JOINTS = re.compile(r"[,;:]\s|\s[–—-]+\s|\s(?=(?:and|but|because|so|cos)\s)")


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
        is_now: whether its verb tells of what is; None where that is not known.
    """

    text: str
    clause: str
    start: int
    end: int
    back: int
    whole: bool
    sentence: str
    is_now: bool | None = None


@lru_cache(maxsize=64)
def echoes(answer: str) -> tuple[Echo, ...]:
    """What of an answer can be said back, the latest first, at most `MOST`."""
    found: dict[str, Echo] = {}
    after = ""
    for back, (start, sentence) in enumerate(reversed(tuple(placed(answer))[-LATEST:])):
        joked, after = LAUGHS.match(after) is not None, sentence
        if sentence.endswith("?") or joked or _CONDITIONAL.match(sentence) or YOU_THINK.match(sentence):
            continue
        for at, piece, whole in _pieces(sentence):
            if _PURPOSE.match(piece) or _GUESSES.match(piece) or DOUBTED.search(sentence[: at + len(piece)]):
                continue
            clause = plain(piece)
            if _can_be_said(clause):
                turned = second_person(clause)
                text = f"{turned[:1].upper()}{turned[1:]}."
                begins = start + at
                found.setdefault(
                    text.casefold(), Echo(text, clause, begins, begins + len(piece), back, whole, sentence)
                )
    return tuple(found.values())[:MOST]


def placed(answer: str) -> Iterator[tuple[int, str]]:
    """The sentences of an answer with where each begins."""
    at = 0
    for sentence in sentences(answer):
        at = answer.index(sentence, at)
        yield at, sentence
        at += len(sentence)


def _pieces(sentence: str) -> Iterator[tuple[int, str, bool]]:
    """A sentence, then its clauses where it is long: where each begins, its words, and whether it is all of it."""
    yield 0, sentence, True
    if len(plain(sentence).split()) <= LONG:
        return
    at = 0
    for joint in (*_JOINTS.finditer(sentence), None):
        end = joint.start() if joint is not None else len(sentence)
        if not (at == 0 and joint is None):
            yield at, sentence[at:end], False
        at = joint.end() if joint is not None else end


def is_imagined(clause: str) -> bool:
    """Whether a clause tells of what would be."""
    return _IMAGINED.search(clause) is not None or any(_would(match[1]) for match in _HAD_OR_WOULD.finditer(clause))


def may_be_imagined(clause: str) -> bool:
    """Whether a clause tells of what somebody could, which is imagined where an idea is spoken of."""
    return _COULD.search(clause) is not None


def _would(verb: str) -> bool:
    """Whether “'d” before this word is “would”: “I'd turn the phone over” only may be so, “I'd left” is."""
    word = verb.casefold()
    return not (word in PAST_FORMS | IRREGULAR_PAST | _PARTICIPLES | _BETWEEN or word.endswith(("ed", "en", "wn")))


def _can_be_said(clause: str) -> bool:
    return (
        len(clause.split()) <= LONGEST
        and is_whole(clause)
        and can_be_heard(clause)
        and not any(_would(match[1]) for match in _HAD_OR_WOULD.finditer(clause))
        and not _UNCERTAIN.search(clause)
    )


def can_be_heard(clause: str) -> bool:
    """Whether there is nothing in a clause that sounds wrong when somebody else says it."""
    return not (
        addresses(clause)
        or is_loaded(clause)
        or any(
            pattern.search(clause)
            for pattern in (
                _DENIED_TWICE,
                _OF_THEMSELVES,
                _PLAYED_DOWN,
                _HALF,
                _SMALL,
                _TURNED_ROUND,
                NOT_TO_THEIR_FACE,
                HESITATION,
            )
        )
    )

"""What people ask the interviewer in plain words: what it thinks, what it does itself, how long it takes (English)."""

from __future__ import annotations

import re
from typing import Final

from pipeline.acts import Act
from pipeline.language.acts.outright import Said

MOST_WORDS: Final = 40
"""Words of a message from which on such a question belongs to a story."""
_LED = (
    r"(?:^|[.!?,;:]\s{0,3}|\b(?:and|but|so|well|hey|wait|ok|also|sorry|um+|uh+) )"
    r"(?:(?:and|but|so|well|hey|wait|ok|oh|also|plus|like|sorry|btw|by the way),? )*"
)
_MORE = r"[^.!?]{0,40}"
_REST = r"[^.!?]{0,80}"
_YOU = r"(?:you|u)"
_WORDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "opinion",
        (
            rf"(?:what|how) (?:do|would) {_YOU}(?: yourself)? (?:think|feel)(?: (?:of|about) (?:it|that|this|them|him"
            rf"|her))?(?:,? (?:is|was|does|am|are)\b{_MORE}|, {_MORE})?",
            rf"(?:do|would|don'?t|wouldn'?t) {_YOU} (?:not )?(?:think|agree|recommend)(?: so| that| it)?"
            r"(?: yourself| too| as well| as much)?\s?\?",
            r"(?:is|was) (?:that|this|it) (?:normal|weird|odd|strange|bad|stupid|common|ok(?:ay)?)"
            rf"(?: (?:for|that|to)\b{_MORE})?\?",
        ),
    ),
    (
        "left",
        (
            rf"how (?:long|far)(?: \w+){{0,3}} (?:still|left|to go|remaining)\b{_MORE}",
            rf"how much longer\b{_MORE}",
            r"how (?:many|much)(?: more)? (?:minutes?|time|questions?|longer)(?: (?:are|is))?(?: (?:there|we|you))?"
            rf"(?: got| have)?(?: left| more| to go| on this)\b{_MORE}",
        ),
    ),
    (
        "length",
        (
            r"how long (?:is|does|will|do)? ?(?:this|it|the interview|the survey|that)(?: (?:take|go|last|be)\w*)?"
            rf"{_MORE}",
        ),
    ),
    (
        "why_ask",
        (rf"why (?:do |are |would )?{_YOU} (?:ask\w*|want to know|need to know)\b{_MORE}",),
    ),
    (
        "readers",
        (rf"who (?:reads|sees|gets|will read|will see) (?:this|it|that|these|my answers?|them){_MORE}",),
    ),
    (
        "readers",
        (
            r"(?:does|do|can|could|will|would|is) (?:the|my|that|this|their|our) (?:\w+ ){0,2}(?:company|boss|manager"
            r"|shop|store|doctor|school|landlord|firm|clinic|hospital|employer|bank|council|provider|husband|wife|mum"
            r"|mother|family|parents|teacher|partner)\b(?: (?:get to|also|then|even|actually|going to|ever))*"
            rf" (?:see|read|get|find out|know|hear)\b{_REST}",
            r"(?:could|can|will|would|does) (?:it|this|that|any of (?:it|this)) (?:get|go)(?: back)? to (?:the|my)"
            rf" (?:\w+ )?\w+{_REST}",
            rf"(?:some|any)(?:body|one)(?: else)? (?:could be|might be|may be|can be|is) (?:following|watching|reading"
            rf"|listening)\b{_REST}\?{_REST}",
            r"(?:this|that|it) (?:doesn'?t|does not|won'?t|will not|isn'?t going to|can'?t) (?:get|go|come)"
            rf"(?: back| out)* to (?:any|some|the|my|him|her|them)\w*{_REST}",
            rf"(?:this|that|it) (?:stays|is|will stay) (?:between us|here|private|confidential|secret){_REST}\?",
            rf"(?:nobody|no one|no-one)(?: \w+){{0,3}} (?:sees|reads|gets|hears|will see|will read|finds out)\b"
            rf"{_REST}\?",
            rf"is (?:there )?(?:some|any)(?:body|one) else (?:listening|reading|watching|here|there)\b{_MORE}",
            r"(?:will|is) my (?:name|number|voice)(?: \w+)? (?:in|on) (?:the|this|your|that) (?:report|study|article"
            rf"|research|paper){_MORE}",
            rf"my name (?:will|is)(?: be)? (?:in|on) (?:the|your) \w+ or no{_MORE}",
        ),
    ),
    (
        "traces",
        (
            r"(?:can|will|could|would|does|is) (?:he|she|they|my (?:husband|wife|partner|boyfriend|girlfriend|dad|mum"
            r"|son|boss|parents|family))(?: be)?(?: able to| going to| ever| also)* (?:see|find|read|know|find out)"
            rf"(?: about)? (?:this|it|that|what i)\b{_REST}",
            r"(?:is|will|does) (?:this|it|that)(?: be)?(?: \w+)? (?:saved|stored|kept|left|stay\w*|show\w*)(?: up)?"
            rf" (?:on|in) (?:my|this|the|here|his|her)\b{_REST}",
            r"(?:would|will|does) (?:that|this|it) (?:take|get|wipe|delete) (?:it|this|that) off (?:my|this|the)"
            rf" \w+{_REST}",
            r"(?:can|could|will) (?:somebody|someone|anybody|anyone) (?:see|find|read) (?:this|it) on (?:my|this|the)"
            rf" \w+{_REST}",
        ),
    ),
    (
        "data",
        (
            rf"is my name (?:in|on|with|anywhere|on it)\b{_REST}",
            rf"(?:do|will|would|can) (?:{_YOU}|they) (?:have|know|keep|store|see|get) my"
            rf" (?:name|number|address|email){_MORE}",
            rf"how (?:did|do) {_YOU} (?:get|have|find|know)(?: out)? (?:my|i|that i|about my|who i|where i)\b{_MORE}",
            rf"(?:what|how)(?: (?:will|do|are|would) (?:{_YOU}|they)| (?:{_YOU}|they) (?:will|gonna|going to))"
            r"(?: going to| gonna)? (?:do|use) with (?:my|all my|this|these|all this|all of this|the)"
            rf" ?(?:answers?|data|information|info)?{_MORE}",
            rf"(?:for )?how long (?:(?:do|will|are) )?(?:{_YOU}|they) (?:keep|store|save|hold)\b{_MORE}",
            rf"what happens (?:with|to) (?:all |all of )?(?:this|my answers|it|that|what i say){_MORE}",
        ),
    ),
    (
        "person",
        (
            rf"(?:what|how) about (?:{_YOU}|yourself)\b{_MORE}",
            r"(?:and )?you(?: yourself)?\?",
            r"and you(?: yourself)?",
            rf"(?:and you,? )?(?:what|which|how)(?: \w+){{0,3}}(?: (?:do|would|did))? {_YOU}(?: yourself)? "
            rf"(?:get|use|prefer|drink|choose|pay|buy|eat)\b{_MORE}",
            rf"(?:would|do) {_YOU} (?:ever )?(?:pay|buy|use|drink|eat)\b{_MORE}",
        ),
    ),
    (
        "machine",
        (
            rf"(?:are|r) {_YOU}(?: like| just| really| actually)? (?:a |an )?(?:ai|bot|robot|machine|computer|program"
            rf"|real person|real|human)\b{_MORE}",
        ),
    ),
    (
        "who",
        (
            rf"(?:are |do )?{_YOU}(?: people| guys| lot)? (?:work|working|from)(?: for)? (?:the|this|them|that) \w+"
            r"(?: or\b[^.!?]{0,20})?",
            rf"who (?:are you|is this|do you work) (?:with|for)\b{_MORE}",
        ),
    ),
    (
        "purpose",
        (
            r"what(?:'?s| is| are) (?:all )?(?:this|that|it|these(?: questions)?|the survey|the study)(?: all)?"
            r"(?: actually| really| exactly)? for(?:,? (?:anyway|exactly|actually|then|this (?:study|survey|interview)"
            r"|if i may ask))*",
            r"what(?:'?s| is| are) (?:all )?(?:this|that|the|your|these) (?:whole )?(?:study|survey|interview|research"
            r"|questions?|questionnaire)(?: all| actually| really| exactly)* for",
            r"what (?:do|are|would) (?:you|they|u)(?: actually| really)? (?:want|need|like|doing|asking)(?: to know)?"
            r"(?: all)? (?:this|that|it|these things|all of (?:it|this))(?: all)? for",
            r"(?:why,? )?what(?:'?s| has| have| does| do) (?:that|this|it)(?: got| have)? to do with"
            rf" (?:it|this|that|anything|(?:my|the) \w+)\b{_MORE}",
        ),
    ),
    (
        "other",
        (
            rf"(?:can|could|do|does|did|is|are|will|would|what|how|when|where|who|which|why)\b[^.!?]{{3,90}}"
            rf"[,.]? do {_YOU} (?:happen to )?know",
            rf"do {_YOU} (?:happen to )?know (?:if|whether|how|what|when|where|who|why)\b{_REST}",
            rf"how many (?:people|others) (?:are|do|did|have) {_YOU} (?:ask\w*|talk\w* to|interview\w*)\b{_MORE}",
            r"(?:can|could|will|may) i (?:read|see|get|have) (?:the|a|your) (?:report|results?|copy|summary|transcript)"
            rf"\b{_MORE}",
            rf"do {_YOU} (?:get|hear) (?:that|this)(?: answer| one)? (?:a lot|often|much|from everyone)",
        ),
    ),
)
"""What is asked, and words for it."""
_PASSING: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "how_much",
        (
            r"(?:is|was) (?:this|that|it) (?:all right|alright|ok(?:ay)?|fine|too much|too long|enough|useful"
            rf"|the (?:sort|kind) of thing|any (?:use|good|help)|what {_YOU}(?:'re| are)?)\b"
            r"(?=[^.!?]{0,60}\b(?:by the way|me telling|i tell|telling (?:it|this|you)|detail|for you|you (?:want|need"
            rf"|mean|after|look)|you're after|so far)\b){_REST}",
            r"am i (?:going on|rambling|talking|telling you|boring you|getting off|giving you)\b(?! to (?:a|an|you)\b)"
            rf"(?=[^.!?]{{0,40}}(?:\btoo\b|\bmuch\b|\byou\b|\btrack\b|\?)){_MORE}",
            rf"(?:shall|should) i (?:go on|say more|tell {_YOU} more|tell {_YOU} that too|start from|keep going)"
            rf"{_MORE}",
        ),
    ),
    (
        "who",
        (
            r"(?:is|are) (?:it|this|that|these|you) (?:all )?for (?:a|an|the|some) (?:[\w'-]+ ){0,3}(?:firm|company"
            rf"|brand|shop|chain|magazine|newspaper|university|college|council|government|ministry|bank){_MORE}",
        ),
    ),
)
"""The same, asked of whoever listens also at the end of a long answer."""
_ASKED_IN_PASSING: Final = tuple(
    (about, re.compile(rf"{_LED}(?:{'|'.join(words)})\s?\?\W*$", re.IGNORECASE)) for about, words in _PASSING
)
_ASKED: Final = tuple(
    (about, re.compile(rf"{_LED}(?:{'|'.join(words)})\s?\?*\W*$", re.IGNORECASE)) for about, words in _WORDS
)
"""The same, at the end of a message."""
_WHAT_FOR: Final = re.compile(
    r"\bwhat(?:'?s| is)(?: \w+)? (?:all )?(?:this|it|that)(?: \w+){0,2} for\b[^.!?,]{0,20}[?,]"
    r"\W*(?:like|and|so|or)?\W*$",
    re.IGNORECASE,
)
"""What is asked right before another such question: “what is this actually for? like who reads it”."""
_REPORTED: Final = re.compile(
    r"\b(?:ask(?:ed|s|ing)?|sa(?:id|ys?)|told|tells?|goes|went|like|shout\w*|wonder\w*|thought|text(?:ed|s)?|wrote)"
    r"(?: (?:me|him|her|them|us|my \w+|the \w+))?[\s,:]*(?:and |so |well,? )?$",
    re.IGNORECASE,
)
"""What stands before words that were said to others."""


def asked_plainly(text: str) -> tuple[Said, ...]:
    """What a message ends in asking of the interviewer; nothing where somebody tells what was asked of others."""
    plain = text.replace("’", "'")
    if len(plain) != len(text):
        return ()
    in_short = len(plain.split()) <= MOST_WORDS
    gone: frozenset[Act] = frozenset({"asks_back"})
    for about, pattern in (*_ASKED_IN_PASSING, *(_ASKED if in_short else ())):
        found = pattern.search(plain)
        if found is None:
            continue
        start = found.start() + len(found[0]) - len(found[0].lstrip(" .!?,;:"))
        if plain[:start].count('"') % 2 == 0 and _REPORTED.search(plain[:start]) is None:
            asked = Said("asks_interviewer", start, found.end(), about=about, instead=gone)
            first = _WHAT_FOR.search(plain, 0, start)
            if first is None or about == "purpose":
                return (asked,)
            return (Said("asks_interviewer", first.start(), first.end(), about="purpose", instead=gone), asked)
    return ()

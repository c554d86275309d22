"""Reads what a message puts right of what was told before it (English).

“No, I meant my team, not my boss.” says which words were wrong; “Sorry, in the morning.” leaves that to whoever has
heard the answer before. Both count only where the wrong words were said: everything else with a “not” in it tells.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.acts import PUT_RIGHT, PUT_RIGHT_AT_ONCE, TOLD_WRONG, Act, HeardAct, words_of
from pipeline.ports import Embedder, Parser
from pipeline.question.text import sentences, words

LANGUAGE: Final = "en"
GIVES_WAY: Final[frozenset[Act]] = frozenset({"tells", "complains", "wants_pause", "aside"})
"""Acts that words may be taken for by which something is put right: “Wait, it was Tuesday.”"""
ALIKE_ANSWERS: Final = 2
"""How many of the latest answers are looked through for a word that is like the right one."""
ALIKE_ENOUGH: Final = 0.66
"""Cosine from which it is. Of the corrections of one writer twelve pairs above it were right, one was not."""
MOST_LEMMAS: Final = 40
"""Words of either side that are compared."""
STEM: Final = 4
"""Letters that forms of a word share."""
MOST_WORDS: Final = 6
"""Words that were wrong, or are right instead, at the most."""
FEW_WORDS: Final = 5
"""Words of a phrase that says what is right by itself, at the most, where nothing was heard."""
LONGEST_SENTENCE, LOOKED_THROUGH, CONTRASTS = 300, 4000, 4
"""Characters of a sentence and of an earlier answer, and contrasts of a sentence, that are looked at."""
SENTENCES: Final = 3
"""How many of a message's first sentences are looked at."""
ANSWERS: Final = 3
"""How many of the latest answers something is put right of."""

_LEAD: Final = re.compile(
    r"(?:(?:no|nope|nah|sorry|apologies|well|actually|oh|ah|wait|hang on|hold on|yes|yeah|but|and|um+|uh+|er+m?|so|ok"
    r"|okay|my mistake|my bad|oops|whoops|i'm sorry|excuse me|correction|hm+|i mean|i meant|i said|i should have said"
    r"|if i'm honest|tell a lie|make that|better make that|nearer|more like|what i meant was"
    r"|(?:it|that|this|there|he|she|they)(?: was|'s| is| were|'re)|its|it's)(?=\W|$)[\s,.!;:–—-]*)+",
    re.IGNORECASE,
)
"""What a phrase is led in by."""
_CUE: Final = re.compile(
    r"\b(?:no|nope|nah|sorry|actually|wait|hang on|hold on|i mean|i meant|i said|did i say|should(?: ha)?ve said"
    r"|make that|mistake|correction|wrong|oops|whoops|tell a lie|is a lie|scratch that|nonsense|i should say)\b",
    re.IGNORECASE,
)
"""Words without one of which nothing is put right, unless it was heard that something is."""
_NOT_KNOWN: Final = frozenset({"know", "think", "remember", "mind", "care"})
"""What nobody puts right who does not: “somebody I don't know, …”"""
_NOT: Final = re.compile(
    r"\b(?:(?:was|is|were|are|do|did|does)n'?t|ain'?t|not|rather than|instead of|did i say|when i said"
    r"|i don'?t know why i said|is too strong)\b",
    re.IGNORECASE,
)
"""What stands before the words that were wrong."""
_NAMES_OTHER: Final = frozenset({"not", "rather than", "instead of"})
"""Those that stand behind what is right: “my team, not my boss”."""
_DENIED: Final = re.compile(
    r"(?:\b(?:is|was|are|were|am|be|been|do|does|did|have|has|had|will|would|could|can|should|may|might|must)"
    r"|'(?:s|re|m|ve|d|ll))\s*$",
    re.IGNORECASE,
)
"""What stands before a “not” that denies, and names nothing in its place."""
_NAMES_WRONG: Final = re.compile(
    r"\b(?:it|that|this|there|he|she|they) (?:wasn'?t|isn'?t|weren'?t|was not|is not) "
    r"|\bi (?:said|told you|put|wrote) ",
    re.IGNORECASE,
)
"""How the wrong words are named in a sentence of their own, …"""
_IT_WAS: Final = re.compile(
    r"\s*(?:no,? )?(?:it|that)(?:'s| is| was| were| should be| should have been) |\s*i (?:meant|mean) ", re.IGNORECASE
)
"""… and how the next one begins: “I said Friday. It was the Saturday.”"""
_SET_APART: Final = re.compile(
    r"[,;:.–—]|\s-\s|\b(?:but|it'?s|it was|it is|i meant?|i said|rather|no)\b", re.IGNORECASE
)
"""What stands between words that were wrong and those that take their place."""
_BOUND: Final = re.compile(
    r"[,.;:!?–—]|\s-\s|\b(?:but|because|cause|cos|so|that|it'?s|it was|i meant?)\b", re.IGNORECASE
)
"""Where a phrase ends."""
_TAIL: Final = re.compile(
    r"\s+(?:said|says|did|does|told|was|were|is|are|has|had|have|actually|instead|sorry|now|then|i think|i mean"
    r"|of course|please|though|really|who|which|like i said|i said|i should say|love|dear|lol|btw|it was)(?!\w).*$",
    re.IGNORECASE,
)
"""What a phrase that is right no longer belongs to."""
_SAID_BEHIND: Final = re.compile(
    r"[\s,]*(?:actually|sorry|i meant?|i should say|i should(?: ha)?ve said"
    r"|it was(?=\W*$|[,;]))",
    re.IGNORECASE,
)
"""Words by which a phrase is what is right that stands before them."""
_DETERMINER: Final = re.compile(
    r"^(?:the|a|an|my|our|your|his|her|their|this|that|these|those|some|any|about|around|like)\s+", re.IGNORECASE
)
_AT: Final = r"(?:in|on|at|by|from|to|with|for|after|before|during|under|over|near|around|about|since|until|till|into)"
_PLACED: Final = re.compile(rf"^(?P<at>{_AT})\s+(?P<rest>.+)$", re.IGNORECASE)
_NUMBER: Final = (
    r"(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a hundred|a thousand|hundred"
    r"|half)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine|hundred|thousand|past|and a half))*"
)
_NO_UNIT: Final = r"(?:if|with|when|and|or|on|in|at|to|of|so|but|that|because|as|for|by|counting|including)"
"""Words behind a number that do not say of what it is one."""
_COUNTED: Final = re.compile(
    r"(?<!first )(?<!last )(?<!other )(?<!those )(?<!these )(?<!second )(?<!third )(?<!next )(?<!this )(?<!that )"
    r"(?<!which )"
    rf"\b(?P<number>{_NUMBER})(?:(?:(?<=\d)| )(?P<unit>%|percent|per cent|(?!{_NO_UNIT}\b)[a-z]+))?(?![\w])",
    re.IGNORECASE,
)
_DAYS: Final = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_MONTHS: Final = frozenset("january february march april june july august september october november december".split())
_TIMES: Final = frozenset("morning afternoon evening night noon midday lunchtime bedtime".split())
_SEASONS: Final = frozenset("spring summer autumn fall winter".split())
_KIN: Final = frozenset(
    "mother mum mom father dad sister brother wife husband partner girlfriend boyfriend son daughter aunt uncle cousin"
    " grandmother grandma nan gran grandfather grandad grandpa nephew niece friend neighbour neighbor boss manager"
    " colleague flatmate roommate".split()
)
_ALIKE: Final = (_DAYS, _MONTHS, _TIMES, _SEASONS, _KIN)
"""Words of which one is put in the place of another without saying which was wrong."""
_I_SAID: Final = re.compile(
    r"^\W*(?:(?:no|but|sorry|well|actually)[\s,]+)*i(?: only| just)? (?:said|wrote|meant)[\s,:\"“]+"
    r"(?!(?:that|it|so|no|yes|to|this|what)\b)(?P<right>[\w'-]+(?: [\w'-]+){0,4})[\W]*$",
    re.IGNORECASE,
)
"""Says again what was said, and nothing else."""
_CLAIMED: Final = re.compile(r"\b(?:i|we) (?:said|told you|put|wrote|meant to say|called it)\b", re.IGNORECASE)
"""Words before what somebody says again that they said, …"""
_TO_OTHERS: Final = re.compile(
    r"[^.!?]*\b(?:to (?:him|her|them|us|the|my)|would|i'd|i'll|will)\b|\W*(?:him|her|them)\b", re.IGNORECASE
)
"""Words by which somebody tells what they said to others, or would do."""
_TURNS: Final = re.compile(
    r"[\s,;:–—-]+(?:(?:but|no|sorry|well|and),? )*(?:actually|in fact|no,|sorry|i mean|i meant|i should(?: ha)?ve said"
    r"|(?:it|that) (?:was|is|should be) (?:actually|really|more like)|it'?s (?:actually|really|more like)"
    r"|that'?s (?:wrong|not right|not true)|but (?:it'?s|it was|really))(?=\W)",
    re.IGNORECASE,
)
"""… and before what is right instead: “I said Sunday, actually it's Saturday.”"""
_BUT_WAS: Final = re.compile(
    r"\s*(?:[,;:–—-]|but|and)+\s*(?:it|that|there|they|this)(?:'s| is| was| were)(?=\W)", re.IGNORECASE
)
"""What turns right behind what was told, word for word: “I said five weeks, it was four.”"""
_ASKS_WHICH: Final = re.compile(
    r"\b(?:when|how (?:many|much|long|often|old|far)|which|who|whose|where"
    r"|what (?:time|day|year|month|kind|sort|was that))\b",
    re.IGNORECASE,
)
"""Words of a question that a phrase by itself answers."""
_STANDS_ALONE: Final = re.compile(r"\W*(?P<phrase>[^,.;:!?–—]{2,40})(?:[,.;!–—]|$)")
"""A phrase by itself that a message begins with; up to …"""
ALONE_WORDS: Final = 4
"""… so many words."""
_TO_YOU: Final = re.compile(r"\b(?:you|u|your)\b", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"(?:i|we|you|he|she|they|it|there)(?:['’]\w+)?\s+\w", re.IGNORECASE)
"""How a sentence begins, which takes no phrase's place."""
_TAKEN_FOR_GRANTED: Final = re.compile(r"(?:and |so,? |then )*(?:you|your|it|so)\b", re.IGNORECASE)
_SHORT: Final = re.compile(r"(?:i|you|we|they|he|she|it|that|this|there|who|what)'(?:ve|m|re|s|d|ll)")
"""A pronoun with a verb: “I've”."""
_SAYS_NOTHING: Final = frozenset(
    "the a an my our your their it that this them him her so there here yes no not really true right wrong sure same"
    " what you i me one ones thing things case way much more less all any anything something nothing everything anyone"
    " anybody someone somebody nobody at in of on to for with by from because was were is are be it's that's myself"
    " yourself himself herself itself themselves ourselves".split()
)


@dataclass(frozen=True)
class PutRight:
    """Words that take the place of others.

    Attributes:
        wrong: as they stand in what was told before.
        right: as they stand in the message.
        start, end: the words of the message by which it is put right.
    """

    wrong: str
    right: str
    start: int
    end: int


def put_right_in(
    text: str, told: Sequence[str], said_back: str = "", *, heard: bool = False, asks_which: bool = True
) -> PutRight | None:
    """What a message puts right; None where it puts nothing right of what was told.

    Args:
        text: the message.
        told: the answers before it, the latest last.
        said_back: what the interviewer has just said of them.
        heard: whether it was heard that something is put right, so that no word for it is asked for.
        asks_which: whether a number or a day by itself may answer what was asked.
    """
    plain = _plain(text)
    earlier = [_plain(one)[:LOOKED_THROUGH] for one in (*told[-ANSWERS:], said_back) if one]
    back = [_plain(said_back)] if said_back else []
    places = _sentences(plain)
    for at, (start, end) in enumerate(places):
        part = plain[start : min(end, start + LONGEST_SENTENCE)]
        cued = heard or _CUE.search(part) is not None
        found = _claimed(part, told) or _contrast(part, earlier if cued else back)
        if at == 0 and not asks_which:
            found = found or _in_place_of(part, back)
        found = found or _alone(part, earlier[-2:], heard=heard)
        if found is None and cued and at + 1 < len(places):
            end = places[at + 1][1]
            found = _over_two(part, plain[start:end][: 2 * LONGEST_SENTENCE], earlier)
        if found is not None and at and _of_itself(part, plain[:start], found[0]):
            continue
        if found is not None:
            wrong, (begin, until) = found
            if not _names_something(plain[start + begin : start + until]):
                continue  # “But for me it was …” puts nothing in the place of “for a whole class”.
            return PutRight(wrong, text[start + begin : start + until], start, end)
    return None


def _of_itself(part: str, before: str, wrong: str) -> bool:
    """Whether a sentence puts right what stands before it in the same message: “On Wednesday. No, the Tuesday.”"""
    return _holds(wrong, before) or _alone(part, [before], heard=True) is not None


def _plain(text: str) -> str:
    """The text, as long as before, with straight apostrophes and plain spaces."""
    return re.sub(r"\s", " ", text.replace("’", "'"))


def taken_for_granted(question: str) -> str:
    """What a question takes for granted: all before its last sentence, and that as well if it begins “So you …”."""
    parts = sentences(question)
    return " ".join(part for part in parts if part is not parts[-1] or _TAKEN_FOR_GRANTED.match(part))


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where the first sentences of a message stand."""
    ends = [0, *(one.end() for one in re.finditer(r"[.!?]+\s+", text)), len(text)]
    return [(one, other) for one, other in itertools.pairwise(ends) if one < other][:SENTENCES]


def _contrast(part: str, earlier: Sequence[str]) -> tuple[str, tuple[int, int]] | None:
    """The wrong words and where the right ones stand, in a sentence that names both."""
    for negation in itertools.islice(_NOT.finditer(part), CONTRASTS):
        after = part[negation.end() :]
        wrong = _where_said(after, earlier)
        if wrong is None or wrong[0].lower() in _NOT_KNOWN:
            continue
        said, length = wrong
        denies = negation[0].lower() not in _NAMES_OTHER or _DENIED.search(part[: negation.start()]) is not None
        before = (0, 0) if denies else _before(part[: negation.start()])
        behind = _behind(part, negation.end() + length)
        if _SET_APART.search(part[negation.end() + length : behind[0]]) is None:
            behind = (0, 0)  # “not half of it” names nothing in the place of half.
        for start, end in (before, behind):
            if _takes_its_place(part[start:end], said):
                return said, (start, end)
    return None


def _takes_its_place(right: str, wrong: str) -> bool:
    few = len(right.split()) <= MOST_WORDS
    return few and _CLAUSE.match(right) is None and _names_something(right) and not _shares(wrong, right)


def _over_two(first: str, both: str, earlier: Sequence[str]) -> tuple[str, tuple[int, int]] | None:
    """The same of a sentence that names the wrong words, and the next one, which begins with the right ones."""
    named = _NAMES_WRONG.search(first)
    instead = _IT_WAS.match(both, len(first))
    wrong = _where_said(first[named.end() :], earlier) if named is not None else None
    if instead is None or wrong is None:
        return None
    start, end = _behind(both, instead.end())
    return (wrong[0], (start, end)) if _takes_its_place(both[start:end], wrong[0]) else None


def _before(lead: str) -> tuple[int, int]:
    """Where the phrase right before something stands."""
    lead = lead.rstrip(" ,;–—-")
    lead = re.sub(r"\s+(?:it|that) was$", "", lead, flags=re.IGNORECASE)
    start = max((one.end() for one in _BOUND.finditer(lead)), default=0)
    led = _LEAD.match(lead, start + len(lead[start:]) - len(lead[start:].lstrip()))
    start = led.end() if led else start + len(lead[start:]) - len(lead[start:].lstrip())
    return start, start + len(_TAIL.sub("", lead[start:]))


def _behind(part: str, start: int) -> tuple[int, int]:
    """Where the phrase right behind something stands."""
    start += len(part[start:]) - len(part[start:].lstrip(" ,.;:?–—-"))
    if led := _LEAD.match(part, start):
        start = led.end()
    end = next((one.start() for one in _BOUND.finditer(part, start)), len(part))
    return start, start + len(_TAIL.sub("", part[start:end]).rstrip(" ,.;:!?–—-"))


def _claimed(part: str, told: Sequence[str]) -> tuple[str, tuple[int, int]] | None:
    """The same of a sentence that says again what was told, however long ago, and what is right instead."""
    claim = _CLAIMED.search(part)
    if claim is None:
        return None
    turn = _TURNS.search(part, claim.end())
    if turn is None:
        turn = _BUT_WAS.search(part, claim.end())
        again = part[claim.end() : turn.start()].strip(' ,.;:"“”') if turn is not None else ""
        if turn is None or not again or not any(_holds(again, one) for one in told):
            return None
    start, end = _behind(part, turn.end())
    said = part[claim.end() : turn.start()]
    if _TO_OTHERS.match(said):
        return None  # “I said Sunday to her”, “I said I would be there at seven”
    for find in (_counted, _placed, _alike):
        found = find(part[start:end], said)
        if found is not None and any(_holds(found[0], one) for one in told):
            return found[0], (start + found[1][0], start + found[1][1])
    return None


def _holds(phrase: str, text: str) -> bool:
    """Whether a phrase stands in a text, as words of its own."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", _plain(text)[:LOOKED_THROUGH], re.IGNORECASE) is not None


def _in_place_of(part: str, back: Sequence[str]) -> tuple[str, tuple[int, int]] | None:
    """The same of a message that begins with a number, or days, by itself, where others were said back.

    It says nothing else, or those that are wrong again: “Wednesdays, they're shut Tuesdays.”
    """
    alone = _STANDS_ALONE.match(part)
    phrase = alone["phrase"].rstrip() if alone is not None else ""
    if alone is None or not back or len(phrase.split()) > ALONE_WORDS:
        return None
    rest = part[alone.end() :].strip(" .!?")
    start = alone.start("phrase")
    number = _COUNTED.fullmatch(phrase)
    every = _single(phrase) in _DAYS and phrase.lower().endswith("s")
    found = _counted(phrase, back[0]) if number is not None else _alike(phrase, back[0]) if every else None
    if found is None or (every and not found[0].lower().endswith("s")):
        return None
    wrong, (begin, until) = found
    again = re.search(rf"\b{re.escape(wrong)}\b", rest, re.IGNORECASE) is not None
    return (wrong, (start + begin, start + until)) if again or not rest else None


def _alone(part: str, earlier: Sequence[str], *, heard: bool) -> tuple[str, tuple[int, int]] | None:
    """The same of a sentence that names only what is right, in a few words behind or before one that says so."""
    start, end = _behind(part, 0)
    phrase = part[start:end]
    led = _CUE.search(part[:start]) is not None or _SAID_BEHIND.match(part, end) is not None
    if not phrase or not (heard or (led and len(phrase.split()) <= FEW_WORDS)):
        return None
    if any(re.search(rf"\b{re.escape(phrase)}\b", one, re.IGNORECASE) for one in earlier):
        return None
    for one in reversed(earlier):
        for find in (_counted, _placed, _alike):
            if (found := find(phrase, one)) is not None:
                wrong, (begin, until) = found
                return wrong, (start + begin, start + until)
    return None


def _counted(phrase: str, told: str) -> tuple[str, tuple[int, int]] | None:
    """A number in place of another of the same things: “ten euros” for “twelve euros”."""
    right = next(_COUNTED.finditer(phrase), None)
    if right is None:
        return None
    for wrong in reversed(list(_COUNTED.finditer(told))):
        units = {(one["unit"] or "").lower() for one in (right, wrong)}
        few = len(phrase.split()) <= len(right[0].split()) + 1
        alone = few or (right.start() == 0 and re.match(rf"\W*{_NO_UNIT}\b", phrase[right.end() :], re.IGNORECASE))
        same = len(units) == 1 or (not right["unit"] and alone)
        if same and wrong["number"].lower() != right["number"].lower():
            kept = "number" if not right["unit"] or len(units) > 1 else 0
            return wrong[kept], right.span(kept)
    return None


def _placed(phrase: str, told: str) -> tuple[str, tuple[int, int]] | None:
    """A place or a time behind the same word: “in the morning” for “in the evening”."""
    right = _PLACED.match(phrase)
    if right is None or len(right["rest"].split()) > MOST_WORDS // 2:
        return None
    pattern = rf"\b{re.escape(right['at'])}(?: (?:the|my|our|your|a|an|his|her|their))? [\w'-]+"
    found = list(re.finditer(pattern, told, re.IGNORECASE))
    return (found[-1][0], right.span()) if found else None


def _alike(phrase: str, told: str) -> tuple[str, tuple[int, int]] | None:
    """A word in place of another of its kind: “Tuesday” for “Monday”, “my sister” for “my wife”."""
    for match in re.finditer(r"[\w']+", phrase):
        kind = next((kind for kind in _ALIKE if _single(match[0]) in kind), None)
        if kind is None:
            continue
        found = [one for one in re.finditer(r"[\w']+", told) if _single(one[0]) in kind]
        if found and _single(found[-1][0]) != _single(match[0]):
            return found[-1][0], match.span()
    return None


def _single(word: str) -> str:
    """A word in small letters, in the singular: “Mondays” is a Monday."""
    word = word.lower()
    return word if word.endswith("ss") else word.removesuffix("s")


def _where_said(after: str, earlier: Sequence[str]) -> tuple[str, int] | None:
    """The longest beginning of some words that was told, as it was told, and its length here; None if none was."""
    ends = [one.end() for one in re.finditer(r"[\w'%£$€-]+", after)][: MOST_WORDS + 1]
    for end in reversed(ends):
        phrase = after[:end].strip(" ,.;:?–—-")
        for wanted in dict.fromkeys((phrase, _DETERMINER.sub("", phrase))):
            if not _names_something(wanted):
                continue
            for told in reversed(earlier):
                match = re.search(rf"(?<!\w){re.escape(wanted)}(?:'?s)?(?!\w)", told, re.IGNORECASE)
                if match is not None:
                    return match[0], end
    return None


def _names_something(phrase: str) -> bool:
    found = [word for word in words(_DETERMINER.sub("", phrase)) if _SHORT.fullmatch(word) is None]
    return any(word not in _SAYS_NOTHING and (len(word) > 1 or word.isdigit()) for word in found)


def _shares(one: str, other: str) -> bool:
    """Whether two phrases are the same but for a determiner."""
    return words(_DETERMINER.sub("", one)) == words(_DETERMINER.sub("", other))


class CorrectionReader:
    """Finds the words that a correction puts in the place of others, also where it names only the right ones.

    Args:
        parser: gives the words of a text that say something.
        embedder: tells which of them are alike: “vegetarian” takes the place of “vegan”.
    """

    def __init__(self, parser: Parser, embedder: Embedder) -> None:
        self._parser = parser
        self._embedder = embedder

    async def read(
        self, text: str, acts: tuple[HeardAct, ...], told: Sequence[str], question: str
    ) -> tuple[HeardAct, ...]:
        """The acts of a message, with a correction that says what was wrong and what is right, if it does.

        Args:
            text: the message.
            acts: what was heard in it.
            told: the answers before it, the latest last.
            question: what it answers, with what that says back.
        Raises:
            ProviderError: parser or embedder do not answer.
        """
        said_back, asks_which = taken_for_granted(question), _ASKS_WHICH.search(question) is not None
        corrections = [act for act in acts if act.act == "corrects" and act.about != PUT_RIGHT_AT_ONCE]
        if misheard := _misheard(text, told, said_back):
            return (HeardAct(act="corrects", start=0, end=len(text), details={"right": misheard.lower()}),)
        if not said_back:
            acts = tuple(_own_slip(act) for act in acts)
        if not told or any({"wrong", "right"} <= set(act.details) for act in corrections):
            return acts
        corrections = [act for act in acts if act.act == "corrects" and act.about != PUT_RIGHT_AT_ONCE]
        found = put_right_in(text, told, said_back, heard=bool(corrections), asks_which=asks_which)
        if found is None and corrections:
            found = await self._alike(text, corrections[0], told)
        if found is not None:
            own = re.search(rf"(?<!\w){re.escape(found.wrong)}", said_back, re.IGNORECASE) is None
            return _with_correction(text, acts, found, TOLD_WRONG if own else "")
        return acts if said_back else tuple(_told(act, text) for act in acts)

    async def _alike(self, text: str, heard: HeardAct, told: Sequence[str]) -> PutRight | None:
        """The words of what was told and of the correction that are most alike, if they are alike enough."""
        latest = [one for one in told[-ALIKE_ANSWERS:] if one]
        said = words_of(text, heard)
        *earlier, own = await self._parser.lemmas([*latest, said])
        old = [*dict.fromkeys(one for lemmas in earlier for one in lemmas if one != "not" and _names_something(one))]
        old = old[:MOST_LEMMAS]
        named = (lemma for lemma in own if _names_something(lemma) and _names_something(f"{lemma}s"))
        new = [*dict.fromkeys(lemma for lemma in named if not any(_of_a_stem(lemma, one) for one in old))][:MOST_LEMMAS]
        if not old or not new:
            return None
        rows = await self._embedder.embed([*old, *new])
        likeness = rows[: len(old)] @ rows[len(old) :].T
        at, by = divmod(int(likeness.argmax()), len(new))
        wrong = next((found for one in reversed(latest) if (found := _written(old[at], one)) is not None), None)
        right = _written(new[by], said)
        if likeness[at, by] < ALIKE_ENOUGH or wrong is None or right is None:
            return None
        start, end = heard.start + right.start(), heard.start + right.end()
        if determined := re.search(rf"{_DETERMINER.pattern[1:]}$", text[:start], re.IGNORECASE):
            start = determined.start()
        return PutRight(wrong[0], text[start:end], heard.start, heard.end)


def _told(act: HeardAct, text: str) -> HeardAct:
    """An act; one that only the reader takes for a correction tells, where there was nothing that could be wrong."""
    by_reader = act.act == "corrects" and act.about == PUT_RIGHT and act.heard_by == "reader"
    if by_reader and _TO_YOU.search(words_of(text, act)) is None:
        return HeardAct(act="tells", start=act.start, end=act.end)
    return act


def _misheard(text: str, told: Sequence[str], said_back: str) -> str:
    """What somebody says that they said, and nobody has heard: “I said weak.” Empty where it was heard."""
    match = _I_SAID.match(text.replace("’", "'"))
    if match is None or not told:
        return ""
    heard = {word for one in (*told, said_back) for word in words(one)}
    new = [word for word in words(match["right"]) if word not in heard and word not in _SAYS_NOTHING]
    return match["right"] if new and len(new) * 2 >= len(words(match["right"])) else ""


def _of_a_stem(one: str, other: str) -> bool:
    """Whether two words are forms of the same: “week”, “weekly”."""
    return one.startswith(other[: max(STEM, len(other) - 1)]) or other.startswith(one[: max(STEM, len(one) - 1)])


def _written(lemma: str, text: str) -> re.Match[str] | None:
    """Where a word, or a form of it, stands in a text."""
    stem = lemma if len(lemma) <= STEM else lemma[:-1]
    return re.search(rf"(?<!\w){re.escape(stem)}\w{{0,3}}(?!\w)", text, re.IGNORECASE)


def _own_slip(act: HeardAct) -> HeardAct:
    """An act; a correction that is not the interviewer's fault says so."""
    own = act.act == "corrects" and not act.about and act.heard_by == "rules"
    return act.model_copy(update={"about": TOLD_WRONG}) if own else act


def _with_correction(text: str, acts: tuple[HeardAct, ...], found: PutRight, about: str) -> tuple[HeardAct, ...]:
    """What was heard, with a correction in these words; as it was where they do something else besides."""
    details = {"wrong": found.wrong, "right": found.right.lower()}
    known = next((act for act in acts if act.act == "corrects" and act.about != PUT_RIGHT_AT_ONCE), None)
    if known is not None:
        new = known.model_copy(update={"sure": True, "about": about, "details": details, "heard_by": "rules"})
        return tuple(new if act is known else act for act in acts)
    new = HeardAct(act="corrects", start=found.start, end=found.end, about=about, details=details)
    within = [act for act in acts if act.start < found.end and found.start < act.end]
    if any(act.act not in GIVES_WAY for act in within):
        return acts
    parts = [(0, found.start), (found.end, len(text))] if not acts else []
    around = [HeardAct(act="tells", start=start, end=end) for start, end in parts if text[start:end].strip()]
    for act in acts:
        if act.start < found.start:
            around.append(act.model_copy(update={"end": min(act.end, found.start)}))
        if act.end > found.end:
            around.append(act.model_copy(update={"start": max(act.start, found.end)}))
    return (*sorted((*around, new), key=lambda act: act.start),)

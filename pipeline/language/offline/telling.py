"""How somebody tells: what of an answer speaks for or against a wording, whatever the wording is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pipeline.finished import closes
from pipeline.language.offline.phrasings import LanguagePhrasing, phrasing
from pipeline.methodology import Methodology
from pipeline.question.text import sentences

MUCH = 15
"""Words from which on an answer of two sentences says several things."""
LATEST = 2
"""Sentences at the end of an answer in which a feeling is fresh."""
PEAK_IN = 3
"""Sentences at the end of an answer in which what weighs most is not passed over."""
TOLD_ON = 20
"""Words behind that there is no more to tell up to which nothing more is told."""
CLOSING_WORDS = 10
"""Most words of an answer that closes a subject."""
ENDED_FOR = 3
"""Answers for which a story that has ended is not asked on."""
UNCLEAR_FOR = 3
"""Answers for which somebody who had to ask what was meant is not left to guess again."""
ASKED_BACK_WORDS = 9
"""Most words of a first sentence with a question mark that asks what was meant."""
EARLY = 4
"""Answers in which somebody who learns the language is recognised."""
SLIPS = 2
"""Slips of grammar from which on somebody is taken to be learning the language."""
BARE = re.compile(r"\b(?:that|there|it)\b", re.IGNORECASE)
"""What stands for something in a question that does not name it."""
STORY = re.compile(
    r"\b(?:what happened (?:then|next)|and then|go on from there|(?:what )?did you do(?: then)?)\b", re.IGNORECASE
)
"""Asks how it went on."""
ASKS_FEELING = re.compile(
    r"\b(?:(?:that|it) like|how was (?:that|it)|feel|do to you|went through your mind|mean (?:to|for) you)\b",
    re.IGNORECASE,
)
"""Asks what it was like."""
IDIOM = re.compile(
    r"\b(?:do (?:to|for) you|come from|go about|see it that way|taken? from|make of|went through your mind"
    r"|difference does|get to you|gets to you|out of (?:it|that)|behind (?:that|it)|what is it (?:about|that)"
    r"|come to (?:do|see|feel))\b",
    re.IGNORECASE,
)
"""Turns of phrase that people who learn the language do not know."""
WALK = re.compile(r"\b(?:step by step|(?:take|walk|talk) me through)\b", re.IGNORECASE)
"""Asks for everything in its order."""
INSIGHT = re.compile(
    r"\b(?:differently since|(?:have you|did you) taken? from|happened again|advise|in hindsight|looking back)\b",
    re.IGNORECASE,
)
"""Asks what is left of it: for the end of a story."""
WHY = re.compile(r"\b(?:matters?|important|(?:do|does|did) for you)\b", re.IGNORECASE)
DENIED = re.compile(r"\b(?:not|never|nothing|nobody|no longer|\w+n't)\b", re.IGNORECASE)
"""Asks what something is good for; and words with which it is said that something is not so."""
PAST = re.compile(r"\b(?:was|were|did|turn(?:ed)? out)\b", re.IGNORECASE)
"""Asks of what was."""
MORE = re.compile(r"\b(?:more|a little) about that\b|\bmore about it\b", re.IGNORECASE)
"""The plainest of all questions."""

SEVERAL_BARE, UNCLEAR_BARE = 0.35, 0.8
"""What a wording loses that says “that” of several things, or to somebody who had to ask what is meant."""
SEVERAL_MORE = 0.2
"""What asking for more of “that” loses besides, where much was said."""
NAMED = 0.25
"""What a wording gains there that says what it means."""
GOES_ON, IS_OVER, PAST_FEELING = 0.5, 1.2, 1.2
"""What asking how it went on gains in the middle of a story, and loses at its end and after a feeling."""
TOLD_FEELING = 0.5
"""What asking for a feeling loses where it was just told."""
FACTS = 1.0
"""What a question loses about figures that asks for more than how it went on."""
PASSES_PEAK = 1.2
"""What asking how it went on loses after what weighs most."""
LASTS = 1.0
"""What asking how it went on loses after how things are."""
REFLECTS = 1.2
"""What asking how it went on loses where somebody has begun to say what it was to them."""
LAST_WORDS = 6
"""Words that the last sentences have together, which say how an answer ends."""
NOT_YET = 1.2
"""What asking how it went on, or how it was, loses where it is still to come."""
RETOLD = 1.0
"""What asking how it went on loses where what went on was told before."""
NO_MOMENT = 0.8
"""What asking about "that moment" loses where the answer does not end with one."""
BACK_IN_TIME = 0.8
"""What asking what was before loses in the middle of a story."""
WHY_DEED = 0.5
"""What asking what something is good for loses where the answer ends with something that happened."""
WHY_NOT = 1.0
"""What asking what something is good for loses where it says back that it is not so."""
RECOUNTS = 1.2
"""What asking for everything in its order loses where somebody has begun to say what it was to them."""
TOO_SOON = 0.8
"""What asking what is left of a story loses in the middle of it."""
QUOTES = 1.0
"""What a wording loses that puts what was said just now in quotation marks."""
EXHAUSTED = 1.2
"""What asking for more of it loses where there is no more to tell."""
CLOSED = 1.0
"""What asking on loses where the subject was closed."""
UNKNOWN_IDIOM = 1.2
"""What an idiom loses with somebody who learns the language."""


@dataclass(frozen=True)
class Telling:
    """How an answer is told.

    Attributes:
        several: it says more than one thing.
        unclear: the respondent had to ask lately what was meant.
        happening: it ends with something that happened, so that the story may go on.
        over: it ends in the present, or says that this was all.
        lasting: it ends with how things are.
        reflecting: it ends with what was thought of it, or how it has been since.
        felt: it ends with a feeling, told by name.
        figures: it ends with nothing but figures, or is asked about them.
        closed: it closes the subject.
        peak: it says something that weighs more than how it went on.
        origins: somebody or something that it comes from was told of.
        learning: the respondent seems to be learning the language.
        retold: it says that something in it was told before.
        exhausted: it says that there is no more to tell of it.
        planned: it ends with what is still to come.
    """

    several: bool = False
    unclear: bool = False
    happening: bool = False
    over: bool = False
    lasting: bool = False
    reflecting: bool = False
    felt: bool = False
    figures: bool = False
    closed: bool = False
    peak: bool = False
    learning: bool = False
    origins: bool = False
    retold: bool = False
    exhausted: bool = False
    planned: bool = False


NOTHING = Telling()


def about_focus(told: Telling, focus: str, speaking: LanguagePhrasing) -> Telling:
    """How an answer is told, for a question about something in it: figures stay figures whatever else was told."""
    if told.felt or told.figures or not focus or not speaking.past:
        return told
    return replace(told, figures=re.search(speaking.figures, focus.casefold()) is not None)


@lru_cache(maxsize=256)
def told_by(answers: tuple[str, ...], language: str) -> Telling:
    """How the last of some answers is told in a language; the same one again without work."""
    return telling_of(answers, phrasing(language))


def telling_of(answers: Sequence[str], speaking: LanguagePhrasing) -> Telling:
    """How the last of some answers is told; nothing is known of it in a language without such patterns.

    Args:
        answers: all of the interview, the last at the end.
        speaking: the patterns of the language.
    """
    if not answers or not speaking.past:
        return NOTHING
    last = answers[-1].casefold()
    said = [sentence for sentence in sentences(last) if sentence.strip()]
    if not said:
        return NOTHING
    end = " ".join(said[-LATEST:])
    ended = any(re.search(speaking.ended, answer.casefold()) for answer in answers[-ENDED_FOR:])
    over = ended or re.search(speaking.over, said[-1]) is not None
    felt = re.search(speaking.felt, end) is not None
    reflecting = re.search(speaking.reflects, _ending(said)) is not None
    return Telling(
        several=len(said) > 1 and len(last.split()) >= MUCH,
        unclear=any(_asks_what(answer) for answer in answers[-UNCLEAR_FOR:]),
        happening=not over and not reflecting and re.search(speaking.past, said[-1]) is not None,
        over=over,
        lasting=re.search(speaking.past, said[-1]) is None and re.search(speaking.present, said[-1]) is not None,
        reflecting=reflecting,
        felt=felt,
        figures=not felt and re.search(speaking.figures, said[-1]) is not None,
        closed=len(last.split()) <= CLOSING_WORDS and re.search(speaking.closed, last) is not None,
        peak=re.search(speaking.peak, " ".join(said[-PEAK_IN:])) is not None,
        origins=any(re.search(speaking.origins, answer.casefold()) for answer in answers),
        learning=_slips(answers, speaking) >= SLIPS,
        retold=re.search(speaking.retells, last) is not None,
        exhausted=_is_exhausted(last, speaking) or closes(last),
        planned=re.search(speaking.planned, said[-1]) is not None,
    )


ADDS = 7
"""Words behind a sentence that says that this was all, …"""
_GOES_ON = re.compile(
    r"[^.!?…]*[.!?…]+\s+(?:oh,? |well,? )?(?:maybe|only|except|perhaps|just|although|but|one thing)\b", re.IGNORECASE
)
"""… from which on somebody goes on all the same who begins so: “There is no more. Maybe that …”"""


def _is_exhausted(answer: str, speaking: LanguagePhrasing) -> bool:
    """Whether an answer says that there is no more to tell of it, and does not tell on for long after that."""
    found = [*re.finditer(speaking.exhausted, answer)]
    after = answer[found[-1].end() :] if found else ""
    goes_on = _GOES_ON.match(after) is not None and len(after.split()) >= ADDS
    return bool(found) and len(after.split()) <= TOLD_ON and not goes_on


def _ending(said: Sequence[str]) -> str:
    """The last sentence, with those before it that it says nothing without: “That's what broke me. Not him. Her.”"""
    first = len(said) - 1
    while first and len(" ".join(said[first:]).split()) < LAST_WORDS:
        first -= 1
    return " ".join(said[first:])


def _slips(answers: Sequence[str], speaking: LanguagePhrasing) -> int:
    """How many slips of grammar the first answers have, and the last."""
    return sum(len(re.findall(speaking.slips, answer.casefold())) for answer in {*answers[:EARLY], answers[-1]})


def _asks_what(answer: str) -> bool:
    """Whether an answer begins with a question about the question: “About the bread, you mean?”"""
    first = next(iter(sentences(answer)), "")
    return first.rstrip(" \"'”’)").endswith("?") and len(first.split()) <= ASKED_BACK_WORDS


@lru_cache(maxsize=8192)
def asks_story(text: str) -> bool:
    """Whether a question or a form asks how it went, or goes on."""
    return STORY.search(text) is not None


def tells_stories(methodology: Methodology, language: str) -> bool:
    """Whether a methodology asks for stories, in a language."""
    code = language.casefold().split("-")[0]
    forms = (form for own in methodology.strategies for form in own.templates.get(code, ()))
    return any(asks_story(form.ask) for form in forms)


def fit(text: str, *, named: bool, told: Telling, quoted: bool = False) -> float:
    """What a wording gains or loses by how the answer was told.

    Args:
        text: of the wording.
        named: whether it says what it means.
        told: how.
        quoted: whether it does so in quotation marks, of what was said just now.
    """
    if told == NOTHING:
        return 0.0
    value = -QUOTES * quoted
    story, bare = asks_story(text), not named and BARE.search(text) is not None
    if story:
        value -= RETOLD * told.retold
        value += GOES_ON * told.happening - IS_OVER * told.over - LASTS * told.lasting
        value -= REFLECTS * (told.reflecting and not told.over and not told.lasting)
        value -= PAST_FEELING * told.felt + PASSES_PEAK * (told.peak and not told.felt)
    elif bare:
        value -= SEVERAL_BARE * told.several + UNCLEAR_BARE * told.unclear
        value -= SEVERAL_MORE * (told.several and MORE.search(text) is not None)
    elif named:
        value += NAMED * (told.several or told.unclear) * (not quoted)
    value -= NOT_YET * (told.planned and (story or PAST.search(text) is not None) and not named)
    if WALK.search(text) is not None:
        value -= RECOUNTS * (told.felt or told.peak or told.reflecting or told.over or told.lasting)
    value -= BACK_IN_TIME * (told.happening and "before that" in text)
    value -= NO_MOMENT * (not told.happening and "at that moment" in text)
    value -= WHY_DEED * (told.happening and WHY.search(text) is not None)
    value -= WHY_NOT * (named and WHY.search(text) is not None and DENIED.search(text) is not None)
    if INSIGHT.search(text) is not None:
        value -= TOO_SOON if told.happening else 0.0 if told.over else TOO_SOON / 2
        value -= PASSES_PEAK * (told.peak or told.felt)
    value -= CLOSED * (told.closed and not story)
    value -= EXHAUSTED * (told.exhausted and (MORE.search(text) is not None or bare))
    value -= FACTS * (told.figures and not story and MORE.search(text) is None)
    if ASKS_FEELING.search(text):
        value -= TOLD_FEELING * told.felt * (not named)
    return value - UNKNOWN_IDIOM * (told.learning and IDIOM.search(text) is not None)

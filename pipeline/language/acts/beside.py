"""Adds to the acts that rules and reader hear those that `TalkModel` hears beside what is told (English).

It has learned from messages by many hands, who have more words for everything than rules. Where it alone hears that
somebody wants to stop, to pause, to have things deleted, or is in danger or under age, that is asked back; the rest
changes only what is said next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from pipeline.acts import ASKED_BACK, ENOUGH, LEAVES, PUT_RIGHT, PUT_RIGHT_AT_ONCE, WEARY, Act, HeardAct
from pipeline.language.acts.reading import Clause
from pipeline.language.acts.words import ASKS, BETWEEN_US, LIFE, REPORTS, about_of
from pipeline.language.reader.network import Floats
from pipeline.language.reader.talk import DONE

STORY = 20
"""Words from which on a message tells a story."""
INSTEAD, NO_PAUSE = 0.8, 0.2
"""Chances from which words that ask for a moment correct something instead, and below which they ask for none."""
NO_REFUSAL, NOT_SPENT = 0.02, 0.1
"""Chances below which what rules take for a refusal is none: of 25 three had so little, none of which was one."""
NO_CORRECTION: Final = 0.015
"""Chance below which what rules take for a correction is none: of 55 ten had so little (“strictly speaking, there's
nobody”), none of which was one."""
NEAR: Final = "corrects_self near"
"""The most that speaks, in a clause or beside it, for that what was just said is put right: “Sixteen, I should say.”"""
ASKS_INSTEAD: Final = 0.9
"""Chance from which “I don't know how you mean that” asks back, and does not say that there is nothing to tell."""
NO_COMPLAINT: Final = 0.1
"""Chance below which a clause does not complain that rules take for saying that it was told before."""


@dataclass(frozen=True)
class Hears:
    """How something is heard of which the model has the chance.

    Attributes:
        act, about: what it is then, and what narrows it down.
        least: chance from which it is heard where nothing else is.
        in_a_story: how much more it takes in a message that tells a story.
    """

    act: Act
    about: str = ""
    least: float = 0.6
    in_a_story: float = 0.0


HEARS: Mapping[str, Hears] = MappingProxyType(
    {
        "spent": Hears("complains", ENOUGH, least=0.65, in_a_story=0.05),
        "declines": Hears("declines", LEAVES, least=0.55),
        "elsewhere": Hears("wants_topic", "asked", least=0.7),
        "complains": Hears("complains", WEARY, least=0.65),
        "corrects": Hears("corrects", PUT_RIGHT, least=0.55, in_a_story=0.1),
        "corrects_self": Hears("corrects", PUT_RIGHT_AT_ONCE, least=0.5),
        "asks_back": Hears("asks_back", least=0.35, in_a_story=0.15),
        "asks_interviewer": Hears("asks_interviewer", least=0.7),
        "wants_stop": Hears("wants_stop", least=0.8, in_a_story=0.05),
        "wants_pause": Hears("wants_pause", least=0.6, in_a_story=0.1),
        "distress": Hears("distress", least=0.55, in_a_story=0.1),
        "wants_withdrawal": Hears("wants_withdrawal", least=0.45, in_a_story=0.1),
        "minor": Hears("minor", least=0.6, in_a_story=0.1),
        "risk": Hears("risk", least=0.97),
    }
)
_NEEDED: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "spent": re.compile(
            r"\b(?:that(?= (?:is|was|all|much|about|really|just))|that(?=\W*$)|thats|that['’]s|it|its|it['’]s|all|no"
            r"|not|nah|nope|nothing|nowt|none|more|else|enough|done|end|lot|any\w*|really|know|dunno|remember|think"
            r"|say|said|tell|told|add|over|only|just|\w+n['’]?t|never|much|left|story|finished|there|out|run|dry|blank|sorry|covers?|far)\b",
            re.IGNORECASE,
        ),
        "declines": re.compile(r"\b(?:i|me|my|mine|we|us|let|leave|this|that|there|private|rather)\b", re.IGNORECASE),
        "complains": re.compile(
            r"\b(?:you\w*|ye|we|us|our|i(?:['’]ve| have)?(?: just| only| already)? (?:say|said|told|answered|asked)"
            r"|question\w*|again|already|ask\w*|times|(?:\w+th|second|third|last|this|one more|another) time"
            r"|interview\w*|talk\w*|machine|robot|form|words?|silly|daft|odd|stupid|personal|back|still|that|more)\b",
            re.IGNORECASE,
        ),
        "asks_interviewer": ASKS,
        "asks_back": re.compile(
            r"\?|\b(?:what\w*|which\w*|who\w*|where\w*|how|mean\w*|sorry|pardon|again|repeat|follow\w*|understand\w*"
            r"|lost|unclear|clear\w*|question|word\w*|explain|say (?:it|that)|sure|get (?:you|it|that|what)|with you"
            r"|hear\w*|heard|caught|catch|missed|asking|after|point me|plain\w*|simpl\w+|another way|rephrase"
            r"|about|tell me|remind)\b",
            re.IGNORECASE,
        ),
    }
)
"""Words without one of which a clause is no such act."""
_AGREES = re.compile(
    r"\W*(?:haha|ha|oh|well|mm|hm)?\W*(?:aye|yes|yeah|yep|exactly|right|that['’]?s (?:what i said|right|it))\b",
    re.IGNORECASE,
)
"""How a message begins that agrees: “Aye, that's what I said. Late.”"""
_NOR = re.compile(
    r"\W*(?:oh|well|mm|hm)?\W*(?:no|nope|never|not)\b\W*(?:$|"
    r"(?:i|we|you|he|she|it|they|there) (?:\w+['’]t|\w+ not|never)\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\w+n['’]t\b|\b(?:not|never|no|nobody|nothing|none|cannot|without)\b", re.IGNORECASE)
"""How a message begins that agrees with what was denied, and words of what is: “You haven't spoken since?” “No. We have
not.”"""
_ASKS_WHETHER = re.compile(
    r"\W*(?:and |so |but )?(?:did|do|does|have|has|had|is|are|was|were|can|could|would|will)(?:n['’]t)?\b",
    re.IGNORECASE,
)
"""How a question begins that is answered by yes or no."""
_LEFT_OPEN: Final = (
    r"^(?:(?:well|but|anyway),? )*not (?:straight away|at once|right away|immediately"
    r"|(?:that|this|every) (?:time|day|night|week|year)|then|to (?:my |the )?\w+)\b"
    r"|^(?:(?:well|but),? )*(?:most|nearly all) of (?:it|that|them|us)\b"
)
"""What is left open at the end of what is told, and closes nothing: “Not that day, anyway.”"""
HAD_NOT_MEANT_TO: Final = re.compile(
    r"\bi (?:was not|wasn['’]?t|hadn['’]?t|had not) (?:\w+ )?(?:going|meaning|planning|meant|intended) to"
    r" (?:talk|speak|tell|say|mention|bring|go into)\b",
    re.IGNORECASE,
)
"""Words of somebody who has told what they had not wanted to: they refuse nothing."""
_ENDS_IN_BUT: Final = re.compile(r"^[^.!?]*\w,? but\W*$", re.IGNORECASE)
"""“Tuesdays are different, but”"""
_TOLD: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "spent": re.compile(
            r"\b(?:main|whole|biggest|real) (?:thing|point|reason|problem)\b|^(?:and )?just like that$"
            rf"|\bit(?:['’]s| is) the same(?: thing)?$|{_LEFT_OPEN}|^that(?:['’]s| is| was) what i (?:mean|meant)$"
            r"|^that(?:['’]s| is| was) (?:how|why|where|when) (?:it|i|we|he|she|they)\b",
            re.IGNORECASE,
        ),
        "declines": re.compile(
            rf"{_LEFT_OPEN}|\bwhat i (?:do not|don['’]?t|never|did not|didn['’]?t)\b|\bnot saying\b|\banother story\b",
            re.IGNORECASE,
        ),
        "corrects": re.compile(r"\bi(?:['’]ve| have)? (?:said|told)\b.*\b(?:him|her|them)\b", re.IGNORECASE),
        "minor": re.compile(
            r"\b(?:nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b|\b(?:19|[2-9]\d)\b", re.IGNORECASE
        ),
        "wants_withdrawal": re.compile(
            rf"\b(?:can['’]?t|cannot|couldn['’]?t|could not|never) (?:\w+ )?(?:delete|erase|wipe|bin)\b"
            rf"|\bnames? out\b|{BETWEEN_US.pattern}",
            re.IGNORECASE,
        ),
    }
)
"""Words with one of which it is none."""


@dataclass(frozen=True)
class Message:
    """A message in which something may be heard.

    Attributes:
        text: its words.
        question: what it answers.
        clauses: its parts.
        judged: of each, whether a rule heard something in it, which may have been none.
        denied: what the message says not to be meant.
    """

    text: str
    question: str
    clauses: Sequence[Clause]
    judged: Sequence[bool]
    denied: AbstractSet[Act]

    @property
    def agrees(self) -> bool:
        """Whether it begins with agreeing to what the interviewer said, or with an answer to yes or no."""
        if _NOR.match(self.text) and (_DENIED.search(self.question) or _ASKS_WHETHER.match(self.question)):
            return True
        return _AGREES.match(self.text) is not None


def with_talk(found: Sequence[HeardAct | None], chances: Floats, message: Message) -> list[HeardAct | None]:
    """What was heard, with what the model hears.

    Args:
        found: what was heard in each clause; None for what only tells.
        chances: of `DONE`, [clauses, done].
        message: the message.
    """
    story = len(message.text.split()) >= STORY
    kept: list[HeardAct | None] = []
    of_self = chances[:, DONE.index("corrects_self")]
    for at, (clause, one, settled) in enumerate(zip(message.clauses, found, message.judged, strict=True)):
        own = chances[at]
        if at + 1 < len(chances) and message.clauses[at + 1].filler:
            own = np.maximum(own, chances[at + 1])  # "…, sorry."
        chance = dict(zip(DONE, map(float, own), strict=True))
        chance[NEAR] = float(of_self[max(0, at - 1) : at + 2].max())
        if one is not None and _is_none(one, chance, message):
            one = None
        elif one is None and not settled and not clause.filler:
            one = _heard(clause, chance, message, story=story)
        elif one is not None and (_is_corrected(one, chance) or _is_asked_back(one, chance)):
            one = _heard(clause, chance, message, story=story) or one
        elif one is not None and _refuses_nothing(one, chance):
            one = _heard(clause, chance, message, story=story)
        kept.append(one)
    return kept


def _is_corrected(one: HeardAct, chance: Mapping[str, float]) -> bool:
    """Whether “hang on” or “wait” leads in a correction, and asks for no moment."""
    return one.act == "wants_pause" and chance["wants_pause"] < NO_PAUSE and chance["corrects"] >= INSTEAD


def _is_asked_back(one: HeardAct, chance: Mapping[str, float]) -> bool:
    """Whether somebody does not know what is meant: “I don't know how you mean that, the cup or the machine?”"""
    return one.act == "dont_know" and one.heard_by == "rules" and chance["asks_back"] >= ASKS_INSTEAD


def _is_none(one: HeardAct, chance: Mapping[str, float], message: Message) -> bool:
    """Whether what was taken for a complaint, or a correction, is part of what is told."""
    if one.about == "told":
        return chance["complains"] < NO_COMPLAINT
    if one.act != "corrects" or one.about or one.details:
        return False
    if _NOR.match(message.text) and message.agrees:
        return True
    return (one.heard_by == "reader" and message.agrees) or chance["corrects"] < NO_CORRECTION


def _refuses_nothing(one: HeardAct, chance: Mapping[str, float]) -> bool:
    """Whether what a rule takes for a refusal is part of what is told, or asks back: “I can't answer a pronoun.”"""
    refuses = chance["declines"] >= NO_REFUSAL or chance["spent"] >= NOT_SPENT
    return one.act == "declines" and one.heard_by == "rules" and not refuses


def _heard(clause: Clause, chance: Mapping[str, float], message: Message, *, story: bool) -> HeardAct | None:
    """What the model hears in a clause in which nothing else was heard."""
    over = {
        name: chance[name] - hears.least - (hears.in_a_story if story else 0.0)
        for name, hears in HEARS.items()
        if hears.act not in message.denied
    }
    if not over:
        return None
    name = max(over, key=lambda each: over[each])
    hears = HEARS[name]
    if over[name] < 0 or _is_told(clause, name, message):
        return None
    if name == "corrects" and chance[NEAR] >= HEARS["corrects_self"].least:
        hears = HEARS["corrects_self"]
    return HeardAct(
        act=hears.act,
        start=clause.start,
        end=clause.end,
        sure=hears.act not in ASKED_BACK,
        about=about_of(clause.text) if hears.act == "asks_interviewer" else hears.about,
        heard_by="reader",
    )


def _is_told(clause: Clause, name: str, message: Message) -> bool:
    """Whether such words are a part of what is told."""
    if HEARS[name].act not in ASKED_BACK and any(
        REPORTS.search(message.text[:end].rstrip()) for end in (clause.start, clause.end)
    ):
        return True
    if name == "corrects" and message.agrees:
        return True
    if name in ("spent", "declines") and _ENDS_IN_BUT.search(message.text[clause.start :]):
        return True
    if name == "declines" and HAD_NOT_MEANT_TO.search(message.text):
        return True
    if name in _NEEDED and _NEEDED[name].search(clause.text) is None:
        return True
    if name in _TOLD and _TOLD[name].search(clause.text) is not None:
        return True
    return HEARS[name].act in ("complains", "declines", "wants_topic") and LIFE.search(clause.text) is not None

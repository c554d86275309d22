"""The act of a message by which somebody answers what was asked back, in words of their own (English)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from typing import Final

from pipeline.acts import (
    ANSWERS_NO,
    ANSWERS_PART,
    ANSWERS_YES,
    CHOOSES_CALM,
    CHOOSES_ELSE,
    CHOOSES_ON,
    Act,
    AskedBack,
    HeardAct,
    Hearer,
)
from pipeline.language.reader.danger import DangerModel, without_when
from pipeline.language.reader.network import ReaderNetwork, Reading
from pipeline.language.reader.replies import Meaning, ReplyModel

LIKELY: Final = 0.6
"""Probability from which an answer is followed. Of 750 answers to the question whether to go on by writers whom the
model had not seen 644 were understood from there on, 65 wrongly."""
LIKELY_OF: Final[Mapping[Meaning, float]] = {"in_danger": 0.5, "unsure": 0.5, "no_danger": 0.9}
"""The same where a mistake would do more harm, or less."""
SURE_OF_ALL: Final = 0.9
"""Probability from which everything may be deleted."""
SURE_TO_KEEP: Final = 0.8
"""Probability from which it is not asked once more whether everything, or all but a part, is kept."""
NO_DANGER: Final = -4.0
"""Log-odds of `DangerModel` from which nobody is believed who says that nobody is in danger. So of 96 such answers, by
writers whom the model had not seen, 68 are believed, of 104 others none; …"""
_ADMITS: Final = re.compile(
    r"\b(?:i suppose|i guess i am|if you put it|haven'?t told|told a soul|nobody knows|in a way|sort of|kind of"
    r"|from (?:my|him|her)self|yes|yeah|yep|aye|yup|afraid of|scared|frightened|good ?bye|better off|too many"
    r"|meant (?:it|what)"
    r"|(?:was|is|am)(?:n'?t| not) (?:a )?jok(?:e|ing)|(?:wouldn'?t|would not|not) (?:call|say)|put it (?:that|this) way"
    r"|(?:wouldn'?t|would not|don'?t|'d not) mind|when (?:he|she|they)|only (?:he|she|they|when)"
    r"|(?:he|she|they) only)\b",
    re.IGNORECASE,
)
"""… nor is who has one of these words, which admit it, or make it small."""
_NOBODY: Final = re.compile(
    r"\W*(?:(?:oh|god|good|heavens|lord|ha+|haha|lol|well|sorry|um+|er+|what|dear)\W+)*(?:no|nope|nah|nobody|no one"
    r"|not at all|absolutely not|everything(?:'s| is) (?:fine|ok(?:ay)?|all right|good)"
    r"|(?:i'?m|i am|we'?re|we are) (?:fine|ok(?:ay)?|all right|safe)|all (?:fine|good|well))\b",
    re.IGNORECASE,
)
"""How a message begins that says that nobody is in danger, …"""
_BACK: Final = re.compile(
    r"\b(?:but|yet|not (?:right )?now|unless|until|except|though|might|maybe|him|her)\b", re.IGNORECASE
)
"""… and words that may take it back."""
MAY_BE_DENIED: Final = 0.0
"""Log-odds of `DangerModel` below which that is believed, whatever else was understood."""
_NOT_ALL: Final = re.compile(
    r"\?|\b(?:\w+n'?t|dont|not|never|no|nope|nah|nothing|none|keep|only|just|part|bit|except|but|rest|apart|name|last"
    r"|one|that i|stop|wait|hold|hang|go on|carry on|continue|cancel|why|what|who|how|if|think|later|maybe)\b",
    re.IGNORECASE,
)
"""Words of which none may stand in the wish that everything be deleted, …"""
_DELETES: Final = re.compile(
    r"\b(?:delet\w*|eras\w*|remov\w*|wip(?:e|ed|ing)|rid of|scrub\w*|bin (?:it|the|all)|everything|all of it|the lot"
    r"|it all)\b",
    re.IGNORECASE,
)
"""… and of which one must; else it is asked about once more."""
SURE_TO_STOP: Final = 0.9
"""Probability from which an interview is ended where it was not asked about."""
LONGEST: Final = 25
"""Words of a message up to which it does nothing but answer."""
_ACTS: Final[Mapping[Meaning, tuple[Act, str]]] = {
    "pause": ("wants_pause", ""),
    "stop": ("wants_stop", ""),
    "go_on": ("aside", CHOOSES_ON),
    "not_upset": ("aside", CHOOSES_CALM),
    "something_else": ("wants_topic", CHOOSES_ELSE),
    "in_danger": ("risk", ANSWERS_YES),
    "no_danger": ("aside", ANSWERS_NO),
    "unsure": ("risk", ""),
    "delete_all": ("wants_withdrawal", ANSWERS_YES),
    "keep": ("aside", ANSWERS_NO),
    "part": ("aside", ANSWERS_PART),
}


def replied(
    model: ReplyModel, danger: DangerModel | None, network: ReaderNetwork, text: str, question: str, asked: AskedBack
) -> HeardAct | None:
    """The act of a whole message that answers what was asked back; None where it only tells on, or that is not likely.

    Args:
        model, network: that hear it.
        danger: without which nobody is believed who says that nobody is in danger.
        text: the message.
        question: the words of what was asked.
        asked: what that was.
    """
    plain = text.replace("’", "'")
    if not plain or len(plain.split()) > LONGEST or len(plain) != len(text):
        return None
    reading = network.read(question, "", plain)
    most = model.most(plain, reading, asked)
    if most is None or most[0] == "tells":
        return None
    meaning, chance = most
    if asked == "risk":
        odds = inf if danger is None else _odds(danger, network, plain, question, reading)
        if meaning != "no_danger" and _denies(plain) and odds < MAY_BE_DENIED:
            meaning, chance = "no_danger", 1.0
        elif meaning == "no_danger" and (odds >= NO_DANGER or _ADMITS.search(plain) is not None):
            meaning, chance = "unsure", 1.0
    if chance < LIKELY_OF.get(meaning, LIKELY):
        return None
    if asked == "withdrawal":
        return _of_deletion(meaning, chance, text)
    act, about = _ACTS[meaning]
    about = ANSWERS_NO if meaning == "go_on" and asked != "ways" else about
    sure = meaning != "unsure" and (meaning != "stop" or asked == "stop" or chance >= SURE_TO_STOP)
    heard_by: Hearer = "offer" if meaning in ("stop", "pause") else "reader"
    return HeardAct(act=act, start=0, end=len(text), sure=sure, about=about, heard_by=heard_by)


def _odds(danger: DangerModel, network: ReaderNetwork, text: str, question: str, reading: Reading) -> float:
    """Log-odds that a message speaks of danger, whatever it says of when."""
    blank = without_when(text)
    odds = danger.most(text, reading)[0]
    return min(odds, danger.most(blank, network.read(question, "", blank))[0]) if blank.strip() else odds


def _denies(text: str) -> bool:
    """Whether a message begins by saying that nobody is in danger, and takes nothing of that back."""
    return _NOBODY.match(text) is not None and _ADMITS.search(text) is None and _BACK.search(text) is None


def _of_deletion(meaning: Meaning, chance: float, text: str) -> HeardAct | None:
    """What is to be deleted: all of it where nothing speaks against it; surely where there are words for it, too.

    What is only likely to be kept is not clear.
    """
    act, about = _ACTS[meaning]
    if meaning != "delete_all":
        sure = "?" not in text and chance >= SURE_TO_KEEP
        if not sure:
            act, about = "wants_withdrawal", ""
    elif chance < SURE_OF_ALL or _NOT_ALL.search(text) is not None:
        return None
    else:
        sure = _DELETES.search(text) is not None
    return HeardAct(act=act, start=0, end=len(text), sure=sure, about=about, heard_by="reader")

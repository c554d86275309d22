"""Dialogue acts: what people do with a message, besides telling."""

from __future__ import annotations

import re
from typing import Literal, get_args

from pydantic import Field

from pipeline.records import Record

Act = Literal[
    "tells",
    "dont_know",
    "declines",
    "asks_back",
    "asks_interviewer",
    "corrects",
    "complains",
    "wants_topic",
    "wants_pause",
    "wants_stop",
    "wants_withdrawal",
    "distress",
    "risk",
    "aside",
    "thanks_greets",
    "personal_data",
    "minor",
]
ACTS: tuple[Act, ...] = get_args(Act)

Hearer = Literal["rules", "reader", "model", "offer"]
"""Who heard an act: rules, the trained reader, a language model; or the respondent chose it from what was offered."""


class HeardAct(Record):
    """One act with its words: the characters from `start` to `end` of the message.

    `sure` says that it may be acted upon; else it is asked back first. `about` narrows it down, such as what was asked
    of the interviewer. `details` are parts of the words by name: the `wrong` and the `right` of a correction, the
    `topic` that somebody would rather talk about, an `age`.
    """

    act: Act
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sure: bool = True
    about: str = ""
    details: dict[str, str] = {}
    heard_by: Hearer = "rules"


AskedBack = Literal["ways", "stop", "pause", "risk", "withdrawal"]
"""What the interviewer asked: which way somebody who seemed upset would go on; whether to stop, to pause, whether
anybody is in danger, whether everything is to be deleted."""
ENOUGH = "enough"
"""What narrows a complaint down to that there is no more to tell of what was asked."""
LEAVES = "leaves"
"""What narrows a refusal down to one beside an answer, which the reader has learned to hear."""
WEARY = "weary"
"""What narrows a complaint down to one beside an answer: that this is asked again, or is an odd thing to ask."""
PUT_RIGHT = "put_right"
"""What narrows a correction down to one beside an answer, of what the interviewer said or was told earlier."""
PUT_RIGHT_AT_ONCE = "self"
"""What narrows a correction down to one of what its teller has just said: it is told like the rest."""
TOLD_WRONG = "told_wrong"
"""What narrows a correction down to one of what its teller told, which the interviewer has not said back."""
FAINT = "faint"
"""What narrows a danger down to one of which so little is heard that it is told like the rest, and only alerts."""
CONTROLLED = "controlled"
"""What narrows a danger down to one that somebody tells of without calling it one: it alerts, and is asked about where
danger was heard before. It is told like the rest."""
GOING_ON = "going_on"
"""What narrows a wish down to telling on what was broken off."""
UNANSWERED = "unanswered"
"""What narrows a complaint down to that the interviewer passed over a question."""
UNASKED = "unasked"
"""What narrows the wish for another subject down to what somebody says they were not asked."""
NEXT = "next"
"""What narrows the wish for another subject down to that for the next question, whatever it is."""
OFFERED = "offered"
"""What narrows the wish for another subject down to what somebody would rather tell than what they refuse."""
IN_PASSING = "in_passing"
"""What narrows an age down to one that is told in passing, so that it is asked for however much is told besides."""
CHOOSES_ON = "chooses_on"
"""What narrows an aside down to the wish to go on, after that was asked, …"""
CHOOSES_CALM = "chooses_calm"
"""… to that of somebody who is not upset, …"""
CHOOSES_ELSE = "chooses_else"
"""… and the wish for another subject to the one that was offered there."""
ANSWERS_YES, ANSWERS_NO, ANSWERS_PART = "answers_yes", "answers_no", "answers_part"
"""What narrows an act down to the answer to what was asked back: yes, no, or that a part is to be deleted."""
WHICH = "which"
"""What narrows a counter-question down to which of two things the interviewer would hear."""
WHERE = "where"
"""What narrows a counter-question down to where somebody was in what they told."""
ASKED_BACK: frozenset[Act] = frozenset({"risk", "distress", "wants_withdrawal", "wants_stop", "wants_pause", "minor"})
"""Acts that are asked back where they are not sure; others are content then."""
FEW_WORDS = 8
"""With so many words that tell beside it, an act that is not sure is content as well: somebody is telling a story."""


AT_THE_END: frozenset[Act] = frozenset({"wants_stop", "wants_pause"})
FEW_AFTER = 6
"""Words after a wish to stop or for a moment up to which it stands at the end of a message."""
STORY_WORDS = 12
"""With so many words that tell beside it, an act about the talk itself is more likely a part of the story."""
TOLD_ON = 25
"""Words behind something by which a subject is closed, or refused, from which on its teller has moved on."""
TELLS_ON = 11
"""Words behind that there is no more to tell from which on its teller tells on all the same."""
DENIED = "denied"
"""What narrows a correction down to that what the interviewer said is denied."""
TO_THE_INTERVIEWER = frozenset(
    {"told", "going_on", ENOUGH, "beside", "asked", DENIED, UNANSWERED, UNASKED, WHERE, WHICH, NEXT, OFFERED}
)
"""What narrows an act down to something that can only be meant for the interviewer: it was said before, or not yet."""
ABOUT_THE_QUESTION = re.compile(
    r"\b(?:what you'?re asking|(?:the|your) question|what you mean"
    r"|(?:don'?t|do not|didn'?t|did not) (?:quite |really )?(?:get|follow|understand)"
    r" (?:you|what you|(?:the|that|your|this) question))\b|\bof what\?|\bfrom what\?|\bdoes what\b|\bmakes what\b"
    r"|\b(?:before|after|about|then|with|like|when) what,? sorry\b|\bwhat (?:is|was|did|does|do|would|will) what\b",
    re.IGNORECASE,
)
"""Words of a counter-question that can only be about what was asked."""
MUCH_TOLD = 40
"""With so many words that tell beside it, who reads along is asked with a question mark or …"""
ASKS_WHO_READS = re.compile(
    r"\?|\b(?:who\w*|where|anonymous\w*|confidential\w*|private\w*|record\w*|between (?:us|you and me)|what happens)\b",
    re.IGNORECASE,
)
"""… in these words; else it is somebody in the story who was told, or to whom something was sent."""
SOMEBODY_WHO = re.compile(
    r"\b(?:(?:some|any|every|no)(?:body|one)|people|person|man|woman|one|those|somebody \w+|someone \w+) who\b",
    re.IGNORECASE,
)
"""Who is told of by what they do; nobody asks who that is."""
NEXT_PLEASE = re.compile(r"^\W*next(?:,? (?:one|please))*\W*$", re.IGNORECASE)
"""What somebody in a story calls into a waiting room; alone it passes the question over."""
BACK_TO = re.compile(
    r"\b(?:get|getting|go|going|come|stay)(?: right| straight)? (?:back (?:to|on)|with|on)\b", re.IGNORECASE
)
"""Words with which somebody leads back to the subject, at the end of what they told."""
SOMETHING_ELSE = re.compile(r"\bask (?:me |us )?(?:about )?something else\b", re.IGNORECASE)
"""Words that ask for another question."""
CORRECTED_BEFORE = re.compile(r"\bi\b[^.!?,]{0,20}\b(?:corrected|put (?:that|it) right)\b", re.IGNORECASE)
"""Words with which somebody says that they have put it right already."""
SENTENCE_ENDS = re.compile(r"(?<=[.!?…])\s+")
"""Where a sentence ends."""
FEW_BEFORE = 6
"""Words before a complaint up to which it is of the question, if it begins with …"""
THAT_IS = re.compile(r"\W*(?:that'?s|that is|that was|this is|what a|what kind of|what sort of)\b", re.IGNORECASE)
"""… these: “Say more about fennel? That's a silly question.”"""
ABOUT_THE_TALK: frozenset[Act] = frozenset({"corrects", "complains", "asks_back", "aside", "wants_topic"})


def _in_a_story(heard: HeardAct, telling: int, words: str, before: int, after: int) -> bool:
    """Whether an act stands among so much telling that it is taken as a part of it.

    What the reader has heard, it has heard in the whole message. Who wants to stop or needs a moment says so at the
    end.

    Args:
        heard: the act.
        telling: words of the message that tell.
        words: those of the act.
        before: words before it.
        after: words that follow it.
    """
    if heard.about in (ENOUGH, IN_PASSING) or (heard.about == PUT_RIGHT_AT_ONCE and heard.heard_by == "rules"):
        return False
    if heard.act == "corrects" and "right" in heard.details and before == 0 and CORRECTED_BEFORE.search(words):
        return False
    if heard.act == "complains" and heard.sure and before <= FEW_BEFORE and THAT_IS.match(words):
        return False
    if heard.act == "dont_know" and telling >= STORY_WORDS:
        return True  # it leaves something to ask after
    if heard.act == "declines" and telling >= STORY_WORDS and NEXT_PLEASE.search(words):
        return True
    if heard.about == "readers" and telling >= STORY_WORDS and "?" not in words and SOMEBODY_WHO.search(words):
        return True
    if heard.about == "readers" and telling >= MUCH_TOLD and not ASKS_WHO_READS.search(words):
        return True
    leads = BACK_TO.search(words) or SOMETHING_ELSE.search(words)
    if heard.act == "wants_topic" and heard.sure and after <= FEW_AFTER and leads:
        return False
    if heard.heard_by == "reader":
        return not heard.sure and heard.act not in ASKED_BACK
    if not heard.sure:
        at_the_end = heard.act in AT_THE_END and after <= FEW_AFTER
        return heard.act not in ASKED_BACK or (telling >= FEW_WORDS and not at_the_end)
    if heard.about in TO_THE_INTERVIEWER or (heard.act == "asks_back" and ABOUT_THE_QUESTION.search(words)):
        return False
    return heard.act in ABOUT_THE_TALK and telling >= STORY_WORDS and "wrong" not in heard.details


def _is_content(text: str, heard: HeardAct, telling: int) -> bool:
    before, after = len(text[: heard.start].split()), len(text[heard.end :].split())
    return _in_a_story(heard, telling, words_of(text, heard), before, after)


def heeded(text: str, acts: tuple[HeardAct, ...]) -> tuple[HeardAct, ...]:
    """The acts that something is done about; the others, which are not sure, are content like what they stand among."""
    telling = len(told(text, acts).split())
    kept: list[HeardAct] = []
    for heard in acts:
        one = heard
        if heard.act != "tells" and _is_content(text, heard, telling):
            one = HeardAct(act="tells", start=heard.start, end=heard.end)
        if kept and kept[-1].act == one.act == "tells":
            kept[-1] = kept[-1].model_copy(update={"end": one.end})
        else:
            kept.append(one)
    return tuple(kept) if any(heard.act != "tells" for heard in kept) else ()


def words_of(text: str, act: HeardAct) -> str:
    """The words of an act."""
    return text[act.start : act.end]


def told(text: str, acts: tuple[HeardAct, ...]) -> str:
    """What of a message is content; all of it where no acts were heard.

    The parts in between are dropped, and the others stand as they were said, with a blank line between them so that no
    two of them run into one sentence.
    """
    if not acts:
        return text
    content = (act for act in acts if act.act == "tells" or act.about in (FAINT, CONTROLLED, PUT_RIGHT_AT_ONCE))
    parts = [words_of(text, act).strip() for act in content]
    return "\n\n".join(part for part in parts if part)


_WHAT_MATTERS = re.compile(
    r"\b(?:the (?:thing|point|trouble|problem) is|what (?:really |actually )?(?:matters|counts|gets me|bothers me"
    r"|stays(?: with me)?|i (?:never|haven['’]?t) (?:said|told)))\b",
    re.IGNORECASE,
)
"""Words by which somebody goes on to what matters."""


def says_enough(text: str, acts: tuple[HeardAct, ...]) -> bool:
    """Whether somebody has no more to tell of what was asked, and does not tell on for long after they say so."""
    ends = [act.end for act in acts if act.about == ENOUGH and act.sure]
    return any(len(text[end:].split()) < TELLS_ON and not _WHAT_MATTERS.search(text[end:]) for end in ends)


def put_right_at_once(text: str, acts: tuple[HeardAct, ...]) -> tuple[str, ...]:
    """The words of a message by which somebody puts right what they have just said."""
    return tuple(words_of(text, act).strip() for act in acts if act.about == PUT_RIGHT_AT_ONCE)


def refusals(text: str, acts: tuple[HeardAct, ...]) -> tuple[str, ...]:
    """What somebody tells right before and behind the words by which they say that they would not go into it."""
    found: list[str] = []
    for act in acts:
        if act.act == "declines" and act.sure:
            found.append(SENTENCE_ENDS.split(text[: act.start].strip())[-1])
            goes_on = not text[: act.end].rstrip().endswith((".", "!", "?", "…"))
            found += SENTENCE_ENDS.split(text[act.end :].strip())[:1] if goes_on else ()
    return tuple(part for part in found if part)


def complaint(text: str, acts: tuple[HeardAct, ...]) -> str:
    """The words of a message by which somebody complains of the interview, or asks to be asked of something else; empty
    where nobody does.
    """
    return " ".join(
        words_of(text, act).strip()
        for act in acts
        if act.sure and (act.act == "complains" or (act.act == "wants_topic" and act.about not in ("going_on", "next")))
    )

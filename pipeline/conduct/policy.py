"""The policy of conduct as researchers write it: texts and limits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.acts import Act
from pipeline.methodology import Spec

OfferName = Literal["go_on", "something_else", "pause", "stop", "resume", "carry_on", "yes", "no", "withdraw"]
"""What a respondent may choose instead of writing."""

SAFETY = frozenset(
    {
        *("risk", "risk_spoken_of", "risk_ask", "risk_mistaken", "risk_over", "safe_words", "fine_words"),
        *("help", "help_kiosk", "distress", "distress_again", "distress_ask", "distress_in_story"),
        *("minor", "age_ask", "withdrawal_ask", "withdrawn", "offers", "yes_words", "no_words"),
        *(
            "stop_words",
            "yes_begins",
            "no_begins",
            "back_words",
            "go_on_words",
            "go_on_plainly",
            "part_words",
            "keep_words",
        ),
        *("withdrawal_part", "withdrawal_again", "withdrawal_unclear"),
    }
)
"""Texts that a concept can't replace."""

Several = tuple[str, ...]


class ConductTexts(Spec):
    """What the interviewer says, in one language. Lists are used in turn.

    What has a default was not there from the beginning: interviews go on with the texts that they began with.
    """

    risk: str = Field(description="When somebody may come to harm.")
    risk_spoken_of: str = Field(description="When it is not certain that somebody may come to harm now.")
    risk_ask: str = Field(default="", description="Asks back where only the reader heard danger.")
    risk_mistaken: str = Field(default="", description="When nobody is in danger after all.")
    risk_over: str = Field(default="", description="When somebody who was in danger says that they are well again.")
    safe_words: Several = Field(default=(), description="Parts of a message that mean: nobody is in danger.")
    fine_words: Several = Field(default=(), description="Those of them that say no more than that somebody is well.")
    help: str = Field(description="Where to find help, unless the concept has a `helpline_text`.")
    help_kiosk: str = Field(description="Added where the interview runs on a device that may be offline.")
    distress: str = Field(description="When somebody is upset; names the four ways on.")
    distress_again: str = Field(description="The second time; stopping comes first.")
    distress_in_story: str = Field(
        default="", description="When somebody is moved while telling, and tells on: said instead of a question, once."
    )
    distress_ask: str = Field(description="When it is not certain that somebody is upset.")
    go_on: str = Field(description="When somebody chooses to go on talking about it.")
    pause: str = Field(description="When somebody needs a moment.")
    pause_ask: str = Field(description="When it is not certain that somebody needs one.")
    stop: str = Field(description="When somebody wants to stop: thanks, what is kept, how to withdraw.")
    stop_ask: str = Field(description="When it is not certain that somebody wants to stop.")
    stop_taken_back: str = Field(description="When somebody did not mean to stop.")
    withdrawal_ask: str = Field(description="Asked once before everything is deleted.")
    withdrawal_again: str = Field(default="", description="Asked once more where the answer to that is not clear.")
    withdrawal_unclear: str = Field(default="", description="When it is not clear then either: nothing is deleted.")
    withdrawal_kept: str = Field(description="When nothing is to be deleted after all.")
    withdrawal_part: str = Field(
        default="", description="When only a part of it is to be deleted, which can't be done."
    )
    withdrawn: str = Field(description="When everything is being deleted.")
    minor: str = Field(description="When somebody is too young; `{age}` is the least age.")
    age_ask: str = Field(description="When it is not certain that somebody is old enough.")
    corrected: str = Field(description="Acknowledges a correction; `{right}` is what is right.")
    corrected_told: str = Field(default="", description="The same where the interviewer has not said it back.")
    corrected_told_plain: str = Field(default="", description="The same where they do not say what is right.")
    corrected_plain: str = Field(description="Acknowledges one that does not say what is right.")
    corrected_on: str = Field(description="Goes on where the question was about what was wrong.")
    corrected_ask: str = Field(description="Asks what is right.")
    asks_back: Several = Field(min_length=1, description="Before the question in simpler words.")
    asked_unclearly: Several = Field(
        default=(), description="When somebody asks back and answers all the same, before the next question."
    )
    asks_back_again: str = Field(description="Before another question, when it is asked back a second time.")
    complained_told: Several = Field(min_length=1, description="When it was said before.")
    complained_briefly: Several = Field(default=(), description="The same, where it was answered all the same.")
    enough: Several = Field(default=(), description="When somebody has no more to say about it.")
    complained: Several = Field(min_length=1, description="Owns any other complaint.")
    complained_blame: str = Field(description="When a question was heard as blame.")
    complained_echo: str = Field(default="", description="When somebody is tired of hearing their own words.")
    complained_unanswered: str = Field(default="", description="When what they asked was passed over.")
    declined: Several = Field(min_length=1, description="When somebody would rather not say.")
    topic: str = Field(description="Follows a wish for another subject; `{topic}` is its name.")
    unasked: str = Field(
        default="", description="When somebody says what they were not asked: asks it; `{topic}` are their words."
    )
    unasked_on: str = Field(
        default="", description="The same where they have begun to tell it all the same: asks them to go on."
    )
    where: str = Field(
        default="", description="When somebody has lost their thread; `{said}` is what they told last, in their words."
    )
    which: str = Field(
        default="", description="When somebody asks which of two things to tell; `{topic}` is what the study is about."
    )
    cut_in: str = Field(default="", description="When somebody was not done telling, and has told on.")
    cut_in_go_on: str = Field(default="", description="When somebody was not done telling: asks them to go on.")
    next: str = Field(default="", description="Before the next question, when somebody only says to go on.")
    unreadable: str = Field(
        default="", description="When keys were struck that make no words, before the question again."
    )
    topic_asked: str = Field(
        default="", description="The same where it is what, how or why something was: “what you did afterwards”."
    )
    back_upset: str = Field(
        default="", description="When somebody who was upset is back from a break: asks where to go on."
    )
    topic_open: str = Field(description="Follows a wish that names no subject.")
    easier: Several = Field(min_length=1, description="Asked instead, once, when somebody does not know.")
    left: Several = Field(min_length=1, description="When somebody still does not know.")
    aside: str = Field(description="When something was not said to the interviewer.")
    thanks: str = Field(description="Answers thanks and greetings.")
    personal_data: str = Field(description="Asks not to send names, addresses or numbers.")
    idea_says: str = Field(
        default="", description="Answers a question about the idea by what the description `{says}` of it."
    )
    idea_no_more: str = Field(default="", description="Added where that may not be all that was asked.")
    idea_silent: Several = Field(default=(), description="Where the description says nothing of what was asked.")
    idea_asked: str = Field(
        default="", description="Before that, where the `{question}` was not said last; empty to leave it out."
    )
    demanded: Several = Field(
        default=(), description="Before a question that the concept demands, unless it follows a reply."
    )
    demanded_early: str = Field(
        default="", description="The same in the first turns, where nothing of it can have been told yet."
    )
    meant: str = Field(
        default="", description="Says that the question meant what the respondent takes it for (`{what}`)."
    )
    closing_heard: str = Field(
        default="", description="Before the thank-you at the end, where the last answer told something."
    )
    not_over: str = Field(
        default="", description="To who answers the closing question by that it is too early, where turns are left."
    )
    closing_passed_on: str = Field(default="", description="The same, where the last answer asks to pass something on.")
    passes_on: tuple[str, ...] = Field(default=(), description="Words by which somebody asks to pass something on.")
    acknowledgements: Several = Field(min_length=1, description="Short acknowledgements of an answer.")
    offers: dict[OfferName, str] = Field(description="Labels of what can be chosen; read aloud, they are understood.")
    yes_words: Several = Field(min_length=1, description="Whole messages that mean yes.")
    no_words: Several = Field(min_length=1, description="Whole messages that mean no.")
    stop_words: Several = Field(
        default=(), description="Words of a short message that mean: stop, where it was asked whether to."
    )
    yes_begins: Several = Field(default=(), description="Words that mean yes where a message begins with them.")
    no_begins: Several = Field(default=(), description="Words that mean no where a message begins with them.")
    part_words: Several = Field(
        default=(),
        description="Words by which only a part is meant, not everything; behind a no, those of two words or more.",
    )
    keep_words: Several = Field(
        default=(), description="Words by which nothing is to be deleted, whatever else of a part is said."
    )
    go_on_plainly: Several = Field(
        default=(),
        description="Words that mean the same after the question whether to stop, if not denied.",
    )
    go_on_words: Several = Field(
        default=(), description="Parts of a message that mean: let us go on, where ways on were offered."
    )
    ask_on_words: Several = Field(
        default=(), description="Those by which somebody who goes on wants to be asked, not to tell on by themselves."
    )
    tell_on_words: Several = Field(
        default=(), description="Parts of a message that mean: to go on telling of what it is about."
    )
    break_words: Several = Field(
        default=(),
        description="Parts of a message that mean: a break, where ways on were offered, unless denied; behind one of "
        "`wish_words`, if there are any.",
    )
    wish_words: Several = Field(default=(), description="Words with which people wish for something.")
    calm_words: Several = Field(
        default=(), description="Parts of a message by which somebody whose being upset was spoken of is not upset."
    )
    distress_mistaken: str = Field(default="", description="When somebody is not upset after all.")
    back_words: Several = Field(default=(), description="Parts of a short message that mean: the pause is over.")
    facts: dict[str, str] = Field(
        description="Truthful answers to what respondents ask, by subject: machine, person, opinion, heard, readers, "
        "recording, names, part, traces, data, selling, length, left, purpose, who, how_much, why_ask, help, name, "
        "language, incentive, other; `{left}` and `{topic}` are filled in."
    )


class ConductPolicy(Spec):
    """What each act brings; pinned with a session, in its language."""

    order: tuple[Act, ...] = Field(description="The first act of this list that is heard decides.")
    repairs_in_a_row: int = Field(ge=1, le=20, description="Replies in a row after which ways on are offered.")
    stop_grace_s: int = Field(ge=0, le=3600, description="Seconds in which a stop can be taken back.")
    minor_hold_h: int = Field(ge=1, le=8760, description="Hours until an interview with a minor is erased.")
    acknowledge_every: int = Field(ge=1, description="Turns between two acknowledgements, at the least.")
    texts: ConductTexts


class ConductFile(Spec):
    """The file `conduct.yaml`: a policy with its texts in every language."""

    order: tuple[Act, ...] = Field(description="The first act of this list that is heard decides.")
    repairs_in_a_row: int = Field(
        default=3, ge=1, le=20, description="Replies in a row after which ways on are offered."
    )
    stop_grace_s: int = Field(default=60, ge=0, le=3600, description="Seconds in which a stop can be taken back.")
    minor_hold_h: int = Field(default=72, ge=1, le=8760, description="Hours until an interview with a minor is erased.")
    acknowledge_every: int = Field(default=3, ge=1, description="Turns between two acknowledgements, at the least.")
    texts: dict[str, ConductTexts] = Field(min_length=1, description="What the interviewer says, per language.")

    def policy(self, language: str, words: dict[str, object] | None = None) -> ConductPolicy:
        """The policy in a language, else in the file's first one; `words` replace texts that are not of safety."""
        texts = self.texts.get(language) or self.texts.get(language.split("-")[0]) or next(iter(self.texts.values()))
        if words:
            merged = {**texts.model_dump(), **{name: value for name, value in words.items() if name != "facts"}}
            merged["facts"] = {**texts.facts, **dict(words.get("facts") or {})}  # type: ignore[call-overload]
            texts = ConductTexts.model_validate(merged)
        limits = self.model_dump(exclude={"texts"})
        return ConductPolicy(**limits, texts=texts)

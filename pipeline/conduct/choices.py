"""What of a message chooses something that was offered, or answers what was asked back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from pipeline.acts import (
    ANSWERS_NO,
    ANSWERS_PART,
    ANSWERS_YES,
    CHOOSES_CALM,
    CHOOSES_ELSE,
    CHOOSES_ON,
    FAINT,
    Act,
    AskedBack,
    HeardAct,
)
from pipeline.conduct.move import Moment
from pipeline.conduct.policy import OfferName
from pipeline.conduct.state import Asked
from pipeline.question.text import sentences

REMEMBERED = 2048
"""Texts that are kept plain: those of a policy are looked for in every message."""
LONG_TELLING = 4
"""From so many words on, what is told beside an act answers the question."""
LONGEST_CHOICE = 12
"""Words of a message that may choose what it has among others; longer ones say more than that."""
SHORTEST_WISH = 4
"""Words of a sentence up to which it wishes for a break without a word of wishing."""
OF_DELETION: frozenset[Asked] = frozenset({"withdrawal", "withdrawal_again"})
"""Questions whether everything is to be deleted."""
WEIGHTY: frozenset[Act] = frozenset({"risk", "wants_withdrawal", "minor"})
NEEDS: frozenset[Act] = frozenset({"distress", "wants_pause"})
"""What weighs more than whether anything is to be deleted, where rules are sure of it."""
PLAINLY: frozenset[Act] = frozenset({"wants_stop", "asks_interviewer", "asks_back"})
LONGEST_WISH = 25
"""Words of a message up to which one wishes for a break in other words than it was offered in."""
LONGEST_IN_A_STORY = 16
"""The same in a story, which may only tell of one."""
BY_WORDS: frozenset[OfferName] = frozenset({"go_on", "carry_on", "pause", "resume"})
"""Offers that are chosen by their label among other words, too: choosing them by mistake does no harm."""
SMALL_WORDS = 30
"""Words of a message up to which one that begins with a no, and says that all is well, tells nothing to ask about."""
_HEARD: dict[str, OfferName] = {CHOOSES_ON: "go_on", CHOOSES_CALM: "go_on", CHOOSES_ELSE: "something_else"}
_ANSWERED: dict[str, Literal["yes", "no"]] = {ANSWERS_YES: "yes", ANSWERS_NO: "no", ANSWERS_PART: "no"}
_JUST_DO = re.compile(r"\bjust (?=(?:do|delete|erase|remove|wipe|bin|get|scrap|clear)\b)")
"""A “just” that names no part: “Just delete it all.”"""
_KEEPS = re.compile(
    r"\b(?:keep|keeps|kept|leave|carry on|go on|continue|stay|stays)\b|\bbehalt\w*|\bweitermach\w*"
    r"|\bweiter\b|احتفظ|أبق|تابع"
)
"""Words by which something is kept, or goes on."""
_DENIES = re.compile(
    r"\b(?:not|never|cannot|(?:ca|do|wo|did|does|is|was|are|were|have|has|had|would|could|should)nt|nicht|kein\w*|nie)\b"
    r"|\bلا\b",
    re.IGNORECASE,
)
"""Words before others by which the opposite is said."""


def chosen_offer(moment: Moment) -> OfferName | None:
    """What of the present offers the message chooses: as it was heard, or by its label, alone or among a few words."""
    for act in moment.acts:
        if act.about in _HEARD:
            return _HEARD[act.about]
    said = plain(moment.said)
    labels = {plain(moment.texts.offers[name]): name for name in moment.conduct.offers if name in moment.texts.offers}
    if said in labels:
        return labels[said]
    if is_decided(moment):
        return None
    goes_on = next((name for name in ("go_on", "carry_on") if name in moment.conduct.offers), None)
    if goes_on is not None and says(moment, moment.texts.go_on_words):
        return goes_on
    if not labels or len(said.split()) > LONGEST_CHOICE:
        return None
    found = [name for label, name in labels.items() if name in BY_WORDS and says(moment, [label])]
    found = [name for name in found if name == "pause" or not stops_by_rule(moment)]
    denied = begins(said, moment.texts.no_begins)
    return found[0] if len(found) == 1 and not (denied and found[0] == "pause") else None


def is_decided(moment: Moment) -> bool:
    """Whether all of a message was understood to choose to stop, or a break: no other words of it choose."""
    return any(
        act.act in ("wants_stop", "wants_pause") and act.heard_by == "offer" and act.end - act.start >= len(moment.said)
        for act in moment.acts
    )


def wished(moment: Moment) -> HeardAct | None:
    """The act of a message by which somebody who seemed upset chooses a way on in words that are known; None else.

    A break that is wished for, that they are not upset, or that they are well.
    """
    if _wants_break(moment):
        return HeardAct(act="wants_pause", start=0, end=len(moment.said), heard_by="offer")
    if not (offers_ways_on(moment) and _in_few_words(moment)):
        return None
    about = ""
    if says(moment, moment.texts.calm_words):
        about = CHOOSES_CALM
    elif says(moment, moment.texts.fine_words):
        about = CHOOSES_ON
    return HeardAct(act="aside", start=0, end=len(moment.said), about=about, heard_by="offer") if about else None


def says_exactly(moment: Moment) -> bool:
    """Whether a message is a label of an offer, a yes or a no, or after the question whether to stop a word for it."""
    said, texts = plain(moment.said), moment.texts
    known = [*texts.yes_words, *texts.no_words, *(texts.stop_words if moment.conduct.asked == "stop" else ())]
    return is_labelled(moment) or (moment.conduct.asked != "" and said in {plain(word) for word in known})


def outweighs(acts: Sequence[HeardAct], asked: AskedBack | None, *, plainly: bool = True) -> bool:
    """Whether something in a message weighs more than what it chooses of what was offered or asked.

    Danger, a wish to delete, an age; and, where that is asked for `plainly`, a wish to stop, or a question, of which
    rules are sure.
    """
    plain_acts = PLAINLY | NEEDS if asked == "withdrawal" else PLAINLY
    own: dict[AskedBack | None, Act] = {"risk": "risk", "withdrawal": "wants_withdrawal", "stop": "wants_stop"}
    last = max((act.start for act in acts), default=0)
    for act in acts:
        if act.act == "asks_back" and act.start < last:
            continue  # “huh? no, next question”
        if act.act == own.get(asked) or act.about == FAINT:
            continue
        if act.act in WEIGHTY or (plainly and act.act in plain_acts and act.sure and act.heard_by == "rules"):
            return True
    return False


def _wants_break(moment: Moment) -> bool:
    """Whether somebody to whom a break was offered, since they were upset, wishes for one in words of their own.

    Who goes on with a story that was not broken off may only tell of one. “Give me a minute, then we can go on” wishes
    for it, “I can go on now, I had a minute” does not.
    """
    offers, said = moment.conduct.offers, plain(moment.said)
    in_a_story = "something_else" not in offers
    if "pause" not in offers or "go_on" not in offers:
        return False
    if len(said.split()) > (LONGEST_IN_A_STORY if in_a_story else LONGEST_WISH):
        return False
    if not _wishes_for(moment, moment.texts.break_words):
        return False
    on = _first(said, moment.texts.go_on_words)
    return on < 0 or on > _first(said, moment.texts.break_words)


def _first(said: str, words: Sequence[str]) -> int:
    """Where the first of some words stands in a plain text; negative where none does."""
    return min((at for word in words if (at := f" {said} ".find(f" {plain(word)} ")) >= 0), default=-1)


def _wishes_for(moment: Moment, words: Sequence[str]) -> bool:
    """Whether one of some words stands behind a word of wishing, in the same sentence, and is not denied."""
    for sentence in sentences(moment.said):
        said = plain(sentence)
        at, wish = _first(said, words), _first(said, moment.texts.wish_words)
        by_wish = not moment.texts.wish_words or 0 <= wish < at or len(said.split()) <= SHORTEST_WISH
        if at >= 0 and by_wish and not _DENIES.search(f" {said} "[:at]):
            return True
    return False


def is_calm(moment: Moment) -> bool:
    """Whether somebody whose being upset was spoken of was understood to say that they are not."""
    return any(act.about == CHOOSES_CALM for act in moment.acts)


def is_well(moment: Moment) -> bool:
    """Whether they were understood to be well, and to go on without telling on of what it was about."""
    well = any(act.about == CHOOSES_ON for act in moment.acts)
    return well and not says(moment, moment.texts.tell_on_words)


def offers_ways_on(moment: Moment) -> bool:
    """Whether the message answers what was offered to somebody who seemed upset."""
    alerts = moment.conduct.alerts
    spoken_of = moment.conduct.asked == "distress" or bool(alerts and alerts[-1].code == "distress")
    return spoken_of and "go_on" in moment.conduct.offers


def is_labelled(moment: Moment) -> bool:
    """Whether the message is the label of an offer, and nothing else."""
    return plain(moment.said) in {plain(moment.texts.offers.get(name, "")) for name in moment.conduct.offers}


def _in_few_words(moment: Moment) -> bool:
    return len(plain(moment.said).split()) <= LONGEST_CHOICE


def says(moment: Moment, words: Sequence[str]) -> bool:
    """Whether one of some words is in the message, and nothing denies it in the sentence before them."""
    for sentence in sentences(moment.said):
        said = f" {plain(sentence)} "
        starts = (said.find(f" {plain(word)} ") for word in words)
        if any(start >= 0 and not _DENIES.search(said[:start]) for start in starts):
            return True
    return False


def _would_go_on(moment: Moment) -> bool:
    """Whether somebody who was asked whether to stop or to go on says, in whatever words, that it goes on."""
    asked = moment.conduct.asked in ("stop", "pause")
    return asked and not stops_by_rule(moment) and says(moment, moment.texts.go_on_plainly)


def stops_by_rule(moment: Moment) -> bool:
    """Whether the message has words of a wish to stop."""
    heard = moment.find("wants_stop")
    return heard is not None and heard.heard_by == "rules"


def returned(moment: Moment) -> bool:
    """Whether somebody who asked for a pause says in a few words, and nothing else, that it is over."""
    said = plain(moment.said)
    few = len(said.split()) <= LONGEST_CHOICE + 2
    return moment.conduct.waiting and few and any(f" {plain(w)} " in f" {said} " for w in moment.texts.back_words)


def asked_back(moment: Moment) -> str:
    """What was asked back last, as it was said; empty where the message answers a question of the interview."""
    texts = moment.texts
    by_name = {"stop": texts.stop_ask, "pause": texts.pause_ask, "distress": texts.distress_ask, "risk": texts.risk_ask}
    return by_name.get(moment.conduct.asked, "")


def question_of(moment: Moment, asked: AskedBack) -> str:
    """How it was asked what a message answers, as the reader has learned to read answers behind it."""
    texts = moment.texts
    by_name: dict[AskedBack, str] = {
        "stop": texts.stop_ask,
        "pause": texts.pause_ask,
        "risk": texts.risk_ask,
        "withdrawal": texts.withdrawal_ask,
    }
    ways = texts.distress_ask if moment.conduct.asked == "distress" else texts.distress
    return by_name.get(asked, ways)


_OFFERED_ACTS: dict[OfferName, Act] = {
    "stop": "wants_stop",
    "pause": "wants_pause",
    "something_else": "wants_topic",
    "withdraw": "wants_withdrawal",
}


def chosen_act(moment: Moment) -> Act | None:
    """The act of a message that chooses what is offered, or says yes or no to what was asked back; else None."""
    offer = chosen_offer(moment)
    if offer is not None:
        return _OFFERED_ACTS.get(offer, "aside")
    if returned(moment):
        return "aside"
    asked = moment.conduct.asked
    return "aside" if asked not in ("", "correction", "distress") and answer_of(moment) is not None else None


@lru_cache(REMEMBERED)
def plain(text: str) -> str:
    """A text without marks and capitals, nor the apostrophes that many leave out."""
    return " ".join(re.sub(r"[^\w\s]", " ", re.sub(r"['’]", "", text.lower())).split())


def begins(said: str, words: Sequence[str]) -> bool:
    """Whether a plain text begins with one of some words."""
    return any(f"{said} ".startswith(f"{plain(word)} ") for word in words)


def has(said: str, words: Sequence[str]) -> bool:
    """Whether one of some words stands in a plain text."""
    return any(f" {plain(word)} " in f" {said} " for word in words)


def asked_of(moment: Moment) -> AskedBack | None:
    """What a message answers in whatever words: a question that was asked back, or the ways on that were offered to
    somebody who was broken off; None where it answers neither.

    Whoever is only told to take their time tells on.
    """
    asked = moment.conduct.asked
    if asked in OF_DELETION:
        return "withdrawal"
    if asked in ("stop", "pause", "risk"):
        return asked
    return "ways" if offers_ways_on(moment) and "something_else" in moment.conduct.offers else None


def answer_of(moment: Moment) -> Literal["yes", "no"] | None:
    """Whether the message says yes or no, as it was heard; with a few words more only where no mistake can do harm."""
    for act in moment.acts:
        if _is_unclear(moment, act):
            return "yes" if act.about == ANSWERS_YES and _is_enough(moment) else None
        if act.about in _ANSWERED:
            return _ANSWERED[act.about]
    said, texts, asked = plain(moment.said), moment.texts, moment.conduct.asked
    if said in {plain(word) for word in texts.yes_words}:
        return "yes"
    if said in {plain(word) for word in texts.no_words}:
        return "no"
    if is_decided(moment):
        return None
    short = len(said.split()) <= LONGEST_CHOICE
    if asked in OF_DELETION and _confirms(moment):
        return "yes"
    if asked in OF_DELETION and has(said, (*_plain_parts(moment), *texts.keep_words)):
        return "no"
    if _would_go_on(moment):
        return "no"
    stops = begins(said, texts.stop_words) or (says(moment, texts.stop_words) and not begins(said, texts.no_begins))
    if asked == "stop" and short and stops:
        return "yes"
    if asked in ("stop", "pause", "risk") and short and begins(said, texts.yes_begins):
        return "yes"
    if asked == "pause" and _takes_break(moment):
        return "yes"
    if asked == "risk" and moment.find("risk") is None and has(said, texts.safe_words):
        return "no"
    plainly = asked in ("withdrawal", "withdrawal_again", "risk") or (asked in ("stop", "pause") and _few(said))
    if plainly and begins(said, texts.no_begins):
        return "no"
    well = begins(said, texts.no_begins) and has(said, (*texts.safe_words, *texts.back_words))
    if asked in ("stop", "pause") and well and moment.find("wants_stop") is None and len(said.split()) <= SMALL_WORDS:
        return "no"
    return None


def _takes_break(moment: Moment) -> bool:
    """Whether the first sentence of a message says yes to a break, and names it, whatever little follows."""
    first = plain(next(iter(sentences(moment.said)), ""))
    named = begins(first, moment.texts.yes_begins) and has(first, moment.texts.break_words)
    return named and _few(first) and len(moment.said.split()) <= LONGEST_WISH


def _is_unclear(moment: Moment, heard: HeardAct) -> bool:
    """Whether what was heard says too little of what is to be deleted; an older policy goes by words alone."""
    unsure = heard.act == "wants_withdrawal" and not heard.sure and heard.heard_by != "rules"
    return unsure and moment.conduct.asked in OF_DELETION and bool(moment.texts.withdrawal_again)


def _is_enough(moment: Moment) -> bool:
    """Whether a doubtful wish that everything be deleted is enough: it says yes, or was asked about a second time."""
    return moment.conduct.asked == "withdrawal_again" or _confirms(moment)


def _confirms(moment: Moment) -> bool:
    """Whether a message says that everything is to be deleted: it says yes, or asks for it again, and names no part,
    nor that anything is kept or goes on.
    """
    texts = moment.texts
    said = _JUST_DO.sub("", plain(moment.said))
    against = (*texts.part_words, *texts.no_begins, *texts.keep_words, *texts.go_on_words, *texts.go_on_plainly)
    if not texts.part_words or has(said, against) or _KEEPS.search(said):
        return False
    asked_again = moment.find("wants_withdrawal")
    return begins(said, texts.yes_begins) or (asked_again is not None and asked_again.sure)


def names_part(moment: Moment) -> bool:
    """Whether a message says that only a part is to be deleted, and not that nothing is."""
    if any(act.about in (ANSWERS_PART, ANSWERS_NO) for act in moment.acts):
        return any(act.about == ANSWERS_PART for act in moment.acts)
    said = plain(moment.said)
    return has(said, _plain_parts(moment)) and not has(said, moment.texts.keep_words)


def _plain_parts(moment: Moment) -> tuple[str, ...]:
    """Words for a part that say nothing else; an “only” or a “not” may."""
    return tuple(word for word in moment.texts.part_words if " " in word)


def _few(said: str) -> bool:
    """Whether so little follows a no that it answers nothing else."""
    return len(said.split()) <= LONG_TELLING + 1


def is_label(moment: Moment, offer: OfferName) -> bool:
    """Whether the message is the label of an offer, and nothing else."""
    return plain(moment.said) == plain(moment.texts.offers.get(offer, ""))

"""What the interviewer does about the acts of a message: pure, decided before any engine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pipeline.acts import (
    CONTROLLED,
    ENOUGH,
    FAINT,
    GOING_ON,
    LEAVES,
    NEXT,
    OFFERED,
    STORY_WORDS,
    TOLD_WRONG,
    UNANSWERED,
    UNASKED,
    WEARY,
    WHERE,
    WHICH,
    Act,
    HeardAct,
    says_enough,
    told,
)
from pipeline.conduct.choices import (
    LONG_TELLING,
    LONGEST_CHOICE,
    LONGEST_WISH,
    answer_of,
    asked_of,
    begins,
    chosen_offer,
    has,
    is_calm,
    is_label,
    is_well,
    names_part,
    outweighs,
    plain,
    returned,
    says,
)
from pipeline.conduct.move import Moment, Move
from pipeline.conduct.policy import OfferName
from pipeline.question.text import sentences, words

WAYS: tuple[OfferName, ...] = ("go_on", "something_else", "pause", "stop")
WAYS_IN_A_STORY: tuple[OfferName, ...] = ("go_on", "pause", "stop")
WAYS_AGAIN: tuple[OfferName, ...] = ("stop", "pause", "something_else", "go_on")
WAYS_BACK: tuple[OfferName, ...] = ("go_on", "something_else", "stop")
WAYS_ON: tuple[OfferName, ...] = ("carry_on", "something_else", "pause", "stop")
MUCH_MORE = 12
"""Words told after a refusal from which on the respondent has gone on themselves, and nothing is said to it."""
SMALL_TALK: frozenset[Act] = frozenset({"dont_know", "aside", "thanks_greets"})
"""Sure or not, these wait until it is clear that nobody wants to stop, or is in need."""
BESIDE = "beside"
"""What narrows a complaint down to that the question was about the wrong thing."""
SAYS_NOTHING = re.compile(
    r"(?:(?:\s|^)(?:(?:is|are|was|were|do|does|did|has|have|had|can|could|would|will)(?:n't|n’t| not)?|not|it"
    r"|that|this"
    r"|so|him|her|me|them|you|i|he|she|we|they|there|then|now|but|and|the|an?)){1,3}"
)
"""Words that can't be what is right: what was heard as a correction says something else."""
LEADS_IN = 3
"""Words of a wish for a moment up to which it may only lead in what is put right behind it: “Hang on.”"""
A_STORY = 25
"""Words told beside an act from which on somebody tells a story and is not broken off."""

"""What narrows the wish for another subject down to that for the rest of what was being told."""
RECALLED, LEAST_RECALLED = 2, 3
"""Sentences that are told again to who has lost their thread at the most, and words that each has at the least."""
UNREADABLE = "unreadable"
"""What narrows something aside down to keys that make no words."""
LONG_MESSAGE = 8
"""From so many words on, a message says more than that somebody wants to stop or needs a moment."""
REPAIRS: frozenset[Act] = frozenset(
    {"asks_back", "asks_interviewer", "complains", "corrects", "wants_pause", "distress", "risk"}
)
LONG_WORD = 4
"""Letters of a word that names something."""
_AWAY = re.compile(
    r"\b(?:other than|stop|not|n't|instead of|away|off|bored|tired|sick of|enough|rather than|anything but|from)\b",
    re.IGNORECASE,
)
"""Words by which somebody would leave the subject that they name."""
_ASKING_WORDS = frozenset(
    "about talk talking tell speak stay stick back rather just then please could can't with want like better more"
    " thought wanted were talked asking question ask let's lets maybe really well okay that this fine".split()
)
"""Words with which people ask for a subject."""
ASKING = frozenset("what how why where when who".split())
"""Words by which a subject is told of, without an “about”: “Tell me what you did afterwards.”"""
_BACK_TO = re.compile(
    r"\b(?:something|anything|another)\b.*\b(?:back to|about|like|maybe|perhaps|such as|say),? "
    r"(?P<topic>(?:the|my|our|your|that|how|what)\b.+)",
    re.IGNORECASE,
)
_SOMETHING_ELSE = re.compile(
    r"(?:about |on |to )?(?:something|anything|another (?:thing|topic|subject))\b", re.IGNORECASE
)
"""A wish for another subject that names none; and what it names behind that."""
SUBJECT_WORDS = 10
"""Words up to which a wish for another subject that names the interview's own wants nothing else."""
TRACES = "traces"
"""What a question to the interviewer is about that asks who may find what was written; it is answered beside danger."""
ANSWERS_BESIDE: frozenset[Act] = frozenset(
    {
        "complains",
        "wants_topic",
        "declines",
        "dont_know",
        "wants_pause",
        "wants_stop",
        "corrects",
        "aside",
        "thanks_greets",
    }
)
"""Acts beside which a question to the interviewer is answered as well."""
SAID_AGAIN = 14
"""Words of a correction up to which what is right is said back; a longer one says more than that."""
MOST_EASED = 3
"""How often an interview helps somebody who does not know by an easier question, before it simply goes on."""
_PERSONS = {"my": "your", "mine": "yours", "me": "you", "i": "you", "our": "your", "we": "you", "us": "you"}
_TO_YOU = re.compile(r"\byou\b|\b(?:Sie|du)\b|\bأنت\b", re.IGNORECASE)
"""Words by which a complaint in the middle of a story is to the interviewer."""
_WHOM_FOR = re.compile(
    r"\bwho(?:'s| is| are| would|'d)(?: be)? (?:that|it|they|these|those|the \w+)(?: \w+)? (?:even "
    r"|actually )?(?:for|aimed at|meant for)\b",
    re.IGNORECASE,
)
"""Asks whom an idea is for."""
_WHICH = re.compile(r"\W*(?:more )?(?:(?:about|of) )?(?:which|what)\b[^.!?]{0,60}\?\W*$", re.IGNORECASE)
"""A message that only asks which of several things is meant."""
_ASKS_NOT = re.compile(
    r"\b(?:do not|don['’]?t) (?:please )?ask\b|\bif (?:it['’]?s all the same to you|you don['’]?t mind"
    r"|that['’]?s (?:all right|ok(?:ay)?))",
    re.IGNORECASE,
)
"""Words by which somebody asks not to be asked, which is acknowledged however much else they tell."""
_OR_MEANS = re.compile(
    r"\bor (?:do|did|is it that) you mean (?!(?:it|that|this|something else|what|how|why|in general)\b)"
    r"(?P<what>(?:(?!\b(?:i|my|me|mine|we|our|us|you|your)\b)[^?.!,\n]){3,50})\?\W*$",
    re.IGNORECASE,
)
"""Somebody names what the question may have meant."""
_ONE_OF = re.compile(
    r"\b(?:what|which)\b,? [^.!?]{0,40}\bor\b[^.!?]{1,40}\?"
    r"|^\W*(?:about )?(?:the|my|that) [^.!?,]{1,30} or [^.!?]{1,40}\?"
    r"|\b(?P<at>with|from|about|at|of|to) (?:the|my|her|his|our|their) [^.!?,]{1,30},? or (?P=at) (?:the|my|her|his|our"
    r"|their) [^.!?]{1,40}\?"
    r"|(?:^|[.!?] +)\W*(?:do you mean )?(?:with|from|about|at|of|to|on|in|for|the) [^.!?,]{1,40},? or "
    r"(?:with|from|about|at|of|to|on|in|for|the) [^.!?,]{1,40}\??\W*$",
    re.IGNORECASE,
)
"""Asks which of two things is meant: “more about what, the door or the people?”"""
_REPEATS_ME = re.compile(
    r"\b(?:my|(?:a|one's) ?(?:man's|woman's|person's)?) own (?:words?|sentences?|lines?)\b"
    r"|\b(?:repeat|echo|parrot)(?:ing|s)?\b[^.!?]{0,25}\b(?:me|what i|my|everything i|i say)\b"
    r"|\b(?:like|keep|love) (?:to )?(?:repeat|echo|parrot)\w*|\b(?:saying|handing|reading|giving)(?: me)? back\b"
    r"|\bword for word\b|\blike a parrot\b",
    re.IGNORECASE,
)
"""How somebody complains of hearing their own words."""
_BY_THE_WAY = re.compile(
    r"\b(?:as|like) i(?:'ve|’ve)?(?: just| already)? (?:say|said|told you|mentioned)\b", re.IGNORECASE
)
"""Words by which somebody says in passing that they have said something before."""
_NUMBERS = {
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "zehn": 10, "elf": 11, "zwölf": 12,
    "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18,
}  # fmt: skip


def move_for(moment: Moment) -> Move | None:
    """What the interviewer does; None where the message is an answer and nothing else."""
    chosen = _chosen(moment)
    if chosen is not None:
        return _informed(moment, chosen)
    decisive = _decisive(moment)
    move = _BY_ACT[decisive.act](moment, decisive) if decisive is not None else None
    asked = moment.find("asks_interviewer")
    if move is None and asked is not None and asked is not decisive:
        move = _asks_interviewer(moment, asked)  # “That's all. And it does stay without my name, right?”
    if move is None:
        return _age_untold(moment)
    move = _informed(moment, _accompanied(moment, move))
    if move.then in ("easier", "engine") and (moment.closing or moment.questions_left <= 0):
        # Nothing is asked any more but what ends the interview.
        move = replace(move, then="engine", counts=True, text="" if move.then == "easier" else move.text)
    repairs = moment.conduct.repairs_in_a_row + 1
    if move.act in REPAIRS and not move.counts and not move.offers and repairs >= moment.policy.repairs_in_a_row:
        move = replace(move, offers=WAYS_ON)
    return move


def _age_untold(moment: Moment) -> Move | None:
    """An alert where somebody was asked for their age and has told something else: a person looks at it."""
    if moment.conduct.asked != "age":
        return None
    return Move("minor", "", "engine", counts=True, alert="minor")


def put_right(said: str, heard: HeardAct) -> str:
    """What a correction says is right, as it was written; empty where it does not say."""
    return _as_said(said, heard.details.get("right", "")).strip(" .,;!?")


def meant(moment: Moment, acts: Sequence[HeardAct]) -> tuple[HeardAct, ...]:
    """The acts without those that are not sure and that the respondent has said not to mean, or denies now.

    Whoever has chosen to go on after being asked is not asked again whether it is too much, unless in a few words.
    A correction that the reader alone hears counts where the message begins with a no, or where it has learned to hear
    it beside what is told.
    What was asked back about and is heard again is meant, but not by the reader, which hears it in most of what follows
    that question.
    """
    denied = set(moment.conduct.denied)
    again = {"stop": "wants_stop", "pause": "wants_pause"}.get(moment.conduct.asked, "")
    says_no = begins(plain(moment.said), moment.texts.no_begins)
    if says_no:
        denied |= {"wants_stop"} if moment.conduct.asked == "stop" else set()
        denied |= {"wants_pause"} if moment.conduct.asked == "pause" else set()
    return tuple(
        HeardAct(act="tells", start=heard.start, end=heard.end)
        if (heard.act == "distress" and heard.act in denied and len(moment.said.split()) > LONGEST_CHOICE)
        or (
            heard.heard_by == "reader"
            and (
                (heard.act in denied and not heard.sure)
                or (heard.act == again and len(moment.said.split()) <= LONGEST_WISH)
                or (heard.act == "corrects" and not says_no and not heard.about)
            )
        )
        else heard.model_copy(update={"sure": True})
        if heard.act == again and heard.heard_by != "reader" and not says_no
        else heard
        for heard in acts
    )


def _chosen(moment: Moment) -> Move | None:
    """The move of a respondent who chose what was offered, or answers what was asked back."""
    if outweighs(moment.acts, asked_of(moment), plainly=False):
        return None
    texts, offer = moment.texts, chosen_offer(moment)
    match offer:
        case "go_on":
            return _goes_on_upset(moment)
        case "something_else":
            return Move("wants_topic", "", "engine", counts=True, declines_focus=True)
        case "pause":
            return Move("wants_pause", texts.pause, "stands")
        case "stop":
            return _stop(moment)
        case "carry_on" if moment.conduct.asked in ("stop", "pause"):
            return replace(_carry_on(moment), act="wants_stop")  # It is the interviewer's turn.
        case "carry_on" | "resume":
            return _carry_on(moment)
        case "withdraw":
            return Move("wants_withdrawal", texts.withdrawn, "withdraw")
    if returned(moment) and not outweighs(moment.acts, None):
        return _where(moment) or _welcome(moment) or _carry_on(moment)
    if moment.conduct.asked == "stop" and moment.find("thanks_greets") and moment.told_words < STORY_WORDS:
        return _stop(moment)
    answer = "yes" if offer == "yes" else "no" if offer == "no" else answer_of(moment)
    if answer is None:
        return None
    match moment.conduct.asked, answer:
        case "stop", "yes":
            return _stop(moment)
        case "pause", "yes":
            return Move("wants_pause", texts.pause, "stands")
        case (("withdrawal" | "withdrawal_again"), "yes"):
            return Move("wants_withdrawal", texts.withdrawn, "withdraw")
        case (("withdrawal" | "withdrawal_again"), "no"):
            text = texts.withdrawal_part if texts.withdrawal_part and names_part(moment) else texts.withdrawal_kept
            refused = moment.find("declines")
            if refused is not None and not moment.closing:
                return Move("declines", _sentences(text, moment.variant(texts.declined)), "engine", counts=True,
                            declines_focus=True, leaves_answer=True)  # fmt: skip
            return replace(_carry_on(moment, text), act="wants_withdrawal")
        case (("stop" | "pause"), "no"):
            return _go_on(moment, texts.stop_taken_back)
        case "risk", "yes":
            return _in_danger(moment)
        case "risk", "no":
            wants_on = any(one.about == GOING_ON for one in moment.acts)
            if wants_on:
                return Move("risk", _sentences(texts.risk_mistaken, texts.go_on), "stands")
            if moment.conduct.answered and not moment.closing and moment.told_words < LONG_TELLING:
                return Move("risk", _sentences(texts.risk_mistaken, texts.corrected_on), "stands")
            return replace(_carry_on(moment, texts.risk_mistaken), act="risk")
        case "age", "no":
            return _held(moment)
        case "age", "yes":
            return replace(_carry_on(moment), act="minor")
    return None


def _welcome(moment: Moment) -> Move | None:
    """Ask somebody who is back from a break, which they needed since they were upset, where to go on; None else."""
    text = moment.texts.back_upset
    alerts = moment.conduct.alerts
    lately = bool(alerts) and alerts[-1].code == "distress" and moment.turn_number - alerts[-1].turn_number <= 1
    if not (lately and text) or moment.closing or moment.told_words >= STORY_WORDS:
        return None
    if says(moment, moment.texts.ask_on_words):
        return Move("distress", moment.texts.stop_taken_back, "engine", counts=True, leaves_answer=True)
    return Move("distress", text, "stands", offers=WAYS_BACK, asks="distress")


def _goes_on_upset(moment: Moment) -> Move:
    """Go on with somebody who was upset, or seemed so, and chooses to go on."""
    texts = moment.texts
    # Whoever tells on is asked on; an invitation to tell would be deaf to it.
    told_on = moment.told_words >= STORY_WORDS
    sorry = _safe(moment)
    more = not moment.closing and moment.questions_left > 0
    if told_on and more:
        return Move("distress", sorry, "engine", counts=True)
    if is_calm(moment) and "pause" in moment.conduct.offers and texts.distress_mistaken and more:
        return Move("distress", texts.distress_mistaken, "engine", counts=True)
    in_words = not sorry and not is_label(moment, "go_on")
    if in_words and more and moment.conduct.answered:
        return Move("distress", texts.next, "engine", counts=True, leaves_answer=True)
    if in_words and more and (is_well(moment) or says(moment, texts.ask_on_words)):
        return Move("distress", texts.stop_taken_back, "engine", counts=True, leaves_answer=True)
    return Move("distress", _sentences(sorry, texts.go_on), "stands")


def _safe(moment: Moment) -> str:
    """What is said to who was in danger, was offered ways on, and says that nobody is, or that they are well again."""
    texts, said, alerts = moment.texts, plain(moment.said), moment.conduct.alerts
    if not alerts or alerts[-1].code != "risk" or not has(said, texts.safe_words):
        return ""
    denied = has(said, [words for words in texts.safe_words if words not in texts.fine_words])
    return texts.risk_mistaken if denied or not texts.risk_over else texts.risk_over


def _decisive(moment: Moment) -> HeardAct | None:
    """The act that decides: the first of the policy's order, sure ones before others, small talk last.

    One that ends or pauses goes before a mere upset.
    """
    heard_acts = [heard for act in moment.policy.order if (heard := moment.find(act)) is not None]
    if not heard_acts:
        return None
    clear = [heard for heard in heard_acts if heard.about != FAINT] or heard_acts
    risk = next((heard for heard in clear if heard.act == "risk" and heard.about != FAINT), None)
    ends = any(heard.act in ("wants_withdrawal", "wants_stop") and heard.sure for heard in clear)
    if risk is not None and not ends and any(heard.about == TRACES for heard in clear):
        return risk  # Who asks whether somebody can find it, and tells of danger, is asked about that.
    weighty = [heard for heard in clear if heard.act not in SMALL_TALK] or clear
    present = [heard for heard in weighty if heard.sure] or weighty
    urgent = [h for h in present if h.act in ("wants_withdrawal", "wants_stop", "wants_pause") and h.sure]
    if urgent and present[0].act in ("risk", "distress"):
        return urgent[0]
    return present[0]


def _accompanied(moment: Moment, move: Move) -> Move:
    """The move with an acknowledgement of risk or distress, and help, where they were heard, too."""
    risk, distress = moment.find("risk"), moment.find("distress")
    if move.act in ("risk", "distress"):
        return move
    if risk is not None and not risk.sure and risk.heard_by == "reader":
        return replace(move, alert="risk")  # Too weak a sign for words beside another act; a person looks at it.
    if risk is not None:
        text = moment.texts.risk if risk.sure else moment.texts.risk_spoken_of
        return replace(move, text=_sentences(text, move.text), help=_help(moment), alert="risk")
    if distress is not None and distress.sure:
        sorry = moment.texts.distress.split(". ")[0] + "."
        return replace(move, text=_sentences(sorry, move.text), alert="distress")
    return move


def _informed(moment: Moment, move: Move) -> Move:
    """The move with an answer to what else was asked of the interviewer, which waits for nothing."""
    asked = moment.find("asks_interviewer")
    if asked is None or not asked.sure or move.then not in ("stands", "again", "engine"):
        return move
    if move.act == "asks_interviewer":
        return move
    if move.act not in ANSWERS_BESIDE and asked.about != TRACES:
        return move
    known = {**moment.texts.facts, **moment.facts}
    if asked.about not in known or (moment.shown and moment.asks_idea):
        return move
    return replace(move, text=_sentences(_fact(moment, [known[asked.about]]), move.text))


def _fact(moment: Moment, told: Sequence[str]) -> str:
    """Facts as they are said."""
    return _sentences(*told).replace("{left}", str(moment.questions_left)).replace("{topic}", moment.topic)


def _sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _help(moment: Moment) -> str:
    return _sentences(moment.helpline or moment.texts.help, moment.texts.help_kiosk if moment.kiosk else "")


def _risk(moment: Moment, heard: HeardAct) -> Move:
    before = any(alert.code == "risk" for alert in moment.conduct.alerts)
    if heard.about == FAINT or (heard.about == CONTROLLED and not before):
        # Too weak a sign to break off what is told; a person looks at it.
        return Move("risk", "", "engine", counts=True, alert="risk")
    if heard.heard_by == "reader" and not heard.sure and moment.texts.risk_ask and moment.conduct.asked != "risk":
        return Move(
            "risk",
            moment.texts.risk_ask,
            "stands",
            offers=("yes", "no"),
            help=_help(moment),
            alert="risk",
            asks="risk",
            answered=True,
        )
    return _in_danger(moment) if heard.sure and not before else _in_danger(moment, moment.texts.risk_spoken_of)


def _in_danger(moment: Moment, text: str = "") -> Move:
    """Concern, help and ways on."""
    text = text or moment.texts.risk
    return Move("risk", text, "stands", offers=WAYS_AGAIN, help=_help(moment), alert="risk", declines_focus=True)


def _distress(moment: Moment, heard: HeardAct) -> Move:
    texts = moment.texts
    if texts.distress_in_story and moment.told_words >= A_STORY and not moment.closing and moment.questions_left > 0:
        # Whoever is moved while telling tells on: a list of ways out would break them off, a question would hurry them.
        if moment.conduct.distressed or not heard.sure:
            return Move("distress", "", "engine", counts=True, alert="distress", help=moment.helpline)
        return Move(
            "distress",
            texts.distress_in_story,
            "stands",
            offers=WAYS_IN_A_STORY,
            alert="distress",
            help=moment.helpline,
            answered=True,
        )
    if not heard.sure:
        return Move("distress", texts.distress_ask, "stands", offers=WAYS, asks="distress")
    again = moment.conduct.distressed > 0
    return Move(
        "distress",
        texts.distress_again if again else texts.distress,
        "stands",
        offers=WAYS_AGAIN if again else WAYS,
        help=moment.helpline,
        alert="distress",
        declines_focus=True,
    )


def _stop(moment: Moment) -> Move:
    """The end, with help for somebody who may be in danger."""
    danger = any(alert.code == "risk" and not alert.faint for alert in moment.conduct.alerts)
    offers: tuple[OfferName, ...] = ("resume", "withdraw")
    return Move("wants_stop", moment.texts.stop, "stop", offers=offers, help=_help(moment) if danger else "")


def _wants_stop(moment: Moment, heard: HeardAct) -> Move | None:
    lone = moment.spoken and len(moment.said.split()) <= 2
    if moment.closing and heard.sure and moment.told_words >= LONG_TELLING:
        return None  # Who takes leave behind the last answer is thanked: the interview is over.
    if (heard.sure and not lone) or moment.conduct.asked == "stop":
        return _stop(moment)
    if moment.closing or (moment.shown and heard.heard_by == "reader" and moment.told_words >= A_STORY):
        return None
    if moment.questions_left <= 0:
        # Whether it was meant can't be asked any more; who told nothing else is not asked for a last word.
        return _stop(moment) if moment.told_words < LONG_TELLING else None
    return _ask(moment, "wants_stop")


def _wants_pause(moment: Moment, heard: HeardAct) -> Move | None:
    if moment.shown and not heard.sure and heard.heard_by == "reader" and moment.told_words >= LONG_MESSAGE:
        return None  # Whoever tells of an idea, and in no words asks for a pause, is listened to.
    if not heard.sure and moment.told_words >= A_STORY and moment.conduct.asked != "pause":
        return None  # Who tells on at such length does not need a moment.
    asked = moment.find("asks_interviewer")
    if asked is not None and asked.sure and asked.heard_by == "rules" and asked.start >= heard.end:
        return _asks_interviewer(moment, asked)  # “Hang on, who reads this?”
    right = moment.find("corrects")
    led = len(moment.said[heard.start : heard.end].split()) <= LEADS_IN
    if led and right is not None and right.sure and right.start >= heard.end:
        return _corrects(moment, right)  # “Hang on. I said half, …”
    if heard.sure or moment.conduct.asked == "pause":
        answered = moment.told_words >= LONG_TELLING
        return Move("wants_pause", moment.texts.pause, "stands", answered=answered)
    # Who may want a break from the last question has been asked enough.
    return None if moment.closing else _ask(moment, "wants_pause")


def _ask(moment: Moment, act: Literal["wants_stop", "wants_pause"]) -> Move:
    """Ask whether it was meant."""
    answered = moment.told_words >= LONG_TELLING or len(moment.said.split()) >= LONG_MESSAGE
    if act == "wants_stop":
        return Move(act, moment.texts.stop_ask, "stands", offers=("stop", "carry_on"), asks="stop", answered=answered)
    return Move(act, moment.texts.pause_ask, "stands", offers=("pause", "carry_on"), asks="pause", answered=answered)


def _carry_on(moment: Moment, text: str = "") -> Move:
    """Go on with the question, or with the next one where it was answered in passing."""
    if moment.conduct.answered and not moment.closing and moment.questions_left > 0:
        return Move("asks_back", text, "engine", counts=True)
    return Move("asks_back", text, "again")


def _go_on(moment: Moment, text: str = "") -> Move:
    """Go on with somebody who does not want to stop: who was telling was cut short, and is asked to tell on."""
    few = moment.told_words < LONG_TELLING and not moment.closing and moment.questions_left > 0
    elsewhere = moment.find("wants_topic") or moment.find("declines")
    if moment.conduct.answered and moment.texts.cut_in_go_on and few and elsewhere is None:
        return Move("wants_stop", moment.texts.cut_in_go_on, "stands")
    return replace(_carry_on(moment, text), act="wants_stop", leaves_answer=True)


def _wants_withdrawal(moment: Moment, heard: HeardAct) -> Move:
    """Ask whether everything is to be deleted; once more where the answer is not clear, and then delete nothing."""
    texts, asked = moment.texts, moment.conduct.asked
    if asked == "withdrawal_again" and texts.withdrawal_unclear:
        return replace(_carry_on(moment, texts.withdrawal_unclear), act="wants_withdrawal")
    again = asked == "withdrawal" and bool(texts.withdrawal_again)
    return Move(
        "wants_withdrawal",
        texts.withdrawal_again if again else texts.withdrawal_ask,
        "stands",
        offers=("withdraw", "no"),
        asks="withdrawal_again" if again else "withdrawal",
        answered=moment.told_words >= LONG_TELLING,
    )


def age_of(words: str) -> int | None:
    """An age in digits or as a word; None where there is none."""
    if match := re.search(r"\d{1,3}", words):
        return int(match[0])
    return next((number for word, number in _NUMBERS.items() if re.search(rf"\b{word}\b", words.lower())), None)


def _minor(moment: Moment, heard: HeardAct) -> Move | None:
    if moment.minimum_age <= 0 or moment.conduct.released_by is not None:
        return None
    age = age_of(heard.details.get("age", ""))
    if heard.heard_by == "reader":
        ages = [int(number) for number in re.findall(r"\b\d{2}\b", moment.said[heard.start : heard.end])]
        age = max(ages, default=None)
    if age is not None and age >= moment.minimum_age:
        return None
    if heard.sure and (age is not None or moment.conduct.asked_age):
        return _held(moment)
    if moment.conduct.asked_age or (moment.grown_up and not heard.sure):
        return None
    text = moment.texts.age_ask.replace("{age}", str(moment.minimum_age))
    answered = moment.told_words >= LONG_TELLING
    return Move("minor", text, "stands", offers=("yes", "no"), asks="age", answered=answered)


def _held(moment: Moment) -> Move:
    text = moment.texts.minor.replace("{age}", str(moment.minimum_age))
    return Move("minor", text, "hold", alert="minor")


def _personal_data(moment: Moment, heard: HeardAct) -> Move | None:
    others = [one for one in moment.acts if one.act not in ("personal_data", "tells", "thanks_greets")]
    if others:
        remaining = replace(moment, acts=tuple(one for one in moment.acts if one.act != "personal_data"))
        decisive = _decisive(remaining)
        return _BY_ACT[decisive.act](remaining, decisive) if decisive is not None else None
    if moment.told_words >= LONG_TELLING:
        return Move("personal_data", moment.texts.personal_data, "engine", counts=True)
    return Move("personal_data", moment.texts.personal_data, "again")


def _corrects(moment: Moment, heard: HeardAct) -> Move | None:
    right = put_right(moment.said, heard)
    if moment.closing and not right and moment.told_words >= STORY_WORDS:
        return None  # Nothing is asked any more that it could be about.
    if not heard.sure or (right and SAYS_NOTHING.fullmatch(right.casefold())):
        return None
    topic = next((one for one in moment.acts if one.act == "wants_topic" and one.sure), None)
    if topic is not None and not right:
        return _wants_topic(moment, topic)  # “No, I said ask me something else.”
    wrong = heard.details.get("wrong", "")
    texts = moment.texts
    own = heard.about == TOLD_WRONG
    if right and len(moment.said[heard.start : heard.end].split()) <= SAID_AGAIN:
        text = ((own and texts.corrected_told) or texts.corrected).replace("{right}", _to_you(right))
    else:
        text = (own and texts.corrected_told_plain) or texts.corrected_plain
    told_more = moment.told_words >= LONG_TELLING
    if heard.heard_by == "reader":
        # Who tells on has put it right by that; no apology could fit as well as a question about what is so.
        text = "" if moment.told_words >= STORY_WORDS else text
        return Move("corrects", text, "engine", counts=True, leaves_focus=True)
    if not right and not told_more:
        return Move("corrects", _sentences(text, texts.corrected_ask), "stands", asks="correction", retracts=wrong)
    return Move("corrects", text, "engine", counts=told_more, retracts=wrong, right=right)


def _as_said(said: str, words: str) -> str:
    """Words of the message as they were written there."""
    plain = said.lower().replace("’", "'")
    at = plain.find(words) if words and len(plain) == len(said) else -1
    return said[at : at + len(words)] if at >= 0 else words


def _where(moment: Moment) -> Move | None:
    """Tell somebody who has lost their thread what they told last; None where nobody has, or nothing was told."""
    lost = any(one.about == WHERE for one in moment.acts) and moment.told_words < A_STORY
    said = " ".join([one for one in sentences(moment.told_last) if len(one.split()) >= LEAST_RECALLED][-RECALLED:])
    if not lost or not said or not moment.texts.where:
        return None
    return Move("asks_back", moment.texts.where.replace("{said}", said), "stands", answered=moment.conduct.answered)


def _asks_back(moment: Moment, heard: HeardAct) -> Move | None:
    if not heard.sure:
        return None
    if heard.about == WHERE:
        return _where(moment)
    if moment.shown and moment.asks_idea and not _WHICH.match(moment.said):
        return None  # It is the idea that is not clear, not the question.
    if heard.about == WHICH and len(moment.said[heard.end :].split()) >= LONG_TELLING:
        return Move("asks_back", "", "engine", counts=True)  # They have chosen themselves.
    meant = _OR_MEANS.search(moment.said)
    if meant is not None and moment.texts.meant:
        # “Through what, the drawer? Or do you mean the call?” Who thinks of something themselves would tell of that.
        said = moment.texts.meant.replace("{what}", meant["what"].strip())
        return Move("asks_back", _sentences(moment.variant(moment.texts.asked_unclearly), said), "again")
    one_of = not moment.shown and _ONE_OF.search(moment.said[heard.start : heard.end]) is not None
    which = heard.about == WHICH or one_of
    ends = not moment.said[heard.end :].strip()
    if which and moment.texts.which and moment.told_words < (STORY_WORDS if ends else LONG_TELLING):
        return Move("asks_back", moment.texts.which.replace("{topic}", moment.topic), "stands")
    if moment.told_words >= LONG_TELLING:
        unclear = moment.texts.asked_unclearly
        by_rule = heard.heard_by == "rules" and unclear
        return Move("asks_back", moment.variant(unclear), "engine", counts=True) if by_rule else None
    if moment.conduct.asked_back_turn == moment.turn_number:
        return Move("asks_back", moment.texts.asks_back_again, "engine", leaves_focus=True)
    return Move("asks_back", moment.variant(moment.texts.asks_back), "simpler")


def _asks_interviewer(moment: Moment, heard: HeardAct) -> Move | None:
    if not heard.sure:
        return None
    asked = [one.about for one in moment.acts if one.act == "asks_interviewer" and one.sure]
    facts = {**moment.texts.facts, **moment.facts}
    subjects = list(dict.fromkeys(about if about in facts else "other" for about in asked))
    if moment.shown and subjects == ["other"] and moment.texts.idea_silent:
        # Nobody knows more of the idea than its description says; what they would expect is asked instead.
        return Move("asks_interviewer", moment.variant(moment.texts.idea_silent), "engine", counts=True)
    if moment.shown and _WHOM_FOR.search(moment.said[heard.start : heard.end]) and moment.texts.idea_silent:
        return Move("asks_interviewer", "", "engine", counts=True)  # “Nice, but who is that for?”
    if moment.shown and moment.asks_idea and subjects[:1] != ["machine"] and moment.texts.idea_silent:
        # “Is the driver allowed to get out?” is about the idea, whatever else its words may mean.
        return Move("asks_interviewer", moment.variant(moment.texts.idea_silent), "engine", counts=True)
    known = [about for about in subjects if about != "other"] or subjects
    told_facts = [facts[about] for about in known]
    text = _fact(moment, told_facts[:2])
    if moment.told_words >= LONG_TELLING:
        return Move("asks_interviewer", text, "engine", counts=True)
    return Move("asks_interviewer", text, "again")


def _sentence_end(text: str, start: int) -> int:
    """Where the sentence ends that is under way there."""
    found = re.compile(r"[.!?]").search(text, max(0, start - 1))
    return found.end() if found is not None else len(text)


def _told_before(moment: Moment, heard: HeardAct) -> Move | None:
    """Own a question for what was told already."""
    texts, told_on = moment.texts, moment.told_words >= LONG_TELLING
    # Whoever tells something new all the same is listened to; a long apology would be deaf to it, none as well.
    answers = moment.told_words >= STORY_WORDS
    wordings = texts.complained_briefly if told_on else texts.complained_told
    words = moment.said[heard.start : heard.end]
    to_us = heard.start == 0 or _TO_YOU.search(words) is not None
    if answers and not to_us:
        return None  # “There's no way to say it. Or there is, I've just said it.”
    if answers:
        wordings = wordings[:1] if not _BY_THE_WAY.search(words) else ()
    text = moment.variant(wordings) if wordings else ""
    return Move(
        "complains",
        text,
        "engine",
        counts=told_on,
        leaves_focus=True,
        leaves_thread=True,
        leaves_answer=not answers,
    )


def _complains(moment: Moment, heard: HeardAct) -> Move | None:
    if not heard.sure:
        return None
    texts, told_on = moment.texts, moment.told_words >= LONG_TELLING
    if moment.closing and moment.told_words >= STORY_WORDS and heard.about != "blame":
        return None  # What was missing is the last answer: its teller is thanked, and nothing is asked any more.
    words = moment.said[heard.start : _sentence_end(moment.said, heard.end)]
    if texts.complained_echo and _REPEATS_ME.search(words):
        return Move("complains", texts.complained_echo, "engine", counts=moment.told_words >= STORY_WORDS)
    if heard.about == WEARY and moment.told_words >= STORY_WORDS:
        return None  # It was answered all the same: nothing is said to it, and nothing like that asked any more.
    behind_a_story = heard.start > 0 and moment.told_words >= A_STORY
    if heard.heard_by == "reader" and not heard.about and behind_a_story:
        return None  # At the end of a story the reader alone hears that this was all of it.
    unfinished = next((one for one in moment.acts if one.about in (UNASKED, GOING_ON)), None)
    if unfinished is not None:
        return _wants_topic(moment, unfinished)
    elsewhere = next((one for one in moment.acts if one.act == "wants_topic" and one.sure), None)
    if heard.about == ENOUGH and elsewhere is not None:
        return _wants_topic(moment, elsewhere)
    refused = next((one for one in moment.acts if one.act == "declines" and one.sure and one.heard_by == "rules"), None)
    if refused is not None:
        return _declines(moment, refused)  # “That's the second time you ask. I'd rather not make an opera of it.”
    asks = next((one for one in moment.acts if one.act == "asks_back" and one.sure and one.heard_by == "rules"), None)
    if heard.about == ENOUGH and asks is not None and not moment.said[asks.end :].strip():
        return _asks_back(moment, asks)  # “There's no more in it. Which bit did you want, the quiz or the bill?”
    if heard.about == ENOUGH:
        others = [one for one in moment.acts if one.act == "complains" and one.about != ENOUGH and one.sure]
        by_rule = next((one for one in others if one.heard_by == "rules"), None)
        goes_on = by_rule is not None and not says_enough(moment.said, moment.acts)
        return _complains(moment, by_rule) if goes_on and by_rule is not None else _enough(moment)
    if heard.about == "told":
        return _told_before(moment, heard)
    if heard.about == BESIDE and _names_the_subject(moment, heard):
        # “I thought it was about meals.”
        again = Move("wants_topic", texts.corrected_plain, "engine", counts=True, leaves_focus=True)
        return replace(again, leaves_thread=True, leaves_answer=moment.told_words < A_STORY)
    if heard.about == BESIDE:
        return Move("complains", texts.corrected_plain, "engine", counts=told_on, leaves_focus=True)
    if heard.about == UNANSWERED and texts.complained_unanswered:
        return Move("complains", texts.complained_unanswered, "engine", counts=told_on, leaves_focus=True)
    text = texts.complained_blame if heard.about == "blame" else moment.variant(texts.complained)
    return Move("complains", text, "engine", counts=told_on, leaves_focus=True)


def _enough(moment: Moment) -> Move | None:
    """Leave what was asked about, of which there is no more to tell; in a word, unless much was told before."""
    if moment.closing:
        return None  # That was the last answer.
    if not says_enough(moment.said, moment.acts):
        return None  # Who tells on has more to tell.
    told_words = moment.told_words
    text = moment.variant(moment.texts.enough) if moment.texts.enough and told_words < A_STORY else ""
    return Move(
        "complains",
        text,
        "engine",
        counts=told_words >= LONG_TELLING,
        leaves_focus=True,
        leaves_thread=True,
        leaves_answer=told_words < STORY_WORDS,
    )


def _declines(moment: Moment, heard: HeardAct) -> Move | None:
    alone = heard.heard_by != "rules" and (heard.about != LEAVES or moment.closing)
    if not heard.sure or (moment.told_words >= LONG_TELLING and alone):
        return None
    after = tuple(one for one in moment.acts if one.start >= heard.end)
    told_on = len(told(moment.said, after).split()) if after else 0
    gone_on = told_on >= MUCH_MORE and not says(moment, moment.texts.ask_on_words)
    asks_not = _ASKS_NOT.search(moment.said[heard.start :]) is not None
    # What is told on may be of the same: it is not said then that it is left.
    wording = moment.texts.declined[-1] if gone_on else moment.variant(moment.texts.declined)
    text = wording if asks_not or not gone_on else ""
    elsewhere = bool(text) and says(moment, moment.texts.ask_on_words)
    return Move("declines", text, "engine", counts=True, declines_focus=True, leaves_answer=elsewhere, tells_on=gone_on)


def _unasked(moment: Moment, heard: HeardAct) -> Move | None:
    """Ask what somebody says that they were not asked, even behind the last question; not where they take their leave.

    “You never asked what he was like.”
    """
    topic = _as_said(moment.said, heard.details.get("topic", "")).strip(" .,;!?")
    texts = moment.texts
    if not texts.unasked or moment.find("wants_stop") is not None:
        return None
    text = texts.unasked.replace("{topic}", _to_you(topic)) if topic else texts.unasked_on
    if moment.closing or moment.questions_left <= 0:
        return Move("wants_topic", text, "stands", answered=True)
    return Move("wants_topic", text, "easier", counts=True, leaves_focus=True)


def _wants_topic(moment: Moment, heard: HeardAct) -> Move | None:
    if heard.about == UNASKED:
        return _unasked(moment, heard)
    if heard.heard_by == "reader" and moment.said[heard.start : heard.end].rstrip().endswith("?"):
        return _asks_back(moment, heard)  # “About the noodles?”
    if not heard.sure or (moment.closing and heard.heard_by == "reader"):
        return None
    if heard.about == NEXT or _names_the_subject(moment, heard):
        return Move(
            "wants_topic",
            moment.texts.next,
            "engine",
            counts=True,
            leaves_focus=True,
            leaves_thread=True,
            leaves_answer=True,
        )
    unfinished = next((one for one in moment.acts if one.act == "wants_topic" and one.about == GOING_ON), None)
    if unfinished is not None and moment.texts.cut_in_go_on:
        told_on = any(one.act == "tells" and one.start >= unfinished.end for one in moment.acts)
        if told_on:
            return Move("wants_topic", moment.texts.cut_in, "engine", counts=True)
        return Move("wants_topic", moment.texts.cut_in_go_on, "easier", counts=True, leaves_focus=True)
    if heard.about != OFFERED and moment.told_words >= 2 * LONG_TELLING:
        return Move("wants_topic", "", "engine", counts=True, leaves_focus=True)
    topic = _wished(_as_said(moment.said, heard.details.get("topic", "")))
    if topic and len(topic.split()) <= 8:
        asks = topic.split()[0].lower() in ASKING
        said = (asks and moment.texts.topic_asked) or moment.texts.topic
        text = said.replace("{topic}", _to_you(topic))
    else:
        text = moment.texts.topic_open
    return Move("wants_topic", text, "easier", counts=True, leaves_focus=True)


def _wished(topic: str) -> str:
    """What somebody would rather speak of; empty where they only say that it is something else.

    “Something else though, go back to the buses” → “the buses”.
    """
    found = _BACK_TO.search(topic)
    named = (found["topic"] if found is not None else topic).strip(" .,;!?")
    return "" if _SOMETHING_ELSE.match(named) else named


def _names_the_subject(moment: Moment, heard: HeardAct) -> bool:
    """Whether what somebody would rather be asked about is what the interview is about, all of it and nothing else:
    “Ask me about coffee.”
    """
    named = heard.details.get("topic", "") or moment.said[heard.start : heard.end]
    if heard.about == OFFERED or len(named.split()) > SUBJECT_WORDS or _AWAY.search(named):
        return False
    own = {word.removesuffix("s") for word in words(moment.topic) if len(word) >= LONG_WORD}
    content = {word.removesuffix("s") for word in words(named) if len(word) >= LONG_WORD and word not in _ASKING_WORDS}
    return bool(own & content) and content <= own


def _to_you(topic: str) -> str:
    """The respondent's words as the interviewer says them: "my garden" → "your garden"."""
    return " ".join(_PERSONS.get(word.lower(), word) for word in topic.split())


def _dont_know(moment: Moment, heard: HeardAct) -> Move | None:
    if not heard.sure or moment.told_words >= LONG_TELLING or moment.closing:
        return None
    if moment.comparing:
        return Move("dont_know", moment.variant(moment.texts.left), "engine", counts=True)
    if moment.conduct.dont_knows or moment.conduct.eased >= MOST_EASED:
        return Move("dont_know", moment.variant(moment.texts.left), "engine", counts=True, leaves_focus=True)
    return Move("dont_know", moment.variant(moment.texts.easier), "easier", counts=True)


def _aside(moment: Moment, heard: HeardAct) -> Move | None:
    if heard.about == UNREADABLE:
        if moment.conduct.repairs_in_a_row:
            return Move("aside", "", "engine", counts=True, leaves_focus=True)
        return Move("aside", moment.texts.unreadable, "again")
    return Move("aside", moment.texts.aside, "stands") if moment.told_words == 0 and heard.sure else None


def _thanks_greets(moment: Moment, heard: HeardAct) -> Move | None:
    if moment.told_words or moment.closing or not heard.sure:
        return None
    return Move("thanks_greets", moment.texts.thanks, "again")


_BY_ACT = {
    "risk": _risk,
    "distress": _distress,
    "wants_withdrawal": _wants_withdrawal,
    "wants_stop": _wants_stop,
    "wants_pause": _wants_pause,
    "minor": _minor,
    "personal_data": _personal_data,
    "corrects": _corrects,
    "asks_back": _asks_back,
    "asks_interviewer": _asks_interviewer,
    "complains": _complains,
    "declines": _declines,
    "wants_topic": _wants_topic,
    "dont_know": _dont_know,
    "aside": _aside,
    "thanks_greets": _thanks_greets,
}

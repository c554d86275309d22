"""The wordings of one question: every form that fits the moment, with what it is about said or left unsaid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.language.offline.echoes import echoes
from pipeline.language.offline.phrasings import LanguagePhrasing
from pipeline.language.offline.telling import tells_stories
from pipeline.methodology import STANCES, Form, Stance
from pipeline.ports import QuestionRequest
from pipeline.question.bridges import bridge_for
from pipeline.question.lexicon import KIN_NOUNS, PERSON_NOUNS
from pipeline.question.phrases import Phrase, is_finite
from pipeline.question.templates import WAYS, fill, placeholders, stable_hash, suits, uncapitalised
from pipeline.question.text import words

Naming = Literal["unnamed", "echo", "sentence", "inside", "woven"]
"""How a wording says what it is about: not at all, by the respondent's sentence said back before the question, by a
sentence about their words, by a noun phrase within it, or by what was told as a part of its own sentence."""


_CLAUSE_ENDS = re.compile(r"\s*(?:$|[.,;:!?…)\n–—])")
_INSIDE = re.compile(
    r"\bif\b[^.,;!?]{0,30}$|\b(?:till|until|because|when|if|while|as|that|who|which|where|since|before|after|although|though|cos|than|like)"
    r"(?: i| he| she| it| we| they| you| the \w+| my \w+)?[\s,]*$"
)
"""Ends of a clause; and what comes before one that is a part of another."""
MUCH = 20
"""Words of a long answer."""
SHORT_ECHO = 5
"""Words of a clause that is said back although it was said last: “They climb on you. What does that mean to you?”"""


SHORT_QUOTE = 4
"""Most words of what may be quoted if it has no verb: “peace of mind”."""


@dataclass(frozen=True)
class Wording:
    """One question as it would be asked, and what it was made of."""

    text: str
    form: Form
    naming: Naming = "unnamed"


def fitting(forms: Iterable[Form], request: QuestionRequest, stance: Stance) -> list[Form]:
    """The forms whose conditions the moment meets; all of them where it meets those of none.

    A condition on the type, the time, or how long ago it was said is never waived while another form is left.
    """
    listed = list(forms)
    now = "earlier" if request.focus_is_jump else "now"
    if any(form.stories is not None for form in listed):
        stories = tells_stories(request.methodology, request.language)
        listed = [form for form in listed if form.stories in (None, stories)] or listed
    at_all = [
        form
        for form in listed
        if (not form.types or request.focus_type is None or request.focus_type in form.types)
        and form.said in (None, now)
        and (not form.times or (request.focus_time or "present") in form.times)
    ] or listed
    return [
        form
        for form in at_all
        if (not form.stance or stance in form.stance) and form.feeling in (None, request.focus_emotion > 0)
    ] or at_all


def stance_of(request: QuestionRequest, burdens: bool) -> Stance:
    """Whether the focus is wanted or suffered: as it was read, else by words that tell a burden."""
    stance = STANCES[request.focus_stance]
    return "suffered" if stance == "neutral" and burdens else stance


def worded(
    forms: Sequence[Form], request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None
) -> list[Wording]:
    """The wordings of some forms; for each the plainest first.

    A sentence about the respondent's words ("You said “…”") is heavy: unless it leads back to something, it is used
    only where there is nothing else.

    Args:
        forms: that fit.
        request: what to ask about.
        speaking: the fixed sentences of the language.
        about: the focus as a phrase; None for a question about nothing in particular.
    """
    found = [
        wording for number, form in enumerate(forms) for wording in _of_form(form, request, speaking, about, number)
    ]
    if request.focus_is_jump:
        return found
    return [wording for wording in found if wording.naming != "sentence"] or found


def _of_form(
    form: Form, request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None, number: int
) -> Iterator[Wording]:
    slots = placeholders(form.ask)
    if about is None:
        if suits(form.ask, None):
            yield Wording(fill(form.ask, topic=request.topic), form)
    elif "mention" in slots:
        if _only_quoted(request, speaking, about):
            return
        sentence = mention(request, speaking, about, number)
        yield Wording(fill(form.ask, topic=request.topic, phrase=about, mention=sentence), form, "sentence")
    elif slots & (WAYS | {"focus"}):
        if suits(form.ask, about) and not request.focus_is_jump and not (_bothers(form) and _is_somebody(about)):
            naming: Naming = "woven" if slots & WAYS else "inside"
            yield Wording(fill(form.ask, topic=request.topic, phrase=about), form, naming)
    else:
        yield from _anaphoric(form, request, speaking, about, number)


def _only_quoted(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase) -> bool:
    """Whether a sentence about these words would have to quote a piece of a sentence, where that is not wanted."""
    if about.kind != "quote" or speaking.quotes:
        return False
    if request.focus_is_jump:
        return not _told_earlier(request, about)
    own = words(about.label)
    return len(own) > SHORT_QUOTE or any(is_finite(word) for word in own)


def _told_earlier(request: QuestionRequest, about: Phrase) -> str:
    """A whole clause with these words, told before the last answer, in the second person; empty where there is none."""
    wanted = about.label.casefold()
    if not request.focus_is_jump:
        return ""
    for line in request.lines[:-1]:
        at = line.text.casefold().find(wanted) if line.speaker == "respondent" else -1
        for echo in echoes(line.text) if at >= 0 else ():
            if echo.start < at + len(wanted) and at < echo.end:
                return uncapitalised(echo.text.rstrip("."))
    return ""


def _bothers(form: Form) -> bool:
    return "bother" in form.ask


def _is_somebody(about: Phrase) -> bool:
    """Whether what is asked about is a person."""
    said = (about.rendering.thing or about.text).split()
    return bool(said) and (said[0][:1].isupper() or said[-1].casefold() in KIN_NOUNS | PERSON_NOUNS)


def _anaphoric(
    form: Form, request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase, number: int
) -> Iterator[Wording]:
    """The wordings of a form whose “that” stands for what was said."""
    if not request.focus_is_last_said and stands_in_much(request):
        yield Wording(fill(form.ask, topic=request.topic), form)
    if request.focus_is_last_said and not request.focus_is_jump:
        yield Wording(fill(form.ask, topic=request.topic), form)
        short = about.rendering.clause and 0 < len(about.said_back.split()) <= SHORT_ECHO
        if not short or not _ends(request):
            return
    sentence, naming = _taken_up(request, speaking, about, number)
    if naming == "sentence" and _only_quoted(request, speaking, about):
        return
    if naming == "echo" and not _ends(request):
        return
    if naming == "sentence" and about.kind == "clause" and not request.focus_is_jump and not _ends(request):
        return
    text = fill(f"{{mention}} {form.ask}", topic=request.topic, phrase=about, mention=sentence)
    yield Wording(text, form, naming)


def stands_in_much(request: QuestionRequest) -> bool:
    """Whether what is asked about stands in a long last answer, before its end.

    “That” is then taken for all of it; said back, what is asked about is a piece of something more often than not.
    """
    said = next((line.text for line in reversed(request.lines) if line.speaker == "respondent"), "").casefold()
    wanted = (request.focus_quote or request.focus_label or "").casefold().strip(" .,;!?")
    return not request.focus_is_jump and len(said.split()) >= MUCH and bool(wanted) and wanted in said


def _ends(request: QuestionRequest) -> bool:
    """Whether what is asked about is a whole clause of the answer, so that saying it back cuts nothing off."""
    said = next((line.text for line in reversed(request.lines) if line.speaker == "respondent"), "").casefold()
    wanted = (request.focus_quote or request.focus_label or "").casefold().strip(" .,;!?")
    at = said.find(wanted) if wanted else -1
    return at < 0 or (_CLAUSE_ENDS.match(said, at + len(wanted)) is not None and not _INSIDE.search(said[:at]))


def _taken_up(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase, number: int) -> tuple[str, Naming]:
    """The sentence before a question that says what it is about: their own words said back, else one about them."""
    if about.said_back and not request.focus_is_jump:
        return about.said_back, "echo"
    return mention(request, speaking, about, number), "sentence"


def mention(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase, number: int) -> str:
    """The sentence that takes the phrase up, or leads back to it.

    Args:
        request: what to ask about.
        speaking: the fixed sentences of the language.
        about: the phrase.
        number: another number gives another sentence.
    """
    pick = stable_hash(request.seed, request.turn_number, "mention", number)
    text = about.text
    if request.focus_is_jump:
        told = _told_earlier(request, about) if about.kind == "quote" and not speaking.quotes else ""
        near, distant = speaking.bridges("clause" if told else about.kind)
        sentence = bridge_for(request.focus_said_earlier_turns, near, distant, request.recent_questions, pick)
        text = told or text
    else:
        sentence = bridge_for(0, speaking.mentions(about.kind), (), request.recent_questions[-2:], pick)
    return sentence.replace("{x}", text)

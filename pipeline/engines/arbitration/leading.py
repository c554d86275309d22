"""What of a concept test's answers is worth a question, and how it would be asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.concept import names_of
from pipeline.coverage import element_of
from pipeline.elements import Names, key_of, named
from pipeline.engines.arbitration.file import Manner
from pipeline.engines.base import DecisionInputs
from pipeline.focus import Target
from pipeline.leads import BRIEF, Lead, LeadKind, is_bare, is_finished, judges, leads_of, refers, subject_of
from pipeline.question.clauses import said_back
from pipeline.question.text import sentences, words
from pipeline.subjects import answer_of, language_of

WENT_ON = 12
"""Words behind what was said from which on somebody has gone on to something else, and it is not said back."""
WORN_AFTER = 3
"""Questions about an element from which on only a question of the respondent's is a lead to it."""
TELLING: frozenset[LeadKind] = frozenset(
    {"asks", "unclear", "unseen", "personal", "condition", "doubt", "against", "liking"}
)
"""Leads that say something of the idea."""
ANSWERED: frozenset[LeadKind] = frozenset({"asks", "unclear", "unseen"})
"""Leads that are answered, whatever else was said."""
STAYS = 2
"""Questions in a row that stay with what the idea would mean in somebody's life."""
KEPT: frozenset[LeadKind] = frozenset({"condition", "doubt", "against", "liking"})
"""Leads that can be come back to later, by the part of the idea that they are about."""


SMALL = frozenset(
    "a an the of on in at to for from with by and or one it is are be you your that which within per all every whether "
    "der die das ein eine einen von im in am an zu für mit und oder es ist sind ihr ihre ob pro alle".split()
)
"""Words of labels that say nothing of what they are about."""


@dataclass(frozen=True)
class Followed:
    """A lead that can be followed now.

    Attributes:
        kind: of the lead.
        manner: how it would be asked about.
        target: what the question would be about.
        turn: of the answer.
        last: whether it ends this answer; of an element that was brought up, whether the answer begins with it alone or
            tells that the respondent stopped at it.
        said: the words that show it.
    """

    kind: LeadKind
    manner: Manner
    target: Target
    turn: int
    last: bool
    said: str = ""


def leads_in(inputs: DecisionInputs, bare_apart: int) -> tuple[Followed, ...]:
    """The leads of this answer, in its order, then those of former answers that nobody followed, the latest first.

    Who has said that there is no more to it is not asked on, unless they ask something themselves.
    """
    now = inputs.turn_count
    finished = is_finished(answer_of(inputs), language_of(inputs))
    found = [one for one in _of_answer(inputs, now) if not finished or one.kind in ANSWERED]
    lately = [kind_of(entry.target) for entry in inputs.questions[-STAYS:]]
    if len(lately) == STAYS and set(lately) == {"personal"}:
        found = [one for one in found if one.kind != "personal"]
    found += _bare(inputs, bare_apart) if not found else ()
    if not finished and not any(one.kind == "bare" for one in found):
        found += _raised(inputs, {of for one in found if (of := element_of(one.target))})
    earlier = (
        turn for turn in inputs.answers if 0 < turn < now and not is_finished(inputs.answers[turn], language_of(inputs))
    )
    for turn in sorted(earlier, reverse=True):
        found += (one for one in _of_answer(inputs, turn) if one.kind in KEPT and not _was_taken_up(one, inputs))
    return tuple(found)


def says_something(one: Followed) -> bool:
    """Whether a lead says something of the idea; an element by itself does where the answer begins with it."""
    return one.kind in TELLING or (one.kind == "raised" and one.last)


def kind_of(target: Target | None) -> LeadKind | None:
    """The kind of the lead that a target is; None for anything else."""
    return target.ids[0].split(".")[0] if target is not None and target.kind == "lead" else None  # type: ignore[return-value]


def _of_answer(inputs: DecisionInputs, turn: int) -> Iterator[Followed]:
    names = names_of(inputs.elements)
    labels = {element.id: element.label for element in inputs.elements}
    worn = _worn(inputs)
    answer, language = inputs.answers.get(turn, ""), language_of(inputs)
    asked = next((element_of(entry.target) for entry in inputs.questions if entry.turn == turn - 1), None)
    topic = subject_of(answer, names) or asked
    for number, lead in enumerate(leads_of(answer, names, language)):
        element = _element(lead, names, topic, language)
        if lead.kind == "personal":
            element = None
        if lead.kind == "unseen" and element is None:
            element = topic
            if element is None:
                continue
        if element is not None and element != topic and not _is_meant(lead, labels[element], dict(names)[element]):
            element = None
        if element in worn and lead.kind != "asks":
            continue
        if lead.kind == "raised" and (element is None or element == asked):
            continue
        # Who stops at a part of the idea by themselves says by that that it counts.
        last = (lead.last or lead.kind == "raised") and turn == inputs.turn_count
        if lead.kind == "personal" and turn == inputs.turn_count:
            last = last or lead.behind > WENT_ON or not _can_be_said(lead, language)
        name = f"{lead.kind}.{turn}.{number}"
        if element is not None:
            # What was asked about and comes up again at the end is “that”; its name again would be stiff.
            manner: Manner = "last" if last and element == asked else "element"
            if turn < inputs.turn_count:
                manner = "earlier"
            elif element == asked and not last and lead.kind not in ANSWERED:
                if not _can_be_said(lead, language) or lead.behind > WENT_ON:
                    continue  # It was just asked about; what else was said of it is not known well enough.
                manner = "words"
            own = manner in ("last", "words") or lead.kind == "asks"
            label = _said(lead, language) if own else labels[element]
            target = Target(kind="lead", ids=(name, element), label=label)
            yield Followed(lead.kind, manner, target, turn, last, lead.words or lead.sentence)
        elif turn == inputs.turn_count and (
            last or lead.kind in ANSWERED or (lead.behind <= WENT_ON and _can_be_said(lead, language))
        ):
            label = lead.words or lead.sentence if last else _said(lead, language)
            target = Target(kind="lead", ids=(name,), label=label)
            yield Followed(lead.kind, "last" if last else "words", target, turn, last, target.label)


def _worn(inputs: DecisionInputs) -> set[str]:
    """Elements that are closed, or were asked about again and again."""
    return {entry.element_id for entry in inputs.coverage if entry.declined or entry.focused >= WORN_AFTER}


def _said(lead: Lead, language: str) -> str:
    """The words that show a lead: its sentence where that can be said back."""
    return lead.sentence if language == "en" and said_back(lead.sentence) else lead.words or lead.sentence


def _can_be_said(lead: Lead, language: str) -> bool:
    """Whether the words of a lead can be said back, so that it is clear what is meant; never a piece of a sentence."""
    if language != "en":
        return bool(lead.words)
    return bool(said_back(lead.sentence) or said_back(lead.words))


def _is_meant(lead: Lead, label: str, aliases: Sequence[str]) -> bool:
    """Whether a lead has a word of the element's label, or a name of several words; a mere alias may mean anything."""
    if lead.kind in ("asks", "unseen") or set(key_of(label)) & set(key_of(lead.sentence)) - SMALL:
        return True
    long = tuple(name for name in aliases if len(key_of(name)) > 1)
    return bool(named(lead.sentence, ((label, long),)))


def _element(lead: Lead, names: Names, topic: str | None, language: str) -> str | None:
    """The one element that a lead is about: the only one of its words, what “it” stands for, or of its sentence."""
    own = named(lead.words, names) if lead.words else ()
    if len(own) == 1:
        return own[0]
    if len(lead.elements) == 1 and not named(lead.sentence, names):
        return lead.elements[0]
    if topic is not None and not own and refers(lead.words or lead.sentence, language):
        return topic
    return lead.elements[0] if len(lead.elements) == 1 or (lead.elements and lead.kind == "unseen") else None


def _raised(inputs: DecisionInputs, known: set[str]) -> Iterator[Followed]:
    """Elements that this answer comes to for the first time, where the question was about no part of the idea.

    That is what it begins with, or ends with: of what it named on its way it has said what it wanted to. What is said
    for a reason, after a question about something else that was said, is no lead of its own.
    """
    last = inputs.questions[-1] if inputs.questions else None
    open_ended = last is None or last.target is None or last.target.kind in ("aspect", "topic")
    if not open_ended and kind_of(last.target if last is not None else None) not in ("asks", "unclear"):
        return
    labels = {element.id: element.label for element in inputs.elements}
    names = names_of(inputs.elements)
    first, ending = subject_of(answer_of(inputs), names), " ".join(sentences(answer_of(inputs))[-1:])
    said = (*named(ending, names), *((first,) if first else ()))
    asked = {element_of(entry.target) for entry in inputs.questions}
    for entry in inputs.coverage:
        name = entry.element_id
        if name in said and name not in known and name not in asked and entry.mentioned <= 1 and not entry.declined:
            target = Target(kind="lead", ids=(f"raised.{inputs.turn_count}.{name}", name), label=labels[name])
            yield Followed("raised", "element", target, inputs.turn_count, last=name == first)


def _bare(inputs: DecisionInputs, apart: int) -> Iterator[Followed]:
    """A brief answer to a question about the idea, unless one like it was asked about lately.

    Of the first answer any words are brief: what somebody thinks of the idea at first is asked about before its parts.
    """
    lately = inputs.questions[-apart:] if apart else ()
    asked = inputs.questions[-1].target if inputs.questions else None
    of_idea = asked is None or asked.kind in ("element", "aspect", "topic")
    answer = answer_of(inputs)
    names = names_of(inputs.elements)
    spoken, language = named(answer, names), language_of(inputs)
    first = inputs.turn_count == 1 and len(words(answer)) > BRIEF and not is_finished(answer, language)
    if spoken and not first and not judges(answer, language):
        return  # What it names is the answer.
    if not _worn(inputs).isdisjoint(spoken):
        return
    if of_idea and (first or is_bare(answer, language)) and all(kind_of(e.target) != "bare" for e in lately):
        element = element_of(asked)
        ids = (f"bare.{inputs.turn_count}", *((element,) if element is not None else ()))
        yield Followed("bare", "last", Target(kind="lead", ids=ids, label=answer), inputs.turn_count, last=True)


def _was_taken_up(one: Followed, inputs: DecisionInputs) -> bool:
    """Whether any question was about the element of a lead, or a later answer speaks of it."""
    element = element_of(one.target)
    names = names_of(inputs.elements)
    asked = any(element_of(entry.target) == element for entry in inputs.questions)
    said = (text for turn, text in inputs.answers.items() if turn > one.turn)
    return asked or any(element in named(text, names) for text in said)

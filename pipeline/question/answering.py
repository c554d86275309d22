"""What the interviewer answers to a question about the idea: what the description says of it, and that there is no more."""

from __future__ import annotations

from pipeline.concept import Concept, names_of
from pipeline.conduct.policy import ConductTexts
from pipeline.elements import key_of, named
from pipeline.focus import Target
from pipeline.question.text import sentences, words

LONGEST_SAID = 40
"""Words of a sentence of the description that is said again at the most."""
ANSWERED = ("asks", "unseen")
"""Kinds of leads that are answered."""


def said_of(concept: Concept, element: str) -> str:
    """The sentence of the description that names an element by most words of one name; empty where none does."""
    names = dict(names_of(concept)).get(element, ())
    best, most = "", 0
    for sentence in sentences(" ".join((concept.stimulus or "").split())):
        found = max((len(key_of(name)) for name in names if named(sentence, [(element, [name])])), default=0)
        if found > most and len(words(sentence)) <= LONGEST_SAID:
            best, most = sentence, found
    return best


def answer_to(target: Target | None, concept: Concept, texts: ConductTexts, turn: int, *, last: bool) -> str:
    """What is said before the question that follows a question about the idea; empty before any other one.

    Args:
        target: what the question is about.
        concept: with its description, in the language of the interview.
        texts: what the interviewer says.
        turn: of the interview; another number takes another wording.
        last: whether the question ended the answer, so that it need not be said again.
    """
    kind = target.ids[0].split(".")[0] if target is not None and target.kind == "lead" else ""
    if target is None or kind not in ANSWERED or not texts.idea_silent:
        return ""
    element = target.ids[1] if len(target.ids) > 1 else None
    says = said_of(concept, element) if element is not None else ""
    told = texts.idea_says.replace("{says}", says) if says else ""
    if kind == "unseen" and told:
        return told
    if told:
        return f"{told} {texts.idea_no_more}"
    asked = "" if last or element is not None else texts.idea_asked.replace("{question}", target.label.rstrip("?"))
    silent = texts.idea_silent[turn % len(texts.idea_silent)]
    return f"{asked} {silent}".strip()

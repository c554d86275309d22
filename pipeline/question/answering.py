"""What the interviewer answers to a question about the idea: what the description says of it, and that there is no more."""

from __future__ import annotations

from pipeline.concept import Concept, names_of
from pipeline.conduct.policy import ConductTexts
from pipeline.elements import named
from pipeline.focus import Target
from pipeline.question.templates import capitalised
from pipeline.question.text import sentences, words

LONGEST_SAID = 40
"""Words of a sentence of the description that is said again at the most."""
CONTENT = 4
"""Letters of a word from which on it says what a question is about."""
ANSWERED = ("asks", "unseen")
"""Kinds of leads that are answered."""


def said_of(concept: Concept, element: str, asked: str) -> str:
    """The sentence of the description that names an element and has most words of what was asked; else nothing."""
    names = dict(names_of(concept)).get(element, ())
    wanted = {word for word in words(" ".join((asked, *names[:1]))) if len(word) >= CONTENT}
    best, most = "", 0
    for sentence in sentences(" ".join((concept.stimulus or "").split())):
        if len(words(sentence)) > LONGEST_SAID or not named(sentence, [(element, names)]):
            continue
        shared = 1 + len(wanted & set(words(sentence)))
        if shared > most:
            best, most = sentence, shared
    return best


def answer_to(target: Target | None, concept: Concept, texts: ConductTexts, turn: int, *, said: str) -> str:
    """What is said before the question that follows a question about the idea; empty before any other one.

    Args:
        target: what the question is about.
        concept: with its description, in the language of the interview.
        texts: what the interviewer says.
        turn: of the interview; another number takes another wording.
        said: the respondent's message; a question that ends it need not be said again.
    """
    kind = target.ids[0].split(".")[0] if target is not None and target.kind == "lead" else ""
    if target is None or kind not in ANSWERED or not texts.idea_silent:
        return ""
    element = target.ids[1] if len(target.ids) > 1 else None
    says = said_of(concept, element, said) if element is not None else ""
    told = texts.idea_says.replace("{says}", says) if says else ""
    if kind == "unseen" and told:
        return told
    if told:
        return f"{told} {texts.idea_no_more}"
    last = said.rstrip(" .!?…").endswith(target.label.rstrip(" .!?…"))
    asked = "" if last or element is not None else texts.idea_asked.replace("{question}", capitalised(target.label.rstrip("?")))
    silent = texts.idea_silent[turn % len(texts.idea_silent)]
    return f"{asked} {silent}".strip()

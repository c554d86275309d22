"""What the interviewer answers to a question about the idea: what the description says, and that there is no more."""

from __future__ import annotations

from pipeline.concept import Concept, names_of
from pipeline.conduct.policy import ConductTexts
from pipeline.elements import key_of, named
from pipeline.focus import Target
from pipeline.question.templates import capitalised
from pipeline.question.text import sentences, words

LONGEST_SAID = 40
"""Words of a sentence of the description that is said again at the most."""
CONTENT = 4
"""Letters of a word from which on it says what a question is about."""
SHARED = 2
"""Such words that a question and a sentence have in common, where nothing else says that one is about the other."""
PLAIN = frozenset(
    (
        "about again also another because been being could does doing done every from have here into just "
        "know less like long make many mean more most much only other over really said same should some "
        "somebody something sure take than that them then there these they thing think this those very want "
        "well were what when where which while will with would your aber alle auch beim dann dass dein diese "
        "doch eine einem einen einer etwas ganz haben hier hätte immer jede kann mein mehr muss nach nicht "
        "noch oder schon sein sich sind über viel vielleicht wann warum wenn werden wird wäre würde zwar"
    ).split()
)
"""Words that say nothing of what a question is about."""
ANSWERED = ("asks", "unseen")
"""Kinds of leads that are answered."""


def said_of(concept: Concept, element: str | None, asked: str) -> str:
    """What the description says of what was asked, as it is written there; empty where it says nothing.

    That is the sentence that has most words of the question. It names the element that was asked about; where that is
    none, it has at least `SHARED` of the words.
    """
    names = dict(names_of(concept)).get(element or "", ())
    wanted = _content(" ".join((asked, *names[:1])))
    best, most = "", 0 if element is not None else SHARED - 1
    for sentence in sentences(" ".join((concept.stimulus or "").split())):
        if len(words(sentence)) > LONGEST_SAID or (element is not None and not named(sentence, [(element, names)])):
            continue
        shared = len(wanted & _content(sentence)) + (element is not None)
        if shared > most:
            best, most = sentence, shared
    return best


def _content(text: str) -> set[str]:
    return {word for word in key_of(text) if len(word) >= CONTENT and word not in PLAIN}


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
    if kind == "asks" and element is not None and element not in named(said, names_of(concept)):
        element = None  # “They” and “it” may stand for anything: only what the message names is sure.
    says = said_of(concept, element, said if len(target.ids) > 1 else target.label)
    told = texts.idea_says.replace("{says}", says) if says else ""
    if kind == "unseen" and told:
        return told
    if told:
        return f"{told} {texts.idea_no_more}"
    last = said.rstrip(" .!?…").endswith(target.label.rstrip(" .!?…"))
    asked = (
        ""
        if last or len(target.ids) > 1
        else texts.idea_asked.replace("{question}", capitalised(target.label.rstrip("?")))
    )
    silent = texts.idea_silent[turn % len(texts.idea_silent)]
    return f"{asked} {silent}".strip()

"""When what somebody told is so: it happened once, was so for a while, is so, or only would be (English).

Questions have to fit it: "What happened then?" goes with what happened, not with what is always so.
"""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Doc, Span, Token

from pipeline.language.clauses import VERBS, Clause, split, text_of
from pipeline.language.connectors import normalised_text, words
from pipeline.methodology import Time

FINITE_TAGS = frozenset({"VBD", "VBP", "VBZ", "MD"})
IMAGINED = words("would 'd d could might should may")
STATES = words(
    "be have know think feel want need like love hate believe mean seem own cost hope wish expect care matter belong "
    "depend prefer trust understand remember worry enjoy look sound live keep use"
)
"""Verbs that in the past tell how something was, not what happened."""
WOULD = words("would 'd d")
SUPPOSED = words("if unless imagine suppose wish otherwise thought think said hoped hope maybe perhaps probably")
"""Words beside which “would” tells of what was not so, or not yet."""
HABITS = words("always usually usual often never sometimes every each whenever normally generally mostly")


def told_in(doc: Doc, quote: str) -> Time | None:
    """When what the words of `quote` say is so; the last sentence of the answer where it does not have them.

    A sentence without a finite verb goes on with the one before it. None where no finite verb tells it.
    """
    at = text_of(doc).casefold().find(quote.casefold()) if quote else -1
    found = doc.char_span(at, at + len(quote), alignment_mode="expand") if at >= 0 else None
    sentences = list(doc.sents) if found is None else []
    span = found if found is not None else sentences[-1] if sentences else None
    if span is None:
        return None
    earlier = [sentence for sentence in doc.sents if sentence.end <= span.start]
    spans = (span, *reversed(earlier))
    return next((told for each in spans if (told := time_of(doc, each.start, each.end)) is not None), None)


def time_of(doc: Doc, start: int, end: int) -> Time | None:
    """When the clause of the tokens `start` to `end` (exclusive) is so, else another of its sentence; None without."""
    clauses = split(doc)
    own = [clause for clause in clauses if clause.start < end and clause.end > start]
    beside = [clause for clause in clauses if own and clause.sentence == own[-1].sentence]
    return next((found for clause in (*reversed(own), *beside) if (found := _clause_time(doc, clause))), None)


def _clause_time(doc: Doc, clause: Clause) -> Time | None:
    tokens = doc[clause.start : clause.end]
    finite = [token for token in tokens if token.pos_ in VERBS and token.tag_ in FINITE_TAGS]
    if not finite:
        return None
    modal = next((t for t in finite if t.tag_ == "MD" and normalised_text(t.text) in IMAGINED), None)
    if modal is not None:
        return _of_would(modal, tokens) or "imagined"
    if finite[0].tag_ != "VBD":
        return "present"
    return "past" if _lasted(finite[0], tokens) else "event"


def _of_would(modal: Token, tokens: Span | Sequence[Token]) -> Time | None:
    """When it was so, where “'d” is “had”, or “would” is “used to”: “When I rode with him he'd give me some.”"""
    if normalised_text(modal.text) not in WOULD:
        return None
    verb = modal.head
    short = normalised_text(modal.text) != "would"
    if short and verb.tag_ in {"VBN", "VBD"} and not any(child.tag_ == "VB" for child in verb.children):
        return "past" if _lasted(verb, tokens) else "event"
    beside = [token for token in modal.sent if token.tag_ == "VBD" and token.pos_ in VERBS]
    supposed = any(normalised_text(token.text) in SUPPOSED for token in modal.sent)
    return "past" if beside and verb.tag_ == "VB" and not supposed else None


def _lasted(verb: Token, tokens: Span | Sequence[Token]) -> bool:
    """Whether a past form tells how something was or used to be."""
    main = verb.head if verb.dep_ in {"aux", "auxpass"} else verb
    usual = any(normalised_text(token.text) in HABITS for token in tokens)
    return usual or main.tag_ == "VBG" or normalised_text(main.lemma_) in STATES

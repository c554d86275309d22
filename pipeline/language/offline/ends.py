"""Sets the ends of what the reader has found so that they are those of a phrase."""

from __future__ import annotations

from spacy.tokens import Doc

from pipeline.language.connectors import normalised_text, words

JOINING = words("and but so because cos coz cause or nor yet plus also well oh ah then though although since if when")
"""Words that join a phrase to what stands before it; at its beginning or end they say nothing of it."""
FARTHEST = 4
"""Tokens by which an end is moved at the most to complete a phrase."""
SINGLING_OUT = ("what matters", "what counts", "what i ", "what im ", "what its about", "the thing i ")
"""How sentences go on that say which of several things it is: "sound is what matters to me"."""
ENDS = frozenset(".;!?")


def whole_phrase(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """Start and end (exclusive) of the phrase that the tokens are meant to be.

    Joining words and the remains of another sentence are cut off; an object, a particle or the rest of a preposition's
    phrase that follows at once is taken in: "louder about" becomes "louder about it".
    """
    first, end = _one_sentence(doc, start, end)
    first, end = _singled_out(doc, _beginning(doc, first, end), end)
    last = _extended(doc, first, end)
    last = _cut(doc, first, last)
    return (first, last) if any(token.is_alpha for token in doc[first:last]) else (start, end)


def _one_sentence(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """The longer part where a few words of a neighbouring sentence came along."""
    stops = [i for i in range(start, end - 1) if doc[i].text in ENDS]
    if not stops:
        return start, end
    if end - stops[-1] - 1 <= FARTHEST < stops[-1] - start:
        return start, stops[-1]
    if stops[0] - start <= FARTHEST < end - stops[0] - 1:
        return stops[0] + 1, end
    return start, end


def _beginning(doc: Doc, start: int, end: int) -> int:
    while start < end - 1 and (doc[start].is_punct or normalised_text(doc[start].text) in JOINING):
        start += 1
    return start


def _extended(doc: Doc, start: int, end: int) -> int:
    """The end with what belongs to the last words and follows at once."""
    while end > start + 1 and doc[end - 1].is_punct:
        end -= 1
    for last in range(end, min(len(doc), end + FARTHEST)):
        token = doc[last]
        if token.is_punct or normalised_text(token.text) in JOINING:
            break
        inside = start <= token.head.i < end
        if last == end and inside and doc[end - 1].pos_ in {"ADV", "PART"}:
            rest = token.right_edge.i + 1
            if rest - end <= FARTHEST and not any(doc[i].is_punct for i in range(end, rest)):
                return rest
        if inside and (token.dep_ == "prt" or (token.pos_ == "PRON" and token.dep_ in {"dobj", "pobj", "dative"})):
            return _extended(doc, start, last + 1)
        if doc[end - 1].pos_ in {"DET", "ADP"} and inside and token.dep_ == "pobj":
            return last + 1
        if doc[end - 1].dep_ in {"det", "poss"} and doc[end - 1].head.i == token.i:
            return last + 1
    return end


def _singled_out(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """What "is what matters to me" or "is what I look at" is said of, where the phrase has that in it or is that."""
    for at in range(max(1, start - FARTHEST), end - 1):
        said = doc[at].lemma_ == "be" and normalised_text(doc[at + 1 : end].text).startswith(SINGLING_OUT)
        subject = next((child for child in doc[at].children if child.dep_ == "nsubj"), None) if said else None
        if subject is not None and subject.pos_ != "PRON" and subject.i < at:
            return subject.left_edge.i, at
    return start, end


def _cut(doc: Doc, start: int, end: int) -> int:
    """The end without what begins something else."""
    while end > start + 1:
        last = doc[end - 1]
        opens = last.dep_ in {"nsubj", "nsubjpass", "expl"} and last.pos_ == "PRON" and last.head.i >= end - 1
        verb = last.pos_ == "AUX" and last.nbor(-1).dep_ in {"nsubj", "nsubjpass", "expl"} and end - start > 3
        dangles = last.dep_ in {"det", "aux", "auxpass", "poss"} and last.head.i >= end
        lone = last.pos_ == "ADP" and last.dep_ == "prep" and any(child.i >= end for child in last.children)
        if not (verb or lone or last.is_punct or normalised_text(last.text) in JOINING or opens or dangles):
            break
        end -= 1
    return end

"""Makes a label of a clause: removes fillers and empty subjects, and shortens it."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Doc, Token

from pipeline.language.clauses import VERBS, Clause
from pipeline.language.connectors import normalised_text, words
from pipeline.language.offline import lexicon as lex
from pipeline.language.srl import content_lemmas

MAX_LABEL_WORDS = 9
SAID_LABEL_WORDS = 14
"""The same for what the reader has found: it is one idea however long it is."""
SOFT_LABEL_WORDS = 6
"""A label is cut at a phrase boundary behind this many words."""
NEGATORS = words("not n't nt never no cannot without t")
HEDGES = frozenset({"kind of", "sort of", "you know", "a bit", "i mean"})
"""Two words that say nothing inside a label, …"""
BEFORE_CLAUSES = frozenset({"that", "if", "when", "because", "so", "until"})
"""… but for “you know” and “I mean” behind one of these, which then are what is said."""
APPROXIMATIONS = frozenset({"about", "around", "roughly", "approximately"})


def trimmed(doc: Doc, clause: Clause) -> tuple[int, int]:
    """Start and end (exclusive) of a clause's content, without fillers and empty subjects."""
    start, end = clause.start, clause.end
    moved = True
    while moved and start < end:
        moved = False
        length = _phrase_at(doc, start, end, lex.OPENERS, 6)
        if length and start + length < end:
            start += length
            moved = True
            continue
        word = normalised_text(doc[start].text)
        if not any(ch.isalnum() for ch in word) or (word in lex.FILLERS and not _keeps(doc, start, end)):
            start += 1
            moved = True
            continue
        if word in APPROXIMATIONS and start + 1 < end and doc[start + 1].like_num:
            start += 1
            moved = True
            continue
        step = _subject_step(doc, start, end)
        if step:
            start += step
            moved = True
            continue
        length = _phrase_at(doc, start, end, lex.LEADING_VERBS, 3)
        if length and start + length < end and not _goes_somewhere(doc, start + length):
            start += length
            moved = True
            continue
        if word == "that" and doc[start].pos_ == "SCONJ" and start + 1 < end:
            start += 1
            moved = True
            continue
        if word == "to" and start + 1 < end and doc[start + 1].tag_ == "VB":
            start += 1
            moved = True
            continue
        if word in lex.ARTICLES and start + 1 < end and doc[start].pos_ in {"DET", "PRON"}:
            start += 1
            moved = True
    return start, _trimmed_end(doc, start, _predicate_end(doc, start, end))


def _goes_somewhere(doc: Doc, after: int) -> bool:
    """Whether the "to" before this token leads to a place and not to a verb: "get to work"."""
    return normalised_text(doc[after - 1].text) == "to" and doc[after].pos_ not in VERBS | {"ADV", "PART"}


def _predicate_end(doc: Doc, start: int, end: int) -> int:
    """Where a comment on the idea begins, which is no part of it: "… is the main thing"; `end` without one."""
    for i in range(start + 1, end - 1):
        token = doc[i]
        if (
            normalised_text(token.text) in {"is", "'s", "was", "are", "were"}
            and normalised_text(doc[i + 1].text) != "n't"
        ):
            rest = content_lemmas([doc[j] for j in range(i + 1, end)])
            noun = any(doc[j].pos_ in {"NOUN", "PROPN"} for j in range(start, i))
            ahead = {normalised_text(doc[j].text) for j in range(i + 1, min(end, i + 5))}
            if ahead & lex.COMMENT_NOUNS and doc[start].tag_ in {"VBG", "VB", "NN", "NNS"}:
                return i
            if noun and rest and all(lemma in lex.PRAISE for lemma in rest):
                return i
            if doc[start].tag_ in {"VBG", "VB"} and all(lemma in lex.COMMENT_LEMMAS for lemma in rest):
                return i
    return end


def _keeps(doc: Doc, start: int, end: int) -> bool:
    """Whether a filler word is part of the idea here: "no lumps", "more confident", "like to cook"."""
    word = normalised_text(doc[start].text)
    if word == "no":
        return start + 1 < end and doc[start + 1].pos_ in {"NOUN", "ADJ", "ADV", "VERB"}
    if word in {"like", "see", "look", "right"}:
        return doc[start].pos_ == "VERB" and start + 1 < end
    if word == "only":
        return start + 1 < end and doc[start + 1].pos_ in {"NUM", "NOUN", "DET"} and doc[start].dep_ != "intj"
    return False


def _phrase_at(doc: Doc, start: int, end: int, listed: frozenset[str], longest: int) -> int:
    """Length of the longest listed phrase that begins at this token, 0 if none does."""
    spoken = [normalised_text(doc[i].text) for i in range(start, min(end, start + longest))]
    for length in range(len(spoken), 0, -1):
        if " ".join(spoken[:length]) in listed:
            return length
    return 0


def _subject_step(doc: Doc, start: int, end: int) -> int:
    """Tokens of an empty subject with its auxiliary to be left out: "it is", "I can", "there were"."""
    word = normalised_text(doc[start].text)
    i = start
    if word in lex.PRONOUNS:
        if i + 1 >= end or doc[i + 1].pos_ not in VERBS | {"ADV", "PART", "INTJ"}:
            return 0
        i += 1
        while i < end - 1 and doc[i].pos_ in {"ADV", "INTJ"} and normalised_text(doc[i].text) not in NEGATORS:
            i += 1
    elif not (doc[start].pos_ == "AUX" and word in lex.MODALS):
        return 0
    if i < end - 1 and i > start and doc[i].lemma_ == "have" and doc[i].pos_ == "VERB":
        return i + 1 - start if doc[i + 1].pos_ in {"DET", "ADJ", "NUM", "NOUN"} else i - start
    while i < end - 1 and normalised_text(doc[i].text) in lex.MODALS and _is_light(doc, i):
        following = normalised_text(doc[i + 1].text)
        if following in NEGATORS and following not in {"never", "no"}:
            if normalised_text(doc[i].text) in lex.COPULAS and following != "n't":
                i += 1
            break
        i += 1
    return i - start


def _is_light(doc: Doc, i: int) -> bool:
    token = doc[i]
    return (
        token.pos_ == "AUX"
        or normalised_text(token.text) in lex.COPULAS
        or (
            normalised_text(token.text) in {"have", "has", "had", "'ve"}
            and i + 1 < len(doc)
            and doc[i + 1].pos_ in VERBS
        )
    )


def _trimmed_end(doc: Doc, start: int, end: int) -> int:
    moved = True
    while moved and end > start:
        moved = False
        spoken = [normalised_text(doc[i].text) for i in range(start, end)]
        for length in range(min(6, len(spoken) - 1), 0, -1):
            if " ".join(spoken[-length:]) in lex.TAIL_PHRASES:
                end -= length
                moved = True
                break
        if moved:
            continue
        word = spoken[-1]
        last = doc[end - 1]
        if not any(ch.isalnum() for ch in word):
            end -= 1
            moved = True
        elif word in lex.TAIL_FILLERS and end - start > 1:
            belongs = last.dep_ in {"prt", "prep", "advmod", "pcomp"} and last.head.i < last.i
            if not (word in lex.TAIL_KEPT or last.dep_ == "prt" or (last.pos_ == "ADP" and belongs)):
                end -= 1
                moved = True
    return end


def shortened(doc: Doc, start: int, end: int, most: int = MAX_LABEL_WORDS) -> tuple[int, int]:
    """At most `most` words, cut where a phrase ends."""
    counted = 0
    cuts: list[tuple[int, int]] = []
    for i in range(start, end):
        token = doc[i]
        if _is_word(token) and normalised_text(token.text) not in lex.INNER_FILLERS:
            if counted >= 3 and _opens_phrase(token):
                cuts.append((counted, i))
            counted += 1
    if counted <= most:
        return start, end
    fitting = [i for length, i in cuts if SOFT_LABEL_WORDS - 3 <= length <= most]
    if fitting:
        cut = fitting[-1]
    else:
        cut = start
        counted = 0
        while cut < end and counted < most:
            counted += _is_word(doc[cut])
            cut += 1
    return start, _trimmed_end(doc, start, cut)


def _is_word(token: Token) -> bool:
    glued = token.i > 0 and not token.nbor(-1).whitespace_ and token.nbor(-1).is_alpha
    return any(ch.isalnum() for ch in token.text) and not glued


def _opens_phrase(token: Token) -> bool:
    """Whether a phrase that can be left out begins here."""
    return (
        (token.pos_ in {"ADP", "SCONJ", "CCONJ"} and token.dep_ != "prt")
        or token.dep_ in {"mark", "relcl"}
        or (token.tag_ == "WP" or (token.dep_ == "advmod" and token.tag_ == "WRB"))
    )


def label_of(tokens: Sequence[Token]) -> str:
    """The tokens as a label: without fillers, white space collapsed, no capital that only opens a sentence."""
    pieces: list[str] = []
    space = False
    skip_until = -1
    for position, token in enumerate(tokens):
        word = normalised_text(token.text)
        pair = f"{word} {normalised_text(tokens[position + 1].text)}" if position + 1 < len(tokens) else ""
        if position <= skip_until:
            continue
        if pair in HEDGES and position + 2 < len(tokens) and not _is_meant(tokens, position):
            skip_until = position + 1
            continue
        if word in lex.INNER_FILLERS or (word == "like" and token.pos_ == "INTJ" and pair.split()[-1:] != ["he"]):
            continue
        if not any(ch.isalnum() for ch in word) and word not in {"-", "&", "%", "€", "$", "£", "+"}:
            space = True
            continue
        if pieces and space:
            pieces.append(" ")
        text = token.text.translate(lex.APOSTROPHES)
        pieces.append(text.lower() if not pieces and _lowers(token) else text)
        space = bool(token.whitespace_)
    said = " ".join("".join(pieces).split()).strip(" -.,;:!?'\"").split()
    return " ".join(word for i, word in enumerate(said) if i == 0 or word.lower() != said[i - 1].lower())


def _is_meant(tokens: Sequence[Token], position: int) -> bool:
    """Whether a hedge at this place is none: “a bit of a kick”, “strong enough that you know you've had it”."""
    first, after = tokens[position].lower_, tokens[position + 2].lower_
    if first in {"a", "kind", "sort"}:
        return after == "of"
    return position > 0 and tokens[position - 1].lower_ in BEFORE_CLAUSES


def _lowers(token: Token) -> bool:
    """Whether a capital only marks the beginning of a sentence."""
    return token.text[:1].isupper() and token.text[1:].islower() and token.pos_ != "PROPN"

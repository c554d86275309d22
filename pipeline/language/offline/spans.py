"""From clauses to candidates: what in an answer could be a concept, and how to call it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spacy.tokens import Doc, Token

from pipeline.language.clauses import VERBS, Clause
from pipeline.language.connectors import plain, words
from pipeline.language.offline import lexicon as lex
from pipeline.language.srl import NEGATIONS, content_lemmas

MAX_WORD_CHARS = 40
"""No word of any label is longer."""
MAX_LABEL_WORDS = 9
SOFT_LABEL_WORDS = 6
"""A label is cut at a phrase boundary behind this many words."""

NEGATORS = words("not n't nt never no cannot without t")
KEPT_AUXILIARIES = words("ca wo do does did is are was were would could should has have had can will ain")
URL = re.compile(r"https?://\S+|www\.\S+")
NO_CONTENT = re.compile(lex.NO_CONTENT, re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A stretch of an answer that may be a concept.

    `start` and `end` are tokens; `quote` is verbatim from the answer; `words` is the whole clause, plain and lower
    case, as cues are looked up in it.
    """

    clause: int
    start: int
    end: int
    label: str
    quote: str
    words: str
    lemmas: tuple[str, ...]
    first_person: bool
    has_verb: bool
    negated: bool
    fronted: bool
    shape: frozenset[str] = frozenset()


def shape_of(tokens: Sequence[Token]) -> frozenset[str]:
    """How a phrase is built, apart from what it says: kind of its beginning, tense, negation, numbers, persons."""
    if not tokens:
        return frozenset()
    found = set()
    head = next((token for token in tokens if token.pos_ not in {"ADV", "PART", "PUNCT", "INTJ"}), tokens[0])
    verbs = [token for token in tokens if token.pos_ in VERBS]
    if not verbs:
        found.add(
            "adjective" if head.pos_ == "ADJ" and not any(t.pos_ in {"NOUN", "PROPN"} for t in tokens) else "nominal"
        )
    elif head.pos_ in VERBS:
        found.add({"VBG": "gerund", "VBD": "past", "VBN": "participle"}.get(head.tag_, "verb"))
    else:
        found.add("clause")
    if head.pos_ == "ADP":
        found.add("setting")
    if any(token.tag_ == "VBD" for token in verbs):
        found.add("was")
    if any(plain(token.text) in NEGATIONS for token in tokens):
        found.add("negated")
    if any(token.like_num for token in tokens):
        found.add("number")
    if any(token.dep_ in {"nsubj", "nsubjpass"} and token.pos_ in {"NOUN", "PROPN"} for token in tokens):
        found.add("actor")
    return frozenset(found)


def candidates(doc: Doc, text: str, clauses: Sequence[Clause]) -> list[Candidate]:
    """Candidates of an answer in order; clauses without content give none.

    Args:
        doc: the parsed answer.
        text: the answer itself; quotes are cut from it.
        clauses: clauses of `doc`.
    """
    found: list[Candidate] = []
    for index, clause in enumerate(clauses):
        for part in _parts(doc, clause):
            candidate = _candidate(doc, text, part, index)
            if candidate is not None:
                found.append(candidate)
    return _merged(doc, text, clauses, found)


def is_foreign(text: str) -> bool:
    """Whether the answer is in a language that this provider can't read."""
    letters = [ch for ch in text if ch.isalpha()]
    if letters and sum(ch < "\u0250" for ch in letters) * 2 < len(letters):
        return True
    spoken = re.findall(r"[^\W\d_]+", text.lower())
    known = [word for word in spoken if word in lex.FOREIGN]
    return len(set(known)) >= 2 and len(known) * 6 >= len(spoken)


def is_without_content(text: str) -> bool:
    """Whether the whole answer is a bare "not really", "I don't know", "it's okay" or the like."""
    said = " ".join(re.sub(r"[^\w' ]+", " ", plain(text)).split())
    said = re.sub(
        r"^((well|um|uh|hm+|oh|honestly|to be honest|no|yeah|not really|nope|i guess|i think)\s+)+(?=\S)", "", said
    )
    return not said or bool(NO_CONTENT.match(said))


def _parts(doc: Doc, clause: Clause) -> list[Clause]:
    """The clause, or what it is set in and the clause proper: "with the pump | it stays clean"."""
    for i in range(clause.start + 1, clause.end - 1):
        token = doc[i]
        if token.pos_ in VERBS and token.dep_ not in {"pcomp", "amod"}:
            break
        word = plain(token.text)
        if word in {"i", "it", "we", "they", "he", "she", "you"} and doc[i + 1].pos_ in VERBS | {"ADV"}:
            before = replace(clause, end=i)
            opener = doc[clause.start]
            if opener.pos_ == "ADP" and not any(doc[j].ent_type_ in {"DATE", "TIME"} for j in range(clause.start, i)):
                return [before, replace(clause, start=i)]
            if (
                opener.pos_ in {"ADP", "ADV", "ADJ", "DET", "SCONJ", "NOUN"}
                and (opener.dep_ != "det" or any(doc[j].ent_type_ in {"DATE", "TIME"} for j in range(clause.start, i)))
                and not any(
                    doc[j].tag_ in {"WDT", "WP"} or plain(doc[j].text) in {"whatever", "what"}
                    for j in range(clause.start, i)
                )
            ):
                content = any(
                    doc[j].pos_ in {"NOUN", "PROPN"} and doc[j].ent_type_ not in {"DATE", "TIME"}
                    for j in range(clause.start, i)
                )
                if not content:
                    return [replace(clause, start=i)]
            break
    return [clause]


def _merged(doc: Doc, text: str, clauses: Sequence[Clause], found: list[Candidate]) -> list[Candidate]:
    """A topic and what is said of it as one ("my son, he does the uploading"); repeats within an answer once."""
    merged: list[Candidate] = []
    for candidate in found:
        last = merged[-1] if merged else None
        if last is not None and _is_topic_of(doc, clauses, last, candidate):
            label = f"{last.label} {candidate.label}"
            if len(label.split()) <= MAX_LABEL_WORDS:
                merged[-1] = replace(
                    candidate,
                    start=last.start,
                    label=label,
                    quote=_quote(doc, text, last.start, candidate.end),
                    lemmas=last.lemmas + candidate.lemmas,
                )
                continue
        if (
            last is not None
            and last.lemmas
            and set(last.lemmas) < set(candidate.lemmas)
            and last.negated == candidate.negated
            and (not last.has_verb and not candidate.has_verb)
        ):
            merged[-1] = candidate
            continue
        earlier = next((m for m in merged if _repeats(m, candidate)), None)
        merged.append(replace(candidate, label=earlier.label) if earlier is not None else candidate)
    return merged


def _repeats(earlier: Candidate, later: Candidate) -> bool:
    """Whether the later phrase says nothing that the earlier one did not: "feel safer in town … feeling safe"."""
    own, before = set(later.lemmas), set(earlier.lemmas)
    return bool(own) and own <= before and len(own) * 2 >= len(before) and earlier.negated == later.negated


def _is_topic_of(doc: Doc, clauses: Sequence[Clause], topic: Candidate, rest: Candidate) -> bool:
    before, after = clauses[topic.clause], clauses[rest.clause]
    return (
        rest.clause == topic.clause + 1
        and after.break_before == "comma"
        and after.connector is None
        and not topic.has_verb
        and topic.end - topic.start <= 3
        and doc[topic.end - 1].pos_ in {"NOUN", "PROPN"}
        and (topic.clause == 0 or clauses[topic.clause - 1].sentence != before.sentence)
        and plain(doc[after.start].text) in {"he", "she", "it", "they"}
        and rest.has_verb
    )


def _candidate(doc: Doc, text: str, clause: Clause, index: int) -> Candidate | None:
    spoken = [plain(doc[i].text) for i in range(clause.start, clause.end)]
    if _is_aside(spoken) or _denied_from(doc, clause) is not None:
        return None
    start, end = _trimmed(doc, clause)
    if start >= end:
        return None
    start, end = _shortened(doc, start, end)
    tokens = [doc[i] for i in range(start, end)]
    lemmas = content_lemmas(tokens)
    if not _is_contentful(tokens, lemmas):
        return None
    label = label_of(tokens)
    if not any(ch.isalpha() for ch in label) or URL.search(label) or max(map(len, label.split())) > MAX_WORD_CHARS:
        return None
    quote = _quote(doc, text, start, end)
    if not quote:
        return None
    whole = [doc[i] for i in range(clause.start, clause.end)]
    return Candidate(
        clause=index,
        start=start,
        end=end,
        label=label,
        quote=quote,
        words=" ".join(spoken),
        lemmas=lemmas,
        first_person=any(word in {"i", "im", "me", "myself", "we", "us", "my"} for word in spoken),
        has_verb=any(token.pos_ in VERBS for token in whole),
        negated=any(word in NEGATIONS for word in (plain(token.text) for token in tokens)),
        fronted=clause.fronted,
        shape=shape_of(tokens),
    )


def _is_contentful(tokens: Sequence[Token], lemmas: Sequence[str]) -> bool:
    """Whether something is said: a word of substance, or a plain verb denied ("never have to think about it")."""
    if any(lemma not in lex.GENERIC_LEMMAS and len(lemma) > 1 and not _is_number(lemma) for lemma in lemmas):
        return True
    return lemmas[:1] == ("not",) and len(tokens) >= 3 and any(token.pos_ == "VERB" for token in tokens)


def _is_number(lemma: str) -> bool:
    return lemma.isdigit() or lemma in lex.NUMBERS


def _is_aside(spoken: Sequence[str]) -> bool:
    """Fillers only, or a remark that says nothing about the topic."""
    rest = list(spoken)
    while rest and rest[0] in lex.FILLERS and " ".join(rest) not in lex.ASIDES:
        rest = rest[1:]
    said = " ".join(word for word in rest if any(ch.isalnum() for ch in word))
    whole = " ".join(word for word in spoken if any(ch.isalnum() for ch in word))
    if not said or said in lex.ASIDES or whole in lex.ASIDES or whole in lex.OPENERS:
        return True
    return any(said == phrase or said.startswith(phrase + " ") for phrase in lex.ASIDE_BEGINNINGS)


DENIALS = re.compile(
    r"^(?:but |because )?(?:it|that|this) (?:(?:'s|is|was|s) (?:not|n't)|(?:is|was) n't|ai n't|wo n't be) "
    r"(?:really |just |so much |even )?(that|because|about|like|the|a|an|my|our|its|his|her)\b"
)
"""Beginnings of a denial; the group is its first word of substance."""


def denied_spans(doc: Doc, clauses: Sequence[Clause]) -> list[tuple[int, int, int]]:
    """(clause, first token, end) of what clauses deny: "not the brand as such", "it's not that I …"."""
    found = []
    for index, clause in enumerate(clauses):
        start = _denied_from(doc, clause)
        if start is not None and start < clause.end:
            found.append((index, start, clause.end))
    return found


def _denied_from(doc: Doc, clause: Clause) -> int | None:
    """The token at which the denied words of a clause begin; None if it denies nothing."""
    spoken = [plain(doc[i].text) for i in range(clause.start, clause.end)]
    match = DENIALS.match(" ".join(spoken))
    if match:
        return clause.start + len(" ".join(spoken)[: match.start(1)].split())
    if len(spoken) > 1 and spoken[0] == "not":
        following = doc[clause.start + 1]
        no_verb = all(doc[i].pos_ not in VERBS for i in range(clause.start, clause.end))
        if no_verb and following.pos_ in {"DET", "PRON", "SCONJ", "ADV"} and following.text.lower() != "some":
            return clause.start + 1
    return None


def _trimmed(doc: Doc, clause: Clause) -> tuple[int, int]:
    """First and last token of the idea in a clause, fillers and empty subjects left out."""
    start, end = clause.start, clause.end
    moved = True
    while moved and start < end:
        moved = False
        length = _phrase_at(doc, start, end, lex.OPENERS, 6)
        if length and start + length < end:
            start += length
            moved = True
            continue
        word = plain(doc[start].text)
        if not any(ch.isalnum() for ch in word) or (word in lex.FILLERS and not _keeps(doc, start, end)):
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
        if word == "to" and start + 1 < end and doc[start + 1].tag_ == "VB":
            start += 1
            moved = True
            continue
        if word in lex.ARTICLES and start + 1 < end and doc[start].pos_ in {"DET", "PRON"}:
            start += 1
            moved = True
    return start, _trimmed_end(doc, start, _predicate_end(doc, start, end))


def _predicate_end(doc: Doc, start: int, end: int) -> int:
    """Where "… is what it's all about", "… is the only reason" begins: a comment on the idea, not the idea."""
    for i in range(start + 1, end - 1):
        token = doc[i]
        if plain(token.text) in {"is", "'s", "was", "are", "were"} and plain(doc[i + 1].text) != "n't":
            rest = content_lemmas([doc[j] for j in range(i + 1, end)])
            noun = any(doc[j].pos_ in {"NOUN", "PROPN"} for j in range(start, i))
            ahead = {plain(doc[j].text) for j in range(i + 1, min(end, i + 5))}
            if ahead & lex.COMMENT_NOUNS and doc[start].tag_ in {"VBG", "VB", "NN", "NNS"}:
                return i
            if noun and rest and all(lemma in lex.PRAISE for lemma in rest):
                return i
            if doc[start].tag_ in {"VBG", "VB"} and all(lemma in lex.COMMENT_LEMMAS for lemma in rest):
                return i
    return end


def _goes_somewhere(doc: Doc, after: int) -> bool:
    """Whether the "to" before this token leads to a place and not to a verb: "get to work"."""
    return plain(doc[after - 1].text) == "to" and doc[after].pos_ not in VERBS | {"ADV", "PART"}


def _keeps(doc: Doc, start: int, end: int) -> bool:
    """Whether a filler word is part of the idea here: "no lumps", "more confident", "like to cook"."""
    word = plain(doc[start].text)
    if word == "no":
        return start + 1 < end and doc[start + 1].pos_ in {"NOUN", "ADJ", "ADV", "VERB"}
    if word in {"like", "see", "look", "right"}:
        return doc[start].pos_ == "VERB" and start + 1 < end
    if word == "only":
        return start + 1 < end and doc[start + 1].pos_ in {"NUM", "NOUN", "DET"} and doc[start].dep_ != "intj"
    return False


def _phrase_at(doc: Doc, start: int, end: int, listed: frozenset[str], longest: int) -> int:
    """Length of the longest listed phrase that begins at this token, 0 if none does."""
    spoken = [plain(doc[i].text) for i in range(start, min(end, start + longest))]
    for length in range(len(spoken), 0, -1):
        if " ".join(spoken[:length]) in listed:
            return length
    return 0


def _subject_step(doc: Doc, start: int, end: int) -> int:
    """Tokens of an empty subject with its auxiliary to be left out: "it is", "I can", "there were"."""
    word = plain(doc[start].text)
    i = start
    if word in lex.PRONOUNS:
        if i + 1 >= end or doc[i + 1].pos_ not in VERBS | {"ADV", "PART", "INTJ"}:
            return 0
        i += 1
        while i < end - 1 and doc[i].pos_ in {"ADV", "INTJ"} and plain(doc[i].text) not in NEGATORS:
            i += 1
    elif not (doc[start].pos_ == "AUX" and word in lex.MODALS):
        return 0
    if i < end - 1 and i > start and doc[i].lemma_ == "have" and doc[i].pos_ == "VERB":
        return i + 1 - start if doc[i + 1].pos_ in {"DET", "ADJ", "NUM", "NOUN"} else i - start
    while i < end - 1 and plain(doc[i].text) in lex.MODALS and _is_light(doc, i):
        following = plain(doc[i + 1].text)
        if following in NEGATORS and following not in {"never", "no"}:
            if plain(doc[i].text) in lex.COPULAS:
                i += 1
            break
        i += 1
    return i - start


def _is_light(doc: Doc, i: int) -> bool:
    token = doc[i]
    return (
        token.pos_ == "AUX"
        or plain(token.text) in lex.COPULAS
        or (plain(token.text) in {"have", "has", "had", "'ve"} and i + 1 < len(doc) and doc[i + 1].pos_ in VERBS)
    )


def _trimmed_end(doc: Doc, start: int, end: int) -> int:
    moved = True
    while moved and end > start:
        moved = False
        spoken = [plain(doc[i].text) for i in range(start, end)]
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


def _shortened(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """At most `MAX_LABEL_WORDS` words, cut where a phrase ends."""
    counted = 0
    cuts: list[tuple[int, int]] = []
    for i in range(start, end):
        token = doc[i]
        if _is_word(token) and plain(token.text) not in lex.INNER_FILLERS:
            if counted >= 3 and _opens_phrase(token):
                cuts.append((counted, i))
            counted += 1
    if counted <= MAX_LABEL_WORDS:
        return start, end
    fitting = [i for length, i in cuts if SOFT_LABEL_WORDS - 3 <= length <= MAX_LABEL_WORDS]
    if fitting:
        cut = fitting[-1]
    else:
        cut = start
        counted = 0
        while cut < end and counted < MAX_LABEL_WORDS:
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
        word = plain(token.text)
        pair = f"{word} {plain(tokens[position + 1].text)}" if position + 1 < len(tokens) else ""
        if position <= skip_until:
            continue
        if pair in {"kind of", "sort of", "you know", "a bit", "i mean"} and position + 2 < len(tokens):
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


def _lowers(token: Token) -> bool:
    """Whether a capital only marks the beginning of a sentence."""
    return token.text[:1].isupper() and token.text[1:].islower() and token.ent_type_ == "" and token.pos_ != "PROPN"


def _quote(doc: Doc, text: str, start: int, end: int) -> str:
    """The verbatim stretch of the answer, from the first to the last token."""
    first, last = doc[start], doc[end - 1]
    return text[first.idx : last.idx + len(last.text)].strip()

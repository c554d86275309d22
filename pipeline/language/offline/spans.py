"""Finds candidates in clauses: parts of an answer that may be concepts, with their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spacy.tokens import Doc, Token

from pipeline.language.clauses import VERBS, Clause
from pipeline.language.connectors import normalised_text, words
from pipeline.language.offline import lexicon as lex
from pipeline.language.offline.ends import whole_phrase
from pipeline.language.offline.trimming import MAX_LABEL_WORDS, SAID_LABEL_WORDS, label_of, shortened, trimmed
from pipeline.language.srl import NEGATIONS, content_lemmas

MAX_WORD_CHARS = 40
"""A candidate with a longer word, in characters, is left out."""

URL = re.compile(r"https?://\S+|www\.\S+")
NO_CONTENT = re.compile(lex.NO_CONTENT, re.IGNORECASE)
STANCE_LEMMAS = words(
    "care matter mind like love hate enjoy prefer want need appreciate suppose guess mean think feel know say"
)
"""Verbs that say only how somebody stands to what they are said of: one of them alone is no concept."""
SAYINGS_LEMMAS = words("nerve matter")
BEING, WHICH = words("is was are were 's"), words("what which why how where who")
"""What alone is left of a saying: "gets on my nerves", "no matter"."""


@dataclass(frozen=True)
class Candidate:
    """A part of an answer that may be a concept.

    `start` and `end` (exclusive) are token indices; `quote` is verbatim from the answer; `words` is the normalised text
    of the whole clause, in which cues are looked up.
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
    """Grammatical features of a phrase: kind of its beginning, tense, negation, numbers, persons."""
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
    if any(normalised_text(token.text) in NEGATIONS for token in tokens):
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
    aside = _asides(doc, clauses)
    for index, clause in enumerate(clauses):
        if clause.sentence in aside:
            continue
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
    said = " ".join(re.sub(r"[^\w' ]+", " ", normalised_text(text)).split())
    said = re.sub(
        r"^((well|um|uh|hm+|oh|honestly|to be honest|no|yeah|not really|nope|i guess|i think)\s+)+(?=\S)", "", said
    )
    return not said or bool(NO_CONTENT.match(said))


ASKED_BACK = re.compile(r"^(?:so |and |anyway )?(?:did|do|have|are|can|could|would|will|were) you\b")
"""Beginnings of a question to the interviewer."""


def _asides(doc: Doc, clauses: Sequence[Clause]) -> set[int]:
    """Sentences that say themselves that they are off topic, or that ask the interviewer something."""
    aside = set()
    for sentence in {clause.sentence for clause in clauses}:
        own = [clause for clause in clauses if clause.sentence == sentence]
        first, last = own[0].start, own[-1].end
        said = " ".join(
            normalised_text(token.text) for token in doc[first:last] if any(ch.isalnum() for ch in token.text)
        )
        asked = last < len(doc) and doc[last].text.startswith("?") and ASKED_BACK.match(said)
        if asked or any(f" {phrase} " in f" {said} " for phrase in lex.OFF_TOPIC):
            aside.add(sentence)
    return aside


def _parts(doc: Doc, clause: Clause) -> list[Clause]:
    """The clause, or its setting and its main part as two clauses: "with the pump | it stays clean"."""
    main = _main_subject(doc, clause)
    if main is None:
        return [clause]
    setting = doc[clause.start : main]
    proper = replace(clause, start=main)
    dated = any(
        normalised_text(token.text) in lex.TIME_WORDS or normalised_text(token.lemma_) in lex.TIME_WORDS
        for token in setting
    )
    if any(token.tag_ in {"WDT", "WP"} or normalised_text(token.text) in {"whatever", "what"} for token in setting):
        return [clause]
    nouns = [
        token
        for token in setting
        if token.pos_ in {"NOUN", "PROPN"} and normalised_text(token.text) not in {"one", "ones"}
    ]
    if setting[0].pos_ == "ADP" and nouns and not dated:
        return [replace(clause, end=main), proper]
    if dated or not nouns:
        return [proper]
    return [clause]


def _main_subject(doc: Doc, clause: Clause) -> int | None:
    """The token at which "… I did" begins behind a setting without a verb; None where there is no setting."""
    for i in range(clause.start + 1, clause.end - 1):
        token = doc[i]
        if token.pos_ in VERBS and token.dep_ not in {"pcomp", "amod"}:
            return None
        if normalised_text(token.text) in {"i", "it", "we", "they", "he", "she", "you"}:
            return i if doc[i + 1].pos_ in VERBS | {"ADV"} else None
    return None


def _merged(doc: Doc, text: str, clauses: Sequence[Clause], found: list[Candidate]) -> list[Candidate]:
    """Candidates with a topic and its comment merged ("my son, he does the uploading"), and without repetitions."""
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
        and normalised_text(doc[after.start].text)
        in ({"they"} if doc[topic.end - 1].tag_ in {"NNS", "NNPS"} else {"he", "she", "it"})
        and rest.has_verb
    )


def _candidate(doc: Doc, text: str, clause: Clause, index: int) -> Candidate | None:
    spoken = [normalised_text(doc[i].text) for i in range(clause.start, clause.end)]
    if _is_aside(spoken) or _denied_from(doc, clause) is not None:
        return None
    start, end = trimmed(doc, clause)
    if start >= end:
        return None
    start, end = shortened(doc, start, end)
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
    return _described(doc, clause, index, tokens, label, quote)


def candidate_at(doc: Doc, text: str, clauses: Sequence[Clause], start: int, end: int) -> Candidate | None:
    """The candidate that the characters `start` to `end` of the answer are; None where they say nothing."""
    span = doc.char_span(start, end, alignment_mode="expand")
    if span is None or not len(span):
        return None
    index = max(
        range(len(clauses)),
        key=lambda i: (min(clauses[i].end, span.end) - max(clauses[i].start, span.start), -i),
        default=-1,
    )
    first, last = _without_question(doc, *whole_phrase(doc, span.start, span.end))
    first = _begun(doc, first, last)
    tokens = [doc[i] for i in range(*shortened(doc, first, last, SAID_LABEL_WORDS))]
    label = label_of(tokens) or label_of(list(span))
    short = [word[:MAX_WORD_CHARS] for word in label.split()]
    if index < 0 or not any(ch.isalpha() for ch in label) or URL.search(label):
        return None
    if _says_nothing(tokens):
        return None
    quote = text[doc[first].idx : doc[last - 1].idx + len(doc[last - 1])].strip()
    return _described(doc, clauses[index], index, tokens, " ".join(short), quote or text[start:end].strip())


def _begun(doc: Doc, first: int, last: int) -> int:
    """Where a phrase begins that seems to begin with “of”.

    Behind the hedge in “I sort of put the pot on”; with “last week” in “last week of the month gets tight”.
    """
    if first == 0 or doc[first].lower_ != "of":
        return first
    before = doc[first - 1]
    if before.lower_ in {"sort", "kind"}:
        return min(first + 1, last - 1)
    return before.left_edge.i if before.pos_ in {"NOUN", "PROPN"} and doc[first].head == before else first


def _without_question(doc: Doc, first: int, last: int) -> tuple[int, int]:
    """A phrase without how a sentence about it goes on: “noise cancelling” in “noise cancelling is what I like”."""
    whole = last + (last < len(doc) and doc[last - 1].lower_ in BEING)
    ends = [doc[i].lower_ for i in range(max(first, whole - 2), whole)]
    if whole - first > 2 and ends[0] in BEING and ends[1] in WHICH:
        return first, whole - 2
    return first, last


def _says_nothing(tokens: Sequence[Token]) -> bool:
    """Whether all that is said is how somebody stands to something, a number, or a piece of a saying."""
    if all(token.like_num or not token.is_alpha for token in tokens):
        return True
    lemmas = content_lemmas(tokens)
    if len(lemmas) != 1:
        return False
    noun = any(token.pos_ in {"NOUN", "PROPN"} and token.lemma_.lower() == lemmas[0] for token in tokens)
    return lemmas[0] in SAYINGS_LEMMAS or (lemmas[0] in STANCE_LEMMAS and not noun)


def _described(doc: Doc, clause: Clause, index: int, tokens: Sequence[Token], label: str, quote: str) -> Candidate:
    whole = [doc[i] for i in range(clause.start, clause.end)]
    spoken = [normalised_text(token.text) for token in whole]
    return Candidate(
        clause=index,
        start=tokens[0].i,
        end=tokens[-1].i + 1,
        label=label,
        quote=quote,
        words=" ".join(spoken),
        lemmas=content_lemmas(tokens),
        first_person=any(word in {"i", "im", "me", "myself", "we", "us", "my"} for word in spoken),
        has_verb=any(token.pos_ in VERBS for token in whole),
        negated=any(word in NEGATIONS for word in (normalised_text(token.text) for token in tokens)),
        fronted=clause.fronted,
        shape=shape_of(tokens),
    )


def _is_contentful(tokens: Sequence[Token], lemmas: Sequence[str]) -> bool:
    """Whether a phrase has content: a content word, or a negated verb ("never have to think about it")."""
    if any(lemma not in lex.GENERIC_LEMMAS and len(lemma) > 1 and not _is_number(lemma) for lemma in lemmas):
        return True
    return lemmas[:1] == ("not",) and len(tokens) >= 3 and any(token.pos_ == "VERB" for token in tokens)


def _is_number(lemma: str) -> bool:
    return lemma.isdigit() or lemma in lex.NUMBERS


def _is_aside(spoken: Sequence[str]) -> bool:
    """Whether a clause consists of fillers only, or is a remark that is not about the topic."""
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
"""Beginnings of a denial; the group is the first word of what is denied."""


def denied_spans(doc: Doc, clauses: Sequence[Clause]) -> list[tuple[int, int, int]]:
    """(clause, first token, end) of what clauses deny: "not the smell as such", "it's not that I …"."""
    found = []
    for index, clause in enumerate(clauses):
        start = _denied_from(doc, clause)
        if start is not None and start < clause.end:
            found.append((index, start, clause.end))
    return found


def _denied_from(doc: Doc, clause: Clause) -> int | None:
    """The token at which the denied words of a clause begin; None if it denies nothing."""
    spoken = [normalised_text(doc[i].text) for i in range(clause.start, clause.end)]
    match = DENIALS.match(" ".join(spoken))
    if match:
        return clause.start + len(" ".join(spoken)[: match.start(1)].split())
    if len(spoken) > 1 and spoken[0] == "not":
        following = doc[clause.start + 1]
        no_verb = all(doc[i].pos_ not in VERBS for i in range(clause.start, clause.end))
        if no_verb and following.pos_ in {"DET", "PRON", "SCONJ", "ADV"} and following.text.lower() != "some":
            return clause.start + 1
    return None


def _quote(doc: Doc, text: str, start: int, end: int) -> str:
    """The verbatim stretch of the answer, from the first to the last token."""
    first, last = doc[start], doc[end - 1]
    return text[first.idx : last.idx + len(last.text)].strip()

"""Known concepts and elements: which of them an answer mentions again, takes back, or is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from pipeline.elements import key_of, named
from pipeline.graph.dedup import SynonymTable
from pipeline.graph.polarity import NEGATIONS, opposed
from pipeline.graph.surface import label_key
from pipeline.language.clauses import Clause
from pipeline.language.connectors import normalised_text
from pipeline.language.offline import lexicon as lex
from pipeline.language.offline.spans import Candidate, denied_spans
from pipeline.ports import ExtractionRequest, Vectors

SAME_JACCARD = 0.75
"""Lemma overlap from which a phrase mentions a known concept again."""
SAME_COSINE = 0.80
"""Cosine from which a phrase mentions a known concept again."""
SAID_COSINE = 0.55
"""Cosine from which a phrase that is taken back refers to the most similar known concept."""
ELEMENT_COSINE = 0.70
"""Cosine from which a phrase is about an element of the concept."""

Lemmas = Callable[[Sequence[str]], list[tuple[str, ...]]]


@dataclass(frozen=True)
class Known:
    """A concept of the session, or the focus of the question."""

    label: str
    node_type: str
    lemmas: tuple[str, ...]
    vector: Vectors
    key: str
    """Of its label, see `label_key`."""


@dataclass(frozen=True)
class Named:
    """One name of an element."""

    element_id: str
    lemmas: tuple[str, ...]
    vector: Vectors
    content: bool
    """Whether all its words carry meaning, so that its lemmas say as much as it does: not so "worth it"."""


class Memory:
    """The concepts and elements of one request, with the vectors of one answer."""

    def __init__(
        self, request: ExtractionRequest, lemmas: Lemmas, vectors: dict[str, Vectors], synonyms: SynonymTable
    ) -> None:
        """Args: vectors: one per text of `texts_of` and per candidate's label; synonyms: of the request."""
        self._vectors = vectors
        pairs = list(request.existing)
        if request.focus_label and request.focus_type:
            focus = (request.focus_label, request.focus_type)
            if all(label_key(label) != label_key(focus[0]) for label, _ in pairs):
                pairs.append(focus)
        listed = [(element, name) for element, names in request.elements for name in names]
        words = lemmas([*(label for label, _ in pairs), *(name for _, name in listed)])
        self.known = [
            Known(label, node_type, words[i], vectors[label], label_key(label))
            for i, (label, node_type) in enumerate(pairs)
        ]
        offset = len(pairs)
        self._named = [
            Named(element, words[offset + i], vectors[name], len(words[offset + i]) >= len(key_of(name)))
            for i, (element, name) in enumerate(listed)
        ]
        self._names = request.elements
        self._synonyms = synonyms
        self.focus = next(
            (k for k in self.known if request.focus_label and k.key == label_key(request.focus_label)),
            None,
        )

    def again(self, candidate: Candidate) -> Known | None:
        """The known concept that this phrase mentions again, if one is close enough and not its opposite."""
        best: tuple[float, Known] | None = None
        own = self._vectors[candidate.label]
        words = self._synonyms.canonical(candidate.lemmas)
        key = label_key(candidate.label)
        for known in self.known:
            if known.key == key:
                return known
            cosine = float(own @ known.vector)
            jaccard = _jaccard(words, self._synonyms.canonical_of(known.lemmas))
            score = max(jaccard if jaccard >= SAME_JACCARD else 0.0, cosine if cosine >= SAME_COSINE else 0.0)
            if score > (best[0] if best else 0.0) and not opposed(candidate.lemmas, known.lemmas):
                best = (score, known)
        return best[1] if best else None

    def elements(self, candidate: Candidate) -> tuple[str, ...]:
        """Elements that the phrase names or is about, in the concept's order.

        Of names that contain each other the longest one that was said counts alone: who speaks of the "subscription
        price" does not mean the element "price", and who speaks of the "price" not the "subscription price".
        """
        own = self._synonyms.canonical(candidate.lemmas)
        vector = self._vectors[candidate.label]
        names = [(one.element_id, self._synonyms.canonical(one.lemmas), one.vector) for one in self._named]
        verbatim = set(named(candidate.label, self._names))
        said = [
            (one.element_id, name)
            for one, (_, name, _) in zip(self._named, names, strict=True)
            if name and name <= own and (one.content or one.element_id in verbatim)
        ]
        said = [(element, name) for element, name in said if not any(name < other for _, other in said)]
        literal = {name for _, name in said}
        close = [
            (element, name)
            for element, name, of in names
            if not any(name <= other or other <= name for other in literal) and float(vector @ of) >= ELEMENT_COSINE
        ]
        found = {element for element, _ in (*said, *close)}
        return tuple(dict.fromkeys(element for element, _, _ in names if element in found))

    def contradicted(self, candidate: Candidate) -> Known | None:
        """A known concept that this phrase states the exact opposite of: the same words but for a negation."""
        own = {lemma for lemma in candidate.lemmas if lemma not in NEGATIONS}
        for known in self.known:
            other = {lemma for lemma in known.lemmas if lemma not in NEGATIONS}
            flipped = ("not" in candidate.lemmas) != ("not" in known.lemmas)
            if flipped and own and own == other:
                return known
        return None

    def closest(self, lemmas: tuple[str, ...], vector: Vectors) -> Known | None:
        """The known concept that a phrase which is taken back refers to: by shared lemmas, else by cosine."""
        wanted = self._synonyms.canonical(tuple(lemma for lemma in lemmas if lemma not in NEGATIONS))
        best: tuple[float, Known] | None = None
        for known in self.known:
            other = self._synonyms.canonical(tuple(lemma for lemma in known.lemmas if lemma not in NEGATIONS))
            named = bool(wanted) and (wanted <= other or other <= wanted) and bool(other)
            score = 1.0 if named else float(vector @ known.vector)
            if score >= SAID_COSINE and (best is None or score > best[0]):
                best = (score, known)
        return best[1] if best else None


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard index, in [0, 1]; 0 when both are empty."""
    return len(left & right) / len(left | right) if left or right else 0.0


def texts_of(request: ExtractionRequest) -> list[str]:
    """Every text of a request that needs a vector, the answer's own phrases aside."""
    focus = [request.focus_label] if request.focus_label else []
    return [
        *(label for label, _ in request.existing),
        *focus,
        *(name for _, names in request.elements for name in names),
    ]


def takes_back(doc: Doc) -> int | None:
    """Token index at which the respondent begins to correct something said before; None if they don't."""
    return _first_of(lex.REVISIONS, doc)


def thinks_again(doc: Doc) -> bool:
    """Whether there are words with which people correct themselves or take them back; they have other uses as well."""
    return _first_of((*lex.REVISIONS, *lex.SECOND_THOUGHTS), doc) is not None


def _first_of(phrases: Iterable[str], doc: Doc) -> int | None:
    """Token index at which the first of some phrases begins; None if there is none."""
    spoken = [normalised_text(token.text) for token in doc]
    said = f" {' '.join(spoken)} "
    positions = [said.index(f" {phrase} ") for phrase in phrases if f" {phrase} " in said]
    if not positions:
        return None
    return len(said[: min(positions) + 1].split())


def denials(doc: Doc, clauses: Sequence[Clause]) -> list[tuple[int, str]]:
    """(clause, words) of what the answer says it is not: "it isn't the price", "not the smell"."""
    return [(index, re.sub(r"\s+", " ", doc[start:end].text)) for index, start, end in denied_spans(doc, clauses)]


def all_texts(groups: Iterable[Sequence[str]]) -> list[str]:
    """The texts of all groups, each once, in order."""
    return list(dict.fromkeys(text for group in groups for text in group))

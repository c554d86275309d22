"""Checks a model's extraction element by element: each is used, corrected, or dropped with a reason.

Reasons: `malformed`, `missing_label`, `unknown_node_type`, `unknown_edge_type`, `missing_quote`, `quote_not_verbatim`,
`label_not_grounded`, `bad_confidence`, `bad_stance`, `duplicate_label`, `unresolved_endpoint`, `self_loop`,
`duplicate_relationship`, `too_many`, `not_extractable`. Stage `graph` checks whether a connection is permitted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pipeline.elements import named
from pipeline.graph.surface import Basis, label_key
from pipeline.language.prompted.delimiting import clean
from pipeline.language.prompted.extraction_form import BASES, STANCES
from pipeline.language.prompted.grounding import AnswerText, short_label
from pipeline.ports import DroppedElement, ExtractedConcept, ExtractedRelationship, ExtractionRequest
from pipeline.question.text import words

MAX_CONCEPTS = 40
"""Concepts taken from one answer at the most."""
MAX_RELATIONSHIPS = 80
MOST_READ = 160
"""Entries of a list that are read at most; the others are dropped."""
MAX_LABEL_CHARS = 200
MAX_TRACE_CHARS = 300
_UNSET = 0.7
_WORDS_OF_CONFIDENCE = {"high": 0.9, "medium": 0.7, "low": 0.4}
_STANCES = {**STANCES, "-1": -1, "−1": -1, "0": 0, "1": 1, "+1": 1, "mixed": 0, "none": 0}
_PER_CENT_FROM = 10
"""Confidences from this value on are per cent; those between 1 and this value are invalid."""
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*(%)?")


class _Unusable(ValueError):
    """An element can't be used; the message is the reason."""


class CheckedExtraction:
    """The usable concepts and relations of one answer in the model's order, and what was dropped."""

    def __init__(self, request: ExtractionRequest) -> None:
        self._ontology = request.methodology.ontology
        self._synonyms = request.synonyms
        self._answer = AnswerText(request.text)
        self._concepts: dict[str, ExtractedConcept] = {}
        self._aliases: dict[str, str] = {}
        self._known: dict[str, tuple[str, list[str]]] = {}
        for label, node_type in (*request.existing, (request.focus_label or "", request.focus_type or "")):
            if label:
                self._known.setdefault(_comparison_key(label), (label, []))[1].append(node_type)
        self._elements = request.elements
        self.relationships: list[ExtractedRelationship] = []
        self.dropped: list[DroppedElement] = []

    @property
    def concepts(self) -> tuple[ExtractedConcept, ...]:
        """The concepts that can be used."""
        return tuple(self._concepts.values())

    def drop_all(self, concepts: Sequence[Any], relationships: Sequence[Any], reason: str) -> None:
        """Drop everything, with this reason."""
        for item in concepts:
            self._drop_concept(item, reason)
        for item in relationships:
            self._drop_relationship(item, reason)

    def add_concepts(self, items: Sequence[Any]) -> None:
        """Add the usable concepts of a list and drop the others."""
        for number, item in enumerate(items):
            if len(self._concepts) >= MAX_CONCEPTS or number >= MOST_READ:
                self._drop_concept(item, "too_many")
                continue
            try:
                self._add_concept(item)
            except _Unusable as bad:
                self._drop_concept(item, str(bad))

    def add_relationships(self, items: Sequence[Any]) -> None:
        """Add the usable relations of a list and drop the others; all concepts must have been added."""
        for number, item in enumerate(items):
            if len(self.relationships) >= MAX_RELATIONSHIPS or number >= MOST_READ:
                self._drop_relationship(item, "too_many")
                continue
            try:
                self._add_relationship(item)
            except _Unusable as bad:
                self._drop_relationship(item, str(bad))

    def _add_concept(self, item: Any) -> None:
        if not isinstance(item, dict):
            raise _Unusable("malformed")
        given = _one_line(item.get("label"), MAX_LABEL_CHARS)
        if not given:
            raise _Unusable("missing_label")
        node_type = _name(item.get("node_type"))
        if self._ontology.node_type(node_type) is None:
            raise _Unusable("unknown_node_type")
        quote = self._quote(item.get("quote"))
        confidence, stance = _confidence(item.get("confidence")), _stance(item.get("stance"))
        label = given
        known = self._known.get(_comparison_key(given))
        said = self._answer.says(given, self._synonyms)
        if known is not None:
            if not said and short_label(quote) is None:
                raise _Unusable("label_not_grounded")
            label, types = known
            node_type = node_type if node_type in types or not types[0] else types[0]
        elif not said:
            own = short_label(quote)
            if own is None:
                raise _Unusable("label_not_grounded")
            label = own
        concept = ExtractedConcept(
            label=label,
            node_type=node_type,
            quote=quote,
            confidence=confidence,
            stance=stance,
            element_ids=self._element_ids(label, quote),
        )
        key = _comparison_key(label)
        self._aliases[_comparison_key(given)] = key
        earlier = self._concepts.get(key)
        self._concepts[key] = concept if earlier is None else self._merged(earlier, concept)

    def _merged(self, first: ExtractedConcept, again: ExtractedConcept) -> ExtractedConcept:
        """One concept of two with the same label: the first, on the higher level, with the longer quote."""
        level = self._ontology.level_of
        higher = again if level(again.node_type) > level(first.node_type) else first
        quote = again.quote if first.quote in again.quote else first.quote
        if again.quote not in quote or first.node_type != again.node_type:
            other = again if higher is first else first
            self.dropped.append(
                DroppedElement(source=other.label, type=other.node_type, quote=other.quote, reason="duplicate_label")
            )
        return first.model_copy(
            update={
                "node_type": higher.node_type,
                "quote": quote,
                "confidence": max(first.confidence, again.confidence),
                "stance": first.stance or again.stance,
                "element_ids": tuple(dict.fromkeys((*first.element_ids, *again.element_ids))),
            }
        )

    def _add_relationship(self, item: Any) -> None:
        if not isinstance(item, dict):
            raise _Unusable("malformed")
        edge_type = _name(item.get("edge_type"))
        if self._ontology.edge_type(edge_type) is None:
            raise _Unusable("unknown_edge_type")
        source, target = self._endpoint(item.get("source")), self._endpoint(item.get("target"))
        if label_key(source) == label_key(target):
            raise _Unusable("self_loop")
        relationship = ExtractedRelationship(
            source=source,
            target=target,
            edge_type=edge_type,
            quote=self._quote(item.get("quote")),
            confidence=_confidence(item.get("confidence")),
            basis=_basis(item.get("basis")),
            stance=_stance(item.get("stance")),
        )
        for known in self.relationships:
            if (known.source, known.target, known.edge_type) == (source, target, edge_type):
                if relationship.quote not in known.quote:
                    raise _Unusable("duplicate_relationship")
                return
        self.relationships.append(relationship)

    def _endpoint(self, label: Any) -> str:
        """The label by which the graph knows this end. Raises _Unusable."""
        key = _comparison_key(_one_line(label, MAX_LABEL_CHARS))
        concept = self._concepts.get(self._aliases.get(key, key))
        if concept is not None:
            return concept.label
        if key in self._known:
            return self._known[key][0]
        raise _Unusable("unresolved_endpoint")

    def _quote(self, quote: Any) -> str:
        if not isinstance(quote, str) or not quote.strip():
            raise _Unusable("missing_quote")
        found = self._answer.find(quote)
        if found is None:
            raise _Unusable("quote_not_verbatim")
        return found

    def _element_ids(self, label: str, quote: str) -> tuple[str, ...]:
        """Elements whose name or alias the label or the quote mentions, in the concept's order.

        A label is read within its quote where it stands there: the "price" of "subscription price" names the latter.
        """
        said = set(named(clean(quote), self._elements))
        if f" {' '.join(words(label))} " not in f" {' '.join(words(clean(quote)))} ":
            said |= set(named(label, self._elements))
        return tuple(dict.fromkeys(element for element, _ in self._elements if element in said))

    def _drop_concept(self, item: Any, reason: str) -> None:
        told = item if isinstance(item, dict) else {}
        self.dropped.append(
            DroppedElement(
                source=_one_line(told.get("label"), MAX_TRACE_CHARS),
                type=_one_line(told.get("node_type"), MAX_TRACE_CHARS) or "concept",
                quote=_one_line(told.get("quote"), MAX_TRACE_CHARS),
                reason=reason,
            )
        )

    def _drop_relationship(self, item: Any, reason: str) -> None:
        told = item if isinstance(item, dict) else {}
        self.dropped.append(
            DroppedElement(
                source=_one_line(told.get("source"), MAX_TRACE_CHARS),
                target=_one_line(told.get("target"), MAX_TRACE_CHARS),
                type=_one_line(told.get("edge_type"), MAX_TRACE_CHARS) or "relationship",
                quote=_one_line(told.get("quote"), MAX_TRACE_CHARS),
                reason=reason,
            )
        )


def _one_line(value: Any, most: int) -> str:
    """Text on one line, cleaned, cut at `most` characters; empty for what isn't text."""
    return " ".join(clean(value).split())[:most].strip() if isinstance(value, str) else ""


def _name(value: Any) -> str:
    """A type's name, whatever its case and spelling of spaces."""
    return re.sub(r"[\s-]+", "_", value.strip().casefold()) if isinstance(value, str) else ""


def _comparison_key(label: str) -> str:
    """A label as compared with what a model made of it: words only, without case and punctuation."""
    return " ".join(words(label)) or label_key(label)


def _confidence(value: Any) -> float:
    """From 0 to 1; per cent and words are understood. Raises _Unusable."""
    if value is None:
        return _UNSET
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _WORDS_OF_CONFIDENCE:
            return _WORDS_OF_CONFIDENCE[word]
        match = _NUMBER.fullmatch(word)
        if match is None:
            raise _Unusable("bad_confidence")
        value = float(match[1]) / (100 if match[2] else 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise _Unusable("bad_confidence")
    share = value / 100 if value >= _PER_CENT_FROM else float(value)
    if share > 1:
        raise _Unusable("bad_confidence")
    return share


def _basis(value: Any) -> Basis:
    """What a relation rests on; inferred where the model does not say."""
    word = _name(value)
    return next((basis for basis in BASES if basis == word), "inferred")


def _stance(value: Any) -> int:
    """−1, 0 or 1, from a word or a number. Raises _Unusable."""
    if value is None:
        return 0
    if isinstance(value, str):
        stance = _STANCES.get(value.strip().casefold())
        if stance is None:
            raise _Unusable("bad_stance")
        return stance
    if isinstance(value, bool) or value not in (-1, 0, 1):
        raise _Unusable("bad_stance")
    return int(value)

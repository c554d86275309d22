"""The extraction of one answer by the trained reader; what it repeats and takes back is found by rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from spacy.tokens import Doc

from pipeline.graph.surface import REVISES
from pipeline.language.clauses import Clause
from pipeline.language.offline.answer import AnswerExtraction, Tools
from pipeline.language.offline.relations import AnswerConcept, Link
from pipeline.language.offline.spans import Candidate
from pipeline.language.reader.understanding import FOCUS, ReadLink, Understood
from pipeline.ports import ExtractionRequest

_CONDITION = re.compile(
    r"[.!?]\s+(?:(?:and|but|so|then|well),? )*(?:when|whenever|if|once|unless|as soon as|every time|each time)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says itself on what it depends."""


class JudgedExtraction(AnswerExtraction):
    """An extraction whose concepts, types and links are the reader's.

    Args:
        understood: what was read.
        placed: for each of its concepts, where it stands in the parse; None where it has no word.
    """

    def __init__(
        self,
        extractor: Tools,
        request: ExtractionRequest,
        doc: Doc,
        clauses: list[Clause],
        understood: Understood,
        placed: Sequence[Candidate | None],
    ) -> None:
        self._understood = understood
        self._numbers = [number for number, candidate in enumerate(placed) if candidate is not None]
        super().__init__(extractor, request, doc, clauses, [candidate for candidate in placed if candidate is not None])

    def worth(self, found: Sequence[Candidate]) -> list[Candidate]:
        """All of them: the reader has judged."""
        return list(found)

    def mentions(self) -> list[AnswerConcept]:
        """The concepts as they were read."""
        mentions = []
        for number, candidate in zip(self._numbers, self.found, strict=True):
            read = self._understood.concepts[number]
            mention = self.mention(candidate, list(read.types), read.stance)
            mention.chance, mention.salience, mention.emotion = read.chance, read.salience, read.emotion
            mentions.append(mention)
        return mentions

    def links(self, mentions: list[AnswerConcept]) -> list[Link]:
        """The links as they were read; those that the methodology has no relation for are not allowed."""
        by_number = dict(zip(self._numbers, mentions, strict=True))
        found = []
        for links, allowed in ((self._understood.links, True), (self._understood.refused, False)):
            for link in links:
                source, target = self._end(link.source, by_number), self._end(link.target, by_number)
                if source is None or target is None:
                    continue
                if link.basis == "stated" and self._starts_anew(link):
                    link = replace(link, basis="inferred")
                edge_type = self._edge_type(link, source[1], target[1])
                found.append(
                    Link(
                        source[0],
                        target[0],
                        edge_type or link.edge_type,
                        link.chance,
                        self._quote(link, by_number),
                        link.basis,
                        allowed=allowed and edge_type is not None,
                    )
                )
        return found

    def _starts_anew(self, link: ReadLink) -> bool:
        """Whether the later of the two concepts stands in a sentence that names its own condition: “When I can, …”."""
        if FOCUS in (link.source, link.target):
            return False
        first, second = sorted(
            (self._understood.concepts[n] for n in (link.source, link.target)), key=lambda concept: concept.start
        )
        between = self.request.text[first.end : second.start]
        return _CONDITION.search(between) is not None

    def _edge_type(self, link: ReadLink, source: str, target: str) -> str | None:
        """The relation that was read; another one where an end turned out to be known by another type."""
        stated = link.basis == "stated"
        edges = [edge for edge in self.request.methodology.ontology.edges if edge.name != REVISES]
        fitting = [edge.name for edge in edges if edge.permits(source, target, stated=stated)]
        return link.edge_type if link.edge_type in fitting else fitting[0] if fitting else None

    def _end(self, number: int, mentions: dict[int, AnswerConcept]) -> tuple[str, str] | None:
        """Label and type of an end of a link."""
        if number == FOCUS:
            return (self.focus.label, self.focus.node_type) if self.focus is not None else None
        mention = mentions.get(number)
        return (mention.label, mention.node_type) if mention is not None else None

    def _quote(self, link: ReadLink, mentions: dict[int, AnswerConcept]) -> str:
        """The words from the one concept to the other; those of the concept where the other is the focus."""
        own = [self._understood.concepts[n] for n in (link.source, link.target) if n != FOCUS]
        start, end = min(concept.start for concept in own), max(concept.end for concept in own)
        return self.request.text[start:end].strip()

"""The extraction of one answer by rules: exemplars, cues, connectors, and the question that is answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from spacy.tokens import Doc

from pipeline.graph.dedup import SynonymTable
from pipeline.graph.surface import REVISES, label_key
from pipeline.language.clauses import Clause
from pipeline.language.connectors import normalised_text
from pipeline.language.offline import kinds
from pipeline.language.offline.linking import Linker, asked_of, asks_why
from pipeline.language.offline.memory import Memory, all_texts, denials, takes_back, texts_of, thinks_again
from pipeline.language.offline.relations import (
    CONFIDENCE,
    AnswerConcept,
    EdgeChooser,
    Link,
    pairs_of,
    settle_types,
)
from pipeline.language.offline.spans import Candidate
from pipeline.ports import (
    DroppedElement,
    ExtractedConcept,
    ExtractedRelationship,
    Extraction,
    ExtractionRequest,
    Vectors,
)

PROVIDER = "offline"
SOMETIMES = re.compile(
    r"\b(?:sometimes|some (?:days|times|mornings|evenings|nights)|not always|now and then|at times|usually|often|today"
    r"|when(?:ever)?|if|unless)\b",
    re.IGNORECASE,
)
"""Words of what does not hold always."""
QUESTION_CUE = 0.5
"""Weight of a type's cue in the question, where types have no levels."""
STANCE_FROM = 0.3
"""Absolute sentiment from which a phrase counts as favourable or not."""


class Tools(Protocol):
    """What an extraction needs of the models on this machine."""

    def lemmas(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Content lemmas per text."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        ...

    def model(self, request: ExtractionRequest) -> kinds.TypeModel:
        """The methodology's types."""
        ...

    def synonyms(self, request: ExtractionRequest) -> SynonymTable:
        """The built-in ones, and those of the request."""
        ...

    def sentiment(self, text: str) -> float:
        """In [-1, 1]."""
        ...


class AnswerExtraction:
    """The extraction of one answer."""

    def __init__(
        self,
        extractor: Tools,
        request: ExtractionRequest,
        doc: Doc,
        clauses: list[Clause],
        found: list[Candidate],
    ) -> None:
        self.extractor = extractor
        self.request = request
        self.doc = doc
        self.clauses = clauses
        self.chooser = EdgeChooser(request.methodology.ontology)
        self.question = normalised_text(request.question)
        self.asked = asked_of(request)
        self.denied = denials(doc, clauses)
        texts = all_texts(([c.label for c in found], texts_of(request), [words for _, words in self.denied]))
        self.vectors = dict(zip(texts, extractor.embed(texts), strict=True))
        self.memory = Memory(request, extractor.lemmas, self.vectors, extractor.synonyms(request))
        self.focus = self.memory.focus
        self.found = self.worth(found)

    def extraction(self, dropped: list[DroppedElement]) -> Extraction:
        """Everything found; relations that the methodology does not permit are in `dropped`."""
        if not self.found:
            return Extraction(extractable=False, provider=PROVIDER, dropped=tuple(dropped))
        mentions = self.mentions()
        found = self.links(mentions)
        revisions = self._revisions(mentions)
        taken_back = {label_key(link.target) for link in revisions}
        links = [
            link
            for link in found
            if label_key(link.source) not in taken_back and label_key(link.target) not in taken_back
        ]
        links += revisions
        relationships, refused = _unique(links)
        concepts = self._concepts(mentions)
        return Extraction(
            concepts=tuple(concepts),
            relationships=tuple(relationships),
            dropped=(*dropped, *refused),
            provider=PROVIDER,
        )

    def worth(self, found: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that are concepts."""
        model = self.extractor.model(self.request)
        return [candidate for candidate in found if self._worth(candidate, model.levelled)]

    def links(self, mentions: list[AnswerConcept]) -> list[Link]:
        """The links between the concepts, `revises` aside; decides their types, too."""
        pairs = pairs_of(self.clauses, mentions)
        settle_types(pairs, mentions, self.chooser)
        return Linker(self.request, self.doc, self.clauses, self.chooser, self.focus).links(pairs, mentions)

    def _worth(self, candidate: Candidate, levelled: bool) -> bool:
        """Whether a candidate can be a concept.

        With levels, a bare condition ("if the sun is out") cannot, unless it is a state of the respondent.
        """
        if not (candidate.fronted and levelled):
            return True
        clause = self.clauses[candidate.clause]
        if clause.connector is None or clause.connector.kind != "condition":
            return True
        return (candidate.first_person and self.memory.again(candidate) is not None) or _own_state(candidate)

    def mentions(self) -> list[AnswerConcept]:
        """The candidates with their types."""
        model = self.extractor.model(self.request)
        vectors = np.stack([self.vectors[c.label] for c in self.found])
        scores = kinds.base_scores(model, self.found, vectors)
        scores += self._structure(model)
        shares = kinds.confidences(scores)
        mentions: list[AnswerConcept] = []
        for row, candidate in enumerate(self.found):
            order = np.argsort(-shares[row], kind="stable")
            types = [(model.names[int(i)], round(float(shares[row, i]), 3)) for i in order]
            mentions.append(self.mention(candidate, types, self._stance(candidate)))
        return mentions

    def mention(self, candidate: Candidate, types: list[tuple[str, float]], stance: int) -> AnswerConcept:
        """A concept of the answer; one that the session has already keeps its label and type."""
        mention = AnswerConcept(
            label=candidate.label,
            clause=candidate.clause,
            quote=candidate.quote,
            types=types,
            stance=stance,
            negated=candidate.negated,
            opener=normalised_text(self.doc[candidate.start].text),
            past_state=" used to " in f" {candidate.words} ",
            element_ids=self.memory.elements(candidate),
        )
        again = self.memory.again(candidate)
        if again is not None:
            mention.label = again.label
            mention.types = [
                (again.node_type, max(0.8, types[0][1])),
                *(t for t in types if t[0] != again.node_type),
            ]
            mention.fixed = True
        return mention

    def _structure(self, model: kinds.TypeModel) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Prior scores of types from the question and its focus; shape [phrases, types]."""
        names, levels = model.names, model.levels
        prior = np.zeros((len(self.found), len(names)))
        for index, pattern in enumerate(model.cues):
            if pattern is not None and not model.levelled and kinds.cue_hits(pattern, self.asked):
                prior[:, index] += QUESTION_CUE
        why = asks_why(self.question)
        if self.focus is not None and model.levelled:
            level = self.request.methodology.ontology.level_of(self.focus.node_type)
            for index in range(len(names)):
                step = levels[index] - level
                prior[:, index] += _ladder_prior(step, why)
        if not model.levelled and why and self.focus is not None:
            for edge in self.request.methodology.ontology.edges:
                if edge.name != REVISES and "because" in edge.cues:
                    for index, name in enumerate(names):
                        if edge.permits(self.focus.node_type, name):
                            prior[0, index] += 0.1
        return prior

    def _stance(self, candidate: Candidate) -> int:
        score = self.extractor.sentiment(candidate.words)
        return 1 if score >= STANCE_FROM else -1 if score <= -STANCE_FROM else 0

    def _revisions(self, mentions: list[AnswerConcept]) -> list[Link]:
        """Links `revises` where the answer corrects something: "actually no, it isn't the price, it's the taste"."""
        if self.request.methodology.ontology.edge_type(REVISES) is None or not self.memory.known:
            return []
        links = []
        for mention, candidate in zip(mentions, self.found, strict=True):
            denies = not mention.fixed and not self._depends(candidate)
            known = self.memory.contradicted(candidate) if denies else None
            if known is not None:
                links.append(
                    Link(mention.label, known.label, REVISES, CONFIDENCE["connector"], mention.quote, "stated")
                )
        if links:
            return links
        back, again = takes_back(self.doc), thinks_again(self.doc)
        for clause, words in self.denied:
            new = next((m for m in mentions if m.clause > clause and not m.fixed), None)
            instead = new is not None and _sets_against(self.clauses, new.clause, clause)
            if new is None or not (again or instead):
                continue
            known = self.memory.closest(self.extractor.lemmas([words])[0], self.vectors[words])
            if known is not None:
                links.append(
                    Link(new.label, known.label, REVISES, CONFIDENCE["connector"], self.request.text, "stated")
                )
        if links or back is None or self.focus is None:
            return links
        new = next((m for m in mentions if self.clauses[m.clause].end > back and not m.fixed), None)
        if new is not None:
            links.append(Link(new.label, self.focus.label, REVISES, CONFIDENCE["focus"], new.quote, "stated"))
        return links

    def _depends(self, candidate: Candidate) -> bool:
        """Whether what is said holds only if, or only sometimes, so that its opposite may hold as well."""
        connector = self.clauses[candidate.clause].connector
        if connector is not None and connector.kind == "condition":
            return True
        return SOMETIMES.search(candidate.words) is not None

    def _concepts(self, mentions: list[AnswerConcept]) -> list[ExtractedConcept]:
        concepts: dict[str, ExtractedConcept] = {}
        for mention in mentions:
            key = label_key(mention.label)
            if key in concepts:
                continue
            best = mention.types[0]
            concepts[key] = ExtractedConcept(
                label=mention.label,
                node_type=best[0],
                quote=mention.quote,
                confidence=mention.confidence,
                stance=mention.stance,
                salience=mention.salience,
                emotion=mention.emotion,
                type_alternatives=tuple(mention.types[1:2]),
                element_ids=mention.element_ids,
            )
        return list(concepts.values())


def _sets_against(clauses: Sequence[Clause], new: int, denied: int) -> bool:
    """Whether the clause states what is the case instead of the one denied right before it: "not X but Y"."""
    connector = clauses[new].connector
    return new == denied + 1 and connector is not None and connector.kind == "contrast"


def _own_state(candidate: Candidate) -> bool:
    return candidate.first_person and not candidate.negated and len(candidate.lemmas) <= 2


def _ladder_prior(step: int, why: bool) -> float:
    """Prior of a type by its distance from the focus in levels: answers mostly stay on the level or go one up."""
    if step == 1:
        return 0.45 if why else 0.3
    if step == 0:
        return 0.3
    if step == 2:
        return 0.0
    return -0.3


def _unique(links: Sequence[Link]) -> tuple[list[ExtractedRelationship], list[DroppedElement]]:
    kept: dict[tuple[str, str, str], ExtractedRelationship] = {}
    refused: list[DroppedElement] = []
    for link in links:
        key = (label_key(link.source), label_key(link.target), link.edge_type)
        if key[0] == key[1]:
            continue
        if not link.allowed:
            refused.append(
                DroppedElement(
                    source=link.source,
                    target=link.target,
                    type=link.edge_type,
                    quote=link.quote,
                    reason="no relation of the methodology joins these types",
                )
            )
        elif key not in kept and (key[1], key[0], key[2]) not in kept:
            kept[key] = ExtractedRelationship(
                source=link.source,
                target=link.target,
                edge_type=link.edge_type,
                quote=link.quote,
                confidence=link.confidence,
                basis=link.basis,
            )
    return list(kept.values()), refused

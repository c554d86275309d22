"""Extraction of concepts and relations without a language model: by a trained reader, or by rules alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor

from spacy.tokens import Doc
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from pipeline.graph.dedup import BUILT_IN_SYNONYMS, SynonymTable
from pipeline.language.clauses import Clause, split
from pipeline.language.offline import kinds
from pipeline.language.offline.answer import PROVIDER, AnswerExtraction
from pipeline.language.offline.beside_questions import without_questions
from pipeline.language.offline.exemplars import ExemplarFiles
from pipeline.language.offline.hedges import without_hedges
from pipeline.language.offline.judged import JudgedExtraction
from pipeline.language.offline.spans import (
    Candidate,
    candidate_at,
    candidates,
    is_foreign,
    is_without_content,
    shape_of,
)
from pipeline.language.reader.understanding import MOST_CONCEPTS, Reader, Understood
from pipeline.language.srl import SpacyParser
from pipeline.methodology import Methodology
from pipeline.ports import (
    DroppedElement,
    Extraction,
    ExtractionRequest,
    Vectors,
)

TERSE_WORDS = 4
NOUNS = frozenset({"NOUN", "PROPN"})
CIRCUMSTANCES = frozenset({"ADP", "NUM", "ADV", "SCONJ"})
"""What answers begin with that tell when or where, and name nothing."""
NOTHING = Extraction(extractable=False, provider=PROVIDER)
REMEMBERED_TABLES = 64
MAX_CONCEPTS = MOST_CONCEPTS
"""Concepts taken from one answer at the most; the rest is recorded as dropped."""


class OfflineExtractor:
    """Extractor of the ports: by clauses, exemplars, cues, connectors, and the question that is answered."""

    def __init__(
        self,
        parser: SpacyParser,
        embedder: kinds.SyncEmbedder,
        *,
        executor: Executor | None = None,
        files: ExemplarFiles | None = None,
        reader: Reader | None = None,
    ) -> None:
        """Args: reader: judges what is a concept, of which type, and what is linked; rules alone without one."""
        self.reader = reader
        self._parser = parser
        self._embedder = embedder
        self._executor = executor
        self._models = kinds.TypeModels(embedder.embed_sync, self._shapes, files=files)
        self._sentiment = SentimentIntensityAnalyzer()
        self._synonyms: dict[tuple[tuple[str, ...], ...], SynonymTable] = {}

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Concepts and relations of one answer; every concept is a part of the answer."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.extract_sync, request)

    async def warm(self, methodology: Methodology) -> None:
        """Build what is built once per methodology."""
        loop = asyncio.get_running_loop()
        prepare = self._models.model if self.reader is None else self.reader.prepare
        await loop.run_in_executor(self._executor, prepare, methodology.ontology)

    def extract_sync(self, request: ExtractionRequest) -> Extraction:
        """As `extract`, for callers that already are on a worker thread."""
        found = self._extracted(request)
        # The next stages ask for the lemmas of these labels, then for their words: they are parsed once for both.
        self._parser.words_sync([concept.label for concept in found.concepts])
        return found

    def _extracted(self, request: ExtractionRequest) -> Extraction:
        if is_without_content(request.text) or is_foreign(request.text):
            return NOTHING
        doc = self._parser.docs.doc(request.text)
        clauses = split(doc)
        if self.reader is None:
            return self._by_rules(request, doc, clauses)
        understood = self._understood(self.reader, request, request.text)
        # What is said with much caution, or beside a question, is still said; the reader was taught by people who were
        # surer, and for whom a question was all.
        for plainer in (without_hedges(request.text), without_questions(request.text)):
            if not understood.concepts and plainer != request.text:
                understood = self._understood(self.reader, request, plainer)
        placed = [candidate_at(doc, request.text, clauses, c.start, c.end) for c in understood.concepts]
        kept = [candidate if number < MAX_CONCEPTS else None for number, candidate in enumerate(placed)]
        if not any(kept):
            return self._by_rules(request, doc, clauses) if _names_something(doc) else NOTHING
        judged = JudgedExtraction(self, request, doc, clauses, understood, kept)
        return judged.extraction(_too_many([candidate for candidate in placed[MAX_CONCEPTS:] if candidate is not None]))

    def _by_rules(self, request: ExtractionRequest, doc: Doc, clauses: list[Clause]) -> Extraction:
        found = candidates(doc, request.text, clauses)
        if not found:
            return NOTHING
        work = AnswerExtraction(self, request, doc, clauses, found[:MAX_CONCEPTS])
        return work.extraction(_too_many(found[MAX_CONCEPTS:]))

    @staticmethod
    def _understood(reader: Reader, request: ExtractionRequest, text: str) -> Understood:
        about = request.focus_label or request.topic
        return reader.understand(text, request.question, about, request.focus_type, request.methodology.ontology)

    def _shapes(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """The shape features of exemplars, trimmed as answers are."""
        shapes = []
        for text, doc in zip(texts, self._parser.docs.batch(texts), strict=True):
            found = candidates(doc, text, split(doc))
            shapes.append(found[0].shape if found else shape_of(list(doc)))
        return shapes

    def lemmas(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Content lemmas per text."""
        return self._parser.lemmas_sync(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return self._embedder.embed_sync(texts)

    def model(self, request: ExtractionRequest) -> kinds.TypeModel:
        """The methodology's types."""
        return self._models.model(request.methodology.ontology)

    def synonyms(self, request: ExtractionRequest) -> SynonymTable:
        """The built-in ones, and those of the request; the latest tables are kept."""
        sets = request.synonyms
        found = self._synonyms.get(sets)
        if found is None:
            found = SynonymTable([self.lemmas(list(members)) for members in (*BUILT_IN_SYNONYMS, *sets)])
            while len(self._synonyms) >= REMEMBERED_TABLES:
                self._synonyms.pop(next(iter(self._synonyms)), None)
            self._synonyms[sets] = found
        return found

    def sentiment(self, text: str) -> float:
        """VADER's compound score in [-1, 1]."""
        return float(self._sentiment.polarity_scores(text)["compound"])


def _names_something(doc: Doc) -> bool:
    """Whether an answer is a few words with a noun, which names something even where the reader is not sure."""
    spoken = [token for token in doc if token.is_alpha]
    if not 0 < len(spoken) <= TERSE_WORDS or spoken[0].pos_ in CIRCUMSTANCES:
        return False
    return any(token.pos_ in NOUNS for token in spoken)


def _too_many(found: Sequence[Candidate]) -> list[DroppedElement]:
    return [
        DroppedElement(source=c.label, type="concept", quote=c.quote, reason="too many concepts in one answer")
        for c in found
    ]

"""Knowledge from an answer without a language model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np
from spacy.tokens import Doc
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from pipeline.graph.surface import REVISES, label_key
from pipeline.language.clauses import SUBJECTS, Clause, split
from pipeline.language.connectors import plain
from pipeline.language.offline import kinds
from pipeline.language.offline.memory import Known, Memory, all_texts, denials, takes_back, texts_of
from pipeline.language.offline.relations import (
    CONFIDENCE,
    CONTRAST_MARKERS,
    EdgeChooser,
    Link,
    Mention,
    Pair,
    pairs_of,
    settle_types,
)
from pipeline.language.offline.spans import Candidate, candidates, is_foreign, is_without_content, shape_of
from pipeline.language.srl import SpacyParser
from pipeline.methodology import EdgeType, Methodology
from pipeline.ports import (
    DroppedElement,
    ExtractedConcept,
    ExtractedRelationship,
    Extraction,
    ExtractionRequest,
    Vectors,
)

PROVIDER = "offline"
MAX_CONCEPTS = 24
"""Concepts taken from one answer at the most; the rest is recorded as dropped."""
ORDER = {
    True: ("connector", "setting", "purpose", "shared", "adjacent", "next"),
    False: ("connector", "setting", "purpose", "adjacent", "shared", "next"),
}
"""Order in which pairs become links, with and without levels of abstraction."""
ASKS_AGAINST = re.compile(
    r"\b(n't|don't|doesn't|didn't|won't|wouldn't|not|dislike|put you off|puts you off|against|stop you|annoying"
    r"|annoys|hard|hardest|difficult|difficulty|bother|bothers|frustrating|frustrates|problem|worst|hate)\b"
)
"""Questions after what speaks against their focus."""
STANCE_FROM = 0.3
"""Absolute sentiment from which a phrase counts as favourable or not."""


class OfflineExtractor:
    """Extractor of the ports: clauses, exemplars, cues, connectors and the place in the interview."""

    def __init__(self, parser: SpacyParser, embedder: kinds.SyncEmbedder, *, executor: Executor | None = None) -> None:
        self._parser = parser
        self._embedder = embedder
        self._executor = executor
        self._models = kinds.TypeModels(embedder.embed_sync, self._shapes)
        self._sentiment = SentimentIntensityAnalyzer()

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Concepts and relations of one answer; never more than was said."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.extract_sync, request)

    async def warm(self, methodology: Methodology) -> None:
        """Build what is built once per methodology."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._executor, self._models.model, methodology.ontology)

    def extract_sync(self, request: ExtractionRequest) -> Extraction:
        """As `extract`, for callers that already are on a worker thread."""
        if is_without_content(request.text) or is_foreign(request.text):
            return Extraction(extractable=False, provider=PROVIDER)
        doc = self._parser.docs.doc(request.text)
        clauses = split(doc)
        found = candidates(doc, request.text, clauses)
        if not found:
            return Extraction(extractable=False, provider=PROVIDER)
        dropped = [
            DroppedElement(source=c.label, type="concept", quote=c.quote, reason="too many concepts in one answer")
            for c in found[MAX_CONCEPTS:]
        ]
        work = _Answer(self, request, doc, clauses, found[:MAX_CONCEPTS])
        return work.extraction(dropped)

    def _shapes(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """How exemplars are built, once they are trimmed as an answer would be."""
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

    def sentiment(self, text: str) -> float:
        """VADER's compound score in [-1, 1]."""
        return float(self._sentiment.polarity_scores(text)["compound"])


class _Answer:
    """One answer on its way to an extraction."""

    def __init__(
        self,
        extractor: OfflineExtractor,
        request: ExtractionRequest,
        doc: Doc,
        clauses: list[Clause],
        found: list[Candidate],
    ) -> None:
        self.extractor = extractor
        self.request = request
        self.doc = doc
        self.clauses = clauses
        self.model = extractor.model(request)
        self.chooser = EdgeChooser(request.methodology.ontology)
        self.question = plain(request.question)
        self.asked = self.question.replace(plain(request.focus_label), " ") if request.focus_label else self.question
        self.denied = denials(doc, clauses)
        texts = all_texts(([c.label for c in found], texts_of(request), [words for _, words in self.denied]))
        self.vectors = dict(zip(texts, extractor.embed(texts), strict=True))
        self.memory = Memory(request, extractor.lemmas, self.vectors)
        self.focus = self.memory.focus
        self.found = [c for c in found if self._worth(c)]

    def extraction(self, dropped: list[DroppedElement]) -> Extraction:
        """Everything found, with what the methodology has no place for."""
        if not self.found:
            return Extraction(extractable=False, provider=PROVIDER, dropped=tuple(dropped))
        mentions = self._mentions()
        pairs = pairs_of(self.clauses, mentions)
        settle_types(pairs, mentions, self.chooser)
        revisions = self._revisions(mentions)
        taken_back = {label_key(link.target) for link in revisions}
        links = [
            link
            for link in self._links(pairs, mentions)
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

    def _worth(self, candidate: Candidate) -> bool:
        """A condition alone ("if the sun is out") is no step of a ladder, unless it is the respondent's own state."""
        if not (candidate.fronted and self.model.levelled):
            return True
        clause = self.clauses[candidate.clause]
        if clause.connector is None or clause.connector.kind != "condition":
            return True
        return (candidate.first_person and self.memory.again(candidate) is not None) or _own_state(candidate)

    def _mentions(self) -> list[Mention]:
        vectors = np.stack([self.vectors[c.label] for c in self.found])
        scores = kinds.base_scores(self.model, self.found, vectors)
        scores += self._structure()
        shares = kinds.confidences(scores)
        mentions: list[Mention] = []
        for row, candidate in enumerate(self.found):
            order = np.argsort(-shares[row], kind="stable")
            types = [(self.model.names[int(i)], round(float(shares[row, i]), 3)) for i in order]
            mention = Mention(
                label=candidate.label,
                clause=candidate.clause,
                quote=candidate.quote,
                types=types,
                stance=self._stance(candidate),
                negated=candidate.negated,
                opener=plain(self.doc[candidate.start].text),
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
            mentions.append(mention)
        return mentions

    def _structure(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """What the question and its focus say about the answer's types; shape [phrases, types]."""
        names, levels = self.model.names, self.model.levels
        prior = np.zeros((len(self.found), len(names)))
        for index, pattern in enumerate(self.model.cues):
            if pattern is not None and not self.model.levelled and kinds.cue_hits(pattern, self.asked):
                prior[:, index] += 0.25
        why = _asks_why(self.question)
        if self.focus is not None and self.model.levelled:
            level = self.request.methodology.ontology.level_of(self.focus.node_type)
            for index in range(len(names)):
                step = levels[index] - level
                prior[:, index] += _ladder_prior(step, why)
        if not self.model.levelled and why and self.focus is not None:
            for edge in self.request.methodology.ontology.edges:
                if edge.name != REVISES and "because" in edge.cues:
                    for index, name in enumerate(names):
                        if edge.permits(self.focus.node_type, name):
                            prior[0, index] += 0.1
        return prior

    def _stance(self, candidate: Candidate) -> int:
        score = self.extractor.sentiment(candidate.words)
        return 1 if score >= STANCE_FROM else -1 if score <= -STANCE_FROM else 0

    def _links(self, pairs: Sequence[Pair], mentions: list[Mention]) -> list[Link]:
        links: list[Link] = []
        targets: set[int] = set()
        joined: set[int] = set()
        for pair in sorted(pairs, key=lambda p: ORDER[self.model.levelled].index(p.basis)):
            if not self._reads_as_step(pair, mentions, targets):
                continue
            link = self._link(pair, mentions)
            if link is None:
                continue
            links.append(link)
            if link.allowed:
                if pair.basis != "adjacent":
                    joined |= {pair.cause, pair.effect}
                if (pair.kind != "condition" and pair.basis != "adjacent") or self.model.levelled:
                    targets.add(pair.effect)
        if self.focus is None and not self.model.levelled:
            links += self._story_links(mentions, joined, links)
        links += self._focus_links(mentions, targets, joined)
        return links

    def _story_links(self, mentions: list[Mention], joined: set[int], links: list[Link]) -> list[Link]:
        """In a story without a focus, what nothing holds follows from what was told right before it."""
        held = {label_key(end) for link in links if link.allowed for end in (link.source, link.target)}
        added = []
        for right in range(1, len(mentions)):
            left = right - 1
            if label_key(mentions[right].label) in held or mentions[left].node_type == mentions[right].node_type:
                continue
            chosen = self.chooser.choose(mentions[left].node_type, mentions[right].node_type, "and", "cause")
            if chosen is not None and chosen[1]:
                first, second = mentions[left], mentions[right]
                quote = self._span(first, second)
                added.append(Link(first.label, second.label, chosen[0].name, CONFIDENCE["next"], quote))
                joined |= {left, right}
        return added

    def _reads_as_step(self, pair: Pair, mentions: list[Mention], targets: set[int]) -> bool:
        """Whether neighbours without a connector of their own can only be read as a step."""
        if pair.basis not in {"adjacent", "next", "shared"}:
            return True
        first, second = mentions[pair.cause], mentions[pair.effect]
        if pair.effect in targets or first.past_state:
            return False
        if pair.basis == "shared":
            return pair.via in targets
        if self.model.levelled:
            level = self.request.methodology.ontology.level_of
            return pair.basis == "adjacent" and level(second.node_type) == level(first.node_type) + 1
        if pair.basis == "next":
            return self._cued(pair, mentions)
        after = self.clauses[second.clause]
        subject = plain(self.doc[after.start].text)
        return first.node_type != second.node_type and (after.break_before == "and" or subject in SUBJECTS)

    def _cued(self, pair: Pair, mentions: list[Mention]) -> bool:
        """Whether the second of two sentences holds a cue of the relation ("since then …")."""
        chosen = self.chooser.choose(mentions[pair.cause].node_type, mentions[pair.effect].node_type, "and", "cause")
        if chosen is None or not chosen[1]:
            return False
        clause = self.clauses[mentions[pair.effect].clause]
        said = " ".join(plain(self.doc[i].text) for i in range(clause.start, clause.end))
        return any(f" {cue} " in f" {said} " for cue in chosen[0].cues if " " in cue or len(cue) > 4)

    def _link(self, pair: Pair, mentions: list[Mention]) -> Link | None:
        first, second = mentions[pair.cause], mentions[pair.effect]
        if label_key(first.label) == label_key(second.label):
            return None
        quote = self._span(first, second)
        kind = "cause" if pair.basis == "next" else pair.kind
        chosen = self.chooser.choose(first.node_type, second.node_type, pair.marker, kind)
        if chosen is None:
            if pair.basis != "connector" or pair.kind not in {"cause", "purpose"}:
                return None
            name = self.request.methodology.ontology.edges[0].name
            return Link(first.label, second.label, name, 0.3, quote, allowed=False)
        edge, forward, _ = chosen
        source, target = (first, second) if forward else (second, first)
        return Link(source.label, target.label, edge.name, CONFIDENCE[pair.basis], quote)

    def _span(self, first: Mention, second: Mention) -> str:
        """Verbatim text from the one mention to the other."""
        low = min(first.clause, second.clause)
        high = max(first.clause, second.clause)
        start = self.doc[self.clauses[low].start].idx
        last = self.doc[self.clauses[high].end - 1]
        return self.request.text[start : last.idx + len(last.text)].strip()

    def _focus_links(self, mentions: list[Mention], targets: set[int], joined: set[int]) -> list[Link]:
        """Links between what the question was about, what the answer begins with, and what nothing else holds."""
        if self.focus is None:
            return []
        links: list[Link] = []
        against = bool(ASKS_AGAINST.search(self.asked))
        kind = "contrast" if against or self._compares() else "focus"
        for position, mention in enumerate(mentions):
            clause = self.clauses[mention.clause]
            if clause.connector is not None and clause.connector.kind == "contrast":
                kind = "contrast"
            if position in targets or mention.past_state or label_key(mention.label) == label_key(self.focus.label):
                continue
            if clause.fronted and clause.connector is not None and clause.connector.kind == "condition":
                continue
            if links and position in joined and not self.model.levelled:
                continue
            if mention.fixed and mention.node_type == self.focus.node_type:
                continue
            chosen = self._focus_choice(self.focus, mention, kind)
            if chosen is None:
                if position == 0 and _asks_why(self.question):
                    edge_type = self.request.methodology.ontology.edges[0].name
                    links.append(Link(self.focus.label, mention.label, edge_type, 0.3, mention.quote, allowed=False))
                continue
            edge, forward, _ = chosen
            if kind == "contrast" and not against and CONTRAST_MARKERS & frozenset(edge.cues):
                kind = "focus"
            source, target = (self.focus.label, mention.label) if forward else (mention.label, self.focus.label)
            links.append(Link(source, target, edge.name, CONFIDENCE["focus"], mention.quote))
        return links

    def _compares(self) -> bool:
        """Whether question or answer sets things against each other in words of the methodology."""
        said = f" {self.question} {' '.join(plain(token.text) for token in self.doc)} "
        return any(
            f" {cue} " in said
            for edge in self.request.methodology.ontology.edges
            if CONTRAST_MARKERS & frozenset(edge.cues)
            for cue in frozenset(edge.cues) - CONTRAST_MARKERS
        )

    def _focus_choice(self, focus: Known, mention: Mention, kind: str) -> tuple[EdgeType, bool, float] | None:
        for how in dict.fromkeys((kind, "focus")):
            chosen = self.chooser.choose(focus.node_type, mention.node_type, "focus", how)
            if chosen is not None:
                return chosen
        if mention.fixed or mention.settled:
            return None
        for name, confidence in mention.types[1:3]:
            chosen = self.chooser.choose(focus.node_type, name, "focus", kind) if confidence >= 0.2 else None
            if chosen is not None:
                mention.take(name)
                return chosen
        return None

    def _revisions(self, mentions: list[Mention]) -> list[Link]:
        """What the answer takes back: "actually no, it isn't the price, it's the taste"."""
        if self.request.methodology.ontology.edge_type(REVISES) is None or not self.memory.known:
            return []
        links = []
        for mention, candidate in zip(mentions, self.found, strict=True):
            known = None if mention.fixed else self.memory.contradicted(candidate)
            if known is not None:
                links.append(Link(mention.label, known.label, REVISES, CONFIDENCE["connector"], mention.quote))
        if links:
            return links
        back = takes_back(self.doc)
        for clause, words in self.denied:
            new = next((m for m in mentions if m.clause > clause and not m.fixed), None)
            instead = new is not None and _sets_against(self.clauses, new.clause, clause)
            if new is None or not (back is not None or instead):
                continue
            known = self.memory.closest(self.extractor.lemmas([words])[0], self.vectors[words])
            if known is not None:
                links.append(Link(new.label, known.label, REVISES, CONFIDENCE["connector"], self.request.text))
        if links or back is None or self.focus is None:
            return links
        new = next((m for m in mentions if self.clauses[m.clause].end > back and not m.fixed), None)
        if new is not None:
            links.append(Link(new.label, self.focus.label, REVISES, CONFIDENCE["focus"], new.quote))
        return links

    def _concepts(self, mentions: list[Mention]) -> list[ExtractedConcept]:
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
                confidence=min(1.0, round(0.45 + 0.5 * best[1], 3)),
                stance=mention.stance,
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


def _asks_why(question: str) -> bool:
    return bool(re.search(r"\b(why|what makes|how come|what does .* (give|do for|mean)|important|matter)\b", question))


def _ladder_prior(step: int, why: bool) -> float:
    """Answers stay on the level of the focus or go one up; rarely down or far up."""
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
            )
    return list(kept.values()), refused

"""Links the concepts of one answer: first by connectors, then neighbours, then to the focus of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spacy.tokens import Doc

from pipeline.graph.surface import Basis, label_key
from pipeline.language.clauses import SUBJECTS, Clause
from pipeline.language.connectors import normalised_text
from pipeline.language.offline.memory import Known
from pipeline.language.offline.relations import (
    BASIS,
    CONFIDENCE,
    CONTRAST_MARKERS,
    AnswerConcept,
    EdgeChooser,
    Link,
    Pair,
)
from pipeline.methodology import EdgeType
from pipeline.ports import ExtractionRequest

ORDER = {
    True: ("connector", "setting", "purpose", "shared", "adjacent", "next"),
    False: ("connector", "setting", "purpose", "adjacent", "shared", "next"),
}
"""Order in which pairs become links, with and without levels of abstraction."""
ASKS_AGAINST = re.compile(
    r"\b(n't|don't|doesn't|didn't|won't|wouldn't|not|dislike|put you off|puts you off|against|stop you|annoying"
    r"|annoys|hard|hardest|difficult|difficulty|bother|bothers|frustrating|frustrates|problem|worst|hate)\b"
)
"""Questions that ask for disadvantages of their focus."""


def asked_of(request: ExtractionRequest) -> str:
    """The normalised question without the label of its focus."""
    question = normalised_text(request.question)
    return question.replace(normalised_text(request.focus_label), " ") if request.focus_label else question


def asks_why(question: str) -> bool:
    """Whether a question asks for reasons."""
    return bool(re.search(r"\b(why|what makes|how come|what does .* (give|do for|mean)|important|matter)\b", question))


class Linker:
    """Turns pairs of mentions into links of the methodology, for one answer."""

    def __init__(
        self,
        request: ExtractionRequest,
        doc: Doc,
        clauses: Sequence[Clause],
        chooser: EdgeChooser,
        focus: Known | None,
    ) -> None:
        """Args: focus: what the question was about; None for a question about the topic."""
        self.request = request
        self.doc = doc
        self.clauses = clauses
        self.chooser = chooser
        self.focus = focus
        self.question = normalised_text(request.question)
        self.asked = asked_of(request)

    def links(self, pairs: Sequence[Pair], mentions: list[AnswerConcept]) -> list[Link]:
        """All links of the answer; those that the methodology does not permit have `allowed` false."""
        links: list[Link] = []
        targets: set[int] = set()
        joined: set[int] = set()
        for pair in sorted(pairs, key=lambda p: ORDER[self.chooser.levelled].index(p.basis)):
            if not self._reads_as_step(pair, mentions, targets):
                continue
            link = self._link(pair, mentions)
            if link is None:
                continue
            links.append(link)
            if link.allowed:
                if pair.basis != "adjacent":
                    joined |= {pair.cause, pair.effect}
                if (pair.kind != "condition" and pair.basis != "adjacent") or self.chooser.levelled:
                    targets.add(pair.effect)
        if self.focus is None and not self.chooser.levelled:
            links += self._story_links(mentions, joined, links)
        links += self._focus_links(mentions, targets, joined)
        return links

    def _story_links(self, mentions: list[AnswerConcept], joined: set[int], links: list[Link]) -> list[Link]:
        """For a question without a focus and types without levels: link each unlinked concept to the one before it."""
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
                added.append(Link(first.label, second.label, chosen[0].name, CONFIDENCE["next"], quote, "inferred"))
                joined |= {left, right}
        return added

    def _reads_as_step(self, pair: Pair, mentions: list[AnswerConcept], targets: set[int]) -> bool:
        """Whether neighbouring concepts without a connector can be linked."""
        if pair.basis not in {"adjacent", "next", "shared"}:
            return True
        first, second = mentions[pair.cause], mentions[pair.effect]
        if pair.effect in targets or first.past_state:
            return False
        if pair.basis == "shared":
            return pair.via in targets
        if self.chooser.levelled:
            level = self.request.methodology.ontology.level_of
            return pair.basis == "adjacent" and level(second.node_type) == level(first.node_type) + 1
        if pair.basis == "next":
            return self._cued(pair, mentions)
        after = self.clauses[second.clause]
        subject = normalised_text(self.doc[after.start].text)
        return first.node_type != second.node_type and (after.break_before == "and" or subject in SUBJECTS)

    def _cued(self, pair: Pair, mentions: list[AnswerConcept]) -> bool:
        """Whether the second of two sentences contains a cue of the relation ("since then …")."""
        chosen = self.chooser.choose(mentions[pair.cause].node_type, mentions[pair.effect].node_type, "and", "cause")
        if chosen is None or not chosen[1]:
            return False
        clause = self.clauses[mentions[pair.effect].clause]
        said = " ".join(normalised_text(self.doc[i].text) for i in range(clause.start, clause.end))
        return any(f" {cue} " in f" {said} " for cue in chosen[0].cues if " " in cue or len(cue) > 4)

    def _link(self, pair: Pair, mentions: list[AnswerConcept]) -> Link | None:
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
            return Link(first.label, second.label, name, 0.3, quote, "stated", allowed=False)
        edge, forward, _ = chosen
        source, target = (first, second) if forward else (second, first)
        return Link(source.label, target.label, edge.name, CONFIDENCE[pair.basis], quote, BASIS[pair.basis])

    def _span(self, first: AnswerConcept, second: AnswerConcept) -> str:
        """Verbatim text from the one mention to the other."""
        low = min(first.clause, second.clause)
        high = max(first.clause, second.clause)
        start = self.doc[self.clauses[low].start].idx
        last = self.doc[self.clauses[high].end - 1]
        return self.request.text[start : last.idx + len(last.text)].strip()

    def _focus_links(self, mentions: list[AnswerConcept], targets: set[int], joined: set[int]) -> list[Link]:
        """Links between the focus of the question and the first concept of the answer, and those without a link."""
        if self.focus is None:
            return []
        links: list[Link] = []
        basis: Basis = "answered" if asks_why(self.question) else "inferred"
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
            if links and position in joined and not self.chooser.levelled:
                continue
            if mention.fixed and mention.node_type == self.focus.node_type:
                continue
            chosen = self._focus_choice(self.focus, mention, kind)
            if chosen is None:
                if position == 0 and asks_why(self.question):
                    edge_type = self.request.methodology.ontology.edges[0].name
                    refused = Link(self.focus.label, mention.label, edge_type, 0.3, mention.quote, basis, allowed=False)
                    links.append(refused)
                continue
            edge, forward, _ = chosen
            if kind == "contrast" and not against and CONTRAST_MARKERS & frozenset(edge.cues):
                kind = "focus"
            source, target = (self.focus.label, mention.label) if forward else (mention.label, self.focus.label)
            links.append(Link(source, target, edge.name, CONFIDENCE["focus"], mention.quote, basis))
        return links

    def _compares(self) -> bool:
        """Whether question or answer contains a cue of a relation of contrast, connectors aside."""
        said = f" {self.question} {' '.join(normalised_text(token.text) for token in self.doc)} "
        return any(
            f" {cue} " in said
            for edge in self.request.methodology.ontology.edges
            if CONTRAST_MARKERS & frozenset(edge.cues)
            for cue in frozenset(edge.cues) - CONTRAST_MARKERS
        )

    def _focus_choice(self, focus: Known, mention: AnswerConcept, kind: str) -> tuple[EdgeType, bool, float] | None:
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

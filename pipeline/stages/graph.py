"""Stage `graph`: adds the extraction to the surface graph."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import ClassVar

from pipeline.acts import PUT_RIGHT, PUT_RIGHT_AT_ONCE
from pipeline.conduct.moves import put_right
from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract, ExtractionOutput, GraphOutput, UtteranceOutput
from pipeline.graph.correction import Correction, GraphCorrection, corrected_chain
from pipeline.graph.dedup import BUILT_IN_SYNONYMS, Deduplicator, SynonymTable
from pipeline.graph.identity import fresh_state, refresh_edge_counts
from pipeline.graph.surface import SurfaceGraph
from pipeline.ports import Embedder, ExtractedConcept, Parser, Vectors
from pipeline.state import Utterance

REMEMBERED_TABLES = 64
CORRECTED_ANSWERS = 3
"""A correction in passing is looked for in so many of the latest answers."""


class GraphStage:
    """Deduplicates concepts, adds nodes, edges and tensions, and updates the tracker."""

    name: ClassVar[str] = "graph"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput, UtteranceOutput, ExtractionOutput)
    provides: ClassVar[type[Contract]] = GraphOutput

    def __init__(self, embedder: Embedder, parser: Parser) -> None:
        self._embedder = embedder
        self._parser = parser
        self._tables: dict[tuple[tuple[str, ...], ...], SynonymTable] = {}

    async def run(self, context: TurnContext) -> GraphOutput:
        """The graph after this answer. Raises ProviderError."""
        start = context.get(ContextOutput)
        said = context.get(UtteranceOutput)
        extraction = context.get(ExtractionOutput).extraction
        graph = start.graph.copy()
        concepts = extraction.concepts
        lemmas, vectors, known = await self._describe(context, graph, concepts)
        settings = context.configuration.settings
        dedup = Deduplicator(
            graph,
            {**context.embeddings, **known},
            await self._synonyms(context),
            method=settings.dedup_method,
            jaccard=settings.surface_jaccard_threshold,
            cosine=settings.surface_similarity_threshold,
        )
        update = GraphCorrection(
            graph,
            dedup,
            context.configuration.methodology.ontology,
            said.utterance,
            context.state.session_id,
            part=sum(
                u.turn_number == said.utterance.turn_number and u.speaker == "respondent"
                for u in context.state.utterances
            ),
        )
        for concept, own_lemmas, vector in zip(concepts, lemmas, vectors, strict=True):
            update.add_concept(concept, own_lemmas, vector)
        for relationship in extraction.relationships:
            update.add_relationship(relationship)
        update.keep_dropped(extraction.dropped)
        if said.utterance.corrects is not None:
            update.supersede_corrected(corrected_chain(context.state.utterances, said.utterance.corrects))
        await self._put_right(context, update)

        tracker = start.tracker.copy()
        key_of = start.canonical.key_of
        ontology = context.configuration.methodology.ontology
        for node_id in update.mentioned:
            tracker.register(fresh_state(graph.nodes[node_id], key_of(node_id), ontology))
        refresh_edge_counts(tracker, graph, key_of)
        if update.gained and not start.correcting and tracker.previous_focus in tracker.states:
            assert tracker.previous_focus is not None
            tracker.record_yield(tracker.previous_focus, start.turn_number)
        created = {node.id for node in update.nodes_added}
        for edge in update.edges_added:
            for end in (edge.source_id, edge.target_id):
                if end not in created and key_of(end) in tracker.states:
                    tracker.revive(key_of(end))
        for node_id in update.superseded:
            tracker.forget(node_id, key_of(node_id))
        return GraphOutput(
            graph=graph,
            tracker=tracker,
            nodes_added=tuple(graph.nodes[node.id] for node in update.nodes_added),
            nodes_mentioned=tuple(graph.nodes[i] for i in update.mentioned if i not in created),
            edges_added=tuple(graph.edges[edge.id] for edge in update.edges_added),
            embeddings={**known, **update.vectors},
        )

    async def _put_right(self, context: TurnContext, update: GraphCorrection) -> None:
        """Put right, or take back, what the respondent says was understood wrongly."""
        said = context.get(UtteranceOutput)
        corrections = [
            act
            for act in said.acts
            if act.act == "corrects" and act.sure and act.about not in (PUT_RIGHT, PUT_RIGHT_AT_ONCE)
        ]
        if not corrections:
            return
        answers = [u for u in context.state.utterances if u.speaker == "respondent" and u.text]
        asked = context.state.question
        for act in corrections:
            wrong, right = act.details.get("wrong", ""), put_right(said.utterance.text, act)
            latest = _corrected_by(wrong, answers)
            lemmas, own = await self._parser.lemmas([wrong, right])
            if wrong and right:
                await self._amend(update, Correction(wrong, right, frozenset(lemmas), frozenset(own)), latest)
            if lemmas or not right:
                update.retract(lemmas, latest, asked.focus_node_id if asked is not None else None)

    async def _amend(self, update: GraphCorrection, correction: Correction, latest: Set[str]) -> None:
        """Say what is right in every concept of the latest answers that has the words that were wrong."""
        for node, label in update.amendable(correction, latest):
            (lemmas,) = await self._parser.lemmas([label])
            update.amend(node, label, lemmas, correction, latest)

    async def _describe(
        self, context: TurnContext, graph: SurfaceGraph, concepts: Sequence[ExtractedConcept]
    ) -> tuple[list[tuple[str, ...]], list[Vectors | None], dict[str, Vectors]]:
        """Lemmas and vectors of the concepts, and vectors of nodes that have none yet."""
        if not concepts:
            return [], [], {}
        labels = [concept.label for concept in concepts]
        lemmas = await self._parser.lemmas(labels)
        if context.configuration.settings.dedup_method not in ("embeddings", "hybrid"):
            return lemmas, [None] * len(labels), {}
        missing = [node for node in graph.live_nodes() if node.id not in context.embeddings]
        rows = await self._embedder.embed([*labels, *(node.label for node in missing)])
        known = {node.id: rows[len(labels) + i] for i, node in enumerate(missing)}
        return lemmas, [rows[i] for i in range(len(labels))], known

    async def _synonyms(self, context: TurnContext) -> SynonymTable:
        """The synonyms that apply, cached: they are the same in all turns of a session."""
        if context.configuration.settings.dedup_method not in ("jaccard", "hybrid"):
            return SynonymTable(())
        sets = (*context.configuration.synonyms, *BUILT_IN_SYNONYMS)
        found = self._tables.get(sets)
        if found is None:
            flat = await self._parser.lemmas([phrase for members in sets for phrase in members])
            at = iter(flat)
            found = SynonymTable([[next(at) for _ in members] for members in sets])
            if len(self._tables) >= REMEMBERED_TABLES:
                self._tables.clear()
            self._tables[sets] = found
        return found


def _corrected_by(wrong: str, answers: Sequence[Utterance]) -> frozenset[str]:
    """Ids of the answers that a correction may be of: the latest, or where none of them has the words that were wrong
    the last one that has.
    """
    latest = answers[-CORRECTED_ANSWERS:]
    whole = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE)
    said = [answer for answer in answers if wrong and whole.search(answer.text)]
    if said and not any(answer in said for answer in latest):
        latest = said[-1:]
    return frozenset(answer.id for answer in latest)

"""Time per turn by stage at growing graphs, with the offline provider and without any language work."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from config.loader import Library
from pipeline.concept import SessionConfiguration
from pipeline.context import Answer
from pipeline.graph.canonical import CanonicalSlot, SlotMapping
from pipeline.graph.identity import refresh_edge_counts
from pipeline.graph.slotting import SlotAssignment
from pipeline.graph.surface import KGEdge, KGNode, Mention
from pipeline.graph.tracker import NodeState, TrackerSnapshot
from pipeline.language.acts.reading import RuleReader
from pipeline.ports import ExtractedConcept, ExtractedRelationship, Extraction, ExtractionRequest, Vectors
from pipeline.state import InterviewState, Velocity
from pipeline.turn import Providers, TurnPipeline
from tests.support.interview import NOW, FixedRater, Listener, OwnSlots, PlainWriter, WordParser, new_state

SIZES = (10, 50, 100, 500)
ROUNDS = 25
WARM = 3
DIMENSION = 384
# No answer is used twice in a table: parser and embedder remember texts, and a real respondent repeats few.
ANSWERS = [line for line in (Path(__file__).parent / "answers.txt").read_text().splitlines() if line]

_WORDS = """taste aroma price machine morning energy focus calm friends kitchen habit budget health sleep texture
colour warmth noise speed order control quality origin farmer waste travel office team pride comfort routine weekend
family surprise craft memory holiday balcony silence trust freedom balance effort cleaning repair
choice variety""".split()


def grown_state(configuration: SessionConfiguration, size: int) -> tuple[InterviewState, dict[str, Vectors]]:
    """A session in its sixth turn with `size` distinct, linked nodes, each mapped to a slot of its own."""
    kinds = [node.name for node in configuration.methodology.ontology.nodes]
    nodes, edges, slots, mappings, states = [], [], [], [], []
    rng = np.random.default_rng(3)
    vectors: dict[str, Vectors] = {}
    for i in range(size):
        label = f"{_WORDS[i % len(_WORDS)]} {_WORDS[(i * 7 + i // len(_WORDS)) % len(_WORDS)]} {i}"
        turn = 1 + i * 5 // size
        kind = kinds[i % len(kinds)]
        node_id, slot_id = f"n{i}", f"s{i}"
        nodes.append(
            KGNode(
                id=node_id, label=label, node_type=kind, mentions=(Mention(utterance_id="u", quote=label),),
                confidence=0.8, created_turn=turn, last_mention_turn=turn, sequence=2 * i + 1,
                mention_sequence=2 * i + 1, lemmas=tuple(label.split()),
            )
        )  # fmt: skip
        slots.append(
            CanonicalSlot(
                id=slot_id, slot_name=label.replace(" ", "_"), description=label, node_type=kind,
                status="active", support_count=2, first_seen_turn=turn, promoted_turn=turn,
            )
        )  # fmt: skip
        mappings.append(
            SlotMapping(surface_node_id=node_id, canonical_slot_id=slot_id, similarity=1.0, assigned_turn=turn)
        )
        states.append(
            NodeState(
                key=slot_id, label=label, node_type=kind, created_turn=turn, sequence=2 * i + 1,
                surface_ids=(node_id,), focus_count=int(i < 5), turns_since_last_yield=int(i < 5) * 2,
            )
        )  # fmt: skip
        for key in (node_id, slot_id):
            row = rng.normal(size=DIMENSION).astype(np.float32)
            vectors[key] = row / np.linalg.norm(row)
        if i:
            edges.append(
                KGEdge(
                    id=f"e{i}", source_id=f"n{i - 1 if i % 4 else i // 2}", target_id=node_id, edge_type="leads_to",
                    mentions=(Mention(utterance_id="u", quote=label),), confidence=0.7, created_turn=turn,
                    sequence=2 * i,
                )
            )  # fmt: skip
    state = new_state(
        concept_id=configuration.concept.id, methodology=configuration.methodology.name, status="active",
        turn_count=5, nodes=tuple(nodes), edges=tuple(edges), slots=tuple(slots), mappings=tuple(mappings),
        tracker=TrackerSnapshot(states=tuple(states), previous_focus="s1"), strategy_history=("explore",) * 2,
        surface_velocity=Velocity(peak=4, previous_count=size), max_turns=30,
    )  # fmt: skip
    return state, vectors


class ThreeConcepts:
    """Finds three new concepts and two links in any answer, without language work."""

    def __init__(self, kinds: Sequence[str], edge: str) -> None:
        self._kinds = kinds
        self._edge = edge

    async def extract(self, request: ExtractionRequest) -> Extraction:
        words = request.text.split()
        labels = [" ".join(words[i : i + 3]) for i in (0, 4, 8)]
        return Extraction(
            concepts=tuple(
                ExtractedConcept(label=label, node_type=kind, quote=label)
                for label, kind in zip(labels, self._kinds, strict=False)
            ),
            relationships=tuple(
                ExtractedRelationship(source=a, target=b, edge_type=self._edge, quote=a) for a, b in pairwise(labels)
            ),
        )


class RandomEmbedder:
    """A fixed random direction per text; costs nothing worth measuring."""

    model_id = "random"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.random.default_rng(abs(hash(tuple(texts))) % 2**32).normal(size=(len(texts), DIMENSION))
        unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit


def without_language(configuration: SessionConfiguration) -> Providers:
    """Providers that cost next to nothing, so that our own share of a turn shows."""
    kinds = [node.name for node in configuration.methodology.ontology.nodes][:3]
    edge = configuration.methodology.ontology.edges[0].name
    return Providers(
        ThreeConcepts(kinds, edge),
        FixedRater(4),
        OwnSlots(),
        PlainWriter(),
        RandomEmbedder(),
        WordParser(),
        RuleReader(),
    )


async def measure(
    pipeline: TurnPipeline,
    configuration: SessionConfiguration,
    size: int,
    answers: Iterator[str],
    *,
    rounds: int = ROUNDS,
) -> tuple[list[float], dict[str, float]]:
    """Milliseconds per turn, and the median per stage."""
    state, vectors = grown_state(configuration, size)
    graph, canonical, tracker = state.surface_graph(), state.canonical_graph(), state.node_tracker()
    SlotAssignment(
        canonical, graph, configuration.methodology, session_id="s", turn=5, threshold=0.6, min_support=1
    ).settle()
    refresh_edge_counts(tracker, graph, canonical.key_of)
    settled = {
        "tracker": tracker.snapshot(),
        "slots": tuple(canonical.slots.values()),
        "canonical_edges": tuple(canonical.edges.values()),
    }
    state = state.model_copy(update=settled)
    times: list[float] = []
    stages: dict[str, list[float]] = {}
    for number in range(-WARM, rounds):
        answer = Answer(f"k{number}", next(answers))
        started = time.perf_counter()
        outcome = await pipeline.run(state, answer, configuration, now=NOW, sink=Listener(), embeddings=vectors)
        took = (time.perf_counter() - started) * 1000
        assert outcome.record is not None
        if number >= 0:
            times.append(took)
            for name, ms in outcome.record.stages_ms.items():
                stages.setdefault(name, []).append(ms)
    return times, {name: statistics.median(all_) for name, all_ in stages.items()}


async def run(library: Library, offline: Mapping[str, Providers]) -> None:
    """Print the tables one after the other: without language work, then with each of these providers."""
    configuration = library.configuration("coffee_mec")
    configuration = configuration.model_copy(update={"methodology": configuration.methodology})
    settings = {"without language work": without_language(configuration), **offline}
    medians: dict[str, float] = {}
    for title, providers in settings.items():
        pipeline = TurnPipeline(replace(providers), time.perf_counter)
        print(f"\n## Time per turn, {title}, ms (median of {ROUNDS}; every node a candidate)\n")
        rows: dict[int, tuple[list[float], dict[str, float]]] = {}
        answers = iter(ANSWERS)
        for size in SIZES:
            rows[size] = await measure(pipeline, configuration, size, answers)
        names = list(rows[SIZES[0]][1])
        print("| nodes | median | p95 | " + " | ".join(names) + " |")
        print("|---" * (len(names) + 3) + "|")
        for size, (times, stages) in rows.items():
            p95 = sorted(times)[int(len(times) * 0.95)]
            cells = " | ".join(f"{stages.get(name, 0):.2f}" for name in names)
            print(f"| {size} | {statistics.median(times):.1f} | {p95:.1f} | {cells} |")
        medians[title] = statistics.median(rows[50][0])
        small, large = statistics.median(rows[50][0]), statistics.median(rows[500][0])
        print(f"\n500 nodes over 50 nodes: {large / small:.2f}× ({large:.1f} ms against 2 × {small:.1f} + 10 ms)")
    least = min(medians.values())
    print("\nAt 50 nodes: " + ", ".join(f"{title} {ms:.1f} ms ({ms / least:.2f}×)" for title, ms in medians.items()))

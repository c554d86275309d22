"""The offline extractor against the corpus: floors on both halves.

The second half was scored once, after the last change to rules, word lists and thresholds; its floors are regression
floors, and nobody tunes against them (tests/corpus/extraction/README.md).
"""

from __future__ import annotations

import asyncio

import pytest

from pipeline.ports import ExtractedConcept, ExtractedRelationship, Extraction
from tests.quality.__main__ import report
from tests.quality.run import Evaluation, evaluate, shared_matcher
from tests.quality.score import Tally, load


@pytest.fixture(scope="module")
def tuning() -> Evaluation:
    return asyncio.run(evaluate("tuning"))


def test_tuning_half_concepts_are_found(tuning: Evaluation) -> None:
    assert tuning.total.concepts.f1 >= 0.95, report(tuning, 10)


def test_tuning_half_types_are_right(tuning: Evaluation) -> None:
    assert tuning.total.type_accuracy >= 0.88, report(tuning, 10)


def test_tuning_half_links_are_right(tuning: Evaluation) -> None:
    assert tuning.total.links.f1 >= 0.75, report(tuning, 10)
    assert tuning.total.focus_links.f1 >= 0.68, report(tuning, 10)


def test_tuning_half_every_domain_keeps_up(tuning: Evaluation) -> None:
    assert len(tuning.domains) == 4
    for name, score in tuning.domains.items():
        assert score.concepts.f1 >= 0.90, name
        assert score.type_accuracy >= 0.80, name
        assert score.all_links.f1 >= 0.60, name


async def test_held_out_half_keeps_the_floors() -> None:
    held_out = await evaluate("held_out")
    assert held_out.total.concepts.f1 >= 0.70, report(held_out, 10)
    assert held_out.total.type_accuracy >= 0.70, report(held_out, 10)
    assert held_out.total.links.f1 >= 0.50, report(held_out, 10)


ITEM = load("tuning")[2]
"""ebike-03: four concepts, two links, no focus."""


def extraction_of(item: dict[str, object]) -> Extraction:
    concepts = item["concepts"]
    links = item["links"]
    assert isinstance(concepts, list)
    assert isinstance(links, list)
    return Extraction(
        concepts=tuple(
            ExtractedConcept(label=c["label"], node_type=c["node_type"], quote=c["label"]) for c in concepts
        ),
        relationships=tuple(
            ExtractedRelationship(source=k["source"], target=k["target"], edge_type=k["type"], quote="") for k in links
        ),
    )


@pytest.mark.parametrize("part", ["tuning"])
def test_score_of_the_expected_itself_is_perfect(part: str) -> None:
    matcher = shared_matcher()
    for item in load(part):
        expected = extraction_of(item)
        score = matcher.score(item, expected)
        assert (score.concepts.f1, score.links.f1, score.type_accuracy) == (1.0, 1.0, 1.0), item["id"]


def test_score_reversed_link_counts_as_missed_and_extra() -> None:
    right = extraction_of(ITEM)
    reversed_links = tuple(
        link.model_copy(update={"source": link.target, "target": link.source}) for link in right.relationships
    )
    score = shared_matcher().score(ITEM, right.model_copy(update={"relationships": reversed_links}))
    assert score.links == Tally(hits=0, missed=2, extra=2)


def test_score_invention_and_omission_count_once_each() -> None:
    right = extraction_of(ITEM)
    invented = ExtractedConcept(label="purple unicorn", node_type="attribute", quote="purple unicorn")
    score = shared_matcher().score(ITEM, Extraction(concepts=(*right.concepts[1:], invented)))
    assert score.concepts == Tally(hits=3, missed=1, extra=1)


def test_score_opposite_does_not_match() -> None:
    matcher = shared_matcher()
    assert matcher.closeness("easy to clean", ["easy to clean"]) > 0
    assert matcher.closeness("easy to clean", ["not easy to clean"]) == 0


def test_score_wrong_type_is_counted_but_still_a_match() -> None:
    right = extraction_of(ITEM)
    wrong = right.concepts[0].model_copy(update={"node_type": "terminal_value"})
    score = shared_matcher().score(ITEM, Extraction(concepts=(wrong, *right.concepts[1:])))
    assert score.concepts.hits == 4
    assert (score.typed, score.typed_right) == (4, 3)

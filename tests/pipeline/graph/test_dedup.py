"""What counts as the same concept."""

from __future__ import annotations

import pytest

from pipeline.graph.dedup import SynonymTable
from pipeline.graph.polarity import opposed
from tests.support.interview import Interview, TableEmbedder, concepts, configuration


async def labels(
    interview: Interview, first: str, second: str, kind: str = "attribute", other: str | None = None
) -> int:
    await interview.say("one", concepts((first, kind)))
    await interview.say("two", concepts((second, other or kind)))
    return len(interview.state.nodes)


async def test_dedup_case_and_space_differ_is_one_node() -> None:
    assert await labels(Interview(), "Creamy  Foam", "creamy foam") == 1


async def test_dedup_same_label_other_type_stays_two() -> None:
    assert await labels(Interview(), "creamy foam", "creamy foam", other="consequence") == 2


async def test_dedup_plural_by_lemma_is_one_node() -> None:
    assert await labels(Interview(), "strong beans", "strong bean") == 1


async def test_dedup_trade_synonym_is_one_node() -> None:
    assert await labels(Interview(), "milk foam", "milk froth") == 1


async def test_dedup_concept_synonyms_are_used() -> None:
    config = configuration()
    concept = config.concept.model_copy(update={"synonyms": (("flat white", "milk drink"),)})
    interview = Interview(configuration=config.model_copy(update={"concept": concept}))
    assert await labels(interview, "flat white", "milk drink") == 1


@pytest.mark.parametrize(("cosine", "expected"), [(0.801, 1), (0.79, 2)])
async def test_dedup_cosine_threshold_is_080(cosine: float, expected: int) -> None:
    interview = Interview(embedder=TableEmbedder([("wakes me up", "gives energy", cosine)]))
    assert await labels(interview, "gives energy", "wakes me up") == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("easy clean", "not easy clean"),
        ("better taste", "worse taste"),
        ("low price", "high price"),
        ("comfortable seat", "uncomfortable seat"),
    ],
)
async def test_dedup_opposites_with_high_cosine_stay_two(first: str, second: str) -> None:
    interview = Interview(embedder=TableEmbedder([(second, first, 0.97)]))
    assert await labels(interview, first, second) == 2


async def test_dedup_opposite_stance_stays_two() -> None:
    interview = Interview(embedder=TableEmbedder([("price of beans", "cost of a bag", 0.95)]))
    liked, disliked = concepts(("cost of a bag", "attribute")), concepts(("price of beans", "attribute"))
    for found, stance in ((liked, 1), (disliked, -1)):
        concept = found.concepts[0].model_copy(update={"stance": stance})
        await interview.say(str(stance), found.model_copy(update={"concepts": (concept,)}))
    assert len(interview.state.nodes) == 2


@pytest.mark.parametrize(
    ("method", "pair", "expected"),
    [
        ("exact", ("strong beans", "strong bean"), 2),
        ("jaccard", ("strong beans", "strong bean"), 1),
        ("jaccard", ("gives energy", "wakes me up"), 2),
        ("embeddings", ("gives energy", "wakes me up"), 1),
        ("hybrid", ("gives energy", "wakes me up"), 1),
    ],
)
async def test_dedup_method_decides_which_steps_run(method: str, pair: tuple[str, str], expected: int) -> None:
    similar = TableEmbedder([("wakes me up", "gives energy", 0.9)])
    interview = Interview(configuration=configuration(dedup_method=method), embedder=similar)
    assert await labels(interview, *pair) == expected


async def test_mention_repeated_adds_quote_once_and_no_node() -> None:
    interview = Interview()
    await interview.say("one", concepts(("foam", "attribute")))
    await interview.say("two", concepts(("foam", "attribute"), ("froth", "attribute")))
    node = interview.state.nodes[0]
    assert len(interview.state.nodes) == 1
    assert interview.result.nodes_added == ()
    assert [mention.quote for mention in node.mentions] == ["foam", "foam", "froth"]
    assert node.mention_count == 2 and len(node.source_utterance_ids) == 2


async def test_dedup_vectors_lost_are_made_again() -> None:
    interview = Interview(embedder=TableEmbedder([("wakes me up", "gives energy", 0.9)]))
    await interview.say("one", concepts(("gives energy", "attribute")))
    interview.embeddings.clear()
    await interview.say("two", concepts(("wakes me up", "attribute")))
    assert len(interview.state.nodes) == 1


def test_synonyms_longest_phrase_wins() -> None:
    table = SynonymTable([[("battery", "life"), ("runtime",)], [("battery",), ("cell",)]])
    assert table.canonical(("long", "battery", "life")) == table.canonical(("long", "runtime"))
    assert table.canonical(("battery",)) == table.canonical(("cell",))


def test_opposed_double_negation_is_not_opposed() -> None:
    assert not opposed(("not", "never", "late"), ("late",))
    assert opposed(("never", "late"), ("late",))

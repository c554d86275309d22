"""The extractor: what is said becomes concepts and links, and nothing that is not said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.extraction import MAX_CONCEPTS, OfflineExtractor
from pipeline.language.srl import SpacyParser
from pipeline.methodology import EdgeType, Method, Methodology, NodeType, Ontology, Strategy
from pipeline.ports import Extraction, ExtractionRequest
from tests.quality.run import methodology

PARSER, EMBEDDER = SpacyParser(), OnnxEmbedder()
EXTRACTOR = OfflineExtractor(PARSER, EMBEDDER)


def extract(text: str, name: str = "means_end_chain", **given_: Any) -> Extraction:
    request = ExtractionRequest(
        text=text,
        utterance_id="u1",
        question=given_.pop("question", "Why is that important to you?"),
        topic=given_.pop("topic", "oat milk"),
        methodology=given_.pop("methodology", None) or methodology(name),
        language="en",
        **given_,
    )
    return EXTRACTOR.extract_sync(request)


def labels(found: Extraction) -> list[str]:
    return [concept.label for concept in found.concepts]


def links(found: Extraction) -> list[tuple[str, str, str]]:
    return [(link.source, link.edge_type, link.target) for link in found.relationships]


def types(found: Extraction) -> dict[str, str]:
    return {concept.label: concept.node_type for concept in found.concepts}


@pytest.mark.parametrize(
    "text",
    [
        "not really, it's just okay",
        "I don't know",
        "I don't know, nothing else",
        "no",
        "Hmm, good question.",
        "sorry, where was I",
        "lol",
        "",
        "   ",
        "🙂🙂",
        "!!!",
        "I'd rather not say",
        "It's okay I guess",
    ],
)
def test_extract_answer_without_content_gives_nothing(text: str) -> None:
    found = extract(text)
    assert found.concepts == ()
    assert found.relationships == ()
    assert not found.extractable


@pytest.mark.parametrize(
    "text",
    [
        "Es ist gut, weil es billig ist und ich den Geschmack mag.",
        "זה טעים מאוד",
        "とても美味しいです",
        "c'est très bon parce que j'aime le goût",
    ],
)
def test_extract_other_language_gives_nothing(text: str) -> None:
    assert extract(text).concepts == ()


def test_extract_chain_orients_links_from_concrete_to_abstract() -> None:
    found = extract("It has a creamy texture, so my coffee tastes better, which means I feel relaxed.")
    assert links(found) == [
        ("creamy texture", "leads_to", "coffee tastes better"),
        ("coffee tastes better", "leads_to", "feel relaxed"),
    ]
    assert types(found)["creamy texture"] == "attribute"
    assert types(found)["feel relaxed"] == "psychosocial_consequence"


def test_extract_because_is_oriented_by_level_not_by_order() -> None:
    found = extract("I feel relaxed because I save time in the morning.")
    assert links(found) == [("save time in the morning", "leads_to", "feel relaxed")]


def test_extract_personal_meaning_takes_the_higher_level() -> None:
    assert types(extract("it makes me feel safe"))["makes me feel safe"] == "psychosocial_consequence"


def test_extract_denied_consequence_keeps_its_negation() -> None:
    (concept,) = extract("I don't have to worry about lumps").concepts
    assert "n't" in concept.label


def test_extract_why_answer_is_linked_to_the_focus() -> None:
    known: dict[str, Any] = {
        "focus_label": "creamy texture",
        "focus_type": "attribute",
        "existing": (("creamy texture", "attribute"),),
    }
    found = extract("my porridge doesn't stick to the pan", **known)
    assert ("creamy texture", "leads_to", labels(found)[0]) in links(found)


@pytest.mark.parametrize("said", ["the creamy texture again", "it's about the creamy textures", "a creamy texture"])
def test_extract_known_concept_again_reuses_its_exact_label(said: str) -> None:
    found = extract(f"Well, {said}.", existing=(("Creamy texture", "attribute"),))
    assert labels(found) == ["Creamy texture"]


def test_extract_synonym_of_a_known_concept_reuses_its_label() -> None:
    found = extract(
        "the barista art", existing=(("latte drawing", "attribute"),), synonyms=(("barista art", "latte drawing"),)
    )
    assert labels(found) == ["latte drawing"]


def test_extract_opposite_of_a_known_concept_is_not_merged_but_revises_it() -> None:
    found = extract("No wait, it's not easy to clean.", existing=(("easy to clean", "functional_consequence"),))
    assert labels(found) == ["not easy to clean"]
    assert ("not easy to clean", "revises", "easy to clean") in links(found)


def test_extract_correction_revises_what_was_said() -> None:
    found = extract(
        "Actually no, it isn't the price, it's the taste.",
        existing=(("low price", "attribute"), ("froth", "attribute")),
    )
    assert ("taste", "revises", "low price") in links(found)


def test_extract_not_this_but_that_revises_only_what_is_known() -> None:
    known = extract("Not the price but the taste.", existing=(("low price", "attribute"),))
    assert [(kind, target) for _, kind, target in links(known)] == [("revises", "low price")]
    assert links(extract("Not the price but the taste.")) == []


@pytest.mark.parametrize(
    "said",
    [
        "I had to wait an hour for the coffee to go cold.",
        "A packet that actually lasts the whole week, that's what I look at now.",
        "Then I changed my mind and bought the cheap one.",
        "The waiter said it was my fault, and that's not true.",
        "Like I said before, it tastes of toffee.",
    ],
)
def test_extract_words_that_only_sound_like_a_correction_revise_nothing(said: str) -> None:
    found = extract(said, focus_label="low price", focus_type="attribute", existing=(("low price", "attribute"),))
    assert [kind for _, kind, _ in links(found) if kind == "revises"] == []


def test_extract_element_is_recognised_by_alias_and_by_meaning() -> None:
    elements = (("fee", ("monthly fee", "subscription price")), ("colour", ("colour",)))
    found = extract("the subscription price is too high for me", elements=elements)
    assert found.concepts[0].element_ids == ("fee",)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("the subscription price is too high for me", ("plan",)),
        ("the price is too high for me", ("price",)),
    ],
)
def test_extract_longest_name_of_elements_that_contain_each_other_wins(said: str, expected: tuple[str, ...]) -> None:
    elements = (("price", ("price",)), ("plan", ("subscription price",)))
    assert extract(said, elements=elements).concepts[0].element_ids == expected


def test_extract_name_of_little_words_has_to_be_said_as_it_is() -> None:
    elements = (("advice", ("worth it",)), ("rhythm", ("per month",)))
    assert extract("that part is worth something to me", elements=elements).concepts[0].element_ids == ()
    assert extract("I was away for a whole month", elements=elements).concepts[0].element_ids == ()


def test_extract_stance_follows_the_feeling() -> None:
    stances = {c.label: c.stance for c in extract("I love the taste, but I hate the ugly packaging").concepts}
    assert sorted(stances.values()) == [-1, 1]


def test_extract_relation_without_a_place_in_the_methodology_is_on_record() -> None:
    known: dict[str, Any] = {
        "focus_label": "low price",
        "focus_type": "attribute",
        "existing": (("low price", "attribute"),),
    }
    found = extract("because of freedom, that is what life is about", **known)
    assert types(found).get("freedom") == "terminal_value"
    assert [(d.source, d.target) for d in found.dropped] == [("low price", "freedom")]
    assert links(found) == []


def test_extract_jobs_and_incidents_use_their_own_relations() -> None:
    job = extract("I use a paper list because the app keeps crashing.", "jobs_to_be_done", topic="shopping")
    assert links(job) == [("use a paper list", "addresses", "app keeps crashing")]
    event = extract("They lost my suitcase so I was furious.", "critical_incident", topic="a flight")
    assert links(event) == [("lost my suitcase", "elicited", "furious")]


def test_extract_methodology_nobody_has_seen_works_from_its_yaml() -> None:
    touchpoints = Methodology(
        method=Method(name="journeys", goal="x"),
        ontology=Ontology(
            nodes=(
                NodeType(
                    name="channel",
                    description="Where it happened",
                    exemplars=("on the website", "in the shop", "by phone"),
                ),
                NodeType(
                    name="delight",
                    description="What pleased",
                    exemplars=("a friendly surprise", "I was delighted", "so kind"),
                ),
            ),
            edges=(EdgeType(name="caused", permitted_connections=(("channel", "delight"),), cues=("so", "because")),),
        ),
        signals={},
        strategies=(Strategy(name="s", signal_weights={}),),
    )
    found = extract("I ordered in the shop, so I was delighted.", methodology=touchpoints)
    assert set(types(found).values()) == {"channel", "delight"}
    assert [kind for _, kind, _ in links(found)] == ["caused"]


def test_extract_huge_answer_is_bounded_and_on_record() -> None:
    text = "".join(f"I like item {i} because thing {i} shines brightly. " for i in range(200))[:8000]
    found = extract(text)
    assert 0 < len(found.concepts) <= MAX_CONCEPTS
    assert any("too many" in d.reason for d in found.dropped)


def test_extract_same_request_gives_the_same_twice() -> None:
    text = "It is light and cheap, so I take it everywhere, which makes me feel free."
    assert extract(text) == extract(text)


SAID = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            "it is creamy so because I feel and the texture which means not cheap when but my kids , . ? \n "
            "\x00 \ud800 🙂 ‮ שלום actually no never don't that way want to be happy 12 http://x.y/z".split(" ")
        ),
        max_size=40,
    ).map(" ".join),
)


@settings(max_examples=150, deadline=None)
@given(SAID)
def test_extract_any_text_quotes_verbatim_and_links_only_what_it_knows(text: str) -> None:
    existing = (("creamy texture", "attribute"), ("feel good", "psychosocial_consequence"))
    found = extract(text, existing=existing, focus_label="creamy texture", focus_type="attribute")
    known = set(labels(found)) | {label for label, _ in existing}
    for concept in found.concepts:
        assert concept.quote
        assert concept.quote in text
        assert 1 <= len(concept.label.split()) <= 10
        assert 0 <= concept.confidence <= 1
    for link in found.relationships:
        assert {link.source, link.target} <= known
        assert link.source != link.target
        assert link.quote in text


@pytest.mark.parametrize(
    "text",
    [
        "My neighbour got a new dog btw, super cute, barks all night though",
        "did you see the football yesterday? anyway",
        "we drove there by car, it was raining, totally unrelated I know",
        "thanks, that covers it I think",
    ],
)
def test_extract_remark_beside_the_point_gives_nothing(text: str) -> None:
    assert extract(text).concepts == ()

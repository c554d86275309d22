"""What is said to hold only on a condition takes nothing back, and follows from no sentence before it."""

from __future__ import annotations

import pytest

from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.extraction import OfflineExtractor
from pipeline.language.reader.understanding import Reader
from pipeline.language.srl import SpacyParser
from pipeline.ports import Extraction, ExtractionRequest
from tests.quality.run import methodology


@pytest.fixture(scope="module")
def extractor(reader: Reader) -> OfflineExtractor:
    return OfflineExtractor(SpacyParser(), OnnxEmbedder(), reader=reader)


def extract(extractor: OfflineExtractor, text: str, *existing: tuple[str, str]) -> Extraction:
    return extractor.extract_sync(
        ExtractionRequest(
            text=text,
            utterance_id="u1",
            question="What do you pay attention to?",
            topic="coffee",
            methodology=methodology("means_end_chain"),
            language="en",
            existing=existing,
        )
    )


@pytest.mark.parametrize(
    ("text", "revises"),
    [
        ("If I can't concentrate I make mistakes.", False),
        ("Some days I can't concentrate.", False),
        ("Actually I can't concentrate with it.", True),
    ],
)
def test_opposite_takes_back_what_was_said_unless_it_holds_only_sometimes(
    extractor: OfflineExtractor, text: str, revises: bool
) -> None:
    found = extract(extractor, text, ("can concentrate", "functional_consequence"))
    assert ("revises" in {link.edge_type for link in found.relationships}) is revises


def test_sentence_with_its_own_condition_does_not_follow_from_the_one_before(extractor: OfflineExtractor) -> None:
    found = extract(extractor, "I drink it because I get tired. When I can concentrate I finish my reports on time.")
    assert {"get tired", "I finish my reports on time"} <= {concept.label for concept in found.concepts}
    links = [link for link in found.relationships if (link.source, link.target)[0] == "get tired"]
    assert {link.basis for link in links} <= {"inferred"}
    own = extract(extractor, "When I can concentrate I finish my reports on time.")
    assert [link.basis for link in own.relationships] in ([], ["stated"])


def test_sentence_about_a_thing_is_no_part_of_its_name(extractor: OfflineExtractor) -> None:
    found = extract(extractor, "Noise cancelling is what I like most about it.")
    assert [concept.label for concept in found.concepts] == ["noise cancelling"]

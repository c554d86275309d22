"""An answer of a few words that names something is understood, also where the reader is not sure of it."""

from __future__ import annotations

import pytest

from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.extraction import OfflineExtractor
from pipeline.language.reader.understanding import Reader
from pipeline.language.srl import SpacyParser
from pipeline.ports import ExtractionRequest
from tests.quality.run import methodology


@pytest.fixture(scope="module")
def extractor(reader: Reader) -> OfflineExtractor:
    return OfflineExtractor(SpacyParser(), OnnxEmbedder(), reader=reader)


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ("price", ["price"]),
        ("the noise", ["the noise"]),
        ("low end", ["low end"]),
        ("not really", []),
        ("at home", []),
        ("three years ago", []),
        ("sometimes", []),
        ("no idea", []),
        ("yes", []),
        ("👍", []),
    ],
)
def test_few_words_with_a_noun_are_a_concept(extractor: OfflineExtractor, answer: str, labels: list[str]) -> None:
    found = extractor.extract_sync(
        ExtractionRequest(
            text=answer,
            utterance_id="u1",
            question="What comes to mind first?",
            topic="wireless headphones",
            methodology=methodology("means_end_chain"),
            language="en",
        )
    )
    assert [concept.label for concept in found.concepts] == labels
    assert found.extractable == bool(labels)

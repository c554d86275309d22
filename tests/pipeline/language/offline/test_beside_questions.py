"""What is told beside questions is understood."""

from __future__ import annotations

import pytest

from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.beside_questions import without_questions
from pipeline.language.offline.extraction import OfflineExtractor
from pipeline.language.reader.understanding import Reader
from pipeline.language.srl import SpacyParser
from pipeline.ports import ExtractionRequest
from tests.quality.run import methodology

TOLD = "It got me through to about four o'clock. By the time you've done that it has passed a bit."
ASKED = "What is it you're after with all this? Is it for a coffee firm?"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{TOLD} {ASKED}", TOLD),
        (f"{ASKED} {TOLD}", TOLD),
        ("Why?? It is only a cup.", "Why?? It is only a cup."),
        ("Who reads this?", "Who reads this?"),
        (TOLD, TOLD),
        ("", ""),
    ],
)
def test_questions_are_blanked_out_where_enough_is_told_beside_them(text: str, left: str) -> None:
    found = without_questions(text)
    assert " ".join(found.split()) == left
    assert len(found) == len(text)


def test_what_is_told_beside_a_question_makes_concepts(reader: Reader) -> None:
    extractor = OfflineExtractor(SpacyParser(), OnnxEmbedder(), reader=reader)

    def labels(text: str) -> list[str]:
        request = ExtractionRequest(
            text=text, utterance_id="u", question="What did that cup do for you?", topic="coffee",
            methodology=methodology("means_end_chain"), language="en",
        )  # fmt: skip
        return [concept.label for concept in extractor.extract_sync(request).concepts]

    assert labels(f"{TOLD} {ASKED}")
    assert not labels(ASKED)


def test_labels_keep_what_only_looks_like_a_hedge(reader: Reader) -> None:
    extractor = OfflineExtractor(SpacyParser(), OnnxEmbedder(), reader=reader)
    text = (
        "I sort of put the little pot on. It's got a bit of a kick to it. It is so strong that you know you've had it."
    )
    request = ExtractionRequest(
        text=text, utterance_id="u", question="How do you make it?", topic="coffee",
        methodology=methodology("means_end_chain"), language="en",
    )  # fmt: skip
    found = [concept.label for concept in extractor.extract_sync(request).concepts]
    assert found and not [label for label in found if label.startswith("of ") or "got of" in label]
    assert any("a bit of a kick" in label for label in found)

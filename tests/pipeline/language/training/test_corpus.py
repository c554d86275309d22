"""The corpus as the training takes it: each word has its act, each concept its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.acts import ACTS
from pipeline.language.embedder import build_tokenizer
from pipeline.language.reader.encoding import Encoder
from pipeline.language.training import corpus

ENCODER = Encoder(build_tokenizer())
CORPUS = Path(__file__).parents[3] / "corpus"


def answer(**changes: Any) -> dict[str, Any]:
    """A coded answer."""
    return {
        "question": "Why is that important?",
        "focus": "low noise",
        "focus_type": "attribute",
        "methodology": "means_end_chain",
        "answer": "It is quiet, so I sleep. Quiet!",
        "concepts": [{"words": "I sleep", "type": "functional_consequence", "salience": 2, "stance": "+"}],
        "links": [{"source": -1, "target": 0, "type": "leads_to", "basis": "answered"}],
        **changes,
    }


def written(path: Path, *items: Any) -> Path:
    """A file with one object per line, and an empty line as editors leave them."""
    path.write_text("".join(json.dumps(item) + "\n" for item in items) + "\n", encoding="utf-8")
    return path


def test_each_word_of_a_message_has_the_act_of_its_span(tmp_path: Path) -> None:
    item = {
        "question": "Why?",
        "message": "no no, it is cheap. I have to go now",
        "spans": [["no no, it is cheap.", "tells"], ["I have to go now", "wants_stop"]],
    }
    (message,) = corpus.messages(written(tmp_path / "acts.jsonl", item), ENCODER)
    text = item["message"]
    heard = {text[w.start : w.end]: ACTS[act] for w, act in zip(message.encoding.words, message.acts, strict=True)}
    assert heard["cheap"] == "tells"
    assert heard["go"] == heard["I"] == "wants_stop"


def test_message_without_words_is_left_out(tmp_path: Path) -> None:
    item = {"question": "Why?", "message": "  ", "spans": []}
    assert corpus.messages(written(tmp_path / "acts.jsonl", item), ENCODER) == []


def test_concept_said_twice_takes_the_place_that_is_free() -> None:
    twice = [{"words": "uiet", "type": "attribute"}, {"words": "uiet", "type": "attribute"}]
    found = corpus.coded(answer(answer="quiet and quiet", concepts=twice, links=[]), ENCODER)
    # Spans that begin inside a word hold no whole word, and are none.
    assert found.concepts == []
    whole = [{"words": "quiet", "type": "attribute"}, {"words": "quiet", "type": "attribute"}]
    found = corpus.coded(answer(answer="quiet and quiet", concepts=whole, links=[]), ENCODER)
    assert [(c.first, c.last) for c in found.concepts] == [(0, 0), (2, 2)]


def test_links_follow_concepts_that_moved_up_and_lose_those_that_are_gone() -> None:
    concepts = [
        {"words": "!", "type": "attribute"},
        {"words": "quiet", "type": "attribute"},
        {"words": "I sleep", "type": "functional_consequence"},
    ]
    links = [
        {"source": 0, "target": 2, "type": "leads_to", "basis": "stated"},
        {"source": 1, "target": 2, "type": "leads_to", "basis": "stated"},
        {"source": 1, "target": 2, "type": "revises"},
        {"source": -1, "target": 2, "type": "leads_to", "basis": "answered"},
    ]
    found = corpus.coded(answer(concepts=concepts, links=links), ENCODER)
    assert [c.type for c in found.concepts] == ["attribute", "functional_consequence"]
    assert found.links == [(0, 1, "leads_to", "stated"), (-1, 1, "leads_to", "answered")]


def test_what_was_not_coded_is_unknown_and_not_zero() -> None:
    bare = [{"words": "I sleep", "type": "functional_consequence"}]
    (concept,) = corpus.coded(answer(concepts=bare), ENCODER).concepts
    assert (concept.salience, concept.stance, concept.emotion) == (None, None, None)


@pytest.mark.parametrize("path", sorted((CORPUS / "answers").glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_coded_answer_of_the_corpus_keeps_all_its_concepts(path: Path) -> None:
    lost = 0
    for item in corpus.lines(path):
        lost += len(item["concepts"]) - len(corpus.coded(item, ENCODER).concepts)
    assert lost <= 3

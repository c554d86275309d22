"""What people do besides telling, as the training takes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline.language.training.talk_corpus import ANSWERS, INTERVIEW, MESSAGES, WRITER, told

CORPUS = Path(__file__).parents[3] / "corpus"


def written(path: Path, *items: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")


def test_each_source_says_what_is_done_and_what_nobody_looked_for(tmp_path: Path) -> None:
    said = {"writer": "1", "question": "How much?", "answer": "Sixty. Sixteen, sorry.", "words": "Sixteen, sorry."}
    written(tmp_path / "talk" / "beside.jsonl", {**said, "act": "corrects", "about": "self"})
    written(tmp_path / "talk" / "leaving.jsonl", {**said, "act": "tells", "words": ""})
    written(tmp_path / "talk" / "plain.jsonl", {**said, "act": "tells", "words": ""})
    written(tmp_path / "answers.jsonl", {"question": "Why?", "answer": "It is late."})
    passes = [{"act": "wants_topic", "words": "It is late.", "sure": "clear"}]
    written(tmp_path / "talk" / "coded_answers.jsonl", {"file": "answers.jsonl", "line": 0, "acts": passes})
    acts = [{"act": "nothing_more", "words": "That's all.", "sure": "maybe"}]
    coded = {"file": "held.jsonl", "line": 0, "turns": [{"turn": 1, "acts": acts}]}
    written(tmp_path / "talk" / "coded.jsonl", coded)
    turns = [{"question": "Why?", "answer": "It rained."}, {"question": "And?", "answer": "That's all."}]
    written(tmp_path / "held.jsonl", {"turns": turns})
    spans = [["I was late", "tells"], ["no, early", "corrects"]]
    written(
        tmp_path / "acts" / "later.jsonl", {"message": "I was late, no, early", "spans": spans, "question": "When?"}
    )
    found = list(told(tmp_path))
    assert [one.kind for one in found] == [WRITER, WRITER, WRITER, ANSWERS, INTERVIEW, INTERVIEW, MESSAGES]
    assert [act for act, _, _ in found[0].done] == ["corrects", "corrects_self"]
    assert found[1].done == ()
    assert found[3].done == (("elsewhere", "It is late.", True),)
    assert found[5].done == (("spent", "That's all.", False),)
    assert found[6].unknown == {"spent", "corrects_self"}, "the messages were marked without them"
    assert found[6].done == (("corrects", "no, early", True),)


def test_marked_words_of_the_corpus_stand_in_its_answers() -> None:
    found = list(told(CORPUS))
    assert len({one.source for one in found if one.kind == WRITER}) == 34
    assert len(found) > 10_000
    for one in found:
        if one.kind in (WRITER, ANSWERS):
            assert all(words and words in one.text for _, words, _ in one.done)

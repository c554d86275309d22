"""What the model of what is worth saying next learns from."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.language.offline.echo_worth import PROBES
from pipeline.language.offline.probe_worth import KINDS, MOVES
from pipeline.language.srl import DocCache, load_model
from pipeline.language.training.ratings import read

SAID = "I locked the shop. He didn't dare ask me."


def test_moments_have_what_was_judged_and_can_be_said_back(tmp_path: Path) -> None:
    judged = {"probes": dict.fromkeys(KINDS, 1), "echoes": [["You locked the shop.", 2, "more"], ["Gone.", 3, "like"]]}
    turns = [
        {"question": "What happened?", "answer": SAID, **judged},
        {"question": "And then?", "answer": "Nothing.", "probes": {"more": 1}, "moves": dict.fromkeys(MOVES, 2)},
    ]
    interviews = [
        {"id": 7, "method": "critical_incident", "turns": turns[:1]},
        {"id": 8, "method": "concept_test", "turns": turns},
    ]
    file = tmp_path / "one.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in interviews), encoding="utf-8")
    first, second, third = read(file, DocCache(load_model()))
    assert (first.interview, first.tested, second.tested) == (7, False, True)
    [clause] = first.clauses
    assert (clause.echo.text, clause.rating, clause.probe) == ("You locked the shop.", 2, PROBES.index("more"))
    assert (first.probes, first.moves) == ((1,) * len(KINDS), ())
    assert (third.clauses, third.probes, third.moves) == ((), (), (2,) * len(MOVES))
    assert (second.named["asked"], third.named["asked"]) == (1 / 15, 2 / 15)

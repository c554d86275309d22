"""What a reviewer reads of an interview, answer by answer."""

from __future__ import annotations

import json

import pytest

from pipeline.acts import HeardAct
from pipeline.graph.surface import KGEdge, KGNode, Mention, SchemaTension
from pipeline.state import Utterance
from server.export import written
from server.export.judging import judged
from server.export.material import Material
from tests.support.interview import NOW, configuration, new_state


def _said(number: int, speaker: str, text: str, **more: object) -> Utterance:
    kind = "answer" if speaker == "respondent" else "question"
    return Utterance.model_validate(
        {"id": f"u{number}", "turn_number": number // 2, "speaker": speaker, "kind": kind, "text": text,
         "recorded_at": NOW, **more}
    )  # fmt: skip


def _node(number: int, label: str, utterance: str, **more: object) -> KGNode:
    return KGNode.model_validate(
        {
            "id": f"n{number}",
            "label": label,
            "node_type": "attribute",
            "mentions": (Mention(utterance_id=utterance, quote=label),),
            "confidence": 0.8,
            "created_turn": 1,
            "last_mention_turn": 1,
            "sequence": number,
            "mention_sequence": number,
            **more,
        }
    )


@pytest.fixture
def report() -> str:
    words = "it is quiet so I can think. Give me a second"
    state = new_state(
        turn_count=1,
        status="active",
        utterances=(
            _said(1, "interviewer", "What matters?", strategy="explore", focus_key="n1"),
            _said(2, "respondent", words, acts=(HeardAct(act="wants_pause", start=28, end=44, sure=False),)),
            _said(3, "interviewer", "Shall we pause?", replies_to="wants_pause"),
        ),
        nodes=(_node(1, "quiet", "u2", salience=2, emotion=1, stance=1), _node(2, "I can think", "u2")),
        edges=(
            KGEdge(id="e1", source_id="n1", target_id="n2", edge_type="leads_to", basis="stated", skips=True,
                   mentions=(Mention(utterance_id="u2", quote=words),), confidence=0.71, created_turn=1, sequence=3),
        ),
        tensions=(
            SchemaTension(id="t1", turn=1, utterance_id="u2", source="I can think", target="quiet", type="leads_to",
                          reason="connection_not_permitted: a → b (permitted: c)"),
        ),
    )  # fmt: skip
    return judged(json.loads(written("json", Material(state, configuration()))))


@pytest.mark.parametrize(
    "line",
    [
        "Asked: “What matters?”",
        "because: explore, about “quiet”",
        "wants pause (rules, to be asked back): “Give me a second”",
        "“quiet”: attribute 0.80, salience 2, wanted or liked, some feeling",
        "“quiet” → “I can think” (leads to): stated 0.71, skips a level",
        "“I can think” → “quiet” (leads to): connection not permitted: a → b (permitted: c)",
        "in reply to: wants pause",
    ],
)
def test_says_what_was_asked_heard_and_understood(report: str, line: str) -> None:
    assert line in report


@pytest.mark.parametrize(
    ("making", "line"),
    [
        ({"offers": [{}, {}, {}], "taken": 1, "said": 2}, "chosen by: the language model, 2 of 3 that came close"),
        (
            {"offers": [{}, {}], "taken": 0, "said": 0, "own": "no tip"},
            "chosen by: the language model, none of 2 that came close, but “no tip”",
        ),
        ({"offers": [{}, {}], "taken": 0, "said": None}, "chosen by: the engine, 1 of 2 that came close"),
        ({"offers": []}, None),
    ],
)
def test_says_who_chose(making: dict[str, object], line: str | None) -> None:
    state = new_state(utterances=(_said(2, "interviewer", "What matters?", strategy="explore"),))
    session = json.loads(written("json", Material(state, configuration())))
    told = judged({**session, "turns": [{"turn_number": 1, "question": making}]})
    assert "What matters?" in told
    assert (line in told) if line else "chosen by" not in told

"""The report shows what each interviewer asked, found and failed at, next to the other."""

from __future__ import annotations

from typing import Any

from pipeline.graph.surface import SchemaTension
from tests.local_llm.interview import Interview, Turn, assign, model_environment
from tests.local_llm.report import COLUMN, columns, report
from tests.local_llm.wiretap import Exchange


def said(text: str, at_s: float = 0.0, **more: Any) -> Exchange:
    usage = {"prompt_tokens": 900, "completion_tokens": 12}
    request = {"stream": True}
    return Exchange(
        at_s=at_s, seconds=1.5, first_byte_s=0.5, status=200, request=request, text=text, usage=usage, **more
    )


def held(name: str, *turns: Turn, **more: Any) -> Interview:
    return Interview(name, Turn(0, "", 0.0, question="What do you drink?"), list(turns), **more)


RECORD = {
    "nodes": [
        {"id": "a", "label": "strong coffee", "node_type": "attribute", "level": 1, "created_turn": 1},
        {"id": "b", "label": "being awake", "node_type": "functional_consequence", "level": 2, "created_turn": 1},
    ],
    "edges": [{"source_id": "a", "target_id": "b", "edge_type": "leads_to", "confidence": 0.9, "created_turn": 1}],
    "tensions": [
        SchemaTension(
            id="t", turn=1, utterance_id="u", source="sofa", type="furniture", reason="unknown type"
        ).model_dump(mode="json")
    ],
}


def test_columns_of_unequal_length_stay_beside_each_other() -> None:
    lines = columns(["word " * 40], ["short"])
    assert len(lines) == 3
    assert all(line[:COLUMN].rstrip() for line in lines)
    assert lines[0].endswith("│ short")
    assert max(len(line) for line in lines) <= 2 * COLUMN + 3


def test_report_shows_graph_questions_and_what_was_left_out() -> None:
    turn = Turn(1, "Strong, it wakes me up.", 1.0, question="Why is that?", first_s=0.5, seconds=2.0)
    text = report(held("local", turn, record=RECORD), held("offline"), ["Model: none."])
    for expected in (
        "1. — Strong, it wakes me up.",
        "+ strong coffee [attribute]",
        "→ strong coffee → being awake [leads_to]",
        "? Why is that?",
        "2.0 s, first words 0.5 s",
        "1: sofa [furniture]: unknown type",
        "(over)",
    ):
        assert expected in text


def test_wording_that_was_not_asked_is_shown_with_its_cost() -> None:
    turn = Turn(1, "Yes.", 1.0, question="Why is that?", fallback=True, failures=["provider_timeout"])
    interview = held("local", turn)
    assign(interview, [said("Do you like it?", 2.0), said('"Why  is that?"', 3.0)])
    text = report(interview, held("offline"), [])
    assert "x Do you like it?" in text
    assert "x Why is that?" not in text.replace('"', "")
    assert "? Why is that?  (template)" in text
    assert "2 calls, 1800 tokens in, 24 out" in text
    assert "! failed: provider_timeout" in text


def test_figures_of_the_api_are_shown_without_its_zeros() -> None:
    usage = {"calls": 3, "failed": 0, "latency_ms": 12.4, "by_role": {"scoring": {"calls": 2, "cost": {}}}}
    text = report(held("local", usage=usage), held("offline"), [])
    assert "summed by the API    3 calls, 12 latency_ms, 2 by_role.scoring.calls" in text
    assert "summed by the API    nothing" in text


def test_exchange_belongs_to_the_turn_that_it_began_in() -> None:
    first, second = Turn(1, "a", 10.0), Turn(2, "b", 20.0)
    interview = held("local", first, second)
    assign(interview, [said("x", 1.0), said("y", 19.9), said("z", 30.0)])
    assert [[e.text for e in turn.exchanges] for turn in (interview.opening, first, second)] == [["x"], ["y"], ["z"]]


def test_environment_gives_all_roles_to_the_model() -> None:
    environment = model_environment("http://127.0.0.1:9/v1", "local", 60)
    assert {name for name, value in environment.items() if value == "openai_compatible"} == {
        f"ASKWELL_{role}_PROVIDER" for role in ("EXTRACTION", "SCORING", "GENERATION")
    }

"""The full result of a turn, from states and record, says what the stages of the turn handed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pipeline.context import Answer, TurnContext
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    GraphOutput,
    QuestionOutput,
    ScoringOutput,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
)
from pipeline.ports import Extraction
from pipeline.state import InterviewState
from pipeline.turn_result import TurnResult, turn_result
from tests.support.interview import NOW, Interview, Listener, OwnSlots, PlainWriter, concepts, configuration, new_state


@dataclass
class Watched(Interview):
    """An interview that keeps the contracts of its turns."""

    contexts: list[TurnContext] = field(default_factory=list)

    async def turn(self, text: str, found: Extraction | None = None, **answer: Any) -> TurnContext:
        """One turn in its two halves, with the context that lies between them."""
        if found is not None:
            self.extractor.script[text] = found
        if self.state.question is None:
            await self.open()
        pipeline = self.pipeline()
        self.before = self.state
        context = await pipeline.decide(
            self.state,
            Answer(f"key-{self.state.turn_count + 1}", text, **answer),
            self.configuration,
            now=NOW,
            sink=Listener(),
            embeddings=self.embeddings,
            names=lambda: self.names,
        )
        outcome = await pipeline.speak(context)
        self.names = []
        self.state = InterviewState.load(outcome.state.dump())
        self.embeddings.update(outcome.embeddings)
        self.outcomes.append(outcome)
        return context


class SlowSlots(OwnSlots):
    inline = False


def expected(context: TurnContext) -> dict[str, Any]:
    """What the stages of the turn handed on, in the words of a result."""
    surface = context.get(StateOutput).graph_state
    canonical = context.get(StateOutput).canonical_state
    slots = context.get(SlotsOutput)
    going = context.get(ContinuationOutput)
    question = context.get(QuestionOutput)
    scoring = context.get(ScoringOutput)
    chosen = context.get(StrategyOutput)
    candidates = chosen.decision.candidates if chosen.decision else ()
    comparison = None
    if canonical is not None and slots.canonical is not None:
        live = {node.id for node in context.get(GraphOutput).graph.live_nodes()}
        supported = [slot for slot in slots.canonical.slots.values() if slot.support_count]
        comparison = {
            "surface_nodes": surface.node_count,
            "canonical_slots": canonical.concept_count,
            "candidate_slots": canonical.candidate_count,
            "reduction_ratio": 1 - len(supported) / surface.node_count if surface.node_count else 0.0,
            "surface_edges": surface.edge_count,
            "canonical_edges": canonical.edge_count,
            "mapped_nodes": len(live & slots.canonical.mappings.keys()),
            "unmapped_nodes": len(slots.backlog),
            "orphan_difference": surface.orphan_count - canonical.orphan_count,
            "depth_difference": surface.max_depth - canonical.max_depth,
        }
    return {
        "turn_number": context.get(ContextOutput).turn_number,
        "graph_state": {
            **surface.model_dump(mode="json"),
            "depth_achieved": surface.max_depth,
            "current_phase": {"early": "exploratory", "mid": "focused", "late": "closing"}[chosen.signals.phase],
            "turn_count": context.get(ContextOutput).turn_number,
            "strategy_history": list(context.get(ContextOutput).strategy_history),
        },
        "scoring": {
            "depth": surface.max_depth_ratio,
            "saturation": chosen.signals.values.get("meta.conversation.saturation"),
        },
        "strategy_selected": going.strategy,
        "next_question": question.text,
        "should_continue": going.should_continue,
        "signals": {**chosen.signals.values, **chosen.signals.strategies},
        "strategy_alternatives": tuple(
            {"strategy": c.strategy, "node_id": c.node_key, "score": c.final_score} for c in candidates
        ),
        "termination_reason": going.reason or None,
        "canonical_graph": canonical.model_dump() if canonical else None,
        "graph_comparison": comparison,
        "nodes_added": tuple(node.model_dump(mode="json") for node in context.get(GraphOutput).nodes_added),
        "edges_added": tuple(edge.model_dump(mode="json") for edge in context.get(GraphOutput).edges_added),
        "saturation_metrics": context.get(StateOutput).saturation.model_dump(),
        "node_signals": chosen.signals.by_node(),
        "score_decomposition": tuple(candidate.model_dump() for candidate in candidates),
        "has_llm_fallback": question.fallback or bool(scoring.record.fallbacks),
    }


def agrees(result: TurnResult, context: TurnContext) -> None:
    """Everything but the times, and the times of all stages but the last one."""
    found = result.model_dump()
    times, latency = found.pop("stages_ms"), found.pop("latency_ms")
    assert found == expected(context)
    assert times == {name: ms for name, ms in context.stages_ms.items() if name != "scoring"}
    knowledge = sum(times[name] for name in ("srl", "extraction", "graph", "slots"))
    assert latency == pytest.approx(sum(times.values()) - min(knowledge, times["rating"]))


TURNS: Sequence[tuple[str, Extraction | None]] = (
    ("one", concepts(("sweet", "attribute"), ("awake", "consequence"), links=[("sweet", "awake")])),
    ("two", concepts(("sweet", "attribute"), ("calm", "consequence"), links=[("awake", "calm")])),
    ("three", concepts(("bitter", "attribute"), links=[("bitter", "sweet")], kind="revises")),
    ("four", concepts(("magic", "spell"), ("taste", "attribute"))),
    ("five", None),
)


@pytest.mark.parametrize("slots", [True, False])
@pytest.mark.parametrize("slow", [True, False])
async def test_result_of_every_turn_agrees_with_its_stages(slots: bool, slow: bool) -> None:
    proposer = SlowSlots() if slow else OwnSlots()
    interview = Watched(slots=proposer, configuration=configuration(enable_canonical_slots=slots))
    for text, found in TURNS:
        context = await interview.turn(text, found)
        agrees(interview.result, context)
        if slots and slow:
            await interview.name_slots()
    assert len(interview.outcomes) == len(TURNS) and interview.state.tensions


async def test_result_of_a_skip_and_of_a_correction_agrees_with_its_stages() -> None:
    interview = Watched()
    await interview.turn("one", concepts(("sweet", "attribute"), ("awake", "consequence"), links=[("sweet", "awake")]))
    said = interview.state.last_answer()
    assert said is not None
    found = concepts(("bitter", "attribute"), ("awake", "consequence"), links=[("bitter", "awake")])
    context = await interview.turn("no, two", found, kind="correct", corrects=said.id)
    agrees(interview.result, context)
    assert [node["label"] for node in interview.result.nodes_added] == ["bitter"]
    context = await interview.turn("", kind="skip")
    agrees(interview.result, context)
    assert interview.result.nodes_added == ()


async def test_result_of_the_last_turns_agrees_with_their_stages() -> None:
    interview = Watched(state=new_state(max_turns=3))
    for turn in range(1, 4):
        context = await interview.turn(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
        agrees(interview.result, context)
    assert interview.state.status == "completed"
    assert interview.result.termination_reason == "Maximum turns reached"
    assert interview.result.strategy_alternatives == ()


async def test_result_of_a_template_question_agrees_with_its_stages() -> None:
    interview = Watched(writer=PlainWriter(["", "Is it good?"]))
    interview.state = (await Interview().open()).state
    context = await interview.turn("one", concepts(("taste", "attribute")))
    agrees(interview.result, context)
    assert interview.result.has_llm_fallback


async def test_result_has_every_part_filled() -> None:
    interview = Interview()
    found = concepts(("taste", "attribute"), ("awake", "consequence"), links=[("taste", "awake")])
    await interview.say("one", found)
    result = interview.result
    assert result.graph_state["node_count"] == 2 and result.graph_state["depth_achieved"] == 2
    assert set(result.scoring) == {"depth", "saturation"}
    assert result.strategy_alternatives and result.score_decomposition and result.node_signals
    assert result.graph_comparison is not None and result.graph_comparison["surface_nodes"] == 2
    assert len(result.nodes_added) == 2 and len(result.edges_added) == 1
    assert 0 < result.saturation_metrics["chao1_ratio"] <= 1
    assert set(result.stages_ms) >= {"context", "utterance", "srl", "extraction", "rating", "strategy", "question"}
    assert TurnResult.model_validate_json(result.model_dump_json()) == result


async def test_result_counts_live_nodes_and_the_longer_lane() -> None:
    interview = Interview()
    await interview.say("one", concepts(("sweet", "attribute"), ("soft", "attribute")))
    found = concepts(("bitter", "attribute"), links=[("bitter", "sweet")], kind="revises")
    await interview.say("two", found)
    result = interview.result
    assert result.graph_comparison is not None
    assert result.graph_comparison["reduction_ratio"] == 0 and result.graph_comparison["mapped_nodes"] == 2
    assert result.graph_state["current_phase"] == "exploratory"
    assert result.latency_ms < sum(result.stages_ms.values())


async def test_record_with_states_of_another_turn_is_an_error() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute")))
    first = interview.before
    await interview.say("two", concepts(("smell", "attribute")))
    record = interview.last.record
    assert record is not None
    with pytest.raises(ValueError, match="record of turn 2"):
        turn_result(first, interview.state, record, interview.configuration)


async def test_question_of_a_result_is_the_one_before_it_was_rephrased() -> None:
    interview = Interview(
        writer=PlainWriter(["What comes to mind?", "What makes it matter?", "Which thoughts come up?"])
    )
    await interview.say("one", concepts(("taste", "attribute")))
    outcome = await interview.pipeline().rephrase(interview.state, interview.configuration, now=NOW, sink=Listener())
    interview.state = outcome.state
    assert interview.result.next_question == "What makes it matter?"

"""Stage `response`: the interviewer's utterance."""

from __future__ import annotations

from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, ContinuationOutput, Contract, QuestionOutput, ResponseOutput
from pipeline.records import derived_id
from pipeline.state import QuestionAsked, Utterance, UtteranceKind


class ResponseStage:
    """Makes the interviewer's utterance and the unanswered question."""

    name: ClassVar[str] = "response"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput, ContinuationOutput, QuestionOutput)
    provides: ClassVar[type[Contract]] = ResponseOutput

    async def run(self, context: TurnContext) -> ResponseOutput:
        """The utterance of this turn's question; `asked` is None once the session is complete."""
        going = context.get(ContinuationOutput)
        question = context.get(QuestionOutput)
        turn = context.get(ContextOutput).turn_number
        kind: UtteranceKind = "closing" if going.complete else "closing_question" if going.ask_closing else "question"
        utterance = Utterance(
            id=derived_id(context.state.session_id, turn, "utterance", "interviewer"),
            turn_number=turn,
            speaker="interviewer",
            kind=kind,
            text=question.text,
            recorded_at=context.now,
            strategy=going.strategy,
            focus_key=going.focus.key if going.focus else None,
            fallback=question.fallback,
        )
        if going.complete:
            return ResponseOutput(utterance=utterance, asked=None)
        return ResponseOutput(
            utterance=utterance,
            asked=QuestionAsked(
                utterance_id=utterance.id,
                turn_number=turn,
                text=question.text,
                kind=kind,
                strategy=going.strategy,
                focus_key=going.focus.key if going.focus else None,
                focus_node_id=going.focus.node_id if going.focus else None,
                focus_label=going.focus.label if going.focus else None,
                target=going.focus.target if going.focus else None,
                fallback=question.fallback,
            ),
        )

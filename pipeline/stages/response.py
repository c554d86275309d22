"""Stage `response`: the interviewer's utterance."""

from __future__ import annotations

from typing import ClassVar

from pipeline.conduct.move import Move
from pipeline.context import TurnContext
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    Contract,
    QuestionOutput,
    ResponseOutput,
    StrategyOutput,
)
from pipeline.state import QuestionAsked, Utterance, UtteranceKind, utterance_id


class ResponseStage:
    """Makes the interviewer's utterance and the unanswered question."""

    name: ClassVar[str] = "response"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput, StrategyOutput, ContinuationOutput, QuestionOutput)
    provides: ClassVar[type[Contract]] = ResponseOutput

    async def run(self, context: TurnContext) -> ResponseOutput:
        """The utterance of this turn's question; `asked` is None once the session is complete."""
        going = context.get(ContinuationOutput)
        question = context.get(QuestionOutput)
        move = context.get(StrategyOutput).move
        turn = context.get(ContextOutput).turn_number
        replies = move is not None and not move.counts
        number = turn if move is None or move.counts else context.state.turn_count
        asks: UtteranceKind = "closing_question" if going.ask_closing else "question"
        kind: UtteranceKind = "closing" if going.complete else "reply" if replies else asks
        utterance = Utterance(
            id=utterance_id(context.state, turn, "interviewer"),
            turn_number=turn,
            speaker="interviewer",
            kind=kind,
            text=question.text,
            recorded_at=context.now,
            strategy=going.strategy,
            focus_key=going.focus.key if going.focus else None,
            fallback=question.fallback,
            replies_to=move.act if move is not None else None,
        )
        if going.complete:
            return ResponseOutput(utterance=utterance, asked=None)
        if move is not None and move.then != "engine":
            return ResponseOutput(utterance=utterance, asked=_still_asked(context, move, question.asked, utterance.id))
        return ResponseOutput(
            utterance=utterance,
            asked=QuestionAsked(
                utterance_id=utterance.id,
                turn_number=number,
                text=question.asked or question.text,
                kind=asks,
                strategy=going.strategy,
                focus_key=going.focus.key if going.focus else None,
                focus_node_id=going.focus.node_id if going.focus else None,
                focus_label=going.focus.label if going.focus else None,
                target=going.focus.target if going.focus else None,
                fallback=question.fallback,
            ),
        )


def _still_asked(context: TurnContext, move: Move, text: str, utterance_id: str) -> QuestionAsked | None:
    """The question that is open after a reply: the present one, maybe in other words, or an easier one."""
    present = context.state.question
    if present is None or move.then in ("stop", "hold", "withdraw"):
        return None
    if move.then == "simpler" and text:
        return present.model_copy(update={"text": text, "utterance_id": utterance_id})
    if move.then != "easier":
        return present
    about = {"focus_key": None, "focus_node_id": None, "focus_label": None, "target": None} if move.leaves_focus else {}
    number = context.get(ContextOutput).turn_number
    return present.model_copy(
        update={"text": text, "utterance_id": utterance_id, "turn_number": number, "kind": "question", **about}
    )

"""Stage `context`: what the turn starts from."""

from __future__ import annotations

from typing import ClassVar

from pipeline.context import Answer, TurnContext
from pipeline.contracts import ContextOutput, Contract
from pipeline.finished import objects
from pipeline.graph.identity import latest_wording
from pipeline.ports import Line
from pipeline.question.text import ended
from pipeline.state import InterviewState, Utterance

RECENT_LINES = 5
STRATEGY_WINDOW = 30
REOPENED_WITH = 3
"""Turns that are left at the least where an interview goes on whose respondent finds its end too early."""


class ContextStage:
    """Reads the state; changes nothing."""

    name: ClassVar[str] = "context"
    requires: ClassVar[tuple[type[Contract], ...]] = ()
    provides: ClassVar[type[Contract]] = ContextOutput

    async def run(self, context: TurnContext) -> ContextOutput:
        """Turn number, recent conversation, histories, and working copies of graphs and tracker."""
        state = context.state
        settings = context.configuration.settings
        graph = state.surface_graph()
        spoken = [utterance for utterance in state.utterances if utterance.text]
        questions = [u.text for u in spoken if u.speaker == "interviewer"]
        tracker = state.node_tracker()
        correcting = context.answer.kind == "correct"
        question, focus_key = _answered(state, context.answer)
        focused = tracker.states.get(focus_key) if focus_key else None
        wording = latest_wording(graph, focused) if focused else None
        reopened = _reopened(state, context.answer)
        return ContextOutput(
            turn_number=state.turn_count + 1,
            max_turns=state.max_turns,
            closing=state.status == "closing" and not reopened,
            reopened=reopened,
            correcting=correcting,
            question=question,
            lines=tuple(Line(speaker=u.speaker, text=ended(u.text)) for u in spoken[-RECENT_LINES:]),
            recent_questions=tuple(questions[-settings.repeat_window :]) if settings.repeat_window else (),
            strategy_history=state.strategy_history[-STRATEGY_WINDOW:],
            focus_history=state.focus_history,
            focus_key=focus_key,
            focus_label=wording.label if wording else None,
            focus_type=wording.node_type if wording else None,
            graph=graph,
            canonical=state.canonical_graph(),
            tracker=tracker,
        )


def _reopened(state: InterviewState, answer: Answer) -> bool:
    """Whether an interview goes on whose closing question its respondent finds too early; not right before its end."""
    left = state.max_turns - state.turn_count - 1
    may = state.status == "closing" and state.conduct.stopping_until is None and state.stopped_question is None
    return may and answer.kind == "answer" and left >= REOPENED_WITH and objects(answer.text)


def _answered(state: InterviewState, answer: Answer) -> tuple[str, str | None]:
    """The question that is answered and its focus: the present one, for a correction that of the corrected answer."""
    asked = state.question
    if answer.kind != "correct":
        return (asked.text, asked.focus_key) if asked else ("", None)
    before: list[Utterance] = []
    for utterance in state.utterances:
        if utterance.id == answer.corrects:
            questions = [u.text for u in before if u.speaker == "interviewer"]
            return (questions[-1] if questions else "", utterance.focus_key)
        before.append(utterance)
    return "", None

"""The step of a grid that the present answer is for."""

from __future__ import annotations

from pipeline.context import TurnContext
from pipeline.grid.model import GridProgress, GridStep
from pipeline.grid.rating import parsed
from pipeline.grid.steps import answered, begun, rated, step_of, taken_back


def answered_step(context: TurnContext) -> GridStep | None:
    """What the present answer is for; for a correction what the corrected answer was for."""
    state = context.state
    if context.answer.kind == "correct":
        last = state.grid.answered
        return last.step if last is not None and last.turn == state.turn_count else None
    asked = state.question
    return step_of(context.strategies.find(asked.strategy), asked.target) if asked is not None else None


def grid_after(context: TurnContext, content: str, turn: int) -> GridProgress:
    """The progress of the grid after an answer; `content` is what of it tells. Raises InvalidAnswer for ratings."""
    state, grid = context.state, context.configuration.methodology.grid
    progress = begun(state.grid, context.configuration)
    if grid is None:
        return progress
    if context.answer.kind == "rate":
        target = state.question.target if state.question is not None else None
        return rated(progress, parsed(context.answer.text, progress, target), turn)
    step = answered_step(context)
    if step is None:
        return progress
    if context.answer.kind == "correct":
        progress = taken_back(progress)
        turn = state.grid.answered.turn if state.grid.answered is not None else turn
    return answered(progress, step, content, turn=turn, language=state.language, grid=grid)

"""The moment that a move is decided on, from the contracts of a turn."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.acts import HeardAct, told
from pipeline.conduct.grown_up import speaks_as_grown_up
from pipeline.conduct.move import Moment, Move
from pipeline.conduct.moves import move_for
from pipeline.context import TurnContext
from pipeline.contracts import UtteranceOutput
from pipeline.leads import asks_of_idea

TELLS = 5
"""Words of a message from which on it tells something that can be gone back to."""


def moment_of(context: TurnContext, acts: tuple[HeardAct, ...]) -> Moment | None:
    """What the conduct of this turn is decided on; None without a policy, and for skips and amendments."""
    policy = context.configuration.conduct
    if policy is None or context.answer.kind != "answer":
        return None
    concept = context.configuration.concept
    turn = context.state.turn_count + 1
    shown = bool(concept.stimulus or context.configuration.stimulus_image is not None)
    return Moment(
        said=context.answer.text.strip(),
        acts=acts,
        conduct=context.state.conduct,
        policy=policy,
        turn_number=turn,
        questions_left=max(0, context.state.max_turns - turn),
        topic=concept.name,
        minimum_age=concept.minimum_age,
        facts=concept.facts,
        helpline=concept.helpline_text or "",
        kiosk=context.state.device is not None,
        spoken=context.answer.spoken,
        closing=context.state.status == "closing",
        comparing=_compares(context),
        shown=shown,
        asks_idea=shown and asks_of_idea(context.answer.text, context.state.language),
        told_last=next((one for one in _told(context) if len(one.split()) >= TELLS), ""),
        grown_up=speaks_as_grown_up((context.answer.text, *_told(context))),
    )


def _told(context: TurnContext) -> Iterator[str]:
    """What the respondent told before this message, the latest first."""
    for utterance in reversed(context.state.utterances):
        content = told(utterance.text, utterance.acts).strip() if utterance.speaker == "respondent" else ""
        if content:
            yield content


def _compares(context: TurnContext) -> bool:
    asked = context.state.question
    strategy = context.strategies.find(asked.strategy) if asked is not None else None
    return strategy is not None and strategy.grid_step is not None


def move_of(context: TurnContext) -> Move | None:
    """What the interviewer does about the acts of this turn; None where it is an answer and nothing else."""
    moment = moment_of(context, context.get(UtteranceOutput).acts)
    if moment is None:
        return None
    return move_for(moment)

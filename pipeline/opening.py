"""Questions without a turn: the opening question, and a rephrased one."""

from __future__ import annotations

from datetime import datetime

from pipeline.concept import SessionConfiguration
from pipeline.grid.model import GridStep
from pipeline.grid.rating import form_of
from pipeline.grid.steps import asked as asked_for
from pipeline.grid.steps import begun, next_step
from pipeline.grid.wording import METHOD, question_of, reworded
from pipeline.methodology import Strategy
from pipeline.outcome import Outcome
from pipeline.ports import QuestionSink
from pipeline.question.asking import Questioner
from pipeline.question.request import question_request, rephrase_request, rephrased_before
from pipeline.records import derived_id
from pipeline.state import InterviewState, QuestionAsked, Utterance
from pipeline.strategies import Strategies


async def opened(
    state: InterviewState,
    configuration: SessionConfiguration,
    strategies: Strategies,
    questioner: Questioner,
    now: datetime,
    sink: QuestionSink,
) -> Outcome:
    """The state with the opening question asked: turn 0, no focus. Raises ProviderError."""
    asking = questioner.asking(configuration.settings, sink, 0)
    fixed = configuration.concept.opening_in(state.language)
    step, strategy = _first_step(state, configuration, strategies)
    grid = begun(state.grid, configuration)
    if step is not None and strategy is not None:
        told = fixed if step.name == "element" else None
        output = await asking.verbatim(told or question_of(step, strategy, state, configuration), METHOD)
        grid = asked_for(grid, step)
    elif fixed is not None:
        output = await asking.verbatim(fixed, "concept")
    else:
        request = question_request(state, configuration, strategies, "opening", turn_number=0)
        output = await asking.ask(request)
    utterance = Utterance(
        id=derived_id(state.session_id, 0, "utterance", "interviewer"),
        turn_number=0,
        speaker="interviewer",
        kind="opening",
        text=output.text,
        recorded_at=now,
        strategy=strategy.name if strategy is not None else None,
        fallback=output.fallback,
    )
    asked = QuestionAsked(
        utterance_id=utterance.id,
        turn_number=0,
        text=output.text,
        kind="opening",
        strategy=utterance.strategy,
        target=step.target if step is not None else None,
        fallback=output.fallback,
    )
    after = state.model_copy(
        update={
            "status": "active",
            "status_reason": "",
            "rev": state.rev + 1,
            "updated_at": now,
            "utterances": (*state.utterances, utterance),
            "question": asked,
            "grid": grid,
        }
    )
    events: list[dict[str, object]] = []
    if state.status != "active":
        events.append({"type": "session.state", "state": "active", "reason": ""})
    events.append({"type": "question.completed", "turn_number": 0, "text": output.text, "fallback": output.fallback})
    return Outcome(state=after, events=tuple(events))


def _first_step(
    state: InterviewState, configuration: SessionConfiguration, strategies: Strategies
) -> tuple[GridStep | None, Strategy | None]:
    """What a grid needs first, with the strategy that asks for it; nothing where there is none."""
    step = next_step(state.grid, configuration, seed=state.seed, turns_left=state.max_turns, language=state.language)
    serving = next((s for s in strategies if step is not None and s.grid_step == step.name), None)
    return (step, serving) if serving is not None else (None, None)


async def rephrased(
    state: InterviewState,
    configuration: SessionConfiguration,
    strategies: Strategies,
    questioner: Questioner,
    now: datetime,
    sink: QuestionSink,
) -> Outcome:
    """The state with the current question rephrased; this is no turn of its own.

    Raises:
        InvalidAnswer: there is no unanswered question.
        ProviderError: the writer failed before anything was out.
    """
    request = rephrase_request(state, configuration, strategies)
    present, earlier = state.question, rephrased_before(state)
    assert present is not None
    asking = questioner.asking(configuration.settings, sink, present.turn_number)
    fixed = reworded(state.model_copy(update={"turn_count": present.turn_number}), configuration, strategies)
    output = await asking.ask(request) if fixed is None else await asking.verbatim(fixed, METHOD)
    utterance = Utterance(
        id=derived_id(state.session_id, present.turn_number, "rephrase", earlier),
        turn_number=present.turn_number,
        speaker="interviewer",
        kind="rephrase",
        text=output.text,
        recorded_at=now,
        strategy=present.strategy,
        focus_key=present.focus_key,
        fallback=output.fallback,
    )
    asked = present.model_copy(update={"text": output.text, "utterance_id": utterance.id})
    after = state.model_copy(
        update={
            "rev": state.rev + 1,
            "updated_at": now,
            "utterances": (*state.utterances, utterance),
            "question": asked,
        }
    )
    event: dict[str, object] = {
        "type": "question.completed",
        "turn_number": present.turn_number,
        "text": output.text,
        "fallback": output.fallback,
    }
    ratings = form_of(state.grid, present.target)
    if ratings is not None:
        event["ratings"] = ratings
    return Outcome(state=after, events=(event,))

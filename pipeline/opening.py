"""Questions without a turn: the opening question, and a rephrased one."""

from __future__ import annotations

from datetime import datetime

from pipeline.concept import SessionConfiguration
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
    if fixed is not None:
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
        fallback=output.fallback,
    )
    asked = QuestionAsked(
        utterance_id=utterance.id, turn_number=0, text=output.text, kind="opening", fallback=output.fallback
    )
    after = state.model_copy(
        update={
            "status": "active",
            "status_reason": "",
            "rev": state.rev + 1,
            "updated_at": now,
            "utterances": (*state.utterances, utterance),
            "question": asked,
        }
    )
    events: list[dict[str, object]] = []
    if state.status != "active":
        events.append({"type": "session.state", "state": "active", "reason": ""})
    events.append({"type": "question.completed", "turn_number": 0, "text": output.text, "fallback": output.fallback})
    return Outcome(state=after, events=tuple(events))


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
    output = await questioner.asking(configuration.settings, sink, present.turn_number).ask(request)
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
    event = {
        "type": "question.completed",
        "turn_number": present.turn_number,
        "text": output.text,
        "fallback": output.fallback,
    }
    return Outcome(state=after, events=(event,))

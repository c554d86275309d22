"""What a writer is asked for: the fields that all questions of an interview share."""

from __future__ import annotations

from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.errors import InvalidAnswer
from pipeline.guide import questions_of
from pipeline.ports import Line, QuestionKind, QuestionRequest
from pipeline.state import InterviewState
from pipeline.strategies import Strategies

LINES = 5
"""Latest utterances that a writer is given."""
SHOWN_CHARS = 3000
"""Characters of a stimulus that a writer is given."""


def question_request(
    state: InterviewState,
    configuration: SessionConfiguration,
    strategies: Strategies,
    kind: QuestionKind,
    **fields: Any,
) -> QuestionRequest:
    """The request for a question that follows on what was said so far.

    Args:
        state: of the session, with everything that was said.
        configuration: of the session.
        strategies: of the session's engine.
        kind: of the question.
        fields: of the request, that say what this question is about or replace what all share.
    """
    spoken = [utterance for utterance in state.utterances if utterance.text]
    questions = [u.text for u in spoken if u.speaker == "interviewer"]
    settings = configuration.settings
    shared = {
        "methodology": configuration.methodology,
        "topic": configuration.concept.name,
        "objective": configuration.concept.goal,
        "language": state.language,
        "stimulus": shown(configuration),
        "consent": configuration.concept.consent.text if configuration.concept.consent is not None else "",
        "seed": state.seed,
        "lines": tuple(Line(speaker=u.speaker, text=u.text) for u in spoken[-LINES:]),
        "recent_questions": tuple(questions[-settings.repeat_window :]) if settings.repeat_window else (),
        "all_questions": tuple(questions),
        "max_words": settings.question_max_words,
        "instructions": _instructions(configuration, strategies),
    }
    return QuestionRequest(kind=kind, **{**shared, **fields})


def shown(configuration: SessionConfiguration) -> str:
    """What the respondent was shown, in words, at most `SHOWN_CHARS` characters of it; empty where nothing was."""
    image = configuration.stimulus_image
    parts = (configuration.concept.stimulus or "", f"[{image.alt}]" if image is not None else "")
    return "\n\n".join(part.strip() for part in parts if part.strip())[:SHOWN_CHARS]


def rephrase_request(
    state: InterviewState, configuration: SessionConfiguration, strategies: Strategies
) -> QuestionRequest:
    """The request for the present question in other words. Raises InvalidAnswer without one."""
    present = state.question
    if present is None:
        raise InvalidAnswer("There is no question to put differently.")
    of_a_topic = present.target is not None and present.target.kind == "topic"
    return question_request(
        state,
        configuration,
        strategies,
        "rephrase",
        original=present.text,
        seed=state.seed + rephrased_before(state) + 1,
        strategy=strategies.find(present.strategy),
        # The name of a topic is for moderators.
        focus_label=None if of_a_topic else present.focus_label,
        forms=questions_of(configuration, state.language, present.target),
        turn_number=present.turn_number,
    )


def ending_request(request: QuestionRequest, ends_with: str, reply: str, *, may_ask: bool) -> QuestionRequest:
    """The request for what is said to the last answer of all.

    Args:
        request: for what would be asked of it.
        ends_with: the fixed words behind it.
        reply: what is said before it anyway.
        may_ask: whether one more question is possible instead.
    """
    update = {"kind": "ending", "ends_with": ends_with, "reply": reply, "may_ask": may_ask, "offers": ()}
    return request.model_copy(update=update)


def rephrased_before(state: InterviewState) -> int:
    """How often the present question was put in other words before."""
    number = state.question.turn_number if state.question is not None else None
    return sum(
        u.turn_number == number and (u.kind == "rephrase" or u.replies_to == "asks_back") for u in state.utterances
    )


def _instructions(configuration: SessionConfiguration, strategies: Strategies) -> tuple[str, ...]:
    """What prompts say about the method and the research objective."""
    method = configuration.methodology.method
    described = (strategy.description for strategy in strategies)
    return tuple(text for text in (method.goal, method.description, configuration.concept.goal, *described) if text)

"""The rules of a session, without I/O: what may be done in which state, and what it changes.

Functions that change something take a state and return a `Change`: the next state, one revision further, with its
durable events. `Change.state` is the same object where nothing changes. What is not allowed raises `SessionProblem`.

    created ──opening──► active ⇄ paused
                           │ ╲
                        closing ► completed (terminal)      any but completed ⇄ abandoned

A moderator's wish for another question takes an interview that is closing back to active.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from pipeline.concept import SessionConfiguration
from pipeline.conduct.memory import acknowledged
from pipeline.engines.registry import strategies_of
from pipeline.errors import InvalidAnswer
from pipeline.grid.rating import form_of, parsed
from pipeline.outcome import STOPPED
from pipeline.records import derived_id
from pipeline.state import AppliedCommand, Consent, Directive, InterviewState, SessionStatus, Utterance
from server.session.change import Change, Event
from server.session.problems import SessionProblem

Side = Literal["respondent", "moderator"]

TERMINAL: Final[frozenset[SessionStatus]] = frozenset({"completed", "failed"})
BY_RESPONDENT: Final = "respondent_finished"
"""Why an interview is over whose respondent ended it."""
TURN_LIMIT: Final = 500
KEPT_COMMANDS: Final = 100
"""Moderators' commands that a session remembers."""


def consent_missing(state: InterviewState, configuration: SessionConfiguration) -> bool:
    """Whether the concept asks for consent that was not given yet."""
    asked = configuration.concept.consent
    return asked is not None and asked.required and state.consent is None


def is_over(state: InterviewState) -> bool:
    """Whether nothing can follow any more."""
    return state.status in TERMINAL


def is_stopping(state: InterviewState) -> bool:
    """Whether the respondent wants to stop and may still take it back."""
    return state.conduct.stopping_until is not None and not is_over(state)


def may_open(state: InterviewState, configuration: SessionConfiguration) -> bool:
    """Whether the opening question is due."""
    return state.status == "created" and state.question is None and not consent_missing(state, configuration)


def check_turn(state: InterviewState, configuration: SessionConfiguration) -> None:
    """Refuse an answer, a skip or a correction that can't be taken in this state.

    Raises:
        SessionProblem: `session_completed`, `session_paused`, `consent_required`, or `turn_in_progress` while the
            opening question is not there yet.
    """
    _refuse_over(state)
    if state.status == "abandoned":
        raise SessionProblem("session_paused", "This interview was left alone for long. Resume it to go on.")
    if consent_missing(state, configuration):
        raise SessionProblem("consent_required")
    if state.status == "paused":
        raise SessionProblem("session_paused")
    if is_stopping(state):
        raise SessionProblem("session_completed", "You asked to stop. Resume the interview to go on.")
    if state.question is None:
        raise SessionProblem("turn_in_progress", "The first question is still on its way. Please wait a moment.")


def check_listening(state: InterviewState, configuration: SessionConfiguration) -> None:
    """Refuse to listen to a respondent; the question need not be there yet.

    Raises:
        SessionProblem: `session_completed`, `session_paused`, `consent_required`.
    """
    _refuse_over(state)
    if consent_missing(state, configuration):
        raise SessionProblem("consent_required")
    if state.status in ("paused", "abandoned"):
        raise SessionProblem("session_paused")


def may_record(state: InterviewState, configuration: SessionConfiguration) -> bool:
    """Whether speech is kept: the concept asks for it, and the respondent agreed to it.

    Without consent nothing is kept, and neither where `recording` is among the choices and is anything but true.
    """
    consent = state.consent
    return configuration.concept.record_audio and consent is not None and consent.choices.get("recording", True) is True


def check_correction(state: InterviewState, utterance_id: str) -> None:
    """Refuse to amend anything but the respondent's last answer."""
    last = state.last_answer()
    if last is None:
        raise SessionProblem("invalid_input", "There is no answer yet that could be corrected.")
    if last.kind == "rate":
        raise SessionProblem("invalid_input", "Ratings can't be corrected in words.")
    if last.id != utterance_id:
        raise SessionProblem("invalid_input", "Only the last answer can be corrected.")


def check_ratings(state: InterviewState, text: str) -> None:
    """Refuse ratings that the question does not ask for, or that do not fit the grid. Raises SessionProblem."""
    try:
        parsed(text, state.grid, state.question.target if state.question is not None else None)
    except InvalidAnswer as exc:
        raise SessionProblem("invalid_input", str(exc)) from exc


def check_rephrase(state: InterviewState, configuration: SessionConfiguration) -> None:
    """Refuse to put the question in other words where none is waiting; errors as in `check_turn`."""
    check_turn(state, configuration)


def give_consent(
    state: InterviewState,
    configuration: SessionConfiguration,
    *,
    version: str,
    choices: Mapping[str, Any],
    now: datetime,
) -> Change:
    """Put on record what the respondent agrees to.

    Raises:
        SessionProblem: `invalid_input` for another version than the one shown, `session_completed`.
    """
    _refuse_over(state)
    asked = configuration.concept.consent
    if asked is not None and asked.version != version:
        raise SessionProblem(
            "invalid_input", "The consent text has changed since it was shown. Please reload the page."
        )
    given = state.consent
    if given is not None and given.version == version and given.choices == dict(choices):
        return Change(state)
    consent = Consent(version=version, choices=dict(choices), given_at=now)
    return Change(_next(state, now, consent=consent))


def pause(state: InterviewState, by: Side, now: datetime) -> Change:
    """Stop for a while. A moderator's pause stands above a respondent's."""
    _refuse_over(state)
    if state.status == "abandoned":
        raise SessionProblem("session_paused", "This interview was left alone for long; it is not running.")
    if state.status == "paused":
        if by == state.paused_by or by == "respondent":
            return Change(state)
        return _changed(state, now, "paused", f"by_{by}", paused_by=by)
    return _changed(state, now, "paused", f"by_{by}", paused_by=by, resume_status=state.status)


def resume(state: InterviewState, by: Side, now: datetime, resume_until: timedelta) -> Change:
    """Go on after a pause, or after having been away.

    Raises:
        SessionProblem: `session_paused` when a respondent would lift a moderator's pause; `session_completed` when
            the interview is over or was left alone for longer than `resume_until`.
    """
    _refuse_over(state)
    if is_stopping(state):
        return _stop_taken_back(state, now)
    if state.status == "abandoned":
        return _return(state, now, resume_until)
    if state.status != "paused":
        return Change(state)
    if state.paused_by == "moderator" and by == "respondent":
        raise SessionProblem("session_paused", "The interviewer has paused this interview and will resume it.")
    return _changed(state, now, state.resume_status or "active", f"resumed_by_{by}", paused_by=None, resume_status=None)


def _stop_taken_back(state: InterviewState, now: datetime) -> Change:
    """Go on after all: the question that was open is asked once more, for the farewell stands behind it."""
    conduct = state.conduct.model_copy(update={"stopping_until": None, "offers": (), "asked": ""})
    question = state.stopped_question
    change = _changed(
        state,
        now,
        state.resume_status or "active",
        "stop_taken_back",
        resume_status=None,
        question=question,
        stopped_question=None,
        conduct=conduct,
    )
    if question is None:
        return change
    again = Utterance(
        id=derived_id(state.session_id, question.turn_number, "asked again", state.rev),
        turn_number=question.turn_number,
        speaker="interviewer",
        kind="rephrase",
        text=question.text,
        recorded_at=now,
        strategy=question.strategy,
        focus_key=question.focus_key,
    )
    asked = question.model_copy(update={"utterance_id": again.id})
    after = change.state.model_copy(update={"question": asked, "utterances": (*state.utterances, again)})
    said: Event = {
        "type": "question.completed",
        "turn_number": question.turn_number,
        "text": question.text,
        "fallback": False,
    }
    ratings = form_of(state.grid, question.target)
    if ratings is not None:
        said["ratings"] = ratings
    return replace(change, state=after, events=(*change.events, said))


def complete_stop(state: InterviewState, now: datetime) -> Change:
    """Complete an interview that the respondent wanted to stop, once it can't be taken back any more.

    Too early, or not stopping, is no change. Nothing more is said: the reply to the wish has said it.
    """
    until = state.conduct.stopping_until
    if is_over(state) or until is None or now < until:
        return Change(state)
    return _changed(
        state,
        now,
        "completed",
        STOPPED,
        resume_status=None,
        paused_by=None,
        claimed_by=None,
        question=None,
        stopped_question=None,
        directives=(),
        conduct=state.conduct.model_copy(update={"offers": (), "asked": ""}),
    )


def acknowledge(state: InterviewState, who: str, now: datetime) -> Change:
    """Note that a moderator has seen the alerts of care; also when the interview is over."""
    conduct = acknowledged(state.conduct, who)
    return Change(state) if conduct == state.conduct else Change(_next(state, now, conduct=conduct))


def release_held(state: InterviewState, who: str, now: datetime) -> Change:
    """Let an interview go that is held back because somebody seemed to be under age.

    Raises:
        SessionProblem: `invalid_input` where it is not held back.
    """
    if not state.conduct.held_back:
        raise SessionProblem("invalid_input", "This interview is not held back.")
    conduct = state.conduct.model_copy(update={"released_by": who})
    return _changed(state, now, state.status, "released_by_moderator", conduct=conduct)


def _return(state: InterviewState, now: datetime, resume_until: timedelta) -> Change:
    if now - last_sign_of_life(state) > resume_until:
        raise SessionProblem("session_completed", "This interview was left alone for too long to be resumed.")
    if state.paused_by == "moderator":
        return _changed(state, now, "paused", "by_moderator")
    return _changed(state, now, state.resume_status or "active", "returned", paused_by=None, resume_status=None)


def last_sign_of_life(state: InterviewState) -> datetime:
    """When the respondent was last heard of; being abandoned does not count."""
    return state.updated_at


def abandon(state: InterviewState, now: datetime, abandon_after: timedelta) -> Change:
    """Mark a session whose respondent did not come back as abandoned; it can be resumed. Too early is no change."""
    if is_stopping(state):
        return complete_stop(state, now)
    if is_over(state) or state.status == "abandoned" or now - last_sign_of_life(state) < abandon_after:
        return Change(state)
    left = state.model_copy(
        update={
            "rev": state.rev + 1,
            "status": "abandoned",
            "status_reason": "no_sign_of_life",
            "resume_status": state.resume_status or state.status,
        }
    )
    return Change(left, (_state_event("abandoned", "no_sign_of_life"),))


def finish(state: InterviewState, configuration: SessionConfiguration, *, reason: str, now: datetime) -> Change:
    """End the interview at once, with thanks.

    Raises:
        SessionProblem: `session_completed`; `consent_required` where the respondent has agreed to nothing yet.
    """
    _refuse_over(state)
    if reason == BY_RESPONDENT and consent_missing(state, configuration):
        raise SessionProblem("consent_required")
    number = state.turn_count + 1 if state.question is not None else state.turn_count
    thanks = Utterance(
        id=derived_id(state.session_id, number, "utterance", f"thanks-{state.rev}"),
        turn_number=number,
        speaker="interviewer",
        kind="closing",
        text=configuration.closing_text,
        recorded_at=now,
    )
    ended = _next(
        state,
        now,
        status="completed",
        status_reason=reason,
        resume_status=None,
        paused_by=None,
        claimed_by=None,
        question=None,
        directives=(),
        utterances=(*state.utterances, thanks),
    )
    said: Event = {
        "type": "question.completed",
        "turn_number": number,
        "text": thanks.text,
        "fallback": False,
        "closing": True,
    }
    return Change(ended, (said, _state_event("completed", reason)))


def extend(state: InterviewState, turns: int, now: datetime) -> Change:
    """Allow more turns."""
    _refuse_over(state)
    if turns < 1 or state.max_turns + turns > TURN_LIMIT:
        raise SessionProblem("invalid_input", f"An interview has at most {TURN_LIMIT} turns.")
    return Change(_next(state, now, max_turns=state.max_turns + turns))


def check_directive(state: InterviewState, configuration: SessionConfiguration, directive: Directive) -> None:
    """Refuse a wish that no question could follow.

    Raises:
        SessionProblem: `session_completed`; `invalid_input` for a strategy or a node that is not there, and where the
            next answer is the last one.
    """
    _refuse_over(state)
    names = strategies_of(state.engine, configuration).names
    if directive.strategy is not None and directive.strategy not in names:
        raise SessionProblem(
            "invalid_input", f"This interview has no strategy {directive.strategy}, only {', '.join(names)}."
        )
    known = {node.id for node in state.nodes if node.superseded_by is None}
    if directive.node_id is not None and directive.node_id not in known:
        raise SessionProblem("invalid_input", "There is no such node in this interview's graph.")
    if state.turn_count + 1 >= state.max_turns:
        raise SessionProblem("invalid_input", "The next answer is the last one. Extend the interview first.")


def direct(state: InterviewState, configuration: SessionConfiguration, directive: Directive, now: datetime) -> Change:
    """Keep a moderator's wish for the next question; the same one counts once. An interview that was about to close
    goes on.

    Raises:
        SessionProblem: as `check_directive`.
    """
    check_directive(state, configuration, directive)
    if any(known.command_id == directive.command_id for known in state.directives):
        return Change(state)
    directives = (*state.directives, directive)
    if state.status == "closing":
        return _changed(state, now, "active", "reopened_by_moderator", directives=directives)
    return Change(_next(state, now, directives=directives))


def check_claim(state: InterviewState, who: str) -> None:
    """Refuse to take over what is over or in other hands. Raises SessionProblem."""
    _refuse_over(state)
    if state.claimed_by not in (None, who):
        raise SessionProblem("forbidden", f"{state.claimed_by} has taken over this interview. Release it first.")


def claim(state: InterviewState, who: str, now: datetime) -> Change:
    """Take over by hand: from now on the engine waits for a moderator after each answer.

    Raises:
        SessionProblem: `session_completed`; `forbidden` while another moderator has taken over.
    """
    check_claim(state, who)
    return Change(state) if state.claimed_by == who else Change(_next(state, now, claimed_by=who))


def release(state: InterviewState, now: datetime) -> Change:
    """Give the session back to the engine."""
    _refuse_over(state)
    return Change(state) if state.claimed_by is None else Change(_next(state, now, claimed_by=None))


def is_held(state: InterviewState) -> bool:
    """Whether the engine waits for a moderator before it goes on from an answer."""
    return state.claimed_by is not None and not state.directives


def with_command(state: InterviewState, command_id: str, turn_number: int) -> InterviewState:
    """The same state, in which a moderator's command is noted as applied from that turn on."""
    kept = (*state.commands, AppliedCommand(command_id=command_id, turn_number=turn_number))
    return state.model_copy(update={"commands": kept[-KEPT_COMMANDS:]})


def change_settings(state: InterviewState, changes: Mapping[str, Any], now: datetime) -> Change:
    """Keep the respondent's wishes about speaking and listening."""
    _refuse_over(state)
    settings = {**state.settings, **changes}
    return Change(state) if settings == state.settings else Change(_next(state, now, settings=settings))


def touched(state: InterviewState) -> InterviewState:
    """The same session one revision further, for a record that changes nothing else."""
    return state.model_copy(update={"rev": state.rev + 1})


def _refuse_over(state: InterviewState) -> None:
    if is_over(state):
        raise SessionProblem("session_completed")


def _changed(state: InterviewState, now: datetime, status: SessionStatus, reason: str, **changes: Any) -> Change:
    after = _next(state, now, status=status, status_reason=reason, **changes)
    return Change(after, (_state_event(status, reason),))


def _next(state: InterviewState, now: datetime, **changes: Any) -> InterviewState:
    return state.model_copy(update={"rev": state.rev + 1, "updated_at": now, **changes})


def _state_event(status: SessionStatus, reason: str) -> Event:
    return {"type": "session.state", "state": status, "reason": reason}

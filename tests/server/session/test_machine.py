"""What may be done in which state."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pipeline.state import Directive, InterviewState, QuestionAsked, Utterance
from server.session import rules
from server.session.change import Change
from server.session.problems import SessionProblem
from tests.support.fakes_session import asking_consent
from tests.support.interview import NOW, configuration, new_state

LATER = NOW + timedelta(minutes=5)
WEEK = timedelta(days=7)
DAY = timedelta(days=1)


def asked(**changes: Any) -> InterviewState:
    """A session with a question waiting."""
    question = QuestionAsked(utterance_id="q", turn_number=0, text="Why coffee?", kind="opening")
    return new_state(**({"status": "active", "question": question} | changes))


def refused(code: str, act: Any, *arguments: Any, **named: Any) -> SessionProblem:
    with pytest.raises(SessionProblem) as problem:
        act(*arguments, **named)
    assert problem.value.code == code
    return problem.value


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"status": "completed"}, "session_completed"),
        ({"status": "failed"}, "session_completed"),
        ({"status": "paused"}, "session_paused"),
        ({"status": "abandoned"}, "session_paused"),
        ({"question": None, "status": "created"}, "turn_in_progress"),
    ],
)
def test_check_turn_in_a_state_without_answers_is_refused(changes: dict[str, Any], code: str) -> None:
    refused(code, rules.check_turn, asked(**changes), configuration())


@pytest.mark.parametrize("status", ["active", "closing"])
def test_check_turn_with_a_question_waiting_is_fine(status: str) -> None:
    rules.check_turn(asked(status=status), configuration())


def test_check_turn_over_counts_before_consent() -> None:
    refused("consent_required", rules.check_turn, asked(status="paused"), asking_consent())
    refused("session_completed", rules.check_turn, asked(status="completed"), asking_consent())


def test_may_open_only_once_and_only_with_consent() -> None:
    assert rules.may_open(new_state(), configuration())
    assert not rules.may_open(new_state(), asking_consent())
    assert not rules.may_open(asked(), configuration())
    assert not rules.may_open(new_state(status="paused"), configuration())


def test_consent_of_another_version_is_refused() -> None:
    refused("invalid_input", rules.give_consent, new_state(), asking_consent(), version="1", choices={}, now=LATER)


def test_consent_is_kept_with_its_choices_and_twice_the_same_changes_nothing() -> None:
    step = rules.give_consent(new_state(), asking_consent(), version="2", choices={"audio": False}, now=LATER)
    assert step.state.consent is not None
    assert (step.state.consent.version, step.state.consent.choices, step.state.consent.given_at) == (
        "2",
        {"audio": False},
        LATER,
    )
    assert step.state.rev == 1
    again = rules.give_consent(step.state, asking_consent(), version="2", choices={"audio": False}, now=LATER)
    assert again.state is step.state


def test_correct_only_the_last_answer() -> None:
    said = tuple(
        Utterance(id=name, turn_number=n, speaker="respondent", kind="answer", text=name, recorded_at=NOW)
        for n, name in enumerate(("one", "two"), 1)
    )
    rules.check_correction(asked(utterances=said), "two")
    refused("invalid_input", rules.check_correction, asked(utterances=said), "one")
    refused("invalid_input", rules.check_correction, asked(), "one")


def test_pause_by_the_respondent_is_lifted_by_either() -> None:
    for by in ("respondent", "moderator"):
        paused = rules.pause(asked(status="closing"), "respondent", LATER)
        assert (paused.state.status, paused.state.paused_by) == ("paused", "respondent")
        assert paused.events == ({"type": "session.state", "state": "paused", "reason": "by_respondent"},)
        lifted = rules.resume(paused.state, by, LATER, WEEK)
        assert (lifted.state.status, lifted.state.paused_by) == ("closing", None)


def test_pause_by_a_moderator_is_lifted_by_a_moderator_only() -> None:
    paused = rules.pause(asked(), "moderator", LATER).state
    refused("session_paused", rules.resume, paused, "respondent", LATER, WEEK)
    assert rules.resume(paused, "moderator", LATER, WEEK).state.status == "active"


def test_pause_by_a_moderator_stands_above_the_respondents() -> None:
    paused = rules.pause(asked(), "respondent", LATER).state
    above = rules.pause(paused, "moderator", LATER).state
    assert (above.paused_by, above.resume_status) == ("moderator", "active")
    assert rules.pause(above, "respondent", LATER).state is above
    assert rules.pause(above, "moderator", LATER).state is above


def test_resume_without_a_pause_changes_nothing() -> None:
    state = asked()
    assert rules.resume(state, "respondent", LATER, WEEK) == Change(state)


def test_who_agreed_to_nothing_yet_has_nothing_to_finish() -> None:
    refused("consent_required", rules.finish, new_state(), asking_consent(), reason=rules.BY_RESPONDENT, now=LATER)
    assert rules.finish(new_state(), asking_consent(), reason="moderator", now=LATER).state.status == "completed"


@pytest.mark.parametrize("status", ["created", "active", "paused", "closing", "abandoned"])
def test_finish_ends_with_thanks_from_any_state_that_goes_on(status: str) -> None:
    step = rules.finish(asked(status=status, turn_count=3), configuration(), reason="respondent_finished", now=LATER)
    assert step.state.status == "completed"
    assert step.state.question is None
    assert [event["type"] for event in step.events] == ["question.completed", "session.state"]
    assert step.events[0] == {
        "type": "question.completed",
        "turn_number": 4,
        "text": "Thank you very much for your time.",
        "fallback": False,
        "closing": True,
    }
    thanks = step.state.utterances[-1]
    assert (thanks.kind, thanks.speaker, thanks.text) == ("closing", "interviewer", step.events[0]["text"])


def test_completed_is_terminal() -> None:
    state = asked(status="completed")
    refused("session_completed", rules.pause, state, "moderator", LATER)
    refused("session_completed", rules.resume, state, "moderator", LATER, WEEK)
    refused("session_completed", rules.finish, state, configuration(), reason="x", now=LATER)
    refused("session_completed", rules.extend, state, 3, LATER)
    refused("session_completed", rules.change_settings, state, {"spoken": True}, LATER)
    refused("session_completed", rules.give_consent, state, asking_consent(), version="2", choices={}, now=LATER)
    wish = Directive(command_id="c", kind="inject", question="?")
    refused("session_completed", rules.direct, state, configuration(), wish, LATER)
    refused("session_completed", rules.claim, state, "Ada", LATER)
    refused("session_completed", rules.release, state, LATER)
    assert rules.abandon(state, NOW + WEEK, DAY).state is state


def test_abandon_waits_for_the_limit_then_keeps_the_way_back() -> None:
    state = asked(status="closing")
    assert rules.abandon(state, NOW + DAY - timedelta(seconds=1), DAY).state is state
    left = rules.abandon(state, NOW + DAY, DAY)
    assert (left.state.status, left.state.resume_status) == ("abandoned", "closing")
    assert left.state.updated_at == NOW, "being abandoned is no sign of life"
    assert rules.abandon(left.state, NOW + WEEK, DAY).state is left.state
    back = rules.resume(left.state, "respondent", NOW + WEEK, WEEK)
    assert (back.state.status, back.state.resume_status) == ("closing", None)
    assert back.events == ({"type": "session.state", "state": "closing", "reason": "returned"},)
    refused("session_completed", rules.resume, left.state, "respondent", NOW + WEEK + timedelta(seconds=1), WEEK)


def test_abandoned_while_paused_by_a_moderator_returns_to_the_pause() -> None:
    paused = rules.pause(asked(), "moderator", NOW).state
    left = rules.abandon(paused, NOW + DAY, DAY).state
    back = rules.resume(left, "respondent", NOW + DAY, WEEK).state
    assert (back.status, back.paused_by, back.resume_status) == ("paused", "moderator", "active")
    assert rules.resume(back, "moderator", NOW + DAY, WEEK).state.status == "active"


def test_abandoned_while_paused_by_the_respondent_returns_to_the_interview() -> None:
    paused = rules.pause(asked(), "respondent", NOW).state
    left = rules.abandon(paused, NOW + DAY, DAY).state
    back = rules.resume(left, "respondent", NOW + DAY, WEEK).state
    assert (back.status, back.paused_by, back.resume_status) == ("active", None, None)


def test_wish_that_no_question_could_follow_is_refused() -> None:
    for wrong in ({"strategy": "dance"}, {"node_id": "nowhere"}):
        wish = Directive(command_id="c", kind="steer", **wrong)
        refused("invalid_input", rules.direct, asked(), configuration(), wish, LATER)
    wish = Directive(command_id="c", kind="inject", question="And at night?")
    last = asked(turn_count=14, max_turns=15)
    refused("invalid_input", rules.direct, last, configuration(), wish, LATER)
    assert rules.direct(asked(turn_count=13, max_turns=15), configuration(), wish, LATER).state.directives == (wish,)


def test_wish_in_an_interview_that_closes_opens_it_again() -> None:
    wish = Directive(command_id="c", kind="inject", question="And at night?")
    step = rules.direct(asked(status="closing"), configuration(), wish, LATER)
    assert step.state.status == "active"
    assert step.events == ({"type": "session.state", "state": "active", "reason": "reopened_by_moderator"},)


def test_claim_holds_the_engine_until_there_is_a_wish_or_a_release() -> None:
    claimed = rules.claim(asked(), "Ada", LATER).state
    assert claimed.claimed_by == "Ada"
    assert rules.is_held(claimed)
    assert rules.claim(claimed, "Ada", LATER).state is claimed
    refused("forbidden", rules.claim, claimed, "Ben", LATER)
    wish = Directive(command_id="c", kind="inject", question="And at night?")
    assert not rules.is_held(rules.direct(claimed, configuration(), wish, LATER).state)
    free = rules.release(claimed, LATER).state
    assert free.claimed_by is None
    assert not rules.is_held(free)
    assert rules.release(free, LATER).state is free


def test_commands_that_took_effect_are_remembered_for_a_while() -> None:
    state = asked()
    for number in range(rules.KEPT_COMMANDS + 1):
        state = rules.with_command(state, f"c{number}", number)
    assert state.command("c0") is None
    known = state.command("c100")
    assert known is not None
    assert known.turn_number == 100


def test_extend_and_direct_and_settings_are_kept() -> None:
    state = rules.extend(asked(), 5, LATER).state
    assert state.max_turns == 20
    refused("invalid_input", rules.extend, state, 500, LATER)
    wish = Directive(command_id="c", kind="inject", question="And at night?")
    state = rules.direct(state, configuration(), wish, LATER).state
    assert state.directives == (wish,)
    assert rules.direct(state, configuration(), wish, LATER).state is state
    state = rules.change_settings(state, {"spoken": True}, LATER).state
    assert rules.change_settings(state, {"spoken": True}, LATER).state is state
    assert state.rev == 3


def test_question_is_asked_once_more_where_a_stop_is_taken_back() -> None:
    asking = asked()
    stopping = asked(
        status="closing",
        question=None,
        resume_status="active",
        stopped_question=asking.question,
        conduct=asking.conduct.model_copy(update={"stopping_until": LATER, "offers": ("resume",)}),
    )
    back = rules.resume(stopping, "respondent", NOW, WEEK)
    assert (back.state.status, back.state.status_reason) == ("active", "stop_taken_back")
    [again] = back.state.utterances
    assert (again.kind, again.turn_number, again.text) == ("rephrase", 0, "Why coffee?")
    assert back.state.question is not None
    assert (back.state.question.text, back.state.question.utterance_id) == ("Why coffee?", again.id)
    assert [event["type"] for event in back.events] == ["session.state", "question.completed"]
    assert back.events[1]["text"] == "Why coffee?"

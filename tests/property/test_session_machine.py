"""Whatever is done to a session in whatever order, it stays one: a state machine over all commands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pipeline.state import Directive, InterviewState, QuestionAsked, Receipt
from server.session import rules
from server.session.change import Change, Event
from server.session.problems import SessionProblem
from tests.support.fakes_session import asking_consent
from tests.support.interview import NOW, new_state

DAY, WEEK = timedelta(days=1), timedelta(days=7)
SIDES = st.sampled_from(["respondent", "moderator"])
ALLOWED = {
    ("created", "active"),
    ("created", "paused"),
    ("paused", "created"),
    ("active", "paused"),
    ("paused", "active"),
    ("active", "closing"),
    ("closing", "active"),
    ("closing", "paused"),
    ("paused", "closing"),
    *((status, "completed") for status in ("created", "active", "paused", "closing", "abandoned")),
    *((status, "abandoned") for status in ("created", "active", "paused", "closing")),
    *(("abandoned", status) for status in ("created", "active", "paused", "closing")),
}


class SessionMachine(RuleBasedStateMachine):
    """Applies commands as an owner does, and keeps what was told."""

    def __init__(self) -> None:
        super().__init__()
        self.configuration = asking_consent()
        self.state: InterviewState = new_state()
        self.now: datetime = NOW
        self.told: list[Event] = []
        self.trail = [self.state.status]
        self.revs = [0]

    def apply(self, step: Change) -> None:
        before = self.state
        if step.state is before:
            assert step.events == ()
            return
        assert step.state.rev == before.rev + 1, "one commit, one revision"
        assert step.state.turn_count == before.turn_count, "commands use no turn"
        assert before.status not in rules.TERMINAL
        if step.state.status != before.status:
            assert (before.status, step.state.status) in ALLOWED
            assert step.events[-1]["type"] == "session.state"
            assert step.events[-1]["state"] == step.state.status
        self.told += step.events
        self.state = InterviewState.load(step.state.dump())
        self.trail.append(self.state.status)
        self.revs.append(self.state.rev)

    def attempt(self, act: Callable[[], Change]) -> None:
        before, code = self.state, ""
        try:
            self.apply(act())
        except SessionProblem as problem:
            code = problem.code
        if code:
            assert self.state is before
        if before.status in rules.TERMINAL:
            assert code == "session_completed" or self.state is before

    @rule(hours=st.integers(1, 60))
    def wait(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(version=st.sampled_from(["1", "2"]))
    def consent(self, version: str) -> None:
        self.attempt(
            lambda: rules.give_consent(
                self.state, self.configuration, version=version, choices={"agree": True}, now=self.now
            )
        )

    @rule()
    def opening(self) -> None:
        if not rules.may_open(self.state, self.configuration):
            return
        assert self.state.consent is not None, "no question before consent"
        question = QuestionAsked(utterance_id="q", turn_number=0, text="Why?", kind="opening")
        opened = self.state.model_copy(
            update={"rev": self.state.rev + 1, "status": "active", "question": question, "updated_at": self.now}
        )
        self.apply(Change(opened, ({"type": "session.state", "state": "active", "reason": ""},)))

    @rule(closing=st.booleans())
    def answer(self, closing: bool) -> None:
        before = self.state
        try:
            rules.check_turn(before, self.configuration)
        except SessionProblem:
            return
        assert before.status in ("active", "closing")
        assert before.consent is not None
        assert before.question is not None
        number = before.turn_count + 1
        complete = before.status == "closing" or number >= before.max_turns
        status = "completed" if complete else "closing" if closing else before.status
        receipt = Receipt(turn_key=str(number), turn_number=number, digest="d", result={})
        self.state = before.model_copy(
            update={
                "rev": before.rev + 1,
                "turn_count": number,
                "status": status,
                "question": None if complete else before.question,
                "receipts": (*before.receipts, receipt),
                "updated_at": self.now,
            }
        )
        self.trail.append(self.state.status)
        self.revs.append(self.state.rev)

    @rule(by=SIDES)
    def pause(self, by: rules.Side) -> None:
        self.attempt(lambda: rules.pause(self.state, by, self.now))

    @rule(by=SIDES)
    def resume(self, by: rules.Side) -> None:
        held = self.state.status == "paused" and self.state.paused_by == "moderator"
        self.attempt(lambda: rules.resume(self.state, by, self.now, WEEK))
        if held and by == "respondent":
            assert self.state.status == "paused", "only a moderator lifts a moderator's pause"

    @rule()
    def abandon(self) -> None:
        self.attempt(lambda: rules.abandon(self.state, self.now, DAY))

    @rule(turns=st.integers(0, 60))
    def extend(self, turns: int) -> None:
        self.attempt(lambda: rules.extend(self.state, turns, self.now))

    @rule(name=st.sampled_from("abc"))
    def inject(self, name: str) -> None:
        wish = Directive(command_id=name, kind="inject", question="?")
        self.attempt(lambda: rules.direct(self.state, self.configuration, wish, self.now))

    @rule(who=st.sampled_from(("Ada", "Ben")))
    def claim(self, who: str) -> None:
        before = self.state.claimed_by
        self.attempt(lambda: rules.claim(self.state, who, self.now))
        assert before is None or self.state.claimed_by == before, "one moderator does not take from another"

    @rule()
    def release(self) -> None:
        self.attempt(lambda: rules.release(self.state, self.now))

    @rule(spoken=st.booleans())
    def settings(self, spoken: bool) -> None:
        self.attempt(lambda: rules.change_settings(self.state, {"spoken": spoken}, self.now))

    @rule(by=SIDES, sure=st.integers(0, 9))
    def finish(self, by: rules.Side, sure: int) -> None:
        if sure == 0:
            self.attempt(lambda: rules.finish(self.state, self.configuration, reason="enough", now=self.now))

    @invariant()
    def revisions_grow_by_one(self) -> None:
        assert self.revs == list(range(len(self.revs)))

    @invariant()
    def completed_is_terminal(self) -> None:
        if "completed" in self.trail:
            assert self.trail.index("completed") == len(self.trail) - 1
            assert self.state.question is None

    @invariant()
    def pauses_know_who_and_whereto(self) -> None:
        if self.state.status == "paused":
            assert self.state.paused_by is not None
            assert self.state.resume_status in ("created", "active", "closing")
        if self.state.status in ("active", "closing", "completed", "created"):
            assert self.state.paused_by is None
            assert self.state.resume_status is None

    @invariant()
    def last_news_is_the_state(self) -> None:
        news = [event["state"] for event in self.told if event["type"] == "session.state"]
        if news and self.trail[-1] != "closing" and not self.state.receipts:
            assert news[-1] == self.state.status


TestSessionMachine = SessionMachine.TestCase

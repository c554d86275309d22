"""Commands on a session, by its respondent or by moderators: each decided by the rules and committed between turns.

Moderators' commands reach the owner through the session's inbox in hot storage, whatever node they were given to.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Self

import structlog

from pipeline.errors import PipelineError
from pipeline.state import Directive, InterviewState
from server.hot.errors import HotError, NotOwner, SessionErased, StorageUnavailable
from server.protocol.codec import ProtocolProblem, parse
from server.protocol.codes import ErrorCode
from server.protocol.moderator import (
    COMMANDS,
    AcknowledgeAlerts,
    AnyCommand,
    ClaimSession,
    EndSession,
    ExtendSession,
    InjectQuestion,
    PauseSession,
    ReleaseHeld,
    ReleaseSession,
    ResumeSession,
    SetForSession,
    Steer,
    WriteNote,
)
from server.protocol.outbound import Notice
from server.session import rules
from server.session.change import Change, ChangeRecord
from server.session.context import SessionContext
from server.session.problems import Moved, SessionProblem, problem_of
from server.session.turns import Turns

log = structlog.get_logger("askwell.session")

ABANDON = "abandon"
HALTING = (PauseSession, EndSession)
"""Commands after which no answer is taken: what was said before comes first."""
Decide = Callable[[], Change]
"""Applies a rule to the session's present state."""


@dataclass(frozen=True, slots=True)
class QueuedCommand:
    """A command as it waits in a session's inbox: what, by whom, when.

    Without a command of a moderator it is the sweep's own, `abandon`.
    """

    command_id: str
    who: str
    at: str
    command: AnyCommand | None

    def pack(self) -> bytes:
        """As JSON."""
        body = self.command.model_dump(mode="json") if self.command is not None else {"type": ABANDON}
        fields = {"command_id": self.command_id, "who": self.who, "at": self.at, "command": body}
        return json.dumps(fields, ensure_ascii=False).encode()

    @classmethod
    def unpack(cls, item: bytes) -> Self:
        """What `pack` wrote.

        Raises:
            ValueError, KeyError, TypeError, ProtocolProblem: it is not a command.
        """
        value = json.loads(item)
        body = value["command"]
        command = None if body["type"] == ABANDON else parse(body, COMMANDS)
        return cls(value["command_id"], value["who"], value["at"], command)

    def action(self, turn_number: int) -> dict[str, Any]:
        """How records describe the command, which applies from that turn on."""
        assert self.command is not None
        fields = self.command.model_dump(mode="json", exclude={"command_id", "session_id", "type"}, exclude_none=True)
        number = fields.pop("turn_number", turn_number)
        head = {"command_id": self.command_id, "type": self.command.type, "who": self.who, "at": self.at}
        return {**fields, **head, "turn_number": number}


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What became of a command: the turn it applies to, or an error; `waiting` while a turn runs before it."""

    applies_to_turn: int = 0
    waiting: bool = False
    code: ErrorCode | None = None
    message: str = ""

    def pack(self) -> bytes:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """What `pack` wrote."""
        return cls(**json.loads(data))

    def result(self) -> int:
        """The turn the command applies to. Raises SessionProblem if it was refused."""
        if self.code is not None:
            raise SessionProblem(self.code, self.message)
        return self.applies_to_turn


def turn_of(state: InterviewState, command: AnyCommand) -> int:
    """The turn a command applies to: the next one, or behind the directives that wait, one a turn."""
    return state.turn_count + 1 + (len(state.directives) if isinstance(command, InjectQuestion | Steer) else 0)


def directive_of(command: InjectQuestion | Steer) -> Directive:
    """What a command wants of the next question."""
    if isinstance(command, InjectQuestion):
        return Directive(command_id=command.command_id, kind="inject", question=command.question)
    return Directive(command_id=command.command_id, kind="steer", strategy=command.strategy, node_id=command.node_id)


class Commands:
    """Applies commands to one session.

    Args:
        session: the session.
        turns: its turns; a command may let an answer go on that waits for a moderator.
    """

    def __init__(self, session: SessionContext, turns: Turns) -> None:
        self._session = session
        self._turns = turns
        self._inbox_lock = asyncio.Lock()

    # Of the respondent

    async def apply(self, name: str, decide: Decide, *, ends: bool = False) -> None:
        """Apply a command of the respondent in its place among the turns.

        Args:
            name: of the command.
            decide: what it changes.
            ends: the interview ends with it: a pending answer is given up and stays on record.

        Raises:
            SessionProblem, HotError: it is refused, or storage refuses it.
        """

        async def work() -> None:
            await self._session.worker.fresh()
            await self.commit(f"{name}:{self._session.services.new_id()}", decide(), ends=ends)

        if name != "set":
            await self._session.settle_answers()
        await self._session.worker.do(name, work)
        self._turns.reconsider()

    async def commit(
        self,
        key: str,
        change: Change,
        *,
        action: Mapping[str, Any] | None = None,
        applies_to: int | None = None,
        ends: bool = False,
    ) -> None:
        """Commit what a command changes. One that changes nothing is committed only for its record.

        Args:
            key: the command's id.
            change: by the rules.
            action: how the record describes a moderator's command, if it is one.
            applies_to: the turn that command applies to; None is the next one.
            ends: as of `apply`.
        """
        session = self._session
        if change.state is session.state:
            if action is None:
                return
            change = replace(change, state=rules.touched(change.state))
        if action is not None:
            state = rules.with_command(change.state, key, applies_to or change.state.turn_count + 1)
            change = replace(change, state=state, record=ChangeRecord(action=action))
        await session.commit(key, change, pending="supersede" if ends else "keep", repeat=False)

    # Of moderators

    async def apply_inbox(self) -> None:
        """Apply everything that waits in the session's inbox, in order, each once.

        What is refused is answered with its error.

        Raises:
            Moved, NotOwner, SessionErased, StorageUnavailable: the rest stays for whoever owns the session next.
        """
        inbox, session_id = self._session.services.hot.inbox, self._session.session_id
        if self._turns.interventions.open:
            for item in await inbox.read(session_id):
                self._intervene(item)
        async with self._inbox_lock:
            for item in await inbox.read(session_id):
                await self._answer(item)
        self._turns.reconsider()

    async def _answer(self, item: bytes) -> None:
        session, inbox = self._session, self._session.services.hot.inbox
        try:
            queued = QueuedCommand.unpack(item)
        except (ValueError, KeyError, TypeError, ProtocolProblem) as exc:
            log.error("inbox.unreadable", session=session.session_id, error=repr(exc))
        else:
            if session.worker.busy:
                await inbox.reply(session.session_id, queued.command_id, CommandReply(waiting=True).pack())
            try:
                reply = CommandReply(applies_to_turn=await self._apply_queued(queued))
            except (Moved, NotOwner, SessionErased, StorageUnavailable):
                raise
            except (SessionProblem, HotError, PipelineError) as exc:
                problem = problem_of(exc)
                reply = CommandReply(code=problem.code, message=problem.message)
            await inbox.reply(session.session_id, queued.command_id, reply.pack())
        await inbox.drop(session.session_id, item)

    async def _apply_queued(self, queued: QueuedCommand) -> int:
        """Apply a command in a commit of its own; the number of the turn it applies to."""
        session, command = self._session, queued.command
        if command is None and (session.audience.present or session.worker.busy):
            return 0
        claimed_by = session.state.claimed_by
        wanted = {"patience": command.patience} if isinstance(command, SetForSession) else {}
        if wanted:
            session.request_settings(wanted)

        async def work() -> int:
            await session.worker.fresh()
            known = session.state.command(queued.command_id)
            if known is not None:
                return known.turn_number
            number, change = session.state.turn_count + 1, self._decide(queued)
            action: Mapping[str, Any] | None = None
            if command is not None:
                number = turn_of(session.state, command)
                action = queued.action(number)
            ends = isinstance(command, EndSession)
            await self.commit(queued.command_id, change, action=action, applies_to=number, ends=ends)
            return number

        if isinstance(command, HALTING):
            await session.settle_answers()
        try:
            number = await session.worker.do("command", work)
        except SessionProblem:
            session.settle_settings(wanted)
            raise
        session.settle_settings(wanted)
        if claimed_by is None and session.state.claimed_by is not None:
            await session.audience.broadcast(Notice.of("moderator_here"))
        self._turns.reconsider()
        return number

    def _intervene(self, item: bytes) -> None:
        """Let a command that waits for the running turn take effect in it, if it can."""
        try:
            queued = QueuedCommand.unpack(item)
        except (ValueError, KeyError, TypeError, ProtocolProblem):
            return
        session, command = self._session, queued.command
        state, interventions = session.state, self._turns.interventions
        if command is None or state.command(queued.command_id) is not None:
            return
        try:
            match command:
                case InjectQuestion() | Steer():
                    directive = directive_of(command)
                    rules.check_directive(state, session.configuration, directive)
                    interventions.direct(directive, queued.action(turn_of(state, command)))
                case ClaimSession():
                    rules.check_claim(state, queued.who)
                    interventions.set_claimed(True)
                case ReleaseSession():
                    interventions.set_claimed(False)
                case SetForSession():
                    session.request_settings({"patience": command.patience})
        except SessionProblem as problem:
            log.info("inbox.not_now", session=session.session_id, reason=str(problem))

    def _decide(self, queued: QueuedCommand) -> Change:
        """What a queued command changes now. Raises SessionProblem."""
        session, settings = self._session, self._session.services.settings
        state, now = session.state, session.services.now()
        match queued.command:
            case None:
                return rules.abandon(state, now, timedelta(seconds=settings.abandon_after_s))
            case PauseSession():
                return rules.pause(state, "moderator", now)
            case ResumeSession():
                return rules.resume(state, "moderator", now, timedelta(seconds=settings.resume_until_s))
            case EndSession():
                reason = "ended_by_moderator"
                return rules.finish(state, session.configuration, reason=reason, now=now)
            case ExtendSession(turns=turns):
                return rules.extend(state, turns, now)
            case InjectQuestion() | Steer() as wanted:
                return rules.direct(state, session.configuration, directive_of(wanted), now)
            case ClaimSession():
                return rules.claim(state, queued.who, now)
            case ReleaseSession():
                return rules.release(state, now)
            case WriteNote():
                return Change(state)
            case AcknowledgeAlerts():
                return rules.acknowledge(state, queued.who, now)
            case ReleaseHeld():
                return rules.release_held(state, queued.who, now)
            case SetForSession(patience=patience):
                return rules.change_settings(state, {"patience": patience}, now)

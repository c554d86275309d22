"""Moderators' commands: from any node to the session's owner, by the session's inbox, and the answer back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

import structlog

from pipeline.errors import PipelineError
from pipeline.state import Directive, InterviewState
from server.hot.errors import Gone, HotError, NotOwner, StorageUnavailable
from server.protocol.codec import ProtocolProblem, parse
from server.protocol.codes import ErrorCode
from server.protocol.moderator import (
    COMMANDS,
    AnyCommand,
    ClaimSession,
    EndSession,
    ExtendSession,
    InjectQuestion,
    PauseSession,
    ReleaseSession,
    ResumeSession,
    SetForSession,
    Steer,
    WriteNote,
)
from server.session import machine
from server.session.owner import SessionOwner
from server.session.ports import Hot
from server.session.problems import Moved, SessionProblem, problem_of
from server.session.settings import HubSettings

log = structlog.get_logger("askwell.session")

ABANDON = "abandon"


@dataclass(frozen=True, slots=True)
class Order:
    """A command on its way: what, by whom, when. An order without a command is the sweep's `abandon`."""

    command_id: str
    who: str
    at: str
    command: AnyCommand | None

    def pack(self) -> bytes:
        """As it waits in the inbox."""
        body = self.command.model_dump(mode="json") if self.command is not None else {"type": ABANDON}
        return json.dumps(
            {"command_id": self.command_id, "who": self.who, "at": self.at, "command": body}, ensure_ascii=False
        ).encode()

    def action(self, turn_number: int) -> dict[str, Any]:
        """What the record says of the command, which governs the interview from that turn on."""
        assert self.command is not None
        wanted = self.command.model_dump(mode="json", exclude={"command_id", "session_id", "type"}, exclude_none=True)
        named = wanted.pop("turn_number", turn_number)
        return {
            **wanted,
            "command_id": self.command_id,
            "type": self.command.type,
            "who": self.who,
            "at": self.at,
            "turn_number": named,
        }

    @classmethod
    def unpack(cls, item: bytes) -> Self:
        """What `pack` wrote.

        Raises:
            ValueError, ProtocolProblem: it is not an order.
        """
        value = json.loads(item)
        body = value["command"]
        command = None if body["type"] == ABANDON else parse(body, COMMANDS)
        return cls(value["command_id"], value["who"], value["at"], command)


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of an order: the turn it applies to, or the error; `waiting` while a turn runs before it."""

    applies_to_turn: int = 0
    waiting: bool = False
    code: ErrorCode | None = None
    message: str = ""

    def pack(self) -> bytes:
        """As it waits for the node that sent the order."""
        return json.dumps(
            {
                "applies_to_turn": self.applies_to_turn,
                "waiting": self.waiting,
                "code": self.code,
                "message": self.message,
            },
            ensure_ascii=False,
        ).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """What `pack` wrote."""
        return cls(**json.loads(data))

    def result(self) -> int:
        """The turn the order applies to. Raises SessionProblem if it was refused."""
        if self.code is not None:
            raise SessionProblem(self.code, self.message)
        return self.applies_to_turn


def directive_of(command: InjectQuestion | Steer) -> Directive:
    """The wish for the next question that a command is."""
    if isinstance(command, InjectQuestion):
        return Directive(command_id=command.command_id, kind="inject", question=command.question)
    return Directive(command_id=command.command_id, kind="steer", strategy=command.strategy, node_id=command.node_id)


class Inbox:
    """Applies what waits in a session's inbox, in order, each once.

    Args:
        hot: hot storage.
        settings: times.
        now: wall clock.
    """

    def __init__(self, hot: Hot, settings: HubSettings, now: Callable[[], datetime]) -> None:
        self._hot = hot
        self._settings = settings
        self._now = now

    async def drain(self, owner: SessionOwner) -> None:
        """Apply everything that waits for this owner; what can't be applied is answered with its error.

        Raises:
            Moved, NotOwner, Gone, StorageUnavailable: the rest stays for whoever owns the session next.
        """
        if owner.guidance.open:
            for item in await self._hot.inbox_read(owner.session_id):
                self._foresee(owner, item)
        async with owner.inbox_lock:
            for item in await self._hot.inbox_read(owner.session_id):
                await self._answer(owner, item)
        owner.reconsider()

    async def _answer(self, owner: SessionOwner, item: bytes) -> None:
        try:
            order = Order.unpack(item)
        except (ValueError, KeyError, TypeError, ProtocolProblem) as exc:
            log.error("inbox.unreadable", session=owner.session_id, error=repr(exc))
        else:
            if owner.busy:
                await self._hot.reply_put(owner.session_id, order.command_id, Reply(waiting=True).pack())
            try:
                reply = Reply(applies_to_turn=await self._apply(owner, order))
            except (Moved, NotOwner, Gone, StorageUnavailable):
                raise
            except (SessionProblem, HotError, PipelineError) as exc:
                problem = problem_of(exc)
                reply = Reply(code=problem.code, message=problem.message)
            await self._hot.reply_put(owner.session_id, order.command_id, reply.pack())
        await self._hot.inbox_drop(owner.session_id, item)

    async def _apply(self, owner: SessionOwner, order: Order) -> int:
        if order.command is None:
            return await self._abandon(owner, order)
        decide = self._decision(owner, order, order.command)
        action = order.action(owner.state.turn_count + 1)
        return await owner.apply(order.command_id, decide, moderator=action, ends=isinstance(order.command, EndSession))

    def _foresee(self, owner: SessionOwner, item: bytes) -> None:
        """Let a command that waits for the running turn take effect in it, if it can."""
        try:
            order = Order.unpack(item)
        except (ValueError, KeyError, TypeError, ProtocolProblem):
            return
        command, state = order.command, owner.state
        if command is None or state.command(order.command_id) is not None:
            return
        try:
            match command:
                case InjectQuestion() | Steer():
                    wish = directive_of(command)
                    machine.check_directive(state, owner.configuration, wish)
                    owner.guidance.wish(wish, order.action(state.turn_count + 1))
                case ClaimSession():
                    machine.check_claim(state, order.who)
                    owner.guidance.claim()
                case ReleaseSession():
                    owner.guidance.release()
                case SetForSession():
                    owner.listening.set_patience(command.patience)
        except SessionProblem as problem:
            log.info("inbox.not_now", session=owner.session_id, reason=str(problem))

    async def _abandon(self, owner: SessionOwner, order: Order) -> int:
        if owner.attended or owner.busy:
            return 0
        after = timedelta(seconds=self._settings.abandon_after_s)
        return await owner.apply(order.command_id, lambda: machine.abandon(owner.state, self._now(), after))

    def _decision(self, owner: SessionOwner, order: Order, command: AnyCommand) -> Callable[[], machine.Step]:
        """What to do with the state once it is the command's turn."""
        until = timedelta(seconds=self._settings.resume_until_s)

        def decide() -> machine.Step:
            state: InterviewState = owner.state
            now = self._now()
            match command:
                case PauseSession():
                    return machine.pause(state, "moderator", now)
                case ResumeSession():
                    return machine.resume(state, "moderator", now, until)
                case EndSession():
                    return machine.finish(
                        state, owner.configuration, by="moderator", reason="ended_by_moderator", now=now
                    )
                case ExtendSession():
                    return machine.extend(state, command.turns, now)
                case InjectQuestion() | Steer():
                    return machine.direct(state, owner.configuration, directive_of(command), now)
                case ClaimSession():
                    return machine.claim(state, order.who, now)
                case ReleaseSession():
                    return machine.release(state, now)
                case WriteNote():
                    return machine.Step(state)
                case SetForSession():
                    return machine.change_settings(state, {"patience": command.patience}, now)

        return decide

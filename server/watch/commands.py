"""Moderators' commands from the socket and the HTTP API: parsing, authorisation, execution."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import ValidationError

from pipeline.calls import CallLog, recording
from pipeline.errors import PipelineError
from pipeline.signals.base import SignalMatrix
from pipeline.state import InterviewState
from server.auth import Principal
from server.pipelines import Pipelines
from server.protocol.codec import MAX_MESSAGE_BYTES, ProtocolProblem, parse, read_object, reference
from server.protocol.moderator import (
    COMMANDS,
    LONGEST_QUESTION,
    MODERATOR_MESSAGES,
    AnyCommand,
    ModeratorMessage,
    Steer,
)
from server.protocol.watched import CommandDone, PreviewView
from server.reading import SessionReader
from server.session import rules
from server.session.change import record_json
from server.session.commands import directive_of
from server.session.hub import Hub
from server.session.problems import SessionProblem

COMMAND_TYPES = frozenset(get_args(command.model_fields["type"].annotation)[0] for command in get_args(AnyCommand))


def read_command(value: Mapping[str, Any]) -> AnyCommand:
    """Parse a command from a JSON object.

    Raises:
        ProtocolProblem: `invalid_input` for a question that is too long, else `invalid_message`.
    """
    question = value.get("question")
    if value.get("type") == "inject" and isinstance(question, str) and len(question.strip()) > LONGEST_QUESTION:
        raise ProtocolProblem(
            "invalid_input",
            f"A question has at most {LONGEST_QUESTION} characters; this one has {len(question.strip())}.",
            ref=reference(value),
        )
    return parse(value, COMMANDS)


def decode_moderator(text: str, *, max_bytes: int = MAX_MESSAGE_BYTES) -> ModeratorMessage:
    """The moderator's message in one text frame.

    Args:
        text: the frame.
        max_bytes: longest frame, in bytes of UTF-8.
    Raises:
        ProtocolProblem: as `read_command` for a command, `invalid_message` for anything else that is no message.
    """
    value = read_object(text, max_bytes=max_bytes)
    kind = value.get("type")
    if isinstance(kind, str) and kind in COMMAND_TYPES:
        return read_command(value)
    return parse(value, MODERATOR_MESSAGES)


class ModeratorCommands:
    """Applies moderators' commands on whichever node the session runs.

    Args:
        hub: the sessions of this node.
        reader: reads sessions.
        pipelines: make previews.
    """

    def __init__(self, hub: Hub, reader: SessionReader, pipelines: Pipelines) -> None:
        self._hub = hub
        self._reader = reader
        self._pipelines = pipelines
        self._running: dict[tuple[str, str], asyncio.Future[CommandDone]] = {}

    async def visible(self, session_id: str, principal: Principal) -> InterviewState:
        """The session's state, for a moderator within whose scope it is. Raises ApiError `not_found`, `forbidden`."""
        return await self._reader.visible(session_id, principal)

    async def apply(self, session_id: str, command: AnyCommand, principal: Principal) -> CommandDone:
        """Have a command applied. One that is sent again while it runs gets the reply to the first.

        Raises:
            ApiError, SessionProblem, HotError, PipelineError: it is refused.
        """
        state = await self.visible(session_id, principal)
        known = (session_id, command.command_id)
        running = self._running.get(known)
        if running is not None:
            return await asyncio.shield(running)
        future: asyncio.Future[CommandDone] = asyncio.get_running_loop().create_future()
        self._running[known] = future
        try:
            done = await self._done(state, command, principal)
            future.set_result(done)
            return done
        except BaseException as exc:
            if isinstance(exc, Exception):
                future.set_exception(exc)
                future.exception()
            else:
                future.cancel()
            raise
        finally:
            del self._running[known]

    async def _done(self, state: InterviewState, command: AnyCommand, principal: Principal) -> CommandDone:
        session_id = state.session_id
        preview: PreviewView | None = None
        if isinstance(command, Steer) and command.preview:
            preview = await self._preview(state, command)
            number = state.turn_count + 1
        else:
            number = await self._hub.command(session_id, command, who=principal.name)
        return CommandDone(
            command_id=command.command_id, session_id=session_id, applies_to_turn=number, preview=preview
        )

    async def _preview(self, state: InterviewState, command: Steer) -> PreviewView:
        configuration = await self._reader.configuration(state)
        wish = directive_of(command)
        rules.check_directive(state, configuration, wish)
        calls = CallLog()
        try:
            with recording(calls, state.turn_count + 1):
                made = await self._pipelines.of(configuration).preview(
                    state, configuration, wish, signals=await self._latest_signals(state.session_id)
                )
        except PipelineError as exc:
            raise SessionProblem("llm_unavailable", retryable=exc.retryable) from exc
        finally:
            asked = calls.peek()
            if asked:
                # They were paid for, whether or not the question is ever asked.
                record = record_json({"turn_number": state.turn_count}, asked)
                await self._reader.hot.note(state.session_id, owner=None, record=record)
        return PreviewView(**made.model_dump())

    async def _latest_signals(self, session_id: str) -> SignalMatrix | None:
        matrix = await self._reader.store.latest_signals(session_id)
        try:
            return SignalMatrix.model_validate(matrix) if matrix is not None else None
        except ValidationError:
            return None

"""Moderators' commands that come while a turn runs and can still take effect in it.

They wait in the session's queue as well: a command that the running turn does not follow is applied after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.state import Directive, InterviewState
from server.session import rules


class Held(Exception):
    """The answer waits for a moderator: the engine must not go on."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    directive: Directive
    action: Mapping[str, Any]


class Interventions:
    """What moderators want of the running turn, until its next question is decided on."""

    def __init__(self) -> None:
        self._open = False
        self._wanted: dict[str, _Wanted] = {}
        self._claimed: bool | None = None
        """Whether the session was claimed (True) or released (False) since the turn began."""

    def begin(self) -> None:
        """A turn begins to run."""
        self._open = True
        self._wanted.clear()
        self._claimed = None

    def end(self) -> None:
        """No turn runs."""
        self._open = False
        self._wanted.clear()

    @property
    def open(self) -> bool:
        """Whether a command that comes now can take effect in the running turn."""
        return self._open

    def direct(self, directive: Directive, action: Mapping[str, Any]) -> None:
        """A moderator wants this of the next question; `action` is how the record describes the command."""
        if self._open:
            self._wanted[directive.command_id] = _Wanted(directive, action)

    def set_claimed(self, claimed: bool) -> None:
        """A moderator claims the session, or releases it."""
        if self._open:
            self._claimed = claimed

    def read(self, state: InterviewState) -> Sequence[Directive]:
        """What moderators want of the next question, oldest first; from now on it is too late for this turn.

        Args:
            state: that the turn runs on.

        Raises:
            Held: the session is claimed, and nothing is wanted of it yet.
        """
        known = {directive.command_id for directive in state.directives}
        late = [wanted.directive for name, wanted in self._wanted.items() if name not in known]
        directives = (*state.directives, *late)
        claimed = state.claimed_by is not None if self._claimed is None else self._claimed
        if claimed and not directives:
            raise Held
        self._open = False
        return directives

    def followed(self, command_id: str, state: InterviewState) -> tuple[InterviewState, Mapping[str, Any] | None]:
        """A turn followed this command.

        Args:
            command_id: of the directive.
            state: the turn leads to.

        Returns:
            The state in which the command is noted as applied, and how the record describes it; for a command that was
            applied before the turn, the state as it is and None.
        """
        wanted = self._wanted.get(command_id)
        if wanted is None or state.command(command_id) is not None:
            return state, None
        noted = rules.with_command(state, command_id, state.turn_count)
        return noted, {**wanted.action, "turn_number": state.turn_count}

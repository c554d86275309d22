"""What moderators want of the turn that is running: beside its queue, because the queue waits for the turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.state import Directive, InterviewState
from server.session import machine


class Held(Exception):
    """The answer waits for a moderator: the engine must not go on."""


@dataclass(frozen=True, slots=True)
class _Wish:
    directive: Directive
    action: Mapping[str, Any]


class Guidance:
    """Commands that came while a turn runs and can still take effect in it: until the next question is decided on.

    They wait in the queue as well: what a turn did not follow takes effect after it.
    """

    def __init__(self) -> None:
        self._open = False
        self._wishes: dict[str, _Wish] = {}
        self._claimed = False
        self._released = False

    def begin(self) -> None:
        """A turn begins to run."""
        self._open = True
        self._wishes.clear()
        self._claimed = self._released = False

    def end(self) -> None:
        """No turn runs."""
        self._open = False
        self._wishes.clear()

    @property
    def open(self) -> bool:
        """Whether a command that comes now can take effect in the running turn."""
        return self._open

    def wish(self, directive: Directive, action: Mapping[str, Any]) -> None:
        """A moderator wants something of the next question; `action` is what the record will say of it."""
        if self._open:
            self._wishes[directive.command_id] = _Wish(directive, action)

    def claim(self) -> None:
        """A moderator takes over."""
        if self._open:
            self._claimed, self._released = True, False

    def release(self) -> None:
        """A moderator gives the session back."""
        if self._open:
            self._claimed, self._released = False, True

    def read(self, state: InterviewState) -> Sequence[Directive]:
        """What moderators want of the next question, oldest first; from now on it is too late for this turn.

        Args:
            state: that the turn runs on.

        Raises:
            Held: the session is claimed, and nothing is wanted of it yet.
        """
        known = {directive.command_id for directive in state.directives}
        late = [wish.directive for name, wish in self._wishes.items() if name not in known]
        wishes = (*state.directives, *late)
        claimed = self._claimed or (state.claimed_by is not None and not self._released)
        if claimed and not wishes:
            raise Held
        self._open = False
        return wishes

    def followed(self, command_id: str, state: InterviewState) -> tuple[InterviewState, Mapping[str, Any] | None]:
        """A turn followed this command.

        Args:
            command_id: of the wish.
            state: the turn leads to.

        Returns:
            The state that remembers the command, and what the record is to say of it; the state as it is and None for
            a command that took effect before the turn.
        """
        wish = self._wishes.get(command_id)
        if wish is None or state.command(command_id) is not None:
            return state, None
        return machine.obeyed(state, command_id, state.turn_count), {**wish.action, "turn_number": state.turn_count}

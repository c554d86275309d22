"""Events of the Realtime API on their way to a client: numbered, named, in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from server.realtime.vocabulary import Vocabulary


class Sender:
    """What one connection sends.

    Args:
        vocabulary: names of events.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.session_id = ""
        """The session, once it is known."""
        self.last_item: str | None = None
        """The newest item of the conversation."""
        self._vocabulary = vocabulary
        self._frames: list[str] = []
        self._number = 0

    @property
    def conversation_id(self) -> str:
        """The conversation."""
        return f"conv_{self.session_id}"

    def new_id(self, kind: str) -> str:
        """An id that no event, response or item of this connection has."""
        self._number += 1
        return f"{kind}_{self._number}_{self.session_id[:8]}"

    def emit(self, name: str, /, **fields: Any) -> None:
        """Send an event."""
        event = self._vocabulary({"type": name, "event_id": self.new_id("event"), **fields})
        if event is not None:
            self._frames.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")))

    def add(self, item: dict[str, Any]) -> None:
        """Send an item that is complete."""
        self.emit("conversation.item.added", previous_item_id=self.last_item, item=item)
        self.emit("conversation.item.done", previous_item_id=self.last_item, item=item)
        self.last_item = item["id"]

    def taken(self) -> Sequence[str]:
        """The frames of what was emitted since the last time."""
        frames, self._frames = self._frames, []
        return frames

"""Questions and replies as responses of a Realtime conversation, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from server.protocol.codes import RETRYABLE, SENTENCES
from server.realtime import items
from server.realtime.items import Fields, ResponseStatus, RunningItem, RunningResponse
from server.realtime.sender import Sender
from server.realtime.session import TextEvents


class Responses:
    """The response that is being made, if there is one.

    Args:
        sender: to the client.
    """

    def __init__(self, sender: Sender) -> None:
        self.text_events: TextEvents = "output_text"
        """The events in which questions are sent."""
        self.running: RunningResponse | None = None
        """The response that is not done."""
        self._sender = sender

    def begin(self, turn_key: str | None = None) -> RunningResponse:
        """The response that is being made, or a new one."""
        response = self.running
        if response is None:
            sender = self._sender
            response = self.running = RunningResponse(sender.new_id("resp"), sender.conversation_id)
            sender.emit("response.created", response=response.fields())
        response.turn_key = turn_key or response.turn_key
        return response

    def begin_item(self) -> RunningItem:
        """A question begins; what was sent of another wording is void."""
        self.void_item()
        response, sender = self.begin(), self._sender
        index = response.begun
        item = response.item = RunningItem(sender.new_id("item"), index, sender.last_item)
        response.begun += 1
        shown = items.asked(item.id, "", self.text_events, "in_progress")
        sender.emit("response.output_item.added", response_id=response.id, output_index=index, item=shown)
        sender.emit("conversation.item.added", previous_item_id=item.previous, item=shown)
        part = items.part("", self.text_events)
        sender.emit("response.content_part.added", **_place(response, item), part=part)
        return item

    def add_text(self, text: str) -> None:
        """The next piece of a question."""
        response = self.begin()
        item = response.item or self.begin_item()
        item.text += text
        place = _place(response, item)
        if self.text_events == "output_text":
            self._sender.emit("response.output_text.delta", **place, delta=text)
        else:
            self._sender.emit("response.output_audio_transcript.delta", **place, delta=text)

    def void_item(self) -> None:
        """What was sent of a question is void."""
        response = self.running
        if response is None or response.item is None:
            return
        item, response.item = response.item, None
        shown = items.asked(item.id, item.text, self.text_events, "incomplete")
        sender = self._sender
        sender.emit("response.output_item.done", response_id=response.id, output_index=item.index, item=shown)
        sender.emit("conversation.item.deleted", item_id=item.id)

    def complete_item(self, text: str, own: Fields) -> None:
        """A question as it stands, with what the API has no field for."""
        response, sender = self.begin(), self._sender
        item = response.item
        if item is None or not text.startswith(item.text):
            item = self.begin_item()
        if len(text) > len(item.text):
            self.add_text(text[len(item.text) :])
        place = _place(response, item)
        if self.text_events == "output_text":
            sender.emit("response.output_text.done", **place, text=text)
        else:
            sender.emit("response.output_audio_transcript.done", **place, transcript=text)
        sender.emit("response.content_part.done", **place, part=items.part(text, self.text_events))
        shown = items.asked(item.id, text, self.text_events)
        sender.emit("response.output_item.done", response_id=response.id, output_index=item.index, item=shown)
        sender.emit("conversation.item.done", previous_item_id=item.previous, item=shown)
        sender.last_item, response.item = item.id, None
        response.output.append(shown)
        response.own |= own

    def finish(self, status: ResponseStatus = "completed", details: Fields | None = None) -> None:
        """The response that is being made is done."""
        response, self.running = self.running, None
        if response is not None:
            self._sender.emit("response.done", response=response.fields(status, details))

    def withdraw(self) -> None:
        """The answer that is responded to goes on."""
        self.void_item()
        self.finish("cancelled", {"type": "cancelled", "reason": "turn_detected"})

    def fail(self, data: Mapping[str, Any]) -> None:
        """The turn failed; `data` of the event that says so."""
        self.begin(data["turn_key"])
        self.void_item()
        code = data["code"]
        told = {"type": "server_error", "code": code, "message": SENTENCES[code], "retryable": code in RETRYABLE}
        self.finish("failed", {"type": "failed", "error": told})


def _place(response: RunningResponse, item: RunningItem) -> Fields:
    return {"response_id": response.id, "item_id": item.id, "output_index": item.index, "content_index": 0}

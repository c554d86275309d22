"""Questions and replies as responses of a Realtime conversation, one at a time."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import Any

from audio.voice_sound import VOICE_HZ
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
        self.audio_out = False
        """Whether questions are sent as audio, too."""
        self.running: RunningResponse | None = None
        """The response that is not done."""
        self._sender = sender
        self._reading: int | None = None
        """Number of the reading of the question that begins next."""
        self._spoken: tuple[RunningItem, str] | None = None
        """A question whose words are complete and whose audio is not, and its text."""

    @property
    def has_question(self) -> bool:
        """Whether all words of a question were sent in the response that is being made."""
        return self._spoken is not None or (self.running is not None and bool(self.running.output))

    def begin(self, turn_key: str | None = None) -> RunningResponse:
        """The response that is being made, or a new one."""
        if self.running is not None and self.running.waiting is not None:
            self.end_audio()
        response = self.running
        if response is None:
            sender = self._sender
            response = self.running = RunningResponse(sender.new_id("resp"), sender.conversation_id)
            response.audio_out = self.audio_out
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
        item.reading, self._reading = self._reading, None
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
        response, self._spoken = self.running, None
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
        response.own |= own
        sender.last_item = item.id
        if item.reading is not None:
            self._spoken = item, text
        else:
            self._end_item(response, item, text)

    def _end_item(self, response: RunningResponse, item: RunningItem, text: str) -> None:
        sender = self._sender
        sender.emit("response.content_part.done", **_place(response, item), part=items.part(text, self.text_events))
        shown = items.asked(item.id, text, self.text_events)
        sender.emit("response.output_item.done", response_id=response.id, output_index=item.index, item=shown)
        sender.emit("conversation.item.done", previous_item_id=item.previous, item=shown)
        response.item = None
        response.output.append(shown)

    # Its audio, which comes behind its words

    def announce_audio(self, reading: int) -> None:
        """The question that begins next, or is there already and has no audio yet, is read."""
        self.end_audio()
        item = self.running.item if self.running is not None else None
        if item is not None and item.reading is None:
            item.reading = reading
        else:
            self._reading = reading

    def add_audio(self, reading: int, pcm: bytes) -> float:
        """The next samples of a reading; how many seconds of them were sent."""
        response = self.running
        if response is None or response.item is None or response.item.reading != reading:
            return 0.0
        delta = binascii.b2a_base64(pcm, newline=False).decode("ascii")
        self._sender.emit("response.output_audio.delta", **_place(response, response.item), delta=delta)
        return len(pcm) / 2 / VOICE_HZ

    def finish_audio(self, reading: int, *, complete: bool = True) -> None:
        """Nothing more of a reading comes."""
        item = self.running.item if self.running is not None else None
        if item is not None and item.reading == reading and self.running is not None:
            if not complete:
                self.running.own["audio_complete"] = False
            self.end_audio()

    def end_audio(self) -> None:
        """No more audio is sent of the question that is there."""
        self._reading = None
        response = self.running
        item = response.item if response is not None else None
        if response is None or item is None or item.reading is None:
            return
        self._sender.emit("response.output_audio.done", **_place(response, item))
        item.reading = None
        if self._spoken is not None:
            (_, text), self._spoken = self._spoken, None
            self._end_item(response, item, text)
        if response.waiting is not None:
            status, details = response.waiting
            response.waiting = None
            self.finish(status, details)

    def finish(self, status: ResponseStatus = "completed", details: Fields | None = None) -> None:
        """The response that is being made is done, or will be once its audio was sent."""
        if self._spoken is not None and self.running is not None:
            self.running.waiting = status, details
            return
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

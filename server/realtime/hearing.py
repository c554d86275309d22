"""Spoken answers as items of a Realtime conversation, from their first sound to their transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audio.types import RATE_HZ
from server.realtime import items
from server.realtime.sender import Sender


@dataclass
class HeardItem:
    """The spoken answer that is listened to, or was until just now.

    Args:
        turn_key: its key.
        id: of its item.
        offset_ms: where it begins in all audio of the connection.
    """

    turn_key: str
    id: str
    offset_ms: int
    previous: str | None = None
    """The item before it."""
    committed: bool = False
    """Whether the client was told that it is over."""
    ended: bool = False
    """Whether the client has said that it is over."""
    failing: bool = False
    """Whether it may have come to nothing without another word."""
    unsure: bool = False
    """Whether it may be over, which shows when the next one begins."""
    told: str = ""
    """Of its transcript, what was sent as deltas."""


class Hearing:
    """The spoken answers of a connection that are listened to or not yet taken.

    Args:
        sender: to the client.
        on_change: called when another spoken answer may begin that could not before.
    """

    def __init__(self, sender: Sender, on_change: Callable[[], None]) -> None:
        self._sender = sender
        self._on_change = on_change
        self._heard: dict[str, HeardItem] = {}

    @property
    def first(self) -> HeardItem | None:
        """The one that is taken next."""
        return next(iter(self._heard.values()), None)

    @property
    def last(self) -> HeardItem | None:
        """The one that is listened to."""
        return next(reversed(self._heard.values()), None)

    def by_key(self, turn_key: str) -> HeardItem | None:
        """The one with that key."""
        return self._heard.get(turn_key)

    def begin(self, turn_key: str, offset_ms: int) -> None:
        """The client speaks."""
        self._heard = {key: heard for key, heard in self._heard.items() if not (heard.failing or heard.unsure)}
        self._heard[turn_key] = HeardItem(turn_key, item_of(turn_key), offset_ms)

    def started(self, at_ms: int) -> None:
        """Speech begins."""
        if self.last is not None:
            at = self.last.offset_ms + at_ms
            self._sender.emit("input_audio_buffer.speech_started", audio_start_ms=at, item_id=self.last.id)

    def stopped(self, at_ms: int) -> None:
        """A pause begins."""
        if self.last is not None:
            at = self.last.offset_ms + at_ms
            self._sender.emit("input_audio_buffer.speech_stopped", audio_end_ms=at, item_id=self.last.id)

    def add_words(self, text: str) -> None:
        """What is understood so far and stays."""
        heard = self.last
        # What was sent can't be taken back: where it is corrected, the whole transcript at the end says so.
        if heard is not None and len(text) > len(heard.told) and text.startswith(heard.told):
            delta, heard.told = text[len(heard.told) :], text
            self._sender.emit(
                "conversation.item.input_audio_transcription.delta", item_id=heard.id, content_index=0, delta=delta
            )

    def settle(self, heard: HeardItem | None) -> None:
        """It is over, unless it is taken up again."""
        if heard is None or heard.committed:
            return
        sender = self._sender
        heard.committed, heard.previous = True, sender.last_item
        sender.emit("input_audio_buffer.committed", previous_item_id=heard.previous, item_id=heard.id)
        item = items.spoken(heard.id, None)
        sender.emit("conversation.item.added", previous_item_id=heard.previous, item=item)
        sender.last_item = heard.id

    def settle_for_question(self) -> None:
        """A question begins: it may be the one to the answer that is spoken, before that is certain to be over."""
        if self.first is not None and self.first.told:
            self.settle(self.first)

    def end_by_client(self) -> bool:
        """The client says that it is complete; whether there is one."""
        if self.last is None:
            return False
        self.last.ended = True
        self.settle(self.last)
        return True

    def drop(self) -> None:
        """The client discards it."""
        heard = self.last
        if heard is not None:
            if heard.committed:
                self._sender.emit("conversation.item.deleted", item_id=heard.id)
            self._forget(heard)

    def transcribe(self, data: Mapping[str, Any]) -> None:
        """It is taken, with this transcript; `data` of the event that says so."""
        key, text = data["turn_key"], data["text"]
        heard = self._heard.get(key) or HeardItem(key, item_of(key), 0)
        self.settle(heard)
        words = data.get("words") or ()
        self._complete(heard, text, max((word["end_ms"] for word in words), default=0) / 1000, review=False)
        item = items.spoken(heard.id, text)
        self._sender.emit("conversation.item.done", previous_item_id=heard.previous, item=item)
        self._forget(heard)

    def offer(self, turn_key: str, text: str) -> None:
        """It counts when the client says so."""
        heard = self._heard.get(turn_key)
        if heard is not None:
            self.settle(heard)
            self._complete(heard, text, 0.0, review=True)
            self._forget(heard)

    def miss(self, code: str, text: str) -> bool:
        """Nothing was heard; whether that was the end of an answer. Without the client's word it may go on."""
        heard = self.first
        if heard is None:
            return False
        if not heard.ended:
            heard.unsure = True
            return False
        self._fail(heard, code, text)
        self._forget(heard)
        return True

    def end_by_length(self, turn_key: str) -> None:
        """It is as long as an answer may be; what it says follows, if it says anything."""
        heard = self._heard.get(turn_key)
        if heard is not None:
            heard.unsure = True

    def break_off(self, turn_key: str, code: str, text: str) -> None:
        """It can't be heard any more, and may come to nothing without another word."""
        heard = self._heard.get(turn_key)
        if heard is not None:
            if not heard.failing:
                self._fail(heard, code, text)
            heard.failing = True
            self._on_change()

    def _complete(self, heard: HeardItem, text: str, seconds: float, *, review: bool) -> None:
        self._sender.emit(
            "conversation.item.input_audio_transcription.completed",
            item_id=heard.id,
            content_index=0,
            transcript=text,
            usage={"type": "duration", "seconds": seconds},
            askwell={"review": review},
        )

    def _fail(self, heard: HeardItem, code: str, text: str) -> None:
        error = {"type": "transcription_error", "code": code, "message": text, "param": None}
        self._sender.emit(
            "conversation.item.input_audio_transcription.failed", item_id=heard.id, content_index=0, error=error
        )

    def _forget(self, heard: HeardItem) -> None:
        self._heard.pop(heard.turn_key, None)
        self._on_change()


def item_of(turn_key: str) -> str:
    """The id of the item that is the answer with this key."""
    return f"item_{turn_key.replace('-', '')}"[:32]


def position_ms(samples: int) -> int:
    """A position in the audio of a connection, in milliseconds."""
    return samples * 1000 // RATE_HZ

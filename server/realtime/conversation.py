"""A respondent's session as a Realtime conversation: from what the session sends to events of the API.

session                                             Realtime
ready                                               session.created, conversation.created, items so far
turn.started                                        conversation.item.added and .done, response.created
question.started, .delta, .completed                response.output_item.added … response.output_item.done
turn.completed, interviewer.replied, turn.failed    response.done
question.withdrawn                                  conversation.item.deleted, response.done (cancelled)
speech.started, .stopped                            input_audio_buffer.speech_started, .speech_stopped
answer.ending, transcript.final                     input_audio_buffer.committed, conversation.item.added
transcript.partial, transcript.final                conversation.item.input_audio_transcription.delta, .completed
session.state                                       session.updated
notice                                              askwell.notice
error                                               error
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from audio.types import RATE_HZ
from pipeline.state import Utterance
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.codes import RETRYABLE, SENTENCES
from server.protocol.inbound import ClientMessage, Correct, Rate, SendAnswer, Skip
from server.protocol.outbound import (
    AnswerEnding,
    Error,
    Notice,
    QuestionDelta,
    QuestionStarted,
    QuestionWithdrawn,
    Ready,
    SpeechStarted,
    SpeechStopped,
    TranscriptPartial,
)
from server.realtime import items
from server.realtime.items import Fields, ResponseStatus, RunningItem, RunningResponse
from server.realtime.problems import error_fields
from server.realtime.session import RealtimeSettings
from server.realtime.vocabulary import Vocabulary

REMEMBERED: Final = 128
"""Events and answers of the client that errors may still refer to."""
_FAILING: Final = frozenset({"transcriber_unavailable", "internal"})
"""Errors about a spoken answer after which it may come to nothing without another word."""
OWN_QUESTION_FIELDS: Final = ("turn_number", "fallback", "closing", "ratings", "utterance_id")
OWN_REPLY_FIELDS: Final = ("turn_number", "act", "help", "offers", "open")


class PlainEvent(Message):
    """An event of the API that is sent as it is."""

    name: str
    fields: dict[str, Any] = {}


class HearingEnded(Message):
    """The client says that the spoken answer is complete."""


class HearingDropped(Message):
    """The client discards the spoken answer."""


class QuestionAgain(Message):
    """The open question once more."""

    turn_number: int
    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session when a client connects.

    Args:
        session: as the API shows it.
        utterances: what was said so far, oldest first.
        pending: the answer that is worked on, or whose turn failed.
        failed: whether it did.
        opening: whether the first question is still to come.
    """

    session: Fields
    utterances: Sequence[Utterance]
    pending: ClientMessage | None
    failed: bool
    opening: bool


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
    told: str = ""
    """Of its transcript, what was sent as deltas."""


class Conversation:
    """Implements `server.session.outbox.Wire` for one connection.

    Args:
        vocabulary: names of events.
        snapshot: the session as it is now.
        on_change: called when another spoken answer may begin that could not before.
    """

    def __init__(self, vocabulary: Vocabulary, snapshot: Callable[[], Snapshot], on_change: Callable[[], None]) -> None:
        self.settings = RealtimeSettings()
        """What the client has set."""
        self.offer: SendAnswer | None = None
        """A transcript that counts when the client asks for a response, as it is or corrected."""
        self.failed: ClientMessage | None = None
        """An answer whose turn failed; it is kept."""
        self.unclaimed = False
        """Whether a response has come, or will, that the client has not asked for."""
        self._vocabulary = vocabulary
        self._snapshot = snapshot
        self._on_change = on_change
        self._id = ""
        self._heard: dict[str, HeardItem] = {}
        """Spoken answers that are listened to or not yet taken, by their keys, oldest first."""
        self._out: list[str] = []
        self._number = 0
        self._last_id = 0
        self._last_item: str | None = None
        self._response: RunningResponse | None = None
        self._said: OrderedDict[str, tuple[ClientMessage, Fields | None]] = OrderedDict()
        self._refs: OrderedDict[str, str | None] = OrderedDict()

    # What the client did

    def remember(self, event_id: str | None, turn_key: str | None = None) -> str:
        """What an error about an event of the client refers to."""
        ref = turn_key or event_id or ""
        self._refs[ref] = event_id
        while len(self._refs) > REMEMBERED:
            self._refs.popitem(last=False)
        return ref

    def send_answer(self, message: SendAnswer | Skip | Rate | Correct, item_id: str | None = None) -> None:
        """The client gives an answer, which is not stored yet."""
        self.unclaimed = True
        item = None
        if isinstance(message, SendAnswer | Correct):
            item = items.typed(item_id or item_of(message.turn_key), message.text)
        self._remember_answer(message, item)

    def begin_hearing(self, turn_key: str, offset_ms: int) -> None:
        """The client speaks."""
        self.offer = None
        self._heard = {key: heard for key, heard in self._heard.items() if not heard.failing}
        self._heard[turn_key] = HeardItem(turn_key, item_of(turn_key), offset_ms)

    @property
    def heard(self) -> HeardItem | None:
        """The spoken answer that is listened to, or was last and is not taken yet."""
        return next(reversed(self._heard.values()), None)

    @property
    def responding(self) -> bool:
        """Whether a response is being made."""
        return self._response is not None

    # What the session sends

    def message(self, message: Message) -> Sequence[str]:
        """The frames of an ephemeral message."""
        match message:
            case PlainEvent(name=name, fields=fields):
                self._emit(name, **fields)
            case Ready():
                self._begin()
            case QuestionStarted():
                self._begin_item(self._respond())
            case QuestionDelta(text=text):
                self._add_text(text)
            case QuestionWithdrawn() if self._response is not None:
                self._void_item()
                self._finish(self._response, "cancelled", {"type": "cancelled", "reason": "turn_detected"})
            case SpeechStarted(at_ms=at_ms) if self.heard is not None:
                at = self.heard.offset_ms + at_ms
                self._emit("input_audio_buffer.speech_started", audio_start_ms=at, item_id=self.heard.id)
            case SpeechStopped(at_ms=at_ms) if self.heard is not None:
                at = self.heard.offset_ms + at_ms
                self._emit("input_audio_buffer.speech_stopped", audio_end_ms=at, item_id=self.heard.id)
            case AnswerEnding(turn_key=turn_key):
                self._commit_heard(self._heard.get(turn_key))
            case HearingEnded() if self.heard is not None:
                self.heard.ended = self.unclaimed = True
                self._commit_heard(self.heard)
            case HearingDropped() if self.heard is not None:
                if self.heard.committed:
                    self._emit("conversation.item.deleted", item_id=self.heard.id)
                self._end_heard(self.heard)
            case QuestionAgain(text=text, turn_number=number):
                response = self._respond()
                self._complete_item(text, {"kind": "question", "turn_number": number, "again": True})
                self._finish(response)
            case TranscriptPartial(turn_key=None):
                self._add_transcript(message.text[: message.stable])
            case TranscriptPartial(turn_key=turn_key) if turn_key is not None:
                self._offer(turn_key, message.text)
            case Notice():
                self._notice(message)
            case Error():
                self._error(message)
        return self._taken()

    def event(self, event: DurableEvent) -> Sequence[str]:
        """The frames of a durable event."""
        data = event.data
        # Events of an answer that is sent again come again; what is being made now goes before.
        repeated = event.id <= self._last_id
        if repeated and self._response is not None and data.get("turn_key") != self._response.turn_key:
            return ()
        self._last_id = max(self._last_id, event.id)
        match data["type"]:
            case "turn.started":
                self._begin_turn(data["turn_key"])
            case "question.completed":
                self._complete_question(data)
            case "interviewer.replied":
                response = self._respond(data["turn_key"])
                own = {name: data[name] for name in OWN_REPLY_FIELDS}
                self._complete_item(data["text"], {"kind": "reply", **own, **_progress(data["result"])})
                self._finish(response)
            case "turn.completed" if self._response is not None:
                if not self._response.output:
                    self._recall_question(data["turn_number"])
                self._response.own |= _progress(data["result"])
                self._finish(self._response)
            case "turn.failed":
                self._fail(data)
            case "transcript.final":
                self._transcribe(data)
            case "session.state":
                self._emit("session.updated", session=self._snapshot().session)
                self._on_change()
        return self._taken()

    # Connecting

    def _begin(self) -> None:
        now = self._snapshot()
        self._id = str(now.session["askwell"]["session_id"])
        self._emit("session.created", session=now.session)
        self._emit("conversation.created", conversation={"id": f"conv_{self._id}", "object": "realtime.conversation"})
        for said in now.utterances:
            if said.text:
                self._add_item(_item_of(said))
        self.unclaimed = now.opening
        if now.pending is not None:
            text = getattr(now.pending, "text", "")
            if text:
                self._add_item(items.typed(item_of(_key(now.pending)), text))
            self._remember_answer(now.pending, None)
            if now.failed:
                self.failed = now.pending
            else:
                self.unclaimed = True
                self._respond(_key(now.pending))

    # Answers

    def _begin_turn(self, turn_key: str) -> None:
        self.failed = self.offer = None
        known = self._said.get(turn_key)
        if known is not None and known[1] is not None:
            self._add_item(known[1])
            # Its turn may be tried again.
            self._said[turn_key] = (known[0], None)
        self._respond(turn_key)

    def _fail(self, data: Mapping[str, Any]) -> None:
        known = self._said.get(data["turn_key"])
        self.failed = None if known is None else known[0]
        code, response = data["code"], self._respond(data["turn_key"])
        self._void_item()
        told = {"type": "server_error", "code": code, "message": SENTENCES[code], "retryable": code in RETRYABLE}
        self._finish(response, "failed", {"type": "failed", "error": told})

    def _remember_answer(self, message: ClientMessage, item: Fields | None) -> None:
        self._said[_key(message)] = (message, item)
        while len(self._said) > REMEMBERED // 8:
            self._said.popitem(last=False)

    def _add_item(self, item: Fields) -> None:
        self._emit("conversation.item.added", previous_item_id=self._last_item, item=item)
        self._emit("conversation.item.done", previous_item_id=self._last_item, item=item)
        self._last_item = item["id"]

    # Spoken answers

    def _commit_heard(self, heard: HeardItem | None) -> None:
        if heard is None or heard.committed:
            return
        heard.committed, heard.previous = True, self._last_item
        self._emit("input_audio_buffer.committed", previous_item_id=self._last_item, item_id=heard.id)
        item = items.spoken(heard.id, None)
        self._emit("conversation.item.added", previous_item_id=self._last_item, item=item)
        self._last_item = heard.id

    def _add_transcript(self, text: str) -> None:
        heard = self.heard
        # What was sent can't be taken back: where it is corrected, the whole transcript at the end says so.
        if heard is not None and len(text) > len(heard.told) and text.startswith(heard.told):
            delta, heard.told = text[len(heard.told) :], text
            name = "conversation.item.input_audio_transcription.delta"
            self._emit(name, item_id=heard.id, content_index=0, delta=delta)

    def _transcribe(self, data: Mapping[str, Any]) -> None:
        key, text = data["turn_key"], data["text"]
        heard = self._heard.get(key) or HeardItem(key, item_of(key), 0)
        self._commit_heard(heard)
        words = data.get("words") or ()
        seconds = max((word["end_ms"] for word in words), default=0) / 1000
        self._complete_transcript(heard.id, text, seconds, review=False)
        item = items.spoken(heard.id, text)
        self._emit("conversation.item.done", previous_item_id=heard.previous, item=item)
        self.unclaimed = True
        self._remember_answer(SendAnswer(type="answer", text=text, turn_key=key), None)
        self._end_heard(heard)

    def _offer(self, turn_key: str, text: str) -> None:
        """The answer counts when the client says so."""
        self.offer, self.unclaimed = SendAnswer(type="answer", text=text, turn_key=turn_key), False
        heard = self._heard.get(turn_key)
        if heard is not None:
            self._commit_heard(heard)
            self._complete_transcript(heard.id, text, 0.0, review=True)
            self._end_heard(heard)

    def _complete_transcript(self, item_id: str, text: str, seconds: float, *, review: bool) -> None:
        self._emit(
            "conversation.item.input_audio_transcription.completed",
            item_id=item_id,
            content_index=0,
            transcript=text,
            usage={"type": "duration", "seconds": seconds},
            askwell={"review": review},
        )

    def _notice(self, notice: Notice) -> None:
        first = next(iter(self._heard.values()), None)
        if notice.code != "didnt_catch" or first is None:
            self._emit("askwell.notice", code=notice.code, text=notice.text)
            return
        self._fail_transcript(first, notice.code, notice.text)
        self.unclaimed = self.responding
        self._end_heard(first)

    def _fail_transcript(self, heard: HeardItem, code: str, text: str) -> None:
        error = {"type": "transcription_error", "code": code, "message": text, "param": None}
        name = "conversation.item.input_audio_transcription.failed"
        self._emit(name, item_id=heard.id, content_index=0, error=error)

    def _end_heard(self, heard: HeardItem) -> None:
        self._heard.pop(heard.turn_key, None)
        self._on_change()

    # Responses

    def _respond(self, turn_key: str | None = None) -> RunningResponse:
        """The response that is being made, or a new one."""
        response = self._response
        if response is None:
            # A question may come before it is certain that the answer is over.
            self._commit_heard(self._heard_before_question)
            self._number += 1
            response = self._response = RunningResponse(f"resp_{self._number}_{self._id[:8]}", f"conv_{self._id}")
            self._emit("response.created", response=response.fields())
        response.turn_key = turn_key or response.turn_key
        return response

    @property
    def _heard_before_question(self) -> HeardItem | None:
        """The spoken answer that a question which begins now responds to, if it is one."""
        first = next(iter(self._heard.values()), None)
        return first if first is not None and first.told else None

    def _begin_item(self, response: RunningResponse) -> RunningItem:
        self._void_item()
        index = response.begun
        item = response.item = RunningItem(f"item_{response.id[5:]}_{index}", index, self._last_item)
        response.begun += 1
        shown = items.asked(item.id, "", self.settings.text_events, "in_progress")
        self._emit("response.output_item.added", response_id=response.id, output_index=index, item=shown)
        self._emit("conversation.item.added", previous_item_id=self._last_item, item=shown)
        part = items.part("", self.settings.text_events)
        self._emit("response.content_part.added", **self._place(response, item), part=part)
        return item

    def _add_text(self, text: str) -> None:
        response = self._respond()
        item = response.item or self._begin_item(response)
        item.text += text
        self._emit(f"response.{self.settings.text_events}.delta", **self._place(response, item), delta=text)

    def _void_item(self) -> None:
        """What was sent of a question is void."""
        response = self._response
        if response is None or response.item is None:
            return
        item, response.item = response.item, None
        shown = items.asked(item.id, item.text, self.settings.text_events, "incomplete")
        self._emit("response.output_item.done", response_id=response.id, output_index=item.index, item=shown)
        self._emit("conversation.item.deleted", item_id=item.id)

    def _complete_question(self, data: Mapping[str, Any]) -> None:
        response = self._respond()
        own = {name: data[name] for name in OWN_QUESTION_FIELDS if data.get(name) is not None}
        self._complete_item(data["text"], {"kind": "question", **own})
        if response.turn_key is None:
            self._finish(response)
        self._on_change()

    def _recall_question(self, turn_number: int) -> None:
        """The question that an answer led to, for a client that has sent the answer again."""
        for said in reversed(self._snapshot().utterances):
            if said.turn_number == turn_number and said.speaker != "respondent":
                self._complete_item(said.text, {"kind": "question", "turn_number": turn_number, "again": True})
                return

    def _complete_item(self, text: str, own: Fields) -> None:
        response, events = self._respond(), self.settings.text_events
        item = response.item
        if item is None or not text.startswith(item.text):
            item = self._begin_item(response)
        if len(text) > len(item.text):
            self._add_text(text[len(item.text) :])
        place, whole = self._place(response, item), "text" if events == "output_text" else "transcript"
        self._emit(f"response.{events}.done", **place, **{whole: text})
        self._emit("response.content_part.done", **place, part=items.part(text, events))
        shown = items.asked(item.id, text, events)
        self._emit("response.output_item.done", response_id=response.id, output_index=item.index, item=shown)
        self._emit("conversation.item.done", previous_item_id=item.previous, item=shown)
        self._last_item, response.item = item.id, None
        response.output.append(shown)
        response.own |= own

    def _finish(
        self, response: RunningResponse, status: ResponseStatus = "completed", details: Fields | None = None
    ) -> None:
        self._response = None
        self._emit("response.done", response=response.fields(status, details))

    @staticmethod
    def _place(response: RunningResponse, item: RunningItem) -> Fields:
        return {"response_id": response.id, "item_id": item.id, "output_index": item.index, "content_index": 0}

    # Sending

    def _error(self, error: Error) -> None:
        ref = error.ref or ""
        heard = self._heard.get(ref)
        if self._said.pop(ref, None) is not None:
            # An answer that was refused has no response.
            self.unclaimed = self.responding
        if heard is not None and error.code in _FAILING:
            if not heard.failing:
                self._fail_transcript(heard, error.code, error.message)
            heard.failing = True
            self._on_change()
        self._emit("error", error=error_fields(error, self._refs.get(ref)))

    def _emit(self, name: str, /, **fields: Any) -> None:
        self._number += 1
        event = self._vocabulary({"type": name, "event_id": f"event_{self._number}_{self._id[:8]}", **fields})
        if event is not None:
            self._out.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")))

    def _taken(self) -> Sequence[str]:
        out, self._out = self._out, []
        return out


def item_of(turn_key: str) -> str:
    """The id of the item that is the answer with this key."""
    return f"item_{turn_key.replace('-', '')}"[:32]


def _key(message: ClientMessage) -> str:
    return str(getattr(message, "turn_key", ""))


def _item_of(said: Utterance) -> Fields:
    item_id = f"item_{said.id.replace('-', '')}"[:32]
    if said.speaker != "respondent":
        return items.asked(item_id, said.text, "output_text")
    return items.spoken(item_id, said.text) if said.spoken else items.typed(item_id, said.text)


def _progress(result: Mapping[str, Any]) -> Fields:
    return {name: result[name] for name in ("should_continue", "max_turns", "progress") if name in result}


def position_ms(samples: int) -> int:
    """A position in the audio of a connection, in milliseconds."""
    return samples * 1000 // RATE_HZ

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
reading.started, sound, reading.completed, .failed  response.output_audio.delta, .done
session.state                                       session.updated
notice                                              askwell.notice
error                                               error
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pipeline.state import Utterance
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.inbound import ClientMessage, Correct, Rate, SendAnswer, Skip
from server.protocol.outbound import (
    AnswerEnding,
    Error,
    Notice,
    QuestionDelta,
    QuestionStarted,
    QuestionWithdrawn,
    ReadingCompleted,
    ReadingFailed,
    ReadingSound,
    ReadingStarted,
    Ready,
    SpeechStarted,
    SpeechStopped,
    TranscriptPartial,
)
from server.realtime import items
from server.realtime.hearing import HeardItem, Hearing, item_of
from server.realtime.items import Fields
from server.realtime.problems import error_fields
from server.realtime.responses import Responses
from server.realtime.sender import Sender
from server.realtime.session import RealtimeSettings
from server.realtime.vocabulary import Vocabulary

REMEMBERED_EVENTS: Final = 128
"""Events of the client that errors may still refer to."""
REMEMBERED_ANSWERS: Final = 16
BREAKING: Final = frozenset({"transcriber_unavailable", "internal"})
"""Errors about a spoken answer after which it may come to nothing without another word."""
OWN_QUESTION_FIELDS: Final = ("turn_number", "fallback", "closing", "ratings")
OWN_REPLY_FIELDS: Final = ("turn_number", "act", "help", "offers", "open")


class PlainEvent(Message):
    """An event of the API that is sent as it is."""

    name: str
    fields: dict[str, Any] = {}


class HearingEnded(Message):
    """The client says that the spoken answer is complete."""


class HearingDropped(Message):
    """The client discards the spoken answer."""


class AudioCut(Message):
    """The client plays no more of a question."""

    item_id: str
    content_index: int
    audio_end_ms: int


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


class Conversation:
    """Implements `server.session.outbox.Wire` for one connection.

    Args:
        vocabulary: names of events.
        snapshot: the session as it is now.
        on_change: called when another spoken answer may begin that could not before.
        on_audio: called with the seconds of a question's audio whenever some is sent, and with None when it is void.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        snapshot: Callable[[], Snapshot],
        on_change: Callable[[], None],
        on_audio: Callable[[float | None], None] = lambda seconds: None,
    ) -> None:
        self.settings = RealtimeSettings()
        """What the client has set."""
        self.offer: SendAnswer | None = None
        """A transcript that counts when the client asks for a response, as it is or corrected."""
        self.failed: ClientMessage | None = None
        """An answer whose turn failed; it is kept."""
        self.unclaimed = False
        """Whether a response has come, or will, that the client has not asked for."""
        self._sent = ""
        """Key of an answer that was sent and of which nothing has come yet."""
        self.heard_until: int | None = None
        """Number of the last audio frame of the latest spoken answer, where it is known."""
        self._snapshot = snapshot
        self._on_change = on_change
        self._on_audio = on_audio
        self._sender = Sender(vocabulary)
        self._responses = Responses(self._sender)
        self._hearing = Hearing(self._sender, on_change)
        self._last_id = 0
        self._said: OrderedDict[str, tuple[ClientMessage, Fields | None]] = OrderedDict()
        """Answers by their keys, with the items that are still to be sent."""
        self._refs: OrderedDict[str, str | None] = OrderedDict()

    # What the client did

    def remember(self, event_id: str | None, turn_key: str | None = None) -> str:
        """What an error about an event of the client refers to."""
        ref = turn_key or event_id or ""
        self._refs[ref] = event_id
        while len(self._refs) > REMEMBERED_EVENTS:
            self._refs.popitem(last=False)
        return ref

    def set(self, settings: RealtimeSettings) -> None:
        """The client sets something of its connection."""
        self.settings = settings
        self._responses.audio_out = settings.audio_out
        self._responses.text_events = "output_audio_transcript" if settings.audio_out else settings.text_events

    def send_answer(self, message: SendAnswer | Skip | Rate | Correct, item_id: str | None = None) -> None:
        """The client gives an answer, which is not stored yet."""
        self.unclaimed, self._sent = True, message.turn_key
        item = None
        if isinstance(message, SendAnswer | Correct):
            item = items.typed(item_id or item_of(message.turn_key), message.text)
        self._remember_answer(message, item)

    def begin_hearing(self, turn_key: str, offset_ms: int) -> None:
        """The client speaks; the answer begins there in all its audio."""
        self.offer = None
        self._hearing.begin(turn_key, offset_ms)

    @property
    def heard(self) -> HeardItem | None:
        """The spoken answer that is listened to, or was last and is not taken yet."""
        return self._hearing.last

    @property
    def responding(self) -> bool:
        """Whether a response is being made."""
        return self._responses.running is not None

    @property
    def awaits(self) -> bool:
        """Whether a response is being made, or will be to an answer that was sent."""
        return self.responding or bool(self._sent)

    # What the session sends

    def message(self, message: Message) -> Sequence[str]:
        """The frames of an ephemeral message."""
        match message:
            case PlainEvent(name=name, fields=fields):
                self._sender.emit(name, **fields)
            case Ready():
                self._begin()
            case QuestionStarted():
                self._respond()
                self._responses.begin_item()
            case QuestionDelta(text=text):
                self._respond()
                self._responses.add_text(text)
            case QuestionWithdrawn():
                self._responses.withdraw()
                self._on_audio(None)
            case QuestionAgain(text=text, turn_number=number):
                self._respond()
                self._responses.complete_item(text, {"kind": "question", "turn_number": number, "again": True})
                self._responses.finish()
            case Notice():
                self._notice(message)
            case Error():
                self._error(message)
            case ReadingStarted() | ReadingSound() | ReadingCompleted() | ReadingFailed() | AudioCut():
                self._read_aloud(message)
            case _:
                self._hear(message)
        return self._sender.taken()

    def _read_aloud(self, message: Message) -> None:
        responses = self._responses
        match message:
            case ReadingStarted(reading=reading):
                responses.announce_audio(reading)
            case ReadingSound(reading=reading, pcm=pcm):
                seconds = responses.add_audio(reading, pcm)
                if seconds:
                    self._on_audio(seconds)
            case ReadingCompleted(reading=reading):
                responses.finish_audio(reading)
            case ReadingFailed(reading=reading):
                responses.finish_audio(reading, complete=False)
            case AudioCut(item_id=item_id, content_index=index, audio_end_ms=end_ms):
                responses.end_audio()
                fields = {"item_id": item_id, "content_index": index, "audio_end_ms": end_ms}
                self._sender.emit("conversation.item.truncated", **fields)

    def _hear(self, message: Message) -> None:
        hearing = self._hearing
        match message:
            case SpeechStarted(at_ms=at_ms):
                hearing.started(at_ms)
            case SpeechStopped(at_ms=at_ms):
                hearing.stopped(at_ms)
            case AnswerEnding(turn_key=turn_key):
                hearing.settle(hearing.by_key(turn_key))
            case TranscriptPartial(turn_key=None):
                hearing.add_words(message.text[: message.stable])
            case TranscriptPartial(turn_key=turn_key) if turn_key is not None:
                self.offer, self.unclaimed = SendAnswer(type="answer", text=message.text, turn_key=turn_key), False
                hearing.offer(turn_key, message.text)
            case HearingEnded() if hearing.end_by_client():
                self.unclaimed = True
            case HearingDropped():
                hearing.drop()

    def event(self, event: DurableEvent) -> Sequence[str]:
        """The frames of a durable event."""
        data, responses = event.data, self._responses
        # Events of an answer that is sent again come again; what is being made now goes before.
        repeated = event.id <= self._last_id
        if repeated and responses.running is not None and data.get("turn_key") != responses.running.turn_key:
            return ()
        self._last_id = max(self._last_id, event.id)
        match data["type"]:
            case "turn.started":
                self._begin_turn(data["turn_key"])
            case "question.completed":
                self._complete_question(data)
            case "interviewer.replied":
                self._respond(data["turn_key"])
                own = {name: data[name] for name in OWN_REPLY_FIELDS}
                responses.complete_item(data["text"], {"kind": "reply", **own, **_progress(data["result"])})
                responses.finish()
            case "turn.completed" if responses.running is not None:
                if not responses.has_question:
                    self._recall_question(data["turn_number"])
                responses.running.own |= _progress(data["result"])
                responses.finish()
            case "turn.failed":
                known = self._said.get(data["turn_key"])
                self.failed = None if known is None else known[0]
                responses.fail(data)
            case "transcript.final":
                self._hearing.transcribe(data)
                self.heard_until = data.get("last_seq")
                self.unclaimed = True
                answer = SendAnswer(type="answer", text=data["text"], turn_key=data["turn_key"])
                self._remember_answer(answer, None)
            case "session.state":
                self._sender.emit("session.updated", session=self._snapshot().session)
                self._on_change()
        return self._sender.taken()

    # Connecting

    def _begin(self) -> None:
        now, sender = self._snapshot(), self._sender
        sender.session_id = str(now.session["askwell"]["session_id"])
        sender.emit("session.created", session=now.session)
        shown = {"id": sender.conversation_id, "object": "realtime.conversation"}
        sender.emit("conversation.created", conversation=shown)
        for said in now.utterances:
            if said.text:
                sender.add(_item_of(said))
        self.unclaimed = now.opening
        if now.pending is not None:
            text = getattr(now.pending, "text", "")
            if text:
                sender.add(items.typed(item_of(_key(now.pending)), text))
            self._remember_answer(now.pending, None)
            if now.failed:
                self.failed = now.pending
            else:
                self.unclaimed = True
                self._respond(_key(now.pending))

    # Answers and questions

    def _respond(self, turn_key: str | None = None) -> None:
        """A response is being made."""
        if self._responses.running is not None and self._responses.running.waiting is not None:
            # The one before was only still being read.
            self._responses.end_audio()
        if turn_key == self._sent:
            self._sent = ""
        if not self.responding:
            self._hearing.settle_for_question()
        self._responses.begin(turn_key)

    def _begin_turn(self, turn_key: str) -> None:
        self.failed = self.offer = None
        known = self._said.get(turn_key)
        if known is not None and known[1] is not None:
            self._sender.add(known[1])
            # Its turn may be tried again.
            self._said[turn_key] = (known[0], None)
        self._respond(turn_key)

    def _remember_answer(self, message: ClientMessage, item: Fields | None) -> None:
        self._said[_key(message)] = (message, item)
        while len(self._said) > REMEMBERED_ANSWERS:
            self._said.popitem(last=False)

    def _complete_question(self, data: Mapping[str, Any]) -> None:
        self._respond()
        own = {name: data[name] for name in OWN_QUESTION_FIELDS if data.get(name) is not None}
        self._responses.complete_item(data["text"], {"kind": "question", **own})
        running = self._responses.running
        if running is not None and running.turn_key is None:
            self._responses.finish()
        self._on_change()

    def _recall_question(self, turn_number: int) -> None:
        """The question that an answer led to, for a client that has sent the answer again."""
        for said in reversed(self._snapshot().utterances):
            if said.turn_number == turn_number and said.speaker != "respondent":
                own = {"kind": "question", "turn_number": turn_number, "again": True}
                self._responses.complete_item(said.text, own)
                return

    # Notices and errors

    def _notice(self, notice: Notice) -> None:
        if notice.code == "didnt_catch" and self._hearing.miss(notice.code, notice.text):
            self.unclaimed = self.responding
        else:
            self._sender.emit("askwell.notice", code=notice.code, text=notice.text)

    def _error(self, error: Error) -> None:
        ref = error.ref or ""
        if self._said.pop(ref, None) is not None:
            # An answer that was refused has no response.
            self.unclaimed = self.responding
            self._sent = "" if ref == self._sent else self._sent
        if error.code in BREAKING:
            self._hearing.break_off(ref, error.code, error.message)
        if error.code == "audio_too_long":
            self._hearing.end_by_length(ref)
        self._sender.emit("error", error=error_fields(error, self._refs.get(ref)))


def _key(message: ClientMessage) -> str:
    return str(getattr(message, "turn_key", ""))


def _item_of(said: Utterance) -> Fields:
    item_id = f"item_{said.id.replace('-', '')}"[:32]
    if said.speaker != "respondent":
        return items.asked(item_id, said.text, "output_text")
    return items.spoken(item_id, said.text) if said.spoken else items.typed(item_id, said.text)


def _progress(result: Mapping[str, Any]) -> Fields:
    wanted = ("should_continue", "max_turns", "progress", "utterance_id")
    return {name: result[name] for name in wanted if name in result}

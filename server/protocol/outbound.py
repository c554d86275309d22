"""What the server sends to a respondent's client.

Durable messages carry `id` and are replayed; ephemeral ones are gone when missed.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from server.protocol.base import Attempt, EventId, Message, SessionStatus, TurnNumber
from server.protocol.codes import NOTICES, RETRYABLE, SENTENCES, ErrorCode, NoticeCode


class TurnResultView(Message):
    """Public view of a finished turn."""

    should_continue: bool = Field(description="Whether a question waits for an answer.")
    turn_number: TurnNumber
    max_turns: int = Field(ge=1)
    progress: float = Field(ge=0, le=1)
    utterance_id: str = Field(description="The respondent's utterance of this turn, for `correct`.")


class QuestionCompleted(Message):
    """A question as it stands; the deltas of the last attempt, concatenated, equal `text` byte for byte."""

    type: Literal["question.completed"]
    id: EventId
    turn_number: TurnNumber
    text: str
    fallback: bool = Field(description="Whether it is the strategy's template because nothing better came.")
    closing: bool = Field(default=False, description="Whether it is the thank-you, which nobody answers.")
    utterance_id: str | None = None


class TurnStarted(Message):
    """The answer is stored; the client need not keep it any longer."""

    type: Literal["turn.started"]
    id: EventId
    turn_number: TurnNumber
    turn_key: str
    attempt: Attempt


class Word(Message):
    """One word of a transcript, with when it was said, in milliseconds from the start of the answer."""

    text: str
    start_ms: int = Field(ge=0)
    end_ms: int = Field(ge=0)
    confidence: float | None = Field(default=None, ge=0, le=1)


class TranscriptFinal(Message):
    """What a spoken answer was understood as; its turn starts next. The client need not keep its audio any longer."""

    type: Literal["transcript.final"]
    id: EventId
    turn_key: str
    text: str
    words: tuple[Word, ...] | None = None
    last_seq: int | None = Field(
        default=None,
        ge=0,
        description="Number of the last audio frame that is part of it; audio after it belongs to the next answer.",
    )


class TurnCompleted(Message):
    """The turn is committed."""

    type: Literal["turn.completed"]
    id: EventId
    turn_number: TurnNumber
    turn_key: str
    result: TurnResultView


class TurnFailed(Message):
    """The turn did not work out; the answer is kept and may be sent again under its key."""

    type: Literal["turn.failed"]
    id: EventId
    turn_key: str
    code: ErrorCode
    retryable: bool


class SessionState(Message):
    """The session is in another state now."""

    type: Literal["session.state"]
    id: EventId
    state: SessionStatus
    reason: str


class PendingTurn(Message):
    """An answer that is being worked on."""

    turn_key: str
    turn_number: TurnNumber
    attempt: Attempt


class Ready(Message):
    """The answer to `hello`; durable events after the client's last one follow if the epoch is the same."""

    type: Literal["ready"] = "ready"
    session_id: str
    state: SessionStatus
    epoch: str = Field(description="New after a rebuild: a client of another epoch fetches the transcript.")
    last_event_id: int = Field(ge=0, description="Newest durable event of this epoch.")
    turn_number: TurnNumber
    pending: PendingTurn | None = Field(description="The answer that is being worked on, if any.")
    first_unreceived_seq: int = Field(ge=0, description="Where to go on sending audio.")


class QuestionStarted(Message):
    """A question begins to come, from its first word; replaces what came of an earlier attempt."""

    type: Literal["question.started"] = "question.started"
    turn_number: TurnNumber
    attempt: Attempt


class QuestionDelta(Message):
    """The next piece of a question; on a reconnect, all of it so far."""

    type: Literal["question.delta"] = "question.delta"
    turn_number: TurnNumber
    attempt: Attempt
    text: str


class SpeechStarted(Message):
    """Somebody speaks, since `at_ms` from the start of the answer."""

    type: Literal["speech.started"] = "speech.started"
    at_ms: int = Field(ge=0)


class SpeechStopped(Message):
    """Nobody speaks any more, since `at_ms` from the start of the answer, which may go on."""

    type: Literal["speech.stopped"] = "speech.stopped"
    at_ms: int = Field(ge=0)


class TranscriptPartial(Message):
    """What was understood so far; the first `stable` characters stay until the next pause, whose reading may mend them.

    With a `turn_key`, the answer is over and waits to be looked at: nothing comes of it unless the client sends it, as
    it is or corrected, as `answer` with this key.
    """

    type: Literal["transcript.partial"] = "transcript.partial"
    text: str
    stable: int = Field(ge=0)
    turn_key: str | None = None


class AudioAck(Message):
    """Audio up to this sequence number is taken. It may still go with its node: keep it until `transcript.final`."""

    type: Literal["audio.ack"] = "audio.ack"
    seq: int = Field(ge=0)


class Notice(Message):
    """Something the respondent should know; nothing is wrong."""

    type: Literal["notice"] = "notice"
    code: NoticeCode
    text: str

    @classmethod
    def of(cls, code: NoticeCode) -> Notice:
        """The notice with its usual words."""
        return cls(code=code, text=NOTICES[code])


class Error(Message):
    """Something that was sent can't be done; `ref` is the `turn_key` or the type of what it was."""

    type: Literal["error"] = "error"
    code: ErrorCode
    message: str = Field(description="In words a person understands.")
    retryable: bool = Field(description="Whether the same may succeed later.")
    ref: str | None = None

    @classmethod
    def of(cls, code: ErrorCode, message: str | None = None, *, ref: str | None = None) -> Error:
        """The error with its usual words, or with better ones."""
        return cls(code=code, message=message or SENTENCES[code], retryable=code in RETRYABLE, ref=ref)


class Pong(Message):
    """The answer to `ping`."""

    type: Literal["pong"] = "pong"
    t: int | float


Durable = QuestionCompleted | TurnStarted | TranscriptFinal | TurnCompleted | TurnFailed | SessionState
Ephemeral = (
    Ready
    | QuestionStarted
    | QuestionDelta
    | SpeechStarted
    | SpeechStopped
    | TranscriptPartial
    | AudioAck
    | Notice
    | Error
    | Pong
)
ServerMessage = Annotated[Durable | Ephemeral, Field(discriminator="type")]

SERVER_MESSAGES: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)

"""Messages from the server to a respondent's client.

Durable messages carry `id` and are replayed; ephemeral ones are not.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from pipeline.acts import Act
from server.protocol.base import Attempt, EventId, Message, SessionStatus, TurnNumber
from server.protocol.codes import NOTICES, RETRYABLE, SENTENCES, ErrorCode, NoticeCode


class TurnResultView(Message):
    """Public view of a finished turn."""

    should_continue: bool = Field(description="Whether a question waits for an answer.")
    turn_number: TurnNumber
    max_turns: int = Field(ge=1)
    progress: float = Field(ge=0, le=1)
    utterance_id: str = Field(description="The respondent's utterance of this turn, for `correct`.")


class RatedElement(Message):
    """Something that is rated."""

    id: str
    label: str


class RatedConstruct(Message):
    """A line of the grid: what the lowest rating stands for, and what the highest; `contrast` where it was named."""

    id: str
    emergent: str
    contrast: str | None = None


class RatingForm(Message):
    """The ratings that a question asks for: each element on each construct, or none of them; see `rate`."""

    elements: tuple[RatedElement, ...]
    constructs: tuple[RatedConstruct, ...]
    lowest: int
    highest: int


class QuestionCompleted(Message):
    """A question as it stands; the deltas of the last attempt, concatenated, equal `text` byte for byte."""

    type: Literal["question.completed"]
    id: EventId
    turn_number: TurnNumber
    text: str
    fallback: bool = Field(description="Whether it is the strategy's template because the writer failed.")
    closing: bool = Field(default=False, description="Whether it is the closing statement, which needs no answer.")
    utterance_id: str | None = None
    ratings: RatingForm | None = Field(default=None, description="What is to be rated, where it asks for ratings.")


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
    """The transcript of a spoken answer; its turn starts next. The client need not keep its audio any longer."""

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


class Offer(Message):
    """Something the respondent may choose instead of writing: send its label as an answer."""

    name: str
    label: str


class InterviewerReplied(Message):
    """The interviewer replies to a message that was no answer, or not only one; no turn of the interview is used.

    The deltas of the last attempt, concatenated, equal `text`. The message with `turn_key` is done.
    """

    type: Literal["interviewer.replied"]
    id: EventId
    turn_number: TurnNumber
    turn_key: str
    act: Act = Field(description="What was heard, such as `asks_back`, `wants_pause` or `wants_stop`.")
    text: str = Field(description="The whole reply, with the question where it is asked again, and with help.")
    help: str = Field(description="Where to find help, as it stands in `text`; empty otherwise. Keep it in sight.")
    offers: tuple[Offer, ...] = Field(description="What can be chosen now; typing is always possible as well.")
    open: bool = Field(description="Whether a question still waits for an answer.")
    result: TurnResultView


class TurnFailed(Message):
    """The turn failed; the answer is kept and may be sent again under its key."""

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
    """A question begins, from its first word; replaces what was sent of an earlier attempt."""

    type: Literal["question.started"] = "question.started"
    turn_number: TurnNumber
    attempt: Attempt


class QuestionDelta(Message):
    """The next piece of a question; on a reconnect, all of it so far."""

    type: Literal["question.delta"] = "question.delta"
    turn_number: TurnNumber
    attempt: Attempt
    text: str


class QuestionWithdrawn(Message):
    """What was sent of this question is void: the answer before it goes on. It comes again as a higher attempt."""

    type: Literal["question.withdrawn"] = "question.withdrawn"
    turn_number: TurnNumber
    attempt: Attempt


ReadingNumber = Annotated[int, Field(ge=1, le=0xFFFFFFFF, description="Of this connection; each reading has the next.")]


class ReadingStarted(Message):
    """A question or a reply begins to be read aloud: binary frames with its number follow. Anything before it is void.

    A binary frame is the number, four bytes big-endian, then 16-bit little-endian mono samples at `sample_rate`, 0.2 s
    at the most. They come faster than they are to be played, sentence by sentence, while the question is still written.
    """

    type: Literal["reading.started"] = "reading.started"
    reading: ReadingNumber
    turn_number: TurnNumber
    sample_rate: int = Field(description="In hertz.")


class ReadingCompleted(Message):
    """All of it was sent."""

    type: Literal["reading.completed"] = "reading.completed"
    reading: ReadingNumber


class ReadingFailed(Message):
    """The server's voice failed: what was sent is whole sentences, the rest is for the client's own voice to read."""

    type: Literal["reading.failed"] = "reading.failed"
    reading: ReadingNumber
    at: int = Field(ge=0, description="Where the rest begins in the text, in characters.")


class ReadingSound(Message):
    """Sound of what is read aloud; a binary frame."""

    reading: int
    pcm: bytes


class AnswerEnding(Message):
    """The spoken answer is over unless its speaker goes on: `transcript.final` follows when nobody has.

    Its words so far came as `transcript.partial`, and the next question may be sent already. Go on sending audio.
    Speech takes the answer up again, `audio.stop` ends it at once, `set {take_your_time}` leaves it open for longer.
    """

    type: Literal["answer.ending"] = "answer.ending"
    turn_key: str
    left_ms: int = Field(ge=0, description="Audio without speech after which it is over.")


class SpeechStarted(Message):
    """Speech began at `at_ms` from the start of the answer."""

    type: Literal["speech.started"] = "speech.started"
    at_ms: int = Field(ge=0)


class SpeechStopped(Message):
    """Speech stopped at `at_ms` from the start of the answer, which may go on.

    Where what was said seems unfinished, it is sent again with the longer silence that ends the answer from then on.
    """

    type: Literal["speech.stopped"] = "speech.stopped"
    at_ms: int = Field(ge=0)
    ends_ms: int | None = Field(
        default=None,
        ge=0,
        description="Silence after `at_ms` that ends the answer.",
    )


class TranscriptPartial(Message):
    """What was understood so far; the first `stable` characters stay until the next pause, when they may be corrected.

    With a `turn_key`, the answer is over and waits for review: it counts only when the client sends it, as it is or
    corrected, as `answer` with this key.
    """

    type: Literal["transcript.partial"] = "transcript.partial"
    text: str
    stable: int = Field(ge=0)
    turn_key: str | None = None


class AudioAck(Message):
    """Audio up to this sequence number has arrived. Its node may still fail: keep it until `transcript.final`."""

    type: Literal["audio.ack"] = "audio.ack"
    seq: int = Field(ge=0)


class Notice(Message):
    """Information for the respondent; not an error."""

    type: Literal["notice"] = "notice"
    code: NoticeCode
    text: str

    @classmethod
    def of(cls, code: NoticeCode) -> Notice:
        """The notice with its default text."""
        return cls(code=code, text=NOTICES[code])


class Error(Message):
    """A message was refused; `ref` is its `turn_key` or its type."""

    type: Literal["error"] = "error"
    code: ErrorCode
    message: str = Field(description="For people.")
    retryable: bool = Field(description="Whether the same may succeed later.")
    ref: str | None = None

    @classmethod
    def of(cls, code: ErrorCode, message: str | None = None, *, ref: str | None = None) -> Error:
        """The error with the default message of its code, or with another one."""
        return cls(code=code, message=message or SENTENCES[code], retryable=code in RETRYABLE, ref=ref)


class Pong(Message):
    """The answer to `ping`."""

    type: Literal["pong"] = "pong"
    t: int | float


Durable = (
    QuestionCompleted | InterviewerReplied | TurnStarted | TranscriptFinal | TurnCompleted | TurnFailed | SessionState
)
Ephemeral = (
    Ready
    | QuestionStarted
    | QuestionDelta
    | QuestionWithdrawn
    | AnswerEnding
    | ReadingStarted
    | ReadingCompleted
    | ReadingFailed
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

"""Messages from a respondent's client to the server."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, TypeAdapter

from pipeline.concept import Patience
from pipeline.grid.model import HIGHEST, LOWEST
from server.protocol.base import Identifier, Message, TurnKey

ShortText = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ChoiceName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
ChoiceValue = bool | Annotated[str, StringConstraints(max_length=500)]


class Hello(Message):
    """First message on the socket, within the handshake time."""

    type: Literal["hello"]
    token: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    last_event_id: int = Field(default=0, ge=0, description="Newest durable event the client has; 0 for none.")
    epoch: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        default=None, description="Epoch of that event, from `ready`; none on a first visit."
    )


class GiveConsent(Message):
    """Agreement to take part; required before the first answer where the concept asks for it."""

    type: Literal["consent"]
    version: ShortText = Field(description="Version of the consent text that was shown.")
    choices: dict[ChoiceName, ChoiceValue] = Field(
        default={}, max_length=32, description="What was agreed to, by name."
    )


class SendAnswer(Message):
    """An answer in writing."""

    type: Literal["answer"]
    text: str = Field(description="The answer; blank or over-long text is refused and consumes no turn.")
    turn_key: TurnKey


class Skip(Message):
    """The respondent would rather not say: a turn without content, not probed again."""

    type: Literal["skip"]
    turn_key: TurnKey


Rating = Annotated[int, Field(ge=LOWEST, le=HIGHEST)]


class Rate(Message):
    """The ratings that the question asks for, or some of them; a turn. `skip` leaves all of them out."""

    type: Literal["rate"]
    ratings: dict[Identifier, dict[Identifier, Rating]] = Field(
        max_length=40, description="By construct and element; what is missing stays unrated."
    )
    turn_key: TurnKey


class Rephrase(Message):
    """The same question in other words; no turn."""

    type: Literal["rephrase"]


class Correct(Message):
    """Amends the last answer."""

    type: Literal["correct"]
    utterance_id: Identifier = Field(description="The utterance to amend: the respondent's last answer.")
    text: str = Field(description="What it should have been.")
    turn_key: TurnKey


class AudioStart(Message):
    """A spoken answer begins; binary frames follow.

    Sent again with the same `turn_key` after a reconnection, the answer goes on: on the same node from
    `first_unreceived_seq`, elsewhere from its first frame. Frames that were sent after the previous answer had ended
    belong to this one; `first_seq` is the first of them. While a question is still being made, the answer waits for
    it. Only one answer is spoken at a time; `set` with `take_your_time` while it is spoken asks for time.
    """

    type: Literal["audio.start"]
    codec: Literal["pcm_s16le"]
    sample_rate: Literal[16000] = Field(description="In hertz.")
    turn_key: TurnKey
    first_seq: int = Field(ge=0, le=0xFFFFFFFF, description="Sequence number of the first frame.")


class AudioStop(Message):
    """The spoken answer is complete: it ends here without waiting for silence; no effect if it has ended already."""

    type: Literal["audio.stop"]


class AudioCancel(Message):
    """Discard the spoken answer."""

    type: Literal["audio.cancel"]


class ChangeSettings(Message):
    """Settings of the respondent; those that are left out stay."""

    type: Literal["set"]
    patience: Patience | None = Field(
        default=None, description="How long a pause may be when speaking; also for the answer being spoken."
    )
    spoken: bool | None = Field(default=None, description="Whether questions are read aloud.")
    review_transcript: bool | None = Field(
        default=None, description="Whether a transcript is shown for correction before it counts."
    )
    take_your_time: bool | None = Field(
        default=None,
        description="`true`: for some time from now no silence ends the answer being spoken. Not kept.",
    )


class Pause(Message):
    """Stop for a while; either side may lift it."""

    type: Literal["pause"]


class Resume(Message):
    """Go on after a pause."""

    type: Literal["resume"]


class Finish(Message):
    """End the interview now, with thanks."""

    type: Literal["finish"]


class Withdraw(Message):
    """Stop, and erase everything."""

    type: Literal["withdraw"]


class Typing(Message):
    """An answer is being written, for moderators who watch; sent repeatedly meanwhile, without the text."""

    type: Literal["typing"]


class Ping(Message):
    """Asks for a `pong` with the same `t`."""

    type: Literal["ping"]
    t: int | float = Field(ge=0, le=1e15, allow_inf_nan=False, description="Any number, such as milliseconds.")


class Playback(Message):
    """How far the client is with reading a question aloud.

    Unless barge-in is on, sound after `started` is ignored until another state is sent.
    """

    type: Literal["playback"]
    state: Literal["started", "paused", "finished", "stopped"]


class ReadAloud(Message):
    """Whether the server's own voice reads questions aloud over this connection; it does not before.

    Where `speech.voice` of the session is false, each question is a `reading.failed` at once. Without `now`, the next
    question is the first one that is read. `playback` tells how far the client is; `stopped` ends the reading.
    """

    type: Literal["read_aloud"]
    on: bool
    now: bool = Field(default=False, description="Read what the interviewer said last, too, from its beginning.")


ClientMessage = Annotated[
    Hello
    | GiveConsent
    | SendAnswer
    | Skip
    | Rate
    | Rephrase
    | Correct
    | AudioStart
    | AudioStop
    | AudioCancel
    | ChangeSettings
    | Pause
    | Resume
    | Finish
    | Withdraw
    | Typing
    | Ping
    | Playback
    | ReadAloud,
    Field(discriminator="type"),
]

CLIENT_MESSAGES: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)

ANSWER_MESSAGES: frozenset[str] = frozenset({"answer", "correct"})
"""Messages whose `text` is an answer: invalid text in them is `invalid_input`, not `invalid_message`."""

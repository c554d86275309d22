"""Reads one respondent's questions aloud while they are written: sentence by sentence, in order, over one connection.

A reading is void with its question: when that is withdrawn, asked in other words, or when the respondent has heard
enough, its program is killed and what was not sent is taken back. A sentence is sent once all of it is there and sounds
right, so that nobody hears half of one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

import structlog

from audio.voice_sound import VOICE_HZ
from pipeline.state import InterviewState
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.outbound import (
    QuestionDelta,
    QuestionStarted,
    QuestionWithdrawn,
    ReadingCompleted,
    ReadingFailed,
    ReadingSound,
    ReadingStarted,
)
from server.session.context import SessionContext
from server.session.events import EventsPublished, InterviewErased, MessageSent, SessionEvent, SessionReleased
from server.session.outbox import Outbox
from server.voice.errors import VoiceFailed
from server.voice.sentences import Sentence, Sentences
from server.voice.voices import Voices

log = structlog.get_logger("askwell.voice")

FRAME_BYTES: Final = VOICE_HZ // 5 * 2
"""Most sound in one message: 0.2 s."""

SETTLED_S: Final = 0.25
"""After so long without another word, what ends like a sentence is read; that it was the last is told only later."""


class _Text:
    """What is read: a text that may still be written.

    Args:
        turn_number: of the question.
        number: of the reading.
    """

    def __init__(self, turn_number: int, number: int) -> None:
        self.turn_number = turn_number
        self.number = number
        self.stopped = False
        """Nobody wants to hear it any more."""
        self.certain = asyncio.Event()
        """Its question will not be withdrawn."""
        self._sentences = Sentences()
        self._ended = False
        self._changed = asyncio.Event()

    @property
    def text(self) -> str:
        """All of it so far."""
        return self._sentences.text

    def add(self, text: str) -> None:
        """The next piece."""
        self._sentences.add(text)
        self._changed.set()

    def end(self) -> None:
        """It is complete."""
        self._sentences.end()
        self._ended = True
        self._changed.set()

    async def sentence(self) -> Sentence | None:
        """The next sentence, as soon as it is complete; None at the end."""
        while True:
            found = self._sentences.take()
            if found is not None or self._ended:
                return found
            self._changed.clear()
            try:
                async with asyncio.timeout(SETTLED_S):
                    await self._changed.wait()
            except TimeoutError:
                self._sentences.settle()
                if not self._changed.is_set() and (found := self._sentences.take()) is not None:
                    return found
                await self._changed.wait()


class ReadingAloud:
    """Reads over one connection.

    Args:
        session: whose questions.
        voices: of the process.
        outbox: of the connection.
        late: whether nothing is sent before it is certain that the question will not be withdrawn.
    """

    def __init__(self, session: SessionContext, voices: Voices, outbox: Outbox, *, late: bool = False) -> None:
        self._session = session
        self._voices = voices
        self._outbox = outbox
        self._late = late
        self._on = False
        self._number = 0
        self._text: _Text | None = None
        self._begun = asyncio.Event()

    async def run(self) -> None:
        """Read what is to be read, until this is cancelled."""
        observers = self._session.observers
        observers.append(self._observe)
        try:
            async with asyncio.TaskGroup() as tasks:
                task: asyncio.Task[None] | None = None
                while True:
                    await self._begun.wait()
                    self._begun.clear()
                    if task is not None:
                        task.cancel()
                        await asyncio.wait({task})
                    self._outbox.hush()
                    text = self._text
                    task = None if text is None or text.stopped else tasks.create_task(self._read(text), name="reading")
        finally:
            observers.remove(self._observe)

    # What the client wants

    def set(self, *, on: bool, now: bool) -> None:
        """Whether questions are read aloud from now on, and what was said last, too."""
        self._on = on
        if not on:
            self._drop()
        elif now:
            self._begin_with_last()

    def stop(self) -> None:
        """The respondent has heard enough of what is being read."""
        if self._text is not None and not self._text.stopped:
            self._text.stopped = True
            self._change()

    def _begin_with_last(self) -> None:
        audience = self._session.audience
        running = audience.running_question()
        if running is not None:
            self._begin(running[0])
            self._feed(*running)
            return
        said = last_said(self._session.state)
        if said is not None:
            self._complete(*said, anew=True)

    # What happens in the session

    def _observe(self, event: SessionEvent) -> None:
        match event:
            case _ if not self._on:
                return
            case MessageSent(QuestionStarted(turn_number=number)):
                self._begin(number)
            case MessageSent(QuestionDelta(turn_number=number, text=text)):
                self._feed(number, text)
            case MessageSent(QuestionWithdrawn()) | InterviewErased() | SessionReleased():
                self._drop()
            case EventsPublished(events=events):
                for published in events:
                    self._follow(published)

    def _follow(self, event: DurableEvent) -> None:
        data = event.data
        match data["type"]:
            case "turn.started" if self._text is not None:
                self._text.certain.set()
            case "question.completed" | "interviewer.replied":
                self._complete(data["turn_number"], data["text"])
            case "turn.failed":
                self._drop()

    def _begin(self, turn_number: int) -> _Text:
        self._number += 1
        text = self._text = _Text(turn_number, self._number)
        if self._session.ledger.pending is not None:
            # The question to an answer that is stored, not to one that may go on.
            text.certain.set()
        self._change()
        # Before the question itself, so that its client knows what to wait for.
        self._outbox.announce(ReadingStarted(reading=text.number, turn_number=turn_number, sample_rate=VOICE_HZ))
        return text

    def _feed(self, turn_number: int, text: str) -> None:
        current = self._text
        if current is None or current.turn_number != turn_number:
            current = self._begin(turn_number)
        current.add(text)

    def _complete(self, turn_number: int, text: str, *, anew: bool = False) -> None:
        current = self._text
        goes_on = current is not None and current.turn_number == turn_number and text.startswith(current.text)
        if current is None or anew or not goes_on:
            current = self._begin(turn_number)
        current.add(text[len(current.text) :])
        current.end()
        current.certain.set()

    def _drop(self) -> None:
        if self._text is not None:
            self._text = None
            self._change()

    def _change(self) -> None:
        # At once, so that nothing of what is void is sent before the reader has its turn.
        self._outbox.hush()
        self._begun.set()

    # Reading

    async def _read(self, text: _Text) -> None:
        at = 0
        language = self._session.state.language
        try:
            while (sentence := await text.sentence()) is not None:
                sound = await self._voices.say(language, sentence.text)
                if self._late:
                    await text.certain.wait()
                for pcm in pieces(sound):
                    await self._send(text, ReadingSound(reading=text.number, pcm=pcm))
                at = sentence.end
        except VoiceFailed as exc:
            log.info("reading.failed", session=self._session.session_id, turn=text.turn_number, reason=exc.reason)
        except Exception:
            log.exception("reading.defect", session=self._session.session_id)
        else:
            await self._send(text, ReadingCompleted(reading=text.number))
            return
        await self._send(text, ReadingFailed(reading=text.number, at=at))

    async def _send(self, text: _Text, message: Message) -> None:
        """Send it once there is room, unless it is void by then."""
        await self._outbox.room_aloud()
        if text is self._text and not text.stopped:
            self._outbox.read_aloud(message)


def last_said(state: InterviewState) -> tuple[int, str] | None:
    """The turn and the text of what the interviewer said last; None before the first question."""
    for said in reversed(state.utterances):
        if said.speaker == "interviewer" and said.text:
            return said.turn_number, said.text
    return None


def pieces(sound: bytes) -> Iterator[bytes]:
    """A sound in pieces of FRAME_BYTES at the most."""
    for start in range(0, len(sound), FRAME_BYTES):
        yield sound[start : start + FRAME_BYTES]

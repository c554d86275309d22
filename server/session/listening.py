"""What a session's respondent says: from frames to answers.

The client announces an answer (`audio.start`), sends numbered frames, and may end it (`audio.stop`) or leave that to
silence. Audio that comes after an answer's end is kept for the next one. Nothing here is written: until
`transcript.final` the client keeps the audio, and a session that moves to another node is sent it again.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Literal

import structlog

from audio.errors import AudioGap
from audio.types import RATE_HZ
from pipeline.concept import Patience, SessionConfiguration
from pipeline.turn import Answer
from server.protocol.base import Message
from server.protocol.codec import SAMPLE_BYTES, AudioFrame, ProtocolProblem
from server.protocol.codes import CLOSE_PROTOCOL_ERROR, CLOSE_UNSUPPORTED_DATA
from server.protocol.inbound import AudioStart
from server.protocol.outbound import AudioAck, Error
from server.session import machine
from server.session.audience import Audience
from server.session.conclusion import Conclusion, Host
from server.session.intake import Intake, Kept
from server.session.ledger import Ledger
from server.session.measure import HeardMeasure
from server.session.places import Piece
from server.session.problems import SessionProblem, error_frame
from server.session.recorded import RecordedAnswers
from server.session.said import Said, echoes
from server.session.spoken import ACK_EVERY, Fate, Manner, SpokenAnswer
from server.session.surroundings import Surroundings
from server.session.voice import Ear, how_to_hear

log = structlog.get_logger("askwell.speech")


class Listening:
    """Listens to the respondent of one session.

    Args:
        around: what owners share.
        ledger: the session.
        configuration: what it is pinned to.
        audience: who is told.
        host: takes answers.
    """

    def __init__(
        self,
        around: Surroundings,
        ledger: Ledger,
        configuration: SessionConfiguration,
        audience: Audience,
        host: Host,
    ) -> None:
        self._around = around
        self._settings = around.listening
        self._ledger = ledger
        self._configuration = configuration
        self._audience = audience
        self._host = host
        self._conclusion = Conclusion(around, ledger, configuration, audience, host)
        self.recordings = RecordedAnswers(around, ledger, configuration, self._conclusion)
        """Whole recordings as answers."""
        self._intake = Intake()
        self._kept = Kept(self._settings.kept_s)
        self._answer: SpokenAnswer | None = None
        self._begun: asyncio.Queue[tuple[SpokenAnswer, bytes]] = asyncio.Queue()
        self._tasks: asyncio.TaskGroup | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._free = asyncio.Event()
        self._unacked = 0
        self._announced = False
        """Whether frames may come."""
        self._deaf = False
        """Whether the last wish to speak was refused."""
        self._orphaned = False
        """Whether the connection that began the answer is gone."""
        self._gap_told = False
        self._crowded_told = False
        self._playing = False
        self._concluding = ""
        """Key of the answer that is over and not yet on disk or offered."""
        self._concluded = ""
        """Key of the last answer that was heard to its end here."""

    # Its life

    async def run(self) -> None:
        """Hear answers as they are begun, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            try:
                while True:
                    answer, kept = await self._begun.get()
                    self._hearing = tasks.create_task(self._hear(answer, kept), name=f"hear {self._ledger.session_id}")
            finally:
                self._tasks = None
                self._conclusion.withdrawn()

    @property
    def first_unreceived(self) -> int:
        """Where the client goes on sending."""
        return self._intake.first_unreceived

    def joined(self) -> None:
        """Another connection took over: what the one before it was saying may go on or be given up."""
        self._orphaned = self._answer is not None
        self._playing = False

    def running(self) -> list[Message]:
        """For a client that was not there: the answer it may look at, and the caption as it stands."""
        caption = self._answer.caption if self._answer is not None else None
        return [message for message in (self._conclusion.offered, caption) if message is not None]

    # What the client sends

    def start(self, wish: AudioStart) -> bool:
        """A spoken answer begins, or goes on after the connection was lost.

        Returns:
            Whether it is listened to; False for an answer that was taken already.

        Raises:
            SessionProblem: `session_completed`, `session_paused`, `consent_required`, `turn_in_progress` while
                another one is spoken, and what `Voice.check` raises.
        """
        answer = self._answer
        # What follows a refused start is passed over: the client sent it before it knew.
        self._announced = True
        self._deaf = answer is None
        machine.check_listening(self._ledger.state, self._configuration)
        if self._taken(wish.turn_key):
            # Heard by this owner, frames that come again are known as such. Heard elsewhere, all are passed over: once
            # the client knows where the words end, it goes on from there.
            self._deaf = wish.turn_key != self._concluded
            return False
        if answer is not None and answer.turn_key != wish.turn_key and not self._orphaned:
            raise SessionProblem("turn_in_progress", "Another answer is being spoken. Stop or cancel it first.")
        if answer is not None:
            self._go_on(answer, wish)
        else:
            self._around.voice.check(self._ledger.state.language)
            self._begin(wish)
        self._deaf = False
        self._orphaned = False
        return True

    def take(self, frame: AudioFrame) -> Error | None:
        """The next frame.

        Returns:
            What the client is to be told of it: `audio_gap`, or `rate_limited` where too much waits to be heard; the
            frame is not taken then.

        Raises:
            ProtocolProblem: `invalid_message` where no audio was announced.
        """
        if not self._announced:
            raise ProtocolProblem(
                "invalid_message",
                "Audio must be announced by audio.start.",
                close_code=CLOSE_UNSUPPORTED_DATA,
            )
        if self._deaf:
            return None
        if self._answer is not None and self._answer.backlog_s > self._settings.backlog_s:
            told, self._crowded_told = self._crowded_told, True
            return None if told else Error.of("rate_limited", ref="audio")
        self._crowded_told = False
        try:
            self._place(self._intake.put(frame))
        except AudioGap:
            told, self._gap_told = self._gap_told, True
            return None if told else Error.of("audio_gap", ref=self._answer.turn_key if self._answer else "audio")
        if not self._intake.gap:
            self._gap_told = False
        return None

    def stop(self) -> Error | None:
        """The answer is complete.

        Returns:
            What the client is to be told of it.

        Raises:
            ProtocolProblem: `invalid_message` where there is nothing to stop.
        """
        self._refuse_unannounced("audio.stop")
        self._announced = False
        answer, told = self._answer, None
        if answer is None:
            return None
        if self._intake.gap:
            answer.damaged = True
            told = None if self._gap_told else Error.of("audio_gap", ref=answer.turn_key)
            while self._intake.gap:
                self._place(self._intake.skip_gap())
        answer.stop()
        return told

    def cancel(self) -> None:
        """Forget the answer. Raises ProtocolProblem `invalid_message` where there is nothing to cancel."""
        self._refuse_unannounced("audio.cancel")
        self._announced = False
        self._kept.take()
        self._drop()

    def playback(self, state: Literal["started", "paused", "finished", "stopped"]) -> None:
        """How far the client is with reading a question aloud."""
        self._playing = state == "started"

    def set_patience(self, patience: Patience) -> None:
        """How long a pause may be, from now on."""
        if self._answer is not None:
            self._answer.set_patience(patience)

    def take_your_time(self) -> None:
        """No silence ends the answer that is being spoken for a good while from here."""
        if self._answer is not None:
            self._answer.hold(self._settings.hold_s)

    def typed(self, answer: Answer) -> Answer:
        """An answer in writing came: what is known of it if it was spoken, and the end of listening to it."""
        offered = self._conclusion.as_offered(answer)
        if offered is not None:
            return offered
        current = self._answer
        if current is not None and (self._orphaned or current.turn_key == answer.turn_key):
            self._announced = False
            self._drop()
        return answer

    # What the owner says

    def took(self, turn_key: str) -> None:
        """An answer was taken."""
        self._conclusion.took(turn_key)

    def freed(self) -> None:
        """An answer can be taken again."""
        self._free.set()

    def concludes(self, turn_key: str) -> bool:
        """Whether that answer is over and what comes of it is not known yet."""
        return turn_key == self._concluding

    # Between frames and answers

    def _refuse_unannounced(self, what: str) -> None:
        if not self._announced:
            told = "No audio was announced by audio.start."
            raise ProtocolProblem("invalid_message", told, close_code=CLOSE_PROTOCOL_ERROR, ref=what)

    def _taken(self, turn_key: str) -> bool:
        pending = self._ledger.pending
        running = pending is not None and pending.turn_key == turn_key and not pending.failed
        return running or turn_key == self._concluding or self._ledger.receipt(turn_key) is not None

    def _begin(self, wish: AudioStart) -> None:
        """Open an answer with what was kept for it."""
        first, expected = wish.first_seq, self._intake.first_unreceived
        kept = self._kept.take(first if first < expected else None)
        ready = None
        # Audio that was heard for an answer that came to nothing is not kept: it is sent again.
        incomplete = first < expected and bool(kept) and kept[0].sequence > first
        if first > expected or not kept or incomplete:
            kept, ready = [], self._intake.begin(first)
        answer = SpokenAnswer(
            wish.turn_key,
            self._open_ear,
            self._audience,
            self,
            self._around.clock,
            Manner(self._settings.grace_s, self._around.settings.still_thinking_s),
            recorded=machine.may_record(self._ledger.state, self._configuration),
        )
        for piece in kept:
            answer.put(piece)
        self._answer = answer
        self._conclusion.forget_offer()
        self._gap_told = False
        self._begun.put_nowait((answer, b"".join(piece.pcm for piece in kept)))
        self._place(ready)

    def _go_on(self, answer: SpokenAnswer, wish: AudioStart) -> None:
        """The same answer over another connection, perhaps under another key: nothing was written under the first."""
        answer.turn_key = wish.turn_key
        if wish.first_seq > self._intake.first_unreceived:
            answer.damaged = True
            self._place(self._intake.begin(wish.first_seq))

    def _place(self, piece: Piece | None) -> None:
        if piece is None:
            return
        if self._playing and not self._settings.barge_in:
            self._count(piece)
        elif self._answer is not None:
            self._answer.put(replace(piece, over_reading=True) if self._playing else piece)
        else:
            self._kept.put(piece)
            self._count(piece)

    def _count(self, piece: Piece) -> None:
        """Acknowledge audio that nobody hears now."""
        self._unacked += len(piece.pcm) // SAMPLE_BYTES
        if self._unacked >= ACK_EVERY and self._tasks is not None:
            self._unacked = 0
            self._tasks.create_task(self._audience.broadcast(AudioAck(seq=piece.sequence)), name="ack")

    def _open_ear(self) -> Ear:
        return self._around.voice.open(how_to_hear(self._ledger.state, self._configuration, self._settings))

    def _drop(self) -> None:
        """Stop listening; nothing comes of it."""
        if self._answer is None:
            return
        self.withdrawn()
        self._answer = None
        if not self._begun.empty():
            self._begun.get_nowait()
        elif self._hearing is not None:
            self._hearing.cancel()

    async def _hear(self, answer: SpokenAnswer, kept: bytes) -> None:
        fate: Fate = "stop"
        try:
            fate = await answer.hear(hold_s=await self._hold_after(kept))
        except Exception as exc:
            log.exception("speech.defect", session=self._ledger.session_id)
            answer.error = repr(exc)
            await self._audience.broadcast(error_frame(exc, ref=answer.turn_key))
        # From here on audio is the next answer's.
        self._concluding = self._concluded = answer.turn_key
        if self._answer is answer:
            self._answer = None
        for piece in answer.rest():
            self._kept.put(piece)
        try:
            await self._conclusion.conclude(answer, fate)
        finally:
            self._concluding = ""

    async def _hold_after(self, kept: bytes) -> float:
        """What was said before the question may go on: for so long no silence in it or right after it is the end."""
        if not kept or not await self._around.voice.voiced(kept):
            return 0.0
        return len(kept) / SAMPLE_BYTES / RATE_HZ + self._settings.grace_s

    # The company of an answer

    @property
    def busy(self) -> bool:
        """Whether no answer can be taken yet."""
        return self._host.engaged

    async def until_free(self) -> None:
        """Wait until an answer can be taken."""
        while self._host.engaged:
            self._free.clear()
            await self._free.wait()

    def guessed(self, turn_key: str, said: Said) -> None:
        """This is the answer, if nothing follows."""
        if self._tasks is not None:
            self._conclusion.guessed(turn_key, said, self._tasks)

    def withdrawn(self) -> None:
        """The last guess does not count."""
        self._conclusion.withdrawn()

    def echoed(self, text: str) -> bool:
        """Whether that is nothing but words of the question that is read aloud."""
        question = self._ledger.state.question
        return question is not None and echoes(text, question.text)

    def missed(self) -> None:
        """There was a sound, and no word in it."""
        self._around.observe_heard(HeardMeasure(self._ledger.session_id, "missed", "silence"))

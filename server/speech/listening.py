"""Listening to the respondent of a session: from frames to spoken answers.

The client announces an answer (`audio.start`), sends numbered frames, and may end it (`audio.stop`) or leave that to
silence. Audio that comes after an answer's end is kept for the next one. Nothing here is stored: until
`transcript.final` the client keeps the audio, and a session that moves to another node is sent it again.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Literal

import structlog

from audio.errors import AudioGap
from audio.types import RATE_HZ
from pipeline.concept import Patience
from server.protocol.codec import SAMPLE_BYTES, AudioFrame, ProtocolProblem
from server.protocol.codes import CLOSE_PROTOCOL_ERROR, CLOSE_UNSUPPORTED_DATA
from server.protocol.inbound import AudioStart
from server.protocol.outbound import AudioAck, Error
from server.session import rules
from server.session.events import (
    AnswerTaken,
    RespondentConnected,
    SessionCommitted,
    SessionEvent,
    SessionReleased,
    SettingsRequested,
)
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem, error_frame
from server.speech.answer import ACK_EVERY, SpokenAnswer
from server.speech.frames import AudioPiece, FrameIntake, KeptAudio
from server.speech.measure import EndReason
from server.speech.spoken_turns import SpeechServices, SpokenTurns
from server.speech.uploads import Uploads
from server.speech.waiting import PatienceChange

log = structlog.get_logger("askwell.speech")
GOES_ON_S = 10.0
"""Who speaks again so soon after an answer is taken to go on with it, in seconds."""
SETTLED_WITHIN_S = 10.0
"""How long what comes next waits for an answer whose end is known, in seconds."""


class Listening:
    """Listens to the respondent of one session.

    Args:
        owner: the session.
        services: of the node.
    """

    def __init__(self, owner: SessionOwner, services: SpeechServices) -> None:
        self._owner = owner
        self._session = owner.context
        self._speech = services.speech
        self._settings = services.settings
        self._turns = SpokenTurns(owner, services)
        self.uploads = Uploads(owner, self._turns)
        """Whole recordings as answers."""
        self._intake = FrameIntake()
        self._kept = KeptAudio(services.settings.kept_s)
        self._answer: SpokenAnswer | None = None
        self._hearing: dict[SpokenAnswer, asyncio.Task[None]] = {}
        self._unacked = 0
        self._announced = False
        """Whether frames may come."""
        self._ignoring = False
        """Whether frames are ignored, because the last wish to speak was refused."""
        self._orphaned = False
        """Whether the connection that began the answer is closed."""
        self._gap_told = False
        self._backlog_told = False
        self._playing = False
        self._concluding = ""
        """Key of the answer that is over and not yet stored or offered."""
        self._concluded = ""
        """Key of the last answer that was heard to its end here."""
        self._heard_at = -math.inf
        """When an answer was heard to its end last, in seconds of the clock."""
        self._session.observers.append(self._observe)
        self._session.settlers.append(self.settle)

    def _observe(self, event: SessionEvent) -> None:
        match event:
            case RespondentConnected(connected=True):
                # What the connection before it was saying may go on or be given up.
                self._orphaned = self._answer is not None
                self.playback("stopped")
                self._end_lingering()
            case SessionCommitted():
                self._end_lingering()
            case AnswerTaken(answer=taken) if taken.kind == "answer" and not taken.spoken:
                current = self._answer
                if current is not None and (self._orphaned or current.turn_key == taken.turn_key):
                    self._announced = False
                    self._drop()
            case SettingsRequested(changes=changes) if self._answer is not None:
                patience: Patience | None = changes.get("patience")
                if patience is not None:
                    self._answer.wish(PatienceChange(patience=patience))
                self._give_time(self._answer)
            case SessionReleased():
                for task in self._hearing.values():
                    task.cancel()

    # What the client sends

    def start(self, wish: AudioStart) -> bool:
        """A spoken answer begins, or goes on after the connection was lost.

        Returns:
            Whether it is listened to; False for an answer that was taken already.

        Raises:
            SessionProblem: `session_completed`, `session_paused`, `consent_required`, `turn_in_progress` while
                another one is spoken, and as `Speech.check`.
        """
        answer = self._answer
        # Frames that follow a refused start are ignored: the client sent them before it knew.
        self._announced = True
        self._ignoring = answer is None
        rules.check_listening(self._session.state, self._session.configuration)
        if self._taken(wish.turn_key):
            # Frames of an answer that was heard here are recognised as repeated. If it was heard elsewhere, all are
            # ignored: the client goes on after the last word once it knows where that is.
            self._ignoring = wish.turn_key != self._concluded
            return False
        if answer is not None and answer.turn_key != wish.turn_key and not self._orphaned:
            raise SessionProblem("turn_in_progress", "Another answer is being spoken. Stop or cancel it first.")
        if answer is not None:
            self._go_on(answer, wish)
        else:
            self._speech.check(self._session.state.language, goes_on=self._goes_on)
            self._begin(wish)
        self._ignoring = False
        self._orphaned = False
        return True

    def take(self, frame: AudioFrame) -> Error | None:
        """The next frame.

        Returns:
            What the client is to be told: `audio_gap`, or `rate_limited` where too much audio waits to be heard; the
            frame is not taken then.

        Raises:
            ProtocolProblem: `invalid_message` where no audio was announced.
        """
        if not self._announced:
            told = "Audio must be announced by audio.start."
            raise ProtocolProblem("invalid_message", told, close_code=CLOSE_UNSUPPORTED_DATA)
        if self._ignoring:
            return None
        if self._answer is not None and self._answer.backlog_s > self._settings.backlog_s:
            told_before, self._backlog_told = self._backlog_told, True
            return None if told_before else Error.of("rate_limited", ref="audio")
        self._backlog_told = False
        try:
            self._place(self._intake.put(frame))
        except AudioGap:
            told_before, self._gap_told = self._gap_told, True
            ref = self._answer.turn_key if self._answer else "audio"
            return None if told_before else Error.of("audio_gap", ref=ref)
        if not self._intake.gap:
            self._gap_told = False
        return None

    def stop(self) -> Error | None:
        """The answer is complete.

        Returns:
            What the client is to be told.

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
        """Discard the answer. Raises ProtocolProblem `invalid_message` where there is nothing to cancel."""
        self._refuse_unannounced("audio.cancel")
        self._announced = False
        self._kept.take()
        self._drop()

    def playback(self, state: Literal["started", "paused", "finished", "stopped"]) -> None:
        """How far the client is with reading a question aloud."""
        self._playing = state == "started"
        if self._answer is not None:
            self._answer.ending.playing = self._playing

    async def settle(self) -> None:
        """Have an answer taken that is over unless its speaker goes on, and return when it is stored.

        So is one whose end was told and whose last words are not understood yet, unless it waits for its question.
        """
        self._end_lingering()
        ending = {
            task
            for answer, task in self._hearing.items()
            if answer is not self._answer or answer.lingers or (answer.stopping and self._turns.ready)
        }
        if ending := ending - {asyncio.current_task()}:
            await asyncio.wait(ending, timeout=SETTLED_WITHIN_S)

    def _end_lingering(self) -> None:
        if self._answer is not None and self._answer.lingers:
            self._answer.settle()

    def concludes(self, turn_key: str) -> bool:
        """Whether that answer is over, and not yet stored or offered."""
        return turn_key == self._concluding

    # Frames

    def _refuse_unannounced(self, what: str) -> None:
        if not self._announced:
            told = "No audio was announced by audio.start."
            raise ProtocolProblem("invalid_message", told, close_code=CLOSE_PROTOCOL_ERROR, ref=what)

    def _taken(self, turn_key: str) -> bool:
        ledger = self._session.ledger
        pending = ledger.pending
        running = pending is not None and pending.turn_key == turn_key and not pending.failed
        return running or turn_key == self._concluding or ledger.receipt(turn_key) is not None

    @property
    def _goes_on(self) -> bool:
        """Whether the respondent was listened to until just now, and may be going on with what they said."""
        since_s = self._session.services.clock() - self._heard_at
        return bool(self._concluded) and (self._owner.turns.running or since_s < GOES_ON_S)

    def _begin(self, wish: AudioStart) -> None:
        """Begin an answer with the audio that was kept for it."""
        first, expected = wish.first_seq, self._intake.first_unreceived
        kept = self._kept.take(first if first < expected else None)
        ready = None
        # Audio of an answer that came to nothing is not kept: it is sent again.
        incomplete = first < expected and bool(kept) and kept[0].sequence > first
        if first > expected or not kept or incomplete:
            kept, ready = [], self._intake.begin(first)
        self._turns.forget_offer()
        answer = SpokenAnswer(wish.turn_key, self._turns)
        answer.ending.playing = self._playing
        for piece in kept:
            answer.put(piece)
        self._answer = answer
        self._give_time(answer)
        self._gap_told = False
        hearing = self._hear(answer, b"".join(piece.pcm for piece in kept))
        self._hearing[answer] = self._owner.tasks.create_task(hearing, name=f"hear {self._session.session_id}")
        self._place(ready)

    def _give_time(self, answer: SpokenAnswer) -> None:
        """Let silences pass for a while, if the respondent asked for time; once."""
        if self._session.time_wanted:
            self._session.time_wanted = False
            answer.wish(PatienceChange(hold_s=self._settings.hold_s))

    def _go_on(self, answer: SpokenAnswer, wish: AudioStart) -> None:
        """The same answer over another connection, perhaps under another key: nothing was stored under the first."""
        answer.turn_key = wish.turn_key
        if wish.first_seq > self._intake.first_unreceived:
            answer.damaged = True
            self._place(self._intake.begin(wish.first_seq))

    def _place(self, piece: AudioPiece | None) -> None:
        """Give audio that is in order to the answer it belongs to."""
        self._session.audience.first_unreceived_seq = self._intake.first_unreceived
        if piece is None:
            return
        if self._playing and not self._settings.barge_in:
            self._acknowledge(piece)
        elif self._answer is not None:
            self._answer.put(replace(piece, over_reading=True) if self._playing else piece)
        else:
            self._kept.put(piece)
            self._acknowledge(piece)

    def _acknowledge(self, piece: AudioPiece) -> None:
        """Acknowledge audio that is not heard now."""
        self._unacked += len(piece.pcm) // SAMPLE_BYTES
        if self._unacked >= ACK_EVERY:
            self._unacked = 0
            ack = self._session.audience.broadcast(AudioAck(seq=piece.sequence))
            self._owner.tasks.create_task(ack, name="ack")

    # Answers

    def _drop(self) -> None:
        """Discard the answer that is being spoken."""
        if self._answer is not None:
            self._turns.discard_speculation()
            self._owner.tasks.create_task(self._turns.withdraw(), name="withdraw")
            self._hearing.pop(self._answer).cancel()
            self._forget_answer(self._answer)

    def _forget_answer(self, answer: SpokenAnswer) -> None:
        if self._answer is answer:
            self._answer = None
            self._session.audience.transcript = None

    async def _hear(self, answer: SpokenAnswer, kept: bytes) -> None:
        ended_by: EndReason = "stop"
        try:
            ended_by = await answer.hear(hold_s=await self._hold_after(kept))
        except Exception as exc:
            log.exception("speech.defect", session=self._session.session_id)
            answer.error = repr(exc)
            await self._session.audience.broadcast(error_frame(exc, ref=answer.turn_key))
        # From here on audio is the next answer's.
        self._concluding = self._concluded = answer.turn_key
        self._heard_at = self._session.services.clock()
        self._forget_answer(answer)
        for piece in answer.rest():
            self._kept.put(piece)
        try:
            await self._turns.conclude(answer.heard(ended_by))
        finally:
            self._concluding = ""
            self._hearing.pop(answer, None)

    async def _hold_after(self, kept: bytes) -> float:
        """How long, in seconds of audio, no silence ends an answer that began before its question."""
        if not kept or not await self._speech.voiced(kept):
            return 0.0
        return len(kept) / SAMPLE_BYTES / RATE_HZ + self._settings.grace_s


class Listeners:
    """The listening of every session on this node whose respondent speaks.

    Args:
        services: of the node.
    """

    def __init__(self, services: SpeechServices) -> None:
        self._services = services
        self._listening: dict[str, Listening] = {}

    @property
    def barge_in(self) -> bool:
        """Whether respondents are heard while a question is read aloud."""
        return self._services.settings.barge_in

    def of(self, owner: SessionOwner) -> Listening:
        """The listening of a session, made when it is first needed. Raises Moved if the owner is leaving."""
        known = self._listening.get(owner.owner_id)
        if known is None:
            if owner.leaving is not None:
                raise owner.leaving
            known = self._listening[owner.owner_id] = Listening(owner, self._services)
            owner.context.observers.append(lambda event: self._observe(owner.owner_id, event))
        return known

    def _observe(self, owner_id: str, event: SessionEvent) -> None:
        if isinstance(event, SessionReleased):
            self._listening.pop(owner_id, None)

"""What a session's respondent says: from frames to answers.

The client announces an answer (`audio.start`), sends numbered frames, and may end it (`audio.stop`) or leave that to
silence. Audio that comes after an answer's end is kept for the next one. Nothing here is written: until
`transcript.final` the client keeps the audio, and a session that moves to another node is sent it again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import structlog

from audio.types import RATE_HZ
from pipeline.concept import Patience, SessionConfiguration
from pipeline.context import TurnContext
from pipeline.ports import QuestionSink
from pipeline.turn import Answer, answer_digest
from server.hot.errors import HotError
from server.protocol.base import Message
from server.protocol.codec import SAMPLE_BYTES, AudioFrame, ProtocolProblem
from server.protocol.codes import CLOSE_POLICY, CLOSE_PROTOCOL_ERROR, CLOSE_UNSUPPORTED_DATA
from server.protocol.inbound import AudioStart
from server.protocol.outbound import AudioAck, Error, Notice, TranscriptPartial
from server.session import machine
from server.session.audience import Audience
from server.session.intake import Intake
from server.session.ledger import Ledger
from server.session.measure import HeardMeasure, HeardOutcome
from server.session.problems import SessionProblem, error_frame
from server.session.said import Said
from server.session.speculation import Guess
from server.session.spoken import ACK_EVERY, Fate, Manner, Piece, SpokenAnswer
from server.session.surroundings import Surroundings
from server.session.turns import TurnHandle
from server.session.voice import Ear, Hearing

log = structlog.get_logger("askwell.speech")


class Host(Protocol):
    """What listening needs of the session's owner."""

    @property
    def engaged(self) -> bool:
        """Whether no answer can be taken yet: one is worked on, or the first question is on its way."""
        ...

    def begin(
        self, answer: Answer, *, first: Sequence[Mapping[str, Any]] = (), guess: Guess | None = None
    ) -> TurnHandle:
        """Take an answer."""
        ...

    async def decide(self, answer: Answer, sink: QuestionSink) -> TurnContext:
        """What an answer would lead to, up to the question."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """A spoken answer that the respondent may look at, correct and send."""

    answer: Answer
    message: TranscriptPartial


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
        self._intake = Intake()
        self._answer: SpokenAnswer | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._begun: asyncio.Queue[tuple[SpokenAnswer, float]] = asyncio.Queue()
        self._tasks: asyncio.TaskGroup | None = None
        self._guess: Guess | None = None
        self._kept: deque[Piece] = deque()
        self._kept_bytes = 0
        self._unacked = 0
        self._announced = False
        """Whether frames may come."""
        self._deaf = False
        """Whether the last wish to speak was refused."""
        self._orphaned = False
        """Whether the connection that began the answer is gone."""
        self._gap_told = False
        self._playing = False
        self._offer: Offer | None = None
        self._free = asyncio.Event()

    # Its life

    async def run(self) -> None:
        """Hear answers as they are begun, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            while True:
                answer, hold_s = await self._begun.get()
                self._hearing = tasks.create_task(self._hear(answer, hold_s), name=f"hear {self._ledger.session_id}")

    @property
    def first_unreceived(self) -> int:
        """Where the client goes on sending."""
        return self._intake.first_unreceived

    def joined(self) -> None:
        """Another connection took over: what the one before it was saying may go on or be given up."""
        self._orphaned = self._answer is not None
        self._playing = False

    def running(self) -> list[Message]:
        """For a client that was not there: the caption as it stands, or the answer it may look at."""
        if self._offer is not None:
            return [self._offer.message]
        caption = self._answer.caption if self._answer is not None else None
        return [caption] if caption is not None else []

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
            self._deaf = False
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
            What the client is to be told of it.

        Raises:
            ProtocolProblem: `invalid_message` where no audio was announced; `rate_limited` where too much waits to be
                heard: the frame is not taken.
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
            raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY, ref="audio")
        for ready in self._intake.put(frame):
            self._place(Piece(ready.sequence, ready.pcm))
        if not self._intake.gap:
            self._gap_told = False
        elif self._intake.full and not self._gap_told:
            self._gap_told = True
            return Error.of("audio_gap", ref=self._answer.turn_key if self._answer is not None else "audio")
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
        answer = self._answer
        if answer is None:
            return None
        told = None
        if self._intake.gap:
            told = self._gap(answer)
            for ready in self._intake.skip_gap():
                self._place(Piece(ready.sequence, ready.pcm))
        answer.stop()
        return told

    def cancel(self) -> None:
        """Forget the answer. Raises ProtocolProblem `invalid_message` where there is nothing to cancel."""
        self._refuse_unannounced("audio.cancel")
        self._announced = False
        self._kept.clear()
        self._kept_bytes = 0
        self._drop()

    def playback(self, state: Literal["started", "paused", "finished", "stopped"]) -> None:
        """How far the client is with reading a question aloud."""
        self._playing = state == "started"

    def set_patience(self, patience: Patience) -> None:
        """How long a pause may be, from now on; the longest one while somebody speaks is a wish for time."""
        if self._answer is not None:
            self._answer.set_patience(patience)
            if patience == "patient":
                self._answer.hold(self._settings.hold_s)

    def typed(self, answer: Answer) -> Answer:
        """An answer in writing came: what is known of it if it was spoken, and the end of listening to it."""
        offer = self._offer
        if offer is not None and offer.answer.turn_key == answer.turn_key:
            spoken = offer.answer
            if answer_digest(spoken) == answer_digest(answer):
                return spoken
            return Answer(answer.turn_key, answer.text, spoken=True, speech_ms=spoken.speech_ms)
        current = self._answer
        if current is not None and (self._orphaned or current.turn_key == answer.turn_key):
            self._announced = False
            self._drop()
        return answer

    def took(self, turn_key: str) -> None:
        """An answer was taken; what was offered is settled."""
        if self._offer is not None:
            self._offer = None

    def freed(self) -> None:
        """An answer can be taken again."""
        self._free.set()

    # Between frames and answers

    def _refuse_unannounced(self, what: str) -> None:
        if not self._announced:
            raise ProtocolProblem(
                "invalid_message",
                "No audio was announced by audio.start.",
                close_code=CLOSE_PROTOCOL_ERROR,
                ref=what,
            )

    def _taken(self, turn_key: str) -> bool:
        pending = self._ledger.pending
        running = pending is not None and pending.turn_key == turn_key and not pending.failed
        return running or self._ledger.receipt(turn_key) is not None

    def _begin(self, wish: AudioStart) -> None:
        """Open an answer with what was kept for it."""
        kept = list(self._kept)
        self._kept.clear()
        self._kept_bytes = 0
        first = wish.first_seq
        if not kept or first > self._intake.first_unreceived:
            kept = []
            self._intake.begin(first)
        elif first < self._intake.first_unreceived:
            kept = [piece for piece in kept if piece.sequence >= first]
        answer = SpokenAnswer(
            wish.turn_key,
            self._open_ear,
            self._audience,
            self,
            self._around.clock,
            Manner(self._settings.grace_s, self._around.settings.still_thinking_s),
        )
        for piece in kept:
            answer.put(piece)
        self._answer = answer
        self._offer = None
        self._gap_told = False
        self._begun.put_nowait((answer, answer.backlog_s + self._settings.grace_s if kept else 0.0))

    def _go_on(self, answer: SpokenAnswer, wish: AudioStart) -> None:
        """The same answer over another connection, perhaps under another key: nothing was written under the first."""
        answer.turn_key = wish.turn_key
        if wish.first_seq > self._intake.first_unreceived:
            answer.damaged = True
            self._intake.begin(wish.first_seq)
            for ready in self._intake.ready():
                self._place(Piece(ready.sequence, ready.pcm))

    def _gap(self, answer: SpokenAnswer) -> Error | None:
        answer.damaged = True
        return None if self._gap_told else Error.of("audio_gap", ref=answer.turn_key)

    def _place(self, piece: Piece) -> None:
        if self._playing and not self._settings.barge_in:
            self._count(piece)
        elif self._answer is not None:
            self._answer.put(piece)
        else:
            self._keep(piece)
            self._count(piece)

    def _keep(self, piece: Piece) -> None:
        """Keep audio for the next answer; of too much, the latest."""
        self._kept.append(piece)
        self._kept_bytes += len(piece.pcm)
        while self._kept_bytes > self._settings.kept_s * RATE_HZ * SAMPLE_BYTES:
            self._kept_bytes -= len(self._kept.popleft().pcm)

    def _count(self, piece: Piece) -> None:
        """Acknowledge audio that nobody hears now."""
        self._unacked += len(piece.pcm) // SAMPLE_BYTES
        if self._unacked >= ACK_EVERY and self._tasks is not None:
            self._unacked = 0
            self._tasks.create_task(self._audience.broadcast(AudioAck(seq=piece.sequence)), name="ack")

    def _open_ear(self) -> Ear:
        state, concept, settings = self._ledger.state, self._configuration.concept, self._settings
        return self._around.voice.open(
            Hearing(
                language=state.language,
                patience=state.settings.get("patience") or concept.patience or settings.patience,
                max_answer_s=concept.max_answer_s or settings.max_answer_s,
                guesses=self._speculate != "off",
            )
        )

    @property
    def _speculate(self) -> str:
        return self._around.voice.speculates(self._configuration)

    @property
    def _reviewed(self) -> bool:
        wish = self._ledger.state.settings.get("review_transcript")
        return self._configuration.concept.review_transcript if wish is None else bool(wish)

    def _drop(self) -> None:
        """Stop listening; nothing comes of it."""
        self.withdrawn()
        self._answer = None
        if self._hearing is not None:
            self._hearing.cancel()
        while not self._begun.empty():
            self._begun.get_nowait()

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
        """Work out what the answer would lead to, if that is wanted and nothing is in the way."""
        self.withdrawn()
        if self._speculate != "turn" or self._reviewed or self._host.engaged or self._tasks is None or not said.text:
            return
        self._guess = Guess(said.answer(turn_key), self._host.decide, self._around.lanes, self._ledger.calls)
        self._guess.begin(self._tasks)

    def withdrawn(self) -> None:
        """The last guess does not count."""
        if self._guess is not None:
            self._guess.withdraw()
            self._guess = None

    # The end of an answer

    async def _hear(self, answer: SpokenAnswer, hold_s: float) -> None:
        fate: Fate = "stop"
        try:
            fate = await answer.hear(hold_s=hold_s)
        except Exception as exc:
            log.exception("speech.defect", session=self._ledger.session_id)
            answer.error = repr(exc)
            await self._audience.broadcast(error_frame(exc, ref=answer.turn_key))
        self._let_go(answer)
        outcome = await self._conclude(answer, fate)
        self._report(answer, fate, outcome)

    def _let_go(self, answer: SpokenAnswer) -> None:
        """From here on audio is the next answer's."""
        if self._answer is answer:
            self._answer = None
        for piece in answer.rest():
            self._keep(piece)

    async def _conclude(self, answer: SpokenAnswer, fate: Fate) -> HeardOutcome:
        """Make a turn of what was said, or have the respondent decide."""
        broadcast = self._audience.broadcast
        if answer.error:
            log.warning("speech.failed", session=self._ledger.session_id, reason=answer.error)
        if fate == "too_long":
            told = "The longest answer is reached. What was said up to here is taken."
            await broadcast(Error.of("audio_too_long", told, ref=answer.turn_key))
        if not answer.said.text:
            self.withdrawn()
            if answer.error:
                return "failed"
            await broadcast(Notice.of("didnt_catch"))
            return "nothing"
        if answer.error or self._reviewed or answer.damaged or self._would_displace(answer):
            await self._offer_it(answer)
            return "offered"
        return "answer" if await self._submit(answer) else "offered"

    def _would_displace(self, answer: SpokenAnswer) -> bool:
        """Whether it was said before another answer's turn failed, and would take that one's place unasked."""
        pending = self._ledger.pending
        return answer.waited and pending is not None and pending.failed and pending.turn_key != answer.turn_key

    async def _submit(self, answer: SpokenAnswer) -> bool:
        guess, self._guess = self._guess, None
        event = answer.said.event(answer.turn_key, answer.last_seq)
        try:
            handle = self._host.begin(answer.said.answer(answer.turn_key), first=(event,), guess=guess)
            await handle.accepted()
        except (SessionProblem, HotError) as exc:
            if guess is not None:
                guess.withdraw()
            await self._audience.broadcast(error_frame(exc, ref=answer.turn_key))
            await self._offer_it(answer)
            return False
        return True

    async def _offer_it(self, answer: SpokenAnswer) -> None:
        self.withdrawn()
        text = answer.said.text
        message = TranscriptPartial(text=text, stable=len(text), turn_key=answer.turn_key)
        self._offer = Offer(answer.said.answer(answer.turn_key), message)
        await self._audience.broadcast(message)

    def _report(self, answer: SpokenAnswer, fate: Fate, outcome: HeardOutcome) -> None:
        spoke_at = answer.places.arrived(answer.speech_end) if outcome != "nothing" else None
        final_ms = None if spoke_at is None else (self._around.clock() - spoke_at) * 1000.0
        measure = HeardMeasure(
            session_id=self._ledger.session_id,
            outcome=outcome,
            ended_by=fate,
            audio_s=answer.places.end / RATE_HZ,
            words=len(answer.said.words),
            final_ms=final_ms,
        )
        log.info(
            "speech.ended",
            session=measure.session_id,
            outcome=outcome,
            ended_by=fate,
            audio_s=round(measure.audio_s, 2),
            words=measure.words,
            final_ms=None if final_ms is None else round(final_ms, 1),
        )
        self._around.observe_heard(measure)

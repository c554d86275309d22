"""What becomes of spoken answers: turns, transcripts offered for review, or a notice that nothing was heard.

While an answer may still go on, the first half of its turn may run as a speculative turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from audio.answer_sound import AnswerSound
from audio.endpoint import PATIENCE_MS
from pipeline.concept import Patience
from pipeline.state import Receipt
from pipeline.turn import Answer
from server.hot.errors import HotError
from server.protocol.outbound import AnswerEnding, Error, Notice, TranscriptPartial
from server.recordings import FileRecorder
from server.session import rules
from server.session.audience import QuestionStream
from server.session.events import AnswerTaken, ReadyForAnswer, SessionEvent, SessionReleased
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem, error_frame
from server.session.rehearsal import Rehearsal
from server.session.speculation import SpeculativeTurn
from server.speech.engine import Speech, StreamOptions
from server.speech.measure import SpokenAnswerMeasure, SpokenOutcome
from server.speech.second_reading import SecondReadings
from server.speech.settings import ListeningSettings
from server.speech.transcript import HeardAnswer, SpokenTranscript, is_echo

if TYPE_CHECKING:
    from audio.speech import SpeechStream

log = structlog.get_logger("askwell.speech")
SHORTEST_REST_S = 1.0
"""What an answer that goes on may take at least, in seconds."""
LONGEST_WAIT_S = 15.0
"""How much longer an answer may go on while its question is made or read aloud, in seconds of audio."""
REOPENED_MS = 400
"""What an answer that was taken up again after its end adds to the silence that ends one."""
ENDED_MS = 80
"""What an answer that was not takes from that again."""
MOST_MORE_MS = 1600
"""Most that is added."""


@dataclass(frozen=True)
class SpeechServices:
    """What listening to sessions of a node shares.

    Args:
        speech: recognises speech.
        settings: how answers are listened to.
        recorder: stores the sound of answers; None where nothing is stored.
        on_answer: called after every spoken answer, and for sounds without words.
    """

    speech: Speech
    settings: ListeningSettings
    recorder: FileRecorder | None
    on_answer: Callable[[SpokenAnswerMeasure], None]


class SpokenTurns:
    """Makes turns of the spoken answers of one session.

    Args:
        owner: the session.
        services: of the node.
    """

    def __init__(self, owner: SessionOwner, services: SpeechServices) -> None:
        self.session = owner.context
        self.services = services
        self._owner = owner
        self._speculative: SpeculativeTurn | None = None
        self._rehearsal: Rehearsal | None = None
        self._readings = SecondReadings(owner, services.speech)
        self._question: QuestionStream | None = None
        """Where the questions to one answer are sent to, each time it seems to be over."""
        self._more_ms = 0
        """What this respondent's pauses get on top of the patience, in milliseconds."""
        self._reopened = False
        """Whether the answer was taken up again after its end."""
        self._offered: tuple[str, Callable[[], bytes]] | None = None
        """Turn key and sound of an answer that is offered for review."""
        self._ready = asyncio.Event()
        self.session.observers.append(self._observe)

    def _observe(self, event: SessionEvent) -> None:
        match event:
            case ReadyForAnswer():
                self._ready.set()
            case AnswerTaken() if self._offered is not None:
                (key, sound), self._offered = self._offered, None
                self.session.audience.transcript = None
                if key == event.answer.turn_key:
                    self._record(key, sound)
            case SessionReleased():
                self.discard_speculation()
                self._readings.give_up()
                if self._rehearsal is not None:
                    self._rehearsal.discard()

    # Before the end of an answer

    def stream(self, *, live: bool = True, used_s: float = 0.0) -> SpeechStream:
        """A stream for one answer: as the respondent wishes, else as the concept says, else as usual.

        Args:
            live: whether somebody is speaking; else it is a whole recording.
            used_s: seconds of the longest answer that are used up.
        """
        state, concept, usual = self.session.state, self.session.configuration.concept, self.services.settings
        patience = self._patience
        left_s = max(SHORTEST_REST_S, (concept.max_answer_s or usual.max_answer_s) - used_s)
        more_ms = self._more_ms if live else 0
        options = StreamOptions(state.session_id, state.language, patience, left_s if live else None, live, more_ms)
        return self.services.speech.open(options)

    @property
    def _patience(self) -> Patience:
        wish: Patience | None = self.session.settings.get("patience")
        return wish or self.session.configuration.concept.patience or self.services.settings.patience

    @property
    def silence_ms(self) -> int:
        """The silence that ends an answer, if its last sentence sounds complete, in milliseconds."""
        return PATIENCE_MS[self._patience] + self._more_ms

    @property
    def ready(self) -> bool:
        """Whether an answer can be taken: no other one is worked on, and there is a question."""
        return self._owner.turns.ready

    async def until_ready(self) -> None:
        """Wait until an answer can be taken."""
        while not self.ready:
            self._ready.clear()
            await self._ready.wait()

    def speculate(self, turn_key: str, transcript: SpokenTranscript) -> None:
        """This is the answer if nothing follows: begin its turn, if that is wanted and nothing is in the way."""
        self.discard_speculation()
        session, wanted = self.session, self.services.speech.speculates(self.session.configuration) == "turn"
        if wanted and not self._reviewed and transcript.text and self.ready and not rules.is_held(session.state):
            self._speculative = SpeculativeTurn(
                transcript.answer(turn_key),
                self._owner.turns.decide,
                session.services.speculation,
                session.ledger.calls,
                session.state.turn_count + 1,
            )
            self._speculative.begin(self._owner.tasks)

    def discard_speculation(self) -> None:
        """Discard the speculative turn: the answer goes on, or comes to nothing."""
        if self._speculative is not None:
            self._speculative.discard()
            self._speculative = None

    # After the end of an answer, while it may still go on

    async def linger(
        self,
        turn_key: str,
        transcript: SpokenTranscript,
        sound: AnswerSound,
        *,
        early: bool,
        done: Callable[[], None],
    ) -> bool:
        """The answer is over unless its speaker goes on: make its question meanwhile, and read it once more.

        Args:
            turn_key: the client's key.
            transcript: of the answer.
            sound: of the answer, where such is kept.
            early: some of it was said before an answer could be taken.
            done: called when the question is made, or will not be.

        Returns:
            Whether there is such a time; if not, the answer is over.
        """
        await self.withdraw()
        session, pending = self.session, self.session.ledger.pending
        if self.services.settings.reopen_s <= 0 or self._reviewed or (early and pending is not None):
            return False
        answer = transcript.answer(turn_key)
        try:
            rules.check_turn(session.state, session.configuration)
        except SessionProblem:
            return False
        if not rules.is_held(session.state):
            self._rehearse(answer, done)
        elif await session.pipeline.is_urgent(session.state, answer):
            return False
        # Where this machine computes the question, nothing may delay that.
        computed = self._rehearsal if not session.configuration.prompts else None
        self._readings.begin(transcript, sound, None if computed is None else computed.over)
        caption = TranscriptPartial(text=transcript.text, stable=len(transcript.text))
        session.audience.transcript = caption
        await session.audience.broadcast(caption)
        left_ms = int(self.services.settings.reopen_s * 1000)
        await session.audience.broadcast(AnswerEnding(turn_key=turn_key, left_ms=left_ms))
        return True

    def _rehearse(self, answer: Answer, done: Callable[[], None]) -> None:
        session = self.session
        speculative, self._speculative = self._speculative, None
        if session.state.directives or not session.worker.able:
            if speculative is not None:
                speculative.discard()
            return
        if self._question is None:
            self._question = session.audience.begin_question(1)
        else:
            session.audience.go_on_with(self._question)
        self._rehearsal = Rehearsal(session, answer, self._question, speculative)
        self._rehearsal.begin(self._owner.tasks, done)

    def closes(self, lingered_s: float, *, read_aloud: bool) -> bool:
        """Whether an answer is over after so many seconds without speech since its end.

        While the question is being made, or read aloud, there is more time. An alert of care does not wait.
        """
        rehearsal = self._rehearsal
        if rehearsal is not None and rehearsal.alarming:
            return True
        settings = self.services.settings
        if lingered_s < settings.reopen_s:
            return False
        making = rehearsal is not None and rehearsal.running
        return not (making or read_aloud) or lingered_s >= settings.reopen_s + LONGEST_WAIT_S

    async def withdraw(self) -> None:
        """The speaker goes on after the end: what was begun is void."""
        self._readings.give_up()
        rehearsal, self._rehearsal = self._rehearsal, None
        if rehearsal is not None:
            await rehearsal.withdraw()

    def reopened(self) -> None:
        """The answer goes on after its end: from now on this respondent's pauses may be longer."""
        self._reopened = True
        self._more_ms = min(MOST_MORE_MS, self._more_ms + REOPENED_MS)

    def _settle_patience(self, heard: HeardAnswer) -> None:
        """An answer is over: patience that grew shrinks slowly again."""
        if heard.ended_by == "silence" and heard.transcript.text and not self._reopened:
            self._more_ms = max(0, self._more_ms - ENDED_MS)
        self._reopened = False

    def is_echo(self, text: str) -> bool:
        """Whether that is nothing but words of a question that may be read aloud: the open one, or the next."""
        question, following = self.session.state.question, self._question
        written = following.written() if following is not None else None
        may_be_read = (question.text if question is not None else "", written[1] if written is not None else "")
        return any(asked and is_echo(text, asked) for asked in may_be_read)

    def count_missed(self) -> None:
        """There was a sound without words in an answer that goes on."""
        self.services.on_answer(SpokenAnswerMeasure(self.session.session_id, "missed", "silence"))

    # Offers

    @property
    def _reviewed(self) -> bool:
        """Whether transcripts are reviewed before they are sent."""
        wish = self.session.settings.get("review_transcript")
        return self.session.configuration.concept.review_transcript if wish is None else bool(wish)

    def forget_offer(self) -> None:
        """The respondent begins anew."""
        self.session.audience.transcript = None
        self._owner.turns.offered = self._offered = None

    async def _offer(self, heard: HeardAnswer) -> None:
        """Let the respondent review, edit and send it."""
        self.discard_speculation()
        text = heard.transcript.text
        message = TranscriptPartial(text=text, stable=len(text), turn_key=heard.turn_key)
        self._owner.turns.offered = heard.transcript.answer(heard.turn_key)
        self._offered = heard.turn_key, heard.sound
        self.session.audience.transcript = message
        await self.session.audience.broadcast(message)

    # The end

    async def conclude(self, heard: HeardAnswer) -> None:
        """Make a turn of it, offer it, or say that nothing was heard."""
        self._settle_patience(heard)
        try:
            self._report(heard, await self._outcome(heard))
        finally:
            await self.withdraw()
            self._question = None

    async def _outcome(self, heard: HeardAnswer) -> SpokenOutcome:
        broadcast = self.session.audience.broadcast
        if heard.error:
            log.warning("speech.failed", session=self.session.session_id, reason=heard.error)
        if heard.ended_by == "too_long":
            told = "The longest answer is reached. What was said up to here is taken."
            await broadcast(Error.of("audio_too_long", told, ref=heard.turn_key))
        if not heard.transcript.text:
            self.discard_speculation()
            if heard.error:
                return "failed"
            await broadcast(Notice.of("didnt_catch"))
            return "nothing"
        if heard.error or heard.damaged or self._reviewed or self._would_displace(heard):
            await self._offer(heard)
            return "offered"
        return "answer" if await self._submit(heard) else "offered"

    def _would_displace(self, heard: HeardAnswer) -> bool:
        """Whether it was said before another answer's turn failed, and would replace that answer unasked."""
        pending = self.session.ledger.pending
        return heard.early and pending is not None and pending.failed and pending.turn_key != heard.turn_key

    async def _submit(self, heard: HeardAnswer) -> bool:
        speculative, self._speculative = self._speculative, None
        rehearsal, self._rehearsal = self._rehearsal, None
        reading = self._readings.hand_over()
        key = heard.turn_key
        event = heard.transcript.event(key, heard.last_seq)
        try:
            answer = heard.transcript.answer(key)
            handle = self._owner.turns.begin(
                answer,
                first=(event,),
                speculative=speculative,
                rehearsal=rehearsal,
                second_reading=None if reading is None else reading.take,
            )
            if reading is not None and handle.second_reading != reading.take:
                reading.give_up()
            if rehearsal is not None and handle.rehearsal is not rehearsal:
                await rehearsal.withdraw()
            await handle.accepted()
        except (SessionProblem, HotError) as exc:
            if speculative is not None:
                speculative.discard()
            if rehearsal is not None:
                await rehearsal.withdraw()
            if reading is not None:
                reading.give_up()
            await self.session.audience.broadcast(error_frame(exc, ref=key))
            await self._offer(heard)
            return False
        self._record(key, heard.sound)
        return True

    async def submit_upload(self, turn_key: str, transcript: SpokenTranscript, pcm: bytes) -> Receipt:
        """Make a turn of an uploaded recording; returns when it is committed. Raises as `SessionOwner.submit`."""
        recorded = rules.may_record(self.session.state, self.session.configuration)
        event = transcript.event(turn_key, None)
        handle = self._owner.turns.begin(transcript.answer(turn_key), first=(event,))
        await handle.accepted()
        self._record(turn_key, lambda: pcm if recorded else b"")
        return await handle.committed()

    def _record(self, turn_key: str, sound: Callable[[], bytes]) -> None:
        """Have the sound of an answer stored, where that was agreed to."""
        if self.services.recorder is not None:
            number = self.session.state.turn_count + 1
            self.services.recorder.keep(self.session.session_id, number, turn_key, sound())

    def _report(self, heard: HeardAnswer, outcome: SpokenOutcome) -> None:
        clock, spoken_at = self.session.services.clock, heard.spoken_at
        measure = SpokenAnswerMeasure(
            session_id=self.session.session_id,
            outcome=outcome,
            ended_by=heard.ended_by,
            audio_s=heard.audio_s,
            words=len(heard.transcript.words),
            final_ms=None if spoken_at is None else ((heard.ended_at or clock()) - spoken_at) * 1000.0,
            waited_ms=None if heard.ended_at is None else (clock() - heard.ended_at) * 1000.0,
            reopened=heard.reopened,
        )
        log.info(
            "speech.ended",
            session=measure.session_id,
            outcome=outcome,
            ended_by=measure.ended_by,
            audio_s=round(measure.audio_s, 2),
            words=measure.words,
            final_ms=None if measure.final_ms is None else round(measure.final_ms, 1),
            waited_ms=None if measure.waited_ms is None else round(measure.waited_ms, 1),
            reopened=measure.reopened,
        )
        self.services.on_answer(measure)

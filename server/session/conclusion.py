"""What comes of a spoken answer: a turn, an offer to look at it, or a word that it was not understood.

The deciding half of the turn may have run on a guess by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from audio.types import RATE_HZ
from pipeline.concept import SessionConfiguration
from pipeline.context import TurnContext
from pipeline.ports import QuestionSink
from pipeline.state import Receipt
from pipeline.turn import Answer, answer_digest
from server.hot.errors import HotError
from server.protocol.outbound import Error, Notice, TranscriptPartial
from server.session import machine
from server.session.audience import Audience
from server.session.ledger import Ledger
from server.session.measure import HeardMeasure, HeardOutcome
from server.session.problems import SessionProblem, error_frame
from server.session.said import Said
from server.session.speculation import Guess
from server.session.spoken import Fate, SpokenAnswer
from server.session.surroundings import Surroundings
from server.session.turns import TurnHandle

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
    """A spoken answer that the respondent may look at, correct and send; `sound` is to be kept with it."""

    answer: Answer
    message: TranscriptPartial
    sound: Callable[[], bytes]


class Conclusion:
    """Ends the spoken answers of one session.

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
        self._ledger = ledger
        self._configuration = configuration
        self._audience = audience
        self._host = host
        self._guess: Guess | None = None
        self._offer: Offer | None = None

    # Guesses

    def guessed(self, turn_key: str, said: Said, tasks: asyncio.TaskGroup) -> None:
        """Work out what the answer would lead to, if that is wanted and nothing is in the way."""
        self.withdrawn()
        wanted = self._around.voice.speculates(self._configuration) == "turn" and not self._reviewed
        if wanted and said.text and not self._host.engaged and not machine.held(self._ledger.state):
            ledger, lanes = self._ledger, self._around.lanes
            number = ledger.state.turn_count + 1
            self._guess = Guess(said.answer(turn_key), self._host.decide, lanes, ledger.calls, number)
            self._guess.begin(tasks)

    def withdrawn(self) -> None:
        """The last guess does not count."""
        if self._guess is not None:
            self._guess.withdraw()
            self._guess = None

    # Offers

    @property
    def offered(self) -> TranscriptPartial | None:
        """The answer that the respondent may look at, if there is one."""
        return self._offer.message if self._offer is not None else None

    def forget_offer(self) -> None:
        """The respondent begins anew."""
        self._offer = None

    def as_offered(self, answer: Answer) -> Answer | None:
        """An answer in writing as what it is if it was offered; None if it was not."""
        offer = self._offer
        if offer is None or offer.answer.turn_key != answer.turn_key:
            return None
        if answer_digest(offer.answer) == answer_digest(answer):
            return offer.answer
        return Answer(answer.turn_key, answer.text, spoken=True, speech_ms=offer.answer.speech_ms)

    def took(self, turn_key: str) -> None:
        """An answer was taken; an offer is settled by it."""
        offer, self._offer = self._offer, None
        if offer is not None and offer.answer.turn_key == turn_key:
            self._record(turn_key, offer.sound)

    async def _make_offer(self, answer: SpokenAnswer) -> None:
        self.withdrawn()
        text = answer.said.text
        message = TranscriptPartial(text=text, stable=len(text), turn_key=answer.turn_key)
        self._offer = Offer(answer.said.answer(answer.turn_key), message, answer.sound)
        await self._audience.broadcast(message)

    # The end

    @property
    def _reviewed(self) -> bool:
        wish = self._ledger.state.settings.get("review_transcript")
        return self._configuration.concept.review_transcript if wish is None else bool(wish)

    async def conclude(self, answer: SpokenAnswer, fate: Fate) -> None:
        """Make of it what it is."""
        self._report(answer, fate, await self._outcome(answer, fate))

    async def _outcome(self, answer: SpokenAnswer, fate: Fate) -> HeardOutcome:
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
        if answer.error or answer.damaged or self._reviewed or self._would_displace(answer):
            await self._make_offer(answer)
            return "offered"
        return "answer" if await self._submit(answer) else "offered"

    def _would_displace(self, answer: SpokenAnswer) -> bool:
        """Whether it was said before another answer's turn failed, and would take that one's place unasked."""
        pending = self._ledger.pending
        early = answer.early or answer.waited
        return early and pending is not None and pending.failed and pending.turn_key != answer.turn_key

    async def _submit(self, answer: SpokenAnswer) -> bool:
        guess, self._guess = self._guess, None
        key = answer.turn_key
        event = answer.said.event(key, answer.last_seq)
        try:
            handle = self._host.begin(answer.said.answer(key), first=(event,), guess=guess)
            await handle.accepted()
        except (SessionProblem, HotError) as exc:
            if guess is not None:
                guess.withdraw()
            await self._audience.broadcast(error_frame(exc, ref=key))
            await self._make_offer(answer)
            return False
        self._record(key, answer.sound)
        return True

    async def submit_recording(self, turn_key: str, said: Said, pcm: bytes) -> Receipt:
        """Make a turn of a whole recording; returns when it is committed. Raises as `SessionOwner.submit`."""
        recorded = machine.may_record(self._ledger.state, self._configuration)
        handle = self._host.begin(said.answer(turn_key), first=(said.event(turn_key, None),))
        await handle.accepted()
        self._record(turn_key, lambda: pcm if recorded else b"")
        return await handle.committed()

    def _record(self, turn_key: str, sound: Callable[[], bytes]) -> None:
        """Keep the sound of an answer that was taken, where that was agreed to."""
        self._around.recorder.keep(self._ledger.session_id, self._ledger.state.turn_count + 1, turn_key, sound())

    def _report(self, answer: SpokenAnswer, fate: Fate, outcome: HeardOutcome) -> None:
        spoke_at = answer.places.arrived(answer.speech_end) if answer.said.text else None
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

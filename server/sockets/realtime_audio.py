"""What a Realtime client says aloud, as spoken answers of the session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import uuid4

from audio.types import RATE_HZ
from server.protocol.base import Message
from server.protocol.codec import SAMPLE_BYTES, AudioFrame, ProtocolProblem
from server.protocol.codes import CLOSE_POLICY
from server.protocol.inbound import AudioStart
from server.protocol.outbound import Error
from server.realtime.audio import AudioBudget, RateConverter, decoded, pieces, seconds_of
from server.realtime.conversation import Conversation, HearingDropped, HearingEnded, PlainEvent
from server.realtime.hearing import position_ms
from server.realtime.problems import RealtimeProblem
from server.session.context import TAKE_YOUR_TIME
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem, error_frame
from server.speech.listening import Listening

HELD_S: Final = 30.0
"""Audio that may wait until the answer before it is heard to its end."""
LOOK_AGAIN_S: Final = 0.25
"""How often it is tried to listen to what waits."""
TRY_AGAIN_S: Final = 5.0
"""Audio after which it is tried again to listen, where that was refused."""
RENEW_S: Final = 1.0
"""Audio after which silences are let pass anew, where the client says when an answer is complete."""
REMEMBERED_FRAMES: Final = 512
"""More than is kept after an answer for the next one."""
TOO_MUCH: Final = "That was too much audio at once. Send it as it is spoken."


class SpokenInput:
    """The audio of one connection.

    Answers begin with the first audio. They end by silence or by the client's word; what comes after that belongs to
    the next one.

    Args:
        owner: of the session.
        talk: the conversation.
        listening: what listens to the respondent.
        send: sends a message to the client, in its turn.
        refuse: tells the client of an error.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        owner: SessionOwner,
        talk: Conversation,
        listening: Callable[[], Listening],
        send: Callable[[Message], Awaitable[None]],
        refuse: Callable[[Error], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self._session = owner.context
        self._talk = talk
        self._listening = listening
        self._send = send
        self._refuse = refuse
        self._budget = AudioBudget(clock)
        self._rate_hz = talk.settings.rate_hz
        self._converter = RateConverter(self._rate_hz)
        self._next = self._session.audience.first_unreceived_seq
        self._samples = 0
        self._frames: deque[tuple[int, int]] = deque(maxlen=REMEMBERED_FRAMES)
        """Numbers of the latest frames, and where they begin in all audio, in samples."""
        self._renewed_at = 0
        self._held: deque[bytes | None] = deque()
        """Audio that waits, in order; None: the client has said that an answer is complete."""
        self._changed = asyncio.Event()
        self._order = asyncio.Lock()
        self._refused = ""
        """Why it was refused to listen last, as a code."""
        self._refused_bytes = 0
        """How much audio came since; negative: try again with the next."""

    def change(self) -> None:
        """Another answer may begin that could not before."""
        self._refused_bytes = -1
        self._changed.set()

    # What the client does

    async def append(self, audio: str, event_id: str | None) -> None:
        """The next audio, in base64.

        Raises:
            ProtocolProblem: it can't be taken.
        """
        if self._rate_hz != self._talk.settings.rate_hz:
            self._put(self._converter.rest())
            self._rate_hz = self._talk.settings.rate_hz
            self._converter = RateConverter(self._rate_hz)
        if not self._budget.take(seconds_of(audio, self._rate_hz)):
            raise ProtocolProblem("rate_limited", TOO_MUCH, close_code=CLOSE_POLICY)
        pcm = self._converter.convert(decoded(audio))
        if sum(map(len, filter(None, self._held))) + len(pcm) > HELD_S * RATE_HZ * SAMPLE_BYTES:
            raise ProtocolProblem("rate_limited", TOO_MUCH, close_code=CLOSE_POLICY)
        self._put(pcm)
        if not await self._listen(event_id):
            self._changed.set()

    async def complete(self, event_id: str | None) -> None:
        """The answer is complete.

        Raises:
            RealtimeProblem: there is none.
        """
        rest, heard = self._converter.rest(), self._talk.heard
        if not any(self._held) and (heard is None or heard.ended):
            self._held.clear()
            told = "There is no audio that could be an answer."
            if self._refused:
                told += " What was sent was not listened to; see the error before this one."
            raise RealtimeProblem("input_audio_buffer_commit_empty", told)
        self._put(rest)
        self._held.append(None)
        await self._listen(event_id)

    async def clear(self) -> None:
        """Discard the answer."""
        self._converter.rest()
        self._held.clear()
        heard = self._talk.heard
        if heard is not None and not heard.ended:
            # It may be over: the client does not know that yet.
            with suppress(ProtocolProblem):
                self._listening().cancel()
            await self._send(HearingDropped())
        self._refused, self._refused_bytes = "", 0
        await self._send(PlainEvent(name="input_audio_buffer.cleared"))

    # Listening

    async def listen_on(self) -> None:
        """Listen to what waits for the end of the answer before it."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._held and not await self._listen_again():
                try:
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await self._changed.wait()
                except TimeoutError:
                    pass
                self._changed.clear()

    async def _listen_again(self) -> bool:
        try:
            return await self._listen(None)
        except SessionProblem:
            # The session is leaving this node, and the connection with it.
            return True

    def _put(self, pcm: bytes) -> None:
        if pcm:
            self._held.append(pcm)

    async def _listen(self, event_id: str | None) -> bool:
        """Whether nothing waits any more. Raises Moved."""
        async with self._order:
            return await self._listen_in_order(event_id)

    async def _listen_in_order(self, event_id: str | None) -> bool:
        while self._held:
            heard, item = self._talk.heard, self._held[0]
            if item is None:
                self._held.popleft()
                if heard is not None and not heard.ended:
                    await self._end()
                continue
            may_begin = heard is None or heard.ended or heard.failing or heard.unsure
            if may_begin and not await self._begin(event_id) and (heard is None or heard.ended):
                return False
            if self._held and self._held[0] is item:
                self._held.popleft()
                await self._feed(item)
        return True

    async def _begin(self, event_id: str | None) -> bool:
        """Begin an answer; whether it is listened to. What waits is forgotten where that is refused."""
        if self._refused and 0 <= self._refused_bytes < TRY_AGAIN_S * RATE_HZ * SAMPLE_BYTES:
            self._forget()
            return False
        turn_key = str(uuid4())
        wish = AudioStart(
            type="audio.start", codec="pcm_s16le", sample_rate=16_000, turn_key=turn_key, first_seq=self._next
        )
        ref = self._talk.remember(event_id, turn_key)
        try:
            self._listening().start(wish)
        except SessionProblem as problem:
            heard = self._talk.heard
            if problem.code == "turn_in_progress" and heard is not None:
                # It goes on.
                heard.unsure = False
                return False
            self._forget()
            if problem.code != self._refused:
                self._refused = problem.code
                await self._refuse(error_frame(problem, ref=ref))
            return False
        self._refused, self._refused_bytes = "", 0
        self._talk.begin_hearing(turn_key, position_ms(self._first_sample()))
        self._let_silences_pass()
        return True

    def _first_sample(self) -> int:
        """Where an answer begins that begins now: with what came after the end of the last one."""
        until, self._talk.heard_until = self._talk.heard_until, None
        if until is None:
            return self._samples
        return next((start for number, start in self._frames if number > until), self._samples)

    def _forget(self) -> None:
        """Nobody listens: audio up to the next word of the client that an answer is complete goes nowhere."""
        self._refused_bytes = max(self._refused_bytes, 0)
        while self._held:
            item = self._held.popleft()
            if item is not None:
                self._refused_bytes += len(item)

    async def _feed(self, pcm: bytes) -> None:
        listening, audience = self._listening(), self._session.audience
        for piece in pieces(pcm):
            try:
                told = listening.take(AudioFrame(self._next, piece))
            except ProtocolProblem:
                # The answer was given in writing meanwhile.
                await self._send(HearingDropped())
                return
            if told is not None:
                heard = self._talk.heard
                await self._refuse(told.model_copy(update={"ref": heard.turn_key if heard else None}))
            if audience.first_unreceived_seq <= self._next:
                # It was not taken: its number goes to the next one.
                return
            self._frames.append((self._next, self._samples))
            self._next += 1
            self._samples += len(piece) // SAMPLE_BYTES
        if self._samples - self._renewed_at >= RENEW_S * RATE_HZ:
            self._let_silences_pass()

    def _let_silences_pass(self) -> None:
        self._renewed_at = self._samples
        if self._talk.settings.commits:
            self._session.request_settings({TAKE_YOUR_TIME: True})

    async def _end(self) -> None:
        told = None
        with suppress(ProtocolProblem):
            told = self._listening().stop()
        if told is not None:
            await self._refuse(told)
        await self._send(HearingEnded())

"""The small parts of listening: words, timeline, frames, what is kept, room for guesses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.errors import AudioGap
from audio.types import Word
from pipeline.calls import CallLog, record_call
from pipeline.context import TurnContext
from pipeline.state import InterviewState
from pipeline.turn import Answer, answer_digest
from server.hot.values import Pending
from server.protocol.codec import AudioFrame
from server.session.ledger import answer_of, answer_payload
from server.session.speculation import SpeculationLimiter, SpeculativeTurn
from server.speech.frames import AudioPiece, AudioTimeline, FrameIntake, KeptAudio
from server.speech.transcript import SpokenTranscript
from tests.support.fakes_session import a_call, eventually
from tests.support.interview import NOW, Listener, configuration, new_state
from tests.support.patience import PATIENCE_S

HZ = 16_000


def word(text: str, start_s: float, end_s: float, probability: float = 0.8) -> Word:
    return Word(text, int(start_s * HZ), int(end_s * HZ), probability)


# Words


def test_said_joins_pieces_and_moves_their_words() -> None:
    said = (
        SpokenTranscript()
        .plus("  it is ", [word("it", 0, 0.5), word("is", 0.5, 1, 0.6)], 0)
        .plus("warm", [word("warm", 0.5, 1)], 2 * HZ)
    )
    assert said.text == "it is warm"
    assert [w.start / HZ for w in said.words] == [0, 0.5, 2.5]
    answer = said.answer("k")
    assert (answer.text, answer.spoken, answer.speech_ms) == ("it is warm", True, 3000)
    assert answer.confidence == pytest.approx((0.8 + 0.6 + 0.8) / 3, abs=1e-3)


def test_said_without_words_keeps_the_text() -> None:
    answer = SpokenTranscript().plus("only text", (), 0).answer("k")
    assert (answer.confidence, answer.speech_ms, answer.spoken) == (None, None, True)


def test_said_of_blanks_is_nothing() -> None:
    assert SpokenTranscript().plus(" \n", [], 0) == SpokenTranscript()


def test_event_of_said_tells_words_in_milliseconds() -> None:
    event = SpokenTranscript().plus("hm", [word(" hm", 0.25, 0.75, 0.51234)], HZ).event("k", 7)
    assert event == {
        "type": "transcript.final",
        "turn_key": "k",
        "text": "hm",
        "words": [{"text": "hm", "start_ms": 1250, "end_ms": 1750, "confidence": 0.512}],
        "last_seq": 7,
    }


def test_answer_that_waits_to_be_run_stays_a_spoken_one() -> None:
    spoken = Answer("k", "warm", spoken=True, confidence=0.5, speech_ms=700)
    assert answer_of(Pending("k", answer_payload(spoken), "d", 1, False, 1)) == spoken
    assert "spoken" not in json.loads(answer_payload(Answer("k", "warm")))
    assert answer_digest(spoken) == answer_digest(Answer("k", "warm"))


def test_state_of_an_older_version_is_read_and_written_as_this_one() -> None:
    old = json.loads(new_state().dump())
    for utterance in old["utterances"]:
        del utterance["spoken"], utterance["confidence"], utterance["speech_ms"]
    state = InterviewState.load(json.dumps({**old, "version": 1}).encode())
    assert state == new_state()


# AudioTimeline


def test_places_know_frames_and_moments() -> None:
    timeline = AudioTimeline()
    for number in range(4):
        timeline.add(10 + number, 100, at=float(number))
    assert timeline.end == 400
    assert [timeline.last_before(place) for place in (0, 99, 100, 250, 400)] == [None, None, 10, 11, 13]
    assert [timeline.arrived(place) for place in (0, 99, 100, 399, 400)] == [0.0, 0.0, 1.0, 3.0, None]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_cut_audio_is_what_was_put_in_by_frames(sizes: list[int], data: st.DataObject) -> None:
    timeline, pcm, first = AudioTimeline(), b"", 5
    for number, size in enumerate(sizes):
        timeline.add(first + number, size, at=0.0)
        pcm += bytes([number + 1]) * 2 * size
    place = data.draw(st.integers(0, sum(sizes)))
    pieces = timeline.cut(place, pcm[place * 2 :])
    assert b"".join(piece.pcm for piece in pieces) == pcm[place * 2 :]
    for piece in pieces:
        assert set(piece.pcm) == {piece.sequence - first + 1}
        assert piece.located


# Frames


def frame(number: int) -> AudioFrame:
    return AudioFrame(number, bytes([number % 256, 0]))


@given(st.permutations(list(range(12))))
def test_frames_in_any_order_come_out_in_order(order: list[int]) -> None:
    intake, out = FrameIntake(), b""
    for number in [*order, *order]:
        piece = intake.put(frame(number))
        out += piece.pcm if piece is not None else b""
    assert out == b"".join(frame(number).pcm for number in range(12))
    assert intake.first_unreceived == 12
    assert not intake.gap


def test_frame_that_stays_away_is_a_gap_that_heals() -> None:
    intake = FrameIntake()
    intake.put(frame(0))
    for number in range(2, 60):
        assert intake.put(frame(number)) is None
    with pytest.raises(AudioGap):
        intake.put(frame(200))
    assert intake.gap
    assert intake.first_unreceived == 1
    piece = intake.put(frame(1))
    assert piece is not None
    assert piece.sequence == intake.first_unreceived - 1
    assert not intake.gap


def test_intake_begins_anew_at_a_lower_number() -> None:
    """A page that lost its memory counts from 0 again."""
    intake = FrameIntake()
    for number in range(5):
        intake.put(frame(number))
    assert intake.begin(0) is None
    piece = intake.put(frame(0))
    assert piece == AudioPiece(0, frame(0).pcm)


def test_kept_audio_is_the_latest() -> None:
    kept = KeptAudio(seconds=1.0)
    for number in range(5):
        kept.put(AudioPiece(number, b"\1\0" * (HZ // 2)))
    assert [piece.sequence for piece in kept.take()] == [3, 4]
    assert kept.take() == []


def test_kept_audio_is_handed_out_from_a_frame_on() -> None:
    kept = KeptAudio(seconds=10.0)
    for number in range(5):
        kept.put(AudioPiece(number, b"\1\0"))
    assert [piece.sequence for piece in kept.take(3)] == [3, 4]
    assert kept.take() == []


# Guesses


async def test_speculative_turns_wait_for_confirmed_work_and_not_the_other_way_round() -> None:
    limiter, begun = SpeculationLimiter(most=1), asyncio.Event()

    async def turn() -> None:
        async with limiter.speculative():
            begun.set()

    async with asyncio.TaskGroup() as tasks:
        with limiter.certain(), limiter.certain():
            tasks.create_task(turn())
            await asyncio.sleep(0.01)
            assert not begun.is_set()
        async with asyncio.timeout(PATIENCE_S):
            await begun.wait()


def context_of(state: InterviewState, answer: Answer) -> TurnContext:
    return TurnContext(state, answer, configuration(), NOW, Listener(), {})


class Decider:
    """Decides on demand; each decision costs a call."""

    def __init__(self, state: InterviewState) -> None:
        self.state = state
        self.gate = asyncio.Event()
        self.begun = 0

    async def __call__(self, answer: Answer, sink: Any) -> TurnContext:
        self.begun += 1
        record_call(a_call("scoring", "rating"))
        await self.gate.wait()
        return context_of(self.state, answer)


async def test_speculative_turn_that_waits_for_room_is_given_up_when_the_answer_is_certain() -> None:
    state, limiter, log, answer = new_state(), SpeculationLimiter(most=1), CallLog(), Answer("k", "yes")
    decide = Decider(state)
    async with asyncio.TaskGroup() as tasks:
        with limiter.certain():
            turn = SpeculativeTurn(answer, decide, limiter, log, 1)
            turn.begin(tasks)
            assert await turn.confirmed(state, answer) is None
    assert (decide.begun, log.peek()) == (0, ())


async def test_speculative_turn_of_another_answer_is_discarded_and_paid_for() -> None:
    state, log = new_state(), CallLog()
    decide = Decider(state)
    decide.gate.set()
    async with asyncio.TaskGroup() as tasks:
        turn = SpeculativeTurn(Answer("k", "yes"), decide, SpeculationLimiter(), log, 1)
        turn.begin(tasks)
        await eventually(lambda: decide.begun == 1)
        await asyncio.sleep(0)
        assert await turn.confirmed(state, Answer("k", "no")) is None
    assert [call.outcome for call in log.peek()] == ["discarded"]


async def test_speculative_turn_withdrawn_while_it_runs_is_cancelled_and_paid_for() -> None:
    state, log = new_state(), CallLog()
    decide = Decider(state)
    async with asyncio.TaskGroup() as tasks:
        turn = SpeculativeTurn(Answer("k", "yes"), decide, SpeculationLimiter(), log, 1)
        turn.begin(tasks)
        await eventually(lambda: decide.begun == 1)
        turn.discard()
        turn.discard()
    assert [call.outcome for call in log.peek()] == ["discarded"]


async def test_confirmed_speculative_turn_hands_its_decision_and_its_calls_over_once() -> None:
    state, log, answer = new_state(), CallLog(), Answer("k", "yes")
    decide = Decider(state)
    async with asyncio.TaskGroup() as tasks:
        turn = SpeculativeTurn(answer, decide, SpeculationLimiter(), log, 1)
        turn.begin(tasks)
        await eventually(lambda: decide.begun == 1)
        decide.gate.set()
        context = await turn.confirmed(state, answer)
        assert context is not None
        assert context.answer == answer
        assert await turn.confirmed(state, answer) is None
        turn.discard()
    assert [(call.outcome, call.turn_number) for call in log.peek()] == [("completed", 1)]


async def test_speculative_turn_whose_waiting_is_cancelled_leaves_with_it() -> None:
    state, log, answer = new_state(), CallLog(), Answer("k", "yes")
    decide = Decider(state)
    async with asyncio.TaskGroup() as tasks:
        turn = SpeculativeTurn(answer, decide, SpeculationLimiter(), log, 1)
        turn.begin(tasks)
        await eventually(lambda: decide.begun == 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await turn.confirmed(state, answer)
    assert [call.outcome for call in log.peek()] == ["discarded"]

"""For any sizes of chunks and delays of transcriptions: the same events and words, none lost or doubled."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audio.endpoint import FRAME_SAMPLES, SPEECH_ON, Patience
from audio.types import RATE_HZ, AnswerEnded, ProvisionalTranscript, ProvisionalWithdrawn, SpeechStarted, SpeechStopped
from audio.windows import MAX_TRANSCRIBED_FRAMES
from tests.audio.scripted_speech import Command, Performance, Script, perform, script

VOCABULARY = ("tea", "milk.", "and", "very", "because", "no,", "so", "um", "Ann's", "done.")
PATIENCES: tuple[Patience, ...] = ("quick", "normal", "patient")
words = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=14).map(" ".join)
silences = st.floats(0.03, 4.0)
sounds = st.integers(1, 25).map(lambda frames: f"*{frames}")
parts = st.lists(st.one_of(words, words, silences, silences, sounds), min_size=1, max_size=10)
scripts = st.builds(lambda some, frames: script(*some, word_frames=frames), parts, st.integers(4, 14))
long_scripts = st.builds(
    lambda some, frames: script(*some, word_frames=frames),
    st.lists(st.one_of(words, words, words, st.floats(0.03, 0.7)), min_size=8, max_size=20),
    st.integers(8, 20),
)
breathless = st.builds(
    lambda some, frames: script(*some, word_frames=frames),
    st.lists(
        st.one_of(st.lists(st.sampled_from(VOCABULARY), min_size=60, max_size=120).map(" ".join), st.floats(0.03, 0.7)),
        min_size=1,
        max_size=4,
    ),
    st.integers(9, 20),
)
chunkings = st.lists(st.integers(100, 5000), min_size=1, max_size=5)
limits = st.sampled_from([None, 2.0, 7.0, 12.0])
delays = st.lists(st.integers(0, 3 * RATE_HZ), min_size=1, max_size=5)
judgements = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=4)
EXAMPLES = int(os.environ.get("ASKWELL_TEST_EXAMPLES", "30"))
lenient = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def commanded(draw: st.DrawFn, answer: Script) -> Mapping[int, Command]:
    """Commands before some samples of an answer."""
    places = draw(st.lists(st.integers(0, len(answer.samples)), max_size=3, unique=True))
    kinds: list[Command] = [
        lambda machine: machine.stop(),
        lambda machine: machine.hold(2 * RATE_HZ),
        lambda machine: machine.set_patience("quick"),
        lambda machine: machine.set_patience("patient"),
    ]
    return {place: draw(st.sampled_from(kinds)) for place in places}


@lenient
@given(
    data=st.data(), answer=scripts, patience=st.sampled_from(PATIENCES), limit=st.sampled_from([None, 2.0, 7.0, 12.0])
)
def test_events_are_the_same_for_any_chunks_delays_and_orders(
    data: st.DataObject, answer: Script, patience: Patience, limit: float | None
) -> None:
    commands = data.draw(commanded(answer))
    finished = data.draw(judgements)
    plain = perform(answer, commands=commands, finished=finished, patience=patience, max_answer_s=limit)
    other = perform(
        answer,
        chunks=data.draw(chunkings),
        delays=data.draw(delays),
        commands=commands,
        finished=finished,
        patience=patience,
        max_answer_s=limit,
        partial_every_ms=data.draw(st.sampled_from([0, 200, 1000])),
    )
    assert other.decisive == plain.decisive
    assert other.left == plain.left
    consistent(plain, answer)
    consistent(other, answer)


@lenient
@given(answer=st.one_of(long_scripts, breathless), late=delays)
def test_words_of_a_long_answer_are_each_there_once(answer: Script, late: list[int]) -> None:
    done = perform(answer, delays=late, patience="patient", max_answer_s=None)
    ended = done.ended
    assert ended.text == answer.said_before(ended.speech_end // FRAME_SAMPLES)
    assert ended.text == " ".join(word.text for word in ended.words)
    assert [word.start for word in ended.words] == sorted(word.start for word in ended.words)
    assert max((len(frames) for _, frames in done.reads), default=0) <= MAX_TRANSCRIBED_FRAMES


@lenient
@given(answer=scripts, chunks=chunkings, late=delays)
def test_frames_with_speech_are_read_or_left_for_the_next_answer(
    answer: Script, chunks: list[int], late: list[int]
) -> None:
    done = perform(answer, chunks=chunks, delays=late, partial_every_ms=0)
    ended = done.ended
    consistent(done, answer)
    read = {frame for _, frames in done.reads for frame in frames}
    if done.left:
        assert ended.speech_end <= done.left[0] * FRAME_SAMPLES <= ended.at
    spoken = {n for word in answer.words for n in range(word.first, word.end) if answer.probabilities[n] >= SPEECH_ON}
    assert spoken <= read | set(done.left)
    assert not spoken & read & set(done.left)


def consistent(done: Performance, answer: Script) -> None:
    """What has to hold of any row of events."""
    assert done.left == list(range(answer.frames - len(done.left), answer.frames))
    assert all(frames == sorted(set(frames)) for _, frames in done.reads)
    speaking, guess = False, None
    for event in done.events:
        if isinstance(event, SpeechStarted):
            assert not speaking
            speaking = True
        elif isinstance(event, SpeechStopped):
            assert speaking
            speaking = False
        elif isinstance(event, ProvisionalTranscript):
            assert guess is None and not speaking
            guess = event
        elif isinstance(event, ProvisionalWithdrawn):
            assert guess is not None and speaking
            guess = None
        elif isinstance(event, AnswerEnded):
            assert event.speech_end <= event.at
            if event.reason == "silence":
                assert not speaking and (event.text == guess.text if guess else event.text == "")
    assert isinstance(done.events[-1], AnswerEnded)

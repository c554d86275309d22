"""SpeechMachine: one answer, from the first word to the end."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

from audio.endpoint import COMPLETE_FACTOR, FRAME_SAMPLES, LONG_ANSWER_S, PATIENCE_MS, UNFINISHED_FACTOR, Patience
from audio.machine import SpeechMachine
from audio.types import (
    RATE_HZ,
    AnswerEnded,
    PartialTranscript,
    ProvisionalTranscript,
    ProvisionalWithdrawn,
    SpeechStarted,
    SpeechStopped,
    TimeAlmostUp,
    Transcript,
    TranscriptionFailed,
    ms,
    samples_of,
)
from tests.audio.scripted_speech import Command, Performance, Script, perform, script

FRAME_MS = FRAME_SAMPLES * 1000 / RATE_HZ
NORMAL_MS = PATIENCE_MS["normal"]
PATIENCES: tuple[Patience, ...] = get_args(Patience)
LATE = 3 * RATE_HZ


def silence_applied(done: Performance) -> int:
    """Silence that ended an answer, in ms."""
    return ms(done.ended.at - done.ended.speech_end)


def many(count: int, prefix: str = "w") -> str:
    return " ".join(f"{prefix}{n}" for n in range(count))


# -- events


def test_answer_with_a_pause_tells_what_happens_in_order() -> None:
    said = script("I like tea", 0.5, "and milk.")
    first, last = said.words[0].first, said.words[-1].end
    paused, resumed = said.words[2].end, said.words[3].first
    done = perform(said, partial_every_ms=0)
    kinds = [type(event) for event in done.events if not isinstance(event, PartialTranscript)]
    assert kinds == [
        SpeechStarted, SpeechStopped, ProvisionalTranscript, SpeechStarted, ProvisionalWithdrawn,
        SpeechStopped, ProvisionalTranscript, AnswerEnded,
    ]  # fmt: skip
    assert done.of(SpeechStarted) == [SpeechStarted(first * FRAME_SAMPLES), SpeechStarted(resumed * FRAME_SAMPLES)]
    assert done.of(SpeechStopped) == [SpeechStopped(paused * FRAME_SAMPLES), SpeechStopped(last * FRAME_SAMPLES)]
    assert done.of(ProvisionalWithdrawn) == [ProvisionalWithdrawn(resumed * FRAME_SAMPLES)]
    assert [guess.text for guess in done.of(ProvisionalTranscript) if isinstance(guess, ProvisionalTranscript)] == [
        "I like tea", "I like tea and milk.",
    ]  # fmt: skip
    assert (done.ended.text, done.ended.reason) == ("I like tea and milk.", "silence")
    assert [word.text for word in done.ended.words] == done.ended.text.split()
    assert done.ended.speech_end == last * FRAME_SAMPLES


def test_guess_is_requested_after_two_hundred_milliseconds_of_silence() -> None:
    said = script("one two.")
    done = perform(said, partial_every_ms=0)
    ((purpose, frames),) = done.reads
    assert purpose == "guess"
    assert 200 <= (frames[-1] + 1 - said.words[-1].end) * FRAME_MS < 200 + FRAME_MS
    assert frames[0] < said.words[0].first


def test_answer_fed_sample_by_sample_is_the_same() -> None:
    said = script("yes.", tail_s=1.2)
    assert perform(said, chunks=[1]).events == perform(said).events


def test_feed_with_too_few_probabilities_is_refused() -> None:
    with pytest.raises(ValueError, match="1 frames, 0 probabilities"):
        SpeechMachine().feed(np.zeros(FRAME_SAMPLES, np.int16), [])


# -- endpoints


@pytest.mark.parametrize("patience", PATIENCES)
@pytest.mark.parametrize("late", [0, LATE])
def test_silence_that_ends_an_answer_is_that_of_the_patience(patience: Patience, late: int) -> None:
    done = perform(script("It was fine."), patience=patience, delays=[late])
    assert PATIENCE_MS[patience] <= silence_applied(done) < PATIENCE_MS[patience] + FRAME_MS


def test_silence_after_an_unfinished_sentence_is_longer() -> None:
    longer = NORMAL_MS * (1 + UNFINISHED_FACTOR)
    assert longer <= silence_applied(perform(script("I bought it because"))) < longer + FRAME_MS


def test_silence_after_a_long_answer_that_is_complete_is_shorter() -> None:
    words = int(LONG_ANSWER_S / 0.32) + 1
    shorter = NORMAL_MS * COMPLETE_FACTOR
    assert shorter - 1 <= silence_applied(perform(script(many(words) + " done."))) < shorter + FRAME_MS
    assert NORMAL_MS <= silence_applied(perform(script(many(words) + " done"))) < NORMAL_MS + FRAME_MS


@pytest.mark.parametrize("patience", PATIENCES)
def test_pause_shorter_than_the_patience_does_not_end(patience: Patience) -> None:
    pause = PATIENCE_MS[patience] / 1000
    assert perform(script("one", pause - 0.1, "two."), patience=patience).ended.text == "one two."
    assert perform(script("one.", pause + 0.1, "two."), patience=patience).ended.text == "one."


def test_patience_set_while_nobody_speaks_counts_from_then() -> None:
    said = script("one.", 1.5, "two.")
    at = (said.words[0].end + 15) * FRAME_SAMPLES
    patient: Command = lambda machine: machine.set_patience("patient")  # noqa: E731
    assert perform(said, commands={at: patient}).ended.text == "one. two."
    quick: Command = lambda machine: machine.set_patience("quick")  # noqa: E731
    done = perform(said, patience="patient", commands={at + 5 * FRAME_SAMPLES: quick})
    assert done.ended.text == "one."
    assert done.ended.at == at + 6 * FRAME_SAMPLES


def test_hold_keeps_the_answer_open_and_then_lets_it_end() -> None:
    said = script("well", 6.0, "two.", tail_s=12.0)
    hold: Command = lambda machine: machine.hold(10 * RATE_HZ)  # noqa: E731
    at = said.words[0].end * FRAME_SAMPLES
    done = perform(said, commands={at: hold})
    assert done.ended.text == "well two."
    assert 0 <= done.ended.at - at - 10 * RATE_HZ < FRAME_SAMPLES
    assert perform(said, commands={at: hold}, delays=[LATE]).decisive == done.decisive


def test_hold_that_is_over_leaves_the_patience_as_it_was() -> None:
    said = script("one.", 0.2, "two.")
    done = perform(said, commands={0: lambda machine: machine.hold(RATE_HZ // 2)})
    assert NORMAL_MS <= silence_applied(done) < NORMAL_MS + FRAME_MS


@pytest.mark.parametrize("late", [0, LATE])
def test_endpoint_that_waits_for_words_leaves_later_speech_to_the_next_answer(late: int) -> None:
    said = script("first one.", 1.2, "second one.")
    done = perform(said, delays=[late])
    assert done.ended.text == "first one."
    assert done.left[-1] == said.frames - 1
    lead = said.words[2].first - done.left[0]
    assert lead * FRAME_MS > 300
    assert done.left == list(range(done.left[0], said.frames))


# -- sounds that are no speech


def test_click_is_nothing() -> None:
    done = perform(script("*2", 0.4, "*2"))
    assert done.events == [AnswerEnded("", (), done.ended.at, done.ended.at, "stop")]
    assert done.reads == []


def test_click_in_the_silence_does_not_make_it_longer() -> None:
    plain, clicked = perform(script("one.")), perform(script("one.", 0.4, "*2"))
    assert clicked.ended == plain.ended


def test_click_at_the_end_of_the_silence_is_waited_for() -> None:
    said = script("one.", NORMAL_MS / 1000 - 0.05, "two.")
    assert perform(said).ended.text == "one. two."


@pytest.mark.parametrize("late", [0, LATE])
def test_cough_after_the_last_word_does_not_count_as_speech(late: int) -> None:
    said = script("It was fine.", 0.7, "*12")
    done = perform(said, delays=[late])
    assert done.ended.text == "It was fine."
    assert done.ended.speech_end == said.words[-1].end * FRAME_SAMPLES
    cough_end = said.words[-1].end + round(0.7 * RATE_HZ / FRAME_SAMPLES) + 12
    assert ms(done.ended.at - cough_end * FRAME_SAMPLES) <= NORMAL_MS + FRAME_MS


@pytest.mark.parametrize("patience", PATIENCES)
def test_sound_without_words_ends_empty_within_two_seconds(patience: Patience) -> None:
    done = perform(script("*20", tail_s=3.0), patience=patience, stop=False)
    assert (done.ended.text, done.ended.words, done.ended.reason) == ("", (), "silence")
    assert silence_applied(done) <= 2000
    assert done.of(ProvisionalTranscript) == []


def test_silence_alone_says_nothing_and_is_not_kept() -> None:
    done = perform(script(600.0), stop=False)
    assert (done.events, done.reads) == ([], [])
    assert done.most_held <= RATE_HZ


# -- the Done button


def test_done_while_speaking_reads_what_was_said_to_the_last_sample() -> None:
    said = script("one two three", tail_s=0.0)
    at = len(said.samples) - 200
    done = perform(said, commands={at: lambda machine: machine.stop()}, partial_every_ms=0)
    assert (done.ended.reason, done.ended.at) == ("stop", at)
    ((purpose, frames),) = done.reads
    assert purpose == "final" and frames[-1] == said.frames - 1


def test_done_in_a_pause_takes_the_guess_for_final() -> None:
    said = script("one two.")
    at = (said.words[-1].end + 10) * FRAME_SAMPLES
    done = perform(said, commands={at: lambda machine: machine.stop()}, partial_every_ms=0, delays=[LATE])
    assert (done.ended.text, done.ended.reason, done.ended.at) == ("one two.", "stop", at)
    assert [purpose for purpose, _ in done.reads] == ["guess"]
    assert done.ended.speech_end == said.words[-1].end * FRAME_SAMPLES


def test_done_right_after_a_beginning_takes_it_for_speech() -> None:
    done = perform(script("no", tail_s=0.0, word_frames=2))
    assert done.ended.text == "no"


def test_done_before_a_word_ends_empty_at_once() -> None:
    done = perform(script(0.2, tail_s=0.1))
    assert done.events == [AnswerEnded("", (), done.ended.at, done.ended.at, "stop")]


def test_done_twice_ends_once_and_what_follows_is_left() -> None:
    said = script("one two.", tail_s=2.0)
    at = said.words[-1].end * FRAME_SAMPLES
    done = perform(
        said,
        commands={at: lambda machine: machine.stop(), at + 100: lambda machine: machine.stop()},
        delays=[LATE],
        chunks=[700],
    )
    assert done.ended.at == at
    assert done.left == list(range(at // FRAME_SAMPLES, said.frames))


def test_done_while_the_end_waits_for_words_comes_too_late_to_change_it() -> None:
    said = script("one two.", 1.3, "three.", tail_s=0.0)
    at = len(said.samples) - 300
    done = perform(said, commands={at: lambda machine: machine.stop()}, delays=[10 * RATE_HZ], chunks=[999])
    assert (done.ended.text, done.ended.reason) == ("one two.", "silence")
    assert done.left == list(range(done.left[0], said.frames))


# -- long answers


def test_long_answer_is_read_in_windows_and_only_its_last_at_the_end() -> None:
    parts = [part for n in range(12) for part in (many(10, f"s{n}w"), 0.3)]
    said = script(*parts)
    done = perform(said, partial_every_ms=0, delays=[LATE])
    assert done.ended.text == said.text
    assert max(len(frames) for _, frames in done.reads) * FRAME_MS <= 30_000
    _, last = done.reads[-1]
    assert (last[-1] - last[0]) * FRAME_MS < 20_000
    assert last[0] > said.frames * 0.5


def test_answer_without_any_pause_loses_no_word_at_its_cuts() -> None:
    said = script(many(400))
    done = perform(said, partial_every_ms=0)
    assert done.ended.text == said.text
    assert [purpose for purpose, _ in done.reads].count("final") >= 4


def test_answer_that_comes_too_long_is_reported_and_ends_between_words() -> None:
    said = with_dips(script(many(200), tail_s=0.0))
    done = perform(said, max_answer_s=45, partial_every_ms=0)
    (warning,) = done.of(TimeAlmostUp)
    assert isinstance(warning, TimeAlmostUp) and ms(warning.left) == pytest.approx(22_500, abs=FRAME_MS)
    began = said.words[0].first * FRAME_SAMPLES
    assert done.ended.reason == "too_long"
    assert 39 * RATE_HZ <= done.ended.at - began <= 45 * RATE_HZ
    assert done.ended.text == said.said_before(done.ended.at // FRAME_SAMPLES + 1)
    assert done.left == list(range(done.ended.at // FRAME_SAMPLES, said.frames))


def test_answer_that_comes_too_long_is_reported_half_a_minute_before() -> None:
    done = perform(with_dips(script(many(400), tail_s=0.0)), max_answer_s=100, partial_every_ms=0)
    (warning,) = done.of(TimeAlmostUp)
    assert isinstance(warning, TimeAlmostUp) and ms(warning.left) == pytest.approx(30_000, abs=FRAME_MS)


def test_answer_that_comes_too_long_while_somebody_speaks_ends_with_speech() -> None:
    said = with_dips(script(many(10), 0.5, many(60, "v"), tail_s=0.0))
    done = perform(said, max_answer_s=15, partial_every_ms=0)
    assert done.ended.speech_end == done.ended.at
    assert done.ended.text == said.said_before(done.ended.at // FRAME_SAMPLES + 1)


def test_answer_that_comes_too_long_in_a_pause_ends_there() -> None:
    said = script(many(10), 60.0)
    done = perform(said, max_answer_s=10, commands={0: lambda machine: machine.hold(60 * RATE_HZ)})
    assert (done.ended.reason, done.ended.text) == ("too_long", said.text)
    assert done.ended.speech_end == said.words[-1].end * FRAME_SAMPLES


def test_forty_minutes_of_speech_need_bounded_memory_and_lose_nothing() -> None:
    parts = [part for n in range(210) for part in (many(30, f"s{n}w"), 0.3 + n % 5)]
    said = script(*parts)
    assert said.frames * FRAME_MS > 40 * 60_000
    hold: Command = lambda machine: machine.hold(len(said.samples))  # noqa: E731
    done = perform(said, chunks=[8000], commands={0: hold}, max_answer_s=None, partial_every_ms=5000)
    assert done.ended.text == said.text
    assert done.most_held <= 40 * RATE_HZ


def with_dips(said: Script) -> Script:
    """The same with the first frame of each word less likely to be speech."""
    firsts = {word.first for word in said.words}
    probabilities = [0.4 if n in firsts else p for n, p in enumerate(said.probabilities)]
    return Script(said.words, np.array(probabilities, np.float32))


# -- captions


def test_captions_come_every_second_of_speech() -> None:
    done = perform(script(many(30)))  # 9.6 s, from frame 16 on
    partials = [frames for purpose, frames in done.reads if purpose == "partial"]
    assert [round((frames[-1] + 1 - 16) * FRAME_MS / 1000, 1) for frames in partials][:3] == [1.1, 2.1, 3.1]
    assert len(partials) == 9


def test_captions_are_skipped_while_one_is_being_made() -> None:
    prompt, slow = perform(script(many(60))), perform(script(many(60)), delays=[int(2.5 * RATE_HZ)])
    made = [[purpose for purpose, _ in done.reads].count("partial") for done in (prompt, slow)]
    assert made == [18, 6]
    assert slow.ended.text == prompt.ended.text


def test_captions_stay_short_however_long_somebody_speaks() -> None:
    done = perform(script(many(85)))
    lengths_ms = [len(frames) * FRAME_MS for purpose, frames in done.reads if purpose == "partial"]
    assert max(lengths_ms) <= 12_000
    partials = [event for event in done.of(PartialTranscript) if isinstance(event, PartialTranscript)]
    assert partials[-1].text == done.ended.text


def test_captions_keep_what_two_transcriptions_agreed_on() -> None:
    done = perform(script(many(40)))
    partials = [event for event in done.of(PartialTranscript) if isinstance(event, PartialTranscript)]
    assert partials[0].stable == 0
    for earlier, later in pairwise(partials):
        assert later.text.startswith(earlier.text[: earlier.stable])
        assert later.stable >= earlier.stable
    assert partials[5].stable > len(many(10))


# -- failures


def test_failure_of_a_caption_is_ignored() -> None:
    done = perform(script(many(12)), failures=[0, 1])
    assert done.ended.text == many(12)
    assert done.of(TranscriptionFailed) == []


@pytest.mark.parametrize("late", [0, LATE])
def test_failure_of_a_guess_is_tried_again(late: int) -> None:
    done = perform(script("one two."), failures=[0], delays=[late], partial_every_ms=0)
    assert [purpose for purpose, _ in done.reads] == ["guess", "guess"]
    assert done.reads[0] == done.reads[1]
    assert (done.ended.text, done.of(TranscriptionFailed)) == ("one two.", [])


def test_failure_of_all_tries_keeps_what_was_understood_and_is_reported_before_the_end() -> None:
    said = script(many(12))
    plain = perform(said)
    guess = [purpose for purpose, _ in plain.reads].index("guess")
    done = perform(said, failures=[guess, guess + 1])
    (trouble,) = done.of(TranscriptionFailed)
    assert isinstance(trouble, TranscriptionFailed) and trouble.error == "scripted"
    assert trouble.text == done.ended.text == many(9) + " w~"
    assert done.of(ProvisionalTranscript) == []
    assert PATIENCE_MS["normal"] <= silence_applied(done)


def test_failure_of_a_window_leaves_the_other_windows_their_words() -> None:
    said = script(many(300))
    plain = perform(said, partial_every_ms=0)
    assert plain.reads[1][0] == "final"
    done = perform(said, partial_every_ms=0, failures=[1, 2])
    assert len(done.of(TranscriptionFailed)) == 1
    kept, whole = [word for word in done.ended.text.split() if "~" not in word], said.text.split()
    assert kept[:60] == whole[:60] and kept[-100:] == whole[-100:]
    assert kept == [word for word in whole if word in kept] and len(kept) < 300


def test_transcription_that_is_not_pending_changes_nothing() -> None:
    machine = SpeechMachine()
    assert machine.transcribed(7, Transcript("nobody said this")) == []
    assert machine.failed(7, "nobody asked") == []


def test_samples_of_patience_are_whole_milliseconds() -> None:
    assert [samples_of(PATIENCE_MS[patience]) % 16 for patience in PATIENCES] == [0, 0, 0]

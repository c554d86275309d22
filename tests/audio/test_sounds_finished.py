"""Endings by sound: a silence after what sounds unfinished is longer, whenever the judgement comes."""

from __future__ import annotations

import pytest

from audio.endpoint import (
    FRAME_SAMPLES,
    MAX_UNFINISHED_SILENCE_MS,
    PATIENCE_MS,
    SOUND_FACTOR,
    SOUNDS_SURE,
    SOUNDS_UNFINISHED,
    required_silence,
)
from audio.machine import SpeechMachine
from audio.types import RATE_HZ, SilenceLengthened, ms
from tests.audio.scripted_speech import Performance, perform, script

SAID = script("I like tea in the morning.", tail_s=6.0)
ENDS_MS = PATIENCE_MS["normal"]


def silence_ms(done: Performance) -> int:
    assert done.ended.reason == "silence"
    return ms(done.ended.at - done.ended.speech_end)


@pytest.mark.parametrize("finished", [SOUNDS_UNFINISHED, 0.9, 1.0, None])
def test_silence_after_what_sounds_finished_or_is_not_judged_is_the_patience(finished: float | None) -> None:
    assert silence_ms(perform(SAID, finished=[finished])) == silence_ms(perform(SAID))
    assert ENDS_MS <= silence_ms(perform(SAID, finished=[finished])) < ENDS_MS + 33


def test_silence_is_the_longer_the_less_finished_it_sounds() -> None:
    for doubt in (1, 0.5, 0.25):
        longer = ENDS_MS * (1 + doubt * SOUND_FACTOR)
        ended_ms = silence_ms(perform(SAID, finished=[(1 - doubt) * SOUNDS_UNFINISHED]))
        assert longer - 1 <= ended_ms < longer + 33


def test_doubts_of_words_and_sound_add_up_to_a_bound() -> None:
    unfinished = script("I like tea because", tail_s=6.0)
    by_words, by_both = silence_ms(perform(unfinished)), silence_ms(perform(unfinished, finished=[0.1]))
    assert 2 * ENDS_MS <= by_words < by_both
    most = silence_ms(perform(unfinished, finished=[0.0]))
    assert MAX_UNFINISHED_SILENCE_MS <= most < MAX_UNFINISHED_SILENCE_MS + 33


def test_long_answer_ends_sooner_only_where_it_surely_sounds_finished() -> None:
    def needed(finished: float | None) -> int:
        return required_silence("normal", "I like tea.", language="en", spoken=20 * RATE_HZ, finished=finished)

    assert needed(None) == needed(SOUNDS_SURE) < needed(SOUNDS_SURE - 0.01)


def test_longer_silence_is_told_once_with_what_is_left_of_it() -> None:
    done = perform(SAID, finished=[0.1])
    (told,) = done.of(SilenceLengthened)
    assert isinstance(told, SilenceLengthened)
    assert 0 < ms(told.left) <= (1 + SOUND_FACTOR) * ENDS_MS - 200
    assert done.of(SilenceLengthened) == perform(SAID, finished=[0.1]).of(SilenceLengthened)
    assert perform(SAID, finished=[0.9]).of(SilenceLengthened) == []
    assert perform(SAID, finished=[0.1], commands={FRAME_SAMPLES: lambda machine: machine.hold(5 * RATE_HZ)}).of(
        SilenceLengthened
    ) != [told]


@pytest.mark.parametrize("text", ["and then", "I like tea.", "I like tea", "so because"])
@pytest.mark.parametrize("finished", [None, 0.0, 0.29, 0.5, 1.0])
def test_sound_never_shortens_a_silence(text: str, finished: float | None) -> None:
    for patience in PATIENCE_MS:
        alone = required_silence(patience, text, language="en", spoken=RATE_HZ)
        assert required_silence(patience, text, language="en", spoken=RATE_HZ, finished=finished) >= alone


def test_sound_without_words_ends_as_soon_as_ever() -> None:
    cough = script("*20", tail_s=6.0)
    assert silence_ms(perform(cough, finished=[0.0])) == silence_ms(perform(cough))


def test_judgement_that_comes_late_changes_nothing() -> None:
    going_on = script("I like tea", 1.2, "in the morning.", tail_s=12.0)
    judged = [0.1, 0.9]
    prompt = perform(going_on, finished=judged)
    assert prompt.ended.text == "I like tea in the morning."
    for delay in (1, RATE_HZ, 3 * RATE_HZ):
        assert perform(going_on, finished=judged, delays=(delay, 0)).decisive == prompt.decisive
    assert perform(going_on).ended.text == "I like tea"


def test_judgement_of_a_pause_that_is_over_is_void() -> None:
    going_on = script("I like tea", 0.5, "in the morning.", tail_s=6.0)
    done = perform(going_on, finished=[0.0, 0.9], delays=(0, 2 * RATE_HZ, 0, 0))
    assert ENDS_MS <= silence_ms(done) < ENDS_MS + 33


def test_machine_that_is_given_a_judgement_nobody_asked_for_ignores_it() -> None:
    machine = SpeechMachine(by_sound=True)
    assert machine.judged(7, 0.0) == []


def test_sound_that_is_judged_is_the_last_eight_seconds_up_to_the_pause() -> None:
    done = perform(script("one two", 2.0, *["word"] * 40, tail_s=6.0), patience="patient", finished=[0.0, 0.9])
    first, second = done.judged
    assert first == list(range(first[-1] + 1))
    assert len(second) == 8 * RATE_HZ // FRAME_SAMPLES
    assert second == list(range(second[0], second[-1] + 1))


def test_nothing_is_kept_or_asked_where_nothing_is_judged() -> None:
    with_it, without = perform(SAID, finished=[0.9]), perform(SAID)
    assert without.judged == []
    assert without.most_held < with_it.most_held <= without.most_held + 8 * RATE_HZ

"""The end of speech by loudness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.endpoint import FRAME_SAMPLES, PAUSE_FRAMES
from audio.machine import SpeechMachine
from audio.outputs import TranscriptionRequested
from audio.sound_end import PIECE_SAMPLES, SEARCHED_SAMPLES, find_sound_end
from audio.types import AnswerEnded, Samples, SpeechStopped, Transcript, samples_of


def noise(seed: int, count: int, rms: float) -> Samples:
    """White noise."""
    sound = np.random.default_rng(seed).normal(0.0, rms, count)
    return np.clip(sound, -32_768, 32_767).astype(np.int16)


ROOM = noise(1, PAUSE_FRAMES * FRAME_SAMPLES, 10.0)


@pytest.mark.parametrize("quiet_ms", [0, 8, 16, 40, 64, 88])
def test_sound_that_stops_before_the_model_says_so_is_found_to_within_a_piece(quiet_ms: int) -> None:
    quiet = samples_of(quiet_ms)
    before = np.concatenate([noise(2, 4096 - quiet, 3000.0), noise(3, quiet, 10.0)])
    assert find_sound_end(before, ROOM) == 4096 - quiet


def test_faint_ending_over_a_quiet_room_belongs_to_the_sound() -> None:
    before = np.concatenate([noise(2, 3072, 3000.0), noise(3, 1024, 60.0)])
    assert find_sound_end(before, ROOM) == len(before)


@pytest.mark.parametrize("rms", [300.0, 3000.0])
def test_in_noise_in_which_a_faint_ending_would_drown_the_model_is_believed(rms: float) -> None:
    before = np.concatenate([noise(2, 3072, 3000.0), noise(3, 1024, rms)])
    assert find_sound_end(before, noise(4, len(ROOM), rms)) == len(before)


def test_digital_silence_is_silence() -> None:
    before = np.concatenate([noise(2, 3584, 3000.0), np.zeros(512, np.int16)])
    assert find_sound_end(before, np.zeros(3584, np.int16)) == 3584


def test_nothing_to_look_at_changes_nothing() -> None:
    nothing = np.zeros(0, np.int16)
    assert find_sound_end(nothing, ROOM) == 0
    assert find_sound_end(ROOM, nothing) == len(ROOM)
    assert find_sound_end(np.zeros(1024, np.int16), np.zeros(1024, np.int16)) == 1024


@settings(max_examples=200, deadline=None)
@given(
    before=st.lists(st.integers(-32_768, 32_767), max_size=24).map(lambda values: np.repeat(values, PIECE_SAMPLES)),
    after=st.lists(st.integers(-32_768, 32_767), max_size=24).map(lambda values: np.repeat(values, PIECE_SAMPLES)),
)
def test_end_is_never_moved_further_than_it_is_searched(before: Samples, after: Samples) -> None:
    found = find_sound_end(before.astype(np.int16), after.astype(np.int16))
    assert max(0, len(before) - SEARCHED_SAMPLES) <= found <= len(before)


def test_silence_counts_from_the_last_sound_and_not_from_the_model() -> None:
    spoken, lag = 30 * FRAME_SAMPLES + 2 * PIECE_SAMPLES, 2
    sound = np.concatenate([noise(2, spoken, 3000.0), noise(3, 60 * FRAME_SAMPLES - spoken, 10.0)])
    machine = SpeechMachine(patience="quick")
    told: list[object] = []
    for frame in range(60):
        probability = 0.9 if frame < 31 + lag else 0.02
        out = machine.feed(sound[frame * FRAME_SAMPLES : (frame + 1) * FRAME_SAMPLES], [probability])
        while out:
            told += out
            wanted = [one for one in out if isinstance(one, TranscriptionRequested)]
            out = [made for one in wanted for made in machine.transcribed(one.request_id, Transcript("I like tea."))]
    stopped = next(one for one in told if isinstance(one, SpeechStopped))
    ended = next(one for one in told if isinstance(one, AnswerEnded))
    assert stopped.at == ended.speech_end == spoken
    assert 0 <= ended.at - spoken - samples_of(500) < FRAME_SAMPLES

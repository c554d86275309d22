"""The sound of an answer that is read once more, and where it is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.answer_sound import LEAST_PIECE_FRAMES, MOST_HEARD_FRAMES, MOST_PIECE_FRAMES, AnswerSound
from audio.endpoint import FRAME_SAMPLES
from audio.machine import SpeechMachine
from audio.types import Transcript
from audio.windows import Frame


def sound(*parts: tuple[int, float], first: int = 0) -> AnswerSound:
    """So many frames with this probability of speech, in turn; each has its number as its samples."""
    found = AnswerSound()
    index = first
    for count, probability in parts:
        for _ in range(count):
            found.add(Frame(index, np.full(FRAME_SAMPLES, index, np.int16), probability))
            index += 1
    return found


def numbers(pieces: list[np.ndarray] | None) -> list[list[int]]:
    assert pieces is not None
    return [piece[::FRAME_SAMPLES].tolist() for piece in pieces]


def test_short_answer_is_one_piece() -> None:
    assert numbers(sound((100, 1.0)).pieces()) == [list(range(100))]


def test_answer_without_sound_has_no_pieces() -> None:
    assert AnswerSound().pieces() == []


def test_answer_as_long_as_a_piece_is_not_cut() -> None:
    assert len(numbers(sound((MOST_PIECE_FRAMES, 1.0)).pieces())) == 1


def test_long_answer_is_cut_in_its_longest_pause() -> None:
    before, after = LEAST_PIECE_FRAMES + 20, MOST_PIECE_FRAMES - 100
    found = numbers(sound((before, 1.0), (6, 0.0), (50, 1.0), (12, 0.0), (50, 1.0), (6, 0.0), (after, 1.0)).pieces())
    assert len(found[0]) == before + 6 + 50 + 6, "the middle of the pause of twelve frames"


def test_long_answer_without_a_pause_is_not_read_again() -> None:
    assert sound((MOST_PIECE_FRAMES + 1, 1.0)).pieces() is None
    assert sound((LEAST_PIECE_FRAMES, 1.0), (4, 0.0), (MOST_PIECE_FRAMES, 1.0)).pieces() is None, "too short a pause"


def test_answer_that_is_too_long_keeps_nothing() -> None:
    found = sound((MOST_HEARD_FRAMES, 1.0))
    assert found.held_samples == MOST_HEARD_FRAMES * FRAME_SAMPLES
    found.add(Frame(MOST_HEARD_FRAMES, np.zeros(FRAME_SAMPLES, np.int16), 1.0))
    assert (found.too_long, found.held_samples, found.pieces()) == (True, 0, None)
    found.append(sound((1, 1.0)))
    assert (found.held_samples, found.pieces()) == (0, None)


def test_answer_that_goes_on_is_not_whole_in_one_window() -> None:
    found = AnswerSound()
    found.append(sound((10, 1.0)))
    whole = [found.is_whole]
    found.append(sound((10, 1.0), first=50))
    assert [*whole, found.is_whole] == [True, False]
    assert numbers(found.pieces()) == [[*range(10), *range(50, 60)]]


def test_answers_that_are_too_long_together_keep_nothing() -> None:
    found = AnswerSound()
    found.append(sound((MOST_HEARD_FRAMES, 1.0)))
    found.append(sound((1, 1.0)))
    assert (found.too_long, found.held_samples) == (True, 0)


@given(st.lists(st.tuples(st.integers(1, 400), st.sampled_from([0.0, 1.0])), max_size=12))
def test_pieces_have_every_frame_once_and_none_is_too_long(parts: list[tuple[int, float]]) -> None:
    found = sound(*parts)
    pieces = found.pieces()
    if pieces is None:
        return
    assert [number for piece in numbers(pieces) for number in piece] == list(range(found.held_samples // FRAME_SAMPLES))
    assert all(0 < len(piece) <= MOST_PIECE_FRAMES * FRAME_SAMPLES for piece in pieces)


@pytest.mark.parametrize("keep", [False, True])
def test_machine_keeps_the_sound_of_the_speech_only_where_it_is_wanted(keep: bool) -> None:
    machine = SpeechMachine(keep_sound=keep, partial_every_ms=0)
    frames = [0.0] * 100 + [1.0] * 60 + [0.0] * 60
    samples = np.arange(len(frames), dtype=np.int16).repeat(FRAME_SAMPLES)
    outputs = machine.feed(samples, frames)
    for output in outputs:
        if hasattr(output, "request_id"):
            machine.transcribed(output.request_id, Transcript("yes"))
    assert machine.ended
    if not keep:
        assert machine.sound is None
        return
    assert machine.sound is not None
    [piece] = numbers(machine.sound.pieces())
    assert set(range(100, 160)) <= set(piece), "all of the speech"
    assert piece == list(range(piece[0], piece[-1] + 1))
    assert piece[0] >= 80
    assert piece[-1] < 180, "and little of the silence around it"
    left = machine.leftover()[::FRAME_SAMPLES]
    assert not set(piece) & set(left.tolist()), "what belongs to the next answer is not in it"

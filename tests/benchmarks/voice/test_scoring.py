"""How texts are compared, and what counts as an error or as a crossing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.voice.canaries import Person, crossings
from tests.benchmarks.voice.corpus import Recording
from tests.benchmarks.voice.respondents import SpokenResult
from tests.benchmarks.voice.scoring import Errors, errors, rate, words_of
from tests.support.speech_sounds import mixed, silence, sound_of, speech_end, speech_level


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Press 1, or #.", "press one or pound"),
        ("I'm 33; it’s 1205!", "i am thirty three it is one thousand two hundred five"),
        ("touch-tone 007", "touch tone zero zero seven"),
        ("the party's 20", "the partys twenty"),
    ],
)
def test_words_are_made_comparable(text: str, words: str) -> None:
    assert words_of(text) == words.split()


def test_errors_are_told_apart() -> None:
    assert errors("one two three four", "one too three") == Errors(4, substituted=1, deleted=1)
    assert errors("one two", "one or two") == Errors(2, inserted=1)
    assert errors("one two", "").found == 0


def test_rate_is_pooled_and_inside_its_interval() -> None:
    found = rate([1, 0, 3], [10, 10, 20])
    assert found.value == 10
    assert found.low <= found.value <= found.high


def test_phrase_of_another_speaker_is_a_crossing() -> None:
    said = ["the cat sat on a mat", "every dog has its day"]
    people = [Person([Recording(text, silence(1), text, ())], [shown(text)]) for text in said]
    assert crossings(people)[1] == []
    people[1].spoken.append(shown("so the cat sat there"))
    assert crossings(people)[1] == ["the cat sat: 1 to 2"]


def shown(text: str) -> SpokenResult:
    """An answer of which the client saw this text."""
    return SpokenResult("", text, text, 1.0, 1.0, 1.1, 0.9, 1, heard=(text,))


def test_noise_lies_under_speech_by_what_was_asked_for() -> None:
    rng = np.random.default_rng(1)
    speech = np.concatenate([silence(0.5), 0.1 * rng.standard_normal(8000), silence(0.5)])
    noise = rng.standard_normal(len(speech))
    rest = mixed(speech, noise, 10.0) - speech
    assert 20 * np.log10(speech_level(speech) / np.sqrt(np.mean(rest**2))) == pytest.approx(10, abs=0.1)
    assert speech_end(speech) == 16_000
    assert sound_of(np.array([16384], np.int16))[0] == 0.5

"""Weights of words and pairs of words."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.language.reader.phrases import Phrases, numbers

PLACES = 2**10


def test_words_and_pairs_have_places_whatever_their_letters_and_apostrophes() -> None:
    own = numbers("I can't go on", PLACES)
    assert len(own) == len(set(own)) == 7  # i, can't, go, on, and three pairs
    assert own.tolist() == numbers("i CAN’T, go on!", PLACES).tolist()
    assert set(numbers("go on", PLACES)) < set(own)
    assert numbers("… !", PLACES).size == numbers("", PLACES).size == 0


def test_weights_of_a_text_are_those_of_its_phrases_each_counted_once() -> None:
    table = np.zeros((PLACES, 2), dtype=np.float32)
    table[numbers("go", PLACES)] = (1.0, -2.0)
    phrases = Phrases(table)
    assert phrases.of("go go go")[0] >= 1.0
    assert phrases.of("go")[1] == -2.0
    assert phrases.of("").tolist() == [0.0, 0.0]


def test_weights_come_back_from_a_file_but_for_what_their_steps_cost() -> None:
    table = np.random.default_rng(1).normal(size=(PLACES, 3)).astype(np.float32)
    content = io.BytesIO()
    np.savez_compressed(content, **Phrases(table).arrays())  # type: ignore[arg-type]
    with np.load(io.BytesIO(content.getvalue())) as kept:
        again = Phrases.read(kept)
    text = "I do not want to go on like this any more"
    assert again.of(text) == pytest.approx(Phrases(table).of(text), abs=0.5)


@pytest.mark.parametrize("shape", [(1000, 1), (1024,), (1024, 2)])
def test_table_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "phrases": np.zeros(shape, dtype=np.int8),
        "phrase_step": np.ones(1, dtype=np.float32),
    }
    with pytest.raises(ValueError, match="damaged"):
        Phrases.read(arrays)

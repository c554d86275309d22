"""Linear models over vectors and words: what is fitted is found again."""

from __future__ import annotations

import numpy as np

from pipeline.language.training.linear import Fitting, Steps, fitted

FITTING = Fitting(Steps(60, 0.1, 1e-4), Steps(60, 0.1, 1e-4), places=2**8)
NONE = -1e9


class Seen:
    """What a reading has of a message: one word with one vector."""

    def __init__(self, vector: list[float]) -> None:
        self.words = ("word",)
        self.mean = self.first = self.last = np.array([vector], dtype=np.float32)


def test_words_and_vectors_are_learned_and_what_may_not_be_never_is() -> None:
    chance = np.random.default_rng(0)
    wanted = np.arange(120) % 3
    vectors = np.zeros((120, 6), dtype=np.float32)
    vectors[:, 0] = (wanted == 0) + 0.1 * chance.standard_normal(120)
    texts = [("a break please", "go on then", "stop it now")[one] for one in wanted]
    may = np.zeros((120, 3), dtype=np.float32)
    model = fitted(vectors, texts, wanted, may, FITTING)
    open_to_all = np.zeros(3, dtype=np.float32)
    for at, text in enumerate(("a break please", "go on then", "stop it now")):
        reading = Seen([float(at == 0), 0.0])
        assert int(model.log_chances(text, reading, open_to_all).argmax()) == at  # type: ignore[arg-type]
        barred = open_to_all.copy()
        barred[at] = NONE
        assert int(model.log_chances(text, reading, barred).argmax()) != at  # type: ignore[arg-type]
    chances = np.exp(model.log_chances("go on then", Seen([0.0, 0.0]), open_to_all))  # type: ignore[arg-type]
    assert abs(float(chances.sum()) - 1) < 1e-5

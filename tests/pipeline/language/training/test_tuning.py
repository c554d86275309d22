"""Thresholds and calibration are found from what the network says of messages and answers it was not trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.acts import ACTS
from pipeline.language.acts.hearing import BOTH
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.settings import ActThreshold
from pipeline.language.training import corpus
from pipeline.language.training.tuning import calibrated, tuned

CORPUS = Path(__file__).parents[3] / "corpus"


@pytest.mark.parametrize(("scale", "shift"), [(0.5, -1.0), (1.0, 0.0), (2.0, 0.7)])
def test_calibration_finds_what_made_the_outcomes(scale: float, shift: float) -> None:
    chance = np.random.default_rng(1)
    logits = chance.normal(scale=2.0, size=20_000)
    right = (chance.random(20_000) < 1 / (1 + np.exp(-(scale * logits + shift)))).astype(float)
    found = calibrated(logits, right)
    assert found == pytest.approx((scale, shift), abs=0.1)


def test_calibration_of_outcomes_that_are_all_the_same_stays_finite() -> None:
    assert np.isfinite(calibrated(np.asarray([1.0, 2.0, 3.0]), np.ones(3))).all()


def test_every_act_has_thresholds_in_order() -> None:
    network = load_reader().network
    messages = corpus.messages(CORPUS / "acts" / "tuning.jsonl", network.encoder)[::12]
    answers = corpus.answers_in(CORPUS / "answers" / "tuning.jsonl", network.encoder)[::8]
    found = tuned(network, messages, answers)
    assert set(found.acts) == set(ACTS) - {"tells"}
    for act, threshold in found.acts.items():
        ActThreshold.model_validate(threshold.model_dump())
        assert threshold.alone <= threshold.sure
        if act in BOTH:
            assert threshold.sure > 1
            assert threshold.agrees >= 0.5
        else:
            assert threshold.agrees <= threshold.alone
    assert 0 < found.guess_from <= found.link_from < 1

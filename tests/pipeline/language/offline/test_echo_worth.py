"""What saying something back is worth: the model, its file, its training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.language.offline import linear, probe_worth
from pipeline.language.offline.advice import Adviser
from pipeline.language.offline.echo_worth import PROBES, Told, features, shipped, vector, worths
from pipeline.language.offline.echoes import echoes
from pipeline.language.offline.linear import LinearModel
from pipeline.language.offline.telling import NOTHING
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.network import Reading
from pipeline.language.reader.understanding import Reader
from pipeline.language.training.echoes import Rated, fit

ANSWER = "I locked the shop. He didn't dare ask me."
TOLD = Told(answer=ANSWER, mean_words=9.0, asked=3, method="critical_incident", telling=NOTHING)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader()


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where the file is looked for in this test."""
    monkeypatch.setattr(linear, "files", lambda _: tmp_path)
    for read in (shipped, probe_worth.shipped):
        read.cache_clear()
    yield tmp_path
    for read in (shipped, probe_worth.shipped):
        read.cache_clear()


@pytest.mark.parametrize("content", [None, b"", b"PK", b"{}"])
def test_missing_or_damaged_file_says_nothing_back(folder: Path, reader: Reader, content: bytes | None) -> None:
    if content is not None:
        (folder / "echo_worth.npz").write_bytes(content)
        (folder / "probe_worth.npz").write_bytes(content)
    assert shipped() is None
    assert probe_worth.shipped() is None
    adviser = Adviser.of(reader.network, reader.settings.encoder_sha256)
    assert (adviser.knows_echoes, adviser.knows_probes) == (False, False)


def test_weights_belong_to_the_reader_that_is_shipped(reader: Reader) -> None:
    model = shipped()
    assert model is not None
    assert model.encoder == reader.settings.encoder_sha256
    for encoder, known in ((model.encoder, True), ("another", False)):
        adviser = Adviser.of(reader.network, encoder)
        assert (adviser.knows_echoes, adviser.knows_probes) == (known, known)
    reading = reader.network.read("What happened then?", "", ANSWER)
    found = worths(model, echoes(ANSWER), TOLD, reading)
    assert [set(worth.probes) for worth in found] == [set(PROBES)] * 2
    assert all(-1 < worth.rating < 4 for worth in found)
    assert worths(model, (), TOLD, reading) == []


def test_vector_of_a_clause_is_that_of_its_words(reader: Reader) -> None:
    reading: Reading = reader.network.read("What happened then?", "", ANSWER)
    last, first = echoes(ANSWER)
    count = len([word for word in reading.words if word.end <= first.end])
    assert np.allclose(vector(first, reading), reading.mean[:count].mean(axis=0), atol=1e-6)
    assert not np.allclose(vector(first, reading), vector(last, reading), atol=1e-3)


def test_training_learns_which_clause_and_which_probe() -> None:
    rated = []
    for number in range(40):
        for at, echo in enumerate(echoes(ANSWER)):
            named = features(echo, at, 2, TOLD)
            seen = np.full(4, float(at), dtype=np.float32)
            rated.append(Rated(number, (number, 0), named, seen, 3 if at == 0 else 2, "like" if at == 0 else "more"))
    model = fit(rated, "digest")
    again = LinearModel.loaded(model.saved())
    assert (again.names, again.encoder) == (model.names, "digest")
    for kept, read in ((model.weights, again.weights), (model.base, again.base), (model.mean, again.mean)):
        assert np.array_equal(kept, read)
    rows = [
        ((again.row(each.named, each.seen) - again.mean) / again.deviation) @ again.weights + again.base
        for each in rated[:2]
    ]
    assert rows[0][0] > rows[1][0] + 0.5
    assert [PROBES[int(np.argmax(row[1:]))] for row in rows] == ["like", "more"]

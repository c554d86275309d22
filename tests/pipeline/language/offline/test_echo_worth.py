"""What saying something back is worth: what the model sees of a clause, and what it says of it."""

from __future__ import annotations

import numpy as np

from pipeline.language.offline.echo_worth import PROBES, Told, features, vector, worths
from pipeline.language.offline.echoes import echoes
from pipeline.language.offline.telling import NOTHING
from pipeline.language.offline.worth_model import WorthModel

ANSWER = "I locked the shop. He didn't dare ask me."
TOLD = Told(answer=ANSWER, mean_words=9.0, asked=3, method="critical_incident", telling=NOTHING)


def test_every_clause_has_a_rating_and_its_probes(worth: WorthModel) -> None:
    reading = worth.read("What happened then?", ANSWER)
    found = worths(worth.echoes, echoes(ANSWER), TOLD, reading)
    assert [set(one.probes) for one in found] == [set(PROBES)] * 2
    assert all(-1 < one.rating < 4 and abs(sum(one.probes.values()) - 1) < 1e-4 for one in found)
    assert worths(worth.echoes, (), TOLD, reading) == []


def test_what_moves_somebody_is_worth_more_than_what_is_by_the_way(worth: WorthModel) -> None:
    said = "The bus was late that day. I took the later one. She died before I got there."
    told = Told(answer=said, mean_words=14.0, asked=4, method="critical_incident", telling=NOTHING)
    found = worths(worth.echoes, echoes(said), told, worth.read("And then?", said))
    rated = {one.echo.text: one.rating for one in found}
    assert rated["She died before you got there."] > rated["The bus was late that day."] + 0.5


def test_vectors_of_a_clause_are_those_of_its_words(worth: WorthModel) -> None:
    reading = worth.read("What happened then?", ANSWER)
    last, first = echoes(ANSWER)
    count = len([word for word in reading.words if word.end <= first.end])
    seen = vector(first, reading).reshape(4, -1)
    wanted = (reading.mean[:count].mean(axis=0), reading.first[0], reading.last[count - 1], reading.whole)
    assert np.allclose(seen, np.stack(wanted), atol=1e-6)
    assert not np.allclose(seen, vector(last, reading).reshape(4, -1), atol=1e-3)


def test_features_of_a_concept_test_count_apart() -> None:
    echo = echoes(ANSWER)[0]
    tested = features(echo, 0, 2, Told(ANSWER, 9.0, 3, "concept_test", NOTHING))
    assert {name for name in tested if name.startswith("test.")}
    assert not {name for name in features(echo, 0, 2, TOLD) if name.startswith("test.")}

"""The choice among wordings: the model, its file, its training, and how it does on moments that were kept apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.language.offline import ranking
from pipeline.language.offline.ranking import Moment, Ranker, ranked
from pipeline.language.offline.telling import Telling
from pipeline.language.offline.wording import Wording
from pipeline.language.training import ranker as training
from pipeline.methodology import Form

CORPUS = Path(__file__).parents[3] / "corpus" / "judged"
MOMENT = Moment(type="attribute", stance="wanted", feels=False, last_said=True, about=None, answer="It is quick.")
WHY = Wording("Why is that important to you?", Form(ask="Why is that important to you?"))
WHAT = Wording("What does that do for you?", Form(ask="What does that do for you?"))


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where the ranker's file is looked for in this test."""
    monkeypatch.setattr(ranking, "files", lambda _: tmp_path)
    ranking.shipped.cache_clear()
    yield tmp_path / "ranker.json"
    ranking.shipped.cache_clear()


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"base": 1}', '{"base": "x", "weights": {"a": "b"}}'])
def test_missing_or_damaged_file_leaves_the_order_to_chance(file: Path, content: str | None) -> None:
    if content is not None:
        file.write_text(content, encoding="utf-8")
    assert ranking.shipped() is None
    assert [wording for _, wording in ranked([WHY, WHAT], MOMENT, [0.1, 0.9])] == [WHAT, WHY]


def test_weights_decide_and_chance_only_between_equals(file: Path) -> None:
    file.write_text(json.dumps({"base": 1.0, "weights": {"form=why is that important to you": 0.5}}), encoding="utf-8")
    best = ranked([WHAT, WHY], MOMENT, [0.9, 0.0])
    assert [wording for _, wording in best] == [WHY, WHAT]
    assert best[0][0] == pytest.approx(1.5)


def test_what_was_asked_lately_waits(file: Path) -> None:
    file.write_text(json.dumps({"base": 1.0, "weights": {"form=why is that important to you": 0.5}}), encoding="utf-8")
    again = replace(MOMENT, recent=("Why is that important to you?", "And then?"))
    assert [wording for _, wording in ranked([WHY, WHAT], again, [0.5, 0.5])] == [WHAT, WHY]


def test_training_learns_what_judges_prefer() -> None:
    judged = [training.Judged(MOMENT, (WHY, WHAT), (3, 0)) for _ in range(10)]
    learned = training.fit(judged, 1.0)
    assert learned.score(WHY, MOMENT) > learned.score(WHAT, MOMENT)
    found = training.figures(learned, judged)
    assert (found.pairs, found.good, found.bad, found.at_best) == (1.0, 1.0, 0.0, 3.0)
    assert found.by_chance == 1.5
    assert training.cross_validated(judged, 1.0).pairs == 1.0


def test_shipped_file_is_what_the_corpus_makes() -> None:
    shipped = ranking.shipped()
    assert shipped is not None
    strength = json.loads(Path(ranking.__file__).with_name("ranker.json").read_text("utf-8"))["strength"]
    again = training.fit([each for path in sorted(CORPUS.glob("*.jsonl")) for each in training.read(path)], strength)
    assert dict(shipped.weights) == pytest.approx(dict(again.weights), abs=0.01)


def test_training_writes_what_the_product_reads(file: Path, tmp_path: Path) -> None:
    first = (CORPUS / "a.jsonl").read_text("utf-8").splitlines()[:12]
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "few.jsonl").write_text("\n".join(first) + "\n", encoding="utf-8")
    assert training.main(["--corpus", str(tmp_path / "corpus"), "--to", str(file)]) == 0
    written = json.loads(file.read_text("utf-8"))
    assert ranking.shipped() == Ranker(written["weights"], written["base"])
    assert written["weights"]


def test_blind_moments_share_no_answer_with_training() -> None:
    def answers(folder: Path) -> set[str]:
        return {
            json.loads(line)["answer"]
            for path in folder.glob("*.jsonl")
            for line in path.read_text("utf-8").splitlines()
        }

    assert not answers(CORPUS) & answers(CORPUS / "blind")


@pytest.mark.parametrize(
    ("name", "pairs", "gain"),
    [
        *(("first", 0.68, 0.3), ("second", 0.68, 0.3)),
        # Made when forms that moderators found bad were gone: there is less to tell apart, and less to gain.
        *(("third", 0.6, 0.15), ("fourth", 0.6, 0.15)),
    ],
)
def test_moderators_mostly_agree_on_blind_moments(name: str, pairs: float, gain: float) -> None:
    path = CORPUS / "blind" / f"{name}.jsonl"
    shipped = ranking.shipped()
    assert shipped is not None
    found = training.figures(shipped, list(training.read(path)))
    assert found.pairs >= pairs
    assert found.mean >= found.by_chance + gain


def scored(wordings: list[Wording], moment: Moment) -> list[str]:
    return [wording.text for _, wording in ranked(wordings, moment, [0.5] * len(wordings))]


def test_how_it_went_on_is_not_asked_a_third_time_in_a_row(file: Path) -> None:
    then, mind = "What happened then?", "What went through your mind at that moment?"
    wordings = [Wording(text, Form(ask=text)) for text in (then, mind)]
    going = replace(MOMENT, told=Telling(happening=True))
    assert scored(wordings, going)[0] == then
    twice = replace(going, recent=("And what happened next?", "How did it go on from there?"))
    assert scored(wordings, twice)[0] == mind


def test_words_of_learners_and_dialect_are_not_said_back(file: Path) -> None:
    echo = Wording("She don't say owt. Why is that?", Form(ask="Why is that?"), "echo")
    plain = Wording("You took the car. Why is that?", Form(ask="Why is that?"), "echo")
    several = replace(MOMENT, told=Telling(several=True))
    assert scored([echo, plain], several)[0] == plain.text
    learner = replace(MOMENT, told=Telling(several=True, learning=True))
    bare = Wording("Why is that?", Form(ask="Why is that?"))
    assert scored([plain, bare], learner)[0] == bare.text


def test_after_a_complaint_nothing_points_at_what_was_left(file: Path) -> None:
    bare, named = (
        Wording("Why is that?", Form(ask="Why is that?")),
        Wording("Who was with you?", Form(ask="Who was with you?")),
    )
    assert scored([bare, named], replace(MOMENT, complained=True))[0] == named.text


def test_clause_said_back_of_what_was_said_just_now_loses_and_more_so_after_a_reply() -> None:
    echo = Wording("It is quick. Why is that important to you?", WHY.form, "echo")
    bare, back = ((value, wording) for value, wording in ranked([WHY, echo], MOMENT, [0.0, 0.0]))
    assert (bare[1], back[1]) == (WHY, echo)
    replied = {wording: value for value, wording in ranked([echo], replace(MOMENT, replied=True), [0.0])}
    assert replied[echo] < back[0]
    led_back = {wording: value for value, wording in ranked([echo], replace(MOMENT, jump=True), [0.0])}
    assert led_back[echo] > back[0]


def score_of(ask: str, moment: Moment = MOMENT) -> float:
    return ranked([Wording(ask, Form(ask=ask))], moment, [0.0])[0][0]


def test_forms_that_moderators_hardly_ever_called_good_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    worn, plain = "What does that do for you?", "Tell me a bit more about that."
    before, plain_before = score_of(worn), score_of(plain)
    monkeypatch.setattr(ranking, "WORN_OUT", ())
    monkeypatch.setattr(ranking, "_worn_out", ranking._worn_out.__wrapped__)  # Without what it remembers.
    assert score_of(worn) == pytest.approx(before + 0.6)
    assert score_of(plain) == plain_before


def test_meaning_is_asked_for_less_with_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = replace(MOMENT, recent=("What did that mean to you?", *("What happened then?",) * 9))
    once, never = score_of("And what does that mean for you?", asked), score_of("And what does that mean for you?")
    monkeypatch.setattr(ranking, "MEANT", 0.0)
    assert score_of("And what does that mean for you?", asked) == pytest.approx(once + 0.6)
    assert once < never


def test_after_an_answer_to_something_else_no_that_is_asked_about() -> None:
    that, story = (
        Wording("What is that like for you?", Form(ask="What is that like for you?")),
        Wording("What happened then?", Form(ask="What happened then?")),
    )
    plain = {wording: worth for worth, wording in ranked([that, story], MOMENT, [0.0, 0.0])}
    replied = {wording: worth for worth, wording in ranked([that, story], replace(MOMENT, replied=True), [0.0, 0.0])}
    assert plain[that] - replied[that] == pytest.approx(ranking.REPLIED)
    assert plain[story] == replied[story]


def test_what_weighs_is_said_back_and_not_what_only_happened() -> None:
    form = Form(ask="What was that like for you?")
    weighs = Wording("She never mentioned it. What was that like for you?", form, "echo")
    happened = Wording("She got up. What was that like for you?", form, "echo")
    worths = {wording: worth for worth, wording in ranked([weighs, happened], MOMENT, [0.0, 0.0])}
    assert worths[weighs] - worths[happened] > 0.5


def worth(wording: Wording, moment: Moment) -> float:
    return ranked([wording], moment, [0.0])[0][0]


def test_the_same_in_other_words_is_not_asked_twice_running() -> None:
    like = Wording("What was that like for you?", Form(ask="What was that like for you?"))
    just, before = "What is that like for you?", "Why is that important to you?"
    apart = replace(MOMENT, recent=(just, before))
    assert worth(like, replace(MOMENT, recent=(before, just))) <= worth(like, apart) - ranking.ALIKE_LAST + 0.01


def test_a_reason_that_was_told_is_not_asked_for() -> None:
    made = Wording("What made you walk out?", Form(ask="What made you {deed}?"), "woven")
    plain, told = replace(MOMENT, answer="And I walked out."), replace(MOMENT, answer="So I walked out.")
    assert worth(made, plain) - worth(made, told) == pytest.approx(ranking.REASON_TOLD, abs=0.01)


def test_a_reason_for_a_feeling_that_was_told_is_not_asked_for() -> None:
    feel = Wording("What makes you feel ashamed?", Form(ask="What makes you feel {feeling}?"), "woven")
    plain = replace(MOMENT, answer="I was kind of ashamed. He was getting up at three.")
    told = replace(MOMENT, answer="I was kind of ashamed. Because he was getting up at three.")
    assert worth(feel, plain) - worth(feel, told) == pytest.approx(ranking.REASON_TOLD, abs=0.01)


def test_the_middle_of_a_story_is_not_left_for_something_aside() -> None:
    letter = Wording("What was it like, writing a letter?", Form(ask="What was it like, {gerund}?"), "woven")
    going = replace(MOMENT, last_said=False, told=Telling(happening=True))
    assert worth(letter, replace(going, last_said=True)) - worth(letter, going) >= ranking.ASIDE - 0.3

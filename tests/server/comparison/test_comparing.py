"""Recorded answers through several engines: what each asks, why, how the runs differ, and how that is shown."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.loader import UnknownName
from config.settings import load
from pipeline.concept import PipelineSettings
from pipeline.engines.base import ScoredCandidate, Term
from pipeline.engines.registry import ENGINES
from pipeline.focus import Target
from server.comparison.errors import NotARecord, Unplayable
from server.comparison.moments import HONEST, Comparison, compared, difference
from server.comparison.phrases import listed, phrases
from server.comparison.playing import Run, play
from server.comparison.playing import held as as_held
from server.comparison.recording import Message, Recording, recording
from server.comparison.report import document, page, table
from server.comparison.steps import sentence, speaking, steps
from server.comparison.variants import Wanted, variants
from tests.server.comparison.support import (
    SAID,
    engine_file,
    export,
    held,
    interview_with,
    library,
    variant,
)
from tests.support.interview import Interview, ScriptedReader


async def played(engine: str, source: Recording, interview: Interview | None = None) -> Run:
    """Through the pipeline of the interview, whose extractor knows what is said."""
    return await play((interview or interview_with(engine)).pipeline(), variant(engine), source)


async def comparison_of(source: Recording) -> Comparison:
    first = as_held(source)
    runs = [await played(engine, source) for engine in ENGINES]
    return compared(source, [*([first] if first is not None else []), *runs])


async def stored(engine: str, said: tuple[str, ...] = SAID) -> Recording:
    return recording(json.dumps(export(await held(engine, said))).encode(), "session s-1")


def answers(*texts: str) -> Recording:
    return Recording("file", tuple(Message(text) for text in texts), max_turns=12)


@pytest.mark.parametrize("engine", ["two_tier", "arbitration"])
async def test_the_engine_that_held_an_interview_asks_the_same_again(engine: str) -> None:
    source = await stored(engine)
    run = await played(engine, source)
    assert source.state is not None
    assert [u.text for u in run.state.utterances] == [u.text for u in source.state.utterances]
    assert [r.candidates for r in run.records] == [r.candidates for r in source.records]


async def test_every_engine_is_given_the_same_answers_and_its_choices_are_kept_apart() -> None:
    found = await comparison_of(await stored("two_tier"))
    assert found.names == ("two_tier (as held)", "signal_pools", "arbitration")
    assert found.notes[-1].startswith("Played again, two_tier says the same")
    assert [figures.taken <= figures.given for figures in found.figures] == [True] * 3
    assert len({figures.strategies for figures in found.figures}) >= 3
    assert found.figures[0].fitting is None
    ways = {moment.verdict for moment in found.moments}
    assert "subject" in ways or "strategy" in ways
    for run in found.runs:
        own = {*ENGINES[run.engine].strategies(run.configuration).names, "", "must_ask"}
        assert {step.strategy for step in steps(run)} <= own
        assert all(step.why for step in steps(run) if step.after)


async def test_interview_that_is_closed_early_takes_no_more_answers() -> None:
    short = await played("two_tier", Recording("file", tuple(map(Message, SAID)), max_turns=5))
    (figures,) = compared(answers(*SAID), [short]).figures
    assert (figures.taken, figures.given, figures.closed) == (5, 12, True)
    assert figures.end.startswith("closed after 5 answers")


async def test_interview_that_is_not_over_with_the_last_answer_would_go_on() -> None:
    (figures,) = compared(answers("sweet"), [await played("signal_pools", answers("sweet"))]).figures
    assert (figures.taken, figures.closed, figures.end) == (1, False, "would go on after 1 answer")
    assert figures.asked == 1
    assert figures.words


async def test_answers_are_amended_and_skipped_as_they_were() -> None:
    source = Recording(
        "file",
        (Message("sweet"), Message("cheap", "correct"), Message("", "skip"), Message("warm")),
        max_turns=12,
    )
    run = await played("arbitration", source)
    said = [u for u in run.state.utterances if u.speaker == "respondent"]
    assert [u.kind for u in said] == ["answer", "correct", "skip", "answer"]
    assert said[1].corrects == said[0].id
    assert [node.label for node in run.state.nodes if node.superseded_by is None] == ["cheap", "warm"]


async def test_spoken_answers_are_spoken_again() -> None:
    data = export(await held("two_tier", ("sweet", "bitter")))
    data["utterances"][1]["spoken"] = True
    source = recording(json.dumps(data).encode(), "file")
    run = await played("two_tier", source)
    assert [u.spoken for u in run.state.utterances if u.speaker == "respondent"] == [True, False]


async def test_amendment_of_nothing_is_an_answer() -> None:
    run = await played("signal_pools", Recording("file", (Message("sweet", "correct"),), max_turns=12))
    assert [u.kind for u in run.state.utterances if u.speaker == "respondent"] == ["answer"]


async def test_stop_that_was_taken_back_ends_nothing_and_one_that_was_not_ends_it() -> None:
    interview = interview_with("signal_pools")
    interview.reader = ScriptedReader({"let me go": [("let me go", "wants_stop")]})
    ended = await played("signal_pools", answers("sweet", "let me go"), interview)
    (figures,) = compared(answers("sweet", "let me go"), [ended]).figures
    assert figures.end == "the respondent stopped"
    assert figures.closed
    back = await played("signal_pools", answers("sweet", "let me go", "bitter"), interview)
    assert back.state.conduct.stopping_until is None
    assert [node.label for node in back.state.nodes] == ["sweet", "bitter"]


async def test_answer_of_8000_characters_is_taken_and_a_longer_one_named() -> None:
    found = await comparison_of(answers("sweet", "a " * 3999 + "ab"))
    assert [figures.taken for figures in found.figures] == [2, 2, 2]
    assert max(map(len, table(found).splitlines())) < 200
    assert page(found).count("a " * 3999) == 1
    with pytest.raises(Unplayable, match=r"answer 2 can't be taken: the answer has 8001 characters"):
        await played("signal_pools", answers("sweet", "x" * 8001))


async def test_language_that_nothing_here_speaks_is_refused() -> None:
    with pytest.raises(Unplayable, match="interviews in `fr` can't be held without a language model"):
        await played("signal_pools", Recording("file", (Message("doux"),), language="fr"))


async def test_table_page_and_document_say_that_answers_were_given_to_other_questions() -> None:
    found = await comparison_of(await stored("two_tier", SAID[:4]))
    text, shown, data = table(found), page(found), document(found)
    assert HONEST.split(".")[0] in " ".join(text.split())
    assert HONEST.split(".")[0] in shown
    assert data["note"] == HONEST
    assert json.loads(json.dumps(data))["runs"][0]["name"] == "two_tier (as held)"
    assert [row["name"] for row in data["runs"]] == list(found.names)
    assert [answer["text"] for answer in data["answers"]] == list(SAID[:4])
    for name in found.names:
        assert name in text
        assert f">{name}</th>" in shown
    for heading in ("Length", "Choices", "Coverage", "Depth", "Repetition"):
        assert f"\n{heading}\n" in text
        assert f">{heading}</th>" in shown
    assert "http" not in shown.replace("http-equiv", ""), "the page needs nothing else"
    assert "<script" not in shown


async def test_page_shows_what_was_said_as_text() -> None:
    shown = page(await comparison_of(answers("<img src=x onerror=alert(1)>", "\"&amp;'")))
    assert "<img" not in shown
    assert "&lt;img src=x" in shown
    assert "&amp;amp;" in shown


async def test_openings_are_shown_apart_where_they_differ() -> None:
    source = answers("sweet")
    one = interview_with("signal_pools")
    other = interview_with("two_tier")
    one.writer.texts, other.writer.texts = ["What do you think of first?"], ["When was the last time?"]
    runs = [await played("signal_pools", source, one), await played("two_tier", source, other)]
    assert len({run.state.utterances[0].text for run in runs}) == 2
    found = compared(source, runs)
    assert [who for who, _ in found.openings] == ["signal_pools", "two_tier"]
    for run in runs:
        assert run.state.utterances[0].text in table(found)
        assert f"Opening of {run.name}" in page(found)
    alone = compared(source, runs[:1])
    assert "Opening of" not in page(alone)
    assert document(alone)["openings"] == [{"by": "signal_pools", "text": runs[0].state.utterances[0].text}]


async def test_one_run_alone_is_compared_with_nothing() -> None:
    found = compared(answers("sweet"), [await played("signal_pools", answers("sweet"))])
    assert found.parting == "There is nothing to compare it with."
    assert [moment.verdict for moment in found.moments] == ["same"]
    assert "There is nothing to compare it with." in table(found)


async def test_difference_names_who_asks_about_what() -> None:
    found = await comparison_of(answers("sweet", "bitter", "cheap"))
    texts = [difference(moment, found.names) for moment in found.moments if moment.verdict == "subject"]
    assert texts, "three engines that always agree are none"
    assert all("about “" in text or "closing" in text for text in texts)
    assert found.parting.startswith("They part after answer ")


def test_phrases_are_those_of_the_moderators_page() -> None:
    assert phrases()["mod.why"].format(strategy="deepen", reasons="it is new") == "Asked (deepen) because it is new."
    assert {"mod.why.nothing", "mod.why.about", "mod.why.phase", "mod.reason.guide_finished"} <= set(phrases())
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == [
        "", "a", "a and b", "a, b, and c",
    ]  # fmt: skip


async def test_sentence_names_what_spoke_most_for_the_question_that_was_asked() -> None:
    record = (await held("signal_pools", ("sweet",))).last.record
    assert record is not None
    mine = ScoredCandidate(
        strategy="deepen",
        target=Target.node("n1", "sweet"),
        terms=(
            Term(name="graph.node.salience", signal="graph.node.salience", value=1, weight=0.1, amount=0.1),
            Term(name="novelty", value=2.0, weight=0.2, amount=0.4, reason="it is new"),
            Term(name="engagement", value=0.5, weight=0.2, amount=0.1, reason="it suits"),
            Term(kind="multiplied", name="phase", amount=3.0, reason="late"),
            Term(kind="multiplied", name="redundancy", amount=0.5, reason="it was asked"),
        ),
        final_score=1.0,
        rank=2,
        selected=False,
    )
    other = mine.model_copy(update={"target": Target.node("n2", "bitter"), "rank": 1, "selected": True})
    those = {"candidates": (other, mine), "strategy": "deepen", "target": Target.node("n1", "sweet"), "directive": None}
    said = sentence(record.model_copy(update=those), "sweet")
    assert [term.name for term in speaking(mine)] == ["phase", "novelty", "graph.node.salience"]
    assert said == (
        "Asked (deepen: sweet) because this phase of the interview prefers it, it is new, and it carries weight. "
        "The engine had proposed something else; the writer of the question took this."
    )
    demanded = {**those, "strategy": "must_ask", "target": Target(kind="topic", ids=("must_ask.price",), label="price")}
    assert sentence(record.model_copy(update=demanded), "price") == (
        "Asked (must ask: price) because the concept demands it before the interview may close."
    )


def chosen(source: Recording, wanted: Wanted) -> Any:
    return variants(source, wanted, library(), load().settings)


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith("ASKWELL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASKWELL_DATA", str(tmp_path / "data"))


async def test_every_engine_is_tried_where_none_is_named() -> None:
    source = await stored("two_tier", ("sweet",))
    assert [one.name for one in chosen(source, Wanted()).listed] == list(ENGINES)
    assert [one.name for one in chosen(source, Wanted(engines=("all", "two_tier"))).listed] == list(ENGINES)
    (one,) = chosen(source, Wanted(engines=("arbitration", "arbitration"))).listed
    assert (one.engine, one.configuration.concept.choice) == ("arbitration", "engine")
    assert one.configuration.engine_file == engine_file("arbitration")


async def test_pinned_file_of_the_engine_is_kept_for_it_alone() -> None:
    source = await stored("two_tier", ("sweet",))
    assert source.configuration is not None
    file = json.loads(json.dumps(source.configuration.engine_file))
    file["engine"]["version"] = "as pinned"
    pinned = source.configuration.model_copy(update={"engine_file": file})
    listed_ = chosen(replace(source, configuration=pinned), Wanted()).listed
    assert [one.configuration.engine_file.get("engine", {}).get("version") for one in listed_] == [
        None, "as pinned", engine_file("arbitration")["engine"]["version"],
    ]  # fmt: skip


async def test_engine_that_can_not_serve_is_left_out_or_refused_where_it_was_named() -> None:
    source = await stored("two_tier", ("sweet",))
    assert source.configuration is not None
    pinned = source.configuration.model_copy(update={"engine_file": {"engine": {"name": "two_tier"}}})
    broken = replace(source, configuration=pinned)
    found = chosen(broken, Wanted())
    assert [one.name for one in found.listed] == ["signal_pools", "arbitration"]
    assert found.left_out == ("Left out: two_tier can't be used with small: its file was written for another version.",)
    with pytest.raises(Unplayable, match="two_tier can't be used with small"):
        chosen(broken, Wanted(engines=("two_tier",)))


async def test_engine_that_the_methodology_does_not_admit_is_refused_as_at_the_start_of_a_session() -> None:
    source = await stored("signal_pools", ("sweet",))
    assert source.configuration is not None
    method = source.configuration.methodology.model_copy(update={"engines": ("signal_pools",)})
    pinned = replace(source, configuration=source.configuration.model_copy(update={"methodology": method}))
    with pytest.raises(Unplayable, match="`two_tier` can't hold interviews by `small`; take `signal_pools`"):
        chosen(pinned, Wanted(engines=("two_tier",)))


async def test_engine_or_method_of_another_version_is_named(tmp_path: Path) -> None:
    source = await stored("two_tier", ("sweet",))
    assert source.configuration is not None
    found = chosen(replace(source, engine="dice", concept_id="coffee_mec"), Wanted(directories=(tmp_path,)))
    assert [one.engine for one in found.listed] == ["signal_pools"]
    assert found.left_out[0].startswith("Left out: this version of askwell has no engine `dice`")
    method = source.configuration.methodology
    other = method.strategies[0].model_copy(update={"signal_weights": {"graph.node.invented": 1.0}})
    changed = method.model_copy(update={"strategies": (other, *method.strategies[1:])})
    pinned = source.configuration.model_copy(update={"methodology": changed})
    with pytest.raises(Unplayable, match=r"small is of another version of askwell: .*`graph.node.invented`"):
        chosen(replace(source, configuration=pinned), Wanted())


async def test_configurations_are_told_apart_by_their_directory(tmp_path: Path) -> None:
    directory = tmp_path / "mine"
    (directory / "concepts").mkdir(parents=True)
    concept = "id: coffee\nname: coffee\nmethodology: means_end_chain\nobjective: Why.\nengine: two_tier\n"
    (directory / "concepts" / "coffee.yaml").write_text(concept, encoding="utf-8")
    source = await stored("arbitration", ("sweet",))
    found = chosen(source, Wanted(directories=(directory,))).listed
    assert [one.name for one in found] == ["arbitration (as pinned)", "two_tier (mine)"]
    assert [one.configuration.methodology.name for one in found] == ["small", "means_end_chain"]
    both = chosen(source, Wanted(engines=("signal_pools",), directories=(directory,))).listed
    assert [one.name for one in both] == ["signal_pools (as pinned)", "signal_pools (mine)"]
    concepts = chosen(source, Wanted(concepts=("coffee_mec", "headphones_mec"))).listed
    assert [one.name for one in concepts] == ["signal_pools (coffee_mec)", "signal_pools (headphones_mec)"]
    with pytest.raises(NotARecord, match="is no directory"):
        chosen(source, Wanted(directories=(tmp_path / "none",)))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(engines=("dice",)), "There is no decision engine `dice`"),
        (Wanted(concepts=("nowhere",)), "There is no concept `nowhere`"),
        (Wanted(concepts=("coffee_mec",), language="tlh"), "not available in `tlh`"),
    ],
)
def test_unknown_names_are_refused(wanted: Wanted, said: str) -> None:
    with pytest.raises(UnknownName, match=said):
        chosen(answers("sweet"), wanted)


def test_answers_about_nobody_knows_what_need_a_concept() -> None:
    with pytest.raises(NotARecord, match="name a concept with --concept"):
        chosen(answers("sweet"), Wanted())
    told = Recording("file", (Message("sweet"),), persona="night_nurse")
    assert chosen(told, Wanted()).listed[0].configuration.concept.id == "coffee_mec"


def test_settings_of_the_pipeline_are_those_of_the_process() -> None:
    (one,) = chosen(answers("sweet"), Wanted(concepts=("coffee_mec",), engines=("two_tier",))).listed
    assert one.configuration.settings == PipelineSettings()
    assert one.configuration.prompts == {}

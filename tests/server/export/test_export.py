"""Exports, each opened again by a reader that is not ours."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import networkx
import pytest
import webvtt
from docx import Document

from pipeline.concept import Element
from pipeline.coverage import ElementCoverage
from pipeline.graph.surface import KGEdge, KGNode, Mention
from pipeline.guide import TopicProgress
from pipeline.state import InterviewState, Utterance
from pipeline.stimulus import ShownImage
from server.export import FORMATS, written
from server.export.material import SECOND_READING, Material
from server.store.tables import LLM_CALLS, MODERATOR_ACTIONS
from server.usage import SessionUsage
from tests.support.interview import NOW, configuration, new_state

QUESTION = "What matters most to you?"
ANSWER = "Well: <b>it's</b> quiet & warm 👩‍👩‍👧, =HYPERLINK(1) so I can *think* -- really"
QUOTE = "quiet & warm 👩‍👩‍👧"
QDE = {"q": "urn:QDA-XML:project:1.0"}


def _utterance(number: int, turn: int, speaker: Any, kind: Any, text: str) -> Utterance:
    moment = NOW + timedelta(seconds=7 * turn)
    return Utterance(id=f"u{number}", turn_number=turn, speaker=speaker, kind=kind, text=text, recorded_at=moment)


def _node(number: int, label: str, node_type: str, *mentions: Mention) -> KGNode:
    return KGNode(
        id=f"n{number}",
        label=label,
        node_type=node_type,
        mentions=mentions,
        confidence=0.8,
        created_turn=1,
        last_mention_turn=1,
        sequence=number,
        mention_sequence=number,
    )


@pytest.fixture
def material() -> Material:
    said = Mention(utterance_id="u1", quote=QUOTE)
    elsewhere = Mention(utterance_id="u1", quote="not word for word")
    state = new_state(
        turn_count=2,
        status="active",
        utterances=(
            _utterance(0, 0, "interviewer", "opening", QUESTION),
            _utterance(1, 1, "respondent", "answer", ANSWER),
            _utterance(2, 1, "interviewer", "question", "Why\x0b is that?"),
            _utterance(3, 2, "respondent", "skip", ""),
        ),
        nodes=(_node(1, "quiet & <warm>", "attribute", said), _node(2, "=think", "consequence", said, elsewhere)),
        edges=(
            KGEdge(
                id="e1",
                source_id="n1",
                target_id="n2",
                edge_type="leads_to",
                mentions=(said,),
                confidence=0.7,
                created_turn=1,
                sequence=3,
            ),
        ),
    )
    turns = [{"turn_number": 1, "strategy": "deepen", "depth_score": 0.5, "candidates": [{"rank": 1}]}]
    calls = [{"id": "c1", "turn_number": 1, "model": "=m", "input_tokens": 7, "cost": None}]
    return Material(state, configuration(), turns, calls=calls, usage=SessionUsage(calls=1, input_tokens=7))


def _written(material: Material, name: str) -> bytes:
    return FORMATS[name].write(material)


def test_json_holds_everything_and_the_configuration(material: Material) -> None:
    data = json.loads(_written(material, "json"))
    assert [u["text"] for u in data["utterances"]][1] == ANSWER
    assert data["nodes"][0]["quotes"] == [{"utterance_id": "u1", "quote": QUOTE}]
    assert data["edges"][0]["source_id"] == "n1"
    assert data["turns"] == material.turns
    assert data["llm_calls"] == material.calls
    assert (data["usage"]["calls"], data["usage"]["input_tokens"]) == (1, 7)
    assert data["configuration"]["methodology"]["method"]["name"] == "small"


def test_utterance_recorded_after_the_clock_was_set_back_is_marked(material: Material) -> None:
    first, second, third, last = material.state.utterances
    early = second.model_copy(update={"recorded_at": first.recorded_at - timedelta(days=1)})
    changed = material.state.model_copy(update={"utterances": (first, early, third, last)})
    rows = json.loads(_written(replace(material, state=changed), "json"))["utterances"]
    assert [row["clock_set_back"] for row in rows] == [False, True, False, False]


def test_markdown_shows_words_as_they_were_said_not_as_markup(material: Material) -> None:
    text = _written(material, "md").decode()
    assert r"\<b\>it's\</b\>" in text
    assert r"\*think\*" in text
    assert "**Respondent 2**: (rather not say)" in text
    assert r"quiet & \<warm\> → \=think (leads to, unrecorded)" in text


def test_csv_tables_open_in_a_spreadsheet_and_hold_no_formulas(material: Material) -> None:
    with zipfile.ZipFile(io.BytesIO(_written(material, "csv"))) as archive:
        assert archive.testzip() is None
        tables = {
            name: list(csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"))))
            for name in archive.namelist()
        }
    assert [row["text"] for row in tables["utterances.csv"]] == [QUESTION, ANSWER, "Why\x0b is that?", ""]
    assert [row["label"] for row in tables["nodes.csv"]] == ["quiet & <warm>", "'=think"]
    assert {row["quote"] for row in tables["quotes.csv"]} == {QUOTE, "not word for word"}
    assert tables["scores.csv"] == [{"turn_number": "1", "strategy": "deepen", "depth_score": "0.5"}]
    assert tables["session.csv"][0]["concept_id"] == "coffee"
    [call] = tables["usage.csv"]
    assert call == {"id": "c1", "turn_number": "1", "model": "'=m", "input_tokens": "7", "cost": ""}


@pytest.mark.parametrize("begin", [*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20\u2212", " =", "\u200b="])
def test_csv_text_that_begins_like_a_formula_gets_an_apostrophe(begin: str) -> None:
    said = _utterance(1, 1, "respondent", "answer", f"{begin}HYPERLINK(1)")
    state = new_state(turn_count=1, status="active", utterances=(said,))
    found = Material(state=state, configuration=configuration(), turns=(), actions=(), calls=(), usage=SessionUsage())
    with zipfile.ZipFile(io.BytesIO(_written(found, "csv"))) as archive:
        content = archive.read("utterances.csv").decode("utf-8-sig")
    [row] = csv.DictReader(io.StringIO(content, newline=""))
    assert row["text"] == f"'{begin}HYPERLINK(1)"


def test_graphml_opens_in_networkx(material: Material) -> None:
    graph = networkx.read_graphml(io.BytesIO(_written(material, "graphml")))
    assert graph.is_directed()
    assert graph.nodes["n1"]["label"] == "quiet & <warm>"
    assert graph.nodes["n1"]["level"] == 1
    assert graph.nodes["n2"]["quotes"] == f"{QUOTE} | not word for word"
    ((source, target, data),) = graph.edges(data=True)
    assert (source, target, data["edge_type"], data["confidence"]) == ("n1", "n2", "leads_to", 0.7)


def test_vtt_of_a_spoken_answer_lasts_as_long_as_it_took_and_ends_when_it_was_recorded() -> None:
    asked = _utterance(1, 0, "interviewer", "opening", QUESTION)
    spoken = _utterance(2, 1, "respondent", "answer", "It is quiet").model_copy(
        update={"spoken": True, "confidence": 0.8, "speech_ms": 2500}
    )
    state = new_state(utterances=(asked, spoken))
    material = Material(
        state=state, configuration=configuration(), turns=(), actions=(), calls=(), usage=SessionUsage()
    )
    [_, caption] = webvtt.from_string(_written(material, "vtt").decode()).captions
    assert (caption.start, caption.end) == ("00:00:04.500", "00:00:07.000")
    said = json.loads(_written(material, "json"))["utterances"][1]
    assert (said["spoken"], said["confidence"], said["speech_ms"]) == (True, 0.8, 2500)


def test_second_reading_is_in_every_export_that_is_read_with_words_that_say_what_it_is() -> None:
    spoken = _utterance(1, 1, "respondent", "answer", "It is *warm*").model_copy(
        update={"spoken": True, "second_reading": "It is *worn*"}
    )
    typed = _utterance(2, 2, "respondent", "answer", "And quiet")
    state = new_state(utterances=(spoken, typed))
    material = Material(
        state=state, configuration=configuration(), turns=(), actions=(), calls=(), usage=SessionUsage()
    )
    rows = json.loads(_written(material, "json"))["utterances"]
    assert [row["second_reading"] for row in rows] == ["It is *worn*", None]
    lines = _written(material, "md").decode().splitlines()
    at = lines.index("**Respondent 1**: It is \\*warm\\*")
    assert lines[at + 2] == f"> _{SECOND_READING} It is \\*worn\\*_"
    assert sum(SECOND_READING in line for line in lines) == 1, "only where there is one"
    paragraphs = [each.text for each in Document(io.BytesIO(_written(material, "docx"))).paragraphs]
    assert paragraphs[paragraphs.index("Respondent 1: It is *warm*") + 1] == f"{SECOND_READING} It is *worn*"
    with zipfile.ZipFile(io.BytesIO(_written(material, "csv"))) as tables:
        table = [*csv.DictReader(io.StringIO(tables.read("utterances.csv").decode("utf-8-sig")))]
    assert [row["second_reading"] for row in table] == ["It is *worn*", ""]
    assert "worn" not in _written(material, "vtt").decode()


def test_vtt_has_one_caption_per_utterance_in_order_without_overlap(material: Material) -> None:
    captions = webvtt.from_string(_written(material, "vtt").decode()).captions
    assert [caption.voice for caption in captions] == ["Interviewer", "Respondent", "Interviewer"]
    assert captions[1].start_in_seconds == 7
    assert "it's" in captions[1].raw_text
    assert "<b>" not in captions[1].raw_text
    for earlier, later in pairwise(captions):
        assert earlier.end <= later.start


def test_docx_opens_as_a_word_document(material: Material) -> None:
    with zipfile.ZipFile(io.BytesIO(_written(material, "docx"))) as archive:
        assert archive.testzip() is None
        body = ET.fromstring(archive.read("word/document.xml"))
        core = archive.read("docProps/core.xml").decode()
    word = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    paragraphs = ["".join(t.text or "" for t in p.iter(f"{word}t")) for p in body.iter(f"{word}p")]
    assert f"Respondent 1: {ANSWER}" in paragraphs
    assert "Respondent 2: (rather not say)" in paragraphs
    assert "quiet & <warm> → =think (leads to, unrecorded)" in paragraphs
    assert len(list(body.iter(f"{word}tbl"))) == 1
    assert "<dc:title>coffee</dc:title>" in core


def test_qdpx_is_a_project_whose_codings_point_at_the_words(material: Material) -> None:
    with zipfile.ZipFile(io.BytesIO(_written(material, "qdpx"))) as archive:
        project = ET.fromstring(archive.read("project.qde"))
        names = archive.namelist()
        source = project.find("q:Sources/q:TextSource", QDE)
        assert source is not None
        path = source.attrib["plainTextPath"].replace("internal://", "sources/")
        assert names == ["project.qde", path]
        text = archive.read(path).decode("utf-8")
    assert [child.tag.rpartition("}")[2] for child in project] == ["Users", "CodeBook", "Sources", "Links"]
    codes = {code.attrib["guid"]: code.attrib["name"] for code in project.iter("{urn:QDA-XML:project:1.0}Code")}
    assert set(codes.values()) == {"attribute", "consequence", "value", "quiet & <warm>", "=think"}
    found = []
    for selection in source.findall("q:PlainTextSelection", QDE):
        begin, end = int(selection.attrib["startPosition"]), int(selection.attrib["endPosition"])
        reference = selection.find("q:Coding/q:CodeRef", QDE)
        assert reference is not None
        found.append((codes[reference.attrib["targetGUID"]], text[begin:end]))
    assert found == [("quiet & <warm>", QUOTE), ("=think", QUOTE), ("=think", ANSWER)]
    link = project.find("q:Links/q:Link", QDE)
    assert link is not None
    assert (codes[link.attrib["originGUID"]], codes[link.attrib["targetGUID"]]) == ("quiet & <warm>", "=think")
    guids = [element.attrib["guid"] for element in project.iter() if "guid" in element.attrib]
    assert len(set(guids)) == len(guids)


@pytest.mark.parametrize("name", FORMATS)
def test_export_of_a_session_without_a_word_works(name: str) -> None:
    state: InterviewState = new_state()
    assert len(_written(Material(state, configuration()), name)) > 0


@pytest.mark.parametrize("name", FORMATS)
def test_export_is_the_same_again(material: Material, name: str) -> None:
    if name in ("csv", "docx", "qdpx"):
        first, second = (zipfile.ZipFile(io.BytesIO(_written(material, name))) for _ in range(2))
        assert {n: first.read(n) for n in first.namelist()} == {n: second.read(n) for n in second.namelist()}
    else:
        assert _written(material, name) == _written(material, name)


def _amended() -> Material:
    """An answer that was amended after the next question, and what both said."""
    said = (
        _utterance(0, 0, "interviewer", "opening", "When was it?"),
        _utterance(1, 1, "respondent", "answer", "On Tuesday."),
        _utterance(2, 1, "interviewer", "question", "Why then?"),
        _utterance(3, 2, "respondent", "correct", "On Thursday.").model_copy(update={"corrects": "u1"}),
        _utterance(4, 2, "interviewer", "question", "What was on Thursday?"),
    )
    gone = _node(1, "Tuesday", "attribute", Mention(utterance_id="u1", quote="Tuesday"))
    kept = _node(2, "Thursday", "attribute", Mention(utterance_id="u3", quote="Thursday"))
    state = new_state(utterances=said, nodes=(gone.model_copy(update={"superseded_by": kept.id}), kept))
    return Material(state=state, configuration=configuration())


def test_amendment_stands_under_the_question_that_it_answers_and_what_it_retracts_is_marked() -> None:
    text = _written(_amended(), "md").decode()
    lines = [line for line in text.splitlines() if line.startswith("**")]
    assert lines == [
        "**Interviewer**: When was it?",
        "**Respondent 1**: ~~On Tuesday.~~ (retracted)",
        "**Respondent 2** (amended): On Thursday.",
        "**Interviewer**: Why then?",
        "**Interviewer**: What was on Thursday?",
    ]
    assert "- ~~Tuesday~~ (retracted)" in text
    assert "- **Thursday**" in text


def test_captions_and_word_mark_what_was_retracted() -> None:
    captions = _written(_amended(), "vtt").decode()
    assert "<c.retracted>On Tuesday.</c> (retracted)" in captions
    document = Document(io.BytesIO(_written(_amended(), "docx")))
    struck = [run.text for paragraph in document.paragraphs for run in paragraph.runs if run.font.strike]
    assert struck == ["On Tuesday."]
    cells = [cell for row in document.tables[0].rows for cell in row.cells]
    assert [run.text for cell in cells for p in cell.paragraphs for run in p.runs if run.font.strike] == ["Tuesday"]


def test_relations_of_what_was_taken_back_are_marked_and_the_revision_is_not(material: Material) -> None:
    ends = {"source_id": "n2", "target_id": "n1"}
    edge = material.state.edges[0].model_copy(update=ends)
    revision = edge.model_copy(update={"id": "e2", "edge_type": "revises"})
    material = _amended()
    material = replace(material, state=material.state.model_copy(update={"edges": (edge, revision)}))
    assert material.retracted == {"e1"}
    lines = [line for line in _written(material, "md").decode().splitlines() if "Thursday →" in line]
    assert [line.endswith("(retracted)") for line in lines] == [True, False]
    document = Document(io.BytesIO(_written(material, "docx")))
    shown = [p for p in document.paragraphs if p.text.startswith("Thursday →")]
    assert [bool(p.runs[0].font.strike) for p in shown] == [True, False]


def _with_a_guess(material: Material) -> Material:
    guess = material.state.edges[0].model_copy(
        update={"id": "e2", "source_id": "n2", "target_id": "n1", "basis": "inferred"}
    )
    return replace(material, state=material.state.model_copy(update={"edges": (*material.state.edges, guess)}))


def _relations(content: bytes, name: str) -> int:
    """How many relations a file has."""
    if name == "graphml":
        return int(networkx.read_graphml(io.BytesIO(content)).number_of_edges())
    if name == "json":
        return len(json.loads(content)["edges"])
    if name == "md":
        return content.decode().partition("## Relations")[2].count(" → ")
    if name == "docx":
        return sum(" → " in paragraph.text for paragraph in Document(io.BytesIO(content)).paragraphs)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if name == "csv":
            return len(list(csv.DictReader(io.StringIO(archive.read("edges.csv").decode("utf-8-sig")))))
        return len(ET.fromstring(archive.read("project.qde")).findall(".//q:Link", QDE))


@pytest.mark.parametrize("name", ["md", "csv", "graphml", "docx", "qdpx"])
def test_what_was_merely_inferred_is_left_out_unless_asked_for(material: Material, name: str) -> None:
    guessed = _with_a_guess(material)
    assert _relations(written(name, guessed), name) == 1
    assert _relations(written(name, guessed, "all"), name) == 2


def test_the_complete_file_has_every_relation_and_what_it_rests_on(material: Material) -> None:
    edges = json.loads(written("json", _with_a_guess(material)))["edges"]
    assert [edge["basis"] for edge in edges] == ["unrecorded", "inferred"]


def test_every_view_says_how_many_relations_it_leaves_out(material: Material) -> None:
    guessed = _with_a_guess(material)
    sentence = "Of 2 relations, 1 that was merely inferred is left out"
    assert sentence in written("md", guessed).decode()
    assert sentence.encode() in written("graphml", guessed)
    assert any(sentence in p.text for p in Document(io.BytesIO(written("docx", guessed))).paragraphs)
    with zipfile.ZipFile(io.BytesIO(written("csv", guessed))) as archive:
        assert (
            next(csv.DictReader(io.StringIO(archive.read("session.csv").decode("utf-8-sig"))))["edges_omitted"] == "1"
        )
    with zipfile.ZipFile(io.BytesIO(written("qdpx", guessed))) as archive:
        assert sentence.encode() in archive.read("project.qde")
    assert sentence not in written("md", guessed, "all").decode()


def test_elements_of_the_concept_are_listed_with_what_they_lack() -> None:
    plain = configuration()
    elements = (
        Element(id="taste", label="the taste", connection_requirements=("price",)),
        Element(id="price", label="the *price*"),
    )
    concept = plain.concept.model_copy(update={"elements": elements})
    known = ElementCoverage(element_id="taste", mentioned=2, reactions=("positive",), comprehension=0.5)
    state = new_state(coverage=(known,))
    material = Material(state, plain.model_copy(update={"concept": concept}))
    rows = json.loads(_written(material, "json"))["coverage"]
    assert [(row["label"], row["mentioned"], [gap["kind"] for gap in row["gaps"]]) for row in rows] == [
        ("the taste", 2, ["no_comprehension", "unconnected"]),
        ("the *price*", 0, ["unmentioned"]),
    ]
    read = _written(material, "md").decode()
    assert (
        "| the taste | 2× | positive | no | no | 0 | named but not explained; not connected to the \\*price\\* |"
        in read
    )
    assert "| the \\*price\\* | no | – | – | – | 0 | – |" in read
    with zipfile.ZipFile(io.BytesIO(_written(material, "csv"))) as archive:
        lines = list(csv.DictReader(io.StringIO(archive.read("elements.csv").decode("utf-8-sig"))))
    assert [(line["element_id"], line["mentioned"], line["connected"], line["gaps"]) for line in lines] == [
        ("taste", "2", "False", "no_comprehension, unconnected"),
        ("price", "0", "", "unmentioned"),
    ]
    tables = Document(io.BytesIO(_written(material, "docx"))).tables
    assert [cell.text for cell in tables[0].rows[1].cells][:5] == ["the taste", "2×", "positive", "no", "no"]
    assert "Elements" not in _written(Material(new_state(), plain), "md").decode()


def test_what_the_respondent_was_shown_stands_before_the_transcript() -> None:
    plain = configuration()
    concept = plain.concept.model_copy(update={"stimulus": "A *cup*.\n\nIt keeps\nwarm."})
    image = ShownImage(media_type="image/png", width=3, height=2, alt="A cup.", data="")
    shown = Material(new_state(), plain.model_copy(update={"concept": concept, "stimulus_image": image}))
    read = written("md", shown).decode()
    assert "## Shown before the first question\n\nA \\*cup\\*.\n\nIt keeps warm.\n\n\\[Image: A cup.\\]" in read
    assert read.index("Shown before") < read.index("## Transcript")
    paragraphs = [p.text for p in Document(io.BytesIO(written("docx", shown))).paragraphs]
    assert paragraphs[2:6] == ["Shown before the first question", "A *cup*.", "It keeps warm.", "[Image: A cup.]"]
    assert "Shown before" not in written("md", Material(new_state(), plain)).decode()


NOTE = {
    "command_id": "c1",
    "action": "note",
    "moderator": "ada",
    "turn_number": 1,
    "recorded_at": "2026-11-23T12:00:00+00:00",
    "details": {"text": "Asks for *quiet* <b>"},
}
STEER = {
    "command_id": "c2",
    "action": "steer",
    "moderator": "ada",
    "turn_number": 2,
    "recorded_at": "2026-11-23T12:01:00+00:00",
    "details": {"strategy": "deepen", "node_id": None},
}


def test_what_moderators_did_is_in_every_export_that_is_read(material: Material) -> None:
    watched = replace(material, actions=[NOTE, STEER])
    text = _written(watched, "md").decode()
    assert r"- 2026-11-23T12:00:00+00:00 · ada · turn 1 · note: “Asks for \*quiet\* \<b\>”" in text
    assert "- 2026-11-23T12:01:00+00:00 · ada · turn 2 · steer (strategy deepen)" in text
    assert "What moderators did" not in _written(material, "md").decode()
    paragraphs = [one.text for one in Document(io.BytesIO(_written(watched, "docx"))).paragraphs]
    assert "2026-11-23T12:00:00+00:00 · ada · turn 1 · note: “Asks for *quiet* <b>”" in paragraphs
    with zipfile.ZipFile(io.BytesIO(_written(watched, "csv"))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("actions.csv").decode("utf-8-sig"))))
    assert [(row["action"], row["turn_number"]) for row in rows] == [("note", "1"), ("steer", "2")]
    assert json.loads(rows[0]["details"]) == NOTE["details"]


def test_tables_and_coded_projects_mark_what_was_retracted(material: Material) -> None:
    gone, kept = material.state.nodes
    again = _utterance(4, 2, "respondent", "correct", "Not quiet, calm.").model_copy(update={"corrects": "u1"})
    state = material.state.model_copy(
        update={
            "nodes": (gone.model_copy(update={"superseded_by": kept.id}), kept),
            "utterances": (*material.state.utterances, again),
        }
    )
    amended = replace(material, state=state)
    with zipfile.ZipFile(io.BytesIO(_written(amended, "csv"))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("quotes.csv").decode("utf-8-sig"))))
    assert {row["retracted"] for row in rows} == {"True"}
    with zipfile.ZipFile(io.BytesIO(_written(amended, "qdpx"))) as archive:
        project = ET.fromstring(archive.read("project.qde"))
        [source] = [name for name in archive.namelist() if name.endswith(".txt")]
        text = archive.read(source).decode()
    names = {code.get("name") for code in project.iterfind(".//q:Code", QDE)}
    assert {"quiet & <warm> (retracted)", "=think"} <= names
    assert "Respondent (retracted): Well" in text
    selection = project.find(".//q:PlainTextSelection", QDE)
    assert selection is not None
    start, end = int(selection.get("startPosition", "")), int(selection.get("endPosition", ""))
    assert text[start:end] == QUOTE
    with zipfile.ZipFile(io.BytesIO(_written(material, "csv"))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("quotes.csv").decode("utf-8-sig"))))
    assert {row["retracted"] for row in rows} == {"False"}


def test_tables_of_an_interview_that_leaves_them_empty_have_their_columns(material: Material) -> None:
    bare = replace(material, actions=(), calls=())
    with zipfile.ZipFile(io.BytesIO(_written(bare, "csv"))) as archive:
        heads = {
            name: archive.read(f"{name}.csv").decode("utf-8-sig").splitlines()[0].split(",")
            for name in ("guide", "elements", "actions", "usage")
        }
    for name, table in (("actions", MODERATOR_ACTIONS), ("usage", LLM_CALLS)):
        assert heads[name] == [column.name for column in table.columns if column.name != "session_id"]
    assert heads["elements"][:3] == ["element_id", "label", "mentioned"]
    assert heads["guide"] == ["id", "label", "status", "turn_number", "reason", "node_ids"]


def test_guide_is_in_tables_and_in_word(material: Material) -> None:
    done = TopicProgress(id="price", label="Price", status="covered", turn=1, node_ids=("n1",))
    left = TopicProgress(id="past", label="What was", status="left", reason="few turns left")
    guided = replace(material, state=material.state.model_copy(update={"guide": (done, left)}))
    with zipfile.ZipFile(io.BytesIO(_written(guided, "csv"))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("guide.csv").decode("utf-8-sig"))))
    assert [(row["label"], row["status"], row["turn_number"]) for row in rows] == [
        ("Price", "covered", "1"),
        ("What was", "left", ""),
    ]
    paragraphs = [one.text for one in Document(io.BytesIO(_written(guided, "docx"))).paragraphs]
    assert "Price: in answer 1" in paragraphs and "What was: not asked (few turns left)" in paragraphs
    assert any(text.startswith("Respondent 1: ") for text in paragraphs)

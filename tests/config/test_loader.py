"""Configuration files: mistakes by file and line, freshness, precedence, the content hash."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.checking import check_config
from config.files import read_concept, read_methodology
from config.loader import (
    LanguageUnsupported,
    Library,
    ModelsUnusable,
    UnknownName,
    content_hash,
)
from config.roles import Models
from config.settings import load
from config.yamlfile import DEEPEST, MOST_BYTES, MOST_NODES, MOST_PROBLEMS, ConfigError, dotted, parse
from pipeline.concept import ModelOverrides, PipelineSettings

METHODOLOGY = """\
method:
  name: tiny
  goal: To see what there is.
ontology:
  nodes:
    - {name: thing, level: 1, description: A thing.}
    - {name: value, level: 2, terminal: true, description: A value.}
  edges:
    - {name: leads_to, permitted_connections: [[thing, value]]}
signals:
  llm: [llm.response_depth]
  graph: [graph.node.exhaustion_score]
strategies:
  - name: deepen
    signal_weights:
      llm.response_depth.surface: 0.5
  - name: close
    node_binding: none
    generates_closing_question: true
    signal_weights: {}
"""
CONCEPT = """\
id: coffee
name: coffee
methodology: tiny
objective: Why coffee.
languages: [en, de]
"""
TEXTS = "closing_text: Thank you.\nwithdrawn_text: All is deleted.\n"


def _write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 1_000_000_000, before + 1_000_000_000))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    _write(tmp_path, "methodologies/tiny.yaml", METHODOLOGY)
    _write(tmp_path, "concepts/coffee.yaml", CONCEPT)
    _write(tmp_path, "texts/en.yaml", TEXTS)
    return tmp_path


def _library(home: Path, own: Path | None = None) -> Library:
    return Library(PipelineSettings(), packaged=home, config_dir=own)


def _reasons(error: ConfigError) -> list[str]:
    return [str(problem) for problem in error.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id: coffee\nid: tea\n", ["c.yaml:2: id: given twice, first on line 1"]),
        ("id: [1\n", ["c.yaml:2: while parsing a flow sequence expected ',' or ']', but got '<stream end>'"]),
        ("", ["c.yaml:1: the file is empty"]),
        ("a: 1\n---\nb: 2\n", ["c.yaml:2: expected a single document in the stream but found another document"]),
        (CONCEPT + "methodolgy: x\n", ["c.yaml:6: methodolgy: unknown key; did you mean `methodology`?"]),
        (
            CONCEPT + "elements:\n  - id: a\n    labl: x\n",
            [
                "c.yaml:7: elements[0]: the key `label` is missing",
                "c.yaml:8: elements[0].labl: unknown key; did you mean `label`?",
            ],
        ),
        (CONCEPT.replace("name: coffee", "name: 7"), ["c.yaml:2: name: should be text; put it in quotes"]),
        (CONCEPT + "max_turns: 2\n", ["c.yaml:6: max_turns: input should be greater than or equal to 3"]),
        (CONCEPT.replace("id: coffee", "id: tea"), ["c.yaml:1: id: should be `coffee`, the name of the file"]),
        (CONCEPT.replace("objective: Why coffee.\n", ""), ["c.yaml:1: objective (or context.objective) is missing"]),
        (
            CONCEPT + "opening_question:\n  en: Hello?\n  fr: Bonjour?\n",
            ["c.yaml:8: opening_question.fr: not one of `languages`"],
        ),
        (
            CONCEPT + "llm:\n  scorin: {}\n",
            ["c.yaml:7: llm.scorin: unknown key; did you mean `scoring`?"],
        ),
        (
            CONCEPT + "llm:\n  scoring:\n    provider: anthropic\n",
            ["c.yaml:8: llm.scoring.provider: `anthropic` needs a `model` beside it"],
        ),
        (
            CONCEPT + "llm:\n  scoring:\n    provider: acme\n",
            [
                "c.yaml:8: llm.scoring.provider: input should be 'offline', 'anthropic', 'openai', 'kimi', 'deepseek' "
                "or 'openai_compatible'"
            ],
        ),
        (
            CONCEPT + "llm:\n  generation:\n    provider: openai\n    model: x\n    temperature: 3\n",
            ["c.yaml:10: llm.generation.temperature: should be from 0 to 2"],
        ),
        (
            CONCEPT + "llm:\n  generation: {provider: openai, model: x, base_url: api.example.org}\n",
            ["c.yaml:7: llm.generation.base_url: not a URL such as https://api.example.org/v1"],
        ),
        (
            CONCEPT + "llm:\n  generation: {base_url: 'http://localhost:8000/v1'}\n",
            ["c.yaml:7: llm.generation.base_url: needs a `provider` beside it"],
        ),
        (
            CONCEPT + "llm:\n  generation: {provider: offline, model: x}\n",
            ["c.yaml:7: llm.generation.model: without effect: the provider is `offline`"],
        ),
        (
            CONCEPT + "llm:\n  generation:\n    provider: openai\n    api_key: sk-1234\n",
            [
                "c.yaml:9: llm.generation.api_key: a key doesn't belong into a concept file; "
                "put it into ASKWELL_GENERATION_API_KEY"
            ],
        ),
        (
            CONCEPT + "on_llm_failure: ignore\n",
            ["c.yaml:6: on_llm_failure: input should be 'fail' or 'offline'"],
        ),
        (
            CONCEPT + "engine: pools\n",
            ["c.yaml:6: engine: input should be 'signal_pools', 'two_tier' or 'arbitration'"],
        ),
    ],
)
def test_concept_mistake_is_reported_with_its_line(text: str, expected: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        read_concept(text, "c.yaml", "coffee")
    assert _reasons(caught.value) == expected


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("llm.response_depth.surface: 0.5", "llm.response_depth.surfce: 0.5", 16, "surfce"),
        ("- name: close", "- name: deepen", 17, "twice"),
        ("[[thing, value]]", "[[thing, valu]]", 9, "valu"),
        ("[llm.response_depth]", "[llm.responsedepth]", 11, "did you mean"),
        ("description: A thing.", "descripton: A thing.", 6, "did you mean `description`?"),
    ],
)
def test_methodology_mistake_is_reported_with_its_line(old: str, new: str, line: int, words: str) -> None:
    assert old in METHODOLOGY
    with pytest.raises(ConfigError) as caught:
        read_methodology(METHODOLOGY.replace(old, new), "m.yaml", "tiny")
    assert any(problem.line == line and words in problem.reason for problem in caught.value.problems)


def test_yaml_words_that_look_like_booleans_stay_words() -> None:
    assert parse("languages: [no, on, true]\n", "x").data == {"languages": ["no", "on", True]}


@given(st.text(max_size=200))
def test_parse_of_any_text_gives_a_document_or_names_a_line(text: str) -> None:
    try:
        document = parse(text, "any.yaml")
    except ConfigError as error:
        lines = [problem.line for problem in error.problems]
    else:
        lines = [document.line(("no", "such", "key"))]
    assert lines
    assert min(lines) >= 1


def _aliases(levels: int, each: int = 9) -> str:
    """A document that has `each` to the power of `levels` values once its aliases are written out."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * each)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


TOO_MANY = f"the file has more than {MOST_NODES} values, with every alias written out"
TOO_DEEP = f"lists and mappings are nested more than {DEEPEST} levels deep"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (_aliases(9), 6, TOO_MANY),
        ("x:\n " + "[" * 100_000, 2, TOO_DEEP),
        ("".join(f"{' ' * n}a:\n" for n in range(500)), DEEPEST, TOO_DEEP),
        ("x: &x\n  y: [*x]\n", 2, "the alias `x` stands inside what it refers to"),
        ("x: 1" + ":1" * 100_000, 1, "a number has 400 characters at the most"),
        ("x" * (MOST_BYTES + 1), 1, "the file is larger than 1024 KiB"),
    ],
    ids=["aliases", "lists", "mappings", "itself", "number", "size"],
)
def test_yaml_beyond_a_bound_is_refused_at_once_with_the_reason(text: str, line: int, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, "c.yaml")
    assert _reasons(caught.value) == [f"c.yaml:{line}: {reason}"]


def test_yaml_aliases_within_the_bound_are_written_out() -> None:
    assert parse(_aliases(3, 2), "c.yaml").data["a2"] == [[["x"], ["x"]], [["x"], ["x"]]]


def test_concept_with_ever_so_many_mistakes_reports_the_first_of_them() -> None:
    mistakes = "".join(f"nmae{number}: x\n" for number in range(MOST_PROBLEMS + 20))
    with pytest.raises(ConfigError) as caught:
        read_concept(CONCEPT + mistakes, "c.yaml", "coffee")
    assert len(caught.value.problems) == MOST_PROBLEMS
    assert caught.value.problems[0].line == 6


def test_library_file_beyond_a_bound_keeps_last_good_version_and_is_reported(home: Path) -> None:
    library = _library(home)
    for text, reason in ((CONCEPT + _aliases(9), TOO_MANY), ("#" * (MOST_BYTES + 1), "larger than 1024 KiB")):
        _write(home, "concepts/coffee.yaml", text)
        assert library.concept("coffee").name == "coffee"
        assert [reason in problem.reason for problem in library.problems()] == [True]


def test_dotted_path_reads_like_code() -> None:
    assert (
        dotted(("strategies", 2, "signal_weights", "graph.max_depth")) == "strategies[2].signal_weights.graph.max_depth"
    )


def test_configuration_resolves_methodology_texts_and_limits(home: Path) -> None:
    configuration = _library(home).configuration("coffee")
    assert configuration.methodology.name == "tiny"
    assert configuration.closing_text == "Thank you."
    assert configuration.concept.max_turns == 15


def test_configuration_session_beats_concept_beats_settings(home: Path) -> None:
    _write(home, "concepts/coffee.yaml", CONCEPT + "max_turns: 9\nclosing_text: Bye.\n")
    library = _library(home)
    assert library.configuration("coffee").concept.max_turns == 9
    assert library.configuration("coffee", max_turns=5).concept.max_turns == 5
    assert library.configuration("coffee").closing_text == "Bye."
    assert library.configuration("coffee", language="de").concept.languages == ("de", "en")


def test_configuration_phases_of_the_concept_replace_the_methodologys(home: Path) -> None:
    _write(home, "concepts/coffee.yaml", CONCEPT + "phases:\n  early:\n    phase_bonuses: {deepen: 0.2}\n")
    found = _library(home).configuration("coffee")
    assert found.methodology.phases.early.phase_bonuses == {"deepen": 0.2}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"concept_id": "cofee"}, UnknownName, "no concept `cofee`; did you mean `coffee`"),
        ({"concept_id": "coffee", "methodology": "tyni"}, UnknownName, "no methodology `tyni`; known: tiny"),
        (
            {"concept_id": "coffee", "engine": "two_tiers"},
            UnknownName,
            "no decision engine `two_tiers`; did you mean `two_tier`",
        ),
        ({"concept_id": "coffee", "language": "fr"}, LanguageUnsupported, "not available in `fr`; it is in: en, de"),
    ],
)
def test_configuration_of_something_unknown_is_refused(
    home: Path, arguments: dict[str, Any], error: type[UnknownName], message: str
) -> None:
    with pytest.raises(error, match=message):
        _library(home).configuration(**arguments)


def test_library_own_directory_goes_first(home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    _write(own, "concepts/coffee.yaml", CONCEPT.replace("name: coffee", "name: my coffee"))
    _write(own, "concepts/tea.yaml", CONCEPT.replace("coffee", "tea"))
    library = _library(home, own)
    assert library.concept("coffee").name == "my coffee"
    assert sorted(library.concepts()) == ["coffee", "tea"]


def test_library_sees_a_changed_file(home: Path) -> None:
    library = _library(home)
    assert library.concept("coffee").name == "coffee"
    _write(home, "concepts/coffee.yaml", CONCEPT.replace("name: coffee", "name: filter coffee"))
    assert library.concept("coffee").name == "filter coffee"
    (home / "concepts/coffee.yaml").unlink()
    assert library.concepts() == {}


def test_library_broken_file_keeps_last_good_version_and_is_reported(home: Path) -> None:
    library = _library(home)
    _write(home, "concepts/coffee.yaml", CONCEPT + "nmae: x\n")
    assert library.concept("coffee").name == "coffee"
    assert [(p.line, p.reason) for p in library.problems()] == [(6, "nmae: unknown key; did you mean `name`?")]
    _write(home, "concepts/coffee.yaml", CONCEPT)
    assert library.problems() == ()


def test_library_file_that_is_not_utf8_is_reported(home: Path) -> None:
    (home / "concepts/tea.yaml").write_bytes(b"id: \xff\n")
    assert "not UTF-8" in str(_library(home).problems()[0])


def test_library_concept_without_its_methodology_is_reported_and_not_offered(home: Path) -> None:
    path = _write(home, "concepts/tea.yaml", CONCEPT.replace("coffee", "tea").replace("tiny", "tinny"))
    library = _library(home)
    assert [str(p) for p in library.problems()] == [
        f"{path}:3: methodology: there is no methodology `tinny`; did you mean `tiny`?"
    ]
    assert sorted(library.concepts()) == ["coffee"]


def test_library_concept_naming_unknown_strategy_is_reported(home: Path) -> None:
    _write(home, "concepts/coffee.yaml", CONCEPT + "phases:\n  late:\n    phase_bonuses:\n      deepn: 1\n")
    assert [(p.line, "deepen" in p.reason) for p in _library(home).problems()] == [(9, True)]


def _remote(**environment: str) -> Models:
    usual = {"ASKWELL_SCORING_PROVIDER": "anthropic", "ASKWELL_SCORING_MODEL": "claude-x", "ANTHROPIC_API_KEY": "sk-1"}
    return Models(load({**usual, **environment}).settings)


def _with_prompts(home: Path, root: Path) -> Path:
    for path in (root / "config" / "prompts").glob("*.md"):
        _write(home, f"prompts/{path.name}", path.read_text(encoding="utf-8"))
    return home


def test_configuration_without_a_language_model_has_no_prompts(home: Path) -> None:
    assert _library(home).configuration("coffee").prompts == {}
    library = Library(PipelineSettings(), packaged=home, models=Models(load({}).settings))
    configuration = library.configuration("coffee")
    assert (configuration.prompts, configuration.concept.llm) == ({}, ModelOverrides())


def test_configuration_with_a_language_model_pins_model_and_prompts(home: Path, root: Path) -> None:
    library = Library(PipelineSettings(), packaged=_with_prompts(home, root), models=_remote())
    configuration = library.configuration("coffee")
    assert configuration.prompts["question"] == (root / "config/prompts/question.md").read_text(encoding="utf-8")
    llm = configuration.concept.llm
    assert llm.scoring is not None
    assert llm.extraction is not None
    assert (llm.scoring.provider, llm.scoring.model, llm.extraction.provider) == ("anthropic", "claude-x", "offline")
    assert "sk-1" not in configuration.model_dump_json()


def test_configuration_changes_its_hash_with_model_and_prompts(home: Path, root: Path) -> None:
    _with_prompts(home, root)
    hashes = {content_hash(_library(home).configuration("coffee"))}
    for models in (_remote(), _remote(ASKWELL_SCORING_MODEL="claude-y"), _remote(ANTHROPIC_API_KEY="sk-2")):
        hashes.add(content_hash(Library(PipelineSettings(), packaged=home, models=models).configuration("coffee")))
    assert len(hashes) == 3
    text = (home / "prompts/question.md").read_text()
    _write(home, "prompts/question.md", text + "\nMore.\n")
    hashes.add(content_hash(Library(PipelineSettings(), packaged=home, models=_remote()).configuration("coffee")))
    assert len(hashes) == 4


def test_prompt_that_broke_keeps_last_good_version_and_is_reported(home: Path, root: Path) -> None:
    library = Library(PipelineSettings(), packaged=_with_prompts(home, root), models=_remote())
    good = library.configuration("coffee").prompts
    text = good["question"]
    path = _write(home, "prompts/question.md", text + "\n{{ toppic }}\n")
    assert library.configuration("coffee").prompts == good
    (problem,) = library.problems()
    assert (problem.file, problem.line) == (str(path), len(text.splitlines()) + 2)
    assert "toppic" in problem.reason
    _write(home, "prompts/question.md", text + "\nBe kind.\n")
    assert library.problems() == ()
    assert library.configuration("coffee").prompts["question"].endswith("Be kind.\n")


def test_prompt_of_the_own_directory_goes_first(home: Path, root: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    _write(own, "prompts/question.md", (root / "config/prompts/question.md").read_text() + "\nOurs.\n")
    library = Library(PipelineSettings(), packaged=_with_prompts(home, root), config_dir=own, models=_remote())
    assert library.configuration("coffee").prompts["question"].endswith("Ours.\n")


def test_prompts_that_were_never_good_refuse_the_session(home: Path, root: Path) -> None:
    _with_prompts(home, root)
    (home / "prompts/rating.md").unlink()
    library = Library(PipelineSettings(), packaged=home, models=_remote())
    assert any("rating.md" in problem.file for problem in library.problems())
    with pytest.raises(ModelsUnusable, match="check-config"):
        library.configuration("coffee")


def test_concept_without_its_key_is_listed_reported_and_refused(home: Path, root: Path) -> None:
    text = CONCEPT + "llm:\n  generation:\n    provider: kimi\n    model: k2\n"
    path = _write(_with_prompts(home, root), "concepts/coffee.yaml", text)
    library = Library(PipelineSettings(), packaged=home, models=_remote())
    reason = "ASKWELL_GENERATION_API_KEY or KIMI_API_KEY is not set: `kimi` needs a key"
    assert [str(problem) for problem in library.problems()] == [f"{path}:7: llm.generation.api_key: {reason}"]
    assert "coffee" in library.concepts()
    with pytest.raises(ModelsUnusable) as caught:
        library.configuration("coffee")
    assert str(caught.value) == f"The concept `coffee` can't be used here as it is set up: generation: {reason}."
    assert "sk-1" not in str(caught.value)


def test_content_hash_is_stable_and_sensitive(home: Path) -> None:
    library = _library(home)
    first = content_hash(library.configuration("coffee"))
    assert first == content_hash(_library(home).configuration("coffee"))
    assert len(first) == 64
    assert first != content_hash(library.configuration("coffee", max_turns=5))


def test_check_config_of_packaged_files_finds_nothing_wrong() -> None:
    report = check_config()
    assert report.ok, "\n".join(map(str, report.problems))
    assert {"means_end_chain", "jobs_to_be_done", "critical_incident"} <= set(report.methodologies)
    assert len(report.concepts) >= 6

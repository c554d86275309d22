"""Persona files: what is refused, with its line; and the shipped ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.loader import Library
from config.personas import reachable, read_persona, read_respondents
from config.yamlfile import ConfigError
from pipeline.concept import PipelineSettings

WHOLE = """\
id: tester
title: "Somebody who tests"
concept: coffee_mec
manner: cooperative
first: [cup]
more: [smell]
asked:
  - {words: [tea], tells: tea}
truth:
  - {id: cup, type: attribute, says: "I like a heavy cup.", core: "heavy cup", why: [warm]}
  - {id: warm, type: functional_consequence, says: "It stays warm.", core: "stays warm"}
  - {id: smell, type: attribute, says: "The smell of it.", core: "smell"}
  - {id: tea, type: attribute, says: "Tea is for the ill.", core: "for the ill"}
"""


def _problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_persona(text, "tester.yaml", "tester")
    return [str(problem) for problem in caught.value.problems]


def test_whole_persona_is_read() -> None:
    persona, _ = read_persona(WHOLE, "tester.yaml", "tester")
    assert reachable(persona) == {"cup", "warm", "smell", "tea"}
    assert list(persona.truth[0].linked) == [("cup", "warm")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("first: [cup]", "first: [cups]", "5: there is no `cups` in `truth`; did you mean `cup`?"),
        ("tells: tea}", "tells: teas}", "8: there is no `teas`"),
        ("more: [smell]\n", "", "11: truth[2].id: nothing that can be asked leads to `smell`"),
        ('core: "stays warm"', 'core: "stay warm"', "11: these words are not in `says`"),
        ("why: [warm]", "why: [cup]", "10: leads to itself"),
        ("id: warm,", "id: cup,", "11: `cup` is there twice"),
        ("id: tester", "id: somebody", "1: should be `tester`, the name of the file"),
        ("first: [cup]", "first: []", "5:"),
        ("manner: cooperative", "manners: cooperative", "4:"),
    ],
)
def test_mistake_is_named_with_its_line(old: str, new: str, said: str) -> None:
    assert old in WHOLE
    line, _, reason = said.partition(":")
    found = _problems(WHOLE.replace(old, new))
    assert any(problem.startswith(f"tester.yaml:{line}:") and reason.strip() in problem for problem in found), found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("coffee_mec", "cofee_mec", "there is no concept `cofee_mec`; did you mean `coffee_mec`?"),
        ("manner: cooperative", "manner: cooperativ", "there is no manner `cooperativ`"),
        ("type: functional_consequence", "type: consequence", "unknown node type `consequence`"),
    ],
)
def test_what_is_nowhere_else_is_reported_and_not_interviewed(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas" / "tester.yaml").write_text(WHOLE.replace(old, new), encoding="utf-8")
    library = Library(PipelineSettings(), config_dir=tmp_path)
    assert any(said in problem.reason for problem in library.problems())
    assert "tester" not in library.personas()


def test_expression_that_is_none_is_refused() -> None:
    text = "understands:\n  why: ['(']\nhas_nothing: ['No.']\nmanners:\n  plain: {description: Plain.}\n"
    with pytest.raises(ConfigError, match=r"respondents\.yaml:2: .*no regular expression"):
        read_respondents(text, "respondents.yaml")


def test_every_manner_is_used_by_a_shipped_persona_and_every_method_has_three() -> None:
    library = Library(PipelineSettings())
    personas = library.personas().values()
    assert {persona.manner for persona in personas} == set(library.respondents().manners)
    methods = [library.concept(persona.concept).methodology for persona in personas]
    assert all(methods.count(name) >= 3 for name in library.methodologies())

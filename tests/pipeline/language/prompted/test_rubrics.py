"""The rubric file: its form, and what is said about a file that lacks something."""

from __future__ import annotations

import pytest

from pipeline.language.prompted.problems import PromptInvalid
from pipeline.language.prompted.rubrics import EXPECTED, LATER, parse
from pipeline.ports import RATED_SIGNALS
from tests.pipeline.language.prompted.scripted import texts

FILE = texts()["signals"]


def problems(text: str) -> list[str]:
    with pytest.raises(PromptInvalid) as caught:
        parse(text, "signals.md")
    return [str(problem) for problem in caught.value.problems]


def line_of(text: str, what: str) -> int:
    return 1 + next(i for i, line in enumerate(text.splitlines()) if line.startswith(what))


def test_file_as_it_comes_explains_every_value_of_every_signal() -> None:
    rubrics = parse(FILE, "signals.md")
    assert list(rubrics.by_name) == list(EXPECTED)
    for name, values in EXPECTED.items():
        rubric = rubrics.by_name[name]
        assert rubric.question.endswith(("?", "."))
        assert tuple(rubric.anchors) == values
        assert all(len(meaning.split()) >= 1 for meaning in rubric.anchors.values())
    assert all(len(rubrics.by_name[name].anchors) == 5 for name in RATED_SIGNALS)


def test_text_has_questions_values_and_advice_but_no_comments() -> None:
    text = parse(FILE, "signals.md").text()
    assert "response_depth: How far does" in text
    assert "    1 = Minimal or single-word answer" in text
    assert "Elaboration outweighs hedging" in text
    assert "What this file is for" not in text
    assert "# Scores" not in text


def test_meaning_on_two_lines_is_one() -> None:
    rubrics = parse(
        FILE.replace("    none = Matter-of-fact", "    none = Matter-of-\n        fact, all of it"), "signals.md"
    )
    assert rubrics.by_name["emotion"].anchors["none"] == "Matter-of- fact, all of it"


def test_missing_signal_is_told() -> None:
    start, end = FILE.index("valence:"), FILE.index("engagement:")
    assert any("the signal `valence` is missing" in line for line in problems(FILE[:start] + FILE[end:]))


@pytest.mark.parametrize("name", RATED_SIGNALS)
@pytest.mark.parametrize("value", ["1", "5"])
def test_missing_anchor_is_told_with_the_signals_line(name: str, value: str) -> None:
    at = FILE.index(f"\n{name}:") + 1
    start = FILE.index(f"    {value} = ", at)
    cut = FILE[:start] + FILE[FILE.index("\n", start) + 1 :]
    assert problems(cut) == [f"signals.md:{line_of(cut, name)}: {name}: the value `{value}` is missing"]


def test_rubric_that_came_later_may_be_missing() -> None:
    start = FILE.index("turning_point: ")
    end = FILE.index("knowledge_ceiling: ")
    older = parse(FILE[:start] + FILE[end:], "signals.md")
    assert "turning_point" not in older.text() and "turning_point" in parse(FILE, "signals.md").text()


def test_missing_level_is_told() -> None:
    found = problems(FILE.replace("    counterfactual =", "    counter ="))
    assert any("reasoning: unknown value `counter`" in line for line in found)
    assert any("reasoning: the value `counterfactual` is missing" in line for line in found)


def test_unknown_signal_is_told_with_the_known_ones() -> None:
    found = problems(FILE + "\nmood: How are they?\n    1 = bad\n")
    assert found == [f"signals.md:{line_of(FILE + chr(10) + 'mood:', 'mood:')}: {found[0].split(': ', 1)[1]}"]
    assert "unknown signal `mood`" in found[0]
    assert "valence" in found[0]


def test_signal_given_twice_is_told() -> None:
    assert any("`emotion` given twice" in line for line in problems(FILE + "\nemotion: Again?\n    none = no\n"))


def test_value_given_twice_is_told() -> None:
    text = FILE.replace("    2 = A brief", "    1 = A brief")
    assert any("`1` is given twice" in line for line in problems(text))


def test_text_without_a_signal_is_told() -> None:
    assert problems("    1 = lost\n" + FILE)[0] == (
        "signals.md:1: belongs to no signal; a signal's name with a colon comes first"
    )
    assert "should be a signal's name" in problems("Hello there\n" + FILE)[0]


def test_signal_without_question_and_value_without_meaning_are_told() -> None:
    text = FILE.replace("emotion: How much feeling does the answer carry, whatever its direction?", "emotion:")
    assert any("the question behind the colon is missing" in line for line in problems(text))
    text = FILE.replace("    none = Matter-of-fact", "    none =")
    assert any("say what `none` means" in line for line in problems(text))


def test_empty_file_lacks_everything() -> None:
    assert len(problems("")) == len(EXPECTED.keys() - LATER)

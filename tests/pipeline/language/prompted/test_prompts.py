"""Prompt files: what they may use, and what is said about those that can't be used."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from pipeline.language.prompted.contract import TEMPLATES, VARIABLES
from pipeline.language.prompted.prompts import PROMPT_NAMES, PromptInvalid, Prompts
from pipeline.language.prompted.samples import render_samples
from tests.pipeline.language.prompted.scripted import FOLDER, methodology, prompts, texts

METHODOLOGIES = ("means_end_chain", "jobs_to_be_done", "critical_incident")


def changed(name: str, old: str, new: str) -> dict[str, str]:
    """The files with one of them changed in one place."""
    files = texts()
    assert files[name].count(old) >= 1
    return {**files, name: files[name].replace(old, new, 1)}


def line_of(files: dict[str, str], name: str, what: str) -> int:
    return 1 + next(i for i, line in enumerate(files[name].splitlines()) if what in line)


def problem(files: dict[str, str]) -> str:
    with pytest.raises(PromptInvalid) as caught:
        Prompts(files)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value)


def test_folder_holds_exactly_the_known_files() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(PROMPT_NAMES)


@pytest.mark.parametrize("name", TEMPLATES)
def test_file_as_it_comes_says_what_it_is_for_and_names_its_variables(name: str) -> None:
    comment = texts()[name].split("-->")[0]
    assert comment.startswith("<!--\nWhat this file is for: ")
    for part in (VARIABLES[name].system, VARIABLES[name].user):
        assert [variable for variable in part if variable not in comment] == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_file_as_it_comes_uses_every_variable_it_may_use(name: str) -> None:
    body = texts()[name].split("-->", 1)[1]
    allowed = {*VARIABLES[name].system, *VARIABLES[name].user} - {"depth"}
    assert [variable for variable in allowed if variable not in body] == []


@pytest.mark.parametrize("which", METHODOLOGIES)
def test_samples_of_every_methodology_render_whole(which: str) -> None:
    rendered = render_samples(prompts(), methodology(which), "backpacks", "Understand how people choose backpacks.")
    assert set(rendered) == set(TEMPLATES)
    for name, prompt in rendered.items():
        for text in (prompt.system, prompt.user):
            assert text == text.strip()
            assert "\n\n\n" not in text, name
            assert "{{" not in text
            assert "{%" not in text
            assert "<!--" not in text
            assert "None" not in text
    assert rendered["repair"].system == rendered["extraction"].system


def test_unknown_variable_is_found_when_the_file_is_read() -> None:
    files = changed("question", "{{ strategy or", "{{ stratgy or")
    message = problem(files)
    assert message.startswith(
        f"prompts/question.md:{line_of(files, 'question', 'stratgy')}: unknown variable `stratgy`"
    )
    assert "strategy" in message


def test_variable_of_the_user_part_in_the_system_part_is_refused() -> None:
    message = problem(changed("extraction", "## The method", "## The method {{ answer }}"))
    assert "unknown variable `answer` in the system part" in message


def test_unknown_attribute_is_found_when_the_file_is_read() -> None:
    files = changed("extraction", "{{ type.description }}", "{{ type.descripton }}")
    message = problem(files)
    assert message.startswith(f"prompts/extraction.md:{line_of(files, 'extraction', 'descripton')}: can't be rendered")
    assert "descripton" in message


def test_mistake_in_a_branch_for_missing_values_is_found_too() -> None:
    files = changed("question", "(nothing has been said yet)", "{{ conversation[0].text }}")
    assert f"prompts/question.md:{line_of(files, 'question', 'conversation[0]')}: can't be rendered" in problem(files)


def test_broken_syntax_is_told_with_its_line() -> None:
    files = changed("rating", "{{ rubrics }}", "{% iff rubrics %}")
    assert problem(files).startswith(f"prompts/rating.md:{line_of(files, 'rating', '{% iff')}: the template can't be")


@pytest.mark.parametrize(
    "text",
    [
        "{{ method.__class__.__mro__ }}",
        "{{ ''.__class__ }}",
        "{% for i in range(999999999) %}x{% endfor %}",
        "{% include 'rating' %}",
        "{{ 1 // 0 }}",
    ],
)
def test_template_that_reaches_out_or_fails_is_refused(text: str) -> None:
    assert "prompts/slots.md" in problem(changed("slots", "## The method", text))


def test_missing_part_is_told() -> None:
    assert "the line `# User` is missing" in problem(changed("rating", "# User\n", "## User\n"))


def test_parts_in_the_wrong_order_are_told() -> None:
    files = {**texts(), "rating": "# User\n\nHello {{ answer }}\n\n# System\n\nYou rate.\n"}
    assert problem(files) == "prompts/rating.md:5: `# System` should stand above `# User`"


def test_part_given_twice_is_told() -> None:
    assert "stands on line" in problem(changed("rating", "# User\n", "# User\n\n# User\n"))


def test_missing_file_is_told() -> None:
    files = texts()
    del files["slots"]
    assert problem(files) == "prompts/slots.md:1: the file is missing"


def test_unknown_file_is_told() -> None:
    assert "prompts/extracton.md:1: no such prompt" in problem({**texts(), "extracton": "# System\n# User\n"})


def test_empty_part_is_refused() -> None:
    assert "renders to nothing" in problem({**texts(), "rating": "# System\n\n# User\n\n{{ answer }}\n"})


def test_several_mistakes_are_told_at_once() -> None:
    files = texts()
    del files["slots"]
    files["rating"] = files["rating"].replace("{{ rubrics }}", "{{ rubics }}")
    files["signals"] = files["signals"].replace("    4 =", "    6 =", 1)
    with pytest.raises(PromptInvalid) as caught:
        Prompts(files)
    assert {p.file for p in caught.value.problems} == {"prompts/slots.md", "prompts/rating.md", "prompts/signals.md"}


def test_windows_line_breaks_change_nothing() -> None:
    files = {name: text.replace("\n", "\r\n") for name, text in texts().items()}
    sample = VARIABLES["rating"]
    values = {**sample.system, **sample.user}
    assert Prompts(files).render("rating", values) == prompts().render("rating", values)


def test_values_are_put_in_as_they_are_and_never_read_as_templates() -> None:
    values = {**VARIABLES["rating"].system, **VARIABLES["rating"].user, "question": '"{{ rubrics }} <b> & {% if %}"'}
    assert '"{{ rubrics }} <b> & {% if %}"' in prompts().render("rating", values).user


def test_rendering_compiles_nothing() -> None:
    files, called = prompts(), set[str]()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            called.add(argument.__name__)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        files.user("question", VARIABLES["question"].user)
    finally:
        sys.setprofile(before)
    assert "join" in called
    assert not called & {"compile", "exec"}

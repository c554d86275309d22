"""The rubrics by which answers are rated, read from `prompts/signals.md`.

The file's form: a signal's name, a colon and the question it answers at the beginning of a line; indented below it one
line per value, `3 = what it means`, and where it helps further lines of guidance. A value's text may go on in lines
that are indented deeper. Lines that begin with `#`, and everything inside `<!-- -->`, are for people only.

    response_depth: How much elaboration does the answer provide?
        1 = Minimal or single-word answer, no development
        …
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from pipeline.language.prompted.problems import PromptInvalid, PromptProblem
from pipeline.momentum import Momentum
from pipeline.ports import RATED_SIGNALS, Hedging, QualitativeSignals

_HEADER = re.compile(r"(?P<name>[A-Za-z_][\w ]*?)\s*:\s*(?P<question>.*)$")
_ANCHOR = re.compile(r"(?P<value>[\w-]+)\s*=\s*(?P<meaning>.*)$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

HEDGING = "hedging_language"
MOMENTUM = "momentum"
SCALE = ("1", "2", "3", "4", "5")


def _values() -> dict[str, tuple[str, ...]]:
    """Every signal of the file with the values it must explain; none for a signal that is free text."""
    expected: dict[str, tuple[str, ...]] = dict.fromkeys(RATED_SIGNALS, SCALE)
    expected[HEDGING] = get_args(Hedging)
    expected[MOMENTUM] = get_args(Momentum)
    for name, info in QualitativeSignals.model_fields.items():
        expected[name] = get_args(info.annotation)
    return expected


EXPECTED = _values()
"""Signals of the rubric file, in the order in which they are rated, with their values."""

LATER = frozenset({"turning_point"})
"""Signals that rubrics of an earlier version, to which an interview may be pinned, do not have."""


@dataclass
class Rubric:
    """One signal: the question it answers, what each value means, and further guidance. `line` counts from 1."""

    name: str
    question: str
    line: int
    anchors: dict[str, str] = field(default_factory=dict)
    guidance: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The rubric as a prompt has it."""
        lines = [f"{self.name}: {self.question}"]
        lines += [f"    {value} = {meaning}" for value, meaning in self.anchors.items()]
        lines += [f"    {line}" for line in self.guidance]
        return "\n".join(lines)


@dataclass(frozen=True)
class Rubrics:
    """All rubrics of one file, by name."""

    by_name: dict[str, Rubric]

    def text(self, names: Sequence[str] = tuple(EXPECTED)) -> str:
        """Several rubrics as a prompt has them, as far as there are, a blank line between two."""
        return "\n\n".join(self.by_name[name].text() for name in names if name in self.by_name)


def parse(text: str, file: str) -> Rubrics:
    """The rubrics of a file.

    Args:
        text: the content.
        file: how the file is called in messages.
    Raises:
        PromptInvalid: a signal or a value is missing, unknown or given twice; one problem each, with its line.
    """
    problems: list[PromptProblem] = []
    found: dict[str, Rubric] = {}
    current: Rubric | None = None
    anchor_indent = 0
    last_anchor: str | None = None
    for number, line in enumerate(_without_comments(text).splitlines(), 1):
        stripped = line.strip()
        if not stripped or line.startswith("#"):
            continue
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        if indent == 0:
            header = _HEADER.match(stripped)
            if header is None:
                reason = "should be a signal's name with a colon, or be indented below one"
                problems.append(PromptProblem(file, number, reason))
                continue
            current = _header(header, number, file, found, problems)
            last_anchor = None
            continue
        if current is None:
            problems.append(
                PromptProblem(file, number, "belongs to no signal; a signal's name with a colon comes first")
            )
            continue
        anchor = _ANCHOR.match(stripped)
        if anchor is not None and (last_anchor is None or indent <= anchor_indent):
            last_anchor, anchor_indent = anchor["value"], indent
            _anchor(current, anchor, number, file, problems)
        elif last_anchor is not None and indent > anchor_indent and last_anchor in current.anchors:
            current.anchors[last_anchor] = f"{current.anchors[last_anchor]} {stripped}".strip()
        else:
            last_anchor = None
            current.guidance.append(stripped)
    problems += _missing(found, file, text.count("\n") + 1)
    if problems:
        raise PromptInvalid(sorted(problems))
    return Rubrics({name: found[name] for name in EXPECTED if name in found})


def _without_comments(text: str) -> str:
    """Comments blanked, line breaks kept."""
    return _COMMENT.sub(lambda match: "\n" * match.group(0).count("\n"), text)


def _header(
    match: re.Match[str], line: int, file: str, found: dict[str, Rubric], problems: list[PromptProblem]
) -> Rubric:
    name = match["name"].strip()
    rubric = Rubric(name=name, question=match["question"].strip(), line=line)
    if name not in EXPECTED:
        problems.append(PromptProblem(file, line, f"unknown signal `{name}`; known: {', '.join(EXPECTED)}"))
    elif name in found:
        problems.append(PromptProblem(file, line, f"`{name}` given twice, first on line {found[name].line}"))
    else:
        if not rubric.question:
            problems.append(PromptProblem(file, line, f"{name}: the question behind the colon is missing"))
        found[name] = rubric
    return rubric


def _anchor(rubric: Rubric, match: re.Match[str], line: int, file: str, problems: list[PromptProblem]) -> None:
    value, known = match["value"], EXPECTED.get(rubric.name)
    if known is not None and value not in known:
        allowed = f"its values are {', '.join(known)}" if known else "it is free text and has no values"
        problems.append(PromptProblem(file, line, f"{rubric.name}: unknown value `{value}`; {allowed}"))
    elif value in rubric.anchors:
        problems.append(PromptProblem(file, line, f"{rubric.name}: the value `{value}` is given twice"))
    else:
        if not match["meaning"].strip():
            problems.append(PromptProblem(file, line, f"{rubric.name}: say what `{value}` means"))
        rubric.anchors[value] = match["meaning"].strip()


def _missing(found: dict[str, Rubric], file: str, last_line: int) -> list[PromptProblem]:
    problems = []
    for name, values in EXPECTED.items():
        rubric = found.get(name)
        if rubric is None and name in LATER:
            continue
        if rubric is None:
            problems.append(PromptProblem(file, last_line, f"the signal `{name}` is missing"))
            continue
        problems += [
            PromptProblem(file, rubric.line, f"{name}: the value `{value}` is missing")
            for value in values
            if value not in rubric.anchors
        ]
    return problems

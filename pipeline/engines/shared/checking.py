"""What can be wrong with the parts that the files of all engines have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from pipeline.engines.shared.rules import Judge, Rule
from pipeline.methodology import Form
from pipeline.question.templates import PLACEHOLDERS, placeholders
from pipeline.signals.registry import Problem


def twice(part: str, names: Sequence[str], key: str = "id") -> Iterator[Problem]:
    """Names that are there more than once."""
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Problem((part, at, key), f"{name} is there twice")


def near(name: str, known: Iterable[str]) -> str:
    """What was probably meant, to append to a message; empty where nothing is close."""
    found = get_close_matches(name, list(known), 1)
    return f"; did you mean {found[0]}?" if found else ""


def misnamed(part: str, noun: str, rules: Sequence[Rule], known: Mapping[str, type[Judge[Any]]]) -> Iterator[Problem]:
    """Classes that are not there, and parameters that they don't have."""
    for at, rule in enumerate(rules):
        if rule.kind not in known:
            yield Problem((part, at, "class"), f"there is no {noun} {rule.kind}{near(rule.kind, known)}")
            continue
        try:
            known[rule.kind].params.model_validate(rule.params)
        except ValidationError as exc:
            for error in exc.errors():
                yield Problem((part, at, "params", *error["loc"]), error["msg"].lower())


def unfilled(path: tuple[str | int, ...], templates: Mapping[str, Sequence[Form]]) -> Iterator[Problem]:
    """Placeholders that nothing fills in."""
    for language, forms in templates.items():
        for number, form in enumerate(forms):
            unknown = sorted(placeholders(form.ask) - PLACEHOLDERS)
            if unknown:
                where = (*path, "templates", language, number)
                yield Problem(where, f"unknown placeholder {{{unknown[0]}}}: it stays empty")

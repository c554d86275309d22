"""Prompt files: read once, checked when they are read, rendered for every call.

A file has a part `# System` and a part `# User`, both Jinja2 templates in a sandbox; what stands above is for people.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import SandboxedEnvironment

from pipeline.language.prompted import rubrics
from pipeline.language.prompted.contract import LATER, PROMPT_NAMES, RUBRICS, TEMPLATES, VARIABLES, Values
from pipeline.language.prompted.problems import PromptInvalid, PromptProblem

__all__ = ["PROMPT_NAMES", "PromptInvalid", "PromptProblem", "Prompts", "Rendered"]

Part = Literal["system", "user"]
_HEADINGS: dict[str, Part] = {"# System": "system", "# User": "user"}
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt ready to be sent."""

    system: str
    user: str


class Prompts:
    """All prompts of one configuration; safe to share between sessions."""

    def __init__(self, texts: Mapping[str, str], folder: str = "prompts") -> None:
        """Compile and try every prompt.

        Args:
            texts: content of each file, by its name without `.md`; all of `PROMPT_NAMES`, but those of `LATER` may
                be missing.
            folder: how the files' folder is called in messages.
        Raises:
            PromptInvalid: something is missing, unknown or can't be rendered; every mistake with file and line.
        """
        problems: list[PromptProblem] = []
        self.texts: Mapping[str, str] = dict(texts)
        self._templates: dict[tuple[str, Part], Template] = {}
        environment = _environment()
        for name in sorted(set(texts) - set(PROMPT_NAMES)):
            problems.append(
                PromptProblem(f"{folder}/{name}.md", 1, "no such prompt; known: " + ", ".join(PROMPT_NAMES))
            )
        for name in PROMPT_NAMES:
            file = f"{folder}/{name}.md"
            if name not in texts:
                if name in LATER:
                    continue
                problems.append(PromptProblem(file, 1, "the file is missing"))
            elif name == RUBRICS:
                try:
                    self.rubrics = rubrics.parse(texts[name], file)
                except PromptInvalid as exc:
                    problems += exc.problems
            else:
                problems += self._load(environment, name, texts[name], file)
        if problems:
            raise PromptInvalid(sorted(problems))

    def render(self, name: str, values: Values) -> Rendered:
        """Both parts of a prompt. Raises jinja2.UndefinedError where `values` lacks a variable of the file."""
        return Rendered(self.system(name, values), self.user(name, values))

    def system(self, name: str, values: Values) -> str:
        """The part that stays the same from turn to turn."""
        return _trimmed(self._templates[name, "system"].render(values))

    def user(self, name: str, values: Values) -> str:
        """The part that is about this turn."""
        return _trimmed(self._templates[name, "user"].render(values))

    def _load(self, environment: SandboxedEnvironment, name: str, text: str, file: str) -> Iterator[PromptProblem]:
        """Compile and try one file."""
        parts, problems = _parts(text, file)
        yield from problems
        for part, source in parts.items():
            allowed = getattr(VARIABLES[name], part)
            try:
                tree = environment.parse(source, name, file)
            except TemplateSyntaxError as exc:
                yield PromptProblem(file, exc.lineno, f"the template can't be read: {exc.message}")
                continue
            unknown = find_undeclared_variables(tree) - set(allowed)
            if unknown:
                yield from (_unknown(tree, variable, allowed, part, file) for variable in sorted(unknown))
                continue
            code = environment.compile(tree, name, file)
            template = Template.from_code(environment, code, environment.make_globals(None))
            self._templates[name, part] = template
            for values in ({**allowed}, {**allowed, **{k: v for k, v in VARIABLES[name].bare.items() if k in allowed}}):
                problem = _tried(template, values, file)
                if problem is not None:
                    yield problem
                    break


def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
    )


def _parts(text: str, file: str) -> tuple[dict[Part, str], list[PromptProblem]]:
    """The two parts, each behind as many empty lines as stand above it, so that messages name the file's lines."""
    starts: dict[Part, int] = {}
    problems: list[PromptProblem] = []
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        part = _HEADINGS.get(line.rstrip())
        if part is None:
            continue
        if part in starts:
            problems.append(PromptProblem(file, number, f"`{line.rstrip()}` stands on line {starts[part]} already"))
        elif part == "system" and "user" in starts:
            problems.append(PromptProblem(file, number, "`# System` should stand above `# User`"))
        starts.setdefault(part, number)
    for heading, part in _HEADINGS.items():
        if part not in starts:
            problems.append(PromptProblem(file, len(lines), f"the line `{heading}` is missing"))
    if problems:
        return {}, problems
    system, user = starts["system"], starts["user"]
    return {
        "system": "\n" * system + "\n".join(lines[system : user - 1]),
        "user": "\n" * user + "\n".join(lines[user:]),
    }, []


def _unknown(tree: nodes.Template, variable: str, allowed: Values, part: Part, file: str) -> PromptProblem:
    line = min((n.lineno for n in tree.find_all(nodes.Name) if n.name == variable and n.ctx == "load"), default=1)
    known = ", ".join(sorted(allowed))
    return PromptProblem(file, line, f"unknown variable `{variable}` in the {part} part; known there: {known}")


def _tried(template: Template, values: dict[str, Any], file: str) -> PromptProblem | None:
    """What goes wrong when the template is rendered with these values; none if nothing does."""
    try:
        text = template.render(values)
    except (TemplateError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as exc:
        lines = [line for frame, line in traceback.walk_tb(exc.__traceback__) if frame.f_code.co_filename == file]
        line = getattr(exc, "lineno", None) or (lines[-1] if lines else None) or 1
        return PromptProblem(file, line, f"can't be rendered: {exc}")
    return None if text.strip() else PromptProblem(file, 1, "a part renders to nothing")


def _trimmed(text: str) -> str:
    """Without blank lines around and more than one in a row."""
    return _BLANK_LINES.sub("\n\n", text).strip()


assert set(VARIABLES) == set(TEMPLATES)

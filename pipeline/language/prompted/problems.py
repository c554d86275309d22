"""Mistakes in prompt files: file, line, reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.errors import PipelineError


@dataclass(frozen=True, order=True)
class PromptProblem:
    """One mistake in one prompt file. `line` counts from 1."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class PromptInvalid(PipelineError):
    """Prompt files that can't be used; the message has one line per mistake, `problems` has them one by one."""

    code = "invalid_input"

    def __init__(self, problems: Sequence[PromptProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)

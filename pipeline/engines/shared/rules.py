"""Vetoes and scorers: how a file names them, and how they are made from its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import ConfigDict, Field

from pipeline.methodology import Spec

IDENTIFIER = r"^[a-z0-9_]{1,40}$"

ParamsT = TypeVar("ParamsT", bound=Spec)
RuleT = TypeVar("RuleT", bound="Rule")
JudgeT = TypeVar("JudgeT", bound="Judge[Any]")


class Rule(Spec):
    """A veto or a scorer: which class, and with what parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str = Field(pattern=IDENTIFIER, description="Identifier, in snake_case.")
    kind: str = Field(alias="class", description="Name of the class.")
    enabled: bool = Field(default=True, description="Whether it is applied.")
    params: dict[str, Any] = Field(default={}, description="Parameters of the class; unknown ones are errors.")


class Judge(Generic[ParamsT]):
    """A veto or a scorer, made from its parameters."""

    params: ClassVar[type[Spec]]

    def __init__(self, name: str, given: ParamsT) -> None:
        """Args: name: the id that the file gives it; given: its parameters."""
        self.name = name
        self.given = given


def made(rules: Iterable[RuleT], known: Mapping[str, type[JudgeT]]) -> tuple[tuple[RuleT, JudgeT], ...]:
    """The enabled rules with what they name, made from their parameters. Raises KeyError, ValidationError."""
    return tuple(
        (rule, known[rule.kind](rule.id, known[rule.kind].params.model_validate(rule.params)))
        for rule in rules
        if rule.enabled
    )

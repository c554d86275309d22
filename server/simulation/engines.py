"""The decision engines that a command was asked for."""

from __future__ import annotations

from collections.abc import Iterable

from config.loader import UnknownName
from pipeline.engines.registry import ENGINES

ALL = "all"
"""Stands for every engine that there is."""


def engines_named(named: Iterable[str]) -> tuple[str, ...]:
    """The engines, each once; a name may be several, separated by commas, or ALL. Raises UnknownName."""
    names = [name.strip() for each in named for name in each.split(",")]
    for name in names:
        if name != ALL and name not in ENGINES:
            raise UnknownName.of("decision engine", name, (*ENGINES, ALL))
    return tuple(dict.fromkeys(one for name in names for one in (ENGINES if name == ALL else (name,))))

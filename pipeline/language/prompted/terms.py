"""A methodology's terms as prompts use them."""

from __future__ import annotations

import re
from typing import Any

from pipeline.methodology import Methodology

_DOTTED = re.compile(r"\b[a-z]\w*(?:\.\w+)+")
_POOLS = ("llm", "graph", "meta", "temporal", "technique", "node")


def method_values(methodology: Methodology) -> dict[str, str]:
    """Name, goal and description of the method."""
    method = methodology.method
    return {"method": spaced(method.name), "goal": method.goal, "method_description": method.description}


def type_values(methodology: Methodology) -> list[dict[str, Any]]:
    """The types of concepts, in the file's order."""
    return [
        {
            "name": node.name,
            "label": spaced(node.name),
            "level": node.level,
            "terminal": node.terminal,
            "description": node.description,
            "examples": list(node.examples),
        }
        for node in methodology.ontology.nodes
    ]


def spaced(name: str) -> str:
    """A snake_case name in words."""
    return name.replace("_", " ")


def signal_words(name: str) -> str:
    """A signal's name in words, without its pool: "llm.response_depth" → "response depth"."""
    parts = name.split(".")
    while len(parts) > 1 and parts[0] in _POOLS:
        parts = parts[1:]
    return spaced(" ".join(parts))


def in_words(rationale: str) -> str:
    """A rationale with signals' names in words."""
    return _DOTTED.sub(lambda match: signal_words(match.group(0)), rationale)

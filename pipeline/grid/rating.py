"""Ratings of a grid: read from a message, told in words, one row per construct."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pipeline.errors import InvalidAnswer
from pipeline.focus import Target
from pipeline.grid.model import HIGHEST, LOWEST, GridProgress, Ratings


def form_of(progress: GridProgress, target: Target | None) -> dict[str, Any] | None:
    """What is to be rated, where the question about `target` asks for ratings: elements and constructs with both poles.

    Elements come in the order in which they were named; `contrast` is None where nobody named it.
    """
    if target is None or target.kind != "ratings":
        return None
    return {
        "elements": [{"id": element.id, "label": element.label} for element in progress.elements],
        "constructs": [
            {"id": construct.id, "emergent": construct.emergent, "contrast": construct.contrast}
            for construct in progress.constructs
        ],
        "lowest": LOWEST,
        "highest": HIGHEST,
    }


def written(ratings: Mapping[str, Mapping[str, int]]) -> str:
    """Ratings as the text of an answer: the same ones always read the same."""
    return json.dumps({c: dict(sorted(of.items())) for c, of in sorted(ratings.items())}, separators=(",", ":"))


def parsed(text: str, progress: GridProgress, target: Target | None) -> Ratings:
    """The ratings in the text of an answer.

    Args:
        text: as of `written`.
        progress: what can be rated.
        target: of the present question.
    Raises:
        InvalidAnswer: ratings are not asked for now, something is rated that is not in the grid, a rating is not a
            whole number from LOWEST to HIGHEST, or there is none.
    """
    if target is None or target.kind != "ratings":
        raise InvalidAnswer("No ratings are asked for at this point.")
    try:
        told: Any = json.loads(text)
    except ValueError as exc:
        raise InvalidAnswer("These are no ratings.") from exc
    if not isinstance(told, dict) or not all(isinstance(of, dict) for of in told.values()):
        raise InvalidAnswer("Ratings are given by construct and element.")
    for construct, of in told.items():
        if progress.known_construct(construct) is None:
            raise InvalidAnswer(f"There is no construct `{construct[:40]}` in this interview's grid.")
        for element, value in of.items():
            if progress.known_element(element) is None:
                raise InvalidAnswer(f"There is no element `{element[:40]}` in this interview's grid.")
            if not isinstance(value, int) or isinstance(value, bool) or not LOWEST <= value <= HIGHEST:
                raise InvalidAnswer(f"A rating is a whole number from {LOWEST} to {HIGHEST}.")
    if not any(told.values()):
        raise InvalidAnswer("There is no rating in it yet. Skip the question to leave all of them out.")
    return {construct: dict(of) for construct, of in told.items() if of}


def in_words(ratings: Ratings, progress: GridProgress) -> str:
    """Ratings as a line per construct: “cheap – dear: Aldi 1, Waitrose 5”."""
    lines = []
    for construct in progress.constructs:
        of = ratings.get(construct.id, {})
        told = [f"{element.label} {of[element.id]}" for element in progress.elements if element.id in of]
        if told:
            lines.append(f"{construct.emergent} – {construct.contrast or '…'}: {', '.join(told)}")
    return "\n".join(lines)

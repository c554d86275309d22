"""The repertory grid of a session, for exports and moderators: constructs by elements, with both poles."""

from __future__ import annotations

from typing import Any

from pipeline.grid.model import HIGHEST, LOWEST, GridProgress
from pipeline.state import InterviewState


def grid_of(progress: GridProgress) -> dict[str, Any] | None:
    """Elements, constructs with their ratings by element, and the scale; None for a session without a grid."""
    if not progress.elements and not progress.constructs:
        return None
    return {
        "elements": [{"id": element.id, "label": element.label} for element in progress.elements],
        "constructs": [
            {
                "id": construct.id,
                "emergent": construct.emergent,
                "contrast": construct.contrast,
                "compared": list(construct.compared),
                "alike": list(construct.alike),
                "apart": construct.apart,
                "turn": construct.turn,
                "ratings": dict(progress.ratings.get(construct.id, {})),
            }
            for construct in progress.constructs
        ],
        "lowest": LOWEST,
        "highest": HIGHEST,
        "rated_turn": progress.rated_turn,
    }


OWN = ("construct_id", "emergent_pole", "contrast_pole")
"""Columns that are no elements."""


def grid_rows(state: InterviewState) -> list[dict[str, Any]]:
    """A row per construct: id, both poles, and a column per element with the rating, None where there is none.

    LOWEST is the emergent pole, HIGHEST the contrast. Elements of one name, or of that of another
    column, are told apart by their id.
    """
    progress = state.grid
    labels = [*(element.label for element in progress.elements), *OWN]
    names = {
        element.id: element.label if labels.count(element.label) == 1 else f"{element.label} ({element.id})"
        for element in progress.elements
    }
    return [
        {
            "construct_id": construct.id,
            "emergent_pole": construct.emergent,
            **{names[element.id]: of.get(element.id) for element in progress.elements},
            "contrast_pole": construct.contrast,
        }
        for construct in progress.constructs
        for of in [progress.ratings.get(construct.id, {})]
    ]

"""Whether a concept, its methodology and a decision engine fit one another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.yamlfile import suggest
from pipeline.concept import Concept
from pipeline.engines.registry import ENGINES
from pipeline.methodology import Methodology

RATED_ID = r"[A-Za-z0-9_.:-]{1,64}"
FEWEST_ELEMENTS = 3
"""Elements of a repertory grid that a concept gives: three are compared at a time."""


def engine_refused(methodology: Methodology, engine: str) -> str | None:
    """Why a decision engine can't hold interviews by a methodology; None where it can."""
    if not methodology.engines or engine in methodology.engines:
        return None
    able = " or ".join(f"`{name}`" for name in methodology.engines)
    return f"the decision engine `{engine}` can't hold interviews by `{methodology.name}`; take {able}"


def engines_unknown(methodology: Methodology) -> Iterator[tuple[int, str]]:
    """Engines that a methodology names and that are none; positions and reasons."""
    for position, name in enumerate(methodology.engines):
        if name not in ENGINES:
            yield position, f"there is no decision engine `{name}`{suggest(name, list(ENGINES))}"


def ungriddable(concept: Concept, methodology: Methodology) -> tuple[str, str] | None:
    """Why no repertory grid can be elicited from a concept: the key and the reason; None where one can, or none is."""
    grid = methodology.grid
    if grid is None:
        return (
            ("roles", f"only repertory grids have roles, and `{methodology.name}` is none") if concept.roles else None
        )
    given = len(concept.elements)
    if given and given < FEWEST_ELEMENTS:
        return "elements", (
            f"a grid compares three elements at a time, and there {'is 1' if given == 1 else f'are {given}'}: give at "
            f"least {FEWEST_ELEMENTS}, or none, so that respondents are asked for their own"
        )
    if given > grid.most_elements:
        return "elements", (
            f"{given} elements with up to {grid.constructs} constructs are {given * grid.constructs} ratings: "
            f"give at most {grid.most_elements}"
        )
    unusable = next((e.id for e in concept.elements if re.fullmatch(RATED_ID, e.id) is None), None)
    if unusable is not None:
        return "elements", f"`{unusable[:40]}` can't be the id of something that is rated: letters, digits and _ . : -"
    ids = [element.id for element in concept.elements] or [role.id for role in concept.roles]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        return "elements" if concept.elements else "roles", f"`{twice}` is there twice"
    return None

"""What each way to go on is worth in a concept test: a linear model like that of bare probes, over the same features.

The weights are in `move_worth.npz` beside this module, made by `python -m pipeline.language.training.moves` from
moderators' ratings of the same moves at every answer of many concept tests.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pipeline.language.offline import linear
from pipeline.language.offline.linear import LinearModel
from pipeline.language.offline.probe_worth import KINDS, Before, features, vector
from pipeline.language.reader.network import Reading

MOVES: Final = (*KINDS, "named", "back", "settle", "idea", "expect", "part", "side")
"""The bare probes; then: one thing of the answer, something that was passed over before, how it would have to be, the
way back to the idea, what would be expected, a part of the idea that was not spoken of, another side of it."""


def ratings(model: LinearModel, before: Before, reading: Reading) -> dict[str, float]:
    """What moderators are expected to think of each move, 0 (ashamed of it) to 3 (exactly this)."""
    [expected] = model.expected([model.row(features(before), vector(before.answers[-1], reading))])
    return {move: float(value) for move, value in zip(MOVES, expected, strict=True)}


@lru_cache(maxsize=1)
def shipped() -> LinearModel | None:
    """The weights that are shipped; None where their file is missing or damaged: the engine's choice stands then."""
    return linear.shipped("move_worth.npz")

"""Makes the weights of the ways to go on in a concept test: `python -m pipeline.language.training.moves`.

As for bare probes, from ratings of the same moves after every answer of concept tests.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline.language.offline import move_worth
from pipeline.language.offline.move_worth import MOVES
from pipeline.language.training.probes import Learned, learn

CONCEPT_TESTS = Learned(key="moves", kinds=MOVES, strengths=(100.0, 10000.0))
"""There are fewer ratings of them, so weights are held smaller."""


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on interviews that were not seen, and write."""
    return learn(arguments, CONCEPT_TESTS, Path(move_worth.__file__).with_name("move_worth.npz"), __doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Time per decision of each engine at 50 and 500 concepts, without and with the 20 parts of a concept test.

Signals are those of an interview in which nothing was heard, so that every strategy applies that does not need one.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence

from pipeline.concept import Element
from pipeline.engines.base import DecisionEngine
from pipeline.engines.registry import ENGINES
from pipeline.methodology import Methodology
from pipeline.state import FocusEntry
from tests.support.engine_turns import edge, node, shipped, turn_of

SIZES = (50, 500)
PARTS = 20
TURN = 18
ANSWER_WORDS = 70
ROUNDS = 30
SPOKEN = "I put the box on the table and then my sister came in with the cake that we had made".split()
SAID = "I like the part number 3 of it. If they come late, I don't pay. Who brings it?"


def run(methodology: Methodology) -> None:
    """Print the table for interviews by a methodology."""
    print("| engine | concepts | parts | median ms | p95 ms | over 50 concepts |")
    print("|---|---|---|---|---|---|")
    for name, engine in ENGINES.items():
        for count in (0, PARTS) if name != "signal_pools" else (0,):
            small = 0.0
            for size in SIZES:
                times = _times(name, engine, methodology, size, count)
                median = statistics.median(times)
                small = small or median
                p95 = sorted(times)[int(len(times) * 0.95)]
                print(f"| `{name}` | {size} | {count} | {median:.1f} | {p95:.1f} | {median / small:.2f}× |")


def _times(name: str, engine: DecisionEngine, methodology: Methodology, size: int, count: int) -> Sequence[float]:
    """Milliseconds of decisions on answers that are new each time; the first one, which compiles rules, is left out."""
    chance = random.Random(1)
    nodes = [
        node(
            f"n{at}",
            1 + at % TURN,
            label=f"{' '.join(chance.sample(SPOKEN, 4))} {at}",
            kind=methodology.ontology.nodes[0].name,
        )
        for at in range(size)
    ]
    edges = [edge(f"n{at}", f"n{at + 1}") for at in range(0, size - 1, 2)]
    parts = tuple(
        Element(id=f"e{at}", label=f"the part number {at} of it", aliases=(f"{at} euros", f"thing {at}"))
        for at in range(count)
    )
    answers = {turn: f"{' '.join(chance.choices(SPOKEN, k=ANSWER_WORDS))}. {SAID}" for turn in range(1, TURN + 1)}
    file = shipped(name) if name != "signal_pools" else {}
    asked = tuple(FocusEntry(turn=turn, strategy=methodology.strategies[0].name) for turn in range(1, TURN))
    found = []
    for number in range(ROUNDS + 1):
        told = {**answers, TURN: f"{answers[TURN]} {number}"}
        inputs = turn_of(
            file,
            nodes,
            methodology=methodology,
            edges=edges,
            elements=parts,
            answers=told,
            max_turns=30,
            turn_count=TURN,
            questions=asked,
        )
        began = time.perf_counter()
        engine.decide(inputs)
        found.append((time.perf_counter() - began) * 1000)
    return found[1:]

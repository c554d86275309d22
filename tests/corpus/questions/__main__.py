"""What the checker makes of the questions that come with an answer: `python -m tests.corpus.questions [FILE …]`."""

from __future__ import annotations

import sys
from collections import Counter

from tests.corpus.questions import by_hand

counts: Counter[str] = Counter()
refused: Counter[str] = Counter()
streaming: Counter[str] = Counter()
for item in (each for name in sys.argv[1:] or ["first_hand.jsonl"] for each in by_hand(name)):
    label = item.code or "good"
    counts[label] += 1
    refused[label] += bool(item.refusals())
    streaming[label] += item.is_stopped()
for label in sorted(counts):
    sys.stdout.write(
        f"{label:14} {counts[label]:4}  refused {refused[label]:4}  while streaming {streaming[label]:4}\n"
    )
bad = counts.total() - counts["good"]
for name, stopped in (("whole", refused), ("streaming", streaming)):
    wrongly, passed = stopped["good"] / counts["good"], 1 - (stopped.total() - stopped["good"]) / bad
    sys.stdout.write(f"{name}: wrongly refused {wrongly:.1%}, wrongly let through {passed:.1%}\n")

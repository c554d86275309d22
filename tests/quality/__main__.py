"""Print how well the offline extractor agrees with the corpus: `python -m tests.quality --set tuning|held_out`."""

from __future__ import annotations

import argparse
import asyncio
import sys

from tests.quality.run import Evaluation, evaluate


def report(result: Evaluation, worst: int) -> str:
    """The figures per domain and the answers with the least agreement."""
    head = (
        f"{'domain':<12}{'concepts P':>11}{'R':>6}{'F1':>6}{'types':>7}{'links P':>9}{'R':>6}{'F1':>6}"
        f"{'focus P':>9}{'R':>6}{'F1':>6}{'all F1':>8}"
    )
    lines = [head]
    for name, score in [*result.domains.items(), ("all", result.total)]:
        c, k, f = score.concepts, score.links, score.focus_links
        lines.append(
            f"{name:<12}{c.precision:>11.2f}{c.recall:>6.2f}{c.f1:>6.2f}{score.type_accuracy:>7.2f}"
            f"{k.precision:>9.2f}{k.recall:>6.2f}{k.f1:>6.2f}{f.precision:>9.2f}{f.recall:>6.2f}{f.f1:>6.2f}"
            f"{score.all_links.f1:>8.2f}"
        )
    for item, score in result.worst(worst):
        lines.append(f"\n{item['id']} ({score.quality:.2f}): {item['answer']}")
        lines += [f"    {note}" for note in score.notes]
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality")
    parser.add_argument("--set", choices=("tuning", "held_out"), default="tuning")
    parser.add_argument("--worst", type=int, default=10, help="how many answers to show")
    arguments = parser.parse_args()
    sys.stdout.write(report(asyncio.run(evaluate(arguments.set)), arguments.worst) + "\n")


if __name__ == "__main__":
    main()

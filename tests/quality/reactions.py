"""What people do after each kind of question: `python -m tests.quality.reactions`.

Readers marked in whole interviews where somebody does anything besides telling (tests/corpus/talk). By the question
that came before, this prints how often it is asked back or what is meant is guessed, complained of, put right or
refused, and answered with that there is no more; then what judges said of questions by what was done after them.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.language.offline.probe_worth import kind_of
from pipeline.question.text import sentences

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
CODED = CORPUS / "talk" / "coded.jsonl"
REACTIONS: Mapping[str, frozenset[str]] = {
    "unclear": frozenset({"checks", "asks_back"}),
    "complains": frozenset({"complains"}),
    "puts right, refuses": frozenset({"corrects", "declines"}),
    "no more to tell": frozenset({"nothing_more"}),
}
TELLS = "only tells"
REPLY = re.compile(r"(?:Sorry|I'm sorry|Thank|That's fine|Of course|All right|I see|Before|Take all|Good\b)")
"""How what is said before a question begins that says nothing back."""
FEWEST = 25
"""Questions of a kind from which on it has a row of its own."""


def answers(corpus: Path = CORPUS) -> Iterator[tuple[int, dict[str, Any], frozenset[str]]]:
    """Each answer of the interviews that were marked: its turn, from 0, the turn, and the acts besides telling."""
    files: dict[str, list[dict[str, Any]]] = {}
    for line in (corpus / "talk" / "coded.jsonl").read_text("utf-8").splitlines():
        coded = json.loads(line)
        name = coded["file"]
        if name not in files:
            files[name] = [json.loads(each) for each in (corpus / name).read_text("utf-8").splitlines()]
        marked = {turn["turn"]: frozenset(act["act"] for act in turn["acts"]) for turn in coded["turns"]}
        for number, turn in enumerate(files[name][coded["line"]]["turns"]):
            if turn.get("answer"):
                yield number, turn, marked.get(number, frozenset())


def kind(question: str) -> str:
    """What a question asks for, and whether it says something back before it."""
    said = sentences(question)
    while len(said) > 1 and REPLY.match(said[0]):
        said = said[1:]
    return f"{'said back, ' if len(said) > 1 else 'bare, '}{kind_of(question) or 'other'}"


def reactions(acts: frozenset[str]) -> list[str]:
    """What is done in an answer with these acts; that it only tells, where it is nothing else."""
    return [name for name, which in REACTIONS.items() if acts & which] or [TELLS]


def report() -> Iterator[str]:
    """Lines of both tables."""
    done: defaultdict[str, Counter[str]] = defaultdict(Counter)
    asked: Counter[str] = Counter()
    judged: defaultdict[str, Counter[str]] = defaultdict(Counter)
    count = 0
    for number, turn, acts in answers():
        count += 1
        found = reactions(acts)
        if number:
            asked[kind(turn["question"])] += 1
            done[kind(turn["question"])].update(found)
        judged[found[0]].update(one["question"] for one in turn.get("judged", ()) if one["question"])
    yield f"{count} answers"
    yield f"| question | asked | {' | '.join(REACTIONS)} |"
    yield f"|{'---|' * (len(REACTIONS) + 2)}"
    for name, times in asked.most_common():
        if times >= FEWEST:
            yield f"| {name} | {times} | {' | '.join(f'{done[name][each] / times:.0%}' for each in REACTIONS)} |"
    yield ""
    yield "| after which somebody | judged | GOOD | OK | BAD |"
    yield "|---|---|---|---|---|"
    for name in (TELLS, *REACTIONS):
        found_good, found_ok, every = judged[name]["GOOD"], judged[name]["OK"], judged[name].total()
        bad = every - found_good - found_ok
        yield f"| {name} | {every} | {found_good / every:.0%} | {found_ok / every:.0%} | {bad / every:.0%} |"


if __name__ == "__main__":
    print(*report(), sep="\n")

"""How well dialogue acts are heard: `python -m tests.quality.acts FILE [--language en] [--mistakes ACT]`.

Prints precision, recall and F1 of each act, message by message, for acts that are sure and for those heard at all
(an unsure one is asked back), and in how many messages of pure content something was heard that was not there: by rules
and reader together, and by the rules alone. Mistakes are shown for files that are not blind only.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline.acts import ACTS, HeardAct
from pipeline.language.acts.hearing import ActHearing
from pipeline.language.acts.reading import acts_of
from pipeline.language.reader.files import load_reader

STERN = ("wants_stop", "wants_pause", "wants_withdrawal", "minor")
"""Acts that end, pause or hold back an interview, or erase it."""
Hear = Callable[[str, str, str], Sequence[HeardAct]]


def figures(messages: list[dict[str, Any]], language: str, hear: Hear) -> dict[str, Any]:
    """Counts of what was there and what was heard."""
    there, sure, heard, right_sure, right = (
        Counter[str](),
        Counter[str](),
        Counter[str](),
        Counter[str](),
        Counter[str](),
    )
    content = stern = other = 0
    wrong: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for message in messages:
        gold = {act for _, act in message["spans"]} - {"tells"}
        acts = hear(message["message"], message["question"], language)
        at_all = {one.act for one in acts} - {"tells"}
        certain = {one.act for one in acts if one.sure} - {"tells"}
        there.update(gold)
        heard.update(at_all)
        sure.update(certain)
        right.update(gold & at_all)
        right_sure.update(gold & certain)
        for act in gold - at_all:
            wrong.setdefault(act, []).append(("missed", message))
        for act in at_all - gold:
            wrong.setdefault(act, []).append(("false" if act in certain else "false, unsure", message))
        if not gold:
            content += 1
            stern += bool(certain & set(STERN))
            other += bool(at_all)
    return {
        "there": there, "sure": sure, "heard": heard, "right_sure": right_sure, "right": right,
        "content": content, "stern": stern, "other": other, "wrong": wrong,
    }  # fmt: skip


def share(part: int, whole: int) -> float:
    """Part of the whole; 1 where there is nothing."""
    return part / whole if whole else 1.0


def shown(found: dict[str, Any]) -> None:
    """Print the figures of one way of hearing."""
    print(f"{'act':18}{'there':>7}{'P sure':>8}{'R sure':>8}{'F1 sure':>8}{'P all':>8}{'R all':>8}{'F1 all':>8}")
    for act in ACTS[1:]:
        if not found["there"][act] and not found["heard"][act]:
            continue
        rows = []
        for right, heard in ((found["right_sure"], found["sure"]), (found["right"], found["heard"])):
            p, r = share(right[act], heard[act]), share(right[act], found["there"][act])
            rows += [p, r, 2 * p * r / (p + r) if p + r else 0.0]
        print(f"{act:18}{found['there'][act]:7}" + "".join(f"{value:8.3f}" for value in rows))
    print(
        f"content only ({found['content']}): {found['stern']} would end, pause or erase an interview, "
        f"in {found['other']} some act was heard"
    )


def main() -> None:
    """Print the figures of files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--language", default="en")
    parser.add_argument("--without", default="", help="leave out messages with this word")
    parser.add_argument("--mistakes", default="", help="an act, or `all`")
    parser.add_argument("--most", type=int, default=40)
    options = parser.parse_args()
    messages = [
        json.loads(line) for file in options.files for line in file.read_text(encoding="utf-8").splitlines() if line
    ]
    if options.without:
        messages = [one for one in messages if options.without not in one["message"].lower()]
    print(f"{', '.join(file.name for file in options.files)}: {len(messages)} messages")
    reader = load_reader()
    hearing = ActHearing(reader.network, reader.settings, reader.message, reader.talk, reader.danger)
    for name, hear in (("rules and reader", hearing.read_sync), ("rules alone", acts_of)):
        found = figures(messages, options.language, hear)
        print(f"\n{name}")
        shown(found)
        if options.mistakes and not any("blind" in file.parts for file in options.files):
            for act, list_ in found["wrong"].items():
                if options.mistakes in (act, "all"):
                    for kind, message in list_[: options.most]:
                        print(f"{act} {kind}: [{message['question'][:60]}] {message['message']}")


if __name__ == "__main__":
    main()

"""Two interviews on the same answers, side by side, for somebody who reads them critically."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from tests.local_llm.interview import Interview, Turn
from tests.local_llm.wiretap import Exchange

COLUMN = 76
GAP = " │ "


def report(left: Interview, right: Interview, head: Sequence[str]) -> str:
    """The whole report.

    Args:
        left: one interview.
        right: the other one, on the same answers.
        head: lines about what was run.
    """
    lines = ["# The same answers, two interviewers", "", *head, "", "```"]
    lines += [*columns([left.name.upper()], [right.name.upper()]), *columns(["═" * COLUMN], ["═" * COLUMN])]
    lines += columns(_opening(left), _opening(right))
    for ours, theirs in zip_longest(left.turns, right.turns):
        turn = ours or theirs
        lines += ["", *_wrap(f"{turn.number}. — {turn.answer}", 2 * COLUMN + len(GAP)), ""]
        lines += columns(_turn(left, ours) if ours else ["(over)"], _turn(right, theirs) if theirs else ["(over)"])
    for title, part in (("GRAPH", _graph), ("LEFT OUT BY THE METHODOLOGY", _tensions), ("FIGURES", _figures)):
        lines += ["", title, *columns(part(left), part(right))]
    lines.append("```")
    for held in (left, right):
        if exchanges := [exchange for turn in (held.opening, *held.turns) for exchange in turn.exchanges]:
            lines += ["", f"## Calls of {held.name}", "", *_calls(exchanges)]
        if logged := [line for line in held.log if _worth_reading(line)]:
            lines += ["", f"## Log of {held.name}", "", "```", *logged, "```"]
    return "\n".join(lines) + "\n"


def columns(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Two texts beside each other, wrapped to the width of a column."""
    wrapped = ([piece for line in side for piece in _wrap(line, COLUMN)] for side in (left, right))
    return [f"{a:<{COLUMN}}{GAP}{b}".rstrip() for a, b in zip_longest(*wrapped, fillvalue="")]


def _wrap(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, width, subsequent_indent=indent, drop_whitespace=True) or [""]


def _opening(held: Interview) -> list[str]:
    return [f"? {held.opening.question}", f"  {held.opening.seconds:.1f} s", *_said_otherwise(held.opening)]


def _turn(held: Interview, turn: Turn) -> list[str]:
    """What a turn found, decided and asked."""
    lines = [f"+ {node['label']} [{node['node_type']}]" for node in _made(held, "nodes", turn.number)]
    labels = _labels(held)
    lines += [
        f"→ {labels[edge['source_id']]} → {labels[edge['target_id']]} [{edge['edge_type']}]"
        for edge in _made(held, "edges", turn.number)
    ]
    score = next((row for row in held.scores if row["turn_number"] == turn.number), None)
    if score is not None:
        lines += _decision(score)
    if turn.failures:
        lines.append(f"! failed: {', '.join(turn.failures)}")
    lines.append(f"? {turn.question}{'  (template)' if turn.fallback else ''}")
    first = "" if turn.first_s is None else f", first words {turn.first_s:.1f} s"
    lines.append(f"  {turn.seconds:.1f} s{first}{_tokens(turn.exchanges)}")
    return lines + _said_otherwise(turn)


def _decision(score: dict[str, Any]) -> list[str]:
    ratings = score.get("ratings") or {}
    marks = ratings.get("scores") or {}
    line = f"= {score.get('strategy') or '–'}"
    if marks:
        line += "; " + " ".join(f"{_short(name)} {mark}" for name, mark in marks.items())
        line += f" hedging {ratings.get('hedging')}"
    lines = [line]
    if score.get("fallbacks"):
        lines.append(f"! fallback: {score['fallbacks']}")
    return lines


def _short(name: str) -> str:
    return {"response_depth": "depth", "intellectual_engagement": "intellect"}.get(name, name)


def _said_otherwise(turn: Turn) -> list[str]:
    """Wordings that a model gave and the respondent did not see."""
    asked = " ".join(turn.question.split())
    others = [" ".join(exchange.text.split()).strip('"“”') for exchange in turn.exchanges if exchange.streamed]
    return [f"x {text}" for text in others if text != asked]


def _tokens(exchanges: Sequence[Exchange]) -> str:
    if not exchanges:
        return ""
    read, written = (sum(e.usage.get(name, 0) for e in exchanges) for name in ("prompt_tokens", "completion_tokens"))
    return f", {len(exchanges)} calls, {read} tokens in, {written} out"


def _made(held: Interview, kind: str, turn_number: int) -> list[dict[str, Any]]:
    return [row for row in held.record.get(kind, []) if row["created_turn"] == turn_number]


def _labels(held: Interview) -> dict[str, str]:
    return {node["id"]: node["label"] for node in held.record.get("nodes", [])}


def _graph(held: Interview) -> list[str]:
    """Nodes from the most concrete level up, each with where it leads."""
    labels = _labels(held)
    lines = []
    for node in sorted(held.record.get("nodes", []), key=lambda node: (node["level"], node["created_turn"])):
        lines.append(f"{node['level']} {node['label']} [{node['node_type']}] turn {node['created_turn']}")
        lines += [
            f"    → {labels[edge['target_id']]} [{edge['edge_type']}, {edge['confidence']:.2f}]"
            for edge in held.record.get("edges", [])
            if edge["source_id"] == node["id"]
        ]
    return lines


def _tensions(held: Interview) -> list[str]:
    return [
        f"{row['turn']}: {row['source']}{' → ' + row['target'] if row.get('target') else ''}"
        f" [{row['type']}]: {row['reason']}"
        for row in held.record.get("tensions", [])
    ] or ["–"]


def _figures(held: Interview) -> list[str]:
    nodes, edges = held.record.get("nodes", []), held.record.get("edges", [])
    kinds = Counter(node["node_type"] for node in nodes)
    linked = {end for edge in edges for end in (edge["source_id"], edge["target_id"])}
    seconds = sorted(turn.seconds for turn in held.turns)
    exchanges = [exchange for turn in (held.opening, *held.turns) for exchange in turn.exchanges]
    return [
        f"turns                {len(held.turns)}{'; over ' + held.ended if held.ended else ''}",
        f"seconds per turn     median {seconds[len(seconds) // 2]:.1f}, {seconds[0]:.1f} to {seconds[-1]:.1f}"
        if seconds else "seconds per turn     –",
        f"nodes                {len(nodes)}: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}",
        f"edges                {len(edges)}, {sum(node['id'] not in linked for node in nodes)} nodes without one",
        f"slots                {len(held.record.get('slots', []))}",
        f"template questions   {sum(turn.fallback for turn in held.turns)}",
        f"wordings refused     {sum(len(_said_otherwise(turn)) for turn in (held.opening, *held.turns))}",
        f"failed tries         {sum(len(turn.failures) for turn in held.turns)}",
        f"tokens{_tokens(exchanges) or ': none'}",
        "summed by the API    " + (", ".join(f"{n} {name}" for name, n in _told(held.usage)) or "nothing"),
    ]  # fmt: skip


def _told(usage: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Name and figure of what the API sums up, nested ones with their path; zeros are left out."""
    for name, value in usage.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", n) for inner, n in _told(value))
        elif value:
            yield name, round(value) if isinstance(value, float) else value


def _calls(exchanges: Sequence[Exchange]) -> Iterator[str]:
    yield "| form | status | s | first byte s | tokens in | cached | out | ended | answer |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for e in exchanges:
        form = e.form or ("stream" if e.streamed else "text")
        cached = (e.usage.get("prompt_tokens_details") or {}).get("cached_tokens", "–")
        answer = " ".join(e.text.split()).replace("|", "¦")
        shown = answer if len(answer) <= 400 else answer[:400] + "…"
        yield (
            f"| {form} | {e.status}{' cut' if e.cut else ''} | {e.seconds:.1f}"
            f" | {e.first_byte_s:.1f} | {e.usage.get('prompt_tokens', '–')} | {cached}"
            f" | {e.usage.get('completion_tokens', '–')} | {e.finish or '–'} | {shown} |"
        )


def _worth_reading(line: str) -> bool:
    return any(word in line for word in ("warning", "error", "llm_", "Traceback"))

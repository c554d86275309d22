"""What a set of simulated interviews came to: a table for the terminal, and a page with plots and transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from server.simulation.running import Result
from server.simulation.scoring import summed

COLUMNS: Mapping[str, str] = {
    "told": "share of the truth that was told, because it was asked for",
    "found": "of that, share that is a concept of the graph",
    "typed": "of those, share with the right type",
    "wrong": "share of the concepts that are from no idea",
    "linked": "of the links between ideas told, share that is in the graph",
    "wrong links": "share of the links between ideas that the truth does not have",
    "height": "highest level found, of the highest that there was",
    "guide": "share of the guide that was covered",
    "wasted": "share of the answers that told nothing",
    "repeated": "share of the questions that had been asked of the same idea",
    "closed early": "share of the interviews that ended with most untold",
    "closed late": "share that ended after three answers that told nothing",
    "broken off": "share that did not end by themselves",
    "turns": "answers per interview",
}
ALL = "all"
NAMES = 2
"""Columns of text before the figures."""
WIDTH, HEIGHT, MARGIN = 420, 150, 28
BAR = 18


def rows(results: Sequence[Result]) -> list[tuple[str, str, int, dict[str, float]]]:
    """Per persona and manner: the number of interviews and the mean figures; all of them at the end."""

    def of(result: Result) -> tuple[str, str]:
        return result.job.persona, result.manner

    found = []
    for (persona, manner), those in groupby(sorted(results, key=of), key=of):
        listed = list(those)
        found.append((persona, manner, len(listed), summed([result.score for result in listed])))
    if results:
        found.append((ALL, "", len(results), summed([result.score for result in results])))
    return found


def table(results: Sequence[Result]) -> str:
    """The figures as text, shares in percent."""
    head = ["persona", "manner", "n", *COLUMNS]
    lines = [
        [persona, manner, str(number), *(_figure(name, figures[name]) for name in COLUMNS)]
        for persona, manner, number, figures in rows(results)
    ]
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    return "\n".join(_aligned(line, widths) for line in (head, *lines)) + "\n"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    sized = list(zip(line, widths, strict=True))
    names, figures = sized[:NAMES], sized[NAMES:]
    return "  ".join([cell.ljust(width) for cell, width in names] + [cell.rjust(width) for cell, width in figures])


def _figure(name: str, value: float) -> str:
    return f"{value:.1f}" if name == "turns" else f"{100 * value:.0f}"


def page(results: Sequence[Result], title: str) -> str:
    """The figures as one HTML page that needs nothing else."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>",
            f"<h1>{escape(title)}</h1>",
            f"<p>{len(results)} simulated interviews. What there was to find is known, so that it can be counted what "
            "was found. Shares are in percent.</p>",
            *_figures_table(results),
            "<h2>How much was told, answer by answer</h2>",
            '<div class="plots">',
            *(_curve(persona, manner, those) for (persona, manner), those in _groups(results)),
            "</div>",
            "<h2>Share of the truth that was told</h2>",
            _bars([(f"{p} ({m})" if m else p, f["told"]) for p, m, _, f in rows(results)]),
            "<h2>Share of the answers that told nothing</h2>",
            _bars([(f"{p} ({m})" if m else p, f["wasted"]) for p, m, _, f in rows(results)]),
            "<h2>Interviews</h2>",
            *(_interview(result) for result in sorted(results, key=lambda each: each.job.name)),
            "</main></body></html>\n",
        ]
    )


def _groups(results: Sequence[Result]) -> Iterator[tuple[tuple[str, str], list[Result]]]:
    def of(result: Result) -> tuple[str, str]:
        return result.job.persona, result.manner

    for key, those in groupby(sorted(results, key=of), key=of):
        yield key, list(those)


def _figures_table(results: Sequence[Result]) -> Iterator[str]:
    heads = "".join(f'<th scope="col" title="{escape(told)}">{escape(name)}</th>' for name, told in COLUMNS.items())
    names = "".join(f'<th scope="col">{name}</th>' for name in ("persona", "manner", "n"))
    yield f'<div class="wide"><table><thead><tr>{names}{heads}</tr></thead><tbody>'
    for persona, manner, number, figures in rows(results):
        cells = "".join(f"<td>{_figure(name, figures[name])}</td>" for name in COLUMNS)
        kind = ' class="all"' if persona == ALL and not manner else ""
        yield f'<tr{kind}><th scope="row">{escape(persona)}</th><td>{escape(manner)}</td><td>{number}</td>{cells}</tr>'
    yield "</tbody></table></div><dl>"
    yield "".join(f"<dt>{escape(name)}</dt><dd>{escape(told)}</dd>" for name, told in COLUMNS.items())
    yield "</dl>"


def _curve(persona: str, manner: str, results: Sequence[Result]) -> str:
    """The share of the truth told by each answer, a line per interview."""
    longest = max((len(result.transcript) for result in results), default=1) or 1
    wide, high = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    lines = []
    for result in results:
        told, points = 0, [(0, 0.0)]
        for number, exchange in enumerate(result.transcript, start=1):
            told += len(exchange["told"])
            points.append((number, min(told / max(result.score.ideas, 1), 1.0)))
        path = " ".join(f"{MARGIN + wide * x / longest:.1f},{MARGIN + high * (1 - y):.1f}" for x, y in points)
        lines.append(f'<polyline points="{path}"/>')
    name = escape(f"{persona} ({manner})")
    low = MARGIN + high
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Share of the truth told: {name}">'
        f'<line x1="{MARGIN}" y1="{low}" x2="{MARGIN + wide}" y2="{low}"/>'
        f'<line x1="{MARGIN}" y1="{MARGIN}" x2="{MARGIN}" y2="{low}"/>'
        f'<text x="2" y="{MARGIN + 4}">100</text><text x="12" y="{low}">0</text>'
        f'<text x="{MARGIN + wide}" y="{HEIGHT - 8}" text-anchor="end">{longest} answers</text>'
        f"{''.join(lines)}</svg><figcaption>{name}</figcaption></figure>"
    )


def _bars(values: Sequence[tuple[str, float]]) -> str:
    height = BAR * len(values) + 8
    label, room = 220, WIDTH - 60
    lines = [
        f'<text x="{label - 6}" y="{BAR * i + 16}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{label}" y="{BAR * i + 5}" width="{max(room * value, 1):.1f}" height="{BAR - 6}"/>'
        f'<text x="{label + room * value + 6:.1f}" y="{BAR * i + 16}">{100 * value:.0f}</text>'
        for i, (name, value) in enumerate(values)
    ]
    return f'<svg class="bars" viewBox="0 0 {label + room + 40} {height}" role="img">{"".join(lines)}</svg>'


def _interview(result: Result) -> str:
    score = result.score
    told = f"{score.told} of {score.ideas} ideas told in {score.turns} answers, {score.wasted} wasted"
    missed = f"<p>Never told: {escape(', '.join(result.missed))}</p>" if result.missed else ""
    lines = "".join(_exchange(exchange) for exchange in result.transcript)
    return (
        f"<details><summary>{escape(f'{result.job.name}: {told}')}</summary>{missed}<table><thead><tr><th>Turn</th>"
        f"<th>Question</th><th>Answer</th></tr></thead><tbody>{lines}</tbody></table></details>"
    )


def _exchange(exchange: Mapping[str, Any]) -> str:
    why = " · ".join(filter(None, (exchange["strategy"], exchange["about"])))
    brought = ", ".join(exchange["told"]) or exchange["reason"]
    return (
        f"<tr><td>{exchange['turn']}</td><td><q>{escape(exchange['question'])}</q><small>{escape(why)}</small></td>"
        f"<td><q>{escape(exchange['answer'])}</q><small>{escape(brought)}</small></td></tr>"
    )


STYLE = """
:root { color-scheme: light dark; --ink: #1d2328; --soft: #5c6670; --line: #d5dade; --mark: #2a6f97; --back: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5af; --line: #3a434b; --mark: #6db3dc;
  --back: #15191d; } }
body { margin: 0; background: var(--back); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
.wide td, .wide thead th { text-align: right; } .wide td:nth-child(2) { text-align: left; }
tr.all { font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .9rem; color: var(--soft); }
dd { margin: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-size: .85rem; color: var(--soft); }
svg { width: 100%; height: auto; } svg.bars { max-width: 44rem; }
svg text { fill: var(--soft); font-size: 11px; } svg line { stroke: var(--line); }
svg polyline { fill: none; stroke: var(--mark); stroke-width: 1.5; opacity: .6; } svg rect { fill: var(--mark); }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; } summary { cursor: pointer; }
small { display: block; color: var(--soft); }
q { quotes: "“" "”"; }
"""

"""What a set of simulated interviews came to: a table for the terminal, and a page with plots and transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from pipeline.engines.registry import ENGINES
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
OWN = "the concept's"
"""How the engine reads that a concept names."""
SIDES = ("told", "linked", "height", "guide", "wasted", "repeated", "closed late", "turns")
"""The figures that engines are compared by, side by side."""
WIDTH, HEIGHT, MARGIN = 420, 150, 28
BAR = 18
HUES = 4
"""Colours that tell engines apart."""


@dataclass(frozen=True)
class Row:
    """The mean figures of some interviews; `persona` is ALL for everybody's, `engine` empty for the concept's own."""

    persona: str
    manner: str
    engine: str
    number: int
    figures: Mapping[str, float]

    @property
    def name(self) -> str:
        """Of whom and by what, in one."""
        named = f"{self.persona} ({self.manner})" if self.manner else self.persona
        return f"{named}, {self.engine}" if self.engine else named


def rows(results: Sequence[Result]) -> list[Row]:
    """Per persona, manner and engine: the number of interviews and the mean figures; all of each engine at the end."""

    def of(result: Result) -> tuple[str, str, str]:
        return result.job.persona, result.manner, result.job.engine or ""

    found = []
    for (persona, manner, engine), those in groupby(sorted(results, key=of), key=of):
        listed = list(those)
        found.append(Row(persona, manner, engine, len(listed), summed([result.score for result in listed])))
    order = ["", *ENGINES]
    found.sort(key=lambda row: (row.persona, row.manner, order.index(row.engine)))
    for engine in engines(results):
        listed = [result for result in results if (result.job.engine or "") == engine]
        found.append(Row(ALL, "", engine, len(listed), summed([result.score for result in listed])))
    return found


def engines(results: Sequence[Result]) -> list[str]:
    """The engines that were asked for, in the order in which there are; the empty name is the concept's own."""
    there = {result.job.engine or "" for result in results}
    return [name for name in ("", *ENGINES) if name in there]


def table(results: Sequence[Result]) -> str:
    """The figures as text, shares in percent; with several engines also figure by figure, one beside the other."""
    several = len(engines(results)) > 1
    names = ["persona", "manner", *(["engine"] if several else [])]
    lines = [
        [row.persona, row.manner, *([row.engine] if several else []), str(row.number), *_cells(row)]
        for row in rows(results)
    ]
    text = _grid([[*names, "n", *COLUMNS], *lines], len(names))
    if several:
        for name, grid in sides(results).items():
            text += f"\n{name}: {COLUMNS[name]}\n{_grid(grid, 1)}"
    return text


def sides(results: Sequence[Result]) -> dict[str, list[list[str]]]:
    """For each of SIDES, personas by engines, with a heading; empty where somebody was not interviewed by an engine."""
    found = {(row.persona, row.manner, row.engine): row.figures for row in rows(results)}
    those, names = list(dict.fromkeys(key[:2] for key in found)), engines(results)
    return {
        figure: [
            ["", *(name or OWN for name in names)],
            *(
                [
                    f"{persona} ({manner})" if manner else persona,
                    *(
                        _figure(figure, found[persona, manner, name][figure])
                        if (persona, manner, name) in found
                        else ""
                        for name in names
                    ),
                ]
                for persona, manner in those
            ),
        ]
        for figure in SIDES
    }


def _cells(row: Row) -> list[str]:
    return [_figure(name, row.figures[name]) for name in COLUMNS]


def _grid(lines: Sequence[Sequence[str]], names: int) -> str:
    """Lines as columns, the first `names` of them to the left, the others to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(_aligned(line, widths, names) for line in lines) + "\n"


def _aligned(line: Sequence[str], widths: Sequence[int], names: int) -> str:
    sized = list(zip(line, widths, strict=True))
    left = [cell.ljust(width) for cell, width in sized[:names]]
    return "  ".join([*left, *(cell.rjust(width) for cell, width in sized[names:])])


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
            *_page_sides(results),
            "<h2>How much was told, answer by answer</h2>",
            _legend(results),
            '<div class="plots">',
            *(_curve(persona, manner, those, engines(results)) for (persona, manner), those in _groups(results)),
            "</div>",
            *_bars("Share of the truth that was told", [(row.name, row.figures["told"]) for row in rows(results)]),
            *_bars(
                "Share of the answers that told nothing", [(row.name, row.figures["wasted"]) for row in rows(results)]
            ),
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
    several = len(engines(results)) > 1
    heads = "".join(f'<th scope="col" title="{escape(told)}">{escape(name)}</th>' for name, told in COLUMNS.items())
    named = ("persona", "manner", *(("engine",) if several else ()))
    names = "".join(f'<th scope="col" class="name">{name}</th>' for name in named)
    yield f'<div class="wide" tabindex="0"><table><thead><tr>{names}<th scope="col">n</th>{heads}</tr></thead><tbody>'
    for row in rows(results):
        cells = "".join(f"<td>{cell}</td>" for cell in (str(row.number), *_cells(row)))
        kind = ' class="all"' if row.persona == ALL and not row.manner else ""
        engine = f'<td class="name">{escape(row.engine)}</td>' if several else ""
        manner = f'<td class="name">{escape(row.manner)}</td>'
        yield f'<tr{kind}><th scope="row">{escape(row.persona)}</th>{manner}{engine}{cells}</tr>'
    yield "</tbody></table></div><dl>"
    yield "".join(f"<dt>{escape(name)}</dt><dd>{escape(told)}</dd>" for name, told in COLUMNS.items())
    yield "</dl>"


def _page_sides(results: Sequence[Result]) -> Iterator[str]:
    """Personas by engines, a table per figure; nothing for one engine."""
    if len(engines(results)) < 2:
        return
    yield '<h2>Engine beside engine</h2><div class="sides">'
    for name, (head, *lines) in sides(results).items():
        heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head[1:])
        said = escape(f"{name}: {COLUMNS[name]}")
        yield f'<div><p class="said">{said}</p><div class="wide" tabindex="0"><table aria-label="{said}">'
        yield f"<thead><tr><td></td>{heads}</tr></thead><tbody>"
        for who, *cells in lines:
            kind = ' class="all"' if who == ALL else ""
            yield f'<tr{kind}><th scope="row">{escape(who)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        yield "</tbody></table></div></div>"
    yield "</div>"


def _legend(results: Sequence[Result]) -> str:
    names = engines(results)
    if len(names) < 2:
        return ""
    lines = [f'<path class="hue{at % HUES}" d="M0 4H20"/>' for at in range(len(names))]
    items = "".join(
        f'<li><svg viewBox="0 0 20 8" aria-hidden="true">{line}</svg>{escape(name or OWN)}</li>'
        for line, name in zip(lines, names, strict=True)
    )
    return f'<ul class="legend">{items}</ul>'


def _curve(persona: str, manner: str, results: Sequence[Result], names: Sequence[str]) -> str:
    """The share of the truth told by each answer, a line per interview, in the colour of its engine."""
    longest = max((len(result.transcript) for result in results), default=1) or 1
    wide, high = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    lines = []
    for result in results:
        told, points = 0, [(0, 0.0)]
        for number, exchange in enumerate(result.transcript, start=1):
            told += len(exchange["told"])
            points.append((number, min(told / max(result.score.ideas, 1), 1.0)))
        path = " ".join(f"{MARGIN + wide * x / longest:.1f},{MARGIN + high * (1 - y):.1f}" for x, y in points)
        hue = names.index(result.job.engine or "") % HUES
        lines.append(f'<polyline class="hue{hue}" points="{path}"/>')
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


def _bars(title: str, values: Sequence[tuple[str, float]]) -> Iterator[str]:
    """A heading, and a bar for each share."""
    height = BAR * len(values) + 8
    label, room = 220, WIDTH - 60
    lines = [
        f'<text x="{label - 6}" y="{BAR * i + 16}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{label}" y="{BAR * i + 5}" width="{max(room * value, 1):.1f}" height="{BAR - 6}"/>'
        f'<text x="{label + room * value + 6:.1f}" y="{BAR * i + 16}">{100 * value:.0f}</text>'
        for i, (name, value) in enumerate(values)
    ]
    drawn = f'viewBox="0 0 {label + room + 40} {height}" role="img" aria-label="{escape(title)}"'
    yield f"<h2>{escape(title)}</h2>"
    yield f'<svg class="bars" {drawn}>{"".join(lines)}</svg>'


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
.wide td, .wide thead th { text-align: right; } .wide td.name, .wide thead th.name { text-align: left; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1.5rem; }
.said { margin: 0 0 .3rem; color: var(--soft); font-size: .9rem; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .9rem; }
.legend svg { width: 1.5rem; height: .6rem; margin-right: .4rem; } .legend path { stroke-width: 3; }
.hue0 { stroke: var(--mark); } .hue1 { stroke: #c2631d; } .hue2 { stroke: #3f8f4f; } .hue3 { stroke: #9a5bb5; }
tr.all { font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .9rem; color: var(--soft); }
dd { margin: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-size: .85rem; color: var(--soft); }
svg { width: 100%; height: auto; } svg.bars { max-width: 44rem; }
svg text { fill: var(--soft); font-size: 11px; } svg line { stroke: var(--line); }
svg polyline { fill: none; stroke-width: 1.5; opacity: .6; } svg rect { fill: var(--mark); }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; } summary { cursor: pointer; }
small { display: block; color: var(--soft); }
q { quotes: "“" "”"; }
@media (max-width: 34rem) { main { padding: 1rem; } th, td { padding: .3rem .35rem; } }
"""

"""A comparison as text for the terminal, as one HTML page that needs nothing else, and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from html import escape
from textwrap import shorten, wrap
from typing import Any

from server.comparison.measuring import GROUPS, ROWS
from server.comparison.moments import HONEST, Comparison, Moment, Said, difference, explained
from server.comparison.recording import Message, counted
from server.comparison.steps import Step
from server.simulation.report import STYLE

FORMAT, VERSION = "askwell.comparison", 1
WIDTH = 110
"""Of the terminal's text, in characters; tables with many runs are wider."""
LEAST_CELL, MOST_CELL = 14, 34
SHOWN = 160
"""Characters of an answer that the terminal shows."""
LONG = 400
"""An answer with more characters is folded on the page."""
SKIPPED = "(rather not say)"


def table(comparison: Comparison) -> str:
    """The comparison as text."""
    lines = [*_heading(comparison), "", *_figures(comparison), "", "Answer by answer", ""]
    lines.append("0   (opening)")
    for who, text in comparison.openings:
        lines += [*([f"    {who}"] if len(comparison.openings) > 1 else []), *_wrapped(text, "      ")]
    lines.append("")
    for moment in comparison.moments:
        lines += [*_moment(moment, comparison.names), ""]
    return "\n".join(lines).rstrip() + "\n"


def _heading(comparison: Comparison) -> Iterator[str]:
    yield _titled(comparison)
    yield f"{counted(len(comparison.runs), 'interview')} over the same answers: {', '.join(comparison.names)}"
    yield ""
    for text in (HONEST, *comparison.notes, comparison.parting):
        yield from wrap(text, WIDTH)


def _titled(comparison: Comparison) -> str:
    return f"{comparison.title} ({comparison.origin})" if comparison.origin else comparison.title


def _groups(comparison: Comparison) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """The figures of all runs by name, under their headings; what none of them has is left out."""
    shown = [figures.shown() for figures in comparison.figures]
    for heading, names in GROUPS.items():
        rows = [(name, [one[name] or "–" for one in shown]) for name in names if any(one[name] for one in shown)]
        if rows:
            yield heading, rows


def _figures(comparison: Comparison) -> Iterator[str]:
    names = comparison.names
    label = max(map(len, ROWS)) + 2
    cell = min(MOST_CELL, max(LEAST_CELL, *map(len, names), (WIDTH - label) // max(len(names), 1) - 2))
    yield "  ".join((" " * label, *(name.ljust(cell) for name in names))).rstrip()
    for heading, rows in _groups(comparison):
        yield heading
        for name, cells in rows:
            parts = [wrap(text, cell) or [""] for text in cells]
            for at in range(max(map(len, parts))):
                columns = (part[at] if at < len(part) else "" for part in parts)
                head = f"  {name}" if at == 0 else ""
                yield "  ".join((head.ljust(label), *(text.ljust(cell) for text in columns))).rstrip()


def _moment(moment: Moment, names: Sequence[str]) -> Iterator[str]:
    number = str(moment.after).ljust(4)
    answer = shorten(moment.message.text, SHOWN, placeholder=" …")
    amends = " (amends the answer before)" if moment.message.kind == "correct" else ""
    yield from wrap(
        f"{f'“{answer}”' if answer else SKIPPED}{amends}", WIDTH, initial_indent=number, subsequent_indent="    "
    )
    yield from _wrapped(difference(moment, names), "    ")
    for said in explained(moment, names):
        yield f"    {said.who}"
        yield from _wrapped(said.text, "      ")
        for choice in said.choices:
            if choice.why:
                yield from _wrapped(f"{choice.who}: {choice.why}" if choice.who else choice.why, "      ", "– ")


def _wrapped(text: str, indent: str, mark: str = "") -> list[str]:
    return wrap(f"{mark}{text}", WIDTH, initial_indent=indent, subsequent_indent=indent + " " * len(mark))


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": comparison.title,
        "origin": comparison.origin,
        "note": HONEST,
        "notes": list(comparison.notes),
        "openings": [{"by": who, "text": text} for who, text in comparison.openings],
        "runs": [
            {
                "name": run.name,
                "engine": run.engine,
                "concept": run.configuration.concept.id,
                "methodology": run.configuration.methodology.name,
                **asdict(figures),
                "strategies": dict(figures.strategies),
            }
            for run, figures in zip(comparison.runs, comparison.figures, strict=True)
        ],
        "answers": [
            {
                "number": moment.after,
                "text": moment.message.text,
                "kind": moment.message.kind,
                "given_to": moment.message.question or None,
                "difference": moment.verdict,
                "next": {name: _step_document(step) for name, step in zip(comparison.names, moment.said, strict=True)},
            }
            for moment in comparison.moments
        ],
    }


def _step_document(step: Step | None) -> dict[str, str] | None:
    if step is None:
        return None
    return {"kind": step.kind, "text": step.text, "strategy": step.strategy, "about": step.about, "why": step.why}


def page(comparison: Comparison) -> str:
    """The comparison as one HTML page."""
    title = f"The same answers, {counted(len(comparison.runs), 'interview')}: {_titled(comparison)}"
    notes = "".join(f"<li>{escape(note)}</li>" for note in comparison.notes)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{STYLE}{MORE_STYLE}</style></head><body><main>",
            f"<h1>{escape(comparison.title)}</h1><p><small>{escape(_subtitle(comparison))}</small></p>",
            f'<p class="honest"><strong>Read this first.</strong> {escape(HONEST)}</p>',
            f"<ul>{notes}</ul><p>{escape(comparison.parting)}</p>",
            "<h2>Side by side</h2>",
            *_page_figures(comparison),
            "<h2>Answer by answer</h2>",
            *(
                f"<p><small>{escape(_opened_by(comparison, who))}</small><q>{escape(text)}</q></p>"
                for who, text in comparison.openings
            ),
            *(_page_moment(moment, comparison.names) for moment in comparison.moments),
            "</main></body></html>\n",
        ]
    )


def _opened_by(comparison: Comparison, who: str) -> str:
    return f"Opening of {who}" if len(comparison.openings) > 1 else "Opening"


def _subtitle(comparison: Comparison) -> str:
    answers = counted(len(comparison.moments), "answer")
    return " · ".join(filter(None, (comparison.origin, answers, ", ".join(comparison.names))))


def _page_figures(comparison: Comparison) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in comparison.names)
    yield f'<div class="wide figures" tabindex="0"><table><thead><tr><td></td>{heads}</tr></thead><tbody>'
    shown = []
    for heading, rows in _groups(comparison):
        yield f'<tr class="group"><th scope="rowgroup" colspan="{len(comparison.runs) + 1}">{heading}</th></tr>'
        for name, cells in rows:
            shown.append(name)
            columns = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            yield f'<tr><th scope="row">{escape(name)}</th>{columns}</tr>'
    yield "</tbody></table></div><details><summary>What the figures mean</summary><dl>"
    yield "".join(f"<dt>{escape(name)}</dt><dd>{escape(ROWS[name])}</dd>" for name in shown)
    yield "</dl></details>"


def _page_moment(moment: Moment, names: Sequence[str]) -> str:
    asked = "".join(map(_page_said, explained(moment, names)))
    return (
        f'<section class="moment {moment.verdict}"><h3>{moment.after}</h3><div>{_page_message(moment.message)}'
        f'<p class="verdict">{escape(difference(moment, names))}</p><div class="asked">{asked}</div></div></section>'
    )


def _page_message(message: Message) -> str:
    amends = "<small>amends the answer before</small>" if message.kind == "correct" else ""
    if not message.text:
        return f'<p class="answer">{SKIPPED}</p>'
    if len(message.text) > LONG:
        head = escape(shorten(message.text, LONG // 2, placeholder=" …"))
        whole = escape(message.text)
        return f'<details class="answer"><summary><q>{head}</q>{amends}</summary><p>{whole}</p></details>'
    return f'<p class="answer"><q>{escape(message.text)}</q>{amends}</p>'


def _page_said(said: Said) -> str:
    whys = "".join(
        f"<p>{f'<strong>{escape(choice.who)}</strong> ' if choice.who else ''}{escape(choice.why)}</p>"
        for choice in said.choices
        if choice.why
    )
    return f"<article><h4>{escape(said.who)}</h4><q>{escape(said.text)}</q>{whys}</article>"


MORE_STYLE = """
.honest { border-left: .25rem solid var(--mark); padding: .2rem 0 .2rem 1rem; }
.figures td, .figures thead th { text-align: left !important; min-width: 9rem; max-width: 20rem; }
.figures tbody th { position: sticky; left: 0; background: var(--back); font-weight: 500; color: var(--soft); }
.figures tbody .group th { padding-top: 1rem; color: var(--ink); font-weight: 600; }
.moment { display: grid; grid-template-columns: 2.5rem minmax(0, 1fr); padding: 1rem 0; }
.moment { border-top: 1px solid var(--line); }
.moment h3 { margin: 0; color: var(--soft); font-weight: 500; }
.answer { margin: 0; overflow-wrap: anywhere; } .answer p { white-space: pre-wrap; }
details.answer { border: 0; padding: 0; }
.verdict { margin: .3rem 0 .6rem; color: var(--soft); font-size: .9rem; }
.asked { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: .8rem; }
article { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; overflow-wrap: anywhere; }
article h4 { margin: 0 0 .3rem; color: var(--mark); font-size: .9rem; }
article p { margin: .4rem 0 0; font-size: .9rem; color: var(--soft); }
.moment.same article { border-style: dashed; }
"""

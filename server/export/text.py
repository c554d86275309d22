"""Exports that are text: JSON, Markdown, CSV tables in a zip, GraphML, WebVTT."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree as ET

from pipeline.graph.violations import violations
from server.export.coverage import ELEMENT_COLUMNS, HEADINGS, coverage_cells, coverage_rows, coverage_table
from server.export.grid import grid_of, grid_rows
from server.export.material import (
    MODERATORS,
    SPEAKERS,
    Material,
    Row,
    action_words,
    as_it_reads,
    edge_rows,
    guide_rows,
    guide_words,
    node_rows,
    quote_rows,
    second_reading_note,
    session_row,
    shown_text,
    slot_rows,
    speaker_of,
    tension_rows,
    utterance_rows,
)
from server.export.stimulus import SHOWN, shown_parts

_ILLEGAL_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~])")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+[.)])", re.MULTILINE)
_FORMULA = re.compile(r"[\t\r\n]|[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212]")
"""How text begins that a spreadsheet may take for a formula, in full-width forms too."""
_WORD_S = 0.4
COLUMNS = {
    "guide": "id label status turn_number reason node_ids".split(),
    "elements": ELEMENT_COLUMNS,
    "actions": "command_id action moderator turn_number recorded_at details".split(),
    "usage": (
        "id turn_number ordinal role task provider model attempt outcome error input_tokens output_tokens cached_tokens"
        " latency_ms first_token_ms cost currency recorded_at"
    ).split(),
}
"""Columns of tables that an interview may leave empty, so that tables of several interviews fit together."""
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"


def xml_text(text: str) -> str:
    """Text without the characters that XML 1.0 can't hold."""
    return _ILLEGAL_XML.sub("\ufffd", text)


def to_json(material: Material) -> bytes:
    """Everything about the session, and the configuration it ran with; `state` is what its decisions follow from."""
    state = material.state
    data: dict[str, Any] = {
        "format": "askwell.session",
        "version": 1,
        "session": session_row(state),
        "consent": state.consent.model_dump(mode="json") if state.consent else None,
        "utterances": utterance_rows(state),
        "nodes": node_rows(state, material.configuration),
        "edges": edge_rows(material.edges),
        "edges_omitted": len(state.edges) - len(material.edges),
        "tensions": tension_rows(state),
        "violations": list(violations(state.surface_graph(), material.configuration.methodology.ontology)),
        "slots": slot_rows(state),
        "canonical_edges": [edge.model_dump(mode="json") for edge in state.canonical_edges],
        "focus_history": [entry.model_dump(mode="json") for entry in state.focus_history],
        "threads": [thread.model_dump(mode="json") for thread in state.threads],
        "guide": [item.model_dump(mode="json") for item in state.guide],
        "coverage": coverage_rows(state, material.configuration),
        "grid": grid_of(state.grid),
        "node_tracker_state": state.tracker.model_dump(mode="json"),
        "turns": list(material.turns),
        "moderator_actions": list(material.actions),
        "llm_calls": list(material.calls),
        "usage": material.usage.model_dump(),
        "configuration": material.configuration.model_dump(mode="json"),
        "configuration_hash": state.config_hash,
        "state": state.model_dump(mode="json"),
    }
    return json.dumps(data, ensure_ascii=False, indent=2).encode()


def to_markdown(material: Material) -> bytes:
    """The transcript and what was found in it, for reading."""
    state = material.state
    lines = [f"# {_escaped(material.title)}", ""]
    lines += [
        f"- Session: `{state.session_id}`",
        f"- Begun: {state.created_at:%Y-%m-%d %H:%M} UTC · state: {state.status} · turns: {state.turn_count}",
        f"- Methodology: {state.methodology} · engine: {state.engine} · language: {state.language}",
        "",
    ]
    parts = shown_parts(material.configuration)
    lines += [f"## {SHOWN}", ""] if parts else []
    for part in parts:
        lines += [_escaped(part), ""]
    lines += ["## Transcript", ""]
    for said in as_it_reads(state):
        text = _escaped(shown_text(said.utterance))
        mark = " (amended)" if said.amends else ""
        shown = f"~~{text}~~ (retracted)" if said.retracted else text
        lines += [f"**{speaker_of(said.utterance)}**{mark}: {shown}", ""]
        note = second_reading_note(said.utterance)
        lines += [f"> _{_escaped(note)}_", ""] if note else []
    if material.actions:
        lines += [f"## {MODERATORS}", ""]
        lines += [f"- {_escaped(action_words(action))}" for action in material.actions]
        lines.append("")
    if state.guide:
        lines += ["## Guide", ""]
        lines += [f"- {_escaped(item.label)}: {guide_words(item)}" for item in state.guide]
        lines.append("")
    covered = coverage_rows(state, material.configuration)
    if covered:
        lines += ["## Elements of the concept", ""]
        lines += [_line(HEADINGS), _line(["---"] * len(HEADINGS))]
        lines += [_line(_escaped(cell) for cell in coverage_cells(row)) for row in covered]
        lines.append("")
    lines += _grid_lines(grid_rows(state))
    labels = {node.id: node.label for node in state.nodes}
    if state.nodes:
        lines += ["## Concepts", ""]
        for node_type in dict.fromkeys(node.node_type for node in state.nodes):
            lines += [f"### {_escaped(node_type.replace('_', ' '))}", ""]
            for node in state.nodes:
                if node.node_type == node_type:
                    label = _escaped(node.label)
                    lines.append(f"- ~~{label}~~ (retracted)" if node.superseded_by else f"- **{label}**")
                    lines += [f"  - “{_escaped(mention.quote)}”" for mention in node.mentions]
            lines.append("")
    if state.edges:
        lines += ["## Relations", ""]
        if material.omitted:
            lines += [f"_{material.omitted}_", ""]
        for edge in material.edges:
            ends = f"{_escaped(labels[edge.source_id])} → {_escaped(labels[edge.target_id])}"
            line = f"{ends} ({_escaped(edge.edge_type.replace('_', ' '))}, {edge.basis})"
            lines.append(f"- ~~{line}~~ (retracted)" if edge.id in material.retracted else f"- {line}")
        lines.append("")
    return "\n".join(lines).encode()


def _grid_lines(rows: Sequence[Row]) -> list[str]:
    """A repertory grid as a table; nothing without one."""
    if not rows:
        return []
    columns = list(rows[0])
    lines = ["## Grid", "", f"| {' | '.join(_escaped(name.replace('_', ' ')) for name in columns)} |"]
    lines.append(f"|{' --- |' * len(columns)}")
    for row in rows:
        cells = ("" if row[name] is None else _escaped(str(row[name])) for name in columns)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def to_grid(material: Material) -> bytes:
    """The repertory grid as one table: a row per construct between its poles, a column per element."""
    return _table(grid_rows(material.state))


def _escaped(text: str) -> str:
    escaped = _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
    return _LINE_START.sub(r"\1\\\2", escaped)


def to_csv(material: Material) -> bytes:
    """A zip of tables: session, utterances, nodes, edges, quotes, slots, guide, elements, scores, what moderators did,
    usage, and a repertory grid.

    UTF-8 with a byte order mark, for Excel. A table without rows has the names of its columns where they are known.
    """
    state = material.state
    tables: dict[str, list[Row]] = {
        "session": [{**session_row(state), "edges_omitted": len(state.edges) - len(material.edges)}],
        "utterances": utterance_rows(state),
        "nodes": node_rows(state, material.configuration),
        "edges": edge_rows(material.edges),
        "quotes": quote_rows(material),
        "slots": slot_rows(state),
        "guide": guide_rows(state),
        "elements": coverage_table(coverage_rows(state, material.configuration)),
        "scores": [
            {key: value for key, value in turn.items() if isinstance(value, str | int | float | None)}
            for turn in material.turns
        ],
        "actions": list(material.actions),
        "usage": list(material.calls),
    }
    if state.grid.constructs:
        tables["grid"] = grid_rows(state)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, rows in tables.items():
            target.writestr(f"{name}.csv", _table(rows, COLUMNS.get(name, ())))
    return archive.getvalue()


def _line(cells: Iterable[str]) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |"


def _table(rows: Sequence[Row], usual: Sequence[str] = ()) -> bytes:
    columns = list(dict.fromkeys(key for row in rows for key in row if key != "quotes")) or list(usual)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(column) for column in columns])
    for row in rows:
        writer.writerow([_cell(row.get(column)) for column in columns])
    return b"\xef\xbb\xbf" + out.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    """A cell; text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and _FORMULA.match(value):
        return "'" + value
    return value


def to_graphml(material: Material) -> bytes:
    """The surface graph, for Gephi, yEd, Cytoscape or networkx."""
    ET.register_namespace("", _GRAPHML)
    root = ET.Element(_graphml_tag("graphml"))
    nodes = node_rows(material.state, material.configuration)
    edges = edge_rows(material.edges)
    kinds = {
        "label": "string",
        "node_type": "string",
        "level": "int",
        "confidence": "double",
        "stance": "int",
        "salience": "int",
        "emotion": "int",
        "created_turn": "int",
        "last_mention_turn": "int",
        "mention_count": "int",
        "slot_name": "string",
        "superseded_by": "string",
        "quotes": "string",
    }
    edge_kinds = {
        "edge_type": "string",
        "basis": "string",
        "skips": "boolean",
        "confidence": "double",
        "stance": "int",
        "created_turn": "int",
        "quotes": "string",
    }
    for domain, known in (("node", kinds), ("edge", edge_kinds)):
        for name, kind in known.items():
            attributes = {"id": f"{domain}_{name}", "for": domain, "attr.name": name, "attr.type": kind}
            ET.SubElement(root, _graphml_tag("key"), attributes)
    graph = ET.SubElement(root, _graphml_tag("graph"), {"id": material.state.session_id, "edgedefault": "directed"})
    if material.omitted:
        ET.SubElement(graph, _graphml_tag("desc")).text = material.omitted
    for row in nodes:
        element = ET.SubElement(graph, _graphml_tag("node"), {"id": row["id"]})
        _attributes(element, "node", row, kinds)
    for row in edges:
        ends = {"id": row["id"], "source": row["source_id"], "target": row["target_id"]}
        _attributes(ET.SubElement(graph, _graphml_tag("edge"), ends), "edge", row, edge_kinds)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _graphml_tag(name: str) -> str:
    return f"{{{_GRAPHML}}}{name}"


def _attributes(element: ET.Element, domain: str, row: Row, names: Iterable[str]) -> None:
    for name in names:
        value = row[name]
        if name == "quotes":
            value = " | ".join(quote["quote"] for quote in value)
        if isinstance(value, bool):
            value = str(value).lower()
        if value is not None:
            ET.SubElement(element, _graphml_tag("data"), {"key": f"{domain}_{name}"}).text = xml_text(str(value))


def to_vtt(material: Material) -> bytes:
    """Captions in the time of the interview, one after another.

    A caption begins when its utterance was recorded, or when the one before it is over, and lasts as long as it takes
    to say it. A spoken answer was recorded when it was over, and lasts as long as it took.
    """
    said = [u for u in material.state.utterances if u.text]
    amended = {u.corrects for u in material.state.utterances if u.corrects}
    lines = ["WEBVTT", ""]
    begin = said[0].recorded_at if said else material.state.created_at
    end = timedelta()
    for utterance in said:
        recorded = utterance.recorded_at - begin
        if utterance.speech_ms is not None:
            length = timedelta(milliseconds=max(500, utterance.speech_ms))
            start = max(recorded - length, end)
        else:
            length = timedelta(seconds=max(1.5, len(utterance.text.split()) * _WORD_S))
            start = max(recorded, end)
        end = start + length
        text = " ".join(utterance.text.split())
        for character, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
            text = text.replace(character, escaped)
        if utterance.id in amended:
            text = f"<c.retracted>{text}</c> (retracted)"
        voice = f"<v {SPEAKERS[utterance.speaker]}>{text}</v>"
        lines += [utterance.id, f"{_timestamp(start)} --> {_timestamp(end)}", voice, ""]
    return "\n".join(lines).encode("utf-8", "replace")


def _timestamp(offset: timedelta) -> str:
    ms = round(offset.total_seconds() * 1000)
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"

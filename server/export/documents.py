"""Exports for Word, and REFI-QDA projects for ATLAS.ti, MAXQDA, NVivo and other programs."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid5
from xml.etree import ElementTree as ET

from pipeline.records import NAMESPACE
from server.export.coverage import HEADINGS, coverage_cells, coverage_rows
from server.export.material import (
    MODERATORS,
    SPEAKERS,
    Material,
    action_words,
    amended_ids,
    as_it_reads,
    guide_words,
    second_reading_note,
    shown_text,
    speaker_of,
)
from server.export.stimulus import SHOWN, shown_parts
from server.export.text import xml_text

if TYPE_CHECKING:
    from docx.document import Document as Word

_QDE = "urn:QDA-XML:project:1.0"
_COLOURS = ("#3366CC", "#B8860B", "#2E8B57", "#A0522D", "#6A5ACD", "#C71585", "#008B8B", "#708090")


def _relations(document: Word, material: Material) -> None:
    """The relations, those of what was taken back struck out; nothing without any."""
    state = material.state
    if not state.edges:
        return
    document.add_heading("Relations", 1)
    if material.omitted:
        document.add_paragraph(material.omitted).runs[0].italic = True
    labels = {node.id: node.label for node in state.nodes}
    for edge in material.edges:
        kind = edge.edge_type.replace("_", " ")
        text = f"{labels[edge.source_id]} → {labels[edge.target_id]} ({kind}, {edge.basis})"
        paragraph = document.add_paragraph(xml_text(text), style="List Bullet")
        if edge.id in material.retracted:
            paragraph.runs[0].font.strike = True
            paragraph.add_run(" (retracted)")


def to_docx(material: Material) -> bytes:
    """The transcript, then tables of the concept's elements and of concepts with their quotes."""
    from docx import Document  # takes longer to import than everything else here
    from docx.shared import Pt

    state = material.state
    document = Document()
    document.core_properties.title = xml_text(material.title)
    document.core_properties.author = "askwell"
    document.core_properties.created = state.created_at.astimezone(UTC).replace(tzinfo=None)
    document.add_heading(xml_text(material.title), 0)
    document.add_paragraph(
        f"Session {state.session_id} · {state.created_at:%Y-%m-%d %H:%M} UTC · {state.methodology} · "
        f"{state.turn_count} turns · {state.status}"
    )
    if shown_parts(material.configuration):
        document.add_heading(SHOWN, 1)
        for part in shown_parts(material.configuration):
            document.add_paragraph(xml_text(part))
    document.add_heading("Transcript", 1)
    for said in as_it_reads(state):
        paragraph = document.add_paragraph()
        mark = " (amended)" if said.amends else " (retracted)" if said.retracted else ""
        paragraph.add_run(f"{speaker_of(said.utterance)}{mark}: ").bold = True
        paragraph.add_run(xml_text(shown_text(said.utterance))).font.strike = said.retracted
        note = second_reading_note(said.utterance)
        if note:
            document.add_paragraph(style="Quote").add_run(xml_text(note)).font.size = Pt(9)
    if material.actions:
        document.add_heading(MODERATORS, 1)
        for action in material.actions:
            document.add_paragraph(xml_text(action_words(action)), style="List Bullet")
    if state.guide:
        document.add_heading("Guide", 1)
        for item in state.guide:
            document.add_paragraph(xml_text(f"{item.label}: {guide_words(item)}"), style="List Bullet")
    covered = coverage_rows(state, material.configuration)
    if covered:
        document.add_heading("Elements of the concept", 1)
        grid = document.add_table(rows=1, cols=len(HEADINGS))
        grid.style = "Light Grid Accent 1"
        for values, row in ((HEADINGS, grid.rows[0]), *((coverage_cells(one), grid.add_row()) for one in covered)):
            for cell, value in zip(row.cells, values, strict=True):
                cell.text = xml_text(value)
    if state.nodes:
        document.add_heading("Concepts", 1)
        table = document.add_table(rows=1, cols=3)
        table.style = "Light Grid Accent 1"
        for cell, heading in zip(table.rows[0].cells, ("Concept", "Type", "Said"), strict=True):
            cell.text = heading
        for node in state.nodes:
            cells = table.add_row().cells
            cells[0].text = xml_text(node.label)
            if node.superseded_by:
                cells[0].paragraphs[0].runs[0].font.strike = True
            cells[1].text = node.node_type.replace("_", " ")
            cells[2].text = xml_text("\n".join(f"“{mention.quote}”" for mention in node.mentions))
    _relations(document, material)
    document.styles["Normal"].font.size = Pt(11)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def to_qdpx(material: Material) -> bytes:
    """A REFI-QDA project: the transcript as a text source, node types and nodes as codes, quotes as codings.

    Positions count Unicode code points in the plain text. Source: REFI-QDA standard 1.5, project exchange.
    """
    user = _guid(material, "user")
    made = {"creatingUser": user, "creationDateTime": _moment(material.state.created_at)}
    root = ET.Element(
        _qde_tag("Project"),
        {
            "name": xml_text(material.title),
            "origin": "askwell",
            "creatingUserGUID": user,
            "creationDateTime": made["creationDateTime"],
        },
    )
    users = ET.SubElement(root, _qde_tag("Users"))
    ET.SubElement(users, _qde_tag("User"), {"guid": user, "name": "askwell"})
    _codes(root, material)
    text = _source(root, material, made)
    _links(root, material)
    if material.omitted:
        ET.SubElement(root, _qde_tag("Description")).text = material.omitted
    ET.register_namespace("", _QDE)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("project.qde", ET.tostring(root, encoding="utf-8", xml_declaration=True))
        target.writestr(f"sources/{_guid(material, 'source')}.txt", text.encode("utf-8", "replace"))
    return archive.getvalue()


def _source(root: ET.Element, material: Material, made: dict[str, str]) -> str:
    """Add the transcript with a coding for each quote of a node; the plain text of the transcript."""
    text, places = _transcript(material)
    guid = _guid(material, "source")
    source = ET.SubElement(
        ET.SubElement(root, _qde_tag("Sources")),
        _qde_tag("TextSource"),
        {
            "guid": guid,
            "name": xml_text(f"{material.title} {material.state.session_id}"),
            "plainTextPath": f"internal://{guid}.txt",
            **made,
        },
    )
    for node in material.state.nodes:
        for ordinal, mention in enumerate(node.mentions):
            if mention.utterance_id not in places:
                continue
            start, end = _position(text, places[mention.utterance_id], mention.quote)
            selection = ET.SubElement(
                source,
                _qde_tag("PlainTextSelection"),
                {
                    "guid": _guid(material, f"selection/{node.id}/{ordinal}"),
                    "name": xml_text(mention.quote[:60]),
                    "startPosition": str(start),
                    "endPosition": str(end),
                    **made,
                },
            )
            guid = _guid(material, f"coding/{node.id}/{ordinal}")
            coding = ET.SubElement(selection, _qde_tag("Coding"), {"guid": guid, **made})
            ET.SubElement(coding, _qde_tag("CodeRef"), {"targetGUID": _guid(material, f"node/{node.id}")})
    return text


def _links(root: ET.Element, material: Material) -> None:
    if not material.edges:
        return
    links = ET.SubElement(root, _qde_tag("Links"))
    for edge in material.edges:
        ET.SubElement(
            links,
            _qde_tag("Link"),
            {
                "guid": _guid(material, f"edge/{edge.id}"),
                "name": f"{edge.edge_type} ({edge.basis})",
                "direction": "OneWay",
                "originGUID": _guid(material, f"node/{edge.source_id}"),
                "targetGUID": _guid(material, f"node/{edge.target_id}"),
            },
        )


def _codes(root: ET.Element, material: Material) -> None:
    codes = ET.SubElement(ET.SubElement(root, _qde_tag("CodeBook")), _qde_tag("Codes"))
    ontology = material.configuration.methodology.ontology
    for index, kind in enumerate(ontology.nodes):
        colour = _COLOURS[index % len(_COLOURS)]
        parent = ET.SubElement(
            codes,
            _qde_tag("Code"),
            {"guid": _guid(material, f"type/{kind.name}"), "name": kind.name, "isCodable": "true", "color": colour},
        )
        ET.SubElement(parent, _qde_tag("Description")).text = xml_text(kind.description)
        for node in material.state.nodes:
            if node.node_type == kind.name:
                guid = _guid(material, f"node/{node.id}")
                name = xml_text(node.label) + (" (retracted)" if node.superseded_by else "")
                ET.SubElement(
                    parent, _qde_tag("Code"), {"guid": guid, "name": name, "isCodable": "true", "color": colour}
                )


def _transcript(material: Material) -> tuple[str, dict[str, tuple[int, int]]]:
    """The plain text, and where each utterance's words are in it, in code points."""
    text, places = "", {}
    amended = amended_ids(material.state)
    for utterance in material.state.utterances:
        said = xml_text(shown_text(utterance)).replace("\r\n", "\n").replace("\r", "\n")
        text += f"{SPEAKERS[utterance.speaker]}{' (retracted)' if utterance.id in amended else ''}: "
        places[utterance.id] = (len(text), len(text) + len(said))
        text += said + "\n\n"
    return text, places


def _position(text: str, place: tuple[int, int], quote: str) -> tuple[int, int]:
    """Where the quote stands in its utterance; the whole utterance if it is not in it word for word."""
    quote = xml_text(quote)
    found = text.find(quote, *place) if quote else -1
    return (found, found + len(quote)) if found >= 0 else place


def _guid(material: Material, name: str) -> str:
    return str(uuid5(NAMESPACE, f"{UUID(int=0)}/qdpx/{material.state.session_id}/{name}"))


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _qde_tag(name: str) -> str:
    return f"{{{_QDE}}}{name}"

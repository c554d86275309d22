"""Exports of a session in several file formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from server.export.documents import to_docx, to_qdpx
from server.export.material import Material
from server.export.text import to_csv, to_graphml, to_grid, to_json, to_markdown, to_vtt


@dataclass(frozen=True)
class Format:
    """One export format."""

    name: str
    media_type: str
    suffix: str
    write: Callable[[Material], bytes]
    complete: bool = False
    """Whether it has all relations, whichever are asked for."""


FORMATS: dict[str, Format] = {
    chosen.name: chosen
    for chosen in (
        Format("json", "application/json", "json", to_json, complete=True),
        Format("md", "text/markdown; charset=utf-8", "md", to_markdown),
        Format("csv", "application/zip", "csv.zip", to_csv),
        Format("grid", "text/csv; charset=utf-8", "grid.csv", to_grid),
        Format("graphml", "application/graphml+xml", "graphml", to_graphml),
        Format("vtt", "text/vtt; charset=utf-8", "vtt", to_vtt),
        Format("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", to_docx),
        Format("qdpx", "application/zip", "qdpx", to_qdpx),
    )
}

RELATIONS = ("firm", "all")
"""Which relations an export may have: all but those that were merely inferred, or all."""


def written(name: str, material: Material, relations: str = "firm") -> bytes:
    """The session in the format of that name, with these relations. Raises KeyError for a format that isn't there."""
    chosen = FORMATS[name]
    return chosen.write(replace(material, inferred=chosen.complete or relations == "all"))


__all__ = ["FORMATS", "RELATIONS", "Format", "Material", "written"]

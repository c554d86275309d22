"""The elements of a concept test as rows: what was said of each, and what it still lacks."""

from __future__ import annotations

from typing import Any

from pipeline.concept import Element, SessionConfiguration
from pipeline.coverage import UNDERSTOOD, ElementCoverage, Gap, gaps_of
from pipeline.state import InterviewState

Row = dict[str, Any]


def coverage_rows(state: InterviewState, configuration: SessionConfiguration) -> list[Row]:
    """A row for each element, in the concept's order.

    `connected` tells whether what was said joins it to the elements that it should be connected to, whose labels are
    `unconnected_to` where it does not; None where it need not be.
    """
    elements = configuration.concept.elements
    if not elements:
        return []
    gaps = gaps_of(state.coverage, elements, state.surface_graph())
    known = {entry.element_id: entry for entry in state.coverage}
    labels = {element.id: element.label for element in elements}
    return [
        _row(element, known.get(element.id) or ElementCoverage(element_id=element.id), gaps[element.id], labels)
        for element in elements
    ]


def _row(element: Element, entry: ElementCoverage, gaps: tuple[Gap, ...], labels: dict[str, str]) -> Row:
    apart = [gap.other for gap in gaps if gap.kind == "unconnected"]
    if not entry.mentioned and not entry.node_ids:
        apart = list(element.connection_requirements)
    return {
        "label": element.label,
        **entry.model_dump(mode="json"),
        "understood": entry.comprehension is not None and entry.comprehension >= UNDERSTOOD,
        "connected": not apart if element.connection_requirements else None,
        "unconnected_to": [labels[other] for other in apart if other in labels],
        "gaps": [gap.model_dump(mode="json", exclude={"element_id"}) for gap in gaps],
    }


def missing_words(row: Row) -> str:
    """What an element that was spoken of still lacks, in words; empty where that is nothing."""
    kinds = [gap["kind"] for gap in row["gaps"]]
    lacks = [
        words
        for kind, words in (("no_reaction", "no reaction yet"), ("no_comprehension", "named but not explained"))
        if kind in kinds
    ]
    lacks += [f"not connected to {label}" for label in row["unconnected_to"] if "unconnected" in kinds]
    return "; ".join(lacks)


ELEMENT_COLUMNS = (
    "element_id label mentioned reactions comprehension understood connected unconnected_to questions exhausted"
    " declined gaps node_ids"
).split()
"""Columns of `coverage_table`."""


def coverage_table(rows: list[Row]) -> list[Row]:
    """The rows with one value in each cell, for spreadsheets."""
    return [
        {
            "element_id": row["element_id"],
            "label": row["label"],
            "mentioned": row["mentioned"],
            "reactions": ", ".join(row["reactions"]),
            "comprehension": row["comprehension"],
            "understood": row["understood"],
            "connected": row["connected"],
            "unconnected_to": ", ".join(row["unconnected_to"]),
            "questions": row["focused"],
            "exhausted": row["exhausted"],
            "declined": row["declined"],
            "gaps": ", ".join(gap["kind"] for gap in row["gaps"]),
            "node_ids": ", ".join(row["node_ids"]),
        }
        for row in rows
    ]


MARKS = {True: "yes", False: "no", None: "–"}
HEADINGS = ("Element", "Mentioned", "Reaction", "Understood", "Connected", "Questions", "Missing")


def coverage_cells(row: Row) -> tuple[str, ...]:
    """One line of the table that people read, under HEADINGS."""
    missing = missing_words(row) if row["mentioned"] else ""
    worn = "declined" if row["declined"] else "asked enough" if row["exhausted"] else ""
    return (
        row["label"],
        f"{row['mentioned']}×" if row["mentioned"] else "no",
        ", ".join(row["reactions"]) or "–",
        MARKS[row["understood"] if row["mentioned"] else None],
        MARKS[row["connected"] if row["mentioned"] else None],
        f"{row['focused']}" + (f" ({worn})" if worn else ""),
        missing or "–",
    )

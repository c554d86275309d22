"""The repertory grid in exports."""

from __future__ import annotations

import csv
import io

from pipeline.grid.model import Construct, GridElement, GridProgress
from server.export.grid import grid_of, grid_rows
from server.export.text import _grid_lines, _table
from tests.support.interview import new_state

GRID = GridProgress(
    elements=(
        GridElement(id="e1", label="Lidl"),
        GridElement(id="e2", label="=HYPERLINK(1)"),
        GridElement(id="e3", label="Lidl"),
        GridElement(id="e4", label="emergent_pole"),
    ),
    constructs=(
        Construct(id="c1", emergent="cheap", contrast="dear", turn=1),
        Construct(id="c2", emergent="a | b", turn=2),
    ),
    ratings={"c1": {"e1": 1, "e3": 5}},
    rated_turn=3,
)


def test_table_has_a_row_per_construct_and_a_column_per_element_between_the_poles() -> None:
    rows = grid_rows(new_state().model_copy(update={"grid": GRID}))
    assert list(rows[0]) == [
        "construct_id",
        "emergent_pole",
        "Lidl (e1)",
        "=HYPERLINK(1)",
        "Lidl (e3)",
        "emergent_pole (e4)",
        "contrast_pole",
    ]
    assert list(rows[0].values()) == ["c1", "cheap", 1, None, 5, None, "dear"]
    assert rows[1]["contrast_pole"] is None


def test_no_cell_of_the_table_is_a_formula_and_no_bar_breaks_it() -> None:
    rows = grid_rows(new_state().model_copy(update={"grid": GRID}))
    read = list(csv.reader(io.StringIO(_table(rows).decode("utf-8-sig"))))
    assert read[0][3] == "'=HYPERLINK(1)"
    assert [len(row) for row in read] == [7, 7, 7]
    assert "a \\| b" in "\n".join(_grid_lines(rows))


def test_session_without_a_grid_has_none() -> None:
    assert grid_of(GridProgress()) is None
    assert grid_rows(new_state()) == []
    found = grid_of(GRID)
    assert found is not None and found["constructs"][0]["ratings"] == {"e1": 1, "e3": 5}

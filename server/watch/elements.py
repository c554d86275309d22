"""The elements of a concept test as moderators see them."""

from __future__ import annotations

from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.state import InterviewState
from server.export.coverage import coverage_rows
from server.protocol.coverage import ElementItem, Spirits
from server.protocol.watched import WatchedCoverage


def elements_of(state: InterviewState, configuration: SessionConfiguration) -> tuple[ElementItem, ...]:
    """An item for each element, in the concept's order."""
    items = []
    for row in coverage_rows(state, configuration):
        fields = {name: value for name, value in row.items() if name in ElementItem.model_fields}
        gaps = tuple(dict.fromkeys(gap["kind"] for gap in row["gaps"]))
        lists = {"reactions": tuple(row["reactions"]), "unconnected_to": tuple(row["unconnected_to"]), "gaps": gaps}
        items.append(ElementItem(**{**fields, **lists}))
    return tuple(items)


def spirits_of(state: InterviewState) -> Spirits:
    """How the respondent is doing."""
    momentum = state.momentum
    return Spirits(
        momentum=momentum.levels[-1] if momentum.levels else None,
        mean=momentum.mean,
        low_in_a_row=momentum.consecutive_low,
        fatigued=momentum.fatigued,
        ambiguity=state.qualities[-1].uncertainty if state.qualities and state.qualities[-1] is not None else None,
    )


def coverage_frame(state: InterviewState, configuration: SessionConfiguration) -> WatchedCoverage:
    """The frame with all of it."""
    return WatchedCoverage(
        session_id=state.session_id,
        turn_number=state.turn_count,
        elements=elements_of(state, configuration),
        spirits=spirits_of(state),
    )


def coverage_view(state: InterviewState, configuration: SessionConfiguration) -> dict[str, Any]:
    """The same beside the rest of a session."""
    return {
        "elements": [item.model_dump(mode="json") for item in elements_of(state, configuration)],
        "spirits": spirits_of(state).model_dump(mode="json"),
    }

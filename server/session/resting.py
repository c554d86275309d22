"""Sessions at rest: what is kept of a state while nobody needs it, so that a respondent who thinks costs little.

A state of thirty turns is a megabyte of objects and 26 kB when packed.
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from typing import Any, Final

from pipeline.graph.tracker import TrackerSnapshot
from pipeline.grid.model import GridProgress
from pipeline.state import InterviewState

_FILTERS: Final[list[dict[str, Any]]] = [
    {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20, "lc": 4, "lp": 0, "pb": 0}
]
"""For text in which ids come again all over: what packs it well must look back further than the 32 kB of zlib."""

_LEFT_OUT: Final[dict[str, Any]] = {
    "receipts": (),
    "nodes": (),
    "edges": (),
    "tensions": (),
    "slots": (),
    "mappings": (),
    "canonical_edges": (),
    "slot_backlog": (),
    "tracker": TrackerSnapshot(),
    "strategy_history": (),
    "focus_history": (),
    "qualities": (),
    "coverage": (),
    "threads": (),
    "guide": (),
    "grid": GridProgress(),
    "engine_state": {},
}


@dataclass(frozen=True, slots=True)
class Resting:
    """A state at rest.

    Args:
        packed: all of it.
        outline: what alerts and overviews are made of: without graphs and histories, with the last answer alone.
    """

    packed: bytes
    outline: InterviewState

    @classmethod
    def of(cls, state: InterviewState) -> Resting:
        """Pack a state; takes a few milliseconds of computing, which need not be the event loop's."""
        packed = lzma.compress(state.dump(), format=lzma.FORMAT_RAW, filters=_FILTERS)
        said = state.last_answer()
        kept = {name: getattr(state, name) for name in InterviewState.model_fields}
        kept |= {**_LEFT_OUT, "utterances": () if said is None else (said,)}
        # Which fields were set, which a copy would list, takes as much as all others.
        return cls(packed, InterviewState.model_construct(_fields_set=set(), **kept))

    def state(self) -> InterviewState:
        """The state, as it was."""
        return InterviewState.load(lzma.decompress(self.packed, format=lzma.FORMAT_RAW, filters=_FILTERS))

"""The canonical graph: slots that group surface nodes of the same meaning."""

from __future__ import annotations

from typing import Literal

from pipeline.records import Record

SlotStatus = Literal["candidate", "active"]


class CanonicalSlot(Record):
    """A stable concept behind several wordings.

    `support_count` counts distinct live surface nodes mapped to it.
    """

    id: str
    slot_name: str
    description: str
    node_type: str
    status: SlotStatus
    support_count: int
    first_seen_turn: int
    promoted_turn: int | None = None


class SlotMapping(Record):
    """Which slot a surface node belongs to; `similarity` is a cosine in [-1, 1], 1 for the same name."""

    surface_node_id: str
    canonical_slot_id: str
    similarity: float
    assigned_turn: int


class CanonicalEdge(Record):
    """Surface edges of one type between the nodes of two slots, taken together."""

    id: str
    source_slot_id: str
    target_slot_id: str
    edge_type: str
    support_count: int
    surface_edge_ids: tuple[str, ...]


class CanonicalGraph:
    """Slots, mappings and aggregated edges of one session; copies are cheap, values are immutable."""

    __slots__ = ("edges", "mappings", "slots")

    def __init__(
        self,
        slots: dict[str, CanonicalSlot] | None = None,
        mappings: dict[str, SlotMapping] | None = None,
        edges: dict[str, CanonicalEdge] | None = None,
    ) -> None:
        self.slots = slots or {}
        self.mappings = mappings or {}
        self.edges = edges or {}

    def copy(self) -> CanonicalGraph:
        """A graph that can be changed without changing this one."""
        return CanonicalGraph(self.slots.copy(), self.mappings.copy(), self.edges.copy())

    def slot_of(self, surface_node_id: str) -> CanonicalSlot | None:
        """The slot the node is mapped to, if any."""
        mapping = self.mappings.get(surface_node_id)
        return self.slots[mapping.canonical_slot_id] if mapping is not None else None

    def key_of(self, surface_node_id: str) -> str:
        """The identity under which the node is tracked: its slot once mapped, itself before."""
        mapping = self.mappings.get(surface_node_id)
        return mapping.canonical_slot_id if mapping is not None else surface_node_id

    def active_slots(self) -> list[CanonicalSlot]:
        """Slots with enough support, in order of creation."""
        return [slot for slot in self.slots.values() if slot.status == "active"]

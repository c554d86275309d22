"""What a question can be about."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from pipeline.records import Record

TargetKind = Literal[
    "node",
    "nodes",
    "element",
    "elements",
    "tension",
    "thread",
    "topic",
    "role",
    "construct",
    "ratings",
    "lead",
    "aspect",
]
SEVERAL: frozenset[TargetKind] = frozenset({"nodes", "elements", "lead"})
"""Kinds with any number of ids."""

SENTENCE = "said"
"""What the id of a sentence of an answer begins with."""
LONGEST_SENTENCE = 240
"""Characters of such a sentence that are kept."""


class Target(Record):
    """What a candidate, a question or a directive is about.

    `ids` are the tracked identities of one node (`node`) or several (`nodes`), the ids of several elements that are
    compared (`elements`), or the one id of an element of the concept, of a tension, of a thread, of a topic of the
    guide, or in a repertory grid of a prompt for elements (`role`), of a construct, or of the ratings. A `lead` is
    something that an answer said (its kind, turn and place, with dots between, in a concept test then the element that
    it is about, if any), an `aspect` one side of the whole idea of a concept test. `label` is how it reads.
    """

    kind: TargetKind = "node"
    ids: tuple[str, ...]
    label: str = ""

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if not self.ids or (self.kind not in SEVERAL and len(self.ids) != 1):
            raise ValueError(f"a target of kind {self.kind} has {len(self.ids)} ids")
        return self

    @classmethod
    def node(cls, key: str, label: str) -> Self:
        """One node, by its tracked identity."""
        return cls(ids=(key,), label=label)

    @classmethod
    def sentence(cls, turn: int, number: int, text: str) -> Self:
        """A sentence of an answer, counted from 0."""
        return cls(kind="lead", ids=(f"{SENTENCE}.{turn}.{number}",), label=text[:LONGEST_SENTENCE])

    @property
    def node_key(self) -> str | None:
        """The tracked identity, where it is one node."""
        return self.ids[0] if self.kind == "node" else None

    @property
    def node_keys(self) -> tuple[str, ...]:
        """The tracked identities, where it is one node or several."""
        return self.ids if self.kind in ("node", "nodes") else ()


class Focus(Record):
    """What a question is about, with the wording that stands for it.

    `node_ids` are the surface nodes whose wordings are used, in the order of the target's nodes; `node_type` and
    `quote` are those of the first. `mentioned_turn` is the turn that mentioned it last. `is_jump` says that the last
    answer did not mention it, so that the question needs a bridge.
    """

    target: Target
    node_ids: tuple[str, ...] = ()
    label: str
    node_type: str | None = None
    quote: str | None = None
    mentioned_turn: int | None = None
    is_jump: bool = False

    @property
    def key(self) -> str | None:
        """The tracked identity, where it is one node."""
        return self.target.node_key

    @property
    def node_id(self) -> str | None:
        """The surface node, where it is one node."""
        return self.node_ids[0] if self.key is not None and self.node_ids else None

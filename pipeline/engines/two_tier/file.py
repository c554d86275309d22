"""What the file of the engine says."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.coverage import GapKind
from pipeline.engines.base import EngineFile
from pipeline.engines.shared.rules import IDENTIFIER, Rule
from pipeline.methodology import Form, Spec

Category = Literal[
    "depth", "contrast", "breadth", "coverage", "peripheral", "easing", "transition", "reflection", "closing"
]
CategoryOrOther = Literal[Category, "other"]
"""A key of tables by category; `other` is what counts for all that are not named."""
FocusSource = Literal["recent_node", "peripheral_node", "recent_nodes", "uncovered_elements", "guide_topic", "open"]
NODE_SOURCES: frozenset[FocusSource] = frozenset({"recent_node", "peripheral_node"})
"""Sources that give one concept, so that the question is about what the respondent said."""


class FocusRule(Spec):
    """How a strategy finds what it can be about."""

    source: FocusSource = Field(
        description="`recent_node`: the freshest and weightiest concepts of this answer, else the latest one; "
        "`peripheral_node`: the one with the fewest relations that this answer did not mention; `recent_nodes`: the "
        "latest concepts together; `uncovered_elements`: one focus for each element of the concept that has a gap; "
        "`guide_topic`: the next open topic of the guide; `open`: nothing in particular."
    )
    type: str = Field(description="What the focus is called in records.")
    most: int = Field(
        default=3, ge=1, le=20, description="How many concepts or elements, or concepts together, at the most."
    )
    asked_at_most: int = Field(
        default=2, ge=0, le=50, description="Concepts that were asked about more often than this are left out."
    )
    not_types: tuple[str, ...] = Field(default=(), description="Types of concepts that it is never about.")
    from_turn: int = Field(
        default=1,
        ge=1,
        le=200,
        description="The answer from which on it is tried: at first there is nothing to go back to.",
    )
    said_now: bool = Field(default=False, description="Whether it is only about what this answer said.")
    terminal: bool = Field(default=True, description="Whether it may be a concept at which a chain ends.")
    describe: dict[str, str] = Field(
        description="Per language: the focus in words, which are compared with recent questions; `{focus}` and "
        "`{topic}` are filled in."
    )


class TwoTierStrategy(Spec):
    """One way to go on."""

    id: str = Field(pattern=IDENTIFIER, description="Identifier, in snake_case.")
    name: str = Field(description="What moderators read.")
    type_category: Category = Field(description="What kind of move it is; scorers go by it.")
    enabled: bool = Field(default=True, description="Whether it is a candidate at all.")
    prompt_hint: str = Field(description="What a moderator does with it; part of prompts.")
    focuses: tuple[FocusRule, ...] = Field(min_length=1, description="What it can be about; the order breaks ties.")
    spared_from: tuple[str, ...] = Field(default=(), description="Vetoes, by id, that don't apply to it.")
    wordings_of: tuple[str, ...] = Field(
        default=(), description="Strategies of methodologies whose questions it asks where the methodology has them."
    )
    templates: dict[str, tuple[Form, ...]] = Field(
        default={}, description="Its own questions per language, as in methodology files; `{element}` is the focus."
    )

    @property
    def binding(self) -> Literal["required", "none"]:
        """Whether its questions are about a concept."""
        return "required" if all(rule.source in NODE_SOURCES for rule in self.focuses) else "none"


class ScorerRule(Rule):
    """A scorer with its weight."""

    weight: float = Field(
        ge=0, le=100, description="What its raw score counts. Weights need not sum to 1: only their ratios decide."
    )


class PhaseRule(Spec):
    """One phase, and what it prefers."""

    name: str = Field(pattern=IDENTIFIER, description="Name of the phase.")
    turns: int | None = Field(default=None, ge=1, le=200, description="Its length; none for the last one.")
    ends_with_strong_emotion: bool = Field(
        default=False, description="Whether it ends early with an answer of strong feeling."
    )
    multipliers: dict[str, float] = Field(
        default={}, description="Factor per strategy; 1 where nothing is said, 0 for one that is no candidate."
    )


class TwoTierFile(EngineFile):
    """How the engine `two_tier` chooses."""

    uncovered: tuple[GapKind, ...] = Field(
        default=("unmentioned", "no_reaction"), description="Gaps that make an element one to ask about."
    )
    strategies: tuple[TwoTierStrategy, ...] = Field(min_length=1, description="Strategies; the order breaks ties.")
    vetoes: tuple[Rule, ...] = Field(default=(), description="Tier 1, in this order; the first veto counts.")
    scorers: tuple[ScorerRule, ...] = Field(min_length=1, description="Tier 2: raw scores from 0 to 2, 1 is neutral.")
    phases: tuple[PhaseRule, ...] = Field(min_length=1, description="Phases, in their order.")

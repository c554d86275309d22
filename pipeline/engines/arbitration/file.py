"""What the file of the engine says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pipeline.coverage import GapKind
from pipeline.engines.base import EngineFile
from pipeline.engines.shared.rules import IDENTIFIER, Rule
from pipeline.leads import LeadKind
from pipeline.methodology import Form, Spec
from pipeline.strategies import Move

Phase = Literal["coverage", "structure", "depth", "breadth", "seeding", "closing"]
PhaseOrOther = Literal[Phase, "other"]
"""A key of tables by phase; `other` is what counts for all that are not named."""
Applies = Literal[
    "coverage_gaps",
    "ambiguous_nodes",
    "isolated_nodes",
    "schema_tensions",
    "active_branch",
    "unexplored_nodes",
    "reached_the_end",
    "nothing_else",
    "guide_topic",
    "closing",
    "leads",
    "past_told",
    "aspects",
    "said",
]
NODE_FOCUSES: frozenset[Applies] = frozenset({"ambiguous_nodes", "isolated_nodes", "active_branch", "unexplored_nodes"})
"""Conditions that give one concept, so that the question is about what the respondent said."""


Manner = Literal["element", "last", "words", "earlier"]
"""How a lead is asked about: by the element that it names, by “that”, by saying the respondent's words back, or, where
it is of a former answer, by leading back to the element."""


Weighed = Move | Annotated[float, Field(ge=0, le=3)]
"""What a question is worth: that of a kind of move, which is foretold, or a number."""


class Tactic(Spec):
    """One way to ask."""

    id: str = Field(pattern=IDENTIFIER, description="Identifier, in snake_case.")
    gaps: tuple[GapKind, ...] = Field(
        default=(), description="Gaps of an element that it is for; without any, tactics take turns."
    )
    leads: tuple[LeadKind, ...] = Field(default=(), description="Leads that it is for.")
    about: tuple[Manner, ...] = Field(
        default=(),
        description="Only for leads that are asked about as an `element`, as what an answer said `last` (“that”), or "
        "by saying the respondent's `words` back, or by leading back to the element of an `earlier` answer; any if "
        "empty.",
    )
    labels: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: only for elements that have one of these words in their label."
    )
    last: bool = Field(
        default=False, description="For sides of the idea: only at the end, before the concept's own questions."
    )
    spoken_of: dict[str, tuple[str, ...]] = Field(
        default={},
        description="For sides of the idea: per language, words in an answer or in a question of the concept by which "
        "it was spoken of.",
    )
    told_by: tuple[LeadKind, ...] = Field(
        default=(),
        description="For sides of the idea: it was spoken of, too, where the last answer, or two others, said "
        "something of these kinds.",
    )
    concept_tests: bool | None = Field(
        default=None, description="Only where the concept has elements (true), or only where it has none (false)."
    )
    weighs: Weighed | None = Field(
        default=None,
        description="In concept tests: what its questions are worth where a writer weighs them against staying with "
        "what was said. Foretold for a `part` of the idea, another `side` of it, anything `else`, or for what was just "
        "said (`stay`); or a number, from 0 (ashamed of it) to 3 (exactly this). Without it, it is asked where the "
        "engine chooses it.",
    )
    prompt_hint: str = Field(description="What a moderator does by it; part of prompts.")
    wordings_of: tuple[str, ...] = Field(
        default=(), description="Strategies of methodologies whose questions it asks where the methodology has them."
    )
    templates: dict[str, tuple[Form, ...]] = Field(
        default={}, description="Its own questions per language, as in methodology files; `{element}` is the focus."
    )


class ArbitratedStrategy(Spec):
    """One way to go on: when it applies, what it is about, how it asks."""

    id: str = Field(pattern=IDENTIFIER, description="Identifier, in snake_case.")
    name: str = Field(description="What moderators read.")
    phase: Phase = Field(description="The phase that the interview is in while it is followed.")
    applies: Applies = Field(
        description="When it applies, and to what: elements with a gap, concepts that are unclear, without a relation, "
        "or with fewer than two, relations that the method does not permit, the latest concept of the active branch, "
        "nothing in particular once an end was reached or nothing else applies, the next open topic of the guide; in "
        "concept tests, what answers say of the idea, the way back to it from a story, sides of it as a whole, and "
        "each sentence that was just said, for a writer that weighs staying with it."
    )
    concept_tests: bool | None = Field(
        default=None, description="Only where the concept has elements (true), or only where it has none (false)."
    )
    intent: str = Field(description="What it is for; part of prompts.")
    enabled: bool = Field(default=True, description="Whether it is a candidate at all.")
    base: float = Field(default=1.0, gt=0, le=10, description="What its score begins with.")
    most: int = Field(default=3, ge=1, le=20, description="Things that it is scored for at the most.")
    asked_at_most: int = Field(
        default=1, ge=0, le=50, description="What was asked about more often than this is left out."
    )
    uses: int | None = Field(default=None, ge=1, le=200, description="How often it may be followed in an interview.")
    describe: dict[str, str] = Field(
        default={},
        description="Per language: its focus in words, which are compared with recent questions; `{focus}` and "
        "`{topic}` are filled in.",
    )
    tactics: tuple[Tactic, ...] = Field(min_length=1, description="Ways to ask, in their order.")

    @property
    def binding(self) -> Literal["required", "none"]:
        """Whether its questions are about a concept."""
        return "required" if self.applies in NODE_FOCUSES or self.applies == "said" else "none"


class ScorerRule(Rule):
    """A scorer with its weight."""

    weight: float = Field(gt=0, le=1, description="Exponent of its multiplier: 1 counts it in full.")


class Ending(Spec):
    """When the closing question is asked."""

    max_turns: int = Field(default=20, ge=3, le=200, description="Turns at the most, where the concept says nothing.")
    fatigue_coverage: float = Field(
        default=0.6, ge=0, le=1, description="Share of covered elements above which a tired respondent is let go."
    )


class Views(Spec):
    """How the graph, and in concept tests the respondent's words, are looked at."""

    explored_relations: int = Field(default=2, ge=1, description="Relations from which on a concept is explored.")
    focused_lately: int = Field(default=3, ge=0, description="Latest questions whose concepts count as explored.")
    bare_apart: int = Field(
        default=3, ge=0, description="Questions between two that ask why a brief answer is as it is, at the least."
    )
    turns_per_side: int = Field(
        default=6, ge=1, description="Turns of an interview for each side of the idea that is asked about at its end."
    )
    turns_per_ending: int = Field(
        default=3,
        ge=1,
        description="Turns of an interview for each question that waits for its end, the concept's own included: a "
        "long list at the end leaves no room for what people say.",
    )
    vague: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words that alone say nothing definite; a concept of them is unclear."
    )


class ArbitrationFile(EngineFile):
    """How the engine `arbitration` chooses."""

    ending: Ending = Field(default=Ending(), description="When the closing question is asked.")
    views: Views = Field(default=Views(), description="How the graph is looked at.")
    strategies: tuple[ArbitratedStrategy, ...] = Field(min_length=1, description="Strategies; the order breaks ties.")
    scorers: tuple[ScorerRule, ...] = Field(
        min_length=1, description="What their scores are multiplied by; 1 is neutral, 0 rules a candidate out."
    )

"""What a methodology file says: ontology, strategies, phases, signals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Phase = Literal["early", "mid", "late"]
NodeBinding = Literal["required", "none"]
FocusMode = Literal["recent_node", "summary", "topic", "guide", "grid"]
GridStepName = Literal["element", "triad", "pair", "likeness", "opposite", "rate"]
Stance = Literal["wanted", "suffered", "neutral"]
Time = Literal["event", "past", "present", "imagined"]
"""When something is so: it happened once, was so for a while, is so, or only would be."""
STANCES: dict[int, Stance] = {1: "wanted", 0: "neutral", -1: "suffered"}


class Spec(BaseModel):
    """Base of everything a researcher may write; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Method(Spec):
    """What the method is called and what it is after."""

    name: str = Field(description="Identifier, the same as the file's name.")
    version: str = Field(default="1.0", description="Version of this methodology file.")
    goal: str = Field(description="What an interview by this method is after, in one sentence.")
    opening_bias: str = Field(default="", description="How the opening question should lean.")
    description: str = Field(default="", description="The method in a paragraph, for researchers.")


class NodeType(Spec):
    """One kind of concept."""

    name: str = Field(description="Name of the type, in snake_case.")
    level: int = Field(default=0, ge=0, description="Level of abstraction, 1 the most concrete; 0 for none.")
    terminal: bool = Field(default=False, description="Whether a chain may end here.")
    description: str = Field(description="What belongs to this type.")
    examples: tuple[str, ...] = Field(default=(), description="A few examples for people and prompts.")
    exemplars: tuple[str, ...] = Field(
        default=(), description="Phrases by which the offline provider recognises the type; a dozen or more."
    )
    cues: tuple[str, ...] = Field(default=(), description="Words or phrases that point to the type (offline provider).")


class EdgeType(Spec):
    """One kind of relation."""

    name: str = Field(description="Name of the relation, in snake_case.")
    description: str = Field(default="", description="What the relation says.")
    permitted_connections: tuple[tuple[str, str], ...] = Field(
        description='Pairs [source type, target type]; "*" stands for any type.'
    )
    permitted_where_stated: tuple[tuple[str, str], ...] = Field(
        default=(),
        description="Pairs that are permitted, too, but only where a connector or construction of the answer says so.",
    )
    cues: tuple[str, ...] = Field(default=(), description="Connectors that express the relation (offline provider).")

    def permits(self, source_type: str, target_type: str, *, stated: bool = False) -> bool:
        """Whether an edge of this type may join nodes of these types; `stated`: the respondent says so outright."""
        pairs = (*self.permitted_connections, *self.permitted_where_stated) if stated else self.permitted_connections
        return any(source in ("*", source_type) and target in ("*", target_type) for source, target in pairs)


class RelationshipExample(Spec):
    """An utterance and the relation a careful coder sees in it."""

    utterance: str = Field(description="What a respondent might say.")
    source: str = Field(description="Label of the source concept.")
    target: str = Field(description="Label of the target concept.")
    type: str = Field(description="Type of the relation.")


class ExtractabilityCriteria(Spec):
    """What counts as content at all."""

    extract: tuple[str, ...] = Field(default=(), description="Kinds of statements to extract from.")
    skip: tuple[str, ...] = Field(default=(), description="Kinds of statements to leave alone.")


class Ontology(Spec):
    """Types of concepts and relations, with guidance for whoever extracts them."""

    nodes: tuple[NodeType, ...] = Field(min_length=1, description="Types of concepts.")
    edges: tuple[EdgeType, ...] = Field(min_length=1, description="Types of relations.")
    extraction_guidelines: tuple[str, ...] = Field(default=(), description="Rules for the extractor.")
    relationship_examples: tuple[RelationshipExample, ...] = Field(default=(), description="Worked examples.")
    extractability_criteria: ExtractabilityCriteria = Field(
        default=ExtractabilityCriteria(), description="What to extract from and what to leave."
    )
    concept_naming_convention: str = Field(default="", description="How labels should be phrased.")

    def node_type(self, name: str) -> NodeType | None:
        """The type of that name, if there is one."""
        return next((node for node in self.nodes if node.name == name), None)

    def edge_type(self, name: str) -> EdgeType | None:
        """The relation of that name, if there is one."""
        return next((edge for edge in self.edges if edge.name == name), None)

    def level_of(self, name: str) -> int:
        """Level of a node type, 0 when unknown or without levels."""
        found = self.node_type(name)
        return found.level if found else 0

    def skips(self, source_type: str, target_type: str) -> bool:
        """Whether an edge between these types leaves out a level of the ladder, upwards."""
        below, above = self.level_of(source_type), self.level_of(target_type)
        return below > 0 and above - below > 1

    @property
    def terminal_types(self) -> frozenset[str]:
        """Names of the types at which a chain may end."""
        return frozenset(node.name for node in self.nodes if node.terminal)

    @property
    def depth(self) -> int:
        """Number of distinct levels; number of node types where there are fewer than two levels."""
        levels = {node.level for node in self.nodes if node.level > 0}
        return len(levels) if len(levels) >= 2 else len(self.nodes)


class Form(Spec):
    """One wording of a question, and for what it is good. A plain text is a form that fits anything."""

    ask: str = Field(
        min_length=1,
        description="The question; `{topic}`, `{focus}` and `{mention}` are filled in, and what was told as a part of "
        "the sentence: `{clause}`, `{gerund}`, `{act}`, `{deed}`, `{feeling}`, `{other}`, `{other_act}`, `{thing}`. "
        "Without any but the first, “that” in it stands for what was just said.",
    )
    types: tuple[str, ...] = Field(default=(), description="Types of concepts it can be asked about; all if empty.")
    stance: tuple[Stance, ...] = Field(
        default=(),
        description="Whether it fits what is wanted or liked, suffered or avoided, or neither; all if none.",
    )
    feeling: bool | None = Field(
        default=None, description="Only where feeling is in what was said (true), or only where none is (false)."
    )
    times: tuple[Time, ...] = Field(
        default=(),
        description="Whether it fits what happened (`event`), was so (`past`), is so (`present`), or only would be "
        "(`imagined`); all if empty.",
    )
    said: Literal["now", "earlier"] | None = Field(
        default=None, description="Only about something of the last answer, or only about something from before."
    )
    stories: bool | None = Field(
        default=None,
        description="Only with methods that ask for stories, such as critical incidents (true), or only with others "
        "(false).",
    )

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, data: Any) -> Any:
        return {"ask": data} if isinstance(data, str) else data


class Strategy(Spec):
    """One way to go on, and when it fits."""

    name: str = Field(description="Name of the strategy, in snake_case.")
    description: str = Field(default="", description="What a moderator does with it; part of prompts.")
    signal_weights: dict[str, float] = Field(
        description="Weight per signal, or per signal and value (`llm.response_depth.surface`)."
    )
    node_binding: NodeBinding = Field(default="required", description="Whether it needs a node to ask about.")
    focus_mode: FocusMode = Field(
        default="recent_node",
        description="What the question is about; `guide`: the next open topic of the guide; `grid`: what the grid "
        "needs next, which is asked for in the words of `templates` as they are.",
    )
    grid_step: GridStepName | None = Field(
        default=None,
        description="With `focus_mode: grid`: the step that it asks for: another `element`, a comparison of three "
        "(`triad`) or of two (`pair`), in what way two are alike (`likeness`), the `opposite` pole, the "
        "ratings (`rate`).",
    )
    focus_types: tuple[str, ...] = Field(
        default=(), description="Types of concepts that it may be about; all of them if empty."
    )
    generates_closing_question: bool = Field(default=False, description="Whether it ends the interview.")
    templates: dict[str, tuple[Form, ...]] = Field(
        default={},
        description="Questions per language for the offline provider: texts, or texts with what they are good for.",
    )


class GuideTopic(Spec):
    """Something that every interview by the method should have spoken of before it ends."""

    id: str = Field(pattern=r"^[a-z0-9_]{1,40}$", description="Identifier, in snake_case.")
    label: str = Field(min_length=1, description="What moderators read, in a few words.")
    types: tuple[str, ...] = Field(default=(), description="Types of concepts whose mention covers it.")
    stance: Stance | None = Field(default=None, description="Only concepts of this stance cover it.")
    count: int = Field(default=1, ge=1, le=20, description="How many concepts of these types it takes.")
    reaches: tuple[str, ...] = Field(
        default=(),
        description="Types of which one must be reached from each of these concepts by stated or answered relations.",
    )
    words: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words or phrases in an answer that cover it, too."
    )
    asked_by: tuple[str, ...] = Field(
        default=(), description="Strategies that work on it; if empty, the one with `focus_mode: guide` asks for it."
    )
    questions: dict[str, tuple[Form, ...]] = Field(default={}, description="Per language: how it is asked for.")
    from_turn: int = Field(default=1, ge=1, le=200, description="First turn after which it may be asked for.")


class GridRole(Spec):
    """A prompt that brings up an element of a grid."""

    id: str = Field(pattern=r"^[a-z0-9_]{1,40}$", description="Identifier, in snake_case.")
    questions: dict[str, tuple[Form, ...]] = Field(
        min_length=1, description="Per language: how it is asked; `{topic}` is filled in."
    )


class Grid(Spec):
    """What makes a methodology a repertory grid."""

    element_type: str = Field(description="Type of the concepts that are compared.")
    pole_type: str = Field(description="Type of the poles of constructs.")
    opposite: str = Field(description="Relation of a pole to its contrast.")
    applies: str = Field(description="Relation of a pole to the elements that it was said of.")
    roles: tuple[GridRole, ...] = Field(
        min_length=1,
        description="Prompts for elements, the first as the opening question; a concept replaces them by its "
        "`elements` or its own `roles`.",
    )
    most_elements: int = Field(default=12, ge=3, le=20, description="Elements at the most.")
    constructs: int = Field(default=8, ge=1, le=20, description="Constructs after which the ratings are asked for.")


class PhaseProfile(Spec):
    """How one phase leans."""

    description: str = Field(default="", description="What the phase is for.")
    signal_weights: dict[str, float] = Field(default={}, description="Multiplier per strategy.")
    phase_bonuses: dict[str, float] = Field(default={}, description="Bonus per strategy.")


class PhaseBoundaries(Spec):
    """Where phases end, in turns."""

    early: Annotated[int, Field(ge=1)] = Field(description="Last turn of the early phase.")
    mid: Annotated[int, Field(ge=2)] = Field(description="Last turn of the middle phase.")

    @model_validator(mode="after")
    def _ordered(self) -> PhaseBoundaries:
        if self.early >= self.mid:
            raise ValueError("phases.boundaries: early must be smaller than mid")
        return self


class Phases(Spec):
    """Phases of an interview and how they change what is asked."""

    by: Literal["turns", "graph"] = Field(default="turns", description="What moves the interview on.")
    boundaries: PhaseBoundaries | None = Field(
        default=None, description="Fixed boundaries instead of proportional ones."
    )
    early: PhaseProfile = Field(default=PhaseProfile(), description="The beginning.")
    mid: PhaseProfile = Field(default=PhaseProfile(), description="The middle.")
    late: PhaseProfile = Field(default=PhaseProfile(), description="The end.")

    def profile(self, phase: Phase) -> PhaseProfile:
        """The profile of that phase."""
        return {"early": self.early, "mid": self.mid, "late": self.late}[phase]


class Methodology(Spec):
    """One methodology file. Rules across fields are checked by `pipeline.signals.registry.check`."""

    method: Method
    ontology: Ontology
    signals: dict[str, tuple[str, ...]] = Field(description="Signals to detect, by pool.")
    strategies: tuple[Strategy, ...] = Field(min_length=1, description="Strategies; the order breaks ties.")
    phases: Phases = Field(default=Phases(), description="Phases.")
    guide: tuple[GuideTopic, ...] = Field(
        default=(), description="What an interview should have spoken of, in the order in which it would be asked for."
    )
    grid: Grid | None = Field(default=None, description="Makes it a repertory grid: comparisons, poles and ratings.")
    engines: tuple[str, ...] = Field(
        default=(), description="Decision engines that can hold interviews by it; all of them if empty."
    )
    selection: Literal["joint", "two_stage"] = Field(
        default="joint", description="Score strategy and node together, or one after the other."
    )
    saturation: Literal["yield_ratio", "velocity_ewma"] = Field(
        default="yield_ratio", description="Formula of meta.conversation.saturation."
    )
    synonyms: tuple[tuple[str, ...], ...] = Field(default=(), description="Sets of words that mean the same.")
    canonical_min_support_nodes: int | dict[str, int] | None = Field(
        default=None, description="Support a slot needs to become active; one number or one per node type."
    )
    openings: dict[str, tuple[str, ...]] = Field(
        default={}, description="Opening questions per language for the offline provider."
    )

    @property
    def name(self) -> str:
        """The methodology's identifier."""
        return self.method.name

    @property
    def signal_names(self) -> tuple[str, ...]:
        """All signals of all pools, in file order."""
        return tuple(name for pool in self.signals.values() for name in pool)

    @property
    def closing_strategy(self) -> Strategy | None:
        """The strategy that ends an interview, if the methodology has one."""
        return next((s for s in self.strategies if s.generates_closing_question), None)

    def strategy(self, name: str) -> Strategy:
        """The strategy of that name. Raises KeyError."""
        for strategy in self.strategies:
            if strategy.name == name:
                return strategy
        raise KeyError(name)

    def min_support(self, node_type: str, default: int) -> int:
        """Distinct surface nodes a slot of this type needs to become active."""
        setting = self.canonical_min_support_nodes
        if isinstance(setting, dict):
            return setting.get(node_type, default)
        return setting if setting is not None else default

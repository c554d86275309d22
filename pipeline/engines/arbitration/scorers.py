"""What a candidate's score is multiplied by: 1 is neutral, less a penalty, more a boost; 0 rules it out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline.ceilings import CeilingRules, ceiling_on
from pipeline.coverage import GapKind
from pipeline.engines.arbitration.applying import Option
from pipeline.engines.arbitration.file import Phase, PhaseOrOther
from pipeline.engines.arbitration.leading import says_something
from pipeline.engines.arbitration.moment import Moment
from pipeline.engines.shared.rules import Judge, ParamsT
from pipeline.engines.shared.wording import counted
from pipeline.leads import LeadKind
from pipeline.methodology import Spec
from pipeline.subjects import closest, language_of

NEUTRAL = 1.0

State = Literal["low", "neutral", "high", "fatigued"]
"""Of the respondent: the momentum, or that they are tired."""
Factor = Annotated[float, Field(ge=0, le=10)]
"""A multiplier of a table."""


@dataclass(frozen=True)
class Multiplier:
    """What one scorer makes of a candidate, and why."""

    value: float = NEUTRAL
    reasoning: str = ""


class Scorer(Judge[ParamsT], ABC):
    """One scorer."""

    @abstractmethod
    def score(self, option: Option, moment: Moment) -> Multiplier:
        """The multiplier of a candidate."""


class RedundancyParams(Spec):
    """When a candidate is what was asked a moment ago."""

    threshold: float = Field(
        default=0.85, gt=0, le=1, description="Closeness, in meaning or words, that makes it the same."
    )
    penalty: float = Field(default=0.2, ge=0, le=1, description="Multiplier then.")
    window: int = Field(default=6, ge=1, le=50, description="Latest questions that it is compared with.")
    plain_words: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words that say nothing of a subject and don't count."
    )


class Redundancy(Scorer[RedundancyParams]):
    """`penalty` where the focus comes as close to a recent question as `threshold`, by cosine or content words."""

    params = RedundancyParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        if not option.description:
            return Multiplier()
        recent = moment.inputs.question_texts[-self.given.window :]
        plain = self.given.plain_words.get(language_of(moment.inputs), ())
        shared, _ = closest(option.description, recent, plain)
        if max(shared, moment.inputs.closest(option.description, self.given.window)) < self.given.threshold:
            return Multiplier(reasoning="nobody asked that lately")
        return Multiplier(self.given.penalty, f"“{option.description}” was asked lately")


class CeilingParams(CeilingRules):
    """When a respondent knows no more of something."""


class KnowledgeCeiling(Scorer[CeilingParams]):
    """0 for what the respondent knows no more of."""

    params = CeilingParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        found = ceiling_on(option.target, moment.ceilings)
        if found is None or option.target is None:
            return Multiplier()
        return Multiplier(0.0, f"the respondent knows no more of {option.target.label}")


class MomentumParams(Spec):
    """What the respondent's momentum does to each phase."""

    low: dict[PhaseOrOther, Factor] = Field(
        default={"depth": 0.6, "structure": 0.7, "breadth": 1.2, "seeding": 1.3, "other": 1.0},
        description="Multiplier by phase at low momentum.",
    )
    neutral: dict[PhaseOrOther, Factor] = Field(
        default={"other": 1.0}, description="Multiplier by phase at neutral momentum."
    )
    high: dict[PhaseOrOther, Factor] = Field(
        default={"depth": 1.4, "structure": 1.1, "breadth": 0.9, "other": 1.0},
        description="Multiplier by phase at high momentum.",
    )
    fatigued: dict[PhaseOrOther, Factor] = Field(
        default={"depth": 0.4, "structure": 0.4, "other": 1.0},
        description="Multiplier by phase for a tired respondent.",
    )
    lead: Factor = Field(
        default=NEUTRAL,
        description="Multiplier for going deeper into something weighty that was just said for the first time, in "
        "proportion to its weight, as long as there are questions left for the elements that lack something.",
    )

    def of(self, state: State, phase: Phase) -> float:
        """The multiplier of a phase in a state of the respondent."""
        tables = {"low": self.low, "neutral": self.neutral, "high": self.high, "fatigued": self.fatigued}
        return tables[state].get(phase, tables[state].get("other", NEUTRAL))


class MomentumAlignment(Scorer[MomentumParams]):
    """From the table of the momentum, by the phase of the strategy; and `lead` for what was just brought up.

    The latter is `1 + (lead - 1) × freshness`, not for a respondent who is tired.
    """

    params = MomentumParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        level = moment.momentum or "neutral"
        if moment.inputs.momentum.fatigued:
            return Multiplier(self.given.of("fatigued", option.strategy.phase), "the respondent is tired")
        value, said = self.given.of(level, option.strategy.phase), f"momentum is {level}"
        freshness = moment.freshness_of(option.target) if option.strategy.phase == "depth" else 0.0
        if freshness and self.given.lead != NEUTRAL and moment.has_room:
            value *= NEUTRAL + (self.given.lead - NEUTRAL) * freshness
            said += ", and it was just brought up"
        return Multiplier(value, said)


class DiversityParams(Spec):
    """How using a strategy again counts against it."""

    window: int = Field(default=5, ge=1, description="Latest questions that count.")
    per_use: float = Field(default=0.85, gt=0, le=1, description="Multiplier for each of them by the same strategy.")
    spared: tuple[str, ...] = Field(
        default=(), description="Tactics against which nothing counts: what a respondent asks is always answered."
    )


class RecencyDiversity(Scorer[DiversityParams]):
    """`per_use ** uses among the latest questions`."""

    params = DiversityParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        if option.tactic is not None and option.tactic.id in self.given.spared:
            return Multiplier(reasoning="a respondent is answered however often they ask")
        uses = moment.strategies_asked[-self.given.window :].count(option.strategy.id)
        said = f"used in {uses} of the last {self.given.window} questions" if uses else "not used lately"
        return Multiplier(self.given.per_use**uses, said)


class LadderingParams(Spec):
    """How going up is preferred."""

    boost: float = Field(default=1.5, ge=1, le=10, description="Multiplier while no end of the branch was reached.")
    reached: float = Field(default=0.3, ge=0, le=1, description="Multiplier once a chain of the branch has ended.")


class VerticalLaddering(Scorer[LadderingParams]):
    """For what goes deeper: `boost` until a type at which chains may end is on the active branch, then `reached`."""

    params = LadderingParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        if option.strategy.phase != "depth":
            return Multiplier()
        if any(node.terminal for node in moment.views.active_branch):
            return Multiplier(self.given.reached, "the branch has reached its end")
        return Multiplier(self.given.boost, "the branch can go further up")


class BranchParams(Spec):
    """When a branch is stale."""

    stale_turns: int = Field(default=2, ge=1, description="Questions in a row that went deeper.")
    breadth: float = Field(default=2.0, ge=1, le=10, description="Multiplier then for what goes wider.")
    depth: float = Field(default=0.5, ge=0, le=1, description="Multiplier then for what goes deeper still.")


class BranchHealth(Scorer[BranchParams]):
    """Once `stale_turns` questions in a row went deeper: `breadth` for what goes wider, `depth` for what goes on."""

    params = BranchParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        if moment.depth_turns < self.given.stale_turns:
            return Multiplier()
        said = f"{counted(moment.depth_turns, 'question')} in a row went deeper"
        value = {"breadth": self.given.breadth, "depth": self.given.depth}.get(option.strategy.phase, NEUTRAL)
        return Multiplier(value, said)


class CoverageParams(Spec):
    """What an element's gaps are worth."""

    first_time: float = Field(default=2.5, ge=1, le=10, description="Multiplier for one that was never spoken of.")
    passing: float = Field(
        default=1.6, ge=1, le=10, description="Multiplier for one that was named in passing and never asked about."
    )
    gaps: dict[GapKind, Factor] = Field(
        default={"no_reaction": 1.5, "no_comprehension": 1.2, "unconnected": 1.1},
        description="Multiplier for the greatest of its other gaps.",
    )


class CoverageQuality(Scorer[CoverageParams]):
    """For elements: `first_time`, or the greatest multiplier of its gaps."""

    params = CoverageParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        target = option.target
        if target is None or target.kind != "element":
            return Multiplier()
        kinds = [gap.kind for gap in moment.gaps.get(target.ids[0], ())]
        if "unmentioned" in kinds:
            return Multiplier(self.given.first_time, f"nobody spoke of {target.label} yet")
        if moment.is_passing(target.ids[0]):
            return Multiplier(self.given.passing, f"{target.label} was named in passing")
        value = max((self.given.gaps.get(kind, NEUTRAL) for kind in kinds), default=NEUTRAL)
        return Multiplier(value, f"{target.label} lacks {', '.join(kind.replace('_', ' ') for kind in kinds)}")


class TensionParams(Spec):
    """When relations that don't fit may be asked about."""

    concepts: int = Field(default=6, ge=1, description="Concepts that there should be first.")
    completed_turns: int = Field(default=4, ge=0, description="Turns that should be completed first.")
    early: float = Field(default=0.3, ge=0, le=1, description="Multiplier before that.")
    ready: float = Field(default=1.5, ge=1, le=10, description="Multiplier from then on.")


class SchemaTensionReadiness(Scorer[TensionParams]):
    """For what clears up relations that the method doesn't permit: `early`, and `ready` once there is enough around."""

    params = TensionParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        if option.target is None or option.target.kind != "tension":
            return Multiplier()
        done = moment.inputs.turn_count - 1
        if len(moment.nodes) < self.given.concepts or done < self.given.completed_turns:
            return Multiplier(self.given.early, "it is too early for relations that don't fit")
        return Multiplier(self.given.ready, "there is enough around what doesn't fit")


class ReflectionParams(Spec):
    """When it is time to put things together."""

    ends: int = Field(default=2, ge=1, description="Concepts at which a chain may end that were reached.")
    completed_turns: int = Field(default=6, ge=0, description="Turns that should be completed first.")
    boost: float = Field(default=2.0, ge=1, le=10, description="Multiplier for looking back then.")
    early: float = Field(default=0.4, ge=0, le=1, description="Multiplier before that.")


class ReflectionMode(Scorer[ReflectionParams]):
    """For looking back: `boost` once enough ends were reached, by the methodology's types, and turns completed."""

    params = ReflectionParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        if option.strategy.applies != "reached_the_end":
            return Multiplier()
        count = len(moment.views.terminal)
        said = f"{count} chains have reached an end" if count != 1 else "one chain has reached an end"
        ready = count >= self.given.ends and moment.inputs.turn_count > self.given.completed_turns
        return Multiplier(self.given.boost if ready else self.given.early, said)


class LeadParams(Spec):
    """What leads to the idea, and the sides of it, are worth."""

    kinds: dict[LeadKind, Factor] = Field(
        default={
            "asks": 6.0,
            "unclear": 7.1,
            "unseen": 5.0,
            "personal": 5.5,
            "condition": 4.0,
            "doubt": 4.0,
            "against": 3.6,
            "liking": 3.2,
            "raised": 3.6,
            "bare": 2.8,
        },
        description="Multiplier by the kind of lead.",
    )
    before: float = Field(default=0.85, ge=0, le=1, description="Multiplier besides where it does not end the answer.")
    earlier: float = Field(
        default=0.7, ge=0, le=1, description="Multiplier besides where it is of a former answer and was not followed."
    )
    ending: float = Field(
        default=2.8, ge=1, le=10, description="Multiplier for a side of the idea that could not be asked about later."
    )
    near: float = Field(default=1.3, ge=1, le=10, description="Multiplier for one for the end a little before it.")
    told: float = Field(
        default=1.4,
        ge=1,
        le=10,
        description="Multiplier for going deeper, in a concept test, into what was just said for the first time, where "
        "none of the latest `apart` questions did, or where the answer tells a story.",
    )
    again: float = Field(default=0.65, ge=0, le=1, description="Multiplier for going deeper where one of them did.")
    apart: int = Field(default=3, ge=1, description="Latest questions that count for that.")
    beside: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Multiplier for going deeper where the same answer asks, doubts, likes or makes a condition.",
    )
    returning: float = Field(default=4.0, ge=1, le=10, description="Multiplier for the way back from a story.")


class LeadStrength(Scorer[LeadParams]):
    """For what answers say of the idea: by the kind of lead, less where other things were said after it."""

    params = LeadParams

    def score(self, option: Option, moment: Moment) -> Multiplier:
        """As of the base."""
        if option.strategy.applies == "past_told":
            return Multiplier(self.given.returning, "a story was told, and leads back to the idea")
        if option.strategy.applies == "aspects" and option.tactic is not None and option.tactic.last:
            pressing = moment.left <= moment.demanded + len(moment.sides_for_the_end)
            value = self.given.ending if pressing else self.given.near
            return Multiplier(value, "the end is near, and nobody spoke of that side of the idea")
        lead = option.lead
        if lead is None:
            if option.strategy.phase != "depth" or not moment.is_concept_test:
                return Multiplier()
            if any(one.turn == moment.inputs.turn_count and says_something(one) for one in moment.leads):
                return Multiplier(self.given.beside, "the same answer says something of the idea")
            lately = [moment.phase_of(name) for name in moment.strategies_asked[-self.given.apart :]]
            if "depth" in lately and not (moment.past_turns and moment.freshness_of(option.target)):
                return Multiplier(self.given.again, "a question went deeper a moment ago")
            if moment.freshness_of(option.target):
                return Multiplier(self.given.told, "it was just told, and no question went deeper lately")
            return Multiplier()
        value, said = self.given.kinds.get(lead.kind, NEUTRAL), SAID[lead.kind]
        if lead.turn < moment.inputs.turn_count:
            return Multiplier(value * self.given.earlier, f"{said} earlier, and nobody asked about it")
        return Multiplier(value if lead.last else value * self.given.before, said)


SAID: Mapping[LeadKind, str] = {
    "asks": "the respondent asks something about the idea",
    "unclear": "the respondent has not understood it",
    "personal": "the respondent has come to what it would mean in their life",
    "unseen": "the respondent has not noticed a part of the idea",
    "condition": "the respondent says on what it depends",
    "doubt": "the respondent doubts it",
    "against": "the respondent is against it",
    "liking": "the respondent likes it",
    "raised": "the respondent brought it up unasked",
    "bare": "the answer was brief and gave no reason",
}
"""What each kind of lead is, in words."""

SCORERS: Mapping[str, type[Scorer[Any]]] = {
    scorer.__name__: scorer
    for scorer in (
        Redundancy,
        KnowledgeCeiling,
        MomentumAlignment,
        RecencyDiversity,
        VerticalLaddering,
        BranchHealth,
        CoverageQuality,
        SchemaTensionReadiness,
        ReflectionMode,
        LeadStrength,
    )
}
"""All scorers, by the name that the file gives them."""

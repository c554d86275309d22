"""What a concept file says: the topic of an interview, its wording, its limits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from pipeline.conduct.policy import ConductPolicy
from pipeline.elements import Names
from pipeline.methodology import GridRole, Methodology, Phases, Spec
from pipeline.stimulus import ShownImage, StimulusImage

MOST_TURNS = 200
"""Turns that an interview can have at the most."""
EngineName = Literal["signal_pools", "two_tier", "arbitration"]
Patience = Literal["quick", "normal", "patient"]
ProviderName = Literal["offline", "anthropic", "openai", "kimi", "deepseek", "openai_compatible"]
Effort = Literal["minimal", "low", "medium", "high"]
StructuredOutput = Literal["auto", "json_schema", "tool", "json_object", "none"]
FailurePolicy = Literal["fail", "offline"]

DEFAULT_MAX_TURNS = 15


class ConsentText(Spec):
    """What a respondent agrees to before the first answer."""

    text: str = Field(description="The consent text in plain words, shown before the first question.")
    version: str = Field(default="1", description="Version of the text, stored with the consent.")
    required: bool = Field(default=True, description="Whether an answer is refused without consent.")


class Element(Spec):
    """Something the interview should touch on (concept tests)."""

    id: str = Field(description="Identifier of the element.")
    label: str = Field(description="How the element is called.")
    aliases: tuple[str, ...] = Field(default=(), description="Other words for it.")
    connection_requirements: tuple[str, ...] = Field(
        default=(), description="Ids of other elements that it should be connected to in what respondents say."
    )


class MustAsk(Spec):
    """A question that has to be asked, or answered unasked, before the interview ends."""

    id: str = Field(pattern=r"^[a-z0-9_]{1,40}$", description="Identifier, in snake_case.")
    question: str | dict[str, str] = Field(description="The question, verbatim; one text or one per language.")
    label: str | None = Field(default=None, description="What moderators read; the question if not given.")
    words: tuple[str, ...] = Field(
        default=(), description="Words or phrases in an answer by which it was answered unasked, in any language."
    )

    def question_in(self, language: str) -> str | None:
        """The question in that language, if there is one."""
        return self.question if isinstance(self.question, str) else self.question.get(language)


class ConceptContext(Spec):
    """Nested form of the objective."""

    objective: str = Field(description="What the research wants to know, for the interviewer.")


class RoleOverrides(Spec):
    """What differs from the settings for one role. Keys of providers are settings, never part of a file."""

    provider: ProviderName | None = Field(
        default=None, description="Who does it: `offline`, or a provider, which then needs its `model`."
    )
    model: str | None = Field(default=None, min_length=1, description="Model, by the provider's name for it.")
    base_url: str | None = Field(
        default=None,
        description="Address of the provider's API. A key is sent only to addresses that the settings name.",
    )
    temperature: float | Literal["unset"] | None = Field(
        default=None, description="Sampling temperature, 0 to 2; `unset` leaves it to the model."
    )
    max_tokens: int | None = Field(default=None, ge=1, le=200_000, description="Longest answer, in tokens.")
    deadline_s: float | None = Field(
        default=None, gt=0, le=600, description="Longest time for one call with its retry, in seconds."
    )
    effort: Effort | None = Field(default=None, description="Reasoning effort, where the model has it.")
    structured_output: StructuredOutput | None = Field(
        default=None, description="How the model is made to answer in a form."
    )

    @field_validator("temperature")
    @classmethod
    def _temperature_possible(cls, value: float | str | None) -> float | str | None:
        if isinstance(value, float | int) and not 0 <= value <= 2:
            raise ValueError("should be from 0 to 2")
        return value


class ModelOverrides(Spec):
    """Language models of this concept, where they differ from the settings."""

    extraction: RoleOverrides | None = Field(default=None, description="Finds concepts and relations in answers.")
    scoring: RoleOverrides | None = Field(default=None, description="Rates answers and names slots.")
    generation: RoleOverrides | None = Field(default=None, description="Writes questions.")


class Translation(Spec):
    """What respondents read, in another language than the concept's first; what is left out stays in the first."""

    name: str | None = Field(default=None, min_length=1, description="The topic as questions name it.")
    title: str | None = Field(default=None, description="The title shown to people.")
    consent_text: str | None = Field(default=None, min_length=1, description="The consent text.")
    closing_text: str | None = Field(default=None, description="The thank-you at the end.")
    stimulus: str | None = Field(default=None, description="The text that the respondent is shown.")
    stimulus_image: StimulusImage | None = Field(default=None, description="The image that the respondent is shown.")
    helpline_text: str | None = Field(default=None, description="Where to find help.")
    facts: dict[str, str] | None = Field(default=None, description="Answers to what respondents ask.")


KioskMode = Literal["text", "voice"]


class Eligibility(Spec):
    """A statement that has to be true of a respondent."""

    id: str = Field(
        pattern=r"^[A-Za-z0-9_-]{1,40}$", description="Identifier, under which the answer is kept with the session."
    )
    text: str | dict[str, str] = Field(
        description="The statement, such as `You are 18 or older.`; one text or one per language."
    )

    def text_in(self, language: str) -> str:
        """The statement in that language; in the first one it has where that is missing."""
        if isinstance(self.text, str):
            return self.text
        return self.text.get(language) or next(iter(self.text.values()))


class Kiosk(Spec):
    """How interviews on this concept run on a kiosk, where one person after the other sits down."""

    respondent_ref: Literal["off", "optional", "required"] = Field(
        default="off", description="Whether the interviewer enters a reference for the respondent before the interview."
    )
    eligibility: tuple[Eligibility, ...] = Field(
        default=(), max_length=20, description="Statements that must all be true before an interview begins."
    )
    modes: tuple[KioskMode, ...] = Field(
        default=("text", "voice"), min_length=1, description="How respondents may answer, the first choice first."
    )
    idle_warning_s: int = Field(
        default=60, ge=10, le=3600, description="Time without a sign of life before the kiosk asks, in seconds."
    )
    idle_reset_s: int = Field(
        default=30, ge=5, le=600, description="Time from that question until the kiosk begins anew, in seconds."
    )
    thanks_s: int = Field(default=15, ge=3, le=300, description="How long the thank-you stays, in seconds.")
    half_duplex: bool = Field(
        default=True,
        description="Whether the microphone is off while a question is read aloud: kiosks have loudspeakers.",
    )


class Concept(Spec):
    """One concept file."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="Identifier, the same as the file's name.")
    name: str = Field(min_length=1, description="The topic as questions name it, such as `wireless headphones`.")
    title: str | None = Field(default=None, description="The title shown to people; the name if not given.")
    methodology: str = Field(description="Name of the methodology.")
    engine: EngineName = Field(default="signal_pools", description="The decision engine.")
    choice: Literal["engine", "model"] | None = Field(
        default=None,
        description="Who chooses between candidates that score nearly alike: the engine, or the writer of questions: a "
        "language model, or offline the ranker. If not given: the writer with `signal_pools` and where the concept has "
        "`elements`; with `two_tier` the writer, of what it is, by the engine's strategy; else the engine.",
    )
    objective: str = Field(default="", description="What the research wants to know, for the interviewer.")
    context: ConceptContext | None = Field(default=None, description="Nested form of the objective.")
    languages: tuple[str, ...] = Field(default=("en",), min_length=1, description="Languages, the default first.")
    max_turns: int | None = Field(default=None, ge=3, le=MOST_TURNS, description="Turns at the most.")
    opening_question: str | dict[str, str] | None = Field(
        default=None, description="The first question, verbatim; one text or one per language."
    )
    consent: ConsentText | None = Field(default=None, description="Consent asked for before the first answer.")
    closing_text: str | None = Field(default=None, description="The thank-you at the end.")
    synonyms: tuple[tuple[str, ...], ...] = Field(default=(), description="Sets of words that mean the same here.")
    stimulus: str | None = Field(
        default=None,
        description="A text that the respondent is shown before the first question, and again on request (concept "
        "tests); blank lines part its paragraphs.",
    )
    stimulus_image: StimulusImage | None = Field(
        default=None, description="An image that the respondent is shown, with the text of the stimulus or alone."
    )
    elements: tuple[Element, ...] = Field(
        default=(),
        description="What the interview should touch on. If not given, they are made of the stimulus's text when an "
        "interview begins (see `askwell elements`); an empty list says that there are none.",
    )
    roles: tuple[GridRole, ...] = Field(
        default=(),
        max_length=20,
        description="Prompts that bring up what is compared, in place of the methodology's (repertory grids).",
    )
    must_ask: tuple[MustAsk, ...] = Field(
        default=(), max_length=40, description="Questions that have to be asked before the interview ends."
    )
    leave_out: tuple[str, ...] = Field(
        default=(),
        description="Ids of topics of the methodology's guide that these interviews don't ask for, such as what it is "
        "preferred to where nobody could have had it before.",
    )
    patience: Patience | None = Field(default=None, description="How long a pause may be when speaking.")
    max_answer_s: int | None = Field(default=None, ge=10, description="Longest spoken answer, in seconds.")
    record_audio: bool = Field(
        default=False,
        description="Whether speech is kept, as files beside the session. The consent text must say so; a respondent "
        "who gives no consent, or whose consent has the choice `recording` set to false, is not recorded.",
    )
    review_transcript: bool = Field(default=False, description="Whether a transcript is shown for correction.")
    helpline_text: str | None = Field(
        default=None, description="Where to find help; shown to anybody who may come to harm or is upset."
    )
    facts: dict[str, str] = Field(
        default={},
        description="Truthful answers to what respondents ask about the interview, in the concept's first language, by "
        "subject: machine, person, readers, recording, names, part, data, selling, length, left, purpose, who, "
        "how_much, why_ask, help, name, language, incentive, other. Those that are missing are the ones of "
        "`conduct.yaml`.",
    )
    conduct: dict[str, dict[str, Any]] = Field(
        default={},
        description="Texts of `conduct.yaml` that this concept replaces, per language; not those of safety.",
    )
    minimum_age: int = Field(
        default=18, ge=0, le=120, description="Least age of respondents; 0 where anybody may take part."
    )
    llm: ModelOverrides = Field(
        default=ModelOverrides(), description="Per role: what differs from the settings of language models."
    )
    on_llm_failure: FailurePolicy | None = Field(
        default=None,
        description="When a language model fails: let the turn fail, or go on offline; else the setting's.",
    )
    phases: Phases | None = Field(default=None, description="Phases that replace the methodology's.")
    open_enrolment: bool | None = Field(default=None, description="Whether anyone may start an interview.")
    translations: dict[str, Translation] = Field(
        default={}, description="What respondents read, for each further one of `languages`."
    )
    kiosk: Kiosk = Field(default=Kiosk(), description="How its interviews run on a kiosk.")

    @model_validator(mode="after")
    def _objective_given(self) -> Concept:
        if not self.objective and self.context is None:
            raise ValueError("objective (or context.objective) is missing")
        return self

    @property
    def has_own_elements(self) -> bool:
        """Whether the file says which elements there are, be it that there are none."""
        return "elements" in self.model_fields_set

    @property
    def goal(self) -> str:
        """The objective, wherever it was written."""
        return self.objective or (self.context.objective if self.context else "")

    def in_language(self, language: str) -> Concept:
        """The concept with what respondents read in that language, as far as it is there."""
        found = self.translations.get(language)
        if found is None:
            return self
        told = found.model_dump(exclude={"consent_text", "stimulus_image"}, exclude_none=True)
        if found.stimulus_image is not None:
            told["stimulus_image"] = found.stimulus_image
        if self.consent is not None and found.consent_text is not None:
            told["consent"] = self.consent.model_copy(update={"text": found.consent_text})
        return self.model_copy(update=told)

    def opening_in(self, language: str) -> str | None:
        """The fixed opening question in that language, if there is one."""
        if isinstance(self.opening_question, dict):
            return self.opening_question.get(language)
        return self.opening_question


def demands_of(concept: Concept, language: str) -> tuple[str, ...]:
    """The concept's own questions in a language."""
    return tuple(text for wanted in concept.must_ask if (text := wanted.question_in(language)))


def names_of(elements: Iterable[Element]) -> Names:
    """Each element of a concept with all its names, the label first."""
    return tuple((element.id, (element.label, *element.aliases)) for element in elements)


class SessionConfiguration(Spec):
    """All that a session keeps from its first to its last turn; stored and found by content hash."""

    concept: Concept
    methodology: Methodology
    settings: PipelineSettings
    closing_text: str
    withdrawn_text: str = ""
    conduct: ConductPolicy | None = None
    """What the interviewer does about acts; None in sessions begun before there was one, until they are loaded."""
    stimulus_image: ShownImage | None = None
    """The image that the respondent is shown, as it was when the session began."""
    engine_file: dict[str, Any] = {}
    """What the file of the decision engine said; empty where the engine has none."""
    prompts: dict[str, str] = {}
    """Prompts by file name without `.md`; empty where no role asks a language model: such a session stays offline."""

    @property
    def is_written_by_model(self) -> bool:
        """Whether a language model writes the questions, by prompts that let it answer what people do as well."""
        writes = self.concept.llm.generation
        return "ending" in self.prompts and (writes is None or writes.provider != "offline")

    @property
    def synonyms(self) -> tuple[tuple[str, ...], ...]:
        """Synonym sets of the concept, then of the methodology."""
        return (*self.concept.synonyms, *self.methodology.synonyms)


class PipelineSettings(Spec):
    """Switches and thresholds of the interview pipeline; kept with each session from its first turn to its last."""

    enable_srl: bool = Field(
        default=True,
        description="Tell language models which parts of an answer its connectors join. It changes nothing offline.",
    )
    enable_canonical_slots: bool = Field(default=True, description="Keep the canonical graph.")
    enable_question_self_selection: bool = Field(
        default=False, description="Write three candidates per question and keep the best."
    )
    dedup_method: Literal["exact", "jaccard", "embeddings", "hybrid"] = Field(
        default="hybrid", description="How mentions of the same concept are recognised."
    )
    surface_jaccard_threshold: float = Field(
        default=0.75, ge=0, le=1, description="Lemma overlap from which two labels are one concept."
    )
    surface_similarity_threshold: float = Field(
        default=0.80, ge=0, le=1, description="Cosine from which two labels are one concept."
    )
    canonical_similarity_threshold: float = Field(
        default=0.60, ge=0, le=1, description="Cosine from which a node joins an existing slot."
    )
    canonical_min_support_nodes: int = Field(
        default=2, ge=1, description="Distinct nodes a slot needs to become active."
    )
    slot_batch: int = Field(default=8, ge=1, description="Nodes in one slot proposal.")
    slot_discovery: Literal["deferred", "inline"] = Field(
        default="deferred",
        description="Have a remote model name slots after the question was sent, or within the turn; the offline "
        "provider always names within the turn.",
    )
    existing_labels: int = Field(
        default=30, ge=0, description="Known labels the extractor is given to reuse, the most relevant to the answer."
    )
    max_answer_chars: int = Field(default=8000, ge=1, description="Longest answer, in characters.")
    rating_max_chars: int = Field(default=4000, ge=100, description="Longest text that is rated; a cut is logged.")
    question_max_words: int = Field(default=25, ge=5, description="Longest question, in words.")
    conversation_words: int = Field(
        default=4000,
        ge=200,
        description="Words of the conversation, the latest, that a language model is told with each question; what was "
        "said before is summed up. A model with a short context needs fewer.",
    )
    question_streaming: Literal["live", "held"] = Field(
        default="live", description="Stream a question word by word, or sentence by sentence."
    )
    hold_words: int = Field(default=4, ge=0, description="Words held back while the beginning is checked.")
    repeat_window: int = Field(default=6, ge=0, description="Earlier questions a new one is compared with.")
    repeat_jaccard: float = Field(default=0.85, ge=0, le=1, description="Word overlap that makes a repetition.")
    repeat_cosine: float = Field(default=0.92, ge=0, le=1, description="Cosine that makes a repetition.")
    min_turn_for_saturation: int = Field(default=5, ge=1, description="First turn that may end by saturation.")
    low_info_limit: int = Field(default=5, ge=1, description="Turns without yield that end the interview.")
    shallow_limit: int = Field(default=6, ge=1, description="Shallow answers in a row that end the interview.")
    depth_plateau_limit: int = Field(
        default=6, ge=1, description="Turns without yield at the same depth that end the interview."
    )
    velocity_alpha: float = Field(default=0.4, gt=0, le=1, description="Weight of the latest turn in the velocity.")


SessionConfiguration.model_rebuild()

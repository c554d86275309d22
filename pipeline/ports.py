"""The ports of the interview: Protocols for language providers, embedder, parser, question sink and clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from pipeline.acts import Act, AskedBack, HeardAct
from pipeline.concept import Element
from pipeline.graph.canonical import CanonicalSlot
from pipeline.graph.surface import Basis, KGNode
from pipeline.methodology import Form, Methodology, Strategy, Time
from pipeline.momentum import Momentum
from pipeline.records import Record
from pipeline.strategies import Move

Vectors = NDArray[np.float32]
Speaker = Literal["interviewer", "respondent", "moderator"]
"""When what was told is so: it happened once, it was so for a while, it is so, or it only would be."""


class Line(Record):
    """One utterance as a provider sees it.

    `complaint`: words by which the respondent complains of what was asked, or asks to be asked of something else.
    `put_right`: words by which they put right what they have just said.
    `refused`: what they tell, and say that they would not go into.
    """

    speaker: Speaker
    text: str
    complaint: str = ""
    put_right: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class DiscourseRelation(Record):
    """Two parts of an answer joined by a marker: "because", "so", "when" …

    `antecedent` and `consequent` are in cause → effect (or condition → result, earlier → later) order, whatever
    the order in the sentence.
    """

    marker: str
    kind: Literal["cause", "purpose", "condition", "contrast", "sequence"]
    antecedent: str
    consequent: str


class Parse(Record):
    """Linguistic structure of one answer."""

    sentences: tuple[str, ...] = ()
    discourse: tuple[DiscourseRelation, ...] = ()


class Rendering(Record):
    """How a question may say in its own sentence what somebody told, in the second person; empty what is not safe.

    Attributes:
        clause: subject and finite verb: "your gums don't bleed any more".
        gerund, act: what the respondent does, did or is after: "keeping your own teeth", "keep your own teeth".
        deed: the same as `act` where it is something that one decides to do: "call the landlord".
        feeling: one adjective of what they feel: "helpless".
        other, other_act: somebody else, and what they did: "the manager", "shrug".
        thing, plural: a noun phrase that points at it, "that silence", and whether it takes a plural verb.
        part: a noun phrase for somebody or something in what was told: "your dad", "that torch".
        named: whether the clause's subject is understood when other things were talked about since.
    """

    clause: str = ""
    gerund: str = ""
    act: str = ""
    deed: str = ""
    feeling: str = ""
    other: str = ""
    other_act: str = ""
    thing: str = ""
    plural: bool = False
    part: str = ""
    named: bool = True


class Wanted(Record):
    """What is to be known of how something was told.

    Attributes:
        text: the answer that tells it.
        quote: the words whose time is wanted; those of its last sentence if empty, none if None.
        words: the words that a question may say in a sentence of its own; empty for none.
    """

    text: str
    quote: str | None = None
    words: str = ""


class AsTold(Record):
    """How something was told.

    Attributes:
        time: when it is so; None where no verb tells it.
        rendering: how a question may say it.
    """

    time: Time | None = None
    rendering: Rendering = Rendering()


@runtime_checkable
class Parser(Protocol):
    """Linguistic preprocessing."""

    async def parse(self, text: str) -> Parse:
        """Discourse relations of one answer."""
        ...

    async def lemmas(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """Content lemmas of each label, lower case, in order; stop words left out, negations kept as "not"."""
        ...

    async def as_told(self, wanted: Sequence[Wanted]) -> list[AsTold]:
        """Of each how an English answer tells it, in order."""
        ...


class ActReader(Protocol):
    """Hears dialogue acts."""

    async def read(self, text: str, question: str, language: str) -> tuple[HeardAct, ...]:
        """The acts of a message, in order, covering all of its words; `()` where everything tells. Never raises."""
        ...

    async def reply(self, text: str, question: str, asked: AskedBack, language: str) -> HeardAct | None:
        """The act of a message by which somebody answers what was asked back, in any words; None where none is heard.
        Never raises.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Sentence embeddings."""

    @property
    def model_id(self) -> str:
        """Identifies model and precision; vectors of different ids are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One L2-normalised float32 row per text, shape [len(texts), dimension]."""
        ...


class ExtractionRequest(Record):
    """One answer to be turned into knowledge."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    text: str
    utterance_id: str
    question: str
    topic: str
    methodology: Methodology
    language: str
    focus_label: str | None = None
    focus_type: str | None = None
    existing: tuple[tuple[str, str], ...] = ()
    """(label, node type) of up to 30 nodes, the most relevant to this answer first: reuse the exact label."""
    purpose: str = ""
    """What the question was asked for: the description of its strategy."""
    parse: Parse | None = None
    synonyms: tuple[tuple[str, ...], ...] = ()
    elements: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(element id, [label, *aliases]) of the concept's elements."""
    seed: int = 0


class ExtractedConcept(Record):
    """A concept found in an answer; `quote` is verbatim from the answer."""

    label: str
    node_type: str
    quote: str
    confidence: float = Field(default=0.7, ge=0.0, le=1.0)
    stance: int = Field(default=0, ge=-1, le=1)
    salience: int | None = Field(default=None, ge=0, le=3)
    emotion: int | None = Field(default=None, ge=0, le=2)
    type_alternatives: tuple[tuple[str, float], ...] = ()
    element_ids: tuple[str, ...] = ()


class ExtractedRelationship(Record):
    """A relation found in an answer; ends are labels of this answer's concepts or of existing nodes."""

    source: str
    target: str
    edge_type: str
    quote: str
    confidence: float = Field(default=0.7, ge=0.0, le=1.0)
    basis: Basis = "stated"
    stance: int = Field(default=0, ge=-1, le=1)


class DroppedElement(Record):
    """A single bad element of a provider's output: left out, but on record."""

    source: str
    target: str | None = None
    type: str
    quote: str = ""
    reason: str


class Extraction(Record):
    """Everything found in one answer."""

    concepts: tuple[ExtractedConcept, ...] = ()
    relationships: tuple[ExtractedRelationship, ...] = ()
    dropped: tuple[DroppedElement, ...] = ()
    extractable: bool = True
    provider: str = ""
    fallback: bool = False
    """The fallback provider did it, because the configured one failed."""


class Extractor(Protocol):
    """Finds concepts and relations in answers."""

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Concepts and relations of one answer. Raises ProviderError."""
        ...


MOST_ELEMENTS = 12
"""Elements made of a stimulus: about as many as an interview can speak of."""


class StimulusRequest(Record):
    """The text of a stimulus that elements are to be made of."""

    text: str
    topic: str
    """What questions call it; it is no element of its own."""
    language: str
    seed: int = 0


class ParsedStimulus(Record):
    """The elements of a stimulus, in the order of its text; their ids are unique and requirements name them."""

    elements: tuple[Element, ...] = ()
    provider: str = ""
    fallback: bool = False
    """The fallback provider did it, because the configured one failed."""


class ConceptParser(Protocol):
    """Makes of a stimulus the elements that an interview should touch on."""

    async def parse_stimulus(self, request: StimulusRequest) -> ParsedStimulus:
        """At most `MOST_ELEMENTS` of them; none where nothing can be told apart. Raises ProviderError."""
        ...


RATED_SIGNALS = (
    "response_depth",
    "specificity",
    "certainty",
    "valence",
    "engagement",
    "intellectual_engagement",
)
Hedging = Literal["none", "low", "medium", "high"]


class RatingRequest(Record):
    """One answer to be rated, with the question it answers and what was said before that, oldest first."""

    text: str
    question: str
    language: str
    history: tuple[Line, ...] = ()
    seed: int = 0


class QualitativeSignals(Record):
    """Qualities of an answer that scores do not express.

    `uncertainty` is productive where the respondent is curious or thinks aloud, terminal where they have nothing more
    to say about it. `knowledge_ceiling` is exploratory for a "don't know" that the respondent goes on to explore,
    terminal for one that ends the subject. `reasoning` is the most demanding kind in the answer. `contradiction` is a
    quote that contradicts something said before, `turning_point` one that tells of the moment that changed things;
    each empty without one.
    """

    uncertainty: Literal["none", "productive", "terminal"] = "none"
    reasoning: Literal["none", "descriptive", "causal", "counterfactual", "metacognitive"] = "none"
    emotion: Literal["none", "mild", "strong"] = "none"
    contradiction: str = ""
    turning_point: str = ""
    knowledge_ceiling: Literal["none", "exploratory", "terminal"] = "none"
    concept_depth: Literal["surface", "functional", "personal", "value"] = "surface"


class Rating(Record):
    """Scores from 1 to 5 for each of RATED_SIGNALS, a hedging level, and why.

    `momentum` and `qualitative` are None where a provider does not rate them; `rationales` has a sentence per signal.
    """

    scores: dict[str, int]
    hedging: Hedging
    rationales: dict[str, str] = {}
    momentum: Momentum | None = None
    qualitative: QualitativeSignals | None = None
    contradicts: bool | None = None
    turns: bool | None = None
    """Whether the answer contradicts itself, and whether it tells of a moment that changed things, by a provider that
    rates no qualitative signals; None where it does not tell."""
    acts: tuple[tuple[Act, str], ...] = ()
    """Dialogue acts besides telling, each with its words as they stand in the answer."""
    provider: str = ""
    fallback: bool = False
    """The fallback provider did it, because the configured one failed."""


class Rater(Protocol):
    """Rates answers: one call per answer, never cached across answers."""

    async def rate(self, request: RatingRequest) -> Rating:
        """Ratings of one answer. Raises ProviderError."""
        ...


class SlotRequest(Record):
    """Surface nodes waiting for a canonical slot; at most 8, of any types."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    nodes: tuple[KGNode, ...]
    slots: tuple[CanonicalSlot, ...]
    methodology: Methodology
    language: str


class SlotProposal(Record):
    """Nodes of one type that mean the same; `slot_name` is snake_case and lemmatised."""

    slot_name: str
    description: str
    node_type: str
    node_ids: tuple[str, ...]


@runtime_checkable
class SlotProposer(Protocol):
    """Proposes canonical slots for nodes of the same meaning."""

    @property
    def inline(self) -> bool:
        """Whether proposing is cheap enough to happen within the turn."""
        ...

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        """A proposal for each node of the request (nodes may share one). Raises ProviderError."""
        ...


class ActiveSignal(Record):
    """A signal that contributed to the choice of the strategy."""

    name: str
    value: bool | int | float | str
    description: str = ""
    contribution: float = 0.0


QuestionKind = Literal["opening", "follow_up", "closing", "rephrase", "ending"]


class ThreadTold(Record):
    """A thread that can be followed: its latest concept with what was said of it.

    `left_turn` is the answer after which another one was followed, None if none was.
    """

    label: str
    quote: str
    left_turn: int | None = None


class TopicTold(Record):
    """A topic of the guide and how far it is: `open`, `covered`, `asked`, `declined` or `left`; or, of a part of an
    idea that nobody has named yet, `unmentioned`.

    `question` are the study's own words for it, where everybody is asked so and the respondent was not yet.
    """

    label: str
    status: str
    question: str = ""


class Briefing(Record):
    """What a language model is told of the interview so far.

    Attributes:
        conversation: oldest first; `earlier` are concepts of what was said before that and does not fit.
        threads: the one that is being followed first.
        guide: in its order.
        did: what the respondent did besides telling, in words: "was put out by a question".
        answer: the last answer as it was given; the conversation has what it tells.
        unasked: words of it that nothing is asked about, because they refuse, ask, or wish for something.
        untaken: sentences of earlier answers that opened something and that no question took up.
    """

    conversation: tuple[Line, ...] = ()
    earlier: tuple[str, ...] = ()
    threads: tuple[ThreadTold, ...] = ()
    guide: tuple[TopicTold, ...] = ()
    did: tuple[str, ...] = ()
    answer: str = ""
    unasked: tuple[str, ...] = ()
    untaken: tuple[str, ...] = ()


class RefusedText(Record):
    """A wording that could not be used, and why."""

    text: str
    reasons: tuple[str, ...]


class Offer(Record):
    """Something that the next question could be about, where the writer may choose.

    `purpose` is the description of the strategy; `turns_ago` is 0 for what was said just now; `closes` where it is the
    closing question.
    """

    purpose: str
    label: str = ""
    node_type: str | None = None
    quote: str | None = None
    turns_ago: int = 0
    closes: bool = False


class QuestionRequest(Record):
    """What a writer gets to phrase the next question."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: QuestionKind
    methodology: Methodology
    topic: str
    objective: str
    language: str
    seed: int
    turn_number: int
    stimulus: str = ""
    """What the respondent was shown before the first question, in words; empty where nothing was."""
    consent: str = ""
    """What the respondent was told before the interview, and agreed to; empty where nothing was."""
    strategy: Strategy | None = None
    focus_label: str | None = None
    focus_type: str | None = None
    focus_quote: str | None = None
    focus_is_jump: bool = False
    """The focus is something said before the last answer: it needs a bridge."""
    focus_said_earlier_turns: int = 0
    focus_is_last_said: bool = False
    """The focus is what the last answer was about or ended with, so that “that” is understood without naming it."""
    focus_stance: int = 0
    focus_emotion: int = 0
    """As of `KGNode`: what is wanted or suffered, and how much feeling is in it."""
    focus_time: Time | None = None
    """When what is asked about is so, as it was told; None where that is not known."""
    focus_rendering: Rendering = Rendering()
    """How the question may say what it is about in a sentence of its own."""
    unheard: bool = False
    """The answer told something, and nothing of it was understood: it is asked about as a whole."""
    forms: tuple[Form, ...] = ()
    """The wordings to choose from; those of the strategy if empty."""
    avoid_similar: bool = False
    """A recent question had this strategy and focus, or is close to the focus in meaning: ask differently."""
    offers: tuple[Offer, ...] = ()
    """What the writer may choose from, the engine's choice first; the other fields are those of that one."""
    depth: int = 0
    lines: tuple[Line, ...] = ()
    """The last five utterances, oldest first."""
    recent_questions: tuple[str, ...] = ()
    """The last questions really asked, oldest first."""
    all_questions: tuple[str, ...] = ()
    """All questions of the interview, oldest first."""
    signals: tuple[ActiveSignal, ...] = ()
    rationale: str = ""
    original: str | None = None
    """For a rephrase: the question to put in other words."""
    complained: bool = False
    """The respondent has just complained about a question: nothing like the latest ones is asked."""
    turned_away: bool = False
    """The respondent has just refused, or asked for something else: nothing of the last answer is asked about."""
    spent: bool = False
    """The respondent has no more to tell of what was asked: it is left."""
    after_closing: bool = False
    """The closing question was asked and answered, and what the answer brought is asked about once."""
    ends_with: str = ""
    """For an ending: the fixed words behind it."""
    may_ask: bool = False
    """For an ending: whether one more question is possible instead."""
    composed: bool = False
    """Somebody who was moved, or finds the end too early, says that it can go on, and nothing else: nothing of the last
    answer is asked about."""
    unsaid: str = ""
    """What belongs before the question and the writer was to say in its own words; said before a template question."""
    follows_reply: bool = False
    """The question comes right behind a reply, which has acknowledged what was said."""
    reply: str = ""
    """That reply."""
    briefing: Briefing = Briefing()
    refused: tuple[RefusedText, ...] = ()
    """What was written for this request and could not be used."""
    variant: int = 0
    """0 for the first try, 1 for the regeneration, 0–2 for self-selected candidates."""
    max_words: int = 25
    questions_left: int | None = None
    """Questions that can still be asked, this one and the closing question counted; None where that is not known."""
    instructions: tuple[str, ...] = ()
    """What prompts say about the method and the research objective; a question must not repeat it."""

    @property
    def ends(self) -> bool:
        """Whether it is the last question."""
        return self.kind == "closing" or bool(self.strategy and self.strategy.generates_closing_question)


class QuestionWriter(Protocol):
    """Phrases questions."""

    def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        """The question in pieces, as they become known. Raises ProviderError from the iterator.

        Where something was offered, the first piece may be the number of the offer that was taken: `[2]`; or words of
        the respondent that it goes on from instead: `[0: he held the door]`.

        The caller may close the iterator before its end.
        """
        ...

    def template(self, request: QuestionRequest) -> str:
        """A question made of a template of the strategy, without a language model; it never raises."""
        ...


@runtime_checkable
class JudgesWordings(Protocol):
    """A writer that tells what its wordings are worth."""

    def worth(self, request: QuestionRequest, text: str) -> float | None:
        """What a moderator is expected to think of a question: 0 ashamed of it, 3 exactly this.

        None for a text that is none of its own wordings.
        """
        ...


@runtime_checkable
class ComparesWordings(Protocol):
    """A writer that chooses what to ask about by what its wordings are worth."""

    async def preferred(self, choices: Sequence[QuestionRequest], behind: Sequence[float]) -> int:
        """Which of several questions a moderator would rather ask, counted from 0.

        Args:
            choices: a request for each, the engine's choice first.
            behind: how much less each scored than the engine's choice.
        """
        ...

    async def weighed(self, choices: Sequence[QuestionRequest], worth: Sequence[Move | float], in_a_row: int) -> int:
        """Which of several questions of a concept test a moderator would rather ask, counted from 0.

        Args:
            choices: a request for each, the engine's choice first.
            worth: what each is, so that what it is worth is foretold, or what it is worth, 0 to 3.
            in_a_row: the latest questions that stayed with what was said.
        """
        ...


@runtime_checkable
class SaysBack(Protocol):
    """A writer that may say something else of an answer back than what the engine would ask about."""

    def said_instead(self, request: QuestionRequest, text: str) -> str | None:
        """The words of the last answer that a question of this request says back; None where they tell what it was to
        be about, or where it says nothing back.
        """
        ...


@runtime_checkable
class AsksWhatElse(Protocol):
    """A writer that asks somebody who leaves what was asked what else there is, which wears out."""

    async def repeats_what_else(self, request: QuestionRequest) -> bool:
        """Whether it would ask that, and has asked it before."""
        ...


@runtime_checkable
class FindsLittle(Protocol):
    """A writer that knows when nothing that it could ask promises much any more."""

    async def finds_little(self, request: QuestionRequest) -> bool:
        """Whether the closing question should come in place of this one."""
        ...


@runtime_checkable
class HearsOut(Protocol):
    """A writer that knows when something was told so late that an interview should not end right behind it."""

    async def left_to_tell(self, request: QuestionRequest) -> str:
        """The words of the last answer that should be asked about before the end; empty without any."""
        ...


class Ending(Record):
    """What is said where an interview ends, before its fixed last words; or the question that is asked once more.

    `asks_about` are words of the respondent that the question takes up; empty where `text` is none.
    """

    text: str
    asks_about: str = ""


@runtime_checkable
class FindsLastWords(Protocol):
    """A writer that answers what somebody said last in words of its own, or asks about it once more."""

    @property
    def finds_last_words(self) -> bool:
        """Whether it does so in this interview."""
        ...

    async def last_words(self, request: QuestionRequest) -> Ending:
        """What it would say. Raises ProviderError."""
        ...


@runtime_checkable
class Consoles(Protocol):
    """A writer that hears when somebody tells of a death, beside which an apology for a question is too little."""

    async def consolation(self, request: QuestionRequest) -> str:
        """What is said to a death that the last answer tells of; empty without one."""
        ...


class QuestionSink(Protocol):
    """Receives a question while it is written."""

    async def started(self, turn_number: int) -> None:
        """A question begins (again, after `retracted`)."""
        ...

    async def delta(self, text: str) -> None:
        """The next piece of the question."""
        ...

    async def retracted(self) -> None:
        """The pieces so far are withdrawn; a new attempt follows."""
        ...


class Clock(Protocol):
    """A monotonic clock."""

    def __call__(self) -> float:
        """Seconds since an arbitrary start."""
        ...

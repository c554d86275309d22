"""A small methodology and providers that do what a test tells them; they implement the real ports."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np

from config.conduct import ConductFiles
from pipeline.acts import Act, AskedBack, HeardAct
from pipeline.concept import Concept, Element, PipelineSettings, SessionConfiguration
from pipeline.conduct.policy import ConductPolicy
from pipeline.context import Answer
from pipeline.contracts import TurnRecord
from pipeline.elements import ids_of
from pipeline.engines.base import DecisionEngine
from pipeline.language.acts.reading import RuleReader
from pipeline.methodology import Methodology, Time
from pipeline.outcome import Outcome
from pipeline.ports import (
    ActReader,
    AsTold,
    ExtractedConcept,
    ExtractedRelationship,
    Extraction,
    ExtractionRequest,
    Parse,
    ParsedStimulus,
    QuestionRequest,
    Rating,
    RatingRequest,
    Rendering,
    SlotProposal,
    SlotRequest,
    StimulusRequest,
    Vectors,
    Wanted,
)
from pipeline.state import InterviewState
from pipeline.turn import Providers, TurnPipeline
from pipeline.turn_result import TurnResult, turn_result

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
DIMENSION = 16


def small_methodology(**changes: Any) -> Methodology:
    """Three levels, two edge types, three strategies and a closing one."""
    data: dict[str, Any] = {
        "method": {"name": "small", "goal": "Find out why"},
        "ontology": {
            "nodes": [
                {"name": "attribute", "level": 1, "description": "a feature"},
                {"name": "consequence", "level": 2, "description": "what it does"},
                {"name": "value", "level": 3, "terminal": True, "description": "why it matters"},
            ],
            "edges": [
                {
                    "name": "leads_to",
                    "permitted_connections": [
                        ["attribute", "attribute"],
                        ["attribute", "consequence"],
                        ["consequence", "consequence"],
                        ["consequence", "value"],
                    ],
                },
                {"name": "revises", "permitted_connections": [["*", "*"]]},
            ],
        },
        "signals": {
            "graph": ["graph.max_depth", "graph.orphan_count", "graph.chain_completion.has_complete"],
            "node": [
                "graph.node.exhaustion_score",
                "graph.node.exhausted",
                "graph.node.focus_streak",
                "graph.node.focus_distance",
                "graph.node.created_recently",
                "technique.node.strategy_repetition",
                "meta.node.opportunity",
            ],
            "llm": ["llm.response_depth", "llm.engagement", "llm.hedging_language", "llm.global_response_trend"],
            "temporal": ["temporal.strategy_repetition_count", "temporal.turns_since_strategy_change"],
            "meta": ["meta.interview.phase", "meta.conversation.saturation", "meta.canonical.saturation"],
        },
        "strategies": [
            {
                "name": "deepen",
                "description": "Why does it matter",
                "signal_weights": {
                    "llm.engagement": 0.5,
                    "graph.node.exhaustion_score": -1.0,
                    "temporal.strategy_repetition_count": -0.5,
                    "graph.node.created_recently": 0.3,
                },
            },
            {
                "name": "explore",
                "description": "What else",
                "node_binding": "none",
                "focus_mode": "topic",
                "signal_weights": {"llm.response_depth.surface": 0.6, "temporal.strategy_repetition_count": -0.4},
            },
            {
                "name": "finish",
                "description": "Anything left",
                "node_binding": "none",
                "focus_mode": "summary",
                "generates_closing_question": True,
                "signal_weights": {"meta.interview.phase.late": 0.5},
            },
        ],
        "phases": {
            "early": {"phase_bonuses": {"finish": -2.0}},
            "mid": {"phase_bonuses": {"finish": -2.0}},
            "late": {"phase_bonuses": {"finish": 2.0}},
        },
    }
    return Methodology.model_validate({**data, **changes})


def configuration(methodology: Methodology | None = None, **settings: Any) -> SessionConfiguration:
    """A concept about coffee by the small methodology."""
    return SessionConfiguration(
        concept=Concept(id="coffee", name="coffee", methodology="small", objective="Why coffee"),
        methodology=methodology or small_methodology(),
        settings=PipelineSettings(**settings),
        closing_text="Thank you very much for your time.",
    )


def new_state(**changes: Any) -> InterviewState:
    """A session that has begun, with an opening question asked."""
    fields: dict[str, Any] = {
        "session_id": "s-1",
        "concept_id": "coffee",
        "concept_name": "coffee",
        "methodology": "small",
        "engine": "signal_pools",
        "language": "en",
        "max_turns": 15,
        "seed": 7,
        "config_hash": "h",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return InterviewState(**{**fields, **changes})


class TableEmbedder:
    """Vectors from a table of directions; texts that are not in it get one of their own."""

    model_id = "table"
    dimension = DIMENSION

    def __init__(self, similar: Iterable[tuple[str, str, float]] = ()) -> None:
        """Args: similar: (text, like, cosine): the text's vector has this cosine to the other's."""
        self._similar = {text: (like, cosine) for text, like, cosine in similar}
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        rows = [self._vector(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, DIMENSION), np.float32)

    def _vector(self, text: str) -> Vectors:
        own = self._direction(text)
        if text not in self._similar:
            return own
        like, cosine = self._similar[text]
        base = self._vector(like)
        rest = own - (own @ base) * base
        rest /= np.linalg.norm(rest)
        turned: Vectors = (cosine * base + np.sqrt(1 - cosine**2) * rest).astype(np.float32)
        return turned

    @staticmethod
    def _direction(text: str) -> Vectors:
        seed = int.from_bytes(sha256(text.encode()).digest()[:4], "big")
        row = np.random.default_rng(seed).normal(size=DIMENSION)
        return (row / np.linalg.norm(row)).astype(np.float32)


class WordParser:
    """Lemmas are lower-case words without a plural s; no discourse; "was" tells the past, anything else the present."""

    async def parse(self, text: str) -> Parse:
        return Parse(sentences=(text,))

    async def lemmas(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        stop = {"the", "a", "an", "it", "is", "to", "of", "my", "i"}
        found = []
        for label in labels:
            words = re.findall(r"[\w']+", label.casefold())
            found.append(tuple(w[:-1] if w.endswith("s") and len(w) > 3 else w for w in words if w not in stop))
        return found

    async def as_told(self, wanted: Sequence[Wanted]) -> list[AsTold]:
        return [AsTold(time=self._time(each), rendering=self._rendering(each)) for each in wanted]

    @staticmethod
    def _time(wanted: Wanted) -> Time | None:
        if wanted.quote is None or not wanted.text:
            return None
        said = next((part for part in wanted.text.split(".") if wanted.quote in part), wanted.text)
        return "past" if "was" in said.split() else "present"

    @staticmethod
    def _rendering(wanted: Wanted) -> Rendering:
        return Rendering(thing=f"that {wanted.words}") if wanted.words in wanted.text and wanted.words else Rendering()


Say = Callable[[ExtractionRequest], Extraction]


def concepts(*items: tuple[str, str], links: Sequence[tuple[str, str]] = (), kind: str = "leads_to") -> Extraction:
    """An extraction of (label, node type) pairs and (source, target) links, quoting the labels."""
    return Extraction(
        concepts=tuple(ExtractedConcept(label=label, node_type=t, quote=label) for label, t in items),
        relationships=tuple(
            ExtractedRelationship(source=a, target=b, edge_type=kind, quote=f"{a} {b}") for a, b in links
        ),
    )


class ScriptedExtractor:
    """Answers with what the script has for the text; nothing for unknown texts."""

    def __init__(self, script: dict[str, Extraction] | None = None) -> None:
        self.script = script or {}
        self.requests: list[ExtractionRequest] = []

    async def extract(self, request: ExtractionRequest) -> Extraction:
        self.requests.append(request)
        return self.script.get(request.text, Extraction())


class FixedRater:
    """Rates every answer the same, unless told otherwise per text."""

    def __init__(self, depth: int = 3, by_text: dict[str, int] | None = None, hedging: str = "none") -> None:
        self.depth = depth
        self.by_text = by_text or {}
        self.hedging = hedging
        self.requests: list[RatingRequest] = []

    async def rate(self, request: RatingRequest) -> Rating:
        self.requests.append(request)
        depth = self.by_text.get(request.text, self.depth)
        names = ("specificity", "certainty", "valence", "engagement", "intellectual_engagement")
        return Rating.model_validate(
            {
                "scores": {"response_depth": depth, **dict.fromkeys(names, 3)},
                "hedging": self.hedging,
                "turns": "since then" in request.text,
                "contradicts": "well, no" in request.text,
                "rationales": {"response_depth": f"The answer has a depth of {depth}."},
            }
        )


class OwnSlots:
    """A slot per node, named after its label, unless a name is given for the label."""

    inline = True

    def __init__(self, names: dict[str, str] | None = None) -> None:
        self.names = names or {}
        self.batches: list[int] = []

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        self.batches.append(len(request.nodes))
        return [
            SlotProposal(
                slot_name=self.names.get(node.label, node.label.replace(" ", "_")),
                description="",
                node_type=node.node_type,
                node_ids=(node.id,),
            )
            for node in request.nodes
        ]


class LineElements:
    """An element for each line of a stimulus."""

    def __init__(self) -> None:
        self.requests: list[StimulusRequest] = []

    async def parse_stimulus(self, request: StimulusRequest) -> ParsedStimulus:
        self.requests.append(request)
        lines = [line.strip() for line in request.text.splitlines() if line.strip()]
        found = [Element(id=name, label=line) for name, line in zip(ids_of(lines), lines, strict=True)]
        return ParsedStimulus(elements=tuple(found), provider="lines")


class PlainWriter:
    """Writes one open question per turn, each different; remembers what it was asked for."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = list(texts)
        self.requests: list[QuestionRequest] = []
        self.templates: list[QuestionRequest] = []

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        self.requests.append(request)
        text = self.texts.pop(0) if self.texts else self.template(request)
        for piece in re.findall(r"\S+\s*", text):
            yield piece

    def template(self, request: QuestionRequest) -> str:
        self.templates.append(request)
        about = request.focus_label or request.topic
        words = ["matters", "happens", "changes", "helps", "counts", "stands out", "follows", "remains"]
        word = words[(request.turn_number + request.variant) % len(words)]
        return f"What {word} most to you when you think of {about} number {request.turn_number}?"


class ScriptedReader:
    """Hears in each message what it is told: words, act, and what else is known of it."""

    def __init__(
        self,
        script: Mapping[str, Sequence[tuple[str, Act] | tuple[str, Act, dict[str, Any]]]],
        replies: Mapping[str, tuple[Act, str]] | None = None,
    ) -> None:
        self.script = script
        self.replies = replies or {}

    async def read(self, text: str, question: str, language: str) -> tuple[HeardAct, ...]:
        found = []
        for words, act, *more in self.script.get(text, ()):
            at = text.index(words)
            found.append(HeardAct(act=act, start=at, end=at + len(words), **(more[0] if more else {})))
        return tuple(found)

    async def reply(self, text: str, question: str, asked: AskedBack, language: str) -> HeardAct | None:
        """The act of what is answered, and what narrows it down."""
        act, about = self.replies.get(text, ("tells", ""))
        return None if act == "tells" else HeardAct(act=act, start=0, end=len(text), about=about, heard_by="reader")


def conduct_policy(language: str = "en") -> ConductPolicy:
    """The policy that comes along."""
    found = ConductFiles([files("config")]).plain(language)
    assert found is not None
    return found


@dataclass
class Listener:
    """A sink that keeps what it hears."""

    heard: list[str] = field(default_factory=list)
    attempts: int = 0

    async def started(self, turn_number: int) -> None:
        self.attempts += 1

    async def delta(self, text: str) -> None:
        self.heard.append(text)

    async def retracted(self) -> None:
        self.heard.clear()

    @property
    def text(self) -> str:
        return "".join(self.heard)


class Ticks:
    """A clock that moves by one millisecond per look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@dataclass
class Interview:
    """A whole interview in memory: keeps state and embeddings between turns as a session's owner does."""

    extractor: ScriptedExtractor = field(default_factory=ScriptedExtractor)
    rater: FixedRater = field(default_factory=FixedRater)
    slots: OwnSlots = field(default_factory=OwnSlots)
    writer: PlainWriter = field(default_factory=PlainWriter)
    embedder: TableEmbedder = field(default_factory=TableEmbedder)
    parser: WordParser = field(default_factory=WordParser)
    configuration: SessionConfiguration = field(default_factory=configuration)
    state: InterviewState = field(default_factory=new_state)
    embeddings: dict[str, Vectors] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    before: InterviewState = field(default_factory=new_state)
    """The state that the last turn started from."""
    listener: Listener = field(default_factory=Listener)
    names: list[SlotProposal] = field(default_factory=list)
    second: PlainWriter | None = None
    secrets: tuple[str, ...] = ()
    engines: Mapping[str, DecisionEngine] | None = None
    reader: ActReader = field(default_factory=RuleReader)

    def pipeline(self) -> TurnPipeline:
        return TurnPipeline(
            Providers(
                self.extractor,
                self.rater,
                self.slots,
                self.writer,
                self.embedder,
                self.parser,
                self.reader,
                self.second,
                self.secrets,
            ),
            Ticks(),
            engines=self.engines,
        )

    async def name_slots(self) -> list[SlotProposal]:
        """What a session's owner does after the question is out: one batch of names, for the next turn."""
        named = {i for proposal in self.names for i in proposal.node_ids}
        found = await self.pipeline().name_slots(self.state, self.configuration, named=named)
        self.names += found
        return found

    async def open(self) -> Outcome:
        outcome = await self.pipeline().open(self.state, self.configuration, now=NOW, sink=self.listener)
        self.state = outcome.state
        return outcome

    async def say(
        self,
        text: str,
        found: Extraction | None = None,
        *,
        kind: str = "answer",
        corrects: str | None = None,
        speech_ms: int | None = None,
    ) -> Outcome:
        """One turn; `found` is what the extractor finds in the text, `speech_ms` is given for a spoken answer."""
        if found is not None:
            self.extractor.script[text] = found
        if self.state.question is None:
            await self.open()
        self.listener = Listener()
        self.before = self.state
        answer = Answer(f"key-{self.state.turn_count + 1}", text, kind, corrects)  # type: ignore[arg-type]
        answer = replace(answer, spoken=speech_ms is not None, speech_ms=speech_ms)
        outcome = await self.pipeline().run(
            self.state,
            answer,
            self.configuration,
            now=NOW,
            sink=self.listener,
            embeddings=self.embeddings,
            names=lambda: self.names,
        )
        self.names = []
        self.state = InterviewState.load(outcome.state.dump())
        self.embeddings.update(outcome.embeddings)
        self.outcomes.append(outcome)
        return outcome

    @property
    def last(self) -> Outcome:
        return self.outcomes[-1]

    @property
    def result(self) -> TurnResult:
        """The full result of the last turn, from what a store has of it."""
        assert self.last.record is not None
        record = TurnRecord.model_validate_json(self.last.record.model_dump_json())
        return turn_result(self.before, self.state, record, self.configuration)

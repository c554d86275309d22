"""Bodies of replies.

They describe what the calls answer, for the API document; tests hold every reply of a call to them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from pipeline.acts import Act
from pipeline.concept import ConsentText, Element, EngineName, KioskMode, Patience
from pipeline.coverage import ElementCoverage
from pipeline.graph.canonical import CanonicalEdge, SlotStatus
from pipeline.graph.surface import Basis, Mention, SchemaTension
from pipeline.graph.tracker import Depth
from pipeline.guide import TopicProgress
from pipeline.ports import Speaker
from pipeline.state import (
    Consent,
    Device,
    FocusEntry,
    QuestionAsked,
    SaturationMetrics,
    SessionStatus,
    UtteranceKind,
)
from pipeline.stimulus import ImageType
from pipeline.threads import Thread
from server.protocol.coverage import ElementItem, Spirits
from server.protocol.outbound import Offer, RatingForm, TurnResultView
from server.protocol.watched import PreviewView
from server.sync.service import SyncState
from server.usage import SessionUsage

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Json = dict[str, Any]


class ReplyBody(BaseModel):
    """The body of a reply: exactly these fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Problem(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    type: str = Field(description="`urn:askwell:error:` and the code.")
    title: str = Field(description="The kind of error, in words.")
    status: int = Field(ge=400, le=599, description="The HTTP status once more.")
    detail: str = Field(description="What happened and what to do, for people.")
    code: str = Field(description="For programs.")


# Operations


class Checks(ReplyBody):
    """What a server that is ready depends on."""

    models: Literal["ready", "loading"]
    redis: str = Field(description="`ok`, or why it can't be used.")
    database: str = Field(description="`ok`, or why it can't be used.")
    writer: str = Field(description="`ok`, or why the store is behind.")
    sessions: Count = Field(description="Sessions on this node.")
    configuration: list[str] | None = Field(default=None, description="What is wrong with files; left out if nothing.")
    process: Literal["leaving"] | None = Field(default=None, description="Left out unless it shuts down.")
    voice: str | None = Field(
        default=None,
        description="Languages in which browsers read questions aloud because a program fails, and why, which is no "
        "reason not to be ready; left out if nothing is missing.",
    )
    turn_detector: str | None = Field(
        default=None,
        description="Why silence and words alone end spoken answers, which is no reason not to be ready; left out if "
        "nothing is missing.",
    )


class ReadinessReply(ReplyBody):
    """Whether interviews can be taken."""

    ready: bool
    checks: Checks | None = Field(
        default=None, description="What it depends on; for moderators only where readiness is not open to anyone."
    )


# Catalogue


class ConceptItem(ReplyBody):
    """A concept in a list."""

    id: str
    name: str = Field(description="The topic as questions name it.")
    title: str
    methodology: str
    engine: EngineName
    languages: list[str] = Field(description="The default first.")
    titles: dict[str, str] = Field(description="By language.")


class ConceptList(ReplyBody):
    """All concepts that the caller may know of."""

    items: list[ConceptItem]
    open: bool = Field(description="Whether anyone may see all of them.")


class ConceptReply(ConceptItem):
    """What respondents may see of a concept."""

    max_turns: int
    consent: ConsentText | None
    stimulus: str | None
    helpline_text: str | None
    open_enrolment: bool = Field(description="Whether anyone may start an interview.")


class ElementList(ReplyBody):
    """What interviews on a concept should touch on."""

    items: list[Element]


class NodeTypeItem(ReplyBody):
    """A node type of a methodology."""

    name: str
    level: int = Field(description="1 is the most concrete, 0 none.")
    terminal: bool


class StrategyItem(ReplyBody):
    """A strategy of a methodology."""

    name: str
    description: str


class MethodologyItem(ReplyBody):
    """A methodology."""

    id: str
    name: str
    version: str
    goal: str
    description: str
    nodes: list[NodeTypeItem]
    node_types: list[str]
    edge_types: list[str]
    strategies: list[StrategyItem]


class MethodologyList(ReplyBody):
    """All methodologies."""

    items: list[MethodologyItem]


class PersonaItem(ReplyBody):
    """A simulated respondent: `ideas` is how many things it would tell if asked; `manner` how it answers."""

    id: str
    title: str
    concept: str
    manner: str
    ideas: int


class PersonaList(ReplyBody):
    """All simulated respondents."""

    items: list[PersonaItem]


# Interviews


class SessionCreated(ReplyBody):
    """A new interview."""

    session_id: str
    respondent_token: str = Field(description="Opens this interview; it is shown this once.")
    join_url: str = Field(description="The respondent's page, with the token.")
    state: SessionStatus


class QuestionNow(ReplyBody):
    """A question or the closing statement."""

    turn_number: Count
    text: str
    fallback: bool = Field(description="Whether it is a template because the writer failed.")
    closing: bool = Field(description="Whether it needs no answer.")


class SessionNow(ReplyBody):
    """Where an interview is."""

    session_id: str
    state: SessionStatus
    question: QuestionNow | None
    ratings: RatingForm | None = Field(description="What the question asks to rate; send it as `ratings`.")


class TurnReply(SessionNow):
    """A committed answer, and the question that follows it."""

    turn_key: str
    turn_number: Count
    result: TurnResultView
    replies_to: Act | None = Field(
        description="What was heard, if the message was no answer: then `question` is the interviewer's reply, and no "
        "turn was used."
    )
    offers: list[Offer] = Field(description="What can be chosen now instead of writing: send its label as an answer.")


class SpokenTurnReply(TurnReply):
    """The same of a recording."""

    transcript: str
    complete: bool = Field(description="Whether all of the recording could be read.")


class SessionErasing(ReplyBody):
    """An interview that is being erased."""

    session_id: str
    state: Literal["erasing"]


class SessionItem(ReplyBody):
    """A session in a list."""

    id: str
    concept_id: str
    concept_name: str
    methodology: str
    engine: str
    language: str
    max_turns: int
    respondent_ref: str | None
    pilot: bool
    state: SessionStatus
    state_reason: str
    rev: Count
    turn_count: Count
    node_count: Count
    edge_count: Count
    created_at: AwareDatetime
    updated_at: AwareDatetime
    device: Device | None = Field(description="The device it was started on.")
    eligibility: dict[str, bool]
    received_at: AwareDatetime | None = Field(description="When it came from a device.")
    match: str | None = Field(default=None, description="With `q`: an excerpt of an utterance that contains it.")


class SessionList(ReplyBody):
    """Sessions, newest first."""

    items: list[SessionItem]
    next_cursor: str | None = Field(description="`cursor` of the next page; null on the last one.")


class ConceptNamed(ReplyBody):
    """Which concept."""

    id: str
    name: str
    title: str


class ConsentAsked(ReplyBody):
    """What the respondent is asked to agree to."""

    text: str
    version: str
    required: bool
    given: bool


class UtteranceShown(ReplyBody):
    """Something said, as the respondent may see it."""

    id: str
    turn_number: Count
    speaker: Speaker
    kind: UtteranceKind
    text: str


class SpeechOffered(ReplyBody):
    """Whether and how the respondent may speak."""

    available: bool
    reason: Literal["transcriber_unavailable", "language_unsupported"] | None
    voice: bool = Field(description="Whether the server can read questions aloud; see `read_aloud` of the socket.")
    patience: Patience
    max_answer_s: float
    review_transcript: bool
    record_audio: bool
    pauses_s: dict[Patience, float] = Field(description="About how much silence ends an answer, by patience.")
    reopen_s: float
    barge_in: bool
    echo_cancellation: bool | None = Field(description="Null: only while questions are read aloud.")
    noise_suppression: bool
    auto_gain_control: bool


class StimulusImageShown(ReplyBody):
    """An image that the respondent is shown."""

    url: str = Field(description="The call that answers with it; it takes the token in a header.")
    media_type: ImageType
    width: int = Field(description="In pixels.")
    height: int = Field(description="In pixels.")
    alt: str = Field(description="What it shows, in words.")


class RespondentSession(ReplyBody):
    """An interview as its respondent sees it."""

    id: str
    state: SessionStatus
    reason: str
    concept: ConceptNamed
    language: str
    languages: list[str]
    consent: ConsentAsked
    turn_number: Count
    max_turns: int
    progress: Share
    closing_text: str
    withdrawn_text: str
    offers: list[Offer] = Field(description="What can be chosen now instead of writing.")
    helpline_text: str | None
    stimulus: str | None = Field(description="The text to be shown before the first question, and on request.")
    stimulus_image: StimulusImageShown | None = Field(description="The image that belongs to it.")
    question: str | None
    ratings: RatingForm | None = Field(description="What the question asks to rate.")
    transcript: list[UtteranceShown]
    speech: SpeechOffered


class ActionItem(ReplyBody):
    """A moderator's command that took effect."""

    command_id: str
    action: str
    moderator: str
    turn_number: int | None
    recorded_at: AwareDatetime
    details: Json


class RecordingItem(ReplyBody):
    """A file with what was said."""

    file: str
    bytes: Count


class DeviceNamed(ReplyBody):
    """A device."""

    id: str
    name: str


class VersionItem(ReplyBody):
    """A state of an interview that a device sent besides the one that is shown."""

    digest: str
    rev: Count
    device: DeviceNamed
    received_at: AwareDatetime
    kept_at: AwareDatetime
    recordings: list[str]


class ModeratorSession(ReplyBody):
    """An interview as moderators see it, graphs and transcript apart."""

    id: str
    state: SessionStatus
    reason: str
    concept_id: str
    concept_name: str
    methodology: str
    engine: str
    language: str
    turn_count: Count
    max_turns: int
    respondent_ref: str | None
    pilot: bool
    device: Device | None
    eligibility: dict[str, bool]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    node_count: Count
    edge_count: Count
    held_back: bool = Field(description="Whether it is kept from exports: somebody seemed to be under age.")
    progress: Share
    config_hash: str
    seed: str
    consent: Consent | None
    paused_by: Literal["respondent", "moderator"] | None
    claimed_by: str | None
    question: QuestionAsked | None
    focus_history: list[FocusEntry]
    strategy_history: list[str]
    saturation: SaturationMetrics
    depths: list[Depth]
    engagements: list[Share]
    phase: str | None
    saturation_score: Share | None
    settings: Json = Field(description="The respondent's wishes about speaking and listening.")
    guide: list[TopicProgress] = Field(description="The topics of the guide, and how far they are.")
    grid: Json | None = Field(description="The repertory grid with its ratings, where the method has one.")
    threads: list[Thread] = Field(description="What the interviewer follows, by the nodes it runs through.")
    coverage: list[ElementCoverage] = Field(description="How far the elements of the concept were spoken of.")
    elements: list[ElementItem] = Field(description="The same with labels, and with what each still lacks.")
    spirits: Spirits
    usage: SessionUsage
    moderator_actions: list[ActionItem]
    recordings: list[RecordingItem]
    received_at: AwareDatetime | None
    received_from: DeviceNamed | None = Field(description="The device that it came from.")
    versions: list[VersionItem] = Field(description="Its other states that the device sent.")


# What was learned


class NodeRow(ReplyBody):
    """A node of the surface graph."""

    id: str
    label: str
    node_type: str
    level: int
    confidence: Share
    stance: Literal[-1, 0, 1]
    salience: Literal[0, 1, 2, 3] | None = Field(description="How much a moderator would follow it up; 3 at once.")
    emotion: Literal[0, 1, 2] | None = Field(description="How much feeling is in it; 2 is strong.")
    created_turn: Count
    last_mention_turn: Count
    mention_count: int
    quotes: list[Mention]
    source_utterance_ids: list[str]
    type_alternatives: list[tuple[str, float]]
    element_ids: list[str]
    superseded_by: str | None
    slot_id: str | None
    slot_name: str | None
    key: str = Field(description="Under which it is tracked: its slot once it has one.")
    exhaustion: Share
    exhausted: bool
    focus_count: Count
    declined: bool


class EdgeRow(ReplyBody):
    """A relation of the surface graph."""

    id: str
    source_id: str
    target_id: str
    edge_type: str
    confidence: Share
    basis: Basis = Field(description="What it rests on.")
    skips: bool = Field(description="Whether it leaves out a level of the ladder.")
    stance: Literal[-1, 0, 1]
    created_turn: Count
    quotes: list[Mention]
    source_utterance_ids: list[str]


class SurfaceGraphReply(ReplyBody):
    """The surface graph."""

    session_id: str
    turn_count: Count
    nodes: list[NodeRow]
    edges: list[EdgeRow]
    tensions: list[SchemaTension]


class SlotMember(ReplyBody):
    """A node of a slot."""

    id: str
    similarity: float
    assigned_turn: Count


class SlotRow(ReplyBody):
    """A slot of the canonical graph."""

    id: str
    slot_name: str
    description: str
    node_type: str
    status: SlotStatus
    support_count: Count
    first_seen_turn: Count
    promoted_turn: int | None
    surface_nodes: list[SlotMember]


class CanonicalGraphReply(ReplyBody):
    """The canonical graph."""

    session_id: str
    turn_count: Count
    slots: list[SlotRow]
    edges: list[CanonicalEdge]
    backlog: list[str] = Field(description="Nodes without a final slot, oldest first.")


class ScoresItem(ReplyBody):
    """What was decided in a turn, and why."""

    turn_number: Count
    turn_key: str
    recorded_at: AwareDatetime
    strategy: str | None
    node_key: str | None
    node_id: str | None
    phase: str | None
    depth_score: float | None
    saturation_score: float | None
    has_methodology_signals: bool
    should_continue: bool
    reason: str
    candidates: list[Json] = Field(description="Best first, with the terms of each score.")
    candidate_count: Count
    ratings: Json | None
    saturation: Json
    stages_ms: dict[str, float]
    fallback: bool
    fallbacks: list[str]
    directive: Json | None
    target: Json | None = Field(description="What the question is about.")
    tactic: str = Field(description="How the strategy asked, where the engine knows several ways.")
    scores: Json = Field(description="The scores of all candidates, compactly.")
    inputs: Json = Field(description="What the decision rested on besides the signals.")
    question: Json = Field(description="How the question came about: writer, attempts, refusals, worth, offers.")
    signals: Json | None = Field(description="The signals of the turn.")


class ScoresReply(ReplyBody):
    """The decisions of all turns, oldest first."""

    session_id: str
    items: list[ScoresItem]


class UtteranceRow(UtteranceShown):
    """Something said."""

    recorded_at: AwareDatetime
    strategy: str | None
    focus_key: str | None
    fallback: bool
    corrects: str | None = Field(description="The answer that this one amends.")
    corrected_by: str | None
    spoken: bool
    confidence: Share | None = Field(description="Of a spoken answer: the mean of its words.")
    speech_ms: int | None
    second_reading: str | None = Field(
        description="Of a spoken answer: what was understood when the whole was read once more, where that has other "
        "words. Nothing is made of it; concepts, quotes and the interview rest on `text`."
    )
    clock_set_back: bool = Field(description="Whether it is later than what stands before it, whatever its time says.")
    acts: list[Json] = Field(
        description="What was heard in a message: acts with their places; none where it all tells."
    )
    replies_to: Act | None = Field(description="The act that a reply of the interviewer answers.")


class TranscriptReply(ReplyBody):
    """Everything said, in order."""

    session_id: str
    items: list[UtteranceRow]


class CallItem(ReplyBody):
    """A call of a language model."""

    id: str
    turn_number: int | None
    ordinal: Count
    role: str
    task: str
    provider: str
    model: str
    attempt: int
    outcome: str
    error: str | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    latency_ms: float
    first_token_ms: float | None
    cost: float | None
    currency: str | None
    recorded_at: AwareDatetime


class UsageReply(SessionUsage):
    """The calls of language models in a session, in sum and one by one."""

    session_id: str
    items: list[CallItem]


# Moderators


class ModeratorReply(ReplyBody):
    """Who sent the request."""

    kind: Literal["moderator"]
    name: str
    token_id: str
    concepts: list[str] | None = Field(description="What the moderator may see; null for all.")


class ActionList(ReplyBody):
    """What moderators did in a session, oldest first."""

    session_id: str
    items: list[ActionItem]


class CommandReply(ReplyBody):
    """A command that took effect, or will in that turn."""

    command_id: str
    session_id: str
    applies_to_turn: Count
    preview: PreviewView | None = Field(description="Of a steering preview, which changes nothing.")


# Tokens


class LoginReply(ReplyBody):
    """Who logged in; the cookie is in the headers."""

    name: str


class TokenCreated(ReplyBody):
    """A new token."""

    id: str
    token: str = Field(description="It is shown this once.")
    kind: Literal["moderator", "device"]
    name: str
    concepts: list[str] | None
    created_at: AwareDatetime
    created_by: str | None = Field(description="The token that it was made with.")


class TokenItem(ReplyBody):
    """A token in a list, never the token itself."""

    id: str
    kind: Literal["moderator", "device"]
    name: str
    concepts: list[str] | None
    created_at: AwareDatetime
    created_by: str | None = Field(description="The token that it was made with.")
    created_by_name: str | None
    revoked_at: AwareDatetime | None
    last_seen: AwareDatetime | None = Field(description="When a device sent its latest request.")


class TokenList(ReplyBody):
    """Tokens, newest first."""

    items: list[TokenItem]


# Kiosks


class KioskConcept(ReplyBody):
    """A concept as a kiosk shows it."""

    id: str
    name: str
    title: str
    languages: list[str]
    stimulus: str | None
    consent: ConsentText | None


class StatementShown(ReplyBody):
    """A statement that has to be true of a respondent."""

    id: str
    text: str


class KioskSettingsShown(ReplyBody):
    """How interviews run on a kiosk."""

    respondent_ref: Literal["off", "optional", "required"]
    eligibility: list[StatementShown]
    modes: list[KioskMode]
    idle_warning_s: int
    idle_reset_s: int
    thanks_s: int
    half_duplex: bool
    operator: bool = Field(description="Whether there is an operator's corner.")
    pin_required: bool


class KioskSpeech(ReplyBody):
    """Whether respondents may speak at a kiosk."""

    available: bool
    reason: Literal["transcriber_unavailable", "language_unsupported"] | None
    record_audio: bool


class KioskLanguage(ReplyBody):
    """What there is in a language."""

    speech: bool
    supported: bool


class KioskReply(ReplyBody):
    """What a kiosk shows before an interview."""

    language: str
    concept: KioskConcept
    kiosk: KioskSettingsShown
    speech: KioskSpeech
    languages: dict[str, KioskLanguage]
    version: str
    device: DeviceNamed | None


class Unlocked(ReplyBody):
    """The key of the operator's corner."""

    unlocked_s: int = Field(description="For how long, in seconds.")
    key: str = Field(description="To be sent as `x-kiosk-key`.")


class SendingNow(ReplyBody):
    """How far sending is."""

    done: Count
    total: Count


class SyncShown(ReplyBody):
    """Whether finished interviews are sent to another server."""

    state: SyncState
    to: str | None
    connected: bool | None
    last_at: AwareDatetime | None
    last_error: str | None
    next_at: AwareDatetime | None
    sending: SendingNow | None


class Unsynced(ReplyBody):
    """Interviews that no server has confirmed."""

    finished: Count
    unfinished: Count


class StorageShown(ReplyBody):
    """Room on the disk."""

    free_bytes: Count
    used_bytes: Count


class ClockShown(ReplyBody):
    """The clock of this machine."""

    now: AwareDatetime


class KioskStatus(ReplyBody):
    """The state of a kiosk, for its operator."""

    version: str
    device: DeviceNamed | None
    started_at: AwareDatetime
    sync: SyncShown
    unsynced: Unsynced
    storage: StorageShown
    clock: ClockShown


class Restarting(ReplyBody):
    """The server restarts after this reply."""

    state: Literal["restarting"]


# Sync


class SyncReply(ReplyBody):
    """What is taken here."""

    formats: list[int]
    version: str
    now: AwareDatetime
    max_bytes: int
    device: DeviceNamed
    concepts: list[str] | None


class SyncWish(ReplyBody):
    """What is wanted of an interview."""

    status: Literal["stored", "erased", "wanted"]
    offset: Count = Field(description="First byte that is wanted.")
    received_at: AwareDatetime | None


class HandedOver(ReplyBody):
    """How many interviews belong to another device now."""

    sessions: Count


class ChunkTaken(ReplyBody):
    """Where the next piece begins."""

    offset: Count

"""A session as rows, for the HTTP API and for exports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.graph.surface import GUESSED, REVISES, KGEdge
from pipeline.guide import TopicProgress
from pipeline.state import InterviewState, Utterance
from server.usage import SessionUsage

Row = dict[str, Any]

SPEAKERS = {"interviewer": "Interviewer", "respondent": "Respondent", "moderator": "Moderator"}
SKIPPED = "(rather not say)"
MODERATORS = "What moderators did"
SECOND_READING = (
    "Second reading of the whole answer, made when it was over; concepts and quotes rest on the text above:"
)
NO_USAGE = SessionUsage()


@dataclass(frozen=True)
class Material:
    """One session, complete.

    `turns` are the stored records of its turns (scores, signals, decompositions), oldest first; `actions` are
    moderators' commands, `calls` the calls of language models, `usage` their sum.
    """

    state: InterviewState
    configuration: SessionConfiguration
    turns: Sequence[Row] = ()
    actions: Sequence[Row] = ()
    calls: Sequence[Row] = ()
    usage: SessionUsage = NO_USAGE
    inferred: bool = True
    """Whether relations that were merely inferred are in it."""

    @property
    def title(self) -> str:
        """The topic, for headings."""
        return self.configuration.concept.title or self.state.concept_name

    @property
    def edges(self) -> tuple[KGEdge, ...]:
        """The relations that this export has."""
        return tuple(edge for edge in self.state.edges if self.inferred or edge.basis != GUESSED)

    @property
    def retracted(self) -> frozenset[str]:
        """Ids of the relations that count no more, because a concept that they join was taken back."""
        gone = {node.id for node in self.state.nodes if node.superseded_by}
        return frozenset(
            edge.id for edge in self.edges if edge.edge_type != REVISES and gone & {edge.source_id, edge.target_id}
        )

    @property
    def omitted(self) -> str:
        """A sentence about the relations that this export does not have; empty where it has all."""
        count = len(self.state.edges) - len(self.edges)
        if not count:
            return ""
        what = "1 that was merely inferred is" if count == 1 else f"{count} that were merely inferred are"
        return f"Of {len(self.state.edges)} relations, {what} left out; an export of all relations has them."


def guide_words(item: TopicProgress) -> str:
    """How far a topic of the guide is, in words."""
    if item.status == "left":
        return f"not asked ({item.reason.replace('_', ' ') or 'the interview ended'})"
    told = {
        "open": "not spoken of yet",
        "covered": "in answer",
        "asked": "asked after answer",
        "declined": "would rather not say, answer",
    }
    return told[item.status] + (f" {item.turn}" if item.turn is not None else "")


def guide_rows(state: InterviewState) -> list[Row]:
    """How far each topic of the guide is, a row each."""
    return [
        {
            "id": item.id,
            "label": item.label,
            "status": item.status,
            "turn_number": item.turn,
            "reason": item.reason,
            "node_ids": ", ".join(item.node_ids),
        }
        for item in state.guide
    ]


def speaker_of(utterance: Utterance) -> str:
    """Who says something in a transcript; of an answer with its number, by which guide and judgement name it."""
    number = f" {utterance.turn_number}" if utterance.speaker == "respondent" and utterance.turn_number else ""
    return f"{SPEAKERS[utterance.speaker]}{number}"


def iso(moment: datetime | None) -> str | None:
    """A moment as ISO 8601 text."""
    return moment.isoformat() if moment is not None else None


def session_row(state: InterviewState) -> Row:
    """The session in one row."""
    return {
        "id": state.session_id,
        "state": state.status,
        "reason": state.status_reason,
        "concept_id": state.concept_id,
        "concept_name": state.concept_name,
        "methodology": state.methodology,
        "engine": state.engine,
        "language": state.language,
        "turn_count": state.turn_count,
        "max_turns": state.max_turns,
        "respondent_ref": state.respondent_ref,
        "pilot": state.pilot,
        "device": state.device.model_dump() if state.device else None,
        "eligibility": state.eligibility,
        "created_at": iso(state.created_at),
        "updated_at": iso(state.updated_at),
        "node_count": len(state.nodes),
        "edge_count": len(state.edges),
        "held_back": state.conduct.held_back,
    }


def utterance_rows(state: InterviewState) -> list[Row]:
    """Everything said, in order; `corrected_by` names a later amendment of an answer.

    `clock_set_back` marks what was recorded earlier, by the clock, than what was said before it.
    """
    times = [u.recorded_at for u in state.utterances]
    corrected = {u.corrects: u.id for u in state.utterances if u.corrects}
    return [
        {
            "id": u.id,
            "turn_number": u.turn_number,
            "speaker": u.speaker,
            "kind": u.kind,
            "text": u.text,
            "recorded_at": iso(u.recorded_at),
            "clock_set_back": before is not None and u.recorded_at < before,
            "strategy": u.strategy,
            "focus_key": u.focus_key,
            "fallback": u.fallback,
            "corrects": u.corrects,
            "corrected_by": corrected.get(u.id),
            "spoken": u.spoken,
            "confidence": u.confidence,
            "speech_ms": u.speech_ms,
            "second_reading": u.second_reading,
            "acts": [act.model_dump() for act in u.acts],
            "replies_to": u.replies_to,
        }
        for before, u in zip([None, *times], state.utterances, strict=False)
    ]


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance as it reads: `retracted` where the respondent amended it, `amends` where it is the amendment."""

    utterance: Utterance
    retracted: bool = False
    amends: bool = False


def as_it_reads(state: InterviewState) -> list[Said]:
    """Everything said: an amended answer is followed by its amendment, under the question that both answer."""
    amended = {u.corrects: u for u in state.utterances if u.corrects}
    known = {u.id for u in state.utterances}
    read: list[Said] = []
    for utterance in state.utterances:
        if utterance.corrects in known:
            continue
        at: Utterance | None = utterance
        while at is not None:
            read.append(Said(at, retracted=at.id in amended, amends=at is not utterance))
            at = amended.get(at.id)
    return read


def public_utterance_rows(state: InterviewState) -> list[Row]:
    """What the respondent may see of the transcript."""
    return [
        {"id": u.id, "turn_number": u.turn_number, "speaker": u.speaker, "kind": u.kind, "text": u.text}
        for u in state.utterances
    ]


def second_reading_note(utterance: Utterance) -> str | None:
    """The second reading of a spoken answer, with words that say what it is; None without one."""
    return f"{SECOND_READING} {utterance.second_reading}" if utterance.second_reading else None


def shown_text(utterance: Utterance) -> str:
    """The utterance's text, or a mark for a skipped question."""
    return utterance.text or SKIPPED


def node_rows(
    state: InterviewState, configuration: SessionConfiguration, only: Collection[str] | None = None
) -> list[Row]:
    """Concepts of the surface graph with their quotes, slot and level; those of `only` if it is given."""
    ontology = configuration.methodology.ontology
    canonical = state.canonical_graph()
    rows = []
    for node in state.nodes:
        if only is not None and node.id not in only:
            continue
        slot = canonical.slot_of(node.id)
        rows.append(
            {
                "id": node.id,
                "label": node.label,
                "node_type": node.node_type,
                "level": ontology.level_of(node.node_type),
                "confidence": node.confidence,
                "stance": node.stance,
                "salience": node.salience,
                "emotion": node.emotion,
                "created_turn": node.created_turn,
                "last_mention_turn": node.last_mention_turn,
                "mention_count": node.mention_count,
                "quotes": [mention.model_dump() for mention in node.mentions],
                "source_utterance_ids": list(node.source_utterance_ids),
                "type_alternatives": [list(pair) for pair in node.type_alternatives],
                "element_ids": list(node.element_ids),
                "superseded_by": node.superseded_by,
                "slot_id": slot.id if slot else None,
                "slot_name": slot.slot_name if slot else None,
            }
        )
    return rows


def edge_rows(edges: Iterable[KGEdge]) -> list[Row]:
    """Relations of the surface graph with their quotes."""
    return [
        {
            "id": edge.id,
            "source_id": edge.source_id,
            "target_id": edge.target_id,
            "edge_type": edge.edge_type,
            "confidence": edge.confidence,
            "basis": edge.basis,
            "skips": edge.skips,
            "stance": edge.stance,
            "created_turn": edge.created_turn,
            "quotes": [mention.model_dump() for mention in edge.mentions],
            "source_utterance_ids": list(edge.source_utterance_ids),
        }
        for edge in edges
    ]


def amended_ids(state: InterviewState) -> frozenset[str]:
    """Ids of the answers that the respondent has amended, so that they count no more."""
    return frozenset(u.corrects for u in state.utterances if u.corrects)


def quote_rows(material: Material) -> list[Row]:
    """What was quoted for concepts and relations; `retracted` where it counts no more."""
    state = material.state
    amended, gone = amended_ids(state), {node.id for node in state.nodes if node.superseded_by} | material.retracted
    return [
        {
            "element": kind,
            "element_id": item["id"],
            **quote,
            "retracted": item["id"] in gone or quote["utterance_id"] in amended,
        }
        for kind, rows in (("node", node_rows(state, material.configuration)), ("edge", edge_rows(material.edges)))
        for item in rows
        for quote in item["quotes"]
    ]


def action_words(action: Row) -> str:
    """What a moderator did, in words: who, when, which turn it applied to, what."""
    details = {name: value for name, value in (action.get("details") or {}).items() if value not in (None, "")}
    text = details.pop("text", None) or details.pop("question", None)
    told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in sorted(details.items()))
    what = " ".join(part for part in (str(action["action"]).replace("_", " "), told and f"({told})") if part)
    who = f"{action.get('recorded_at') or ''} · {action.get('moderator') or 'moderator'} · turn {action['turn_number']}"
    return f"{who.strip(' ·')} · {what}" + (f": “{text}”" if text else "")


def tension_rows(state: InterviewState) -> list[Row]:
    """Statements for which the methodology's schema has no type."""
    return [tension.model_dump(mode="json") for tension in state.tensions]


def slot_rows(state: InterviewState, only: Collection[str] | None = None) -> list[Row]:
    """Canonical slots with the surface nodes mapped to them; those of `only` if it is given."""
    members: dict[str, list[Row]] = {}
    for m in state.mappings:
        one = {"id": m.surface_node_id, "similarity": m.similarity, "assigned_turn": m.assigned_turn}
        members.setdefault(m.canonical_slot_id, []).append(one)
    return [
        {**slot.model_dump(mode="json"), "surface_nodes": members.get(slot.id, [])}
        for slot in state.slots
        if only is None or slot.id in only
    ]


def usage_view(material: Material) -> Row:
    """The calls of language models and their cost, in sum and call by call."""
    return {
        "session_id": material.state.session_id,
        **material.usage.model_dump(),
        "items": list(material.calls),
    }

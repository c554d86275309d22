"""Knows every answer sent and every event received, and compares them with what was stored."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.state import InterviewState
from server.hot.packing import unpack
from tests.chaos.respondent import Conversation
from tests.support.engine_turns import differences


def complaints(database: Path, conversations: Sequence[Conversation]) -> list[str]:
    """Everything in the store that contradicts what respondents saw; empty when all is well."""
    found: list[str] = []
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        for conversation in conversations:
            found += [f"{conversation.session_id}: {text}" for text in _of_session(store, conversation)]
        found += _choices(store)
        dead = store.execute("select count(*) from journal_dead").fetchone()[0]
        if dead:
            found.append(f"{dead} dead letters")
    return found


def _of_session(store: sqlite3.Connection, conversation: Conversation) -> list[str]:
    found: list[str] = []
    sid = conversation.session_id
    if store.execute("select count(*) from sessions where id = ?", (sid,)).fetchone()[0] != 1:
        return ["the session is not in the store"]
    rows = store.execute(
        "select turn_number, speaker, kind, text from utterances where session_id = ? order by turn_number", (sid,)
    ).fetchall()
    said = Counter(text for _, speaker, _, text in rows if speaker == "respondent")
    for turn_key, text in conversation.answers.items():
        if turn_key in conversation.completed and said[text] != 1:
            found.append(f"answer {text!r} is stored {said[text]} times")
        if turn_key not in conversation.completed and said[text] > 1:
            found.append(f"unfinished answer {text!r} is stored {said[text]} times")
    unknown = set(said) - set(conversation.answers.values())
    if unknown:
        found.append(f"answers nobody gave: {unknown}")
    stored = dict(store.execute("select turn_key, status from answers where session_id = ?", (sid,)).fetchall())
    for turn_key in conversation.completed:
        if stored.get(turn_key) != "committed":
            found.append(f"turn {turn_key} completed, but its answer is {stored.get(turn_key)}")
    questions = {turn: text for turn, speaker, _, text in rows if speaker == "interviewer"}
    for event in conversation.events.values():
        if event["type"] == "question.completed" and questions.get(event["turn_number"]) != event["text"]:
            found.append(f"question of turn {event['turn_number']} differs from the stored one")
    ids = sorted(conversation.events)
    if ids != list(range(1, len(ids) + 1)):
        found.append(f"events are not 1 to {len(ids)}: {ids}")
    turns = [turn for turn, speaker, _, _ in rows if speaker == "respondent"]
    if turns != list(range(1, len(turns) + 1)):
        found.append(f"stored turns are {turns}")
    count, scored = store.execute(
        "select (select turn_count from sessions where id = ?), "
        "(select count(*) from scoring_history where session_id = ?)",
        (sid, sid),
    ).fetchone()
    if count != len(turns) or scored != len(turns):
        found.append(f"{len(turns)} answers, turn_count {count}, {scored} decisions")
    return found


def _choices(store: sqlite3.Connection) -> list[str]:
    """Make every stored choice again from all that was stored of it, with the engine of its session."""
    store.row_factory = sqlite3.Row
    configurations: dict[str, SessionConfiguration] = {}
    states: dict[str, InterviewState] = {}
    found: list[str] = []
    for row in store.execute(
        "select s.*, g.matrix as signals, c.content as content, p.state as packed from scoring_history s "
        "join signals g on g.session_id = s.session_id and g.turn_number = s.turn_number "
        "join session_snapshots p on p.session_id = s.session_id "
        "join sessions e on e.id = s.session_id join configurations c on c.hash = e.config_hash"
    ).fetchall():
        session_id, content = row["session_id"], row["content"]
        record = _record(row)
        if not record.candidates:
            continue
        if content not in configurations:
            configurations[content] = SessionConfiguration.model_validate_json(content)
        if session_id not in states:
            states[session_id] = InterviewState.load(unpack(row["packed"]))
        wrong = differences(states[session_id], record, configurations[content])
        found += [f"{session_id} turn {record.turn_number}: {text}" for text in wrong]
    return found


def _record(row: sqlite3.Row) -> TurnRecord:
    """The record of a turn, as its row has it."""
    stored = {name: row[name] for name in TurnRecord.model_fields if name in set(row.keys()) and row[name] is not None}
    texts = ("turn_key", "recorded_at", "strategy", "node_key", "node_id", "phase", "reason", "tactic")
    values = {name: json.loads(v) if isinstance(v, str) and name not in texts else v for name, v in stored.items()}
    empty = dict.fromkeys(("strategy", "node_key", "node_id", "phase", "depth_score", "saturation_score"))
    return TurnRecord.model_validate_json(json.dumps({**empty, **values}))


def decisions(database: Path) -> int:
    """How many stored choices there are to recompute."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        return int(store.execute("select count(*) from scoring_history where candidates != '[]'").fetchone()[0])

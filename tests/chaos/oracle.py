"""Knows every answer sent and every event received, and compares them with what was stored."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pipeline.concept import SessionConfiguration
from pipeline.contracts import StoredInputs
from pipeline.engines.base import DecisionInputs
from pipeline.engines.registry import ENGINES
from pipeline.signals.base import SignalMatrix
from tests.chaos.respondent import Conversation


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
    """Make every stored choice again from its stored signals."""
    found: list[str] = []
    configurations: dict[str, SessionConfiguration] = {}
    rows = store.execute(
        "select s.session_id, s.turn_number, s.strategy, s.node_key, s.reason, s.candidates, s.inputs, g.matrix, "
        "c.content, e.engine "
        "from scoring_history s join signals g on g.session_id = s.session_id and g.turn_number = s.turn_number "
        "join sessions e on e.id = s.session_id join configurations c on c.hash = e.config_hash"
    ).fetchall()
    for session_id, turn, strategy, node_key, reason, candidates, inputs, matrix, content, engine in rows:
        stored = json.loads(candidates)
        if not stored:
            continue
        pinned = configurations.setdefault(content, SessionConfiguration.model_validate_json(content))
        again = ENGINES[engine].decide(
            DecisionInputs(
                methodology=pinned.methodology,
                signals=SignalMatrix.model_validate_json(matrix),
                topic=StoredInputs.model_validate_json(inputs).topic,
            )
        )
        if [c.model_dump(mode="json") for c in again.candidates] != stored:
            found.append(f"{session_id} turn {turn}: the decomposition can't be recomputed")
        if not reason and (again.strategy, again.node_key) != (strategy, node_key):
            found.append(f"{session_id} turn {turn}: {strategy} was stored, {again.strategy} comes out")
    return found


def decisions(database: Path) -> int:
    """How many stored choices there are to recompute."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        return int(store.execute("select count(*) from scoring_history where candidates != '[]'").fetchone()[0])

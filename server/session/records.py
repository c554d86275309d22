"""What a session's owner writes besides the state, as hot storage and journal keep it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.calls import LLMCall
from pipeline.ports import Vectors
from pipeline.turn import Answer, Outcome
from server.hot.values import Pending


def answer_payload(answer: Answer) -> bytes:
    """An answer as it is kept until its turn is committed."""
    kept: dict[str, Any] = {
        "turn_key": answer.turn_key,
        "kind": answer.kind,
        "text": answer.text,
        "corrects": answer.corrects,
    }
    if answer.spoken:
        kept |= {"spoken": True, "confidence": answer.confidence, "speech_ms": answer.speech_ms}
    return json.dumps(kept, ensure_ascii=False).encode()


def answer_of(pending: Pending) -> Answer:
    """The answer that `answer_payload` wrote."""
    return Answer(**json.loads(pending.payload))


def turn_record(outcome: Outcome, calls: Sequence[LLMCall] = (), moderator: Mapping[str, Any] | None = None) -> bytes:
    """What the store gets of a turn besides the state: the decisions, what language models were asked, and what a
    moderator did that took effect in it.
    """
    record: dict[str, Any] = {"turn": outcome.record.model_dump(mode="json")} if outcome.record is not None else {}
    return record_of({**record, "moderator": moderator} if moderator else record, calls)


def calls_record(calls: Sequence[LLMCall], turn_number: int) -> bytes:
    """What the store gets of calls that no turn carries."""
    return record_of({"turn_number": turn_number}, calls)


def packed_vectors(embeddings: Mapping[str, Vectors]) -> dict[str, bytes]:
    """Vectors as they are kept: float32, as bytes."""
    return {name: np.asarray(vector, dtype=np.float32).tobytes() for name, vector in embeddings.items()}


def record_of(value: Mapping[str, Any], calls: Sequence[LLMCall] = ()) -> bytes:
    """A record as the journal keeps it. Names in `calls` may be a provider's own words, so any text is taken."""
    if calls:
        value = {**value, "calls": [call.model_dump(mode="json") for call in calls]}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

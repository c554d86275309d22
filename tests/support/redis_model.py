"""What accept, commit, fail, note and claim must do, written down a second time without a server.

An operation is a tuple of its name and arguments; `random_operations` makes sequences, `play` runs one against a real
store and compares every outcome and what is left at the end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from server.hot.errors import HotError
from server.hot.journal import START, Journal
from server.hot.redis import HotStore
from server.hot.values import Accepted, AlreadyPending

Operation = tuple[str, ...]
OWNERS = ("anna", "bert")
KEYS = ("k1", "k2", "k3")
TEXTS = ("tea", "coffee")


@dataclass
class Model:
    """One session as it should be."""

    owner: str = ""
    rev: int = 0
    pending: tuple[str, str, int, bool] | None = None
    committed: dict[str, tuple[str, int]] = field(default_factory=dict)
    commands: dict[str, int] = field(default_factory=dict)
    superseded: set[str] = field(default_factory=set)
    events: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    believed_rev: dict[str, int] = field(default_factory=dict)

    def claim(self, owner: str) -> str:
        self.owner = owner
        self.believed_rev[owner] = self.rev
        return "ok"

    def misremember(self, owner: str) -> str:
        """The owner goes on from one revision too early, as after a race between two of its tasks."""
        self.believed_rev[owner] = max(0, self.believed_rev.get(owner, 0) - 1)
        return "ok"

    def accept(self, owner: str, key: str, text: str, rerun: bool) -> str:
        if key in self.committed:
            return "already_committed" if self.committed[key][0] == text else "TurnKeyReused"
        if key in self.superseded:
            return "AnswerSuperseded"
        if owner != self.owner:
            return "NotOwner"
        if self.believed_rev.get(owner, 0) != self.rev:
            return "Conflict"
        attempt = 1
        if self.pending is not None:
            pending_key, pending_text, last_attempt, failed = self.pending
            if key == pending_key and text != pending_text:
                return "TurnKeyReused"
            if key != pending_key and not failed:
                return "TurnInProgress"
            if key == pending_key and not failed and not rerun:
                return "already_pending"
            if key == pending_key:
                attempt = last_attempt + 1
            else:
                self.superseded.add(pending_key)
        self.pending = (key, text, attempt, False)
        if attempt == 1:
            self.events.append(f"heard {key}")
        self.events.append(f"started {key} {attempt}")
        return f"accepted {attempt}"

    def commit(self, owner: str, key: str, mode: str) -> str:
        done = self.committed.get(key, ("", -1))[1] if mode == "turn" else self.commands.get(key, -1)
        if done >= 0:
            return f"committed {done}"
        if owner != self.owner:
            return "NotOwner"
        if self.believed_rev.get(owner, 0) != self.rev:
            return "Conflict"
        if mode == "turn":
            if self.pending is None or self.pending[0] != key or self.pending[3]:
                return "Conflict"
            self.committed[key] = (self.pending[1], self.rev + 1)
            self.pending = None
        else:
            self.commands[key] = self.rev + 1
            if mode == "drop" and self.pending is not None:
                self.superseded.add(self.pending[0])
                self.pending = None
        self.rev += 1
        self.believed_rev[owner] = self.rev
        self.events.append(f"completed {key} {self.rev}")
        return f"committed {self.rev}"

    def fail(self, owner: str, key: str) -> str:
        if owner != self.owner:
            return "NotOwner"
        if self.pending is None or self.pending[0] != key or self.pending[3]:
            return "Conflict"
        self.pending = (*self.pending[:3], True)
        self.events.append(f"failed {key}")
        return "failed"

    def note(self, owner: str, text: str, owned: bool) -> str:
        if owned and owner != self.owner:
            return "NotOwner"
        self.notes.append(f"{self.rev} {text}")
        return "noted"


def random_operations(seed: int, length: int) -> list[Operation]:
    """A sequence in which most steps are possible and some are not."""
    random = Random(seed)
    operations: list[Operation] = [("claim", "anna")]
    for _ in range(length):
        owner, key, text = random.choice(OWNERS), random.choice(KEYS), random.choice(TEXTS)
        operations.append(
            random.choices(
                [
                    ("claim", owner),
                    ("misremember", owner),
                    ("accept", owner, key, text, random.choice(("", "rerun"))),
                    ("commit", owner, key, random.choice(("turn", "turn", "turn", "keep", "drop"))),
                    ("fail", owner, key),
                    ("note", owner, text, random.choice(("owned", ""))),
                ],
                weights=(3, 1, 12, 10, 4, 2),
            )[0]
        )
    return operations


async def play(store: HotStore, session_id: str, operations: Sequence[Operation]) -> None:
    """Run the operations and compare.

    Raises:
        AssertionError: the store did something else than the model.
    """
    model = Model()
    await store.create(session_id, state=b"rev 0")
    for operation in operations:
        before = dict(model.believed_rev)
        expected = _expected(model, operation)
        found = await _done(store, session_id, operation, before)
        assert found == expected, f"{operation}: expected {expected}, found {found}"
    await _compare(store, session_id, model)


def _expected(model: Model, operation: Operation) -> str:
    match operation:
        case ("claim", owner):
            return model.claim(owner)
        case ("misremember", owner):
            return model.misremember(owner)
        case ("accept", owner, key, text, rerun):
            return model.accept(owner, key, text, bool(rerun))
        case ("commit", owner, key, mode):
            return model.commit(owner, key, mode)
        case ("fail", owner, key):
            return model.fail(owner, key)
        case ("note", owner, text, owned):
            return model.note(owner, text, bool(owned))
    raise ValueError(operation)


async def _done(store: HotStore, session_id: str, operation: Operation, revs: dict[str, int]) -> str:
    rev = revs.get(operation[1], 0)
    try:
        match operation:
            case ("claim", owner):
                await store.claim(session_id, owner)
                return "ok"
            case ("misremember", _):
                return "ok"
            case ("accept", owner, key, text, rerun):
                done = await store.accept(
                    session_id,
                    owner=owner,
                    rev=rev,
                    turn_key=key,
                    payload=text.encode(),
                    digest=text,
                    turn_number=rev + 1,
                    event={"is": f"started {key}"},
                    first=[{"is": f"heard {key}"}],
                    rerun=bool(rerun),
                )
                if isinstance(done, Accepted):
                    return f"accepted {done.attempt}"
                return "already_pending" if isinstance(done, AlreadyPending) else "already_committed"
            case ("commit", owner, key, mode):
                committed = await store.commit(
                    session_id,
                    owner=owner,
                    rev=rev,
                    turn_key=key,
                    state=f"rev {rev + 1}".encode(),
                    events=[{"is": f"completed {key} {rev + 1}"}],
                    keep_pending=mode == "keep",
                    drop_pending=mode == "drop",
                )
                return f"committed {committed.rev}"
            case ("fail", owner, key):
                await store.fail(session_id, owner=owner, turn_key=key, event={"is": f"failed {key}"})
                return "failed"
            case ("note", owner, text, owned):
                await store.note(session_id, owner=owner if owned else None, record=text.encode())
                return "noted"
    except HotError as error:
        return type(error).__name__
    raise ValueError(operation)


async def _compare(store: HotStore, session_id: str, model: Model) -> None:
    session = await store.read(session_id)
    assert (session.rev, session.owner) == (model.rev, model.owner)
    assert session.state == f"rev {model.rev}".encode()
    pending = session.pending
    found = (pending.turn_key, pending.payload.decode(), pending.attempt, pending.failed) if pending else None
    assert found == model.pending
    events = await store.events_after(session_id, 0)
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    texts = [e.data["is"] + (f" {e.data['attempt']}" if "attempt" in e.data else "") for e in events]
    assert texts == model.events, json.dumps(texts)
    journal = Journal(store.connection)
    records = await journal.read(store.keys.partition_of(session_id), START, count=10_000)
    mine = [record for record in records if record.session_id == session_id]
    assert [r.rev for r in mine if r.kind == "commit"] == list(range(1, model.rev + 1))
    assert [f"{r.rev} {r.data.decode()}" for r in mine if r.kind == "note"] == model.notes
    assert {r.turn_key for r in mine if r.kind == "superseded"} == model.superseded
    assert sorted(r.turn_key for r in mine if r.kind == "commit" and r.mode == "turn") == sorted(model.committed)

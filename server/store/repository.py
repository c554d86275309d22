"""What the API asks of the store. Rows are dictionaries by column name; moments have a time zone."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Table, and_, case, func, or_, select, update

from pipeline.concept import SessionConfiguration
from server.auth import TokenEntry, TokenKind
from server.hot.packing import unpack
from server.hot.values import Pending, StoredReceipt
from server.store.apply import upsert
from server.store.errors import StoreUnavailable
from server.store.overview import MAX_PAGE, SUMMARY, OverviewReads, found_by
from server.store.rows import Row, table_of
from server.store.tables import (
    AnswerRow,
    CanonicalEdgeRow,
    ConfigurationRow,
    ConsentRow,
    DeadRow,
    EdgeRow,
    LLMCallRow,
    MappingRow,
    ModeratorActionRow,
    NodeRow,
    ScoringRow,
    SessionRow,
    SignalsRow,
    SlotRow,
    SnapshotRow,
    TensionRow,
    TokenRow,
    UtteranceRow,
)
from server.usage import SUMMED, SessionUsage, session_usage

_SESSIONS, _ANSWERS, _SNAPSHOTS = table_of(SessionRow), table_of(AnswerRow), table_of(SnapshotRow)
_TOKENS, _CONFIGURATIONS, _DEAD = table_of(TokenRow), table_of(ConfigurationRow), table_of(DeadRow)
_CALLS = table_of(LLMCallRow)

UNFINISHED = ("created", "active", "paused", "closing")
_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class StoredSession:
    """What a session can be made hot again from: its state at `rev`, an answer that waits, answers that are known."""

    state: bytes
    rev: int
    pending: Pending | None = None
    receipts: tuple[StoredReceipt, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, newest first, and where the next page begins; None on the last one."""

    items: tuple[Row, ...]
    next_cursor: str | None


class Repository(OverviewReads):
    """Reads for the API, configurations and tokens.

    Args:
        database: the store.
    """

    async def sessions(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        state: str | None = None,
        concept_id: str | None = None,
        concepts: frozenset[str] | None = None,
        text: str | None = None,
    ) -> SessionPage:
        """Sessions, newest first; with `text`, each has `match`: a piece of what was said with the text in it, or None.

        Args:
            cursor: of the page before.
            limit: how many at most, up to MAX_PAGE.
            state: only those in this state.
            concept_id: only those of this concept.
            concepts: only those of these concepts; None for all.
            text: only those whose concept, respondent's reference or words have it in them, or whose id begins so.

        Raises:
            ValueError: the cursor is not one of ours.
        """
        limit = max(1, min(limit, MAX_PAGE))
        table = _SESSIONS
        query = select(*(table.c[name] for name in SUMMARY)).order_by(table.c.created_at.desc(), table.c.id.desc())
        if state is not None:
            query = query.where(table.c.state == state)
        if concept_id is not None:
            query = query.where(table.c.concept_id == concept_id)
        if concepts is not None:
            query = query.where(table.c.concept_id.in_(sorted(concepts)))
        if text is not None:
            query = query.where(found_by(text))
        if cursor is not None:
            created_at, session_id = _from_cursor(cursor)
            same = and_(table.c.created_at == created_at, table.c.id < session_id)
            query = query.where(or_(table.c.created_at < created_at, same))
        rows = await self._rows(query.limit(limit + 1))
        more = len(rows) > limit
        page = rows[:limit]
        if text is not None:
            said = await self.matches([row["id"] for row in page], text)
            page = [{**row, "match": said.get(row["id"])} for row in page]
        return SessionPage(tuple(page), _to_cursor(page[-1]) if more else None)

    async def session(self, session_id: str) -> Row | None:
        """Everything the sessions table knows of one session."""
        rows = await self._rows(select(_SESSIONS).where(_SESSIONS.c.id == session_id))
        return rows[0] if rows else None

    async def exists(self, session_id: str) -> bool:
        """Whether anything of the session is stored."""
        for table, column in ((_SESSIONS, "id"), (_TOKENS, "session_id"), (_DEAD, "session_id")):
            if await self._rows(select(table.c[column]).where(table.c[column] == session_id).limit(1)):
                return True
        return False

    async def transcript(self, session_id: str) -> list[Row]:
        """Utterances in order."""
        return await self._below(table_of(UtteranceRow), session_id, "position")

    async def graph(self, session_id: str) -> dict[str, list[Row]]:
        """The surface graph: `nodes`, `edges` and `tensions`, in order of creation."""
        return {
            "nodes": await self._below(table_of(NodeRow), session_id, "sequence"),
            "edges": await self._below(table_of(EdgeRow), session_id, "sequence"),
            "tensions": await self._below(table_of(TensionRow), session_id, "position"),
        }

    async def canonical_graph(self, session_id: str) -> dict[str, list[Row]]:
        """The canonical graph: `slots`, `mappings` and `edges`."""
        return {
            "slots": await self._below(table_of(SlotRow), session_id, "first_seen_turn", "id"),
            "mappings": await self._below(table_of(MappingRow), session_id, "assigned_turn", "surface_node_id"),
            "edges": await self._below(table_of(CanonicalEdgeRow), session_id, "id"),
        }

    async def scores(self, session_id: str) -> list[Row]:
        """What was decided in each turn, oldest first; `signals` is the turn's signal matrix, if it had one."""
        rows = await self._below(table_of(ScoringRow), session_id, "turn_number")
        matrices = {
            row["turn_number"]: row["matrix"]
            for row in await self._below(table_of(SignalsRow), session_id, "turn_number")
        }
        return [{**row, "signals": matrices.get(row["turn_number"])} for row in rows]

    async def llm_calls(self, session_id: str) -> list[Row]:
        """Calls of language models, oldest first."""
        return await self._below(_CALLS, session_id, "recorded_at", "ordinal", "id")

    async def usage(self, session_id: str) -> SessionUsage:
        """What language models were asked in a session and what it cost, summed by the database."""
        c = _CALLS.c
        # A call that failed before anything was counted cost nothing; of all others without a cost none is known.
        unpriced = c.cost.is_(None) & ((c.outcome != "failed") | c.input_tokens.is_not(None))
        sums = (
            select(
                c.role,
                c.currency,
                func.count().label("calls"),
                func.count(case((c.outcome == "failed", 1))).label("failed"),
                func.count(case((c.outcome == "discarded", 1))).label("discarded"),
                func.count(case((unpriced, 1))).label("unpriced_calls"),
                *(func.coalesce(func.sum(c[name]), 0).label(name) for name in SUMMED),
                func.sum(c.cost).label("cost"),
            )
            .where(c.session_id == session_id)
            .group_by(c.role, c.currency)
            .order_by(c.role, c.currency)
        )
        said = table_of(UtteranceRow).c
        questions = select(func.count().label("count")).where(said.session_id == session_id, said.fallback)
        scoring = table_of(ScoringRow).c
        turns = select(scoring.fallbacks).where(scoring.session_id == session_id)
        return session_usage(
            await self._rows(sums),
            fallback_questions=(await self._rows(questions))[0]["count"],
            fallback_tasks=[task for row in await self._rows(turns) for task in row["fallbacks"]],
        )

    async def moderator_actions(self, session_id: str) -> list[Row]:
        """What moderators did, oldest first."""
        return await self._below(table_of(ModeratorActionRow), session_id, "recorded_at", "command_id")

    async def consents(self, session_id: str) -> list[Row]:
        """What the respondent agreed to, oldest first."""
        return await self._below(table_of(ConsentRow), session_id, "given_at")

    async def answers(self, session_id: str) -> list[Row]:
        """Accepted answers under their turn keys, oldest first; `payload` and `receipt` are bytes."""
        return await self._below(_ANSWERS, session_id, "accepted_at", "turn_number")

    async def stored_session(self, session_id: str) -> StoredSession | None:
        """What a session can be continued from when hot storage has forgotten it; None when nothing is stored.

        Raises:
            StoreUnavailable: it can't be read.
        """
        rows = await self._rows(select(_SNAPSHOTS).where(_SNAPSHOTS.c.session_id == session_id))
        if not rows:
            return None
        try:
            state = unpack(rows[0]["state"])
        except ValueError as exc:
            raise StoreUnavailable(f"the snapshot of the session can't be read: {exc}") from exc
        pending: Pending | None = None
        receipts: list[StoredReceipt] = []
        for row in await self.answers(session_id):
            if row["status"] in ("pending", "failed"):
                pending = Pending(
                    turn_key=row["turn_key"],
                    payload=row["payload"],
                    digest=row["digest"],
                    attempt=row["attempt"],
                    failed=row["status"] == "failed",
                    turn_number=row["turn_number"],
                )
            else:
                superseded = row["status"] == "superseded"
                receipt = row["receipt"] or b""
                receipts.append(StoredReceipt(row["turn_key"], row["digest"], row["rev"], receipt, superseded))
        return StoredSession(state, rows[0]["rev"], pending, tuple(receipts))

    async def quiet_sessions(self, before: datetime, limit: int) -> list[str]:
        """Ids of sessions that could still go on and have not changed since `before`, quietest first."""
        table = _SESSIONS
        query = (
            select(table.c.id)
            .where(table.c.state.in_(UNFINISHED), table.c.updated_at < before)
            .order_by(table.c.updated_at)
            .limit(limit)
        )
        return [row["id"] for row in await self._rows(query)]

    async def dead_letters(self, limit: int = 100) -> list[Row]:
        """Journal records that could not be stored, latest first, without their content."""
        columns = [_DEAD.c[name] for name in ("partition", "id", "session_id", "kind", "rev", "error", "failed_at")]
        return await self._rows(select(*columns).order_by(_DEAD.c.failed_at.desc()).limit(limit))

    async def dead_letter_count(self) -> int:
        """How many journal records could not be stored."""
        return int((await self._rows(select(func.count().label("count")).select_from(_DEAD)))[0]["count"])

    async def session_counts(self) -> dict[str, int]:
        """Sessions by state."""
        query = select(_SESSIONS.c.state, func.count().label("count")).group_by(_SESSIONS.c.state)
        return {row["state"]: row["count"] for row in await self._rows(query)}

    async def save_configuration(self, config_hash: str, configuration: SessionConfiguration) -> None:
        """Keep a configuration under its content hash; keeping it again changes nothing."""
        row = {"hash": config_hash, "content": configuration.model_dump_json(), "created_at": datetime.now(UTC)}
        async with self.database.write() as connection:
            await upsert(connection, _CONFIGURATIONS, [row], keep=True)

    async def load_configuration(self, config_hash: str) -> SessionConfiguration | None:
        """The configuration with this content hash."""
        rows = await self._rows(select(_CONFIGURATIONS.c.content).where(_CONFIGURATIONS.c.hash == config_hash))
        return SessionConfiguration.model_validate_json(rows[0]["content"]) if rows else None

    async def find_token(self, digest: str) -> TokenEntry | None:
        """The token with this hash, also if it was revoked."""
        return _token(await self._rows(select(_TOKENS).where(_TOKENS.c.digest == digest)))

    async def token_by_id(self, token_id: str) -> TokenEntry | None:
        """The token with this id, also if it was revoked."""
        return _token(await self._rows(select(_TOKENS).where(_TOKENS.c.id == token_id)))

    async def tokens(self) -> list[TokenEntry]:
        """Tokens of moderators and devices, newest first, also revoked ones."""
        query = select(_TOKENS).where(_TOKENS.c.kind != "respondent").order_by(_TOKENS.c.created_at.desc())
        return [entry for row in await self._rows(query) if (entry := _token([row])) is not None]

    async def put_token(self, entry: TokenEntry) -> None:
        """Keep a new token."""
        row = {
            "id": entry.id,
            "kind": entry.kind,
            "digest": entry.digest,
            "name": entry.name,
            "session_id": entry.session_id,
            "concepts": None if entry.concepts is None else list(entry.concepts),
            "created_at": entry.created_at,
            "revoked_at": entry.revoked_at,
        }
        async with self.database.write() as connection:
            await upsert(connection, _TOKENS, [row])

    async def revoke_token(self, token_id: str, at: datetime) -> bool:
        """End a token; whether there was such a token. The first end counts."""
        known = _TOKENS.c.id == token_id
        async with self.database.write() as connection:
            statement = update(_TOKENS).where(known, _TOKENS.c.revoked_at.is_(None)).values(revoked_at=at)
            ended = (await connection.execute(statement)).rowcount
            found = (await connection.execute(select(_TOKENS.c.id).where(known))).one_or_none()
        return bool(ended) or found is not None

    async def _below(self, table: Table, session_id: str, *order: str) -> list[Row]:
        query = select(table).where(table.c.session_id == session_id)
        return await self._rows(query.order_by(*(table.c[name] for name in order)))


def _to_cursor(row: Mapping[str, Any]) -> str:
    place = json.dumps([row["created_at"].isoformat(), row["id"]]).encode()
    return base64.urlsafe_b64encode(place).rstrip(b"=").decode()


def _from_cursor(cursor: str) -> tuple[datetime, str]:
    try:
        created_at, session_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment = datetime.fromisoformat(created_at)
        if moment.tzinfo is None or not _SESSION_ID.fullmatch(session_id):
            raise ValueError("not what `_to_cursor` writes")
        return moment.astimezone(UTC), session_id
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as exc:
        raise ValueError("this is not a cursor of a list of sessions") from exc


def _token(rows: list[Row]) -> TokenEntry | None:
    if not rows:
        return None
    row = rows[0]
    kind: TokenKind = row["kind"]
    concepts = None if row["concepts"] is None else tuple(row["concepts"])
    return TokenEntry(
        id=row["id"],
        kind=kind,
        digest=row["digest"],
        name=row["name"],
        session_id=row["session_id"],
        concepts=concepts,
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )

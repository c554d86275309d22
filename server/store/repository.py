"""What the server reads from the store, and the configurations and tokens that it keeps there.

Rows are dictionaries by column name; moments have a time zone.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, case, delete, func, or_, select, update

from pipeline.concept import SessionConfiguration
from pipeline.conduct.state import ConductState
from pipeline.engines.base import in_terms
from pipeline.outcome import HELD_BACK
from pipeline.state import UNFINISHED, is_session_id
from server.hot.packing import unpack
from server.hot.values import Pending, StoredReceipt
from server.store.engine import Database
from server.store.errors import StoreUnavailable
from server.store.tables import (
    ANSWERS,
    CONFIGURATIONS,
    DEAD_RECORDS,
    LLM_CALLS,
    LOGINS,
    MODERATOR_ACTIONS,
    SCORING,
    SESSIONS,
    SIGNALS,
    SNAPSHOTS,
    TOKENS,
    UTTERANCES,
    Row,
)
from server.store.tokens import LoginEntry, TokenEntry
from server.store.upserting import upsert
from server.usage import SUMMED, SessionUsage, session_usage

MAX_PAGE = 200
MAX_MATCH = 160
MOST_LOGINS = 100
"""Of one token at the same time; whoever shares a token in a team has one each."""
"""Length of the excerpt that is shown of an utterance which a search found, in characters."""

_SUMMARY = (
    *("id", "concept_id", "concept_name", "methodology", "engine", "language", "max_turns", "respondent_ref"),
    *("pilot", "state", "state_reason", "rev", "turn_count", "node_count", "edge_count", "created_at", "updated_at"),
    *("device", "eligibility"),
)
_OVERVIEW = (
    *_SUMMARY,
    *("paused_by", "claimed_by", "question", "depths", "engagements", "phase", "saturation_score"),
)


@dataclass(frozen=True, slots=True)
class StoredSession:
    """What hot storage is filled from again: the state at `rev`, an answer that waits, answers that are known."""

    state: bytes
    rev: int
    pending: Pending | None = None
    receipts: tuple[StoredReceipt, ...] = ()
    token: bytes = b""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, newest first, and where the next page begins; None on the last one."""

    items: tuple[Row, ...]
    next_cursor: str | None


class Repository:
    """Reads sessions for the API and the moderators' page; keeps configurations and tokens.

    Args:
        database: the store.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

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
        """Sessions, newest first; with `text`, each has `match`: an excerpt of an utterance that contains it, or None.

        Args:
            cursor: of the page before.
            limit: how many at most, up to MAX_PAGE.
            state: only those in this state.
            concept_id: only those of this concept.
            concepts: only those of these concepts; None for all.
            text: only those whose concept, respondent's reference or utterances contain it, or whose id begins with it.

        Raises:
            ValueError: the cursor was not returned by this method.
        """
        limit = max(1, min(limit, MAX_PAGE))
        c = SESSIONS.c
        query = select(*(c[name] for name in _SUMMARY)).where(*_about(concept_id, concepts))
        if state is not None:
            query = query.where(c.state == state)
        if text is not None:
            query = query.where(_found_by(text))
        if cursor is not None:
            created_at, session_id = _from_cursor(cursor)
            same = and_(c.created_at == created_at, c.id < session_id)
            query = query.where(or_(c.created_at < created_at, same))
        rows = await self.database.rows(query.order_by(c.created_at.desc(), c.id.desc()).limit(limit + 1))
        page = rows[:limit]
        if text is not None:
            matches = await self._matches([row["id"] for row in page], text)
            page = [{**row, "match": matches.get(row["id"])} for row in page]
        return SessionPage(tuple(page), _to_cursor(page[-1]) if len(rows) > limit else None)

    async def overview(
        self,
        *,
        states: Collection[str],
        concept_id: str | None = None,
        concepts: frozenset[str] | None = None,
        limit: int = 1000,
    ) -> tuple[list[Row], int]:
        """Sessions with what an overview shows of them (`last_answer` too), those changed last first, and how many
        there are.

        Args:
            states: only those in one of these.
            concept_id: only those of this concept.
            concepts: only those of these concepts; None for all.
            limit: how many rows at most.
        """
        c, said = SESSIONS.c, UTTERANCES.c
        wanted = [c.state.in_(sorted(states)), *_about(concept_id, concepts)]
        last_answer = (
            select(said.text)
            .where(said.session_id == c.id, said.speaker == "respondent", said.text != "")
            .order_by(said.position.desc())
            .limit(1)
            .scalar_subquery()
        )
        columns = [*(c[name] for name in _OVERVIEW), last_answer.label("last_answer")]
        query = select(*columns).where(*wanted).order_by(c.updated_at.desc(), c.id.desc())
        found: list[Row] = []
        while len(found) < limit:
            page = await self.database.rows(query.limit(min(MAX_PAGE, limit - len(found))).offset(len(found)))
            found += page
            if len(page) < MAX_PAGE:
                break
        count = select(func.count()).select_from(SESSIONS).where(*wanted)
        return found, await self.database.scalar(count)

    async def scores(self, session_id: str) -> list[Row]:
        """The decision of each turn, oldest first; `signals` is the turn's signal matrix, None if it had none."""
        rows = await self._below(SCORING, session_id, "turn_number")
        matrices = {row["turn_number"]: row["matrix"] for row in await self._below(SIGNALS, session_id, "turn_number")}
        return [
            {
                **row,
                "candidates": [in_terms(one) if "base_score" in one else one for one in row["candidates"]],
                "signals": matrices.get(row["turn_number"]),
            }
            for row in rows
        ]

    async def latest_signals(self, session_id: str) -> Row | None:
        """The signal matrix of the latest turn that has one."""
        query = select(SIGNALS.c.matrix).where(SIGNALS.c.session_id == session_id)
        found: Row | None = await self.database.scalar(query.order_by(SIGNALS.c.turn_number.desc()).limit(1))
        return found

    async def llm_calls(self, session_id: str) -> list[Row]:
        """Calls of language models, oldest first."""
        return await self._below(LLM_CALLS, session_id, "recorded_at", "ordinal", "id")

    async def usage(self, session_id: str) -> SessionUsage:
        """What language models were asked in a session and what it cost, summed by the database."""
        c = LLM_CALLS.c
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
        questions = select(func.count()).where(UTTERANCES.c.session_id == session_id, UTTERANCES.c.fallback)
        turns = select(SCORING.c.fallbacks).where(SCORING.c.session_id == session_id)
        return session_usage(
            await self.database.rows(sums),
            fallback_questions=await self.database.scalar(questions),
            fallback_tasks=[task for row in await self.database.rows(turns) for task in row["fallbacks"]],
        )

    async def moderator_actions(self, session_id: str) -> list[Row]:
        """What moderators did, oldest first."""
        return await self._below(MODERATOR_ACTIONS, session_id, "recorded_at", "command_id")

    async def stored_session(self, session_id: str) -> StoredSession | None:
        """What a session can be continued from when hot storage has forgotten it; None when nothing is stored.

        Raises:
            StoreUnavailable: it can't be read.
        """
        rows = await self.database.rows(select(SNAPSHOTS).where(SNAPSHOTS.c.session_id == session_id))
        if not rows:
            return None
        try:
            state = unpack(rows[0]["state"])
        except ValueError as exc:
            raise StoreUnavailable(f"the snapshot of the session can't be read: {exc}") from exc
        pending, receipts = None, []
        for row in await self._below(ANSWERS, session_id, "accepted_at", "turn_number"):
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
                receipts.append(
                    StoredReceipt(row["turn_key"], row["digest"], row["rev"], row["receipt"] or b"", superseded)
                )
        c = TOKENS.c
        tokens = await self._tokens((c.session_id == session_id) & (c.kind == "respondent") & c.revoked_at.is_(None))
        token = tokens[0].dump() if tokens else b""
        return StoredSession(state, rows[0]["rev"], pending, tuple(receipts), token)

    async def quiet_sessions(self, before: datetime, limit: int) -> list[str]:
        """Ids of sessions that could still go on and have not changed since `before`, quietest first."""
        c = SESSIONS.c
        query = select(c.id).where(c.state.in_(UNFINISHED), c.updated_at < before).order_by(c.updated_at).limit(limit)
        return [row["id"] for row in await self.database.rows(query)]

    async def unstarted_sessions(self, before: datetime, limit: int) -> list[str]:
        """Ids of sessions that were made before that time and in which nobody was ever asked anything, oldest first."""
        c = SESSIONS.c
        never_asked = and_(c.state.in_(("created", "abandoned")), c.turn_count == 0, c.question.is_(None))
        query = select(c.id).where(never_asked, c.updated_at < before).order_by(c.updated_at).limit(limit)
        return [row["id"] for row in await self.database.rows(query)]

    async def held_back(self, before: datetime, limit: int) -> list[str]:
        """Ids of sessions with somebody under age that were to be erased before that time and nobody released."""
        c = SESSIONS.c
        rows = await self.database.rows(select(c.id, c.conduct).where(c.state_reason == HELD_BACK).limit(limit))
        found = ((row["id"], ConductState.model_validate(row["conduct"])) for row in rows)
        return [
            session_id
            for session_id, conduct in found
            if conduct.held_back and conduct.held_until is not None and conduct.held_until < before
        ]

    async def dead_letter_count(self) -> int:
        """How many journal records could not be stored."""
        return int(await self.database.scalar(select(func.count()).select_from(DEAD_RECORDS)))

    async def save_configuration(self, config_hash: str, configuration: SessionConfiguration) -> None:
        """Keep a configuration under its content hash; keeping it again changes nothing."""
        row = {"hash": config_hash, "content": configuration.model_dump_json(), "created_at": datetime.now(UTC)}
        async with self.database.write() as connection:
            await upsert(connection, CONFIGURATIONS, [row], keep=True)

    async def load_configuration(self, config_hash: str) -> SessionConfiguration | None:
        """The configuration with this content hash."""
        content = await self.database.scalar(
            select(CONFIGURATIONS.c.content).where(CONFIGURATIONS.c.hash == config_hash)
        )
        return SessionConfiguration.model_validate_json(content) if content is not None else None

    async def find_token(self, digest: str) -> TokenEntry | None:
        """The token with this hash, also if it was revoked."""
        return next(iter(await self._tokens(TOKENS.c.digest == digest)), None)

    async def token_by_id(self, token_id: str) -> TokenEntry | None:
        """The token with this id, also if it was revoked."""
        return next(iter(await self._tokens(TOKENS.c.id == token_id)), None)

    async def tokens(self) -> list[TokenEntry]:
        """Tokens of moderators and devices, newest first, also revoked ones."""
        return await self._tokens(TOKENS.c.kind != "respondent")

    async def put_token(self, entry: TokenEntry) -> bool:
        """Keep a new token, unless the one it is made with has ended; whether it is kept."""
        async with self.database.write() as connection:
            if entry.created_by is not None:
                # The row stays locked, so that whoever ends it meanwhile finds the new token.
                maker = select(TOKENS.c.revoked_at).where(TOKENS.c.id == entry.created_by).with_for_update()
                row = (await connection.execute(maker)).one_or_none()
                if row is not None and row.revoked_at is not None:
                    return False
            await upsert(connection, TOKENS, [vars(entry)])
        return True

    async def revoke_token(self, token_id: str, at: datetime) -> tuple[str, ...]:
        """End a token, those that were made with it, those made with these and so on, and all their logins.

        Returns:
            The ids of all of them, none if there is no such token. The first end of each counts.
        """
        c = TOKENS.c
        async with self.database.write() as connection:
            found = await connection.execute(select(c.id).where(c.id == token_id))
            level = list(found.scalars())
            ended = dict.fromkeys(level)
            while level:
                await connection.execute(
                    update(TOKENS).where(c.id.in_(level), c.revoked_at.is_(None)).values(revoked_at=at)
                )
                made = await connection.execute(select(c.id).where(c.created_by.in_(level)))
                level = [one for one in made.scalars() if one not in ended]
                ended |= dict.fromkeys(level)
            await connection.execute(delete(LOGINS).where(LOGINS.c.token_id.in_(list(ended))))
        return tuple(ended)

    async def put_login(self, entry: LoginEntry) -> None:
        """Keep a new login; forget those that are over, and the oldest of a token that has more than MOST_LOGINS."""
        of_token = select(LOGINS.c.id).where(LOGINS.c.token_id == entry.token_id)
        too_many = of_token.order_by(LOGINS.c.created_at.desc()).offset(MOST_LOGINS - 1)
        async with self.database.write() as connection:
            await connection.execute(delete(LOGINS).where(LOGINS.c.expires_at <= entry.created_at))
            await connection.execute(delete(LOGINS).where(LOGINS.c.id.in_(too_many)))
            await upsert(connection, LOGINS, [vars(entry)])

    async def find_login(self, digest: str) -> LoginEntry | None:
        """The login whose cookie has this hash, also if it is over."""
        rows = await self.database.rows(select(LOGINS).where(LOGINS.c.digest == digest))
        return LoginEntry(**rows[0]) if rows else None

    async def end_login(self, login_id: str) -> None:
        """End a login."""
        async with self.database.write() as connection:
            await connection.execute(delete(LOGINS).where(LOGINS.c.id == login_id))

    async def _matches(self, session_ids: Collection[str], text: str) -> dict[str, str]:
        """By session: an excerpt of the first utterance that contains the text."""
        said = UTTERANCES.c
        query = (
            select(said.session_id, said.text)
            .where(said.session_id.in_(sorted(session_ids)), said.text.icontains(text, autoescape=True))
            .order_by(said.session_id, said.position)
        )
        found: dict[str, str] = {}
        for row in await self.database.rows(query):
            found.setdefault(row["session_id"], _excerpt(row["text"], text))
        return found

    async def _tokens(self, condition: ColumnElement[bool]) -> list[TokenEntry]:
        rows = await self.database.rows(select(TOKENS).where(condition).order_by(TOKENS.c.created_at.desc()))
        return [
            TokenEntry(**row | {"concepts": None if row["concepts"] is None else tuple(row["concepts"])})
            for row in rows
        ]

    async def _below(self, table: Table, session_id: str, *order: str) -> list[Row]:
        """The session's rows of a table that refers to `sessions`."""
        query = select(table).where(table.c.session_id == session_id)
        return await self.database.rows(query.order_by(*(table.c[name] for name in order)))


def _about(concept_id: str | None, concepts: frozenset[str] | None) -> list[ColumnElement[bool]]:
    """Conditions for the sessions of one concept, and of those that may be seen; None for any."""
    column = SESSIONS.c.concept_id
    found = [] if concept_id is None else [column == concept_id]
    return found if concepts is None else [*found, column.in_(sorted(concepts))]


def _found_by(text: str) -> ColumnElement[bool]:
    """Sessions whose concept, respondent's reference or utterances contain the text, or whose id begins with it."""
    c, said = SESSIONS.c, UTTERANCES.c
    spoken = select(said.session_id).where(said.text.icontains(text, autoescape=True))
    return or_(
        c.concept_id.icontains(text, autoescape=True),
        c.concept_name.icontains(text, autoescape=True),
        c.respondent_ref.icontains(text, autoescape=True),
        c.id.startswith(text, autoescape=True),
        c.id.in_(spoken),
    )


def _excerpt(whole: str, text: str) -> str:
    """The surroundings of the first occurrence of a text, cut to MAX_MATCH characters."""
    place = max(whole.casefold().find(text.casefold()), 0)
    start = max(0, min(place - (MAX_MATCH - len(text)) // 2, len(whole) - MAX_MATCH))
    piece = whole[start : start + MAX_MATCH]
    return ("…" if start else "") + piece + ("…" if start + MAX_MATCH < len(whole) else "")


def _to_cursor(row: Mapping[str, Any]) -> str:
    place = json.dumps([row["created_at"].isoformat(), row["id"]]).encode()
    return base64.urlsafe_b64encode(place).rstrip(b"=").decode()


def _from_cursor(cursor: str) -> tuple[datetime, str]:
    try:
        created_at, session_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment = datetime.fromisoformat(created_at)
        if moment.tzinfo is None or not is_session_id(session_id):
            raise ValueError("not what `_to_cursor` writes")
        return moment.astimezone(UTC), session_id
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as exc:
        raise ValueError("this is not a cursor of a list of sessions") from exc

"""Fills a store that lacks what was stored before, because it is new or an older one was put back, from hot storage.

Every hot session has its whole state there. Its decisions, signals and calls of language models were in the journal
alone, which is trimmed once it is stored; they can't be had again, and neither can sessions that are not hot any more.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import UTC, datetime

import structlog
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pipeline.state import InterviewState
from server.hot.errors import SessionErased, SessionNotHot
from server.hot.journal import Journal, JournalRecord, position_key
from server.hot.packing import unpack
from server.hot.redis import HotStore
from server.hot.values import HotCopy
from server.store.apply import Applier
from server.store.errors import RecordRefused
from server.store.tables import ANSWERS, CONFIGURATIONS, SCORING, SESSIONS, SNAPSHOTS, TOKENS
from server.store.tokens import TokenEntry
from server.store.upserting import upsert

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many sessions were filled in, and what of them is missing.

    Args:
        sessions: filled in.
        answers: in them.
        decisions: answers whose decision could not be restored.
        configurations: sessions without their configuration, which can't go on.
        tokens: sessions whose respondent's link does not work any more.
        refused: sessions that could not be filled in.
        erased: sessions that were erased once more.
    """

    sessions: int = 0
    answers: int = 0
    decisions: int = 0
    configurations: int = 0
    tokens: int = 0
    refused: int = 0
    erased: int = 0

    def __add__(self, other: Rebuilt) -> Rebuilt:
        return Rebuilt(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def __str__(self) -> str:
        restored = f"the store lacked what had been stored; {self.sessions} interviews with {self.answers} answers"
        missing = {
            "interviews that were refused": self.refused,
            "decisions and their signals": self.decisions,
            "configurations, without which an interview can't go on": self.configurations,
            "links of respondents": self.tokens,
        }
        named = [f"{count} {what}" for what, count in missing.items() if count]
        always = "tokens of moderators and devices, and interviews that had left hot storage"
        again = f"; {self.erased} erased interviews were erased again" if self.erased else ""
        return f"{restored} were restored from hot storage{again}; not restored: {', '.join([*named, always])}"


class Rebuilding:
    """Fills the store from hot storage.

    Args:
        hot: hot storage.
        journal: how far it was stored.
        applier: of the store.
    """

    def __init__(self, hot: HotStore, journal: Journal, applier: Applier) -> None:
        self._hot = hot
        self._journal = journal
        self._applier = applier

    async def fill(self, partition: int, position: str) -> tuple[str, Rebuilt | None]:
        """Fill in the sessions of a partition if records after its position have been stored and removed.

        Returns:
            The partition's position now, and what was filled in, None where nothing was missing.

        Raises:
            StorageUnavailable, StoreUnavailable: not now; filling in again begins anew.
            StalePosition: somebody else moved the position on.
        """
        stored = await self._journal.stored_up_to(partition)
        if position_key(stored) <= position_key(position):
            return position, None
        hot, erased = await self._hot.sessions_of(partition)
        found = Rebuilt()
        for session_id in erased:
            found += await self._erase(partition, position, session_id)
        for session_id in hot:
            try:
                copy = await self._hot.copy_of(session_id)
            except (SessionErased, SessionNotHot):
                continue
            found += await self._put(partition, position, copy)
        await self._applier.skip(partition, position, stored)
        return stored, found

    async def _erase(self, partition: int, position: str, session_id: str) -> Rebuilt:
        async with self._applier.database.write(patient=True) as connection:
            await self._applier.claim(connection, partition, position)
            known = await connection.scalar(select(SESSIONS.c.id).where(SESSIONS.c.id == session_id))
            if known is not None:
                await self._applier.erase(connection, session_id)
        return Rebuilt(erased=int(known is not None))

    async def _put(self, partition: int, position: str, copy: HotCopy) -> Rebuilt:
        try:
            state = InterviewState.load(unpack(copy.packed_state))
            async with self._applier.database.write(patient=True) as connection:
                await self._applier.claim(connection, partition, position)
                known = await connection.scalar(
                    select(SNAPSHOTS.c.rev).where(SNAPSHOTS.c.session_id == copy.session_id)
                )
                if known is not None and known > copy.rev:
                    return Rebuilt()
                await self._write(connection, partition, copy, state)
                has_token = await self._keep_token(connection, copy)
                has_configuration = await self._keep_configuration(connection, state.config_hash)
                scored = await connection.scalar(
                    select(func.count()).select_from(SCORING).where(SCORING.c.session_id == copy.session_id)
                )
        except (RecordRefused, ValueError) as exc:
            log.error("store.session_not_rebuilt", session=copy.session_id, reason=str(exc))
            return Rebuilt(refused=1)
        return Rebuilt(
            sessions=1,
            answers=state.turn_count,
            decisions=max(0, state.turn_count - int(scored or 0)),
            configurations=int(not has_configuration),
            tokens=int(not has_token),
        )

    async def _write(self, connection: AsyncConnection, partition: int, copy: HotCopy, state: InterviewState) -> None:
        """The rows that records of the session would have led to."""
        at = f"{int(state.updated_at.timestamp() * 1000)}-0"
        record = JournalRecord(
            partition, at, "commit", copy.session_id, copy.rev, mode="keep", packed_state=copy.packed_state
        )
        await self._applier.write(connection, record)
        given_up = [
            {
                "session_id": copy.session_id,
                "turn_key": turn_key,
                "turn_number": 0,
                "status": "superseded",
                "digest": digest,
                "attempt": 1,
                "rev": copy.rev,
                "payload": b"",
                "receipt": None,
                "error": None,
                "accepted_at": state.updated_at,
                "updated_at": state.updated_at,
            }
            for turn_key, digest in copy.superseded.items()
        ]
        await upsert(connection, ANSWERS, given_up, keep=True)
        pending = copy.pending
        if pending is not None:
            answer = JournalRecord(
                partition,
                at,
                "fail" if pending.failed else "accept",
                copy.session_id,
                copy.rev,
                turn_key=pending.turn_key,
                digest=pending.digest,
                turn_number=pending.turn_number,
                attempt=pending.attempt,
                payload=pending.payload,
            )
            await self._applier.write(connection, answer)

    async def _keep_token(self, connection: AsyncConnection, copy: HotCopy) -> bool:
        known = select(TOKENS.c.id).where(TOKENS.c.session_id == copy.session_id)
        if await connection.scalar(known.limit(1)) is not None:
            return True
        if not copy.token:
            return False
        try:
            entry = TokenEntry.load(copy.token, copy.session_id)
        except (ValueError, KeyError, TypeError):
            return False
        await upsert(connection, TOKENS, [vars(entry)], keep=True)
        return True

    async def _keep_configuration(self, connection: AsyncConnection, config_hash: str) -> bool:
        known = select(CONFIGURATIONS.c.hash).where(CONFIGURATIONS.c.hash == config_hash)
        if await connection.scalar(known) is not None:
            return True
        content = await self._hot.configuration(config_hash)
        if content is None:
            return False
        row = {"hash": config_hash, "content": content.decode(), "created_at": datetime.now(UTC)}
        await upsert(connection, CONFIGURATIONS, [row], keep=True)
        return True

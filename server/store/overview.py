"""What an overview of sessions is read with."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select

from server.store.engine import Database
from server.store.rows import Row, table_of
from server.store.tables import SessionRow, SignalsRow, UtteranceRow

_SESSIONS, _UTTERANCES = table_of(SessionRow), table_of(UtteranceRow)
MAX_PAGE = 200
SUMMARY = (
    *("id", "concept_id", "concept_name", "methodology", "engine", "language", "max_turns", "respondent_ref"),
    *("pilot", "state", "state_reason", "rev", "turn_count", "node_count", "edge_count", "created_at", "updated_at"),
    *("device", "eligibility"),
)
_OVERVIEW = (*("paused_by", "claimed_by", "question", "depths", "engagements", "phase", "saturation_score"),)


LONGEST_MATCH = 160


def found_by(text: str) -> ColumnElement[bool]:
    """Sessions whose concept, respondent's reference or words have the text in them, or whose id begins with it."""
    c, said = _SESSIONS.c, _UTTERANCES.c
    spoken = select(said.session_id).where(said.text.icontains(text, autoescape=True))
    return or_(
        c.concept_id.icontains(text, autoescape=True),
        c.concept_name.icontains(text, autoescape=True),
        c.respondent_ref.icontains(text, autoescape=True),
        c.id.startswith(text, autoescape=True),
        c.id.in_(spoken),
    )


def piece_around(whole: str, text: str) -> str:
    """What stands around the first place of a text, cut to LONGEST_MATCH characters."""
    place = max(whole.casefold().find(text.casefold()), 0)
    start = max(0, min(place - (LONGEST_MATCH - len(text)) // 2, len(whole) - LONGEST_MATCH))
    piece = whole[start : start + LONGEST_MATCH]
    return ("…" if start else "") + piece + ("…" if start + LONGEST_MATCH < len(whole) else "")


class OverviewReads:
    """Reads of many sessions at once.

    Args:
        database: the store.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    async def matches(self, session_ids: Collection[str], text: str) -> dict[str, str]:
        """The first piece of what was said in each session that has the text in it, by session."""
        said = _UTTERANCES.c
        query = (
            select(said.session_id, said.text)
            .where(said.session_id.in_(sorted(session_ids)), said.text.icontains(text, autoescape=True))
            .order_by(said.session_id, said.position)
        )
        found: dict[str, str] = {}
        for row in await self._rows(query):
            found.setdefault(row["session_id"], piece_around(row["text"], text))
        return found

    async def latest_signals(self, session_id: str) -> Row | None:
        """The signal matrix of the latest turn that has one."""
        table = table_of(SignalsRow)
        query = select(table.c.matrix).where(table.c.session_id == session_id)
        rows = await self._rows(query.order_by(table.c.turn_number.desc()).limit(1))
        return rows[0]["matrix"] if rows else None

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
        c = _SESSIONS.c
        wanted: list[ColumnElement[bool]] = [c.state.in_(sorted(states))]
        if concept_id is not None:
            wanted.append(c.concept_id == concept_id)
        if concepts is not None:
            wanted.append(c.concept_id.in_(sorted(concepts)))
        said = _UTTERANCES
        latest = (
            select(said.c.text)
            .where(said.c.session_id == c.id, said.c.speaker == "respondent", said.c.text != "")
            .order_by(said.c.position.desc())
            .limit(1)
            .scalar_subquery()
        )
        columns = [c[name] for name in (*SUMMARY, *_OVERVIEW)]
        query = select(*columns, latest.label("last_answer")).where(*wanted).order_by(c.updated_at.desc(), c.id.desc())
        found: list[Row] = []
        while len(found) < limit:
            page = await self._rows(query.limit(min(MAX_PAGE, limit - len(found))).offset(len(found)))
            found += page
            if len(page) < MAX_PAGE:
                break
        count = select(func.count().label("count")).select_from(_SESSIONS).where(*wanted)
        return found, int((await self._rows(count))[0]["count"])

    async def _rows(self, query: Select[Any]) -> list[Row]:
        async with self.database.read() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]

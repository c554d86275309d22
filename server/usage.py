"""Sums of a session's calls of language models and of their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from pipeline.records import Record

_DIGITS = 9
"""Decimal places of a sum of costs; later ones are rounding errors."""


class RoleUsage(Record):
    """One role's share: extraction, scoring or generation."""

    calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost: dict[str, float] = Field(default={}, description="By currency.")


class SessionUsage(Record):
    """The calls of a session. Tokens are as providers report them; `discarded` calls were paid for and not used."""

    calls: int = Field(default=0, ge=0, description="Attempts, failed and discarded ones too.")
    failed: int = Field(default=0, ge=0)
    discarded: int = Field(default=0, ge=0, description="Answered, or cut short, and not used.")
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0, description="Of the input, read from a provider's cache.")
    cost: dict[str, float] = Field(default={}, description="By currency, of the calls that have a price.")
    unpriced_calls: int = Field(default=0, ge=0, description="Calls whose cost is not known.")
    latency_ms: float = Field(default=0.0, ge=0, description="Sum of all calls; many run in parallel.")
    by_role: dict[str, RoleUsage] = Field(default={}, description="The same figures by role.")
    fallback_questions: int = Field(default=0, ge=0, description="Questions by the fallback writer or a template.")
    fallback_tasks: dict[str, int] = Field(default={}, description="Turns in which another provider did the task.")


SUMMED = ("input_tokens", "output_tokens", "cached_tokens", "latency_ms")
COUNTED = ("calls", "failed", "discarded", "unpriced_calls")


def session_usage(
    rows: Sequence[Mapping[str, Any]], *, fallback_questions: int = 0, fallback_tasks: Iterable[str] = ()
) -> SessionUsage:
    """The usage of a session from sums by role and currency.

    Args:
        rows: each has `role`, `currency` (None where nothing has a price), `cost` (None likewise) and the sums named
            in SUMMED and COUNTED.
        fallback_questions: how many there were.
        fallback_tasks: tasks that another provider did, once for each turn.
    """
    totals: dict[str, Any] = {name: sum(int(row[name]) for row in rows) for name in COUNTED}
    totals |= {name: sum(int(row[name]) for row in rows) for name in SUMMED if name != "latency_ms"}
    by_role = {
        role: RoleUsage(
            **{
                name: sum(int(row[name]) for row in rows if row["role"] == role)
                for name in ("calls", "input_tokens", "output_tokens")
            },
            cost=_cost(row for row in rows if row["role"] == role),
        )
        for role in dict.fromkeys(str(row["role"]) for row in rows)
    }
    return SessionUsage(
        **totals,
        latency_ms=round(sum(float(row["latency_ms"]) for row in rows), 1),
        cost=_cost(rows),
        by_role=by_role,
        fallback_questions=fallback_questions,
        fallback_tasks=dict(sorted(Counter(fallback_tasks).items())),
    )


def _cost(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in rows:
        if row["cost"] is not None:
            currency = row["currency"] or ""
            found[currency] = found.get(currency, 0.0) + float(row["cost"])
    return {currency: round(cost, _DIGITS) for currency, cost in sorted(found.items())}

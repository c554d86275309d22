"""Tokens of respondents, moderators and devices, as they are stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TokenKind = Literal["respondent", "moderator", "device"]


@dataclass(frozen=True)
class TokenEntry:
    """A stored token; `digest` is its hash, `concepts` its scope with None for all."""

    id: str
    kind: TokenKind
    digest: str
    name: str
    session_id: str | None
    concepts: tuple[str, ...] | None
    created_at: datetime
    revoked_at: datetime | None = None

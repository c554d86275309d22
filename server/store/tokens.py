"""Tokens of respondents, moderators and devices, and logins of moderators, as they are stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Self

TokenKind = Literal["respondent", "moderator", "device"]


@dataclass(frozen=True)
class TokenEntry:
    """A stored token; `digest` is its hash, `concepts` its scope with None for all, `created_by` the id of the token
    with which it was made.
    """

    id: str
    kind: TokenKind
    digest: str
    name: str
    session_id: str | None
    concepts: tuple[str, ...] | None
    created_at: datetime
    revoked_at: datetime | None = None
    created_by: str | None = None

    def dump(self) -> bytes:
        """A respondent's token for hot storage."""
        return json.dumps({"id": self.id, "digest": self.digest, "created_at": self.created_at.isoformat()}).encode()

    @classmethod
    def load(cls, data: bytes, session_id: str) -> Self:
        """The respondent's token of a session. Raises ValueError, KeyError, TypeError."""
        found = json.loads(data)
        created_at = datetime.fromisoformat(found["created_at"])
        return cls(found["id"], "respondent", found["digest"], "", session_id, None, created_at)


@dataclass(frozen=True)
class LoginEntry:
    """A stored login; `digest` is the hash of its cookie, `token_digest` that of the token it was made with."""

    id: str
    digest: str
    token_id: str
    token_digest: str
    created_at: datetime
    expires_at: datetime

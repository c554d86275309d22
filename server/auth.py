"""Who is asking: respondents, moderators and devices, known by tokens of which only hashes are kept.

A token is 256 random bits. A respondent's belongs to one session. Moderator and device tokens are rows with a name
and a scope, besides the one moderator token of the installation. A login cookie is signed with the hash of the token
it was made from, so that it ends with that token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from server.errors import ApiError
from server.store.tokens import TokenEntry, TokenKind

if TYPE_CHECKING:
    from server.store.repository import Repository

TOKEN_FILE = "moderator-token"
COOKIE = "askwell_moderator"
COOKIE_LIFE_S = 12 * 3600
ROOT = "root"
"""The id of the installation's own moderator token, which is not in the store."""


def new_token() -> str:
    """256 random bits as 43 URL-safe characters."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """SHA-256 of a token as 64 hexadecimal digits: what is stored, and what is compared."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Principal:
    """Whom a valid token or cookie belongs to.

    `concepts` are the concepts a moderator or device may see; None stands for all.
    """

    kind: TokenKind
    name: str = ""
    token_id: str = ""
    session_id: str | None = None
    concepts: frozenset[str] | None = None

    @classmethod
    def of(cls, entry: TokenEntry) -> Self:
        """Who holds that token."""
        scope = None if entry.concepts is None else frozenset(entry.concepts)
        return cls(entry.kind, entry.name, entry.id, entry.session_id, scope)

    def may_see(self, concept_id: str) -> bool:
        """Whether the concept is within the scope."""
        return self.concepts is None or concept_id in self.concepts


class Authenticator:
    """Checks tokens and cookies, and makes them.

    Args:
        tokens: the store, which keeps the hashes of tokens.
        moderator_token: the installation's own.
        now: the current time, with time zone.
        new_id: makes ids of tokens.
    """

    def __init__(
        self,
        tokens: Repository,
        moderator_token: str,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._tokens = tokens
        self._root_digest = token_hash(moderator_token)
        self._now = now
        self._new_id = new_id

    async def identify(self, token: str) -> Principal | None:
        """Who holds this token, or None when nobody does."""
        if not token or len(token) > 512:
            return None
        digest = token_hash(token)
        if hmac.compare_digest(digest, self._root_digest):
            return Principal("moderator", "moderator", ROOT)
        entry = await self._tokens.find_token(digest)
        if entry is None or entry.revoked_at is not None or not hmac.compare_digest(digest, entry.digest):
            return None
        return Principal.of(entry)

    async def respondent_session(self, token: str) -> str | None:
        """The session that a respondent's token opens, None when it opens none."""
        principal = await self.identify(token)
        return principal.session_id if principal is not None and principal.kind == "respondent" else None

    async def issue(
        self,
        kind: TokenKind,
        *,
        name: str = "",
        session_id: str | None = None,
        concepts: tuple[str, ...] | None = None,
    ) -> tuple[str, TokenEntry]:
        """Make a token and keep its hash; the token itself is shown once."""
        token = new_token()
        entry = TokenEntry(self._new_id(), kind, token_hash(token), name, session_id, concepts, self._now())
        await self._tokens.put_token(entry)
        return token, entry

    async def revoke(self, token_id: str) -> bool:
        """End a token; whether there was such a token."""
        return await self._tokens.revoke_token(token_id, self._now())

    async def cookie_for(self, token: str) -> tuple[str, Principal]:
        """The value of a login cookie for a moderator's token.

        Raises:
            ApiError: `unauthorised`, it is not a moderator's token.
        """
        principal = await self.identify(token)
        if principal is None or principal.kind != "moderator":
            raise ApiError("unauthorised", "This is not the token of a moderator.")
        expires = int(self._now().timestamp()) + COOKIE_LIFE_S
        body = f"{principal.token_id}.{expires}"
        return f"{body}.{_signature(token_hash(token), body)}", principal

    async def identify_cookie(self, value: str) -> Principal | None:
        """The moderator who holds this cookie, or None when it is forged, expired or its token was revoked."""
        body, _, signature = value.rpartition(".")
        token_id, _, expires = body.rpartition(".")
        if not token_id or not expires.isdecimal() or len(value) > 512 or not signature.isascii():
            return None
        if token_id == ROOT:
            digest, principal = self._root_digest, Principal("moderator", "moderator", ROOT)
        else:
            entry = await self._tokens.token_by_id(token_id)
            if entry is None or entry.revoked_at is not None or entry.kind != "moderator":
                return None
            digest, principal = entry.digest, Principal.of(entry)
        if not hmac.compare_digest(signature, _signature(digest, body)):
            return None
        return principal if int(expires) > self._now().timestamp() else None


def _signature(digest: str, body: str) -> str:
    mac = hmac.new(bytes.fromhex(digest), f"askwell login {body}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


def moderator_token(data: Path, configured: str | None) -> tuple[str, bool]:
    """The installation's moderator token, and whether it was made just now.

    Args:
        data: the data directory, where a token that was made is kept, readable by its owner only.
        configured: the token of the settings, which goes first.
    Raises:
        OSError: the file can't be read or written.
    """
    if configured:
        return configured, False
    path = data / TOKEN_FILE
    try:
        kept = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        kept = ""
    if kept:
        return kept, False
    token = new_token()
    scratch = path.with_suffix(".new")
    with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)
    return token, True

"""Who is asking: respondents, moderators and devices, known by tokens of which only hashes are kept.

A token is 256 random bits. A respondent's belongs to one session. Moderator and device tokens are rows with a name
and a scope, besides the one moderator token of the installation; each knows the token it was made with and ends with
it. A login cookie is random bits too; its row ends with the token that it was made with, or when the moderator logs
out. What wrong ones may cost is bounded by `guesses`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Self

from server.addresses import UNKNOWN
from server.errors import ApiError
from server.guesses import Guesses
from server.store.tokens import LoginEntry, TokenEntry, TokenKind

if TYPE_CHECKING:
    from server.store.repository import Repository

TOKEN_FILE = "moderator-token"
COOKIE = "askwell_moderator"
COOKIE_LIFE_S = 12 * 3600
LONGEST_TOKEN = 512
ROOT = "root"
"""The id of the installation's own moderator token, which is not in the store."""
ROOT_NAME = "moderator"


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
    login_id: str = ""
    """The login of whoever came with a cookie."""

    @classmethod
    def of(cls, entry: TokenEntry, login_id: str = "") -> Self:
        """Who holds that token, or a login that was made with it."""
        scope = None if entry.concepts is None else frozenset(entry.concepts)
        return cls(entry.kind, entry.name, entry.id, entry.session_id, scope, login_id)

    def may_see(self, concept_id: str) -> bool:
        """Whether the concept is within the scope."""
        return self.concepts is None or concept_id in self.concepts


class Authenticator:
    """Checks tokens and cookies, and makes them.

    Args:
        tokens: the store, which keeps the hashes of tokens.
        moderator_token: the installation's own.
        now: the current time, with time zone.
        new_id: makes ids of tokens and logins.
        guesses: bounds what wrong tokens cost.
    """

    def __init__(
        self,
        tokens: Repository,
        moderator_token: str,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        guesses: Guesses,
    ) -> None:
        self._tokens = tokens
        self._root_digest = token_hash(moderator_token)
        self._now = now
        self._new_id = new_id
        self._guesses = guesses

    async def identify(self, token: str, address: str = UNKNOWN) -> Principal | None:
        """Who holds this token, or None when nobody does.

        Args:
            token: as it was given.
            address: of the client, as it is counted.
        Raises:
            ApiError: `rate_limited`, too many wrong tokens came from that address.
        """
        digest = token_hash(token)
        if hmac.compare_digest(digest, self._root_digest):
            return Principal("moderator", ROOT_NAME, ROOT)

        async def look_up() -> Principal | None:
            if not _may_be_token(token):
                return None
            entry = await self._tokens.find_token(digest)
            if entry is None or entry.revoked_at is not None or not hmac.compare_digest(digest, entry.digest):
                return None
            return Principal.of(entry)

        return await self._guesses.check(address, digest, look_up)

    async def respondent_session(self, token: str, address: str = UNKNOWN) -> str | None:
        """The session that a respondent's token opens, None when it opens none; arguments and errors as `identify`."""
        principal = await self.identify(token, address)
        return principal.session_id if principal is not None and principal.kind == "respondent" else None

    async def issue(
        self,
        kind: TokenKind,
        *,
        name: str = "",
        session_id: str | None = None,
        concepts: tuple[str, ...] | None = None,
        created_by: str | None = None,
    ) -> tuple[str, TokenEntry]:
        """Make a token and keep its hash; the token itself is shown once.

        Raises:
            ApiError: `unauthorised`, the token that it is made with has ended.
        """
        token = new_token()
        entry = TokenEntry(
            self._new_id(),
            kind,
            token_hash(token),
            name,
            session_id,
            concepts,
            self._now(),
            created_by=created_by,
        )
        if not await self._tokens.put_token(entry):
            raise ApiError("unauthorised", "The token is not valid.")
        return token, entry

    async def revoke(self, token_id: str) -> tuple[str, ...]:
        """End a token and all that were made with it, directly or not; their ids, none if there is no such token."""
        return await self._tokens.revoke_token(token_id, self._now())

    async def log_in(self, token: str, address: str = UNKNOWN) -> tuple[str, Principal]:
        """The value of a login cookie for a moderator's token; arguments as `identify`.

        Raises:
            ApiError: `unauthorised`, it is not a moderator's token; `rate_limited`, as `identify`.
        """
        principal = await self.identify(token, address)
        if principal is None or principal.kind != "moderator":
            raise ApiError("unauthorised", "This is not the token of a moderator.")
        value, now = new_token(), self._now()
        expires = now + timedelta(seconds=COOKIE_LIFE_S)
        login_id = self._new_id()
        entry = LoginEntry(login_id, token_hash(value), principal.token_id, token_hash(token), now, expires)
        await self._tokens.put_login(entry)
        return value, replace(principal, login_id=login_id)

    async def log_out(self, principal: Principal) -> None:
        """End the login of whoever came with a cookie."""
        await self._tokens.end_login(principal.login_id)

    async def identify_cookie(self, value: str, address: str = UNKNOWN) -> Principal | None:
        """The moderator who holds this cookie, None when it is nobody's, or its login or token has ended.

        Arguments and errors as `identify`.
        """
        digest = token_hash(value)

        async def look_up() -> Principal | None:
            login = await self._tokens.find_login(digest) if _may_be_token(value) else None
            if login is None or login.expires_at <= self._now():
                return None
            if login.token_id == ROOT:
                # Another token than the installation's present one may have been its own then.
                if not hmac.compare_digest(login.token_digest, self._root_digest):
                    return None
                return Principal("moderator", ROOT_NAME, ROOT, login_id=login.id)
            entry = await self._tokens.token_by_id(login.token_id)
            if entry is None or entry.revoked_at is not None or entry.kind != "moderator":
                return None
            return Principal.of(entry, login.id)

        return await self._guesses.check(address, digest, look_up)


def _may_be_token(text: str) -> bool:
    return 0 < len(text) <= LONGEST_TOKEN


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

"""Tokens and cookies: who gets in, and who does not any more."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.auth import (
    COOKIE_LIFE_S,
    ROOT,
    TOKEN_FILE,
    Authenticator,
    moderator_token,
    new_token,
    token_hash,
)
from server.errors import ApiError
from server.store.engine import Database
from server.store.repository import Repository
from tests.support.redis_fixtures import database
from tests.support.redis_rows import all_rows

__all__ = ["database"]

START = datetime(2026, 3, 1, tzinfo=UTC)


class Desk:
    """An authenticator with a clock that a test moves."""

    def __init__(self, database: Database, root: str = "root-token") -> None:
        self.now = START
        numbers = iter(range(100))
        tokens = Repository(database)
        self.auth = Authenticator(tokens, root, now=lambda: self.now, new_id=lambda: f"t{next(numbers)}")


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database)


def test_new_token_has_256_random_bits() -> None:
    assert len({new_token() for _ in range(50)}) == 50
    assert len(new_token()) == 43


async def test_issued_token_is_stored_as_hash_only(desk: Desk, database: Database) -> None:
    token, entry = await desk.auth.issue("respondent", session_id="s1")
    assert entry.digest == token_hash(token)
    stored = repr((await all_rows(database))["tokens"])
    assert entry.digest in stored
    assert token not in stored
    assert await desk.auth.respondent_session(token) == "s1"


@pytest.mark.parametrize("token", ["", "wrong", "x" * 600, "\ud800", "root-token "])
async def test_wrong_token_is_nobodys(desk: Desk, token: str) -> None:
    await desk.auth.issue("respondent", session_id="s1")
    assert await desk.auth.identify(token) is None
    assert await desk.auth.respondent_session(token) is None


async def test_token_of_a_moderator_opens_no_interview(desk: Desk) -> None:
    token, _ = await desk.auth.issue("moderator", name="Ada")
    assert await desk.auth.respondent_session(token) is None
    assert await desk.auth.respondent_session("root-token") is None


async def test_revoked_token_is_nobodys(desk: Desk) -> None:
    token, entry = await desk.auth.issue("device", name="kiosk")
    assert await desk.auth.identify(token) is not None
    assert await desk.auth.revoke(entry.id)
    assert await desk.auth.identify(token) is None
    assert not await desk.auth.revoke("t99")


async def test_scope_limits_what_a_token_may_see(desk: Desk) -> None:
    token, _ = await desk.auth.issue("moderator", name="Ada", concepts=("coffee",))
    principal = await desk.auth.identify(token)
    assert principal is not None
    assert principal.may_see("coffee")
    assert not principal.may_see("tea")
    root = await desk.auth.identify("root-token")
    assert root is not None
    assert root.may_see("tea")


async def test_cookie_stands_for_the_token_until_it_expires(desk: Desk) -> None:
    value, _ = await desk.auth.cookie_for("root-token")
    assert "root-token" not in value
    found = await desk.auth.identify_cookie(value)
    assert found is not None
    assert found.token_id == ROOT
    desk.now += timedelta(seconds=COOKIE_LIFE_S)
    assert await desk.auth.identify_cookie(value) is None


async def test_cookie_ends_with_its_token(desk: Desk) -> None:
    token, entry = await desk.auth.issue("moderator", name="Ada")
    value, _ = await desk.auth.cookie_for(token)
    assert await desk.auth.identify_cookie(value) is not None
    await desk.auth.revoke(entry.id)
    assert await desk.auth.identify_cookie(value) is None


async def test_cookie_of_another_installation_is_refused(desk: Desk, database: Database) -> None:
    value, _ = await Desk(database, "other").auth.cookie_for("other")
    assert await desk.auth.identify_cookie(value) is None


@pytest.mark.parametrize("change", ["expires", "id", "signature", "nothing", "letters", "empty"])
async def test_forged_cookie_is_refused(desk: Desk, change: str) -> None:
    await desk.auth.issue("moderator", name="Ada")
    value, _ = await desk.auth.cookie_for("root-token")
    token_id, expires, signature = value.split(".")
    forged = {
        "expires": f"{token_id}.{int(expires) + 1}.{signature}",
        "id": f"t0.{expires}.{signature}",
        "signature": f"{token_id}.{expires}.{signature[:-1]}",
        "nothing": f"{token_id}.{expires}.",
        "letters": f"{token_id}.soon.ä",
        "empty": "",
    }[change]
    assert await desk.auth.identify_cookie(forged) is None


async def test_login_with_a_respondents_token_is_refused(desk: Desk) -> None:
    token, _ = await desk.auth.issue("respondent", session_id="s1")
    with pytest.raises(ApiError) as caught:
        await desk.auth.cookie_for(token)
    assert caught.value.code == "unauthorised"


def test_moderator_token_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    first, is_new = moderator_token(tmp_path, None)
    assert is_new
    assert moderator_token(tmp_path, None) == (first, False)
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600


def test_moderator_token_of_the_settings_goes_first(tmp_path: Path) -> None:
    moderator_token(tmp_path, None)
    assert moderator_token(tmp_path, "chosen") == ("chosen", False)

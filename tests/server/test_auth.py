"""Tokens and cookies: who gets in, and who does not any more."""

from __future__ import annotations

import asyncio
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
from server.guesses import MOST_WAITING, Guesses
from server.rate_limits import KeyedBuckets
from server.store.engine import Database
from server.store.errors import StoreUnavailable
from server.store.repository import MOST_LOGINS, Repository
from server.store.tokens import TokenEntry
from tests.support.redis_fixtures import database
from tests.support.redis_rows import all_rows

__all__ = ["database"]

LIMIT = 5
"""Wrong tokens that an address may send at once."""
WAIT = "rate_limited, 1 s"
START = datetime(2026, 3, 1, tzinfo=UTC)


class Desk:
    """An authenticator with a clock that a test moves."""

    def __init__(self, database: Database, root: str = "root-token") -> None:
        self.now = START
        numbers = iter(range(1000))
        self.tokens = CountingRepository(database)
        self.guesses = Guesses(KeyedBuckets(1.0, LIMIT, lambda: self.now.timestamp()))
        self.auth = Authenticator(
            self.tokens, root, now=lambda: self.now, new_id=lambda: f"t{next(numbers)}", guesses=self.guesses
        )

    async def guess(self, token: str, address: str = "10.0.0.1") -> str:
        """What becomes of a token: its kind, `wrong`, or `rate_limited` with the wait."""
        try:
            found = await self.auth.identify(token, address)
        except ApiError as exc:
            return f"{exc.code}, {exc.retry_after_s} s"
        return "wrong" if found is None else found.kind


class CountingRepository(Repository):
    """The store, counting how often it is asked for a token."""

    looks = 0
    gate: asyncio.Event | None = None
    away = False

    async def find_token(self, digest: str) -> TokenEntry | None:
        self.looks += 1
        if self.away:
            raise StoreUnavailable("the database is away")
        if self.gate is not None:
            await self.gate.wait()
        return await super().find_token(digest)


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
    value, _ = await desk.auth.log_in("root-token")
    assert "root-token" not in value
    found = await desk.auth.identify_cookie(value)
    assert found is not None
    assert found.token_id == ROOT
    desk.now += timedelta(seconds=COOKIE_LIFE_S)
    assert await desk.auth.identify_cookie(value) is None


async def test_cookie_is_stored_as_hash_only_and_forgotten_when_it_is_over(desk: Desk, database: Database) -> None:
    value, _ = await desk.auth.log_in("root-token")
    assert value not in repr((await all_rows(database))["logins"])
    desk.now += timedelta(seconds=COOKIE_LIFE_S)
    await desk.auth.log_in("root-token")
    assert len((await all_rows(database))["logins"]) == 1


async def test_oldest_login_of_a_token_ends_when_there_are_too_many(desk: Desk) -> None:
    first, _ = await desk.auth.log_in("root-token")
    desk.now += timedelta(seconds=1)
    second, _ = await desk.auth.log_in("root-token")
    desk.now += timedelta(seconds=1)
    for _ in range(MOST_LOGINS - 2):
        await desk.auth.log_in("root-token")
    assert await desk.auth.identify_cookie(first) is not None
    newest, _ = await desk.auth.log_in("root-token")
    assert await desk.auth.identify_cookie(first) is None
    assert await desk.auth.identify_cookie(second) is not None
    assert await desk.auth.identify_cookie(newest) is not None


async def test_cookie_ends_when_its_holder_logs_out_and_no_other(desk: Desk) -> None:
    value, principal = await desk.auth.log_in("root-token")
    other, _ = await desk.auth.log_in("root-token")
    await desk.auth.log_out(principal)
    assert await desk.auth.identify_cookie(value) is None
    assert await desk.auth.identify_cookie(other) is not None


async def test_cookie_ends_with_its_token(desk: Desk) -> None:
    token, entry = await desk.auth.issue("moderator", name="Ada")
    value, _ = await desk.auth.log_in(token)
    assert await desk.auth.identify_cookie(value) is not None
    await desk.auth.revoke(entry.id)
    assert await desk.auth.identify_cookie(value) is None


async def test_cookie_of_an_earlier_token_of_the_installation_is_refused(desk: Desk, database: Database) -> None:
    value, _ = await Desk(database, "other").auth.log_in("other")
    assert await desk.auth.identify_cookie(value) is None


@pytest.mark.parametrize("value", ["", "x" * 43, "x" * 600, "root.1900000000.c2lnbmVk", "ä", "\ud800"])
async def test_forged_cookie_is_refused(desk: Desk, value: str) -> None:
    await desk.auth.log_in("root-token")
    assert await desk.auth.identify_cookie(value) is None


async def test_token_ends_with_the_one_it_was_made_with(desk: Desk) -> None:
    ada, first = await desk.auth.issue("moderator", name="Ada", created_by=ROOT)
    ben, second = await desk.auth.issue("moderator", name="Ben", created_by=first.id)
    hall, third = await desk.auth.issue("device", name="Hall", created_by=second.id)
    eve, _ = await desk.auth.issue("moderator", name="Eve", created_by=ROOT)
    cookie, _ = await desk.auth.log_in(ben)
    assert set(await desk.auth.revoke(first.id)) == {first.id, second.id, third.id}
    assert [await desk.auth.identify(token) for token in (ada, ben, hall)] == [None, None, None]
    assert await desk.auth.identify_cookie(cookie) is None
    assert await desk.auth.identify(eve) is not None


async def test_token_can_not_be_made_with_one_that_has_ended(desk: Desk) -> None:
    _, entry = await desk.auth.issue("moderator", name="Ada")
    await desk.auth.revoke(entry.id)
    with pytest.raises(ApiError) as caught:
        await desk.auth.issue("moderator", name="Ben", created_by=entry.id)
    assert caught.value.code == "unauthorised"


async def test_wrong_tokens_beyond_the_limit_are_told_to_wait_and_right_ones_get_through(desk: Desk) -> None:
    token, entry = await desk.auth.issue("respondent", session_id="s1")
    assert [await desk.guess(f"wrong {n}") for n in range(LIMIT + 2)] == ["wrong"] * LIMIT + [WAIT] * 2
    assert await desk.guess(token) == "respondent", "though it was never seen before"
    assert await desk.guess("root-token") == "moderator"
    assert await desk.guess("wrong", "10.0.0.2") == "wrong", "another address has a bucket of its own"
    await desk.auth.revoke(entry.id)
    assert await desk.guess(token) == WAIT
    desk.now += timedelta(seconds=2)
    assert await desk.guess("wrong") == "wrong"


async def test_right_tokens_do_not_use_up_what_an_address_may_send(desk: Desk) -> None:
    for number in range(10):
        token, _ = await desk.auth.issue("respondent", session_id=f"s{number}")
        assert await desk.guess(token) == "respondent"
    assert await desk.guess("wrong") == "wrong"


async def test_tokens_that_could_not_be_looked_up_do_not_count_as_wrong(desk: Desk) -> None:
    desk.tokens.away = True
    for number in range(2 * LIMIT):
        with pytest.raises(StoreUnavailable):
            await desk.guess(f"token {number}")
    desk.tokens.away = False
    assert await desk.guess("wrong") == "wrong"


async def test_wrong_cookies_count_as_wrong_tokens(desk: Desk) -> None:
    for number in range(LIMIT):
        assert await desk.auth.identify_cookie(f"wrong {number}", "10.0.0.1") is None
    assert await desk.guess("wrong") == WAIT


async def test_flood_of_wrong_tokens_looks_into_the_store_one_at_a_time_and_never_all(desk: Desk) -> None:
    token, _ = await desk.auth.issue("respondent", session_id="s1")
    assert await desk.guess(token) == "respondent"
    for number in range(LIMIT):
        await desk.guess(f"first {number}")
    desk.tokens.looks, desk.tokens.gate = 0, asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        flood = [tasks.create_task(desk.guess(f"wrong {number}")) for number in range(500)]
        await asyncio.sleep(0)
        assert desk.tokens.looks == 1
        known = tasks.create_task(desk.guess(token))
        await asyncio.sleep(0)
        assert desk.tokens.looks == 2, "a token that was right before does not queue"
        desk.tokens.gate.set()
    assert known.result() == "respondent"
    assert {task.result() for task in flood} == {WAIT}
    assert desk.tokens.looks == 1 + MOST_WAITING


async def test_login_with_a_respondents_token_is_refused(desk: Desk) -> None:
    token, _ = await desk.auth.issue("respondent", session_id="s1")
    with pytest.raises(ApiError) as caught:
        await desk.auth.log_in(token)
    assert caught.value.code == "unauthorised"


def test_moderator_token_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    first, is_new = moderator_token(tmp_path, None)
    assert is_new
    assert moderator_token(tmp_path, None) == (first, False)
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600


def test_moderator_token_of_the_settings_goes_first(tmp_path: Path) -> None:
    moderator_token(tmp_path, None)
    assert moderator_token(tmp_path, "chosen") == ("chosen", False)

"""A kiosk's browser or its server is killed −9 on the way of an answer: nothing is lost, doubled or shown to others."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from tests.chaos.kiosk import MortalBrowser, People
from tests.chaos.oracle import complaints
from tests.chaos.respondent import Place, Violation
from tests.chaos.server import BOUNDARIES
from tests.chaos.test_kills import Mortal

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(5400), pytest.mark.thorough]

SEED = 20260106
KILLS = int(os.environ.get("ASKWELL_KIOSK_KILLS", "200"))
PATIENCE_S = 40.0
LAST_WORDS_S = 120.0


@dataclass
class Outcome:
    """What came of it."""

    found: list[str]
    deaths: Counter[str]
    people: People


async def ordeal(base: Path, kills: int) -> Outcome:
    """People sit down at a kiosk whose browser and server are killed in turn, at every boundary equally often."""
    orders, place = base / "orders.json", Place()
    write(orders, 0, "never", 0, 0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Mortal(base / "data", place, ("--orders", str(orders), "--port", str(port)))
    luck = random.Random(SEED)
    deaths: Counter[str] = Counter()
    seen: list[str] = []
    async with async_playwright() as playwright:
        browser = MortalBrowser(playwright, base)
        people = People(browser, f"http://127.0.0.1:{port}", SEED)
        await server.start()
        try:
            async with asyncio.TaskGroup() as group:
                life = group.create_task(people.live())
                for number in range(1, kills + 1):
                    boundary = BOUNDARIES[(number - 1) // 2 % len(BOUNDARIES)]
                    victim = ("server", "browser")[number % 2]
                    await one_death(orders, number, boundary, luck.randint(1, 2), victim, server, browser)
                    deaths[f"{victim} {boundary}"] += 1
                write(orders, kills + 1, "never", 0, 0)
                people.leaving = True
                await server.lives_while([life])
        except* Violation as violations:
            seen = [str(violation) for violation in violations.exceptions]
        finally:
            await browser.kill()
            await server.stop()
    database = base / "data" / "askwell.db"
    note_unseen(database, people)
    conversations = list(people.conversations.values())
    return Outcome(seen or complaints(database, conversations) + accounts(database, people), deaths, people)


async def one_death(
    orders: Path, number: int, boundary: str, nth: int, victim: str, server: Mortal, browser: MortalBrowser
) -> None:
    """Until the victim has died where it was told to; of a blow from outside where that takes too long."""
    async with asyncio.timeout(PATIENCE_S):
        while not browser.alive:
            await asyncio.sleep(0.02)
    if victim == "server":
        write(orders, number, boundary, nth, 0)
        await server.died()
        write(orders, number, "never", 0, 0)
        await server.start()
        return
    group = browser.group
    write(orders, number, boundary, nth, group)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while browser.lives(group):
                await asyncio.sleep(0.02)
    except TimeoutError:
        os.killpg(group, signal.SIGKILL)


def write(orders: Path, number: int, boundary: str, nth: int, victim: int) -> None:
    """Give orders, whole or not at all."""
    fresh = orders.with_suffix(".new")
    fresh.write_text(json.dumps({"number": number, "boundary": boundary, "nth": nth, "victim": victim}))
    fresh.replace(orders)


def note_unseen(database: Path, people: People) -> None:
    """A browser that dies right after sending does not live to report it: what was typed and is stored was sent."""
    typed = {text for sitting in people.sittings for text in sitting.typed.values()}
    for session, text in words(database):
        conversation = people.conversations.get(session)
        if conversation is not None and text in typed and text not in conversation.answers.values():
            conversation.answers[f"unseen {text}"] = text


def words(database: Path) -> list[tuple[str, str]]:
    """Session and text of every stored answer, in order."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        return store.execute(
            "select session_id, text from utterances where speaker = 'respondent' order by session_id, turn_number"
        ).fetchall()


def accounts(database: Path, people: People) -> list[str]:
    """What people typed against what is stored: every accepted answer once, nothing twice, nobody's words elsewhere."""
    rows = words(database)
    found: list[str] = []
    said = Counter(text for _, text in rows)
    texts = {key: text for one in people.conversations.values() for key, text in one.answers.items()}
    found += [f"accepted answer {texts[key]!r} is stored {said[texts[key]]} times" for key in people.accepted
              if key in texts and said[texts[key]] != 1]  # fmt: skip
    found += [f"{text!r} is stored {count} times" for text, count in said.items() if count > 1]
    for sitting in people.sittings:
        lost = [text for text in sitting.typed.values() if said[text] != 1]
        if sitting.finished and lost:
            found.append(f"{sitting.marker} finished, but {lost} are not stored once")
    for session in {session for session, _ in rows}:
        markers = {text.rsplit(" ", 1)[1].split("z")[0] for owner, text in rows if owner == session}
        if len(markers) != 1:
            found.append(f"{session} has words of {markers}")
    return found


@pytest.mark.timeout(300)
async def test_kiosk_killed_three_times_loses_doubles_and_shows_nothing(tmp_path: Path) -> None:
    outcome = await ordeal(tmp_path, 3)
    assert outcome.found == []
    assert sum(outcome.deaths.values()) == 3
    assert len(outcome.people.accepted) >= 3


@pytest.mark.chaos
async def test_kiosk_killed_all_over_the_way_of_an_answer_loses_doubles_and_shows_nothing(tmp_path: Path) -> None:
    outcome = await ordeal(tmp_path, KILLS)
    people = outcome.people
    print(f"\nkills {sum(outcome.deaths.values())}: {dict(outcome.deaths)}")
    print(
        f"people {len(people.sittings)}, finished {sum(one.finished for one in people.sittings)}, "
        f"answers accepted {len(people.accepted)}, gone on {people.resumed}, begun anew {people.started_new}"
    )
    assert outcome.found == []
    assert sum(outcome.deaths.values()) == KILLS
    assert people.resumed + people.started_new > 0

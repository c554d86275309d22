"""One interview over the real askwell: a server process, a respondent's socket, and what is on record afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.local_llm.wiretap import Exchange
from tests.support.client import Frame, RespondentClient, key
from tests.support.process import ServerProcess

CONCEPT = "coffee_mec"
TRIES = 3
FEWEST = 3


@dataclass
class Turn:
    """One answer and what came of it.

    Times count from the sending of the answer, in seconds; `began_s` is of `time.monotonic`.
    """

    number: int
    answer: str
    began_s: float
    question: str = ""
    fallback: bool = False
    first_s: float | None = None
    question_s: float | None = None
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)


@dataclass
class Interview:
    """A whole interview. `record` is its JSON export, `usage` what the API sums up, `scores` its decisions."""

    name: str
    opening: Turn
    turns: list[Turn] = field(default_factory=list)
    ended: str = ""
    record: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    scores: list[dict[str, Any]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)


def model_environment(base_url: str, model: str, deadline_s: float, streaming: str = "held") -> dict[str, str]:
    """Settings with which a local model does all roles, patiently.

    Questions are `held` by default: a small model has every third one refused, and what a respondent has not seen can
    still be written anew.
    """
    settings = {"PROVIDER": "openai_compatible", "MODEL": model, "BASE_URL": base_url, "DEADLINE_S": str(deadline_s)}
    roles = {
        f"ASKWELL_{role}_{name}": value
        for role in ("EXTRACTION", "SCORING", "GENERATION")
        for name, value in settings.items()
    }
    return {**roles, "ASKWELL_TURN_DEADLINE_S": str(4 * deadline_s), "ASKWELL_QUESTION_STREAMING": streaming}


class Talk:
    """A respondent who gives one answer after the other."""

    def __init__(self, client: RespondentClient, patience_s: float) -> None:
        self._client = client
        self._patience_s = patience_s

    async def opening(self) -> Turn:
        """Consent, and wait for the first question."""
        turn = Turn(0, "", time.monotonic())
        await self._client.hello()
        await self._client.send("consent", version="1", choices={"agree": True})
        await self._until(turn, ("question.completed", "error", "session.state"))
        return turn

    async def answer(self, number: int, text: str) -> tuple[Turn, bool]:
        """Give an answer, again where that may help; whether the interview goes on."""
        turn, turn_key, goes_on = Turn(number, text, time.monotonic()), key(), False
        for _ in range(TRIES):
            await self._client.answer(text, turn_key)
            last = await self._until(turn, ("turn.completed", "turn.failed", "error"))
            if last["type"] == "turn.completed":
                goes_on = last["result"]["should_continue"]
                break
            turn.failures.append(last["code"])
            if not last["retryable"]:
                break
        return turn, goes_on

    async def _until(self, turn: Turn, kinds: tuple[str, ...]) -> Frame:
        while True:
            frame = await self._client.next(self._patience_s)
            now = time.monotonic() - turn.began_s
            if frame["type"] == "question.delta":
                turn.first_s = turn.first_s or now
            elif frame["type"] == "question.completed":
                turn.question, turn.fallback, turn.question_s = frame["text"], frame["fallback"], now
            if frame["type"] in kinds and frame.get("state") != "active":
                turn.seconds = now
                return frame


async def interview(
    name: str,
    answers: Sequence[str],
    environment: Mapping[str, str],
    place: Path,
    *,
    patience_s: float,
    heard: Sequence[Exchange] = (),
    say: Any = print,
) -> Interview:
    """Hold an interview with these answers.

    Args:
        name: for the report.
        answers: one per turn.
        environment: settings of the server.
        place: folder for its data.
        patience_s: longest wait for anything, in seconds.
        heard: exchanges with the model, growing while the interview goes on.
        say: told what happens.
    """
    process = ServerProcess(place / "data", dict(environment))
    try:
        await process.start()
        async with httpx.AsyncClient(base_url=process.url, trust_env=False, timeout=60) as http:
            made = (
                await http.post("/api/sessions", json={"concept_id": CONCEPT, "max_turns": max(FEWEST, len(answers))})
            ).json()
            client = RespondentClient(process.url.replace("http", "ws", 1), made["respondent_token"])
            async with client:
                talk = Talk(client, patience_s)
                held = Interview(name, await talk.opening())
                say(f"{name}: {held.opening.seconds:6.1f} s  {held.opening.question}")
                for number, text in enumerate(answers, 1):
                    turn, goes_on = await talk.answer(number, text)
                    held.turns.append(turn)
                    say(f"{name}: {turn.seconds:6.1f} s  {turn.question or 'failed: ' + ', '.join(turn.failures)}")
                    if not goes_on:
                        held.ended = f"after {number} of {len(answers)} answers"
                        break
            await _read_record(http, made["session_id"], place / "data", len(held.turns), held)
    finally:
        await asyncio.shield(process.stop())
    held.log = process.lines
    assign(held, heard)
    return held


def assign(held: Interview, heard: Sequence[Exchange]) -> None:
    """Give each exchange to the turn during which it began; what came after a turn's end still belongs to it."""
    turns = [held.opening, *held.turns]
    for exchange in heard:
        begun = [turn for turn in turns if turn.began_s <= exchange.at_s]
        if begun:
            begun[-1].exchanges.append(exchange)


async def _read_record(http: httpx.AsyncClient, session_id: str, data: Path, turns: int, held: Interview) -> None:
    """What the moderator's API has; the store gets turns a moment after they are committed."""
    token = (data / "moderator-token").read_text().strip()
    http.headers["authorization"] = f"Bearer {token}"
    session = f"/api/sessions/{session_id}"
    completed = sum(1 for turn in held.turns if turn.question)
    async with asyncio.timeout(30):
        while True:
            held.scores = (await http.get(f"{session}/scores")).json()["items"]
            if len(held.scores) >= completed:
                break
            await asyncio.sleep(0.2)
    held.record = (await http.get(f"{session}/export", params={"format": "json"})).json()
    held.usage = (await http.get(session)).json()["usage"]

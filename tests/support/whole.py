"""A whole process in memory: real storage, the real application, language providers that follow a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import yaml
from starlette.applications import Starlette

from config.settings import Settings, load
from pipeline.calls import Role
from pipeline.language.acts.reading import RuleReader
from pipeline.methodology import Methodology
from pipeline.turn import Providers
from server.app import build_app
from server.installation import Say, say_nothing
from server.parts import Parts
from server.speech.engine import LoadSpeech
from server.wiring import Overrides, Storage, running
from tests.support.interview import (
    FixedRater,
    LineElements,
    OwnSlots,
    PlainWriter,
    ScriptedExtractor,
    TableEmbedder,
    WordParser,
    concepts,
    small_methodology,
)
from tests.support.patience import PATIENCE_S
from tests.support.published_calls import deviation

BASE = "http://127.0.0.1:8080"
ANSWER = "The noise cancelling lets me work in peace"
FOUND = concepts(
    ("noise cancelling", "attribute"),
    ("work in peace", "consequence"),
    links=(("noise cancelling", "work in peace"),),
)
COFFEE: dict[str, Any] = {
    "id": "coffee",
    "name": "coffee",
    "title": "Your coffee",
    "methodology": "small",
    "objective": "Why coffee",
    "languages": ["en", "de"],
    "elements": [{"id": "taste", "label": "taste"}],
}
TEA: dict[str, Any] = {
    "id": "tea",
    "name": "tea",
    "methodology": "small",
    "objective": "Why tea",
    "consent": {"text": "Do you agree?", "version": "3"},
}
VOICE: dict[str, Any] = {
    "id": "voice",
    "name": "voices",
    "methodology": "small",
    "objective": "Why voices",
    "consent": {"text": "Do you agree? What you say is recorded.", "version": "1"},
    "record_audio": True,
    "max_answer_s": 20,
}


def write_config(directory: Path) -> Path:
    """The small methodology, a concept without and one with consent, one that records, and texts."""
    files: dict[str, Any] = {
        "methodologies/small.yaml": small_methodology().model_dump(mode="json"),
        "concepts/coffee.yaml": COFFEE,
        "concepts/tea.yaml": TEA,
        "concepts/voice.yaml": VOICE,
        "texts/en.yaml": {"closing_text": "Thank you very much.", "withdrawn_text": "All of it is erased."},
    }
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return directory


def settings_for(tmp_path: Path, **environment: str) -> Settings:
    """Settings of a process that keeps everything below `tmp_path`."""
    config = write_config(tmp_path / "config")
    names = {"ASKWELL_DATA": str(tmp_path / "data"), "ASKWELL_CONFIG_DIR": str(config)}
    return load({**names, **{f"ASKWELL_{name.upper()}": value for name, value in environment.items()}}).settings


@dataclass
class Process:
    """A running process and a way to call it."""

    parts: Parts
    storage: Storage
    app: Starlette
    http: httpx.AsyncClient
    extractor: ScriptedExtractor = field(default_factory=ScriptedExtractor)
    writer: PlainWriter = field(default_factory=PlainWriter)
    parser: LineElements = field(default_factory=LineElements)

    @property
    def moderator(self) -> dict[str, str]:
        """Headers of the moderator."""
        return bearer(self.storage.moderator_token)

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One call, whose answer is held to what is published of it."""
        response = await self.http.request(method, path, **options)
        kind = response.headers.get("content-type", "")
        found = deviation(method, response.request.url.path, response.status_code, kind, response.content)
        assert found is None, f"{method} {path}: {found}\n{response.text[:500]}"
        return response

    async def begin(self, concept_id: str = "coffee", **fields: Any) -> tuple[str, dict[str, str]]:
        """A new interview; its id and the respondent's headers."""
        response = await self.call("POST", "/api/sessions", json={"concept_id": concept_id, **fields})
        assert response.status_code == 201, response.text
        created = response.json()
        return created["session_id"], bearer(created["respondent_token"])

    async def turn(
        self, session_id: str, headers: dict[str, str], text: str = ANSWER, key: str | None = None
    ) -> httpx.Response:
        """One turn over HTTP."""
        body = {"text": text, "turn_key": key or str(uuid4())}
        return await self.call("POST", f"/api/sessions/{session_id}/turns", json=body, headers=headers)

    async def interview(self, turns: int = 2, **fields: Any) -> tuple[str, dict[str, str]]:
        """An interview with so many answers, stored."""
        session_id, headers = await self.begin(**fields)
        await self.call("POST", f"/api/sessions/{session_id}/start", headers=headers)
        for number in range(turns):
            response = await self.turn(session_id, headers, ANSWER if number == 0 else f"Answer {number + 1}")
            assert response.status_code == 200, response.text
        assert await self.storage.writer.drain(PATIENCE_S)
        return session_id, headers


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"authorization": f"Bearer {token}"}


def scripted(
    extractor: ScriptedExtractor, writer: PlainWriter, parser: LineElements | None = None
) -> Callable[..., Awaitable[Providers]]:
    """A loader of providers that follow a script."""

    async def load_scripted(
        settings: Settings, executor: Executor, methodologies: tuple[Methodology, ...]
    ) -> Providers:
        return Providers(
            extractor,
            FixedRater(),
            OwnSlots(),
            writer,
            TableEmbedder(),
            WordParser(),
            RuleReader(),
            concept_parser=parser,
        )

    return load_scripted


def speaks_any(role: Role, language: str) -> bool:
    """Providers that follow a script do so in any language."""
    return True


async def deaf(settings: Settings) -> None:
    """A loader of no speech model."""
    return


@asynccontextmanager
async def process(tmp_path: Path, say: Say = say_nothing, /, **environment: str) -> AsyncIterator[Process]:
    """A process on the data directory below `tmp_path`; settings by their lower-case names."""
    async with hearing_process(tmp_path, deaf, say, **environment) as found:
        yield found


@asynccontextmanager
async def hearing_process(
    tmp_path: Path, hear: LoadSpeech, say: Say = say_nothing, /, **environment: str
) -> AsyncIterator[Process]:
    """As `process`, with speech."""
    extractor, writer, parser = ScriptedExtractor({ANSWER: FOUND}), PlainWriter(), LineElements()
    overrides = Overrides(load=scripted(extractor, writer, parser), hear=hear, speaks=speaks_any)
    async with running(settings_for(tmp_path, **environment), overrides=overrides, say=say) as (parts, storage):
        app = build_app(parts)
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            yield Process(parts, storage, app, client, extractor, writer, parser)


async def eventually(check: Callable[[], Awaitable[bool]], deadline_s: float = PATIENCE_S) -> None:
    """Ask until the answer is yes."""
    async with asyncio.timeout(deadline_s):
        while not await check():
            await asyncio.sleep(0.02)

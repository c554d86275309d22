"""What language models cost, told to moderators and to nobody else."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from pipeline.calls import LLMCall, record_call
from pipeline.errors import LLMUnavailable
from pipeline.ports import Extraction, ExtractionRequest
from server.app import build_app
from server.wiring import Overrides, running
from tests.support.interview import PlainWriter, ScriptedExtractor
from tests.support.patience import PATIENCE_S
from tests.support.whole import ANSWER, BASE, FOUND, Process, deaf, scripted, settings_for

FAILS = "Please fail once"


class CostingExtractor(ScriptedExtractor):
    """Each answer costs one call; one of them fails at the first try."""

    def __init__(self) -> None:
        super().__init__({ANSWER: FOUND})
        self.calls = 0

    async def extract(self, request: ExtractionRequest) -> Extraction:
        self.calls += 1
        fails = request.text == FAILS and self.calls == 2
        record_call(
            LLMCall(
                id=f"call-{self.calls}",
                role="extraction",
                task="extraction",
                provider="anthropic",
                model="m-1",
                outcome="failed" if fails else "completed",
                error="LLMUnavailable" if fails else None,
                input_tokens=None if fails else 100,
                output_tokens=None if fails else 20,
                latency_ms=50.0,
                cost=None if fails else 0.001,
                currency=None if fails else "USD",
            )
        )
        if fails:
            raise LLMUnavailable("down")
        return await super().extract(request)


@asynccontextmanager
async def costing(tmp_path: Path) -> AsyncIterator[Process]:
    """A process whose answers cost something."""
    extractor, writer = CostingExtractor(), PlainWriter()
    overrides = Overrides(load=scripted(extractor, writer), hear=deaf)
    async with running(settings_for(tmp_path), overrides=overrides) as (parts, storage):
        app = build_app(parts)
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            yield Process(parts, storage, app, client, extractor, writer)


async def test_usage_of_an_interview_is_summed_and_listed_for_moderators_only(tmp_path: Path) -> None:
    async with costing(tmp_path) as api:
        session_id, headers = await api.interview(1)
        key = "11111111-2222-4333-8444-555555555555"
        failed = await api.turn(session_id, headers, FAILS, key)
        assert failed.status_code == 503
        assert (await api.turn(session_id, headers, FAILS, key)).status_code == 200
        assert await api.storage.writer.drain(PATIENCE_S)

        path = f"/api/sessions/{session_id}"
        detail = (await api.call("GET", path, headers=api.moderator)).json()
        usage = detail["usage"]
        assert (usage["calls"], usage["failed"], usage["discarded"]) == (3, 1, 0)
        assert (usage["input_tokens"], usage["output_tokens"], usage["latency_ms"]) == (200, 40, 150.0)
        assert (usage["cost"], usage["unpriced_calls"]) == ({"USD": 0.002}, 0)
        role = {"calls": 3, "input_tokens": 200, "output_tokens": 40, "cost": {"USD": 0.002}}
        assert usage["by_role"] == {"extraction": role}

        listed = (await api.call("GET", f"{path}/usage", headers=api.moderator)).json()
        assert {name: listed[name] for name in usage} == usage
        assert [(item["turn_number"], item["outcome"], item["error"]) for item in listed["items"]] == [
            (1, "completed", None),
            (2, "failed", "LLMUnavailable"),
            (2, "completed", None),
        ]

        refused = await api.call("GET", f"{path}/usage", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert (await api.call("GET", f"{path}/usage")).status_code == 401
        seen = (await api.call("GET", path, headers=headers)).text
        assert not any(word in seen for word in ("usage", "tokens", "cost", "m-1", "call-"))


async def test_usage_is_in_the_exports(tmp_path: Path) -> None:
    async with costing(tmp_path) as api:
        session_id, _ = await api.interview(1)
        path = f"/api/sessions/{session_id}/export?format="
        data = (await api.call("GET", f"{path}json", headers=api.moderator)).json()
        assert data["usage"]["cost"] == {"USD": 0.001}
        assert [call["id"] for call in data["llm_calls"]] == ["call-1"]
        archive = zipfile.ZipFile(io.BytesIO((await api.call("GET", f"{path}csv", headers=api.moderator)).content))
        [row] = csv.DictReader(io.StringIO(archive.read("usage.csv").decode("utf-8-sig")))
        assert (row["task"], row["input_tokens"], row["cost"]) == ("extraction", "100", "0.001")


async def test_erased_session_leaves_no_calls(tmp_path: Path) -> None:
    async with costing(tmp_path) as api:
        session_id, _ = await api.interview(1)
        assert len(await api.storage.store.llm_calls(session_id)) == 1
        await api.call("DELETE", f"/api/sessions/{session_id}", headers=api.moderator)
        assert await api.storage.writer.drain(PATIENCE_S)
        assert await api.storage.store.llm_calls(session_id) == []
        gone = await api.call("GET", f"/api/sessions/{session_id}/usage", headers=api.moderator)
        assert gone.status_code == 404

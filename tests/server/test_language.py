"""Sessions with language models in a whole process, in front of a provider that is a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from structlog.testing import capture_logs

from config.settings import SettingsError, load
from pipeline.concept import SessionConfiguration
from server.language import cautions, role_lines
from tests.support.interview import configuration
from tests.support.llm_double import Asked, Break, Fail, LLMDouble
from tests.support.llm_double.brain import Brain, task_of
from tests.support.patience import PATIENCE_S
from tests.support.whole import COFFEE, Process, process

KEY = "sk-proj-Q7vX2mLkP9dRtB4wYzN8cF6hJ1sG3aE5"
TURN_KEY = "7d7a0a1e-0000-4000-8000-000000000002"
ROLES = ("extraction", "scoring", "generation")


def models(double: LLMDouble, *roles: str, **more: str) -> dict[str, str]:
    """Settings that have the double do these roles, or all."""
    found: dict[str, str] = {}
    for role in roles or ROLES:
        found |= {
            f"{role}_provider": "openai_compatible",
            f"{role}_model": "double-1",
            f"{role}_base_url": double.base_url,
            f"{role}_api_key": KEY,
        }
    return found | more


@pytest.fixture
async def double() -> AsyncIterator[LLMDouble]:
    async with LLMDouble(key=KEY, default=Brain()) as made:
        yield made


@asynccontextmanager
async def kept(tmp_path: Path, **environment: str) -> AsyncIterator[Process]:
    """A process on the data that the one before left."""
    async with process(tmp_path, **environment) as one:
        yield one
        assert await one.storage.writer.drain(PATIENCE_S)


def tasks(double: LLMDouble) -> set[str]:
    return {task_of(asked) for asked in double.requests}


def is_extraction(asked: Asked) -> bool:
    return task_of(asked) == "extraction"


def is_question(asked: Asked) -> bool:
    return task_of(asked) == "question"


def measured(one: Process, name: str, **labels: str) -> float:
    return one.parts.metrics.registry.get_sample_value(name, labels) or 0.0


async def test_session_with_models_is_understood_and_asked_by_them(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path, **models(double)) as one:
        session_id, _ = await one.interview(turns=2)
        assert tasks(double) >= {"extraction", "rating", "question"}
        assert (one.extractor.requests, one.writer.requests) == ([], [])
        state = (await one.call("GET", f"/api/sessions/{session_id}", headers=one.moderator)).json()
        assert state["usage"]["calls"] >= 7
        page = one.parts.metrics.page().decode()
        labels = {"provider": "openai_compatible", "model": "double-1"}
        call = {**labels, "role": "extraction", "task": "extraction", "outcome": "completed"}
        assert measured(one, "askwell_llm_calls_total", **call) == 2
        assert measured(one, "askwell_llm_tokens_total", role="generation", direction="output") > 0
        assert measured(one, "askwell_llm_first_token_ms_count", role="generation") >= 3
        assert measured(one, "askwell_llm_ms_count", role="scoring") >= 2
        host = f"127.0.0.1:{double.port}"
        circuit = {**labels, "role": "scoring", "host": host}
        assert one.parts.metrics.registry.get_sample_value("askwell_llm_circuit_open", circuit) == 0
        assert KEY[:12] not in page + json.dumps(state)


async def test_session_offline_asks_nobody(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path) as one:
        await one.interview(turns=1)
        assert double.asked == []
        assert len(one.extractor.requests) == 1


async def test_single_role_may_be_a_models(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path, **models(double, "generation")) as one:
        await one.interview(turns=1)
        assert tasks(double) == {"question"}
        assert len(one.extractor.requests) == 1


async def test_session_keeps_its_models_and_prompts_and_offline_stays_offline(
    tmp_path: Path, double: LLMDouble
) -> None:
    async with kept(tmp_path) as one:
        offline, offline_headers = await one.interview(turns=1)
    async with kept(tmp_path, **models(double)) as one:
        assert (await one.turn(offline, offline_headers, "Still here")).status_code == 200
        assert double.requests == []
        remote, remote_headers = await one.interview(turns=1)
        asked = len(double.requests)
    async with kept(tmp_path, **models(double, extraction_model="double-2")) as one:
        assert (await one.turn(remote, remote_headers, "The aroma wakes me up")).status_code == 200
        assert {request.model for request in double.requests[asked:]} == {"double-1"}


async def test_prompts_that_change_are_for_new_sessions_only(tmp_path: Path, double: LLMDouble, root: Path) -> None:
    async with process(tmp_path, **models(double)) as one:
        before, headers = await one.interview(turns=1)
        prompts = tmp_path / "config" / "prompts"
        prompts.mkdir()
        text = (root / "config" / "prompts" / "question.md").read_text()
        (prompts / "question.md").write_text(text.replace("# User\n", "# User\n\nZebra crossing.\n"))
        await one.turn(before, headers, "The aroma wakes me up")
        assert not [asked for asked in double.requests if "Zebra" in asked.text]
        await one.interview(turns=1)
        assert [asked for asked in double.requests if "Zebra" in asked.text]


async def test_turn_fails_where_the_policy_is_to_fail_and_can_be_tried_again(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path, **models(double)) as one:
        session_id, headers = await one.interview(turns=1)
        double.next(Fail(400), when=is_extraction)
        failed = await one.turn(session_id, headers, "The aroma wakes me up", key=TURN_KEY)
        assert (failed.status_code, failed.json()["code"]) == (503, "llm_unavailable")
        again = await one.turn(session_id, headers, "The aroma wakes me up", key=TURN_KEY)
        assert again.status_code == 200
        assert measured(one, "askwell_llm_fallbacks_total", role="extraction") == 0


async def test_offline_provider_steps_in_where_the_policy_says_so(tmp_path: Path, double: LLMDouble) -> None:
    double.always(Fail(400))
    async with process(tmp_path, **models(double, on_llm_failure="offline")) as one:
        with capture_logs() as lines:
            await one.interview(turns=1)
        assert len(one.extractor.requests) == 1
        assert len(one.writer.requests) == 2
        fallbacks = {(line["role"], line["task"]) for line in lines if line["event"] == "llm_fallback"}
        assert fallbacks >= {("extraction", "extraction"), ("scoring", "rating"), ("generation", "opening")}
        assert measured(one, "askwell_llm_fallbacks_total", role="extraction") == 1
        assert measured(one, "askwell_llm_fallbacks_total", role="generation") == 2
        assert KEY[:12] not in repr(lines)


async def test_policy_of_a_concept_goes_before_the_settings(tmp_path: Path, double: LLMDouble) -> None:
    double.always(Fail(400), when=is_extraction)
    async with process(tmp_path, **models(double)) as one:
        _concept(tmp_path, on_llm_failure="offline")
        await one.interview(turns=1)
        assert len(one.extractor.requests) == 1


async def test_session_whose_model_is_not_set_up_any_more_says_why_and_goes_on_offline_if_told(
    tmp_path: Path, double: LLMDouble
) -> None:
    async with kept(tmp_path, **models(double)) as one:
        session_id, headers = await one.interview(turns=1)
    async with kept(tmp_path) as one:
        with capture_logs() as lines:
            failed = await one.turn(session_id, headers, "The aroma", key=TURN_KEY)
        assert (failed.status_code, failed.json()["code"]) == (503, "llm_unavailable")
        assert {line["reason"] for line in lines if line["event"] == "language.model_missing"} == {
            f"ASKWELL_{role.upper()}_BASE_URL is not set: `openai_compatible` needs the address of a server"
            for role in ROLES
        }
    async with kept(tmp_path, on_llm_failure="offline") as one:
        assert (await one.turn(session_id, headers, "The aroma", key=TURN_KEY)).status_code == 200


async def test_concept_whose_key_is_missing_is_reported_and_refused(tmp_path: Path) -> None:
    async with process(tmp_path) as one:
        path = _concept(tmp_path, llm={"scoring": {"provider": "anthropic", "model": "claude-x"}})
        checks = (await one.call("GET", "/readyz")).json()["checks"]
        reason = "ASKWELL_SCORING_API_KEY or ANTHROPIC_API_KEY is not set: `anthropic` needs a key"
        line = path.read_text().splitlines().index("  scoring:") + 1
        assert checks["configuration"] == [f"{path}:{line}: llm.scoring.api_key: {reason}"]
        refused = await one.call("POST", "/api/sessions", json={"concept_id": "coffee"})
        assert (refused.status_code, refused.json()["code"]) == (503, "llm_unavailable")
        assert reason in refused.json()["detail"]


async def test_provider_that_can_not_be_reached_does_not_keep_the_process_from_starting(
    tmp_path: Path, double: LLMDouble
) -> None:
    double.kill()
    with capture_logs() as lines:
        async with process(tmp_path, **models(double)) as one:
            assert (await one.call("GET", "/readyz")).status_code == 200
    (line,) = [line for line in lines if line["event"] == "language.provider_unusable"]
    assert "ASKWELL_" in line["reason"]
    assert line["log_level"] == "warning"


async def test_wrong_key_is_said_at_the_start_and_not_shown(tmp_path: Path, double: LLMDouble) -> None:
    double.key = "sk-another-one-that-is-right"
    with capture_logs() as lines:
        async with process(tmp_path, **models(double, "scoring")):
            pass
    said = [str(line) for line in lines if line["event"] == "language.provider_unusable"]
    assert len(said) <= 1
    assert KEY[:12] not in repr(lines)


async def test_process_without_a_model_for_its_provider_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="ASKWELL_SCORING_MODEL is not set"):
        async with process(tmp_path, scoring_provider="openai", scoring_api_key=KEY):
            pass


async def test_deadline_of_a_turn_leaves_room_for_its_calls(tmp_path: Path, double: LLMDouble) -> None:
    settings = models(double, extraction_deadline_s="40", scoring_deadline_s="10", generation_deadline_s="20")
    async with process(tmp_path, **settings) as one:
        pinned = one.parts.library.configuration("coffee")
        assert one.parts.pipelines.deadline_s(pinned) == 2 * 40 + 2 * 20 + 5
        assert one.parts.pipelines.deadline_s(configuration()) == 45
    settings = models(double, "generation", generation_deadline_s="1")
    async with process(tmp_path, **settings, turn_deadline_s="60") as one:
        assert one.parts.pipelines.deadline_s(one.parts.library.configuration("coffee")) == 60


async def test_pipelines_are_shared_by_sessions_that_are_alike(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path, **models(double)) as one:
        pipelines, library = one.parts.pipelines, one.parts.library
        first, second = library.configuration("coffee"), library.configuration("coffee", max_turns=5)
        assert pipelines.of(first) is pipelines.of(second)
        _concept(tmp_path, on_llm_failure="offline")
        other = library.configuration("coffee")
        assert pipelines.of(other) is not pipelines.of(first)
        assert pipelines.of(configuration()) is pipelines.of(configuration(max_answer_chars=5))
        assert pipelines.of(configuration()) is not pipelines.of(first)


async def test_slots_of_a_model_are_named_after_the_question(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path, **models(double, "scoring")) as one:
        pipelines, library = one.parts.pipelines, one.parts.library
        coffee = library.configuration("coffee")
        assert pipelines.of(coffee).defers_naming(coffee)
        assert not pipelines.of(configuration()).defers_naming(configuration())


async def test_pinned_prompts_that_can_not_be_used_give_way_to_those_of_now(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path, **models(double)) as one:
        pinned = one.parts.library.configuration("coffee")
        old = pinned.model_copy(update={"prompts": {"question": "# System\n\nOld\n\n# User\n\n{{ gone }}\n"}})
        assert isinstance(old, SessionConfiguration)
        with capture_logs() as lines:
            one.parts.pipelines.of(old)
        assert [line["event"] for line in lines] == ["language.prompts_outdated"]


async def test_stream_that_breaks_is_not_left_open_when_the_process_ends(tmp_path: Path, double: LLMDouble) -> None:
    async with process(tmp_path, **models(double, generation_deadline_s="0.3")) as one:
        session_id, headers = await one.interview(turns=1)
        double.always(Break("silence"), when=is_question)
        failed = await one.turn(session_id, headers, "The aroma")
        assert failed.status_code == 503
    assert double.open == 0


def _concept(tmp_path: Path, **changes: Any) -> Path:
    """The coffee concept with these changes, as a file that is new to whoever knew it."""
    path = tmp_path / "config" / "concepts" / "coffee.yaml"
    path.write_text(yaml.safe_dump({**COFFEE, **changes}, sort_keys=False))
    return path


def test_start_lines_name_provider_model_host_and_policy() -> None:
    settings = load(
        {
            "ASKWELL_GENERATION_PROVIDER": "anthropic",
            "ASKWELL_GENERATION_MODEL": "claude-x",
            "ANTHROPIC_API_KEY": KEY,
            "ASKWELL_SCORING_PROVIDER": "openai_compatible",
            "ASKWELL_SCORING_MODEL": "m",
            "ASKWELL_SCORING_BASE_URL": "http://gpu:8000/v1",
            "ASKWELL_SCORING_API_KEY": KEY,
        }
    ).settings
    assert role_lines(settings) == [
        "extraction: offline",
        "scoring: openai_compatible, m, at gpu:8000",
        "generation: anthropic, claude-x, at api.anthropic.com",
        "when a language model fails: the turn fails and can be tried again (ASKWELL_ON_LLM_FAILURE=fail)",
    ]
    assert cautions(settings) == [
        "what respondents say is sent to gpu:8000, api.anthropic.com",
        "ASKWELL_SCORING_BASE_URL is http: answers and the key travel unencrypted",
    ]
    assert role_lines(load({}).settings) == ["offline: extraction, scoring and questions without a language model"]
    assert cautions(load({}).settings) == []


def test_offline_process_imports_no_client_and_no_templates(root: Path) -> None:
    code = """
import asyncio, sys
from config.loader import Library
from config.roles import Models
from config.settings import load
from server.language import Language
from server.pipelines import Pipelines
from server import wiring
from pipeline.language.acts.reading import RuleReader
from tests.support.interview import Interview, configuration
settings = load({}).settings
library = Library(settings.pipeline, models=Models(settings))
assert not library.problems()
assert not library.configuration("coffee_mec").prompts
one = Interview()
from pipeline.turn import Providers
offline = Providers(one.extractor, one.rater, one.slots, one.writer, one.embedder, one.parser, RuleReader())
language = Language(offline, settings, {}, prompts=library.prompts, observe=print, on_fallback=print)
assert asyncio.run(language.warm([c.llm for c in library.concepts().values()])) == []
Pipelines(language, lambda: 0.0).of(configuration())
print(sorted(name for name in ("httpx", "httpx2", "jinja2") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr

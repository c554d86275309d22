"""The lines of "How to add …" in CONTRIBUTING.md are true: the places exist, and what is put there is picked up."""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import pytest
import yaml
from pydantic import Field, TypeAdapter
from sqlalchemy import inspect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from config import settings as settings_module
from config.loader import Library
from config.roles import BASE_URLS
from config.settings import LogSettings, Settings, catalogue, load
from pipeline import concept
from pipeline.concept import EngineName, PipelineSettings
from pipeline.contracts import Contract
from pipeline.engines.arbitration import scorers as arbitration_scorers
from pipeline.engines.base import Decision, DecisionInputs
from pipeline.engines.registry import ENGINES
from pipeline.engines.signal_pools import SignalPools
from pipeline.engines.two_tier import scorers as two_tier_scorers
from pipeline.engines.two_tier.vetoes import VETOES
from pipeline.errors import PipelineMisbuilt
from pipeline.language.clients import base
from pipeline.language.clients.base import RoleModel
from pipeline.language.clients.clients import wire_format
from pipeline.turn import Providers, TurnPipeline, default_stages
from server.api.catalogue import CATALOGUE
from server.app import http_routes
from server.descriptions import DescribedRoute, Operation, Reply
from server.openapi import PAGE, document, published
from server.pages import languages_of, routes, web_root
from server.protocol import inbound, moderator, outbound, watched
from server.protocol.base import Message
from server.protocol.schema import CHANNELS, Channel
from server.realtime import inbound as realtime
from server.store.engine import Database
from server.store.rows import changes
from server.store.tables import METADATA
from tests.support.interview import Interview, Ticks, concepts, new_state

PLACE = re.compile(r"([\w./]+\.py)::(\w+)")
HELD: set[str] = set()
"""Lines that a test below holds to what they say."""

Test = Callable[..., Any]


def holds(line: str) -> Callable[[Test], Test]:
    """Mark the test of a line."""
    HELD.add(line)
    return lambda test: test


def lines(root: Path) -> dict[str, str]:
    """By what is added: its line."""
    section = (root / "CONTRIBUTING.md").read_text().split("## How to add …")[1].split("\n## ")[0]
    return dict(re.findall(r"^- \*\*(.+?)\*\*: (.+?)(?=\n- |\s*\Z)", section, re.MULTILINE | re.DOTALL))


def test_lines_each_have_a_test(root: Path) -> None:
    assert set(lines(root)) == HELD


def test_files_and_folders_that_lines_name_exist(root: Path) -> None:
    named = {
        token for line in lines(root).values() for token in re.findall(r"`([\w./<>-]+?/[\w./<>-]*)(?:::\w+)?`", line)
    }
    assert {"pipeline/engines/", "config/texts/<tag>.yaml", "server/pages.py"} <= named
    assert sorted(name for name in named if not (root / name.replace("<tag>", "en")).exists()) == []


def test_names_that_lines_give_exist(root: Path) -> None:
    named = PLACE.findall("\n".join(lines(root).values()))
    assert ("pipeline/turn.py", "default_stages") in named
    modules = {path: importlib.import_module(path.removesuffix(".py").replace("/", ".")) for path, _ in named}
    assert [f"{path}::{name}" for path, name in named if not hasattr(modules[path], name)] == []


class OwnEngine(SignalPools):
    name = "own"

    def __init__(self) -> None:
        super().__init__()
        self.decided = 0

    def decide(self, inputs: DecisionInputs) -> Decision:
        self.decided += 1
        return super().decide(inputs)


@dataclass
class OwnPipeline(Interview):
    engine: OwnEngine = field(default_factory=OwnEngine)

    def pipeline(self) -> TurnPipeline:
        return TurnPipeline(super().pipeline()._providers, Ticks(), engines={"own": self.engine})


@holds("a decision engine")
async def test_engine_that_is_named_is_there_and_one_that_is_handed_over_decides() -> None:
    assert set(Interview().pipeline()._engines) == set(ENGINES) <= set(get_args(EngineName))
    interview = OwnPipeline()
    interview.state = interview.state.model_copy(update={"engine": "own"})
    await interview.say("taste", concepts(("taste", "attribute")))
    assert interview.engine.decided == 1


@holds("a scorer or a veto")
def test_scorers_and_vetoes_are_what_the_files_that_come_along_name() -> None:
    library = Library(PipelineSettings())
    additive, multiplicative = (library.engine_files.pinned(name) for name in ("two_tier", "arbitration"))
    assert {rule["class"] for rule in additive["scorers"]} == set(two_tier_scorers.SCORERS)
    assert {rule["class"] for rule in additive["vetoes"]} == set(VETOES)
    assert {rule["class"] for rule in multiplicative["scorers"]} == set(arbitration_scorers.SCORERS)


def own_files(root: Path, folder: Path, change: Callable[[dict[str, Any]], None], *, name: str) -> Library:
    """A library with a changed methodology of this name, and a concept by it."""
    text = (root / "config/methodologies/means_end_chain.yaml").read_text()
    methodology = yaml.safe_load(text)
    methodology["method"]["name"] = name
    change(methodology)
    for kind, stem, data in (
        ("methodologies", name, methodology),
        ("concepts", "own", {"id": "own", "name": "tea", "methodology": name, "objective": "Why tea."}),
    ):
        (folder / kind).mkdir()
        (folder / kind / f"{stem}.yaml").write_text(yaml.safe_dump(data, allow_unicode=True))
    return Library(PipelineSettings(), config_dir=folder)


@holds("a strategy")
def test_strategy_that_is_added_is_one_to_choose_from(root: Path, tmp_path: Path) -> None:
    def add(methodology: dict[str, Any]) -> None:
        methodology["strategies"].append({**methodology["strategies"][0], "name": "wonder"})

    library = own_files(root, tmp_path, add, name="means_end_chain")
    assert library.problems() == ()
    assert library.configuration("own").methodology.strategy("wonder").name == "wonder"


@holds("a methodology")
def test_methodology_that_is_added_is_one_to_interview_by(root: Path, tmp_path: Path) -> None:
    library = own_files(root, tmp_path, lambda methodology: None, name="own_method")
    assert library.problems() == ()
    assert library.configuration("own").methodology.name == "own_method"
    by: dict[str, int] = {}
    for path in (root / "config/concepts").glob("*.yaml"):
        concept = yaml.safe_load(path.read_text())
        if "stimulus" not in concept:  # concept tests show what an engine is for, not a method
            by[concept["methodology"]] = by.get(concept["methodology"], 0) + 1
    assert by == {path.stem: 2 for path in (root / "config/methodologies").glob("*.yaml")}


ADDED_SIGNAL = """
from pipeline.signals import graph
class Own(type(graph.SIGNALS[0])):
    name = "graph.own"
graph.SIGNALS = (*graph.SIGNALS, Own())
from pipeline.signals.registry import ORDER, SIGNALS, weight_key
assert "graph.own" in ORDER and weight_key("graph.own").signal is SIGNALS["graph.own"]
"""


@holds("a signal")
def test_signal_that_is_appended_is_one_to_weigh(root: Path) -> None:
    run = subprocess.run([sys.executable, "-c", ADDED_SIGNAL], cwd=root, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    registry = importlib.import_module("pipeline.signals.registry")
    pools = [path.stem for path in (root / "pipeline/signals").glob("*.py") if "\nSIGNALS = " in path.read_text()]
    own = [signal for pool in pools for signal in importlib.import_module(f"pipeline.signals.{pool}").SIGNALS]
    assert sorted(signal.name for signal in own) == sorted(registry.SIGNALS)


class OwnOutput(Contract):
    pass


class OwnStage:
    name: ClassVar[str] = "own"
    requires: ClassVar[tuple[type[Contract], ...]] = (OwnOutput,)
    provides: ClassVar[type[Contract]] = OwnOutput


@holds("a stage")
def test_stage_has_a_place_and_one_that_does_not_fit_is_refused(root: Path) -> None:
    providers = Interview().pipeline()._providers
    stages = default_stages(providers, {})
    placed = {type(stage).__module__ for _, stage in stages}
    files = {path.stem for path in (root / "pipeline/stages").glob("*.py")} - {"__init__", "base"}
    assert {f"pipeline.stages.{stem}" for stem in files} <= placed
    assert {stage.provides.__module__ for _, stage in stages} == {"pipeline.contracts"}
    with pytest.raises(PipelineMisbuilt, match="OwnOutput"):
        TurnPipeline(providers, Ticks(), stages=[*stages, ("speech", OwnStage())])  # type: ignore[list-item]


@holds("a language provider")
def test_provider_that_is_named_has_an_address_and_a_wire_format() -> None:
    wired = set(get_args(base.ProviderName))
    assert set(get_args(concept.ProviderName)) == wired | {"offline"}
    assert set(BASE_URLS) == wired - {"openai_compatible"}
    for provider in wired:
        assert wire_format(RoleModel("generation", provider, "m", "https://example.org")).key_header
    ports = vars(importlib.import_module("pipeline.ports"))
    parts = ("extractor", "rater", "slot_proposer", "writer", "embedder", "parser")
    assert all(Providers.__dataclass_fields__[part].type in ports for part in parts)


class OwnMessage(Message):
    """Nothing."""

    type: Literal["own"]


UNIONS = {
    inbound: inbound.ClientMessage,
    outbound: outbound.ServerMessage,
    moderator: moderator.ModeratorMessage,
    watched: watched.ModeratorServerMessage,
}


@holds("a message")
def test_message_in_a_union_is_published() -> None:
    for module, union in UNIONS.items():
        channel = next(one for one in CHANNELS if one.adapter._type == union)
        own = {one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__}
        models = {one for one in own if issubclass(one, Message) and "type" in one.model_fields}
        assert models <= set(channel.messages)
        more: Any = reduce(or_, (*channel.messages, OwnMessage))
        adapter: TypeAdapter[Any] = TypeAdapter(Annotated[more, Field(discriminator="type")])
        added = Channel(channel.file, channel.title, channel.intro, adapter)
        assert added.messages == [*channel.messages, OwnMessage]
        assert "own" in added.schema()["discriminator"]["mapping"]


@holds("an event of the Realtime door")
def test_event_of_the_realtime_door_is_read_and_has_a_case(root: Path) -> None:
    source = ast.parse((root / "server/sockets/realtime.py").read_text(encoding="utf-8"))
    cases = {
        node.cls.id for node in ast.walk(source) if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)
    }
    own = {one for one in vars(realtime).values() if isinstance(one, type) and issubclass(one, realtime.Event)}
    models = own - {realtime.Event}
    assert models == set(get_args(realtime.ApiEvent))
    assert {model.__name__ for model in models} <= cases
    page = (root / "docs/realtime.md").read_text(encoding="utf-8")
    assert [name for name in realtime.API_EVENTS if f"`{name}`" not in page] == []


async def own_call(request: Request) -> Response:
    """Nothing."""
    return Response(status_code=204)


@holds("a call")
def test_call_that_is_listed_is_published() -> None:
    operation = Operation("Own", CATALOGUE, (Reply("Nothing.", status=204, media_types=()),), anyone=True)
    routes = [*http_routes(), DescribedRoute("/api/own", own_call, operation)]
    made = document(routes)["paths"]["/api/own"]["get"]
    assert (made["tags"], made["summary"], "204" in made["responses"]) == (["Catalogue"], "Own", True)
    assert "### `GET /api/own`" in published(routes)[PAGE]


@holds("a page")
def test_pages_each_have_a_url() -> None:
    client = TestClient(Starlette(routes=routes()))
    paths = [route.path.replace("{session_id}", "s1") for route in routes() if isinstance(route, Route)]
    answers = [client.get(path) for path in paths]
    pages = [answer for answer in answers if answer.headers["content-type"].startswith("text/html")]
    shown = {re.findall(r'src="/static/(\w+)/main\.js"', page.text)[0] for page in pages}
    assert len(shown) == len(list(web_root().glob("*.html")))
    assert shown <= {script.parent.name for script in (web_root() / "static").glob("*/main.js")}


@holds("a language")
def test_language_whose_files_are_added_is_there(root: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for part in ("", "voice.", "kiosk.", "moderator."):
        shutil.copy(root / f"web/static/texts/{part}en.js", texts / f"{part}sv.js")
    assert languages_of(texts) == {part: ["sv"] for part in ("common", "voice", "kiosk", "moderator")}
    shutil.copy(root / "config/texts/en.yaml", texts / "sv.yaml")
    library = Library(PipelineSettings(), config_dir=tmp_path)
    assert "sv" in library.languages()


class OwnLogs(LogSettings):
    log_width: int = Field(default=80, description="Columns of a line.")


class OwnSettings(Settings):
    logs: OwnLogs = OwnLogs()


@holds("a setting")
def test_setting_that_is_added_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_module, "Settings", OwnSettings)
    assert "ASKWELL_LOG_WIDTH" in {setting.env for setting in catalogue()}
    found = load({"ASKWELL_LOG_WIDTH": "99"}).settings.logs
    assert isinstance(found, OwnLogs) and found.log_width == 99


@holds("a table or column")
async def test_tables_are_those_that_migrations_make_and_that_changes_fill(tmp_path: Path) -> None:
    database = Database.file(tmp_path / "own.db")
    await database.migrate()
    async with database.read() as connection:
        made = await connection.run_sync(lambda c: set(inspect(c).get_table_names()))
    await database.close()
    assert made - {"alembic_version"} == set(METADATA.tables)
    assert {change.table.name for change in changes(None, new_state())} <= set(METADATA.tables)


@holds("a dependency")
def test_versions_are_pinned_outside_the_project_file(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert all(re.search(r"[<>=]", requirement) for requirement in project["dependencies"])
    assert (root / "constraints.txt").read_text().count("==") > len(project["dependencies"])

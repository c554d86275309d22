"""Every direction of docs/architecture.md is a contract, and every contract bites."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ("server", "pipeline", "audio", "web", "config", "artefacts")

OFFENCES: tuple[tuple[str, str, str], ...] = (
    # (start of the contract's name, module that offends, what it imports)
    ("server above config", "config/zz_offence.py", "server"),
    ("server above config", "pipeline/zz_upwards.py", "config"),
    ("server above config", "pipeline/stages/zz_sideways.py", "audio"),
    ("server above config", "audio/zz_sideways.py", "pipeline"),
    ("server above config", "artefacts/zz_upwards.py", "audio"),
    ("web holds assets", "web/zz_offence.py", "pipeline"),
    ("only server reads the assets", "config/zz_assets.py", "web"),
    ("in pipeline only turn and language know asyncio", "pipeline/stages/zz_tasks.py", "asyncio"),
    ("in pipeline only turn and language know asyncio", "pipeline/zz_tasks.py", "asyncio"),
    ("in pipeline only language knows", "pipeline/graph/zz_clock.py", "time"),
    ("in pipeline only language knows", "pipeline/zz_chance.py", "random"),
    ("in pipeline only language knows", "pipeline/signals/zz_parse.py", "spacy"),
    ("in pipeline only language knows", "pipeline/engines/zz_model.py", "onnxruntime"),
    ("the interview reaches language providers", "pipeline/stages/zz_provider.py", "pipeline.language"),
    ("pipeline, audio and config never meet", "pipeline/language/zz_web.py", "starlette"),
    ("httpx only in", "server/zz_http.py", "httpx"),
    ("httpx only in", "pipeline/language/zz_http.py", "httpx2"),
    ("redis only in", "server/zz_redis.py", "redis"),
    ("redis only in", "pipeline/language/zz_redis.py", "redis"),
    ("sqlalchemy only in", "server/zz_sql.py", "sqlalchemy"),
    ("sqlalchemy only in", "server/hot/zz_sql.py", "sqlalchemy"),
    ("sqlalchemy only in", "pipeline/language/zz_sql.py", "sqlalchemy"),
    ("faster_whisper only in", "audio/zz_whisper.py", "faster_whisper"),
    ("in audio only speech and whisper know asyncio", "audio/zz_tasks.py", "asyncio"),
    ("stages don't import each other", "pipeline/stages/zz_neighbour.py", "pipeline.stages.srl"),
    ("engines don't import each other", "pipeline/engines/zz_neighbour.py", "pipeline.engines.signal_pools"),
    ("engines don't import each other", "pipeline/engines/two_tier/zz_neighbour.py", "pipeline.engines.arbitration"),
    ("what engines share knows no engine", "pipeline/engines/shared/zz_owned.py", "pipeline.engines.two_tier"),
    ("the rooms inside server", "server/session/zz_upwards.py", "server.speech.listening"),
    ("the rooms inside server", "server/speech/zz_upwards.py", "server.sockets.respondent"),
    ("the rooms inside server", "server/watch/zz_upwards.py", "server.api.views"),
    ("the rooms inside server", "server/reading.py", "server.parts"),
    ("the rooms inside server", "server/hot/zz_upwards.py", "server.session.ledger"),
    ("inside session", "server/session/worker.py", "server.session.context"),
    ("inside session", "server/session/change.py", "server.session.rules"),
    ("no circles inside server", "server/watch/mailbox.py", "server.watch.service"),
    ("no circles inside server", "server/speech/transcript.py", "server.speech.answer"),
)


PROVIDERS = {"pipeline.language"}
MODULE_KEYS = ("source_modules", "forbidden_modules", "modules", "layers", "ignore_imports")


def contracts(root: Path) -> list[dict[str, Any]]:
    """The contracts in pyproject.toml."""
    with (root / "pyproject.toml").open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return found


def lint(folder: Path) -> str:
    """What import-linter says about the packages in `folder`."""
    program = Path(sys.executable).with_name("lint-imports")
    env = os.environ | {"COLUMNS": "240"}
    run = subprocess.run([program, "--no-cache"], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    return run.stdout + run.stderr


@pytest.fixture(scope="module")
def broken(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """By contract: what the linter says about a copy of the packages with every offence in it."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copy(root / "pyproject.toml", copy)
    for package in PACKAGES:
        for source in (root / package).rglob("*.py"):
            if "node_modules" in source.parts:
                continue
            target = copy / source.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for _, path, imported in OFFENCES:
        target = copy / path
        # An offence in a module that exists is added to it: a circle needs the other half.
        before = target.read_text() if target.exists() else '"""Not allowed."""\n'
        target.write_text(f"{before}\nimport {imported}\n\n_OFFENCE = {imported.split('.')[0]}\n")
    said = lint(copy)
    sections = re.split(r"^(.+)\n-{3,}\n", said, flags=re.M)
    return dict(zip(sections[1::2], sections[2::2], strict=True))


@pytest.mark.parametrize(("contract", "path", "imported"), OFFENCES)
def test_contract_offending_module_is_reported(
    broken: Mapping[str, str], contract: str, path: str, imported: str
) -> None:
    told = [text for name, text in broken.items() if name.startswith(contract)]
    module = path.removesuffix(".py").replace("/", ".")
    # Contracts on circles name siblings by their last part.
    short = rf"\.{module.rpartition('.')[2]} -> \.{imported.rpartition('.')[2]}"
    arrow = re.compile(rf"({re.escape(module)} ?-> ?{re.escape(imported)}|{short})\b")
    assert told, f"nothing said about {contract!r}; broken: {sorted(broken)}"
    assert arrow.search(told[0]), told[0]


def test_contracts_each_has_an_offence_that_it_catches(root: Path) -> None:
    names = [str(contract["name"]) for contract in contracts(root)]
    assert [name for name in names if not any(name.startswith(tested) for tested, _, _ in OFFENCES)] == []


def modules_named(contract: Mapping[str, Any]) -> set[str]:
    """Our modules that a contract names; patterns as they stand."""
    names = {name for key in MODULE_KEYS for one in contract.get(key, ()) for name in re.split(r"\s*(?:->|\|)\s*", one)}
    return {name for name in names if name.split(".")[0] in PACKAGES}


def exists(root: Path, module: str) -> bool:
    """Whether there is such a module; `*` stands for one part of a name and `**` for one or more."""
    place = module.replace(".", "/")
    if "*" in module:
        return any(root.glob(f"{place}/*.py" if place.endswith("**") else f"{place}.py"))
    return (root / f"{place}.py").is_file() or (root / place / "__init__.py").is_file()


def test_contracts_name_modules_that_exist(root: Path) -> None:
    named = {name for contract in contracts(root) for name in modules_named(contract)}
    assert {"pipeline.turn", "server.watch.webhook", "audio.whisper", "pipeline.language.**"} <= named
    assert sorted(name for name in named if not exists(root, name)) == []
    assert not any(exists(root, gone) for gone in ("pipeline.gone", "pipeline.gone.**", "server.watch.gone.*"))


def test_exceptions_of_ruff_are_for_files_that_exist(root: Path) -> None:
    with (root / "pyproject.toml").open("rb") as file:
        ignores = tomllib.load(file)["tool"]["ruff"]["lint"]["per-file-ignores"]
    assert [pattern for pattern in ignores if not any(root.glob(pattern))] == []


def test_contract_on_providers_covers_every_part_of_the_pipeline(root: Path) -> None:
    (contract,) = [c for c in contracts(root) if str(c["name"]).startswith("the interview reaches")]
    children = list((root / "pipeline").iterdir())
    modules = [path for path in children if path.suffix == ".py" or (path / "__init__.py").exists()]
    parts = {f"pipeline.{path.stem}" for path in modules if path.stem != "__init__"}
    assert parts - PROVIDERS == set(contract["source_modules"])

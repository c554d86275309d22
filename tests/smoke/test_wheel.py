"""The wheel, built and installed by the Dockerfile's own steps, serves an interview from an empty folder."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.smoke import dependencies, dockerfile
from tests.smoke.server import Respondent, Server, call
from tools.lock import RUN_EXTRAS

ANSWERS = (
    "I use my headphones mostly on the train, because they block out the noise and I can finally concentrate.",
    "Concentrating matters because I get my reading done and then I feel calm when I arrive at work.",
    "I don't know.",
)
ASSETS = (
    "web/index.html", "web/interview.html", "web/static/theme.css", "config/methodologies/means_end_chain.yaml",
    "pipeline/language/data/bert-base-uncased-vocab.txt", "pipeline/question/data/unacceptable/en.yaml",
)  # fmt: skip

pytestmark = [pytest.mark.timeout(900), pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.thorough]


@pytest.fixture(scope="module")
def stages(root: Path) -> dict[str, dockerfile.Stage]:
    """The Dockerfile's stages."""
    return dockerfile.parse(root / "Dockerfile")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the checkout."""
    return tmp_path_factory.mktemp("image")


@pytest.fixture(scope="module")
def installed(root: Path, stages: dict[str, dockerfile.Stage], place: Path) -> Path:
    """The virtual environment that the build stage makes."""
    return dockerfile.build(stages["build"], root, place)


def test_wheel_carries_every_asset_and_nothing_of_the_workshop(installed: Path, place: Path) -> None:
    (wheel,) = (place / "wheels").glob("askwell-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert set(ASSETS) <= names
    assert any(name.startswith("server/store/migrations/") for name in names)
    assert any(name.endswith(".lua") for name in names)
    assert {name for name in names if name.split("/")[0] in ("tests", "docs")} == set()
    assert {name for name in names if name.endswith(("ruff.toml", "package.json")) or "node_modules" in name} == set()


def test_dependencies_are_declared_and_tested_ones(
    installed: Path, stages: dict[str, dockerfile.Stage], root: Path
) -> None:
    (command,) = [text for text in stages["build"].arguments("RUN") if text.endswith("-r requirements/run.lock")]
    assert command.startswith("/opt/askwell/bin/pip install --require-hashes --no-deps --only-binary :all:")
    assert (dockerfile.EXTRA,) == RUN_EXTRAS
    listed = subprocess.run(
        [installed / "bin" / "python", "-m", "pip", "list", "--format", "json"], capture_output=True, timeout=60
    )
    versions = {dependencies.plain(each["name"]): each["version"] for each in json.loads(listed.stdout)}
    pinned = dependencies.pinned(root)
    declared = {dependencies.plain(one.name) for one in dependencies.declared(root, dockerfile.EXTRA)}
    assert declared <= versions.keys()
    assert {name: version for name, version in versions.items() if pinned.get(name, version) != version} == {}
    assert not versions.keys() & {"pytest", "hypothesis", "playwright", "mypy", "ruff"}
    checked = subprocess.run([installed / "bin" / "python", "-m", "pip", "check"], capture_output=True, timeout=60)
    assert checked.returncode == 0, checked.stdout


def test_installation_brings_no_torch(installed: Path) -> None:
    probe = "import importlib.util as u; raise SystemExit(u.find_spec('torch') is not None)"
    run = subprocess.run([installed / "bin" / "python", "-I", "-c", probe], cwd="/", timeout=60)
    assert run.returncode == 0


def test_wheel_serves_an_interview_and_keeps_it_over_a_restart(
    installed: Path, stages: dict[str, dockerfile.Stage], place: Path
) -> None:
    env = dockerfile.environment(stages["run"])
    with Server(installed, place, env) as server:
        status, page = call("GET", f"{server.url}/")
        assert status == 200
        assert "<!doctype html>" in page.lower()
        health = dockerfile.health_command(stages["run"])
        assert subprocess.run(health, env=server.env, timeout=30).returncode == 0
        person = Respondent(server.url, "headphones_mec", max_turns=5)
        person.start()
        results = [person.answer(text) for text in ANSWERS]
        assert [result["turn_number"] for result in results] == [1, 2, 3]
        before = person.look()
        assert server.stop() == 0
        assert server.processes() == []
    with Server(installed, place, env) as server:
        after = call("GET", f"{server.url}/api/sessions/{person.session_id}", token=person._token)[1]
        assert [line["text"] for line in after["transcript"]] == [line["text"] for line in before["transcript"]]
        spoken = [line["text"] for line in after["transcript"] if line["speaker"] == "respondent"]
        assert spoken == list(ANSWERS)
        assert server.stop() == 0

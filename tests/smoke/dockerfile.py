"""The steps of the Dockerfile, performed in an ordinary folder: no container engine, the same commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.smoke import dependencies

INSTALLED = "/opt/askwell"
WHEELS = "/wheels"
EXTRA = "postgres"
"""What the image has beside the core."""
IGNORED = shutil.ignore_patterns("__pycache__", "node_modules", "ruff.toml")


@dataclass
class Stage:
    """One `FROM … AS name`: its instructions in order."""

    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def arguments(self, instruction: str) -> list[str]:
        """What follows each use of one instruction."""
        return [text for name, text in self.steps if name == instruction]


def parse(path: Path) -> dict[str, Stage]:
    """Stages of a Dockerfile by name."""
    text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
    stages: dict[str, Stage] = {}
    current: Stage | None = None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            current = Stage(rest.split(" AS ")[1])
            stages[current.name] = current
        elif current is not None:
            current.steps.append((instruction, rest.strip()))
    return stages


def environment(stage: Stage) -> dict[str, str]:
    """What ENV sets, without PATH (which names the base image's folders)."""
    pairs = re.findall(r"(\w+)=(\S+)", " ".join(stage.arguments("ENV")))
    return {key: value.strip('"') for key, value in pairs if key != "PATH"}


def health_command(stage: Stage) -> list[str]:
    """The program and arguments of HEALTHCHECK."""
    command: list[str] = json.loads(stage.arguments("HEALTHCHECK")[0].partition("CMD ")[2])
    return command


def build(stage: Stage, checkout: Path, place: Path) -> Path:
    """Perform COPY and RUN of the build stage below `place`.

    The base image's Python is the one that runs this. What askwell depends on is not unpacked again: what the project
    file declares, in the tested versions and nothing else, is linked from the environment of the tests.

    Returns:
        The folder of the installed virtual environment.
    """
    source = place / "src"
    source.mkdir(parents=True)
    installed, wheels = place / "opt", place / "wheels"
    kept = {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME", "PIP_CONSTRAINT"}
    env = {key: value for key, value in os.environ.items() if key not in kept}
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    for instruction, text in stage.steps:
        if instruction == "COPY":
            *names, target = text.split()
            for name in names:
                copy(checkout / name, source / target if target != "./" else source / name)
        elif instruction == "RUN":
            if text.startswith(f"{INSTALLED}/bin/pip install --require-hashes"):
                continue  # these packages are linked
            command = text.replace(INSTALLED, str(installed)).replace(WHEELS, str(wheels))
            run = subprocess.run(
                ["sh", "-c", command], cwd=source, env=env, capture_output=True, text=True, timeout=900
            )
            if run.returncode != 0:
                raise AssertionError(f"RUN {text}\n{run.stdout[-4000:]}\n{run.stderr[-4000:]}")
            if text == f"python -m venv {INSTALLED}":
                (site,) = installed.glob("lib/python*/site-packages")
                wanted = dependencies.declared(checkout, EXTRA)
                dependencies.link(dependencies.resolved(wanted, dependencies.pinned(checkout)), site)
    return installed


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, without what .dockerignore keeps out."""
    if source.is_dir():
        shutil.copytree(source, target, ignore=IGNORED)
    else:
        shutil.copy(source, target)

"""Dockerfile and compose.yaml hang together: what one part names, another provides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.settings import catalogue, load
from server.origins import Origins


@pytest.fixture(scope="module")
def compose(root: Path) -> Mapping[str, Any]:
    """The parsed compose file."""
    loaded: Mapping[str, Any] = yaml.safe_load((root / "compose.yaml").read_text())
    return loaded


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    """The Dockerfile with continued lines joined."""
    return (root / "Dockerfile").read_text().replace("\\\n", " ")


def known_variables() -> set[str]:
    """Every environment variable that askwell reads."""
    settings = list(catalogue())
    return {setting.env for setting in settings} | {f"{setting.env}_FILE" for setting in settings if setting.secret}


def test_compose_references_are_declared(compose: Mapping[str, Any]) -> None:
    services = compose["services"]
    dangling: list[str] = []
    for name, service in services.items():
        dangling += [f"{name} depends on {other}" for other in service.get("depends_on", {}) if other not in services]
        for kind in ("secrets", "networks"):
            dangling += [f"{name}: {kind} {item}" for item in service.get(kind, []) if item not in compose[kind]]
        dangling += [
            f"{name}: config {c['source']}" for c in service.get("configs", []) if c["source"] not in compose["configs"]
        ]
        volumes = [volume.split(":")[0] for volume in service.get("volumes", [])]
        dangling += [f"{name}: volume {volume}" for volume in volumes if volume not in compose["volumes"]]
    assert dangling == []


def test_compose_waits_only_for_services_that_tell_their_health(compose: Mapping[str, Any], dockerfile: str) -> None:
    services = compose["services"]
    for service in services.values():
        for other, wait in service.get("depends_on", {}).items():
            assert wait["condition"] == "service_healthy"
            assert "healthcheck" in services[other] or ("build" in services[other] and "HEALTHCHECK" in dockerfile)


def test_compose_starts_two_nodes_without_a_published_port(compose: Mapping[str, Any]) -> None:
    nodes = [service for name, service in compose["services"].items() if name.startswith("node-")]
    assert len(nodes) == 2
    assert all("ports" not in node for node in nodes)
    assert len({node["volumes"][0] for node in nodes}) == 2


def test_compose_and_dockerfile_set_only_known_settings(compose: Mapping[str, Any], dockerfile: str) -> None:
    named = {key for service in compose["services"].values() for key in service.get("environment", {})}
    named |= set(re.findall(r"\b(ASKWELL_[A-Z_]+)=", dockerfile))
    assert {name for name in named if name.startswith("ASKWELL_")} - known_variables() == set()


def test_compose_nodes_answer_to_the_health_check_and_the_proxy(compose: Mapping[str, Any], dockerfile: str) -> None:
    node = compose["services"]["node-1"]["environment"]
    image = dict(re.findall(r"\b(ASKWELL_[A-Z_]+)=(\S+)", dockerfile))
    defaults = {key: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value)) for key, value in node.items()}
    given = {key: value for key, value in (image | defaults).items() if not key.endswith("_FILE")}
    origins = Origins(load(given).settings.server)
    for host in ("127.0.0.1:8080", "localhost:8080", "node-1:8080", "node-2:8080"):
        assert origins.host_allowed(host), host
    assert not origins.host_allowed("elsewhere.example")
    assert origins.origin_allowed("http://localhost:8080", "node-1:8080")


def test_compose_secret_files_are_mounted_where_they_are_read(compose: Mapping[str, Any]) -> None:
    for name, service in compose["services"].items():
        paths = [str(value) for key, value in service.get("environment", {}).items() if key.endswith("_FILE")]
        assert {path.removeprefix("/run/secrets/") for path in paths} <= set(service.get("secrets", [])), name


def test_compose_valkey_keeps_what_it_acknowledged(compose: Mapping[str, Any]) -> None:
    command = compose["services"]["valkey"]["command"]
    pairs = dict(zip(command[1::2], command[2::2], strict=True))
    assert pairs["--appendonly"] == "yes"
    assert pairs["--maxmemory-policy"] == "noeviction"


def test_dockerfile_has_two_stages_and_runs_without_root(dockerfile: str) -> None:
    stages = dockerfile.split("\nFROM ")[1:]
    assert len(stages) == 2
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", stages[-1], re.MULTILINE)
    assert "HEALTHCHECK" in stages[-1]
    assert "pip install" not in stages[-1]


def test_images_can_each_be_pinned_by_one_variable(root: Path, compose: Mapping[str, Any], dockerfile: str) -> None:
    pinned = re.compile(r"\$\{([A-Z]+_IMAGE):-[\w./-]+:[\w.-]+\}")
    images = [service["image"] for service in compose["services"].values() if "build" not in service]
    images += [
        service["build"]["args"]["PYTHON_IMAGE"] for service in compose["services"].values() if "build" in service
    ]
    variables = {match[1] for image in images if (match := pinned.fullmatch(image))}
    assert all(pinned.fullmatch(image) for image in images)
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)) == {"${PYTHON_IMAGE}"}
    default = re.findall(r"^ARG PYTHON_IMAGE=(\S+)$", dockerfile, re.MULTILINE)
    assert default == [compose["services"]["node-1"]["build"]["args"]["PYTHON_IMAGE"].split(":-")[1].rstrip("}")]
    loop = re.findall(r"\b([A-Z]+)=([\w./-]+:[\w.-]+)(?=[ ;])", (root / "SECURITY.md").read_text())
    assert {f"{name}_IMAGE" for name, _ in loop} == variables
    assert {f"${{{name}_IMAGE:-{image}}}" for name, image in loop} == set(images)


def test_dockerfile_copies_only_what_the_ignore_file_lets_through(root: Path, dockerfile: str) -> None:
    allowed = {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE)
    copied = {source for line in copies for source in line.split()[:-1]}
    assert copied <= allowed
    assert all((root / source).exists() for source in copied)

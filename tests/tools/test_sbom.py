"""The bill of materials names everything that comes along, and is what its format says."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from artefacts.table import table
from tools.lock import entries
from tools.sbom import bill, problem

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(root: Path) -> dict[str, Any]:
    """A bill of materials."""
    return bill(NOW, root)


def test_bill_has_every_package_library_and_model(made: dict[str, Any], root: Path) -> None:
    named = {one["bom-ref"]: one for one in made["components"]}
    assert len(named) == len(made["components"])
    for name, entry in entries((root / "requirements/run.lock").read_text()).items():
        component = named[f"pkg:pypi/{name}@{entry['version']}"]
        digests = {one["value"] for one in component["properties"] if one["name"] == "askwell:file-sha256"}
        assert digests == set(re.findall(r"sha256:([0-9a-f]{64})", entry["hashes"]))
    locked = json.loads((root / "web/package-lock.json").read_text())["packages"]["node_modules/uplot"]
    uplot = named[f"pkg:npm/uplot@{locked['version']}"]
    (digest,) = uplot["hashes"]
    assert digest["alg"] == "SHA-512"
    assert locked["integrity"] == "sha512-" + base64.b64encode(bytes.fromhex(digest["content"])).decode()
    assert not [name for name in named if "typescript" in name], "what only developers run is no part of askwell"
    for artefact in table():
        component = named[f"askwell:{artefact.name}"]
        assert component["licenses"] == [{"expression": artefact.licence}]
        assert [file["hashes"][0]["content"] for file in component["components"]] == [f.sha256 for f in artefact.files]


def test_bill_states_licences_of_what_is_installed(made: dict[str, Any]) -> None:
    without = {one["name"] for one in made["components"] if "licenses" not in one}
    # Not for this platform or version of Python, so nothing of it is here to read.
    assert without <= {"async-timeout", "colorama", "httpx2-jsfetch", "truststore", "hf-xet", "httpcore2"}


def test_bill_hangs_together(made: dict[str, Any]) -> None:
    (root,) = made["dependencies"]
    assert root["ref"] == made["metadata"]["component"]["bom-ref"]
    assert set(root["dependsOn"]) == {one["bom-ref"] for one in made["components"]}
    assert made["metadata"]["timestamp"] == "2026-01-02T03:04:05+00:00"


@pytest.mark.needs("cyclonedx")
def test_bill_is_valid_by_the_schema_and_a_wrong_one_is_not(made: dict[str, Any]) -> None:
    assert problem(json.dumps(made)) == ""
    assert problem(json.dumps(made | {"components": [{"name": "no type"}]})) != ""

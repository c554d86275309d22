"""Writes the bill of materials in CycloneDX 1.6: Python packages, libraries of the pages, models and binaries.

    python -m tools.sbom FILE

What is in it comes from `requirements/run.lock`, `web/package-lock.json` and the table of artefacts; licences of Python
packages from those installed beside this Python.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from artefacts.table import Artefact, table
from tools.lock import ROOT, entries

SPEC_VERSION = "1.6"
SHORTEST_TEXT = 100
"""A licence field longer than this is the text of a licence, which is not repeated."""
Component = dict[str, Any]


def bill(now: datetime, root: Path = ROOT) -> dict[str, Any]:
    """The bill of materials.

    Args:
        now: when it is made.
        root: the checkout.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    askwell = {
        "type": "application",
        "bom-ref": f"pkg:pypi/{project['name']}@{project['version']}",
        "name": project["name"],
        "version": project["version"],
        "licenses": [{"expression": project["license"]}],
        "purl": f"pkg:pypi/{project['name']}@{project['version']}",
    }
    components = [*python_packages(root), *npm_packages(root), *(component for a in table() for component in models(a))]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {"timestamp": now.isoformat(timespec="seconds"), "component": askwell},
        "components": components,
        "dependencies": [{"ref": askwell["bom-ref"], "dependsOn": [one["bom-ref"] for one in components]}],
    }


def python_packages(root: Path) -> Iterator[Component]:
    """The packages of `run.lock`; the digests are those of all files of that version, one of which is installed."""
    for name, entry in sorted(entries((root / "requirements/run.lock").read_text(encoding="utf-8")).items()):
        purl = f"pkg:pypi/{name}@{quote(entry['version'])}"
        digests = re.findall(r"sha256:([0-9a-f]{64})", entry["hashes"])
        properties = [{"name": "askwell:marker", "value": entry["marker"]}] if entry["marker"] else []
        yield _component(
            "library",
            purl,
            name,
            entry["version"],
            licences_of(name),
            properties=[*properties, *({"name": "askwell:file-sha256", "value": digest} for digest in digests)],
            purl=purl,
        )


def npm_packages(root: Path) -> Iterator[Component]:
    """The libraries that browsers are given, with the digests that npm compares."""
    locked = json.loads((root / "web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for path, package in sorted(locked.items()):
        if path and not package.get("dev"):
            name = path.removeprefix("node_modules/")
            algorithm, _, digest = package["integrity"].partition("-")
            purl = f"pkg:npm/{quote(name)}@{package['version']}"
            yield _component(
                "library",
                purl,
                name,
                package["version"],
                [{"expression": package["license"]}],
                hashes=[{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}],
                purl=purl,
            )


def models(artefact: Artefact) -> Iterator[Component]:
    """A model, program or library of the table, with its files."""
    kind = {"server": "application", "page": "library", "vocabulary": "data"}.get(
        artefact.kind, "machine-learning-model"
    )
    files = [
        {
            "type": "file",
            "bom-ref": f"askwell:{artefact.name}/{file.path}",
            "name": file.path,
            "hashes": [{"alg": "SHA-256", "content": file.sha256}],
        }
        for file in artefact.files
    ]
    yield _component(
        kind,
        f"askwell:{artefact.name}",
        artefact.name,
        artefact.version,
        [{"expression": artefact.licence}],
        description=f"{artefact.purpose}. {artefact.source}",
        scope="optional" if artefact.optional else "required",
        components=files,
    )


def licences_of(name: str) -> list[dict[str, Any]]:
    """The licence that an installed package states; none if it is not installed or states none."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return []
    if "License-Expression" in told:
        return [{"expression": told["License-Expression"]}]
    stated = told["License"].strip() if "License" in told else ""
    classified = [
        line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    named = [stated] if stated and len(stated) < SHORTEST_TEXT and "\n" not in stated else classified
    return [{"license": {"name": each}} for each in named]


def _component(
    kind: str, reference: str, name: str, version: str, licences: list[dict[str, Any]], **more: Any
) -> Component:
    found = {"type": kind, "bom-ref": reference, "name": name, "version": version, "licenses": licences} | more
    return {key: value for key, value in found.items() if value}


def problem(text: str) -> str:
    """What is wrong with a bill by the schema of CycloneDX; empty if nothing is. Raises ImportError."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    error = JsonStrictValidator(SchemaVersion.from_version(SPEC_VERSION)).validate_str(text)
    return str(error) if error is not None else ""


def main(arguments: list[str]) -> int:
    """Write the bill of materials; the exit code."""
    if len(arguments) != 1:
        print("usage: python -m tools.sbom FILE", file=sys.stderr)
        return 2
    found = bill(datetime.now(UTC))
    text = json.dumps(found, indent=1) + "\n"
    if wrong := problem(text):
        print(wrong, file=sys.stderr)
        return 1
    Path(arguments[0]).write_text(text, encoding="utf-8")
    without = [one["name"] for one in found["components"] if "licenses" not in one]
    print(f"{arguments[0]}: {len(found['components'])} components")
    if without:
        print(f"without a stated licence: {', '.join(without)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

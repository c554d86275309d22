"""Which models and binaries are on this machine, which of them have their digests, and what is used without one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from artefacts.checking import check_artefact
from artefacts.errors import ArtefactError, ArtefactMissing, ArtefactUnknown
from artefacts.fetching import fetch
from artefacts.table import Artefact, named, of_kind, package_folder, table
from audio.errors import ModelMissing
from audio.models import (
    OFFICIAL,
    PACKAGED,
    default_cache_folder,
    fetched_folder,
    find_in_cache,
    is_installed,
    locate_packaged,
)
from config.settings import Settings


@dataclass(frozen=True, slots=True)
class Found:
    """An artefact in one place.

    `where` is None if it is not here, `problem` says what is wrong with its files and is empty if nothing is, and
    `fails` is whether askwell needs it, or would use it, and can't.
    """

    artefact: Artefact
    where: Path | None
    problem: str = ""
    fails: bool = False

    @property
    def state(self) -> str:
        """In one or two words."""
        if self.problem:
            return "unverified"
        return "verified" if self.where is not None else "not here"


def survey(*, reread: bool = False) -> list[Found]:
    """Every artefact of the table in every place where it is, and those that are nowhere.

    Args:
        reread: whether files are read again that were compared with their digests before.
    """
    with tempfile.TemporaryDirectory() as empty:
        record = Path(empty) if reread else None
        return [found for artefact in table() for found in _found(artefact, record)]


def _found(artefact: Artefact, record: Path | None) -> Iterator[Found]:
    places = list(_places(artefact))
    for where in places:
        try:
            if any(file.parts for file in artefact.files):
                locate_packaged(artefact.model, PACKAGED[artefact.model], record or default_cache_folder())
            else:
                check_artefact(artefact, where, store=record)
        except ArtefactUnknown as exc:
            yield Found(artefact, None, str(exc), fails=not artefact.optional)
        except (ArtefactError, ModelMissing) as exc:
            if artefact.optional and isinstance(exc, ArtefactMissing):
                yield Found(artefact, None)
            else:
                replaced = artefact.optional and artefact.kind == "spacy"  # the bundled one is used then
                told = str(exc) if artefact.remedy in str(exc) else f"{exc} {artefact.remedy}"
                yield Found(artefact, where, told, fails=not replaced)
        else:
            yield Found(artefact, where)
    if not places:
        problem = "" if artefact.optional else f"{artefact.name} is not installed. {artefact.remedy}"
        yield Found(artefact, None, problem, fails=not artefact.optional)


def _places(artefact: Artefact) -> Iterator[Path]:
    """Where files of an artefact are."""
    installed = artefact.folder() if artefact.root else None
    if installed is not None and (artefact.model not in PACKAGED or is_installed(PACKAGED[artefact.model])):
        yield installed
    if artefact.hub:
        fetched = fetched_folder(artefact.model, OFFICIAL[artefact.model], default_cache_folder())
        yield from (place for place in (fetched, find_in_cache(artefact.model)) if place is not None and place.is_dir())


def unverified(settings: Settings) -> list[str]:
    """What is used, or lies ready, without a digest in the table; a phrase each, for whoever started the process.

    The speech model is left out: whoever loads it knows.
    """
    language = settings.language
    found = []
    bundled, *others = of_kind("spacy")
    if language.spacy_model not in (None, bundled.module) and not _has_digests(language.spacy_model):
        found.append(f"the spaCy model {language.spacy_model}")
    if language.spacy_model is None:
        found += [
            f"the spaCy model {artefact.module}, not used unless ASKWELL_SPACY_MODEL={artefact.module} names it"
            for artefact in others
            if package_folder(artefact.module) is not None and not _has_digests(artefact.module)
        ]
    if language.embedder == "sentence-transformers":
        found.append(f"the embedding model {language.embedder_model}")
    for artefact in of_kind("page"):
        try:
            check_artefact(artefact)
        except ArtefactMissing:
            continue
        except ArtefactError as exc:
            found.append(str(exc))
    return found


def _has_digests(module: str | None) -> bool:
    """Whether that spaCy package is in the table and has the files that the table says."""
    for artefact in of_kind("spacy"):
        if artefact.module == module:
            try:
                check_artefact(artefact)
            except ArtefactError:
                return False
            return True
    return False


def fetch_model(name: str, endpoint: str | None) -> Path:
    """Get the official model of that name from the hub, and compare it with its digests; blocks until it is there.

    Args:
        name: of an artefact.
        endpoint: URL of a mirror of the hub; None for the hub itself.
    Returns:
        Its folder.
    Raises:
        ArtefactUnknown: there is no such artefact, or it is not on the hub.
        FetchFailed, ArtefactDiffers: as `artefacts.fetching.fetch`.
    """
    artefact = named(name)
    if not artefact.hub:
        there = ", ".join(other.name for other in table() if other.hub)
        raise ArtefactUnknown(f"{name} is not on the hub: it comes as a package. The hub has: {there}.")
    if endpoint is None:
        from huggingface_hub.constants import ENDPOINT  # takes a third of a second, which only this needs

        endpoint = ENDPOINT
    target = fetched_folder(artefact.model, OFFICIAL[artefact.model], default_cache_folder())
    return fetch(artefact, target, endpoint)

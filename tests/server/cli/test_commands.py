"""Commands: what they print, what they return, and that mistakes are one clear sentence."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from server.cli import run
from server.client import call_sync
from server.hot.datadir import DataDir, running_server
from tests.support.patience import PATIENCE_S
from tests.support.whole import process, write_config

pytestmark = pytest.mark.thorough


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith("ASKWELL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASKWELL_LOG_LEVEL", "error")


def _refused(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    code, _ = run(arguments)
    captured = capfd.readouterr()
    assert code == 2
    assert "Traceback" not in captured.err
    last = captured.err.splitlines()[-1]
    assert last.startswith("askwell: ")
    assert last.endswith(".")
    return last


def test_serve_with_a_port_in_use_says_so(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        said = _refused(capfd, "serve", "--port", port, "--data", str(tmp_path / "data"))
    assert f"port {port} on 127.0.0.1 is in use by another program; choose another one with --port" in said
    assert running_server(tmp_path / "data") is None


def test_serve_in_a_directory_in_use_names_process_and_url(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with DataDir(tmp_path) as held:
        held.publish("http://127.0.0.1:7777")
        said = _refused(capfd, "serve", "--port", "0", "--data", str(tmp_path))
    assert f"in use by process {os.getpid()} at http://127.0.0.1:7777" in said


def test_serve_in_a_directory_that_can_not_be_written_says_so(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    said = _refused(capfd, "serve", "--port", "0", "--data", str(tmp_path / "file"))
    assert f"the data directory {tmp_path}/file can't be written" in said


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ASKWELL_PORT", "abc", "ASKWELL_PORT: "),
        ("ASKWELL_SCORING_PROVIDER", "anthropic", "ASKWELL_SCORING_MODEL is not set: `anthropic` needs the name"),
        ("ASKWELL_HOST", "203.0.113.7", "203.0.113.7 is not an address of this machine"),
        ("ASKWELL_DATABASE_URL", "mysql://x/y", "databases of the kind mysql are not supported"),
        (
            "ASKWELL_DATABASE_URL",
            "postgresql://me@127.0.0.1:1/asked",
            "ASKWELL_DATABASE_URL: the database 127.0.0.1:1/asked",
        ),
        ("ASKWELL_REDIS_URL", "localhost:6379", "ASKWELL_REDIS_URL: not a URL such as"),
        ("ASKWELL_REDIS_URL", "redis://localhost:x", "ASKWELL_REDIS_URL: its host or port can't be read"),
        ("ASKWELL_REDIS_URL", "redis://localhost?health_check_interval=x", "ASKWELL_REDIS_URL can't be used"),
        ("ASKWELL_CONFIG_DIR", "/nowhere/at/all", "ASKWELL_CONFIG_DIR: /nowhere/at/all is not a directory"),
        ("ASKWELL_HOST", "a" * 64, "ASKWELL_HOST: not a host name"),
    ],
)
def test_serve_with_a_wrong_setting_says_which(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variable: str,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv("ASKWELL_PORT", "0")
    monkeypatch.setenv(variable, value)
    assert words in _refused(capfd, "serve", "--data", str(tmp_path / "data"))


def test_serve_in_the_home_of_nobody_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    assert "--data: ~nosuchuser/x: there is no user" in _refused(capfd, "serve", "--data", "~nosuchuser/x")


def test_chat_with_a_configuration_directory_that_is_not_there_says_so(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASKWELL_CONFIG_DIR", str(tmp_path / "none"))
    said = _refused(capfd, "chat", "headphones_mec", "--data", str(tmp_path / "data"))
    assert f"ASKWELL_CONFIG_DIR: {tmp_path}/none is not a directory" in said


def _refusing_postgres(listener: socket.socket) -> None:
    """Answer the first connection as a PostgreSQL that does not know the password."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)  # a request for TLS
        connection.sendall(b"N")
        connection.recv(4096)
        fields = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0"
        connection.sendall(b"E" + (len(fields) + 4).to_bytes(4, "big") + fields)
        connection.recv(4096)


def test_serve_with_a_wrong_database_password_says_so_and_keeps_the_password(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}/asked"
        thread = threading.Thread(target=_refusing_postgres, args=(listener,), daemon=True)
        thread.start()
        monkeypatch.setenv("ASKWELL_DATABASE_URL", f"postgresql://me:pa55@{address}")
        said = _refused(capfd, "serve", "--port", "0", "--data", str(tmp_path / "data"))
        thread.join(5)
    assert f"ASKWELL_DATABASE_URL: the database {address} can't be used: password authentication failed" in said
    assert "pa55" not in said


def test_unknown_variable_is_reported(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASKWELL_LOG_LEVLE", "debug")
    assert run(["moderator-token", "--data", str(tmp_path)])[0] == 0
    assert "did you mean ASKWELL_LOG_LEVEL?" in capfd.readouterr().err


def test_moderator_token_is_made_once(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tokens = []
    for _ in range(2):
        assert run(["moderator-token", "--data", str(tmp_path / "new")])[0] == 0
        tokens.append(capfd.readouterr().out.strip())
    assert len(tokens[0]) == 43
    assert tokens[0] == tokens[1]


def test_check_config_lists_mistakes_with_file_and_line(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = write_config(tmp_path)
    assert run(["check-config", str(config)])[0] == 0
    assert "all can be used" in capfd.readouterr().out
    path = config / "concepts" / "coffee.yaml"
    path.write_text(path.read_text() + "nmae: x\n")
    assert run(["check-config", str(config)])[0] == 1
    line = len(path.read_text().splitlines())
    assert capfd.readouterr().out.strip() == f"{path}:{line}: nmae: unknown key; did you mean `name`?"
    assert "is not a directory" in _refused(capfd, "check-config", str(tmp_path / "none"))


def test_elements_prints_what_a_concept_file_can_hold(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = write_config(tmp_path / "config")
    text = "A new cup with a bamboo lid. It costs £12."
    concept = {"id": "cup", "name": "the cup", "methodology": "small", "objective": "Why", "stimulus": text}
    (config / "concepts" / "cup.yaml").write_text(yaml.safe_dump(concept))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKWELL_CONFIG_DIR", str(config))
        code, _ = run(["elements", "cup", "--data", str(tmp_path / "data")])
        said = capfd.readouterr().out
        assert code == 0
        assert {"the bamboo lid", "the price"} <= {element["label"] for element in yaml.safe_load(said)["elements"]}
        found = yaml.safe_load(said)
        (config / "concepts" / "cup.yaml").write_text(yaml.safe_dump({**concept, **found}))
        code, _ = run(["check-config", str(config)])
        assert code == 0, capfd.readouterr().out
        refused = _refused(capfd, "elements", "tea", "--data", str(tmp_path / "data"))
    assert "no `stimulus`" in refused


def test_check_config_is_careful_about_recording_nobody_is_told_of(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = write_config(tmp_path)
    path = config / "concepts" / "voice.yaml"
    path.write_text(path.read_text().replace("What you say is recorded.", ""))
    assert run(["check-config", str(config)])[0] == 0
    said = capfd.readouterr().out
    assert "the consent text does not say that what respondents say is recorded (careful)" in said
    assert "all can be used, " in said


def test_check_config_reports_mistakes_in_prompts_and_prices(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, root: Path
) -> None:
    config = write_config(tmp_path)
    (config / "prompts").mkdir()
    packaged = (root / "config" / "prompts" / "question.md").read_text()
    prompt = config / "prompts" / "question.md"
    prompt.write_text(packaged + "\nMind {{ toppic }}.\n")
    (config / "prompts" / "questoin.md").write_text("# System\n\n# User\n")
    (config / "prices.yaml").write_text("mine: {input: 1}\n")
    assert run(["check-config", str(config)])[0] == 1
    said = capfd.readouterr().out.splitlines()
    assert f"{config / 'prices.yaml'}:1: mine: the key `output` is missing" in said
    assert f"{config / 'prompts' / 'questoin.md'}:1: there is no prompt `questoin`; did you mean `question`?" in said
    line = len(prompt.read_text().splitlines())
    assert [words for words in said if words.startswith(f"{prompt}:{line}: ") and "`toppic`" in words]
    assert [words for words in said if "`de` are refused unless" in words and words.endswith("(careful)")]
    assert len(said) == 4


def test_check_config_prints_prompts_as_they_would_be_sent(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = write_config(tmp_path)
    assert run(["check-config", str(config), "--prompts"])[0] == 0
    said = capfd.readouterr().out
    for name in ("extraction", "rating", "slots", "opening", "question", "rephrase", "repair"):
        assert f"===== {name}: small, coffee =====" in said
    assert "===== question: means_end_chain," in said
    assert "{{" not in said
    assert run(["check-config", str(config), "--prompts", "opening", "--methodology", "small"])[0] == 0
    said = capfd.readouterr().out
    assert [line for line in said.splitlines() if line.startswith("=====")] == ["===== opening: small, coffee ====="]
    assert "Find out why" in said
    refused = _refused(capfd, "check-config", str(config), "--prompts", "opning")
    assert "there is no prompt `opning`; there are: extraction, rating," in refused


def test_export_schema_writes_both_references(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["export-schema", "--to", str(tmp_path)])[0] == 0
    written = capfd.readouterr().out.split()
    assert str(tmp_path / "configuration" / "settings.md") in written
    assert len(list((tmp_path / "protocol").iterdir())) > 0


@pytest.mark.parametrize("name", ["a b", "", "käse", "x" * 101])
@pytest.mark.parametrize("served", [True, False])
def test_chat_about_what_can_be_no_concept_says_so(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, name: str, served: bool
) -> None:
    with contextlib.ExitStack() as stack:
        if served:
            stack.enter_context(DataDir(tmp_path)).publish("http://127.0.0.1:1")
        said = _refused(capfd, "chat", name, "--data", str(tmp_path))
    assert f"there is no concept `{name}`" in said


def test_commands_without_models_do_not_load_what_models_need(tmp_path: Path, root: Path) -> None:
    looked_at = (
        "import sys, server.cli, server.node; sys.exit(sorted({'spacy', 'onnxruntime'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", looked_at], capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["chat", "headphones_mec"], ["moderator-token"]])
def test_data_directory_is_made_for_this_user_alone(tmp_path: Path, command: list[str]) -> None:
    data = tmp_path / "data"
    environment = {**os.environ, "ASKWELL_DATABASE_URL": "" if "chat" in command else "postgresql://me@127.0.0.1:1/x"}
    old = os.umask(0o022)
    try:
        subprocess.run(
            [sys.executable, "-m", "server.cli", *command, "--data", str(data)],
            input=b"no\n",
            capture_output=True,
            env=environment,
            timeout=PATIENCE_S,
            check=False,
        )
    finally:
        os.umask(old)
    paths = [data, *data.rglob("*")]
    assert len(paths) > 1
    assert [path for path in paths if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("command", [["export", "s1"], ["judge", "s1"], ["replay", "s1"], ["chat", "--resume", "s1"]])
def test_nothing_is_looked_for_where_nothing_is_kept(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]
) -> None:
    said = _refused(capfd, *command, "--data", str(tmp_path / "typo"))
    assert f"there is no data directory {tmp_path / 'typo'}; name another one with --data" in said
    assert not (tmp_path / "typo").exists()


def test_reports_that_can_not_be_written_are_refused_before_anything_is_held(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gone = tmp_path / "gone" / "x.html"
    said = _refused(capfd, "simulate", "coffee_mec", "--html", str(gone), "--data", str(tmp_path))
    assert f"{gone} can't be written: there is no directory {gone.parent}" in said
    said = _refused(capfd, "simulate", "coffee_mec", "--html", str(tmp_path), "--data", str(tmp_path))
    assert "it is a directory" in said
    said = _refused(capfd, "export", "s1", "-o", str(gone), "--data", str(tmp_path))
    assert f"{gone} can't be written: there is no directory {gone.parent}" in said


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["--max-turns", "1"], "should be from 3 to 200"),
        (["--max-turns", "many"], "should be a whole number, not 'many'"),
        (["--seeds", "0"], "should be at least 1"),
        (["--seeds", "x"], "should be a whole number, not 'x'"),
    ],
)
def test_numbers_of_a_simulation_are_checked_before_it(
    capfd: pytest.CaptureFixture[str], given: list[str], reason: str
) -> None:
    with pytest.raises(SystemExit) as refused:
        run(["simulate", "coffee_mec", *given])
    assert refused.value.code == 2
    assert reason in capfd.readouterr().err


def test_chat_needs_a_concept_or_a_session(capfd: pytest.CaptureFixture[str]) -> None:
    assert "name a concept, or a session with --resume" in _refused(capfd, "chat")


def test_export_without_a_server_reads_the_data_directory(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    async def interviewed() -> str:
        async with process(tmp_path) as api:
            return (await api.interview(2))[0]

    session_id = asyncio.run(interviewed())
    capfdbinary.readouterr()
    assert run(["export", session_id, "--data", str(tmp_path / "data")])[0] == 0
    exported = json.loads(capfdbinary.readouterr().out)
    assert exported["session"]["turn_count"] == 2
    target = tmp_path / "out.md"
    arguments = ["export", session_id, "--format", "md", "-o", str(target), "--data", str(tmp_path / "data")]
    assert run(arguments)[0] == 0
    assert "## Transcript" in target.read_text()
    assert run(["export", "unknown", "--data", str(tmp_path / "data")])[0] == 2
    assert b"There is no such interview" in capfdbinary.readouterr().err


_CHAT_HERE = """
import asyncio, sys
from pathlib import Path
from server import cli
from server.serving import bind, serving, url_of
from tests.support.whole import process

async def main():
    async with process(Path(sys.argv[1])) as api:
        sock = bind("127.0.0.1", 0)
        url = url_of(sock, "127.0.0.1")
        async with serving(api.app, sock):
            options = cli._parser().parse_args(["chat", "coffee"])
            return await cli._interview(url, api.storage.moderator_token, api.parts.settings, options)

sys.exit(asyncio.run(main()))
"""


@pytest.mark.parametrize("typed", [b"caf\xe9 noir\nIt is warm\n/finish\n", b"It is warm\n\xff\xfe\n/finish\n"])
def test_chat_with_bytes_that_are_no_text_says_so_and_goes_on(tmp_path: Path, root: Path, typed: bytes) -> None:
    chat = subprocess.run(
        [sys.executable, "-c", _CHAT_HERE, str(tmp_path)],
        input=typed,
        capture_output=True,
        cwd=root,
        timeout=PATIENCE_S,
        check=False,
    )
    shown = chat.stdout.decode()
    assert chat.returncode == 0, chat.stderr
    assert b"Traceback" not in chat.stderr
    assert "That could not be read as text" in shown
    assert "You: It is warm\n" in shown


def test_chat_without_a_keyboard_ends_and_keeps_the_interview(tmp_path: Path, root: Path) -> None:
    chat = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-c", _CHAT_HERE, str(tmp_path)],
        capture_output=True,
        cwd=root,
        timeout=PATIENCE_S,
        check=False,
    )
    assert chat.returncode == 0, chat.stderr
    assert b"Your interview is kept." in chat.stdout


def test_served_process_is_used_by_the_others_and_ends_in_time(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    command = [sys.executable, "-m", "server.cli"]
    environment = {**os.environ, "ASKWELL_LOG_LEVEL": "info", "ASKWELL_LOG_FORMAT": "json"}
    with subprocess.Popen(
        [*command, "serve", "--port", "0", "--data", data],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            banner = [server.stdout.readline()]
            while not banner[-1].startswith("  moderator"):
                assert banner[-1] or server.poll() is None, server.communicate()[1]
                banner.append(server.stdout.readline())
            url = banner[0].split()[-1]
            token = banner[-1].split()[1]
            assert running_server(tmp_path / "data") == (server.pid, url)
            assert json.loads(call_sync(url, "GET", "/readyz", None))["ready"]

            answers = "yes\nThe noise cancelling blocks out the office so I can focus\n/skip\n/finish\n"
            chat = subprocess.run(
                [*command, "chat", "headphones_mec", "--data", data],
                input=answers,
                capture_output=True,
                text=True,
                env=environment,
                timeout=PATIENCE_S,
                check=False,
            )
            assert chat.returncode == 0, chat.stderr
            assert "— Transcript —" in chat.stdout

            (session,) = json.loads(call_sync(url, "GET", "/api/sessions", token))["items"]
            exported = subprocess.run(
                [*command, "export", session["id"], "--data", data],
                capture_output=True,
                env=environment,
                timeout=PATIENCE_S,
                check=False,
            )
            assert json.loads(exported.stdout)["session"]["state"] == "completed", exported.stderr
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(PATIENCE_S)
        assert code == 0, "an end that has to be forced says otherwise"
        assert running_server(tmp_path / "data") is None
        assert "Traceback" not in server.communicate()[1]


def test_sync_without_a_server_or_a_token_says_what_is_missing(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "name the server with --to, or set ASKWELL_SYNC_TO" in _refused(capfd, "sync", "--data", str(tmp_path))
    said = _refused(capfd, "sync", "--data", str(tmp_path), "--to", "http://127.0.0.1:9")
    assert "no device token: make one on that server, and name its file with --token-file" in said
    missing = _refused(capfd, "sync", "--data", str(tmp_path), "--to", "http://a.example", "--token-file", "nowhere")
    assert "No such file or directory: 'nowhere'" in missing


def test_sync_of_a_file_that_is_none_says_so(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("token")
    (tmp_path / "notes.txt").write_text("Milk, eggs.")
    where = ("--data", str(tmp_path / "data"), "--to", "http://127.0.0.1:9", "--token-file", str(tmp_path / "token"))
    said = _refused(capfd, "sync", *where, "--file", str(tmp_path / "notes.txt"))
    assert "notes.txt can't be read: Not a gzipped file" in said
    assert not (tmp_path / "data").exists(), "sending a file needs no data directory"

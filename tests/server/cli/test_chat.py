"""The interview in the terminal, over real sockets against the real application."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from server.client import CallFailed, Client
from server.serving import bind, serving, url_of
from server.terminal import HELP, Chat, End
from tests.config.test_stimulus import png
from tests.server.api.test_stimulus import add_board
from tests.support.patience import PATIENCE_S
from tests.support.whole import ANSWER, Process, eventually, process

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.thorough]

Line = str | None | Callable[[], Awaitable[str | None]]


class Script:
    """A respondent who types prepared lines, each when asked for one."""

    def __init__(self, *lines: Line) -> None:
        self._lines: list[Line] = list(lines)
        self.text = ""

    async def read(self, prompt: str) -> str | None:
        self.text += prompt
        line = self._lines.pop(0) if self._lines else None
        typed = await line() if callable(line) else line
        self.text += f"{typed or ''}\n"
        return typed

    def write(self, text: str) -> None:
        self.text += text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Process]:
    """A process for all terminals; each has an interview of its own."""
    async with process(tmp_path_factory.mktemp("chat")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(api: Process) -> AsyncIterator[str]:
    """Where the process listens."""
    sock = bind("127.0.0.1", 0)
    async with serving(api.app, sock):
        yield url_of(sock, "127.0.0.1")


async def _talk(url: str, created: dict[str, str], lines: Sequence[Line]) -> tuple[End, str]:
    screen = Script(*lines)
    client = Client(url, created["respondent_token"])
    async with asyncio.timeout(PATIENCE_S):
        end = await Chat(client, created["session_id"], screen, pause_s=0.01).run()
    return end, screen.text


async def _new(url: str, concept_id: str = "coffee", **fields: object) -> dict[str, str]:
    return await Client(url).create_session(concept_id=concept_id, **fields)


async def test_stimulus_shown_first_and_again_on_request(api: Process, url: str) -> None:
    add_board(api, png(3, 2))
    created = await _new(url, "board")
    end, text = await _talk(url, created, ["/look", ANSWER, None])
    assert end is End.LEFT
    shown = "A cup that keeps its warmth.\n\n[Image: A cup on a table.]"
    assert text.count(shown) == 2
    assert text.index(shown) < text.index("askwell: ")
    _, plain = await _talk(url, await _new(url), ["/look", None])
    assert "There is nothing to look at in this interview." in plain


async def test_whole_interview_ends_with_thanks(url: str) -> None:
    created = await _new(url, max_turns=3)
    end, text = await _talk(url, created, [ANSWER, "It is warm", "That is all"])
    assert end is End.COMPLETED
    assert text.count("askwell: ") == 4
    assert text.rstrip().endswith("Thank you very much.")


async def test_every_command_does_what_help_says(url: str) -> None:
    created = await _new(url)
    lines = [
        "/help",
        "/correct too early",
        ANSWER,
        "/skip",
        "/rephrase",
        "It is worm",
        "/correct It is warm",
        "/nonsense",
        "/resume",
        "/pause",
        "/pause",
        "/resume",
        "",
        "/finish",
    ]
    end, text = await _talk(url, created, lines)
    assert end is End.COMPLETED
    for expected in (HELP, "no answer yet", "There is no command /nonsense", "(paused; /resume", "(not paused)"):
        assert expected in text, expected
    detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
    kinds = [(line["kind"], line["text"]) for line in detail["transcript"] if line["speaker"] == "respondent"]
    assert kinds == [("answer", ANSWER), ("skip", ""), ("answer", "It is worm"), ("correct", "It is warm")]
    assert "rephrase" in [line["kind"] for line in detail["transcript"]]


async def test_refused_answer_is_explained_and_the_next_one_taken(url: str) -> None:
    created = await _new(url)
    end, text = await _talk(url, created, ["x" * 8001, ANSWER, "/finish"])
    assert end is End.COMPLETED
    assert "at most 8000 are possible" in text
    detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
    assert detail["turn_number"] == 1


async def test_consent_is_asked_for_and_no_means_no(url: str) -> None:
    created = await _new(url, "tea")
    end, text = await _talk(url, created, ["maybe", "no"])
    assert end is End.LEFT
    assert text.count("Do you agree to take part?") == 2
    end, text = await _talk(url, created, ["yes", ANSWER, "/finish"])
    assert end is End.COMPLETED
    detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
    assert detail["consent"]["given"]


async def test_withdraw_erases(api: Process, url: str) -> None:
    created = await _new(url)
    end, _ = await _talk(url, created, [ANSWER, "/withdraw"])
    assert end is End.WITHDRAWN
    with pytest.raises(CallFailed):
        await Client(url, api.storage.moderator_token).detail(created["session_id"])


async def test_leaving_keeps_the_interview_and_coming_back_shows_it(url: str) -> None:
    created = await _new(url)
    end, first = await _talk(url, created, [ANSWER, None])
    assert end is End.LEFT
    end, second = await _talk(url, created, ["And warm", "/finish"])
    assert end is End.COMPLETED
    assert f"you: {ANSWER}" in second
    asked = [line for line in first.splitlines() if line.startswith("askwell: ")]
    for question in asked:
        assert second.count(question) == 1
    detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
    assert detail["turn_number"] == 2


async def test_wrong_token_is_told(url: str) -> None:
    created = await _new(url)
    with pytest.raises(CallFailed):
        await _talk(url, {**created, "respondent_token": "wrong"}, [ANSWER])


async def test_lost_connection_is_found_again_and_the_answer_sent_once(url: str) -> None:
    wire = Wire(url)
    async with wire.open() as detour:
        created = await _new(url)

        async def cut_then_answer() -> str:
            await wire.cut()
            return ANSWER

        end, text = await _talk(detour, created, [cut_then_answer, "And warm", "/finish"])
        assert end is End.COMPLETED
        assert "connection lost" in text
        detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
        said = [line["text"] for line in detail["transcript"] if line["speaker"] == "respondent"]
        assert said == [ANSWER, "And warm"]


async def test_chat_with_a_proxy_in_the_environment_goes_past_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "socks_proxy"):
        monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    created = await _new(url)
    end, text = await _talk(url, created, [ANSWER, "/finish"])
    assert end is End.COMPLETED
    assert "connection lost" not in text


async def test_answer_while_paused_is_kept_and_sent_once_after_resume(url: str) -> None:
    created = await _new(url)
    end, text = await _talk(url, created, ["/pause", ANSWER, "", "/resume", "And warm", "/finish"])
    detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
    assert end is End.COMPLETED
    said = [line["text"] for line in detail["transcript"] if line["speaker"] == "respondent"]
    assert said == [ANSWER, "And warm"]
    first = next(line for line in text.splitlines() if line.startswith("askwell: "))
    assert text.count(first) == 2
    assert "sending your answer again" not in text
    before, resumed = text.split("/resume\n")
    assert "your answer is kept" in before
    assert resumed.startswith(f"{first}\nyou: {ANSWER}\n")


async def test_answer_refused_because_of_a_pause_elsewhere_is_kept_and_sent_after_resume(
    api: Process, url: str
) -> None:
    created = await _new(url)

    async def paused_meanwhile() -> str:
        owner = api.parts.hub.owner(created["session_id"])
        assert owner is not None
        await owner.pause()
        return ANSWER

    end, text = await _talk(url, created, [paused_meanwhile, "/resume", "And warm", "/finish"])
    detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
    assert end is End.COMPLETED
    assert "sending your answer again" not in text
    said = [line["text"] for line in detail["transcript"] if line["speaker"] == "respondent"]
    assert said == [ANSWER, "And warm"]


async def test_refused_handshakes_count_as_lost_and_are_tried_again(url: str) -> None:
    wire = Wire(url)
    async with wire.open() as detour:
        created = await _new(url)

        async def cut_then_answer() -> str:
            wire.refusals = 3
            await wire.cut()
            return ANSWER

        end, text = await _talk(detour, created, [cut_then_answer, "/finish"])
        assert wire.refusals == 0
    assert end is End.COMPLETED
    assert text.count("connection lost") == 1


async def test_server_that_refuses_for_ever_is_lost(url: str) -> None:
    wire = Wire(url)
    async with wire.open() as detour:
        created = await _new(url)

        async def cut() -> str:
            wire.refusals = 1000
            await wire.cut()
            return ANSWER

        end, _ = await _talk(detour, created, [cut])
    assert end is End.LOST


async def test_server_killed_and_started_again_in_the_middle_goes_on(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    data = tmp_path / "data"
    command = [sys.executable, "-m", "server.cli", "serve", "--port", str(port), "--data", str(data)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASKWELL_")}
    environment["ASKWELL_WHISPER_MODEL"] = "none"
    servers: list[subprocess.Popen[bytes]] = []

    def spawn() -> None:
        servers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment))

    async def start() -> None:
        spawn()
        await eventually(is_ready, deadline_s=PATIENCE_S)

    async def is_ready() -> bool:
        try:
            return bool((await Client(url).json("GET", "/readyz"))["ready"])
        except (OSError, CallFailed):
            return False

    async def killed_and_started() -> str:
        servers[-1].kill()
        servers[-1].wait()
        spawn()
        return "And it makes the train bearable"

    try:
        await start()
        created = await Client(url).create_session(concept_id="headphones_mec")
        screen = Script("yes", ANSWER, killed_and_started, "/finish")
        chat = Chat(Client(url, created["respondent_token"]), created["session_id"], screen, pause_s=2.0)
        async with asyncio.timeout(180):
            end = await chat.run()
        assert end is End.COMPLETED
        detail = await Client(url, created["respondent_token"]).detail(created["session_id"])
    finally:
        for server in servers:
            server.kill()
            server.wait()
    assert screen.text.count("connection lost") == 1
    said = [line["text"] for line in detail["transcript"] if line["speaker"] == "respondent"]
    assert said == [ANSWER, "And it makes the train bearable"]


async def test_second_terminal_takes_over_and_the_first_is_told(url: str) -> None:
    created = await _new(url)
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(_talk(url, created, [ANSWER, _forever]))
        client = Client(url, created["respondent_token"])

        async def answered() -> bool:
            return bool((await client.detail(created["session_id"]))["turn_number"])

        await eventually(answered)
        second = tasks.create_task(_talk(url, created, ["And warm", "/finish"]))
    assert first.result()[0] is End.LEFT
    assert "opened elsewhere" in first.result()[1]
    assert second.result()[0] is End.COMPLETED


async def _forever() -> str | None:
    await asyncio.Event().wait()
    return None


class Wire:
    """A way to the server that can be cut."""

    def __init__(self, url: str) -> None:
        self._port = int(url.rpartition(":")[2])
        self._ends: list[asyncio.StreamWriter] = []
        self.refusals = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """Listen; the URL of this end."""
        server = await asyncio.start_server(self._joined, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            await self.cut()
            server.close()
            await server.wait_closed()

    async def cut(self) -> None:
        """End every connection at once."""
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusals > 0:
            self.refusals -= 1
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            await writer.drain()
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._ends += [writer, far_writer]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._carry(reader, far_writer))
            tasks.create_task(self._carry(far_reader, writer))

    @staticmethod
    async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


async def test_who_wants_to_stop_is_let_go_and_may_take_it_back(url: str) -> None:
    created = await _new(url)
    lines = ["Are you a robot?", "I'd like to stop the interview now.", "/resume", ANSWER, "/finish"]
    end, text = await _talk(url, created, lines)
    assert end is End.COMPLETED
    assert "I'm a computer program, not a person." in text
    assert "We stop here." in text
    assert "I didn't mean that, go on (/resume)" in text
    assert text.index("We stop here.") < text.rindex(ANSWER)

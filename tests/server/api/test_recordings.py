"""Whole recordings as answers, and recordings that are kept."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import pytest

from audio.containers import read_recording
from tests.audio.sound_files import compressed_index
from tests.support.patience import PATIENCE_S
from tests.support.process import decoding_processes, peak_bytes
from tests.support.speech import ToneRecogniser, noise, silence, speech, tones
from tests.support.whole import Process, eventually, hearing_process, process

WORDS = "the noise cancelling is really good"
LONGEST_S = 20


def wav(pcm: bytes, *, channels: int = 1, rate: int = 16_000) -> bytes:
    """A file of these samples, the same in every channel."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(np.repeat(np.frombuffer(pcm, "<i2"), channels).tobytes())
    return file.getvalue()


@asynccontextmanager
async def begun(
    tmp_path: Path, concept: str = "coffee", recogniser: ToneRecogniser | None = None, **environment: str
) -> AsyncIterator[tuple[Process, str, dict[str, str]]]:
    """A process that hears, with an interview whose question waits."""
    async with hearing_process(tmp_path, tones(recogniser), **environment) as api:
        session_id, headers = await api.begin(concept)
        consent = {"consent": {"version": "1", "choices": {}}} if concept == "voice" else {}
        started = await api.call("POST", f"/api/sessions/{session_id}/start", headers=headers, json=consent)
        assert started.status_code == 200, started.text
        yield api, session_id, headers


class Slow:
    """A body of which the second half comes when it is told to."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.half = asyncio.Event()
        self.go_on = asyncio.Event()

    async def pieces(self) -> AsyncIterator[bytes]:
        middle = len(self._body) // 2
        yield self._body[:middle]
        yield b""
        self.half.set()
        await self.go_on.wait()
        yield self._body[middle:]


async def send(
    api: Process,
    session_id: str,
    headers: dict[str, str],
    body: bytes | AsyncIterator[bytes],
    key: str | None = None,
) -> httpx.Response:
    """One recording as an answer."""
    path = f"/api/sessions/{session_id}/audio?turn_key={key or uuid4()}"
    return await api.call("POST", path, headers=headers, content=body)


async def test_recording_is_one_answer_whatever_its_pauses(tmp_path: Path) -> None:
    body = wav(speech("the noise cancelling") + silence(4) + speech("is really good"), channels=2)
    async with begun(tmp_path) as (api, session_id, headers):
        key = str(uuid4())
        response = await send(api, session_id, headers, body, key)
        assert response.status_code == 200, response.text
        turn = response.json()
        assert (turn["turn_key"], turn["transcript"], turn["complete"]) == (key, WORDS, True)
        assert turn["question"]["turn_number"] == turn["turn_number"] == 1
        assert await api.storage.writer.drain(PATIENCE_S)
        lines = (await api.call("GET", f"/api/sessions/{session_id}/transcript", headers=api.moderator)).json()["items"]
        assert (lines[1]["text"], lines[1]["spoken"], lines[1]["confidence"]) == (WORDS, True, 0.9)
        assert lines[1]["speech_ms"] > 4000


async def test_recording_with_the_same_key_gives_the_first_result(tmp_path: Path) -> None:
    recogniser = ToneRecogniser()
    async with begun(tmp_path, recogniser=recogniser) as (api, session_id, headers):
        key = str(uuid4())
        first = await send(api, session_id, headers, wav(speech(WORDS)), key)
        asked = len(recogniser.transcriber.asked)
        again = await send(api, session_id, headers, wav(speech(WORDS)), key)
        assert again.json() == first.json()
        assert len(recogniser.transcriber.asked) == asked


async def test_second_recording_of_a_session_is_refused_while_the_first_arrives(tmp_path: Path) -> None:
    async with begun(tmp_path) as (api, session_id, headers):
        key, slow = str(uuid4()), Slow(wav(speech(WORDS)))
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(send(api, session_id, headers, slow.pieces(), key))
            await slow.half.wait()
            for other in (key, str(uuid4())):
                refused = await send(api, session_id, headers, wav(speech(WORDS)), other)
                assert (refused.status_code, refused.json()["code"]) == (409, "turn_in_progress")
                assert "recording for this interview" in refused.json()["detail"]
            slow.go_on.set()
        assert first.result().status_code == 200, first.result().text
        again = await send(api, session_id, headers, wav(speech(WORDS)), key)
        assert again.json() == first.result().json()


async def test_recordings_from_one_address_are_limited_in_number_and_all_in_bytes(tmp_path: Path) -> None:
    body = wav(speech(WORDS) + silence(3))
    limits: dict[str, Any] = {
        "max_uploads_per_address": "2",
        "max_uploads_bytes": str(5 * len(body) // 4),
        "max_audio_bytes": str(max(65_536, len(body))),
    }
    async with begun(tmp_path, **limits) as (api, session_id, headers):
        others = [await api.begin() for _ in range(2)]
        for other, theirs in others:
            await api.call("POST", f"/api/sessions/{other}/start", headers=theirs, json={})
        slow = [Slow(body), Slow(body)]
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(send(api, session_id, headers, slow[0].pieces()))
            second = tasks.create_task(send(api, *others[0], slow[1].pieces()))
            await slow[0].half.wait()
            await slow[1].half.wait()
            refused = await send(api, *others[1], body)
            assert (refused.status_code, refused.json()["code"]) == (503, "too_many_sessions")
            assert int(refused.headers["retry-after"]) > 0
            slow[1].go_on.set()
            assert (await second).status_code == 503, "more bytes than fit"
            slow[0].go_on.set()
        assert first.result().status_code == 200
        assert (await send(api, *others[1], body)).status_code == 200, "what was refused takes nothing"


async def test_crafted_recording_is_refused_and_the_next_one_is_heard(tmp_path: Path) -> None:
    async with begun(tmp_path) as (api, session_id, headers):
        before = peak_bytes()
        refused = await send(api, session_id, headers, compressed_index(1_800_000_000))
        assert (refused.status_code, refused.json()["code"]) == (415, "audio_format")
        assert "more memory" in refused.json()["detail"]
        assert peak_bytes() - before < 100_000_000
        assert (await send(api, session_id, headers, wav(speech(WORDS)))).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 415, "audio_format"),
        (b"This is a text, whatever its name says.", 415, "audio_format"),
        (wav(speech("cut off"))[:30], 415, "audio_format"),
        (wav(silence(LONGEST_S + 5)), 413, "audio_too_long"),
        (wav(silence(3)), 422, "invalid_input"),
        (wav(noise(3)), 422, "invalid_input"),
    ],
    ids=["empty", "text", "header_only", "too_long", "silence", "noise"],
)
async def test_recording_that_can_not_be_used_is_no_turn(tmp_path: Path, body: bytes, status: int, code: str) -> None:
    async with begun(tmp_path, "voice") as (api, session_id, headers):
        response = await send(api, session_id, headers, body)
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert response.json()["detail"].endswith(".")
        detail = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
        assert detail["turn_number"] == 0
        assert (await send(api, session_id, headers, wav(speech(WORDS)))).status_code == 200


async def test_recording_that_is_broken_off_is_taken_as_far_as_it_goes(tmp_path: Path) -> None:
    body = wav(speech(WORDS) + silence(3))
    async with begun(tmp_path) as (api, session_id, headers):
        response = await send(api, session_id, headers, body[: len(body) - 80_000])
        assert response.status_code == 200, response.text
        assert response.json()["transcript"] == WORDS


@pytest.mark.parametrize("announced", [True, False])
async def test_recording_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, announced: bool) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"\0" * 8192

    async with begun(tmp_path, max_audio_bytes="65536") as (api, session_id, headers):
        content: Any = b"\0" * 100_000 if announced else body()
        response = await send(api, session_id, headers, content)
        assert (response.status_code, response.json()["code"]) == (413, "audio_too_long")


@pytest.mark.parametrize("key", ["", "nonsense", "11111111"])
async def test_recording_without_a_usable_key_is_refused(tmp_path: Path, key: str) -> None:
    async with begun(tmp_path) as (api, session_id, headers):
        path = f"/api/sessions/{session_id}/audio?turn_key={key}"
        response = await api.call("POST", path, headers=headers, content=wav(speech(WORDS)))
        assert (response.status_code, response.json()["code"]) == (422, "invalid_input")


async def test_recording_of_somebody_else_is_refused(tmp_path: Path) -> None:
    async with begun(tmp_path) as (api, session_id, _):
        _, other = await api.begin()
        assert (await send(api, session_id, other, wav(speech(WORDS)))).status_code == 403
        assert (await send(api, session_id, {}, wav(speech(WORDS)))).status_code == 401


async def test_recording_before_the_question_is_refused(tmp_path: Path) -> None:
    async with hearing_process(tmp_path, tones()) as api:
        session_id, headers = await api.begin("voice")
        response = await send(api, session_id, headers, wav(speech(WORDS)))
        assert (response.status_code, response.json()["code"]) == (403, "consent_required")


async def test_recording_under_too_much_load_is_refused(tmp_path: Path) -> None:
    recogniser = ToneRecogniser(backlog_s=30.0)
    async with begun(tmp_path, recogniser=recogniser) as (api, session_id, headers):
        response = await send(api, session_id, headers, wav(speech(WORDS)))
        assert (response.status_code, response.json()["code"]) == (503, "too_many_sessions")
        metrics = (await api.call("GET", "/metrics")).text
        assert "askwell_speech_refused_total 1.0" in metrics
        assert "askwell_speech_wait_s 30.0" in metrics


async def test_transcriber_that_fails_takes_no_turn(tmp_path: Path) -> None:
    recogniser = ToneRecogniser()
    recogniser.transcriber.failing = True
    async with begun(tmp_path, recogniser=recogniser) as (api, session_id, headers):
        response = await send(api, session_id, headers, wav(speech(WORDS)))
        assert (response.status_code, response.json()["code"]) == (503, "transcriber_unavailable")


async def test_process_that_decodes_ends_when_the_client_disconnects(tmp_path: Path) -> None:
    body = wav(speech(WORDS))
    async with begun(tmp_path) as (api, session_id, headers):
        assert (await send(api, session_id, headers, b"RIFF\0\0\0\0WAVE")).status_code == 415
        [process_id] = decoding_processes()
        os.kill(process_id, signal.SIGSTOP)
        messages = [{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}]
        answered: list[Any] = []

        async def receive() -> Any:
            return messages.pop(0)

        async def reply(message: Any) -> None:
            answered.append(message)

        path = f"/api/sessions/{session_id}/audio"
        names = {"host": "127.0.0.1:8080", **headers}
        scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": f"turn_key={uuid4()}".encode(), "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in names.items()],
            "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 8080),
        }  # fmt: skip
        await api.app(scope, receive, reply)
        assert answered[0]["status"] == 400

        async def gone() -> bool:
            return decoding_processes() == []

        await eventually(gone)
        assert (await send(api, session_id, headers, body)).status_code == 200


# Recordings that are kept


async def test_sound_of_an_answer_is_kept_where_that_was_agreed_to_and_goes_with_the_session(tmp_path: Path) -> None:
    async with begun(tmp_path, "voice") as (api, session_id, headers):
        key = str(uuid4())
        pcm = speech(WORDS) + silence(1)
        assert (await send(api, session_id, headers, wav(pcm), key)).status_code == 200
        await api.parts.recorder.drain()
        folder = tmp_path / "data" / "recordings" / session_id
        [path] = folder.iterdir()
        assert path.name == f"0001-{key}.flac"
        assert read_recording(path, max_s=60).samples.astype("<i2").tobytes() == pcm
        assert await api.storage.writer.drain(PATIENCE_S)
        detail = (await api.call("GET", f"/api/sessions/{session_id}", headers=api.moderator)).json()
        assert detail["recordings"] == [{"file": path.name, "bytes": path.stat().st_size}]

        assert (await api.call("DELETE", f"/api/sessions/{session_id}", headers=headers)).status_code == 202
        assert await api.storage.writer.drain(PATIENCE_S)

        async def gone() -> bool:
            return not folder.exists()

        await eventually(gone)


@pytest.mark.parametrize("choices", [{"recording": False}])
async def test_sound_of_whoever_declines_it_is_not_kept(tmp_path: Path, choices: dict[str, bool]) -> None:
    async with hearing_process(tmp_path, tones()) as api:
        session_id, headers = await api.begin("voice")
        consent = {"consent": {"version": "1", "choices": choices}}
        await api.call("POST", f"/api/sessions/{session_id}/start", headers=headers, json=consent)
        assert (await send(api, session_id, headers, wav(speech(WORDS)))).status_code == 200
        await api.parts.recorder.drain()
        assert not (tmp_path / "data" / "recordings" / session_id).exists()


async def test_sound_is_not_kept_where_the_concept_does_not_ask(tmp_path: Path) -> None:
    async with begun(tmp_path) as (api, session_id, headers):
        assert (await send(api, session_id, headers, wav(speech(WORDS)))).status_code == 200
        await api.parts.recorder.drain()
        assert not (tmp_path / "data" / "recordings").exists()


async def test_recordings_of_a_session_that_was_erased_elsewhere_are_found_at_the_next_start(tmp_path: Path) -> None:
    async with begun(tmp_path, "voice") as (api, session_id, headers):
        await send(api, session_id, headers, wav(speech(WORDS)))
        await api.parts.recorder.drain()
        folder = tmp_path / "data" / "recordings" / session_id
        kept = {path.name: path.read_bytes() for path in folder.iterdir()}
        await api.call("DELETE", f"/api/sessions/{session_id}", headers=headers)
        assert await api.storage.writer.drain(PATIENCE_S)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in kept.items():
        (folder / name).write_bytes(content)
    async with hearing_process(tmp_path, tones()):

        async def gone() -> bool:
            return not folder.exists()

        await eventually(gone)


# What a page is told


async def test_page_is_told_whether_and_how_it_may_listen(tmp_path: Path) -> None:
    async with hearing_process(tmp_path, tones(), patience="patient", echo_cancellation="on") as api:
        session_id, headers = await api.begin("voice")
        told = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()["speech"]
        assert told == {
            "available": True,
            "reason": None,
            "voice": False,
            "patience": "patient",
            "pauses_s": {"quick": 0.5, "normal": 0.8, "patient": 1.8},
            "reopen_s": 3.0,
            "max_answer_s": 20,
            "review_transcript": False,
            "record_audio": True,
            "barge_in": False,
            "echo_cancellation": True,
            "noise_suppression": False,
            "auto_gain_control": False,
        }
        german, headers = await api.begin("coffee", language="de")
        told = (await api.call("GET", f"/api/sessions/{german}", headers=headers)).json()["speech"]
        assert (told["available"], told["reason"]) == (False, "language_unsupported")


async def test_page_is_told_that_nobody_listens(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        session_id, headers = await api.begin()
        told = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()["speech"]
        assert (told["available"], told["reason"]) == (False, "transcriber_unavailable")
        response = await send(api, session_id, headers, wav(speech(WORDS)))
        assert (response.status_code, response.json()["code"]) == (503, "transcriber_unavailable")

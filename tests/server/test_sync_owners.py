"""A device can't change another device's interview, and nothing that was confirmed to a device is given up."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import text

from pipeline.state import InterviewState
from server.hot.packing import pack, unpack
from server.recordings import FileRecorder
from server.store import copies
from server.sync.bundle import SyncOffer
from tests.support.patience import PATIENCE_S
from tests.support.syncing import Pair, device, full_interview, pair
from tests.support.whole import bearer

pytestmark = pytest.mark.asyncio(loop_scope="module")

Lines = list[dict[str, Any]]
PATH = "/api/sync/sessions"


@dataclass
class Interview:
    """An interview that the kiosk has sent, and what is needed to send something in its place."""

    both: Pair
    session_id: str
    lines: Lines
    content: bytes

    @property
    def rev(self) -> int:
        return int(self.lines[0]["rev"])

    async def offer(self, token: str, content: bytes, **changed: Any) -> httpx.Response:
        """Offer a bundle under this interview's id."""
        header = json.loads(content.partition(b"\n")[0])
        said = {name: header[name] for name in ("session_id", "concept_id", "rev", "format")}
        body = {**said, "digest": hashlib.sha256(content).hexdigest(), "size": len(content), **changed}
        return await self.both.centre.call("POST", PATH, json=body, headers=bearer(token))

    async def upload(self, token: str, content: bytes) -> None:
        """Send the bytes of a bundle that was offered."""
        digest = hashlib.sha256(content).hexdigest()
        path = f"{PATH}/{self.session_id}/chunks?digest={digest}&offset=0"
        sent = await self.both.centre.call("POST", path, content=content, headers=bearer(token))
        assert sent.json() == {"offset": len(content)}

    async def finish(self, token: str, content: bytes) -> httpx.Response:
        """Have a bundle that was sent stored."""
        body = {"digest": hashlib.sha256(content).hexdigest()}
        return await self.both.centre.call("POST", f"{PATH}/{self.session_id}/finish", json=body, headers=bearer(token))

    async def send(self, token: str, content: bytes) -> httpx.Response:
        """All three calls, or the first if it is not answered by `wanted`."""
        begun = await self.offer(token, content)
        if begun.status_code != 200 or begun.json()["status"] != "wanted":
            return begun
        await self.upload(token, content)
        return await self.finish(token, content)

    async def here(self) -> tuple[Any, ...]:
        """All that the collecting server has of it."""
        centre = self.both.centre
        files = [(path.name, path.read_bytes()) for path in centre.storage.recorder.paths(self.session_id)]
        received = await centre.parts.copies.received(self.session_id)
        return await centre.parts.copies.rows(self.session_id), files, received

    async def detail(self) -> dict[str, Any]:
        """What the moderator sees of it."""
        centre = self.both.centre
        found = await centre.call("GET", f"/api/sessions/{self.session_id}", headers=centre.moderator)
        return dict(found.json())


async def bundle(both: Pair) -> bytes:
    """The only interview that waits, as bytes."""
    [unsent] = await both.kiosk.parts.sync.source(None).waiting()
    async with both.kiosk.parts.sync.source(None).opened(unsent) as opened:
        assert opened is not None
        return opened.file.read()


async def made(both: Pair) -> Interview:
    """A finished interview on the kiosk, not sent yet."""
    session_id = await full_interview(both.kiosk)
    content = await bundle(both)
    return Interview(both, session_id, [json.loads(line) for line in content.splitlines()], content)


async def sent(both: Pair) -> Interview:
    """The same, sent."""
    interview = await made(both)
    assert (await both.send()).sent == 1
    return interview


def changed(interview: Interview, change: Callable[[Lines], None], rev: int | None = None) -> bytes:
    """Its bundle with a change of rows, and perhaps another revision."""
    lines: Lines = json.loads(json.dumps(interview.lines))
    change(lines)
    if rev is not None:
        lines[0]["rev"] = rev
        for line in lines:
            if line.get("table") in ("sessions", "session_snapshots"):
                line["row"]["rev"] = rev
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def other_words(said: str) -> Callable[[Lines], None]:
    """Change what was said."""

    def change(lines: Lines) -> None:
        row = next(line["row"] for line in lines if line.get("table") == "utterances")
        row["text"] = said

    return change


def other_words_and_sound(said: str) -> Callable[[Lines], None]:
    """Change both."""

    def change(lines: Lines) -> None:
        other_words(said)(lines)
        other_sound(lines)

    return change


def other_sound(lines: Lines) -> None:
    """Change the first recording, which keeps its length."""
    at = next(n for n, line in enumerate(lines) if "file" in line)
    lines[at + 1]["data"] = "AAAA" + lines[at + 1]["data"][4:]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    async with pair(tmp_path_factory.mktemp("sync")) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def both(servers: Pair) -> Pair:
    """The two servers, without what earlier tests sent and made."""
    for server in (servers.kiosk, servers.centre):
        async with server.storage.database.write() as connection:
            for table in ("sessions", "sync_sent", "sync_received", "sync_versions", "sync_uploads"):
                await connection.execute(text(f"DELETE FROM {table}"))
    async with servers.centre.storage.database.write() as connection:
        await connection.execute(text("UPDATE tokens SET concepts = NULL WHERE id = :id"), {"id": servers.device_id})
    return servers


async def test_device_of_another_concept_changes_nothing_and_its_own_interview_stays(both: Pair) -> None:
    interview = await sent(both)
    before = await interview.here()
    for concepts in (["tea"], ["coffee"], None):
        token, _ = await device(both.centre, concepts, "Kiosk 2")
        theirs = changed(interview, other_words("Something else"))
        for concept in ("coffee", "tea"):
            refused = await interview.offer(token, theirs, concept_id=concept, rev=interview.rev + 5)
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), (concepts, concept)
            assert refused.json()["detail"].endswith(".")
            assert (await interview.finish(token, theirs)).status_code == 404
    assert await interview.here() == before
    async with both.kiosk.storage.database.write() as connection:
        await connection.execute(text("DELETE FROM sync_sent"))
        await connection.execute(text("UPDATE utterances SET text = 'Changed' WHERE position = 0"))
    report = await both.send(both.central(token=token), erases=True)
    assert (report.sent, report.erased) == (0, 0)
    assert "from another device" in report.not_taken[interview.session_id]
    assert await interview.here() == before


async def test_same_bytes_from_another_device_are_stored_already(both: Pair) -> None:
    """An exported file may be sent with another token than the kiosk's own."""
    interview = await sent(both)
    before = await interview.here()
    token, _ = await device(both.centre, ["coffee"], "Kiosk 2")
    assert (await interview.offer(token, interview.content)).json()["status"] == "stored"
    elsewhere, _ = await device(both.centre, ["tea"], "Kiosk 3")
    assert (await interview.offer(elsewhere, interview.content, concept_id="tea")).status_code == 403
    assert (await interview.finish(elsewhere, interview.content)).status_code == 403
    assert await interview.here() == before


async def test_concept_of_an_interview_that_is_here_can_not_be_changed(both: Pair) -> None:
    interview = await sent(both)
    before = await interview.here()
    lines: Lines = json.loads(json.dumps(interview.lines))
    lines[0]["concept_id"] = "tea"
    content = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    refused = await interview.send(both.token, content)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "on another concept" in refused.json()["detail"]
    assert await interview.here() == before


@pytest.mark.parametrize("together", [False, True])
async def test_two_devices_that_finish_one_session_leave_that_of_the_first(both: Pair, together: bool) -> None:
    interview = await made(both)
    other, _ = await device(both.centre, None, "Kiosk 2")
    contents = {
        both.token: interview.content,
        other: changed(interview, other_words_and_sound("Not so")),
    }
    for token, content in contents.items():
        assert (await interview.offer(token, content)).json()["status"] == "wanted"
        await interview.upload(token, content)
    if together:
        replies = await asyncio.gather(*(interview.finish(*item) for item in contents.items()))
    else:
        replies = [await interview.finish(*item) for item in contents.items()]
    assert sorted(reply.status_code for reply in replies) == [200, 403]
    won = next(token for token, reply in zip(contents, replies, strict=True) if reply.status_code == 200)
    expected = [json.loads(line) for line in contents[won].splitlines()]
    rows, files, _ = await interview.here()
    said = [row["text"] for name, row in rows if name == "utterances"]
    assert said == [line["row"]["text"] for line in expected if line.get("table") == "utterances"]
    first = next(line["data"] for line in expected if "data" in line)
    assert files[0][1].startswith(base64.b64decode(first)[:100])
    folder = both.centre.storage.data_dir.path / "recordings" / interview.session_id
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


async def test_scope_that_changes_after_the_offer_counts(both: Pair) -> None:
    interview = await made(both)
    assert (await interview.offer(both.token, interview.content)).json()["status"] == "wanted"
    await interview.upload(both.token, interview.content)
    async with both.centre.storage.database.write() as connection:
        await connection.execute(text("UPDATE tokens SET concepts = '[\"tea\"]' WHERE kind = 'device'"))
    refused = await interview.finish(both.token, interview.content)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert await interview.here() == ([], [], None)


async def test_earlier_state_of_the_same_device_is_confirmed_only_once_its_bytes_are_kept(both: Pair) -> None:
    interview = await sent(both)
    shown = await interview.here()
    older = changed(interview, other_words("Said before"), rev=interview.rev - 1)
    older = with_state(older, interview.rev - 1)
    begun = await interview.offer(both.token, older)
    assert begun.json()["status"] == "wanted"
    assert (await interview.send(both.token, older)).json()["status"] == "stored"
    rows, files, _ = await interview.here()
    assert (rows, files) == shown[:2]
    [version] = (await interview.detail())["versions"]
    assert (version["rev"], version["digest"]) == (interview.rev - 1, hashlib.sha256(older).hexdigest())
    assert await exported_version(interview, version["digest"]) == older
    assert (await interview.offer(both.token, older)).json()["status"] == "stored"


async def test_later_state_takes_the_place_of_the_earlier_which_is_kept_and_goes_with_the_session(both: Pair) -> None:
    interview = await sent(both)
    newer = changed(interview, other_words_and_sound("Said later"))
    assert (await interview.send(both.token, newer)).json()["status"] == "stored"
    rows, files, _ = await interview.here()
    assert next(row["text"] for name, row in rows if name == "utterances") == "Said later"
    detail = await interview.detail()
    assert detail["received_from"] == {"id": both.device_id, "name": "Kiosk 1"}
    [version] = detail["versions"]
    assert version["recordings"] == [name for name, _ in files]
    assert await exported_version(interview, version["digest"]) == interview.content
    path = f"/api/sessions/{interview.session_id}"
    unknown = await both.centre.call("GET", f"{path}/versions/{'0' * 64}", headers=both.centre.moderator)
    assert unknown.status_code == 404
    assert (await both.centre.call("DELETE", path, headers=both.centre.moderator)).status_code == 202
    assert await both.centre.storage.writer.drain(PATIENCE_S)
    async with both.centre.storage.database.read() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM sync_versions"))).scalar_one() == 0
    assert not (both.centre.storage.data_dir.path / "recordings" / interview.session_id).exists()


async def test_more_states_than_are_kept_are_refused_and_none_is_given_up(
    both: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MOST_VERSIONS", 2)
    interview = await sent(both)
    for number in range(2):
        content = changed(interview, other_words(f"State {number}"))
        assert (await interview.send(both.token, content)).json()["status"] == "stored"
    before = await interview.here()
    refused = await interview.send(both.token, changed(interview, other_words("One more")))
    assert (refused.status_code, "different states" in refused.json()["detail"]) == (422, True)
    assert await interview.here() == before
    digests = {version["digest"] for version in (await interview.detail())["versions"]}
    assert len(digests) == 2 and hashlib.sha256(interview.content).hexdigest() in digests


async def test_device_with_a_new_token_may_go_on_once_a_moderator_handed_its_interviews_over(both: Pair) -> None:
    interview = await sent(both)
    token, new_id = await device(both.centre, None, "Kiosk 1, new")
    newer = changed(interview, other_words("Said later"))
    assert (await interview.send(token, newer)).status_code == 403
    wish = {"from_device": both.device_id, "to_device": new_id}
    centre = both.centre

    async def hand_over(headers: dict[str, str], **more: str) -> httpx.Response:
        return await centre.call("POST", "/api/sync/handover", json={**wish, **more}, headers=headers)

    assert (await hand_over(bearer(token))).status_code == 403
    assert (await hand_over(centre.moderator, to_device="nobody")).status_code == 404
    assert (await hand_over(centre.moderator, session_id="another")).json() == {"sessions": 0}
    assert (await hand_over(centre.moderator, session_id=interview.session_id)).json() == {"sessions": 1}
    assert (await interview.send(token, newer)).json()["status"] == "stored"
    assert (await interview.send(both.token, changed(interview, other_words("Old token")))).status_code == 403


class FailsOnce(FileRecorder):
    """A recorder whose disk fails when recordings are put into their place."""

    failing = True

    async def place(self, session_id: str, digest: str, *, replaced: str | None) -> None:
        if self.failing:
            self.failing = False
            raise OSError("the disk is away")
        await super().place(session_id, digest, replaced=replaced)


async def test_stop_between_rows_and_recordings_is_made_good_before_anything_is_confirmed(both: Pair) -> None:
    interview = await made(both)
    parts = both.centre.parts
    recorder = FailsOnce(parts.recorder._recordings, parts.hot.is_erased, parts.metrics)
    receiver = replace(parts.receiver, recorder=recorder)
    principal = await parts.auth.identify(both.token)
    assert principal is not None
    digest = hashlib.sha256(interview.content).hexdigest()
    said = {name: interview.lines[0][name] for name in ("session_id", "concept_id", "rev", "format")}
    offer = SyncOffer(**said, digest=digest, size=len(interview.content))
    await receiver.begin(principal, offer)
    await receiver.add(principal, interview.session_id, digest, 0, interview.content)
    with pytest.raises(OSError, match="the disk is away"):
        await receiver.finish(principal, interview.session_id, digest)
    assert (await interview.here())[1] == []
    assert (await receiver.begin(principal, offer)).status == "stored"
    files = [(path.name, path.read_bytes()) for path in both.kiosk.storage.recorder.paths(interview.session_id)]
    assert (await interview.here())[1] == files


async def exported_version(interview: Interview, digest: str) -> bytes:
    """The bundle of a version, as a moderator gets it."""
    centre = interview.both.centre
    path = f"/api/sessions/{interview.session_id}/versions/{digest}"
    found = await centre.call("GET", path, headers=centre.moderator)
    assert found.status_code == 200, found.text
    whole, end = gzip.decompress(found.content).rsplit(b"\n", 2)[:2]
    assert json.loads(end) == {"askwell": "end", "sessions": 1}
    return whole + b"\n"


def with_state(content: bytes, rev: int) -> bytes:
    """The bundle with a state of that revision."""
    lines = [json.loads(line) for line in content.splitlines()]
    for line in lines:
        if line.get("table") == "session_snapshots":
            state = InterviewState.load(unpack(base64.b64decode(line["row"]["state"])))
            packed = pack(state.model_copy(update={"rev": rev}).dump(), compress_above=1024)
            line["row"]["state"] = base64.b64encode(packed).decode()
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)

"""Takes in what devices send: byte by byte into the store, then, when all is there and fits, as a session."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Literal

import structlog
from pydantic import ValidationError

from config.loader import content_hash_of
from pipeline.concept import SessionConfiguration
from pipeline.errors import PipelineError, StateVersionError
from pipeline.state import InterviewState
from server.auth import Principal
from server.errors import ApiError
from server.hot.errors import Gone, SessionNotHot
from server.hot.packing import unpack
from server.hot.redis import HotStore
from server.recordings import FileRecorder
from server.store.copies import Copies, CopyRefused, parsed_row
from server.store.errors import RecordRefused, StoreUnavailable
from server.store.repository import UNFINISHED
from server.store.tables import Row
from server.sync.bundle import Bundle, BundleInvalid, KeptFile, pieces, read

log = structlog.get_logger("askwell.sync")

Status = Literal["stored", "erased", "wanted"]


@dataclass(frozen=True, slots=True)
class Offer:
    """An interview that a device has: `digest` and `size` of its bundle, by how much its clock is ahead of ours."""

    session_id: str
    concept_id: str
    rev: int
    digest: str
    size: int
    skew_s: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an offer; `offset` is the byte from which on it is wanted."""

    status: Status
    offset: int = 0
    received_at: datetime | None = None

    def body(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "status": self.status,
            "offset": self.offset,
            "received_at": self.received_at.isoformat() if self.received_at else None,
        }


class Receiver:
    """Takes in sessions from devices. Every step may be repeated, on any node.

    Args:
        copies: of the store.
        hot: where sessions run.
        recorder: keeps recordings.
        folder: for files that are needed for a moment.
        max_bytes: of one bundle.
        now: the current time, with time zone.
    """

    def __init__(
        self,
        copies: Copies,
        hot: HotStore,
        recorder: FileRecorder,
        *,
        folder: Path,
        max_bytes: int,
        now: Callable[[], datetime],
    ) -> None:
        self._copies = copies
        self._hot = hot
        self._recorder = recorder
        self._folder = folder
        self._max_bytes = max_bytes
        self._now = now

    async def begin(self, device: Principal, offer: Offer) -> Answer:
        """What to send of an interview.

        Raises:
            ApiError: it is out of the device's scope, too large, or was held here.
            StoreUnavailable: the store can't take it now.
        """
        if not device.may_see(offer.concept_id):
            raise ApiError("forbidden", f"This device may not send interviews on the concept `{offer.concept_id}`.")
        if offer.size > self._max_bytes:
            message = f"The interview has {offer.size} bytes, {self._max_bytes} at the most are taken here."
            raise ApiError("invalid_input", message, status=413)
        known = await self._known(offer.session_id, offer.digest, offer.rev)
        if known is not None:
            return known
        with _room():
            offset = await self._copies.open_upload(
                device.token_id, offer.session_id, offer.digest, size=offer.size, skew_s=offer.skew_s, at=self._now()
            )
        return Answer("wanted", offset)

    async def add(self, device: Principal, session_id: str, digest: str, offset: int, data: bytes) -> int:
        """Keep a piece; from where on the next one is wanted.

        Raises:
            ApiError: `not_found`, nothing of the kind was begun.
            StoreUnavailable: the store can't take it now.
        """
        with _room():
            end = await self._copies.add_chunk(device.token_id, session_id, digest, offset, data, self._now())
        if end is None:
            raise ApiError("not_found", "No such interview is on its way here: begin again.")
        return end

    async def finish(self, device: Principal, session_id: str, digest: str) -> Answer:
        """Make a session of what was sent; true in the store when this returns.

        Raises:
            ApiError: `not_found`; `invalid_input`, something is missing or does not fit together.
            StoreUnavailable: the store can't take it now.
        """
        upload = await self._copies.upload(device.token_id, session_id, digest)
        if upload is None:
            known = await self._copies.received(session_id)
            if known is not None and known.digest == digest:
                return Answer("stored" if known.present else "erased", received_at=known.received_at)
            raise ApiError("not_found", "No such interview is on its way here: begin again.")
        if upload["received"] != upload["size"]:
            message = f"Only {upload['received']} of {upload['size']} bytes are here."
            raise ApiError("invalid_input", message, status=409)
        try:
            return await self._take_in(device, session_id, digest)
        except (CopyRefused, BundleInvalid, RecordRefused) as exc:
            # What can't be taken in now can't be later: nothing of it stays.
            await self._copies.drop_upload(device.token_id, session_id, digest)
            log.warning("sync.refused", session=session_id, device=device.token_id, reason=str(exc))
            contradicts = isinstance(exc, RecordRefused)
            reason = "The rows of the interview contradict each other." if contradicts else str(exc)
            raise ApiError("invalid_input", reason) from exc

    async def _take_in(self, device: Principal, session_id: str, digest: str) -> Answer:
        async with self._spooled(device.token_id, session_id, digest) as spool:
            bundle = await asyncio.to_thread(read, spool)
            session = await asyncio.to_thread(checked, bundle, session_id)
            if not device.may_see(bundle.header.concept_id):
                message = f"This device may not send interviews on the concept `{bundle.header.concept_id}`."
                raise ApiError("forbidden", message)
            known = await self._known(session_id, digest, bundle.header.rev)
            if known is not None:
                await self._copies.drop_upload(device.token_id, session_id, digest)
                return known
            with _room():
                for file in bundle.files:
                    await self._keep(session_id, spool, file)
                at = await self._copies.store(
                    session, digest=digest, device_id=device.token_id, device_name=device.name, at=self._now()
                )
        await self._recorder.erase_if_gone(session_id)
        log.info("sync.received", session=session_id, device=device.token_id, rev=bundle.header.rev)
        return Answer("stored", received_at=at)

    async def _known(self, session_id: str, digest: str, rev: int) -> Answer | None:
        """The answer where nothing is wanted. Raises ApiError for a session that was held here."""
        known = await self._copies.received(session_id)
        if await self._hot.is_gone(session_id) or (known is not None and not known.present):
            return Answer("erased", received_at=known.received_at if known else None)
        if known is not None:
            is_same = known.digest == digest or known.rev > rev
            return Answer("stored", received_at=known.received_at) if is_same else None
        if await self._copies.exists(session_id) or await self._is_hot(session_id):
            raise ApiError(
                "invalid_input", "This interview was held on this server itself: it can't be sent here.", status=409
            )
        return None

    async def _is_hot(self, session_id: str) -> bool:
        try:
            await self._hot.read(session_id)
        except (SessionNotHot, Gone):
            return False
        return True

    @asynccontextmanager
    async def _spooled(self, device_id: str, session_id: str, digest: str) -> AsyncIterator[IO[bytes]]:
        """What was sent, in a file. Raises BundleInvalid when it is not what was announced."""
        found = hashlib.sha256()
        with _room(), tempfile.TemporaryFile(dir=self._folder) as spool:
            async for chunk in self._copies.chunks(device_id, session_id, digest):
                found.update(chunk)
                await asyncio.to_thread(spool.write, chunk)
            if found.hexdigest() != digest:
                raise BundleInvalid("The interview was damaged on its way: send it again.")
            spool.seek(0)
            yield spool

    async def _keep(self, session_id: str, spool: IO[bytes], file: KeptFile) -> None:
        with tempfile.TemporaryFile(dir=self._folder) as sound:

            def unpack_sound() -> None:
                sound.writelines(pieces(spool, file))
                sound.seek(0)

            await asyncio.to_thread(unpack_sound)
            try:
                await self._recorder.adopt(session_id, file.name, sound)
            except ValueError as exc:
                raise BundleInvalid(str(exc)) from exc


def checked(bundle: Bundle, session_id: str) -> dict[str, list[Row]]:
    """The rows of a bundle by table, once they fit together; blocks.

    Raises:
        CopyRefused, BundleInvalid: they don't, or belong to another version of askwell.
    """
    rows: dict[str, list[Row]] = {}
    for table, content in bundle.rows:
        rows.setdefault(table, []).append(parsed_row(table, content, session_id))
    if any(len(rows.get(table, ())) != 1 for table in ("sessions", "session_snapshots", "configurations")):
        raise BundleInvalid("Something of the interview is missing.")
    [session], [snapshot], [configuration] = rows["sessions"], rows["session_snapshots"], rows["configurations"]
    state = _state(snapshot["state"])
    try:
        SessionConfiguration.model_validate_json(configuration["content"])
        config_hash = content_hash_of(configuration["content"])
    except (ValidationError, ValueError) as exc:
        raise BundleInvalid("The configuration of the interview can't be read here. Update the older askwell.") from exc
    said = {
        "session": (bundle.header.session_id, session["id"], state.session_id, session_id),
        "concept": (bundle.header.concept_id, session["concept_id"], state.concept_id),
        "revision": (bundle.header.rev, session["rev"], state.rev, snapshot["rev"]),
        "state": (session["state"], state.status),
        "configuration": (session["config_hash"], state.config_hash, configuration["hash"], config_hash),
    }
    for name, told in said.items():
        if any(one != other for one, other in pairwise(told)):
            raise BundleInvalid(f"The interview contradicts itself: its {name} is told in two ways.")
    if state.status in UNFINISHED:
        raise BundleInvalid("The interview is not over yet.")
    return rows


def _state(packed: bytes) -> InterviewState:
    try:
        return InterviewState.load(unpack(packed))
    except StateVersionError as exc:
        raise BundleInvalid("The interview comes from a newer askwell: update this server first.") from exc
    except (ValidationError, PipelineError, ValueError) as exc:
        raise BundleInvalid("The state of the interview can't be read here.") from exc


@contextmanager
def _room() -> Iterator[None]:
    """Says in words that a disk is full."""
    try:
        yield
    except (OSError, StoreUnavailable) as exc:
        if getattr(exc, "errno", None) not in (errno.ENOSPC, errno.EDQUOT) and "is full" not in str(exc):
            raise
        raise ApiError("storage_unavailable", "The server's disk is full.", retryable=True, status=507) from exc

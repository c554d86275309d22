"""Takes in what devices send: its bytes go into the store, and become a session when all are there and are valid."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import structlog
from pydantic import ValidationError

from config.loader import content_hash_of
from pipeline.concept import SessionConfiguration
from pipeline.errors import PipelineError, StateVersionError
from pipeline.state import UNFINISHED, InterviewState
from server.auth import Principal
from server.errors import ApiError
from server.hot.errors import SessionErased, SessionNotHot
from server.hot.packing import unpack
from server.hot.redis import HotStore
from server.recordings import FileRecorder
from server.store.copies import HELD_HERE, Copies, CopyRefused, Received, UploadKey, parsed_row
from server.store.errors import RecordRefused, StoreUnavailable
from server.store.tables import Row
from server.sync.bundle import (
    MOST_STATE_BYTES,
    MOST_STATE_VALUES,
    Bundle,
    BundleInvalid,
    KeptFile,
    OfferReply,
    SyncOffer,
    batches,
    most_values,
    pieces,
    read,
)

log = structlog.get_logger("askwell.sync")

TAKEN_IN_AT_ONCE = 2
"""Interviews whose rows are in memory at the same time, to be checked and stored."""


@dataclass(frozen=True)
class Receiver:
    """Takes in sessions from devices. Every step may be repeated, on any node.

    Args:
        copies: of the store.
        hot: where sessions run.
        recorder: keeps recordings.
        folder: for temporary files.
        max_bytes: of one bundle.
        now: the current time, with time zone.
    """

    copies: Copies
    hot: HotStore
    recorder: FileRecorder
    _: KW_ONLY
    folder: Path
    max_bytes: int
    now: Callable[[], datetime]
    _turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TAKEN_IN_AT_ONCE))

    async def begin(self, device: Principal, offer: SyncOffer) -> OfferReply:
        """What to send of an interview.

        Raises:
            ApiError: it is out of the device's scope, too large, another device's, or was held here.
            StoreUnavailable: the store can't take it now.
        """
        _check_scope(device, offer.concept_id)
        if offer.size > self.max_bytes:
            message = f"The interview has {offer.size} bytes, {self.max_bytes} at the most are taken here."
            raise ApiError("invalid_input", message, status=413)
        key, now = UploadKey(device.token_id, offer.session_id, offer.digest), self.now()
        try:
            known = await self._known(key, offer.concept_id)
        except CopyRefused as exc:
            raise self._refusal(exc, key) from exc
        if known is not None:
            return known
        with _disk_errors():
            skew_s = _skew_s(offer.sent_at, now)
            return OfferReply("wanted", await self.copies.open_upload(key, size=offer.size, skew_s=skew_s, at=now))

    async def add(self, device: Principal, session_id: str, digest: str, offset: int, data: bytes) -> int:
        """Keep a piece; the offset of the next one.

        Raises:
            ApiError: `not_found`, no upload of that name was begun.
            StoreUnavailable: the store can't take it now.
        """
        with _disk_errors():
            key = UploadKey(device.token_id, session_id, digest)
            end = await self.copies.add_chunk(key, offset, data, self.now())
        if end is None:
            raise _not_begun()
        return end

    async def finish(self, device: Principal, session_id: str, digest: str) -> OfferReply:
        """Make a session of what was sent; it is stored when this returns.

        Raises:
            ApiError: `not_found`; `invalid_input`, something is missing or does not fit together.
            StoreUnavailable: the store can't take it now.
        """
        key = UploadKey(device.token_id, session_id, digest)
        try:
            upload = await self.copies.upload(key)
            if upload is None:
                return await self._finished_before(device, key)
            if upload["received"] != upload["size"]:
                message = f"Only {upload['received']} of {upload['size']} bytes are here."
                raise ApiError("invalid_input", message, status=409)
            async with self._turn:
                return await self._take_in(device, key)
        except (CopyRefused, BundleInvalid, RecordRefused) as exc:
            # What can't be taken in now can't be later: nothing of it stays.
            await self.copies.drop_upload(key)
            raise self._refusal(exc, key) from exc

    async def _finished_before(self, device: Principal, key: UploadKey) -> OfferReply:
        """The reply where no such upload is open: it was stored or erased. Raises ApiError `not_found`, `forbidden`."""
        known = await self.copies.received(key.session_id)
        if known is None or not known.has(key.digest):
            raise _not_begun()
        if known.concept_id is None:
            return OfferReply("erased", received_at=known.received_at)
        _check_scope(device, known.concept_id)
        return await self._stored(key, known)

    def _refusal(self, exc: CopyRefused | BundleInvalid | RecordRefused, key: UploadKey) -> ApiError:
        log.warning("sync.refused", session=key.session_id, device=key.device_id, reason=str(exc))
        if isinstance(exc, RecordRefused):
            return ApiError("invalid_input", "The rows of the interview contradict each other.")
        return ApiError(exc.code, str(exc))

    async def _take_in(self, device: Principal, key: UploadKey) -> OfferReply:
        async with self._spooled(key) as spool:
            bundle, session = await asyncio.to_thread(checked, spool, key.session_id)
            _check_scope(device, bundle.header.concept_id)
            known = await self._known(key, bundle.header.concept_id)
            if known is not None:
                await self.copies.drop_upload(key)
                return known
            names = list(dict.fromkeys(file.name for file in bundle.files))

            def rows_of(table: str) -> Iterator[list[Row]]:
                for batch in batches(spool, bundle, table):
                    yield [parsed_row(table, content, key.session_id) for content in batch]

            try:
                with _disk_errors():
                    for file in bundle.files:
                        await self._stage(key, spool, file)
                    stored = await self.copies.store(
                        key, session, rows_of, device_name=device.name, recordings=names, at=self.now()
                    )
            except (CopyRefused, BundleInvalid, RecordRefused):
                await self.recorder.unstage(key.session_id, key.digest)
                raise
        if not stored.present:
            await self.recorder.erase(key.session_id)
            return OfferReply("erased", received_at=stored.received_at)
        reply = await self._stored(key, stored)
        await self.recorder.erase_if_gone(key.session_id)
        log.info("sync.received", session=key.session_id, device=device.token_id, rev=bundle.header.rev)
        return reply

    async def _stored(self, key: UploadKey, known: Received) -> OfferReply:
        """Confirm a bundle whose rows are here, its recordings in their place; a stop in between leaves them staged."""
        with _disk_errors():
            if key.digest == known.digest:
                replaced = known.versions[-1] if known.versions else None
                await self.recorder.place(key.session_id, key.digest, replaced=replaced)
            else:
                await self.recorder.set_aside(key.session_id, key.digest)
        return OfferReply("stored", received_at=known.received_at)

    async def _known(self, key: UploadKey, concept_id: str) -> OfferReply | None:
        """The reply if nothing is wanted.

        Raises:
            CopyRefused: as `Received.check`.
            ApiError: the session was held here.
        """
        known = await self.copies.received(key.session_id)
        if known is not None:
            known.check(key, concept_id)
        if await self.hot.is_erased(key.session_id) or (known is not None and not known.present):
            return OfferReply("erased", received_at=known.received_at if known else None)
        if known is not None:
            return await self._stored(key, known) if known.has(key.digest) else None
        if await self.copies.exists(key.session_id) or await self._is_hot(key.session_id):
            raise ApiError("invalid_input", HELD_HERE, status=409)
        return None

    async def _is_hot(self, session_id: str) -> bool:
        try:
            await self.hot.read(session_id)
        except (SessionNotHot, SessionErased):
            return False
        return True

    @asynccontextmanager
    async def _spooled(self, key: UploadKey) -> AsyncIterator[IO[bytes]]:
        """What was sent, in a file. Raises BundleInvalid when it is not what was announced."""
        found = hashlib.sha256()
        with _disk_errors(), tempfile.TemporaryFile(dir=self.folder) as spool:
            async for chunk in self.copies.chunks(key):
                found.update(chunk)
                await asyncio.to_thread(spool.write, chunk)
            if found.hexdigest() != key.digest:
                raise BundleInvalid("The interview was damaged on its way: send it again.")
            spool.seek(0)
            yield spool

    async def _stage(self, key: UploadKey, spool: IO[bytes], file: KeptFile) -> None:
        with tempfile.TemporaryFile(dir=self.folder) as sound:
            await asyncio.to_thread(lambda: sound.writelines(pieces(spool, file)))
            await asyncio.to_thread(sound.seek, 0)
            try:
                await self.recorder.stage(key.session_id, key.digest, file.name, sound)
            except ValueError as exc:
                raise BundleInvalid(str(exc)) from exc


def _check_scope(device: Principal, concept_id: str) -> None:
    if not device.may_see(concept_id):
        raise ApiError("forbidden", f"This device may not send interviews on the concept `{concept_id}`.")


def _not_begun() -> ApiError:
    return ApiError("not_found", "No such interview is on its way here: begin again.")


def _skew_s(sent_at: str | None, now: datetime) -> float | None:
    """By how many seconds the sender's clock is ahead; None where it does not say."""
    try:
        return (datetime.fromisoformat(sent_at or "") - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None


_SINGLE = ("sessions", "session_snapshots", "configurations")
"""Tables of which a bundle has one row each."""


def checked(source: IO[bytes], session_id: str) -> tuple[Bundle, Row]:
    """A bundle whose rows fit together, and the session's own row; blocks.

    Raises:
        CopyRefused, BundleInvalid: they don't, or belong to another version of askwell.
    """
    single: dict[str, Row] = {}

    def take(table: str, content: dict[str, Any]) -> None:
        row = parsed_row(table, content, session_id)
        if table in single:
            raise BundleInvalid("The interview has a row twice of which there is one.")
        if table in _SINGLE:
            single[table] = row

    bundle = read(source, take)
    if len(single) != len(_SINGLE):
        raise BundleInvalid("Something of the interview is missing.")
    session, snapshot, configuration = (single[table] for table in _SINGLE)
    state = _state(snapshot["state"])
    if most_values(configuration["content"].encode("utf-8", "replace")) > MOST_STATE_VALUES:
        raise BundleInvalid("The configuration of the interview is too large to be one.")
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
    for name, values in said.items():
        if len(set(values)) > 1:
            raise BundleInvalid(f"The interview contradicts itself: its {name} is told in two ways.")
    if state.status in UNFINISHED:
        raise BundleInvalid("The interview is not over yet.")
    return bundle, session


def _state(packed: bytes) -> InterviewState:
    try:
        data = unpack(packed, most_bytes=MOST_STATE_BYTES)
        if most_values(data) > MOST_STATE_VALUES:
            raise BundleInvalid("The state of the interview is too large to be one.")
        return InterviewState.load(data)
    except StateVersionError as exc:
        raise BundleInvalid("The interview comes from a newer askwell: update this server first.") from exc
    except (ValidationError, PipelineError, ValueError) as exc:
        raise BundleInvalid("The state of the interview can't be read here.") from exc


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Turn the errors of a full disk into an ApiError with status 507."""
    try:
        yield
    except (OSError, StoreUnavailable) as exc:
        if getattr(exc, "errno", None) not in (errno.ENOSPC, errno.EDQUOT) and "is full" not in str(exc):
            raise
        raise ApiError("storage_unavailable", "The server's disk is full.", retryable=True, status=507) from exc

"""Tables of sync: what was sent from here, what came from elsewhere, what is on its way."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, ForeignKeyConstraint, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from server.store.tables import Base, Id

Digest = String(64)


class SyncSentRow(Base):
    """A session as another server confirmed to have it: at this revision, with so many calls on record."""

    __tablename__ = "sync_sent"

    session_id: Mapped[str] = mapped_column(Id, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)
    target: Mapped[str] = mapped_column(String(500), primary_key=True)
    digest: Mapped[str] = mapped_column(Digest)
    rev: Mapped[int] = mapped_column(BigInteger)
    call_count: Mapped[int]
    confirmed_at: Mapped[datetime]


class SyncReceivedRow(Base):
    """A session that came from a device. It stays, without content, when the session is erased.

    `clock_skew_s` is by how much the device's clock was ahead of ours.
    """

    __tablename__ = "sync_received"

    session_id: Mapped[str] = mapped_column(Id, primary_key=True)
    digest: Mapped[str] = mapped_column(Digest)
    rev: Mapped[int] = mapped_column(BigInteger)
    device_id: Mapped[str] = mapped_column(Id)
    device_name: Mapped[str]
    clock_skew_s: Mapped[float | None]
    received_at: Mapped[datetime]


class SyncUploadRow(Base):
    """A session on its way here: of `size` bytes the first `received` are there, as chunks."""

    __tablename__ = "sync_uploads"

    device_id: Mapped[str] = mapped_column(Id, primary_key=True)
    session_id: Mapped[str] = mapped_column(Id, primary_key=True)
    digest: Mapped[str] = mapped_column(Digest, primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    received: Mapped[int] = mapped_column(BigInteger)
    clock_skew_s: Mapped[float | None]
    touched_at: Mapped[datetime]

    __table_args__ = (Index(None, "touched_at"), Index(None, "session_id"))


class SyncChunkRow(Base):
    """A piece of a session on its way here, which begins at byte `start`."""

    __tablename__ = "sync_chunks"

    device_id: Mapped[str] = mapped_column(Id, primary_key=True)
    session_id: Mapped[str] = mapped_column(Id, primary_key=True)
    digest: Mapped[str] = mapped_column(Digest, primary_key=True)
    start: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    data: Mapped[bytes]

    __table_args__ = (
        ForeignKeyConstraint(
            ["device_id", "session_id", "digest"],
            ["sync_uploads.device_id", "sync_uploads.session_id", "sync_uploads.digest"],
            ondelete="CASCADE",
            name="fk_sync_chunks_device_id",
        ),
    )

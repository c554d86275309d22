"""What a server has before it is made of anything: its data directory, its token, its address, hot storage to reach."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from config.settings import Settings
from server.auth import moderator_token
from server.hot.datadir import DataDir
from server.hot.embedded import EmbeddedValkey
from server.hot.errors import DataDirUnusable

log = structlog.get_logger()

VALKEY_STOP_S = 1.0

Say = Callable[[str], None]
Claim = Callable[[], socket.socket]
Outage = Callable[[], str | None]
"""Why hot storage is known to be down, None where it is not."""


def say_nothing(line: str) -> None:
    """Keeps progress to itself."""


def no_outage() -> str | None:
    """Nothing is known to be down."""
    return None


@dataclass(frozen=True)
class Installation:
    """A locked data directory with what belongs to it.

    Args:
        data_dir: locked.
        moderator_token: of the installation.
        token_is_new: it was made just now.
        claimed: the bound socket, None where nothing is served.
        redis_url: of hot storage.
        has_embedded: hot storage is the embedded Valkey.
        outage: why that is down.
        embedded: the embedded Valkey, for the process that started it; None in its workers.
        is_alone: no other process of this installation uses hot storage.
    """

    data_dir: DataDir
    moderator_token: str
    token_is_new: bool
    claimed: socket.socket | None
    redis_url: str
    has_embedded: bool
    outage: Outage
    embedded: EmbeddedValkey | None
    is_alone: bool = True

    def claimed_socket(self) -> socket.socket:
        """The socket that was claimed at the start."""
        assert self.claimed is not None
        return self.claimed


@contextmanager
def installed(settings: Settings, *, say: Say = say_nothing, claim: Claim | None = None) -> Iterator[Installation]:
    """An installation that is this process's for as long as the block runs; must run on the main thread.

    Args:
        settings: of the process.
        say: told what is being done.
        claim: binds the address once the data directory is ours, before anything slow happens.
    Raises:
        PortUnusable: from `claim`.
        DataDirInUse, DataDirUnusable: the data directory can't be used.
        HotError: the embedded Valkey can't be started.
    """
    with (
        DataDir(settings.storage.data) as data_dir,
        _token(settings, data_dir) as (token, is_new),
        _claimed(claim) as claimed,
        _embedded(settings, data_dir.path, say) as embedded,
    ):
        configured = settings.storage.redis_url
        url = configured.get_secret_value() if configured is not None else ""
        yield Installation(
            data_dir=data_dir,
            moderator_token=token,
            token_is_new=is_new,
            claimed=claimed,
            redis_url=embedded.url if embedded is not None else url,
            has_embedded=embedded is not None,
            outage=embedded.outage if embedded is not None else no_outage,
            embedded=embedded,
        )


@contextmanager
def _token(settings: Settings, data_dir: DataDir) -> Iterator[tuple[str, bool]]:
    """The installation's moderator token, and whether it was made just now. Raises DataDirUnusable."""
    configured = settings.server.moderator_token
    try:
        found = moderator_token(data_dir.path, configured.get_secret_value() if configured is not None else None)
    except OSError as exc:
        raise DataDirUnusable(f"the moderator token can't be kept in {data_dir.path}: {exc.strerror}") from exc
    yield found


@contextmanager
def _claimed(claim: Claim | None) -> Iterator[socket.socket | None]:
    """The bound socket, closed at the end."""
    claimed = claim() if claim is not None else None
    try:
        yield claimed
    finally:
        if claimed is not None:
            claimed.close()


@contextmanager
def _embedded(settings: Settings, data: Path, say: Say) -> Iterator[EmbeddedValkey | None]:
    """The embedded Valkey, unless there is an external one; stopped at the end."""
    if settings.storage.redis_url is not None:
        yield None
        return
    say("starting the embedded Valkey")
    embedded = EmbeddedValkey(
        data,
        stop_deadline_s=VALKEY_STOP_S,
        on_restart=lambda status: log.error("valkey.restarted", exit_status=status),
    )
    embedded.start()
    try:
        yield embedded
    finally:
        embedded.stop()

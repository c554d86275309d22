"""What `askwell sync` is told to do; apart from what does it, so that other commands start at once."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

from config.kiosk import KioskSettings
from server.sync import SyncError


@dataclass(frozen=True, slots=True)
class Order:
    """What to send where; `file` instead of what is here, `watch`: again and again until told to end."""

    to: str
    token: str = field(repr=False)
    file: Path | None = None
    watch: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("--to", metavar="URL", help="the server (ASKWELL_SYNC_TO)")
    parser.add_argument("--token-file", metavar="FILE", help="file with a device token of it (ASKWELL_SYNC_TOKEN)")
    parser.add_argument("--file", metavar="FILE", help="send what a kiosk exported to this file, not what is here")
    parser.add_argument("--watch", action="store_true", help="go on and send what is finished later, until interrupted")


def order_of(options: argparse.Namespace, settings: KioskSettings) -> Order:
    """What the arguments ask for, the settings where they say nothing.

    Raises:
        SyncError: no server or no token is named.
        OSError: the file with the token can't be read.
    """
    url = settings.sync_to if options.to is None else options.to.rstrip("/")
    if url is None:
        raise SyncError("name the server with --to, or set ASKWELL_SYNC_TO")
    if options.token_file is not None:
        token = Path(options.token_file).expanduser().read_text(encoding="utf-8").strip()
    else:
        token = settings.sync_token.get_secret_value() if settings.sync_token is not None else ""
    if not token or not token.isascii() or not token.isprintable():
        raise SyncError("no device token: make one on that server, and name its file with --token-file")
    return Order(url, token, Path(options.file) if options.file is not None else None, options.watch)

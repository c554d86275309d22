"""The arguments of `askwell sync`; apart from `command`, whose imports would delay other commands."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

from config.kiosk import KioskSettings
from server.sync import SyncError


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """What to send where; `file` instead of what is stored here, `watch`: again and again until interrupted."""

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


def transfer_plan(options: argparse.Namespace, settings: KioskSettings) -> TransferPlan:
    """What the arguments ask for; what they leave out is taken from the settings.

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
    return TransferPlan(url, token, Path(options.file) if options.file is not None else None, options.watch)

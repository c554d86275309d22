"""Sends finished interviews from one server to another.

`bundle` writes a session as lines of text and reads it again. `sources` gives the sessions that are to be sent, `send`
sends them over `client`, `service` does so in the background, `server.sync_command` from the command line; `receive`
is the other side. The digest of a bundle tells both sides that they mean the same content, so that sending can be
interrupted at any byte and repeated any number of times.

    SyncError           sending can't go on; the message is for the person who asked for it
    ├── NotTaken        the server does not take this one interview; others may be sent
    └── NotPublic       the address is inside this network, where not everyone may have interviews sent
"""

from __future__ import annotations


class SyncError(Exception):
    """Sending can't go on.

    Args:
        message: for the person who asked for it.
        retryable: whether trying again later may help without anybody doing anything.
    """

    code = "internal"

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class NotTaken(SyncError):
    """The server does not take this one interview; others may be sent."""


class NotPublic(SyncError):
    """The address is inside this network, where not everyone may have interviews sent."""

    def __init__(self) -> None:
        super().__init__(
            "Interviews are sent to an address inside this network, or on this machine, only with the installation's "
            "own moderator token (`askwell moderator-token` prints it)."
        )

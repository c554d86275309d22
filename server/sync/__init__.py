"""Finished interviews on their way from one server to another.

`bundle` writes a session as one stream of lines and reads it again; `receive` takes it in, `send` brings it away over
`client`, `service` does so by itself. A bundle has a digest of its content, so that sending it again is known to be
the same, from whatever byte on.

    SyncError           sending can't go on; the message is for the person who asked for it
    └── NotTaken        the server does not take this one interview; others may be sent
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

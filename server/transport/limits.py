"""Limits of connections."""

from __future__ import annotations

from dataclasses import dataclass

from config.bounds import LimitSettings

_DECLARED = LimitSettings()


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What one connection, and all connections of one address, may cost.

    Args:
        max_message_bytes: longest message on a socket that is read to its end.
        per_address: connections of one address at the same time.
        new_per_s: new connections of one address per second, on average.
        new_burst: new connections of one address at once.
        head_bytes: bytes of a request before its body.
        head_fields: header fields of a request.
        head_s: time for them.
        body_s: time for a body.
        body_bytes_per_s: least rate at which a body must come, over `body_window_s` at a time.
        body_window_s: how long the rate is measured before it is judged.
        chunk_bytes: least mean size of the chunks of a chunked body, past the first FREE_CHUNKS.
        pipelined: requests that may wait behind one another on one connection.
        message_s: time for a message on a socket, from its first byte to its last.
        frames_per_s: data frames per second of one socket, on average and at once.
        small_frames_per_s: continuations, pings and pongs per second of one socket, on average.
        small_frames_burst: those at once.
        unread_bytes: what may wait to be read by a client that goes on sending.
        after_close_bytes: what a client may still send after the server has closed the socket.
        stalled_s: how long a client may read nothing of what waits for it.
        close_s: how long a connection may last after it was closed.
        enforce_every_s: how often connections that are overdue are looked for, in tenths of a second.
    """

    max_message_bytes: int = 2 * _DECLARED.max_message_bytes
    per_address: int = _DECLARED.connections_per_address
    new_per_s: float = 60.0
    new_burst: int = 600
    head_bytes: int = 64 * 1024
    head_fields: int = 100
    head_s: float = 10.0
    body_s: float = _DECLARED.body_deadline_s
    body_bytes_per_s: int = _DECLARED.body_bytes_per_s
    body_window_s: float = 10.0
    chunk_bytes: int = 256
    pipelined: int = 8
    message_s: float = 10.0
    frames_per_s: float = 800.0
    small_frames_per_s: float = 10.0
    small_frames_burst: int = 100
    unread_bytes: int = 1024 * 1024
    after_close_bytes: int = 256 * 1024
    stalled_s: float = 60.0
    close_s: float = 10.0
    enforce_every_s: float = 2.0

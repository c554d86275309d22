"""What uvicorn is told, with the limits that its protocols keep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from server.transport.admission import ConnectionAdmission
from server.transport.limits import ConnectionLimits

OnRefused = Callable[[str], None]
"""Called with the reason for which a connection was refused or ended."""


class LimitedConfig(uvicorn.Config):
    """The configuration of a server whose connections are limited.

    Args:
        app: the application.
        limits: of connections.
        on_refused: called with the reason for which a connection was refused or ended.
        options: as of `uvicorn.Config`.
    """

    def __init__(self, app: ASGIApp, *, limits: ConnectionLimits, on_refused: OnRefused, **options: Any) -> None:
        super().__init__(app, ws_max_size=limits.max_message_bytes, **options)
        self.limits = limits
        self.on_refused = on_refused
        proxies = ProxyHeadersMiddleware(app, self.forwarded_allow_ips).trusted_hosts  # type: ignore[arg-type]
        self.admission = ConnectionAdmission(limits, lambda host: host in proxies, time.monotonic)

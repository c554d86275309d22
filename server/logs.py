"""Structured logs: a constant dotted event name and keys, as JSON or as text for a console.

What respondents say is only logged under keys that begin with `pii`, which are dropped unless that is enabled; tokens
and keys are replaced.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from config.settings import LogSettings

_SECRET_KEY = re.compile(r"(?:^|[._-])(?:token|api[_-]?key|password|secret|authorization|cookie)s?$", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"(?i)\b(bearer\s+)[A-Za-z0-9_\-.~+/]{8,}|([?#&](?:token|key)=)[^&\s\"']+|(://[^/\s:@]*:)[^@/\s]+@"
    r"|\b(x-api-key\W{1,4})[A-Za-z0-9_\-.~+/]{8,}|\b(sk-)[A-Za-z0-9_\-]{8,}"
)
_COUNTS = frozenset({"input_tokens", "cached_tokens", "output_tokens", "max_tokens"})
"""Keys that count what language models read and write."""
HIDDEN = "[hidden]"

EventDict = MutableMapping[str, Any]


class _Redactor:
    """Drops personal data and replaces secrets, at any depth."""

    def __init__(self, pii: bool) -> None:
        self._pii = pii

    def __call__(self, logger: object, method: str, event: EventDict) -> EventDict:
        cleaned = self._clean(event)
        assert isinstance(cleaned, dict)
        return cleaned

    def _clean(self, value: Any) -> Any:
        if isinstance(value, MutableMapping):
            return {
                key: HIDDEN if _is_secret(str(key)) else self._clean(inner)
                for key, inner in value.items()
                if self._pii or not _is_pii(str(key))
            }
        if isinstance(value, list | tuple):
            return [self._clean(inner) for inner in value]
        if isinstance(value, str):
            return _SECRET_TEXT.sub(lambda m: next(g for g in m.groups() if g) + HIDDEN, value)
        return value


def _is_secret(key: str) -> bool:
    return key not in _COUNTS and _SECRET_KEY.search(key) is not None


def _is_pii(key: str) -> bool:
    return key == "pii" or key.startswith(("pii.", "pii_"))


def configure(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send structlog and the standard library's logging to one stream, in one form.

    Args:
        settings: level, format, and whether personal data may appear.
        stream: standard error if not given.
    """
    out = stream if stream is not None else sys.stderr
    level = getattr(logging, settings.log_level.upper())
    plain = settings.log_format == "console" or (settings.log_format == "auto" and out.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback)
        if plain
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    redact = _Redactor(settings.log_pii)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                redact,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = True
    logging.getLogger("uvicorn.access").disabled = True
    for name in (
        "uvicorn.error", "websockets", "asyncio", "alembic", "aiosqlite", "sqlalchemy",
        "httpx", "httpcore", "httpx2", "httpcore2",
    ):  # fmt: skip
        logging.getLogger(name).setLevel(max(level, logging.WARNING))

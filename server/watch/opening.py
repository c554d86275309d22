"""A node's watch, made of the settings."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from pydantic import SecretStr

from config.settings import Settings
from server.api.reading import Sources
from server.auth import Authenticator
from server.metrics import Metrics
from server.pipelines import Pipelines
from server.watch.alerts import AlertSettings
from server.watch.watch import Watch
from server.watch.webhook import Webhook


def open_watch(
    settings: Settings,
    sources: Sources,
    auth: Authenticator,
    pipeline: Pipelines,
    metrics: Metrics,
    *,
    now: Callable[[], datetime],
) -> Watch:
    """What moderators see of this node's sessions; `attend` and `run` come next.

    Args:
        settings: of the process.
        sources: where sessions are read from.
        auth: knows moderators.
        pipeline: makes previews.
        metrics: of the process.
        now: wall clock, with zone.
    """
    watching = settings.watching
    return Watch(
        sources=sources,
        auth=auth,
        pipeline=pipeline,
        settings=AlertSettings(
            stuck_s=watching.alert_stuck_s,
            disconnected_s=watching.alert_disconnected_s,
            claim_timeout_s=watching.claim_timeout_s,
        ),
        webhook=Webhook(
            _shown(watching.alert_webhook_url),
            _shown(watching.alert_webhook_secret),
            sources.hot.first,
            on_lost=metrics.alerts_lost.inc,
        ),
        metrics=metrics,
        public_url=settings.server.public_url,
        now=now,
        clock=time.monotonic,
    )


def _shown(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None

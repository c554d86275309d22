"""What a running process is made of; put together by `server.wiring`, used by everything that answers requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from config.loader import Library
from config.settings import Settings
from server.auth import Authenticator
from server.hot.redis import HotStore
from server.limits import KeyedBuckets
from server.metrics import Metrics
from server.origins import Origins
from server.pipelines import Pipelines
from server.recordings import FileRecorder
from server.session.hub import Hub
from server.speech import Speech
from server.store.repository import Repository
from server.writer import Writer


@dataclass
class Readiness:
    """How far the process is; `models` once they are loaded and warm, `leaving` once it shuts down."""

    models: bool = False
    leaving: bool = False


@dataclass(frozen=True)
class Parts:
    """One process."""

    settings: Settings
    library: Library
    hot: HotStore
    store: Repository
    writer: Writer
    pipeline: Pipelines
    hub: Hub
    speech: Speech
    recorder: FileRecorder
    auth: Authenticator
    metrics: Metrics
    origins: Origins
    requests: KeyedBuckets
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    readiness: Readiness = field(default_factory=Readiness)

"""What a running process is made of; put together by `server.wiring`, used by everything that answers requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from config.loader import Library
from config.settings import Settings
from server.auth import Authenticator
from server.file_thread import FileThread
from server.hot.redis import HotStore
from server.metrics import Metrics
from server.operator_lock import OperatorLock
from server.origins import Origins
from server.peers import Peers
from server.pipelines import Pipelines
from server.rate_limits import KeyedBuckets
from server.reading import SessionReader
from server.recordings import FileRecorder
from server.session.hub import Hub
from server.speech.engine import Speech
from server.speech.listening import Listeners
from server.store.copies import Copies
from server.store.repository import Repository
from server.sync.receive import Receiver
from server.sync.service import Sync
from server.voice.voices import Voices
from server.watch.service import WatchService
from server.writer import Writer


@dataclass
class Readiness:
    """How far the process is: `models` are loaded and warm, `leaving` says that it shuts down."""

    models: bool = False
    leaving: bool = False


class Leaving:
    """How a process ends on request; only one that was started to serve can begin again."""

    def __init__(self) -> None:
        self.again = False
        self._leave: Callable[[], None] | None = None

    def arm(self, leave: Callable[[], None]) -> None:
        """Let `restart` end the process by calling `leave`; whoever started it looks at `again` then."""
        self._leave = leave

    def restart(self) -> bool:
        """End the process so that it begins again; whether it can."""
        if self._leave is None:
            return False
        self.again = True
        self._leave()
        return True


@dataclass(frozen=True)
class Parts:
    """One process."""

    settings: Settings
    library: Library
    look_up: FileThread
    hot: HotStore
    store: Repository
    writer: Writer
    pipelines: Pipelines
    hub: Hub
    reader: SessionReader
    watch: WatchService
    speech: Speech
    listeners: Listeners
    voices: Voices
    recorder: FileRecorder
    auth: Authenticator
    metrics: Metrics
    origins: Origins
    requests: KeyedBuckets
    copies: Copies
    receiver: Receiver
    sync: Sync
    operator_lock: OperatorLock
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    started_at: datetime
    peers: Peers | None = None
    """The other workers, where this process is one of several."""
    readiness: Readiness = field(default_factory=Readiness)
    leaving: Leaving = field(default_factory=Leaving)

"""What one node needs to show its sessions to moderators, put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

import structlog
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from pipeline.concept import SessionConfiguration
from pipeline.state import InterviewState
from server.api.reading import Sources
from server.auth import COOKIE, Authenticator, Principal
from server.ending import told_to_end
from server.hot.errors import HotError
from server.metrics import Metrics
from server.pipelines import Pipelines
from server.protocol.codec import encode
from server.protocol.codes import CLOSE_COME_AGAIN, CLOSE_UNAUTHORISED
from server.protocol.moderator import ReleaseSession
from server.protocol.watched import AlertCode, Usage
from server.session.hub import Hub
from server.session.ledger import Ledger
from server.session.problems import SessionProblem
from server.session.settings import SocketSettings
from server.session.witness import Witness
from server.store.errors import StoreError
from server.watch.alerts import AlertSettings
from server.watch.commands import Commands
from server.watch.devices import Devices
from server.watch.exchange import Exchange
from server.watch.overview import Overviews
from server.watch.reporter import Reporter
from server.watch.snapshots import Snapshots
from server.watch.socket import MODERATOR_PATH, ModeratorSocket, Recheck
from server.watch.webhook import Webhook

log = structlog.get_logger("askwell.watch")

TICK_S = 1.0
TICK_BATCH = 100
REMIND_S = 20.0
USAGE_AFTER_S = 0.7
ENGINE = "askwell"
"""Who gives an answer back that waited too long for a moderator."""


class Watch:
    """Of one node; implements `server.session.witness.Witnesses`.

    Args:
        sources: where sessions are read from.
        auth: knows moderators.
        pipeline: makes previews.
        settings: when something needs a person.
        webhook: tells those who are not looking.
        public_url: where the pages are, for the webhook.
        metrics: of the process.
        now: wall clock, with zone.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        sources: Sources,
        auth: Authenticator,
        pipeline: Pipelines,
        settings: AlertSettings,
        webhook: Webhook,
        public_url: str | None,
        metrics: Metrics,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._sources = sources
        self._auth = auth
        self._pipeline = pipeline
        self._settings = settings
        self.webhook = webhook
        """Tells those who are not looking."""
        self._public_url = public_url
        self._metrics = metrics
        self._now = now
        self._clock = clock
        self.exchange = Exchange(
            sources.hot,
            uuid4().hex,
            clock,
            on_commit=self._turn_committed,
            on_revoked=self._revoked,
            on_lost=metrics.watch_letters_lost.inc,
        )
        self.devices = Devices(sources.hot, sources.store, now, clock)
        self.snapshots = Snapshots(sources, self.exchange, metrics.watch_snapshots.inc)
        self._overviews = Overviews(sources, self.exchange, settings, now, lambda: self.devices.kiosks)
        self._reporters: dict[str, Reporter] = {}
        self.sockets: set[ModeratorSocket] = set()
        """Of moderators who are connected to this node."""
        self._usage_due: dict[str, int] = {}
        self._usage_wanted = asyncio.Event()
        self._reminded_at: dict[str, float] = {}
        self._hub: Hub | None = None
        self._commands: Commands | None = None

    def attend(self, hub: Hub) -> None:
        """These are the sessions."""
        self._hub = hub
        self._commands = Commands(hub, self._sources, self.snapshots, self._pipeline)

    @property
    def commands(self) -> Commands:
        """Has commands applied."""
        assert self._commands is not None, "attend comes first"
        return self._commands

    def of(self, ledger: Ledger, configuration: SessionConfiguration) -> Witness:
        """The witness of a session that begins to live here."""
        reporter = Reporter(ledger, configuration, self.exchange, self._settings, self._now, self._raised)
        self._reporters[ledger.session_id] = reporter
        return reporter

    def route(self, settings: SocketSettings, on_error: Callable[[str], None]) -> WebSocketRoute:
        """The route of the moderators' socket."""

        async def endpoint(websocket: WebSocket) -> None:
            socket = ModeratorSocket(
                websocket,
                identify=self._identify,
                exchange=self.exchange,
                commands=self.commands,
                snapshots=self.snapshots,
                overviews=self._overviews,
                settings=settings,
                clock=self._clock,
                on_error=on_error,
            )
            self.sockets.add(socket)
            try:
                await socket.serve()
            finally:
                self.sockets.discard(socket)

        return WebSocketRoute(MODERATOR_PATH, endpoint, name="moderator")

    async def run(self) -> None:
        """Carry news, watch the time, post alerts, until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.exchange.run(), name="watch exchange")
                tasks.create_task(self.webhook.run(), name="watch webhook")
                tasks.create_task(self._tick_for_ever(), name="watch ticks")
                tasks.create_task(self._tell_usage(), name="watch usage")
        finally:
            for socket in list(self.sockets):
                socket.close(CLOSE_COME_AGAIN)

    # Who may watch

    async def _identify(self, token: str | None, websocket: WebSocket) -> tuple[Principal, Recheck] | None:
        cookie = websocket.cookies.get(COOKIE)

        async def known() -> Principal | None:
            if token is not None:
                found = await self._auth.identify(token)
            else:
                found = await self._auth.identify_cookie(cookie) if cookie else None
            return found if found is not None and found.kind == "moderator" else None

        principal = await known()
        return (principal, known) if principal is not None else None

    def _revoked(self, token_id: str) -> None:
        for socket in self.sockets:
            if socket.principal.token_id == token_id:
                socket.end(CLOSE_UNAUTHORISED)

    # Time

    async def _tick_for_ever(self) -> None:
        while not told_to_end():
            await asyncio.sleep(TICK_S)
            try:
                await self._tick()
            except Exception:
                log.exception("watch.defect")

    async def _tick(self) -> None:
        await self.look_at_devices()
        now = self._now()
        for number, (session_id, reporter) in enumerate(list(self._reporters.items())):
            if self.exchange.source(session_id) is not reporter:
                if self._reporters.get(session_id) is reporter:
                    del self._reporters[session_id]
                continue
            device = reporter.state.device
            reporter.kiosk_offline = device is not None and self.devices.is_offline(device.id)
            reporter.tick(now)
            if reporter.waits_since is not None:
                await self.mind(reporter, now)
            if number % TICK_BATCH == TICK_BATCH - 1:
                await asyncio.sleep(0)

    async def mind(self, reporter: Reporter, now: datetime) -> None:
        """An answer waits for a moderator: remind the respondent, and don't let it wait for ever."""
        hub, since, session_id = self._hub, reporter.waits_since, reporter.session_id
        if hub is None or since is None:
            return
        if (now - since).total_seconds() >= self._settings.claim_timeout_s:
            release = ReleaseSession(type="release", command_id=str(uuid4()))
            try:
                await hub.command(session_id, release, who=ENGINE)
            except (SessionProblem, HotError) as exc:
                log.info("watch.not_released", session=session_id, reason=str(exc))
        elif self._clock() - self._reminded_at.get(session_id, self._clock() - REMIND_S) >= REMIND_S:
            self._reminded_at = {session_id: self._clock(), **self._still_waiting()}
            owner = hub.owner(session_id)
            if owner is not None:
                await owner.remind()

    def _still_waiting(self) -> dict[str, float]:
        return {
            session_id: at
            for session_id, at in self._reminded_at.items()
            if (known := self._reporters.get(session_id)) is not None and known.waits_since is not None
        }

    async def look_at_devices(self, *, at_once: bool = False) -> None:
        """See which kiosks are there, now and then or at once."""
        gone = await self.devices.look(at_once=at_once)
        if gone is None:
            return
        self.exchange.tell_followers("kiosks", encode(self.devices.kiosks))
        for kiosk in gone:
            alert = {"type": "alert", "code": "kiosk_offline", "kiosk": kiosk.name, "since": kiosk.last_seen}
            self.webhook.offer(f"{kiosk.id}:kiosk_offline", alert)

    # What is told afterwards

    def _raised(self, state: InterviewState, code: AlertCode, at: datetime) -> None:
        log.info("watch.alert", session=state.session_id, code=code)
        self._metrics.alerts.labels(code).inc()
        alert = {
            "type": "alert",
            "code": code,
            "session_id": state.session_id,
            "concept_id": state.concept_id,
            "kiosk": state.device.name if state.device is not None else None,
            "turn_number": state.turn_count,
            "since": at.isoformat(),
        }
        if self._public_url:
            alert["url"] = f"{self._public_url.rstrip('/')}/moderator#/interview/{state.session_id}"
        self.webhook.offer(f"{state.session_id}:{code}", alert)

    def _turn_committed(self, session_id: str, turn: int) -> None:
        self._usage_due[session_id] = turn
        self._usage_wanted.set()

    async def _tell_usage(self) -> None:
        """Tell watchers of this node what was used up, once the store has it."""
        while not told_to_end():
            await self._usage_wanted.wait()
            await asyncio.sleep(USAGE_AFTER_S)
            due, self._usage_due = self._usage_due, {}
            self._usage_wanted.clear()
            for session_id, turn in due.items():
                try:
                    usage = await self._sources.store.usage(session_id)
                except StoreError as exc:
                    log.info("watch.usage_unknown", reason=str(exc))
                    continue
                frame = Usage(session_id=session_id, turn_number=turn, **dict(usage))
                self.exchange.tell(session_id, encode(frame))

"""What one node needs to show its sessions to moderators, put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

import structlog

from config.alerts import AlertSettings
from pipeline.state import InterviewState
from server.auth import Principal
from server.cancellation import cancel_requested
from server.hot.errors import HotError
from server.metrics import Metrics
from server.pipelines import Pipelines
from server.protocol.codec import encode
from server.protocol.codes import CLOSE_SERVICE_RESTART, CLOSE_UNAUTHORISED
from server.protocol.moderator import ReleaseSession
from server.protocol.watched import AlertCode, Usage
from server.reading import SessionReader
from server.session.hub import Hub
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem
from server.store.errors import StoreError
from server.watch.commands import ModeratorCommands
from server.watch.devices import Devices
from server.watch.exchange import LiveExchange
from server.watch.mailbox import Mailbox
from server.watch.overview import Overviews
from server.watch.refusals import error_for
from server.watch.reporter import Reporter
from server.watch.snapshots import SnapshotMaker
from server.watch.webhook import Webhook

log = structlog.get_logger("askwell.watch")

TICK_S = 1.0
TICK_BATCH = 100
REMIND_S = 20.0
USAGE_AFTER_S = 0.7
ENGINE = "askwell"
"""Who gives an answer back that waited too long for a moderator."""


class WatchService:
    """Of one node; observes every session of its hub.

    Args:
        hub: the sessions.
        reader: reads sessions.
        pipelines: make previews.
        settings: when something needs a person, and who is told.
        public_url: where the pages are, for the webhook.
        metrics: of the process.
        now: wall clock, with zone.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        hub: Hub,
        reader: SessionReader,
        pipelines: Pipelines,
        settings: AlertSettings,
        *,
        public_url: str | None,
        metrics: Metrics,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._hub = hub
        self._store = reader.store
        self._settings = settings
        self._public_url = public_url
        self._metrics = metrics
        self._now = now
        self._clock = clock
        broadcasts = reader.hot.broadcasts
        self.webhook = Webhook(settings, broadcasts.is_first, on_lost=metrics.alerts_lost.inc)
        """Tells those who are not looking."""
        self.exchange = LiveExchange(
            broadcasts,
            uuid4().hex,
            clock,
            on_commit=self._turn_committed,
            on_revoked=self._revoked,
            on_lost=metrics.watch_letters_lost.inc,
        )
        """Carries live news."""
        self.devices = Devices(broadcasts, reader.store, now, clock)
        """Which kiosks are there."""
        self.snapshots = SnapshotMaker(reader, self.exchange, metrics.watch_snapshots.inc)
        """Makes snapshots."""
        self.overviews = Overviews(reader.store, self.exchange, settings, now, lambda: self.devices.kiosks)
        """Makes overviews."""
        self.commands = ModeratorCommands(hub, reader, pipelines)
        """Has commands applied."""
        self.connections: dict[Mailbox, Principal] = {}
        """Moderators who are connected to this node."""
        self._reporters: dict[str, Reporter] = {}
        self._usage_due: dict[str, int] = {}
        self._usage_wanted = asyncio.Event()
        self._reminded_at: dict[str, float] = {}
        hub.on_claim.append(self._observe)

    def _observe(self, owner: SessionOwner) -> None:
        """A session begins to live here."""
        reporter = Reporter(owner.context, self.exchange, self._settings, self._now, self._alert)
        self._reporters[owner.session_id] = reporter
        owner.context.observers.append(reporter.observe)

    async def run(self) -> None:
        """Carry news, watch the time, post alerts, until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.exchange.run(), name="watch exchange")
                tasks.create_task(self.webhook.run(), name="watch webhook")
                tasks.create_task(self._tick_for_ever(), name="watch ticks")
                tasks.create_task(self._tell_usage(), name="watch usage")
        finally:
            for mailbox in self.connections:
                mailbox.close(CLOSE_SERVICE_RESTART)

    # Who may watch

    def disconnect(self, mailbox: Mailbox) -> None:
        """Close a connection whose token has ended."""
        mailbox.reply(encode(error_for(SessionProblem("unauthorised"), None)))
        mailbox.close(CLOSE_UNAUTHORISED)

    def _revoked(self, ended: str) -> None:
        """Close the connections of a token or a login that has ended."""
        for mailbox, principal in self.connections.items():
            if ended in (principal.token_id, principal.login_id):
                self.disconnect(mailbox)

    # Time

    async def _tick_for_ever(self) -> None:
        while not cancel_requested():
            await asyncio.sleep(TICK_S)
            try:
                await self._tick()
            except Exception:
                log.exception("watch.defect")

    async def _tick(self) -> None:
        await self.look_at_devices()
        now = self._now()
        for number, (session_id, reporter) in enumerate(list(self._reporters.items())):
            live = reporter.live
            if self.exchange.session(session_id) is not live:
                if self._reporters.get(session_id) is reporter:
                    del self._reporters[session_id]
                continue
            live.kiosk_offline = live.state.device is not None and self.devices.is_offline(live.state.device.id)
            try:
                reporter.tick(now)
            except Exception:
                log.exception("watch.defect", session=session_id)
            if live.waits_since is not None:
                await self.check_waiting(reporter, now)
            if number % TICK_BATCH == TICK_BATCH - 1:
                await asyncio.sleep(0)

    async def check_waiting(self, reporter: Reporter, now: datetime) -> None:
        """Remind the respondent of an answer that waits for a moderator; after `claim_timeout_s`, let it go on."""
        since, session_id = reporter.live.waits_since, reporter.session_id
        if since is None:
            return
        if (now - since).total_seconds() >= self._settings.claim_timeout_s:
            release = ReleaseSession(type="release", command_id=str(uuid4()))
            try:
                await self._hub.command(session_id, release, who=ENGINE)
            except (SessionProblem, HotError) as exc:
                log.info("watch.not_released", session=session_id, reason=str(exc))
        elif self._clock() - self._reminded_at.get(session_id, self._clock() - REMIND_S) >= REMIND_S:
            self._reminded_at = {session_id: self._clock(), **self._still_waiting()}
            owner = self._hub.owner(session_id)
            if owner is not None:
                await owner.turns.remind()

    def _still_waiting(self) -> dict[str, float]:
        return {
            session_id: at
            for session_id, at in self._reminded_at.items()
            if (known := self._reporters.get(session_id)) is not None and known.live.waits_since is not None
        }

    async def look_at_devices(self, *, at_once: bool = False) -> None:
        """Check which kiosks are there, now and then or at once."""
        gone = await self.devices.refresh(at_once=at_once)
        if gone is None:
            return
        self.exchange.tell_followers("kiosks", encode(self.devices.kiosks))
        for kiosk in gone:
            alert = {"type": "alert", "code": "kiosk_offline", "kiosk": kiosk.name, "since": kiosk.last_seen}
            self.webhook.offer(f"{kiosk.id}:kiosk_offline", alert)

    # What is told afterwards

    def _alert(self, state: InterviewState, code: AlertCode, at: datetime) -> None:
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
        while not cancel_requested():
            await self._usage_wanted.wait()
            await asyncio.sleep(USAGE_AFTER_S)
            due, self._usage_due = self._usage_due, {}
            self._usage_wanted.clear()
            for session_id, turn in due.items():
                try:
                    usage = await self._store.usage(session_id)
                except StoreError as exc:
                    log.info("watch.usage_unknown", reason=str(exc))
                    continue
                frame = Usage(session_id=session_id, turn_number=turn, **dict(usage))
                self.exchange.tell(session_id, encode(frame))

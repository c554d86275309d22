"""The composition root: what a process is made of, in which order it starts and in which order it ends.

Start: lock the data directory, start or reach Redis, migrate the store, load and warm the models, open the hub.
End, within 8 s in all: running turns finish and sockets close, the journal is written out, the store closes, the
embedded Valkey stops, the data directory is released.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import structlog

from config.loader import Library
from config.roles import Models
from config.settings import Settings
from pipeline.calls import Role
from pipeline.language.support import speaks_offline
from pipeline.turn import Providers
from server import measuring
from server.auth import Authenticator
from server.bounds import hot_settings, hub_settings, listening_settings
from server.database import migrate, open_database
from server.file_thread import FileThread
from server.garbage import GarbageCollection
from server.guesses import Guesses
from server.hot.connection import Connection, open_client
from server.hot.datadir import DataDir
from server.hot.embedded import EmbeddedValkey
from server.hot.errors import HotMisconfigured
from server.hot.journal import Journal
from server.hot.keys import KeySpace
from server.hot.redis import HotStore
from server.hot.values import ServerReport
from server.installation import Claim, Installation, Outage, Say, installed, say_nothing
from server.language import load_providers
from server.loop_lag import LoopLag
from server.metrics import Metrics
from server.operator_lock import OperatorLock
from server.origins import Origins
from server.parts import Parts
from server.peers import Peers
from server.pipelines import Load, Pipelines, open_pipelines
from server.rate_limits import KeyedBuckets
from server.reading import SessionReader
from server.recordings import FileRecorder
from server.session.context import SessionServices
from server.session.hub import Hub
from server.speech.engine import LoadSpeech, Speech, load_models, loading_speech, open_speech
from server.speech.listening import Listeners
from server.speech.spoken_turns import SpeechServices
from server.store.copies import Copies
from server.store.engine import Database
from server.store.grouped import GATHER_S, GroupedApplier
from server.store.keeping import keep_file
from server.store.repository import Repository
from server.sync.receive import Receiver
from server.sync.service import Sync
from server.voice.voices import Voices, open_voices
from server.watch.service import WatchService
from server.writer import Writer, WriterHooks

if TYPE_CHECKING:
    from audio.recording import Recordings

log = structlog.get_logger()

RECORDINGS_NAME = "recordings"
HUB_DRAIN_S = 3.5
WRITER_DRAIN_S = 1.5
CANCEL_AGAIN_S = 0.2


def _same(store: HotStore) -> HotStore:
    return store


def _same_providers(providers: Providers) -> Providers:
    return providers


def _same_writer(writer: Writer) -> Writer:
    return writer


@dataclass(frozen=True)
class Overrides:
    """What a test puts between the parts: each function gets a part and returns what is used in its place."""

    hot: Callable[[HotStore], HotStore] = _same
    writer: Callable[[Writer], Writer] = _same_writer
    providers: Callable[[Providers], Providers] = _same_providers
    load: Load = load_providers
    hear: LoadSpeech = load_models
    speaks: Callable[[Role, str], bool] = speaks_offline


@dataclass(frozen=True)
class Storage:
    """Where sessions are kept, open and with a writer at work; `report` is what was found out about Redis."""

    settings: Settings
    installation: Installation
    hot: HotStore
    database: Database
    store: Repository
    reader: SessionReader
    writer: Writer
    recorder: FileRecorder
    metrics: Metrics
    report: ServerReport

    @property
    def data_dir(self) -> DataDir:
        """The locked data directory."""
        return self.installation.data_dir

    @property
    def embedded(self) -> EmbeddedValkey | None:
        """The embedded Valkey, where this process started it."""
        return self.installation.embedded

    @property
    def moderator_token(self) -> str:
        """Of the installation."""
        return self.installation.moderator_token

    def claimed_socket(self) -> socket.socket:
        """The socket that was claimed at the start."""
        return self.installation.claimed_socket()


@asynccontextmanager
async def open_storage(
    settings: Settings,
    *,
    overrides: Overrides | None = None,
    say: Say = say_nothing,
    claim: Claim | None = None,
    installation: Installation | None = None,
) -> AsyncIterator[Storage]:
    """Storage without anybody to interview; must run on the main thread.

    Args:
        settings: of the process.
        overrides: what a test puts between the parts.
        say: told what is being done.
        claim: binds the address once the data directory is ours, before anything slow happens.
        installation: what is had already; taken for as long as the block runs if not given.
    Raises:
        PortUnusable: from `claim`.
        DataDirInUse, DataDirUnusable: the data directory can't be used.
        HotError, StoreError: Redis or the database can't be used.
    """
    overrides = overrides or Overrides()
    metrics = Metrics()
    taken = nullcontext(installation) if installation is not None else installed(settings, say=say, claim=claim)
    with taken as found:
        data = found.data_dir.path
        async with _connections(settings, found.redis_url, data, metrics, found.outage) as (hot, journal, database):
            report = await hot.checks.prepare(embedded=found.has_embedded)
            say("migrating the store")
            await migrate(database)
            if found.has_embedded and found.is_alone:
                # No other process has this data directory, so whoever held a lock there is dead.
                await journal.forget_locks()
            recorder = FileRecorder(_recordings(settings, data), hot.is_erased, metrics)
            hooks = WriterHooks(
                lag=measuring.lags(metrics), dead_letter=measuring.burials(metrics), erase_files=recorder.erase
            )
            applier = GroupedApplier(database, gather_s=GATHER_S)
            writer = overrides.writer(Writer(hot, journal, applier, hooks=hooks))
            rebuilt = await writer.rebuild()
            if rebuilt is not None:
                say(str(rebuilt))
            async with _writing(writer, recorder, found.embedded, database):
                used, store = overrides.hot(hot), Repository(database)
                yield Storage(
                    settings=settings,
                    installation=found,
                    hot=used,
                    database=database,
                    store=store,
                    reader=SessionReader(used, store),
                    writer=writer,
                    recorder=recorder,
                    metrics=metrics,
                    report=report,
                )


@asynccontextmanager
async def _connections(
    settings: Settings, url: str, data: Path, metrics: Metrics, outage: Outage
) -> AsyncIterator[tuple[HotStore, Journal, Database]]:
    """Hot storage, its journal and the database, closed at the end."""
    hot, journal = _connect(settings, url, metrics, outage)
    database = open_database(settings, data)
    try:
        yield hot, journal, database
    finally:
        await journal.close()
        await hot.close()
        await database.close()


@asynccontextmanager
async def _writing(
    writer: Writer, recorder: FileRecorder, embedded: EmbeddedValkey | None, database: Database
) -> AsyncIterator[None]:
    """What stores sessions and recordings runs as long as the block does; at its end what waits is written out."""
    async with asyncio.TaskGroup() as tasks:
        working = [
            tasks.create_task(writer.run(), name="writer"),
            tasks.create_task(recorder.run(), name="recorder"),
            tasks.create_task(keep_file(database, writer.look_again), name="store"),
        ]
        if embedded is not None:
            working.append(tasks.create_task(embedded.supervise(), name="valkey"))
        try:
            yield
            await _written(recorder)
            if not await writer.drain(WRITER_DRAIN_S):
                log.warning("writer.drain_incomplete", reason="the journal keeps what is left")
        finally:
            await _end(working)


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    overrides: Overrides | None = None,
    say: Say = say_nothing,
    claim: Claim | None = None,
    installation: Installation | None = None,
    library: Library | None = None,
    peers: Peers | None = None,
) -> AsyncIterator[tuple[Parts, Storage]]:
    """A process that can take interviews; must run on the main thread.

    Args:
        settings: of the process.
        overrides: as of `open_storage`, like `say`, `claim` and `installation`.
        say: see there.
        claim: see there.
        installation: see there.
        library: what new sessions begin with, where it is read already.
        peers: the other workers.
    Raises:
        SettingsError: a role has no model or no key.
        ConfigError: the prices can't be read.
        ProviderError: a model can't be loaded.
        DataDirInUse, DataDirUnusable, HotError, StoreError: as `open_storage`.
    """
    overrides = overrides or Overrides()
    library = library or read_library(settings, overrides)
    async with (
        open_storage(settings, overrides=overrides, say=say, claim=claim, installation=installation) as storage,
        loading_speech(settings, load=overrides.hear, say=say) as loading,
        open_voices(settings.voice, storage.metrics, languages=_languages(library), say=say) as (voices, trying),
        open_pipelines(
            settings, library, storage.metrics, load=overrides.load, change=overrides.providers, say=say
        ) as pipelines,
        open_speech(settings, storage.metrics, loading=loading, say=say) as speech,
    ):
        await trying
        parts = _parts(settings, library, storage, speech, voices, pipelines, peers)
        lag = LoopLag(storage.metrics.loop_lag_ms.observe, held_ms=settings.logs.log_loop_held_ms)
        garbage = GarbageCollection(lambda: parts.hub.is_quiet, storage.metrics.garbage_ms.observe)
        with closing(parts.look_up):
            async with (
                _running(lag.run(), "loop-lag"),
                _running(garbage.run(), "garbage"),
                _running(parts.watch.run(), "watch"),
                parts.hub,
                _running(parts.sync.run(), "sync"),
            ):
                # What is loaded by now stays: looking through it again would stop every session for a quarter of a
                # second.
                gc.freeze()
                gc.enable()  # the command line may have switched it off for the start
                parts.readiness.models = True
                yield parts, storage
                parts.readiness.leaving = True


def read_library(settings: Settings, overrides: Overrides | None = None) -> Library:
    """What new sessions begin with; problems are logged. Raises SettingsError."""
    overrides = overrides or Overrides()
    models = Models(settings)
    models.check()
    library = Library(
        settings.pipeline,
        config_dir=settings.storage.config_dir,
        max_turns=settings.sessions.max_turns,
        models=models,
        speaks=overrides.speaks,
    )
    for problem in library.problems():
        log.warning("configuration.problem", file=problem.file, line=problem.line, reason=problem.reason)
    for caution in library.cautions():
        log.warning("configuration.caution", file=caution.file, line=caution.line, reason=caution.reason)
    return library


def _languages(library: Library) -> tuple[str, ...]:
    """Languages in which interviews may be held."""
    return tuple(sorted({language for concept in library.concepts().values() for language in concept.languages}))


def _hub(settings: Settings, library: Library, storage: Storage, pipelines: Pipelines) -> Hub:
    """The sessions of this process."""
    services = SessionServices(
        hot=storage.hot,
        store=storage.store,
        pipeline_of=pipelines.of,
        settings=hub_settings(settings),
        now=_now,
        clock=time.monotonic,
        new_id=_new_id,
        turn_deadline_s=pipelines.deadline_s,
        on_turn=measuring.turns(storage.metrics),
        conduct_of=library.conduct_files.plain,
    )
    return Hub(services, drain_s=HUB_DRAIN_S)


def _parts(
    settings: Settings,
    library: Library,
    storage: Storage,
    speech: Speech,
    voices: Voices,
    pipelines: Pipelines,
    peers: Peers | None,
) -> Parts:
    """What answers requests, nothing of it running yet."""
    hub, metrics, recorder = _hub(settings, library, storage, pipelines), storage.metrics, storage.recorder
    heard = measuring.spoken_answers(metrics)
    watch = WatchService(
        hub,
        storage.reader,
        pipelines,
        settings.alerts,
        public_url=settings.server.public_url,
        metrics=metrics,
        now=_now,
        clock=time.monotonic,
    )
    guesses = Guesses(
        KeyedBuckets(settings.limits.wrong_tokens_per_s, settings.limits.wrong_token_burst, time.monotonic)
    )
    copies, folder, limits = Copies(storage.database), storage.data_dir.path, settings.limits
    return Parts(
        settings=settings,
        library=library,
        look_up=FileThread(),
        hot=storage.hot,
        store=storage.store,
        writer=storage.writer,
        pipelines=pipelines,
        hub=hub,
        reader=storage.reader,
        watch=watch,
        speech=speech,
        listeners=Listeners(SpeechServices(speech, listening_settings(settings), recorder, heard)),
        voices=voices,
        recorder=recorder,
        auth=Authenticator(storage.store, storage.moderator_token, now=_now, new_id=_new_id, guesses=guesses),
        metrics=metrics,
        origins=Origins(settings.server),
        requests=KeyedBuckets(limits.requests_per_s, limits.request_burst, time.monotonic),
        copies=copies,
        receiver=Receiver(
            copies, storage.hot, recorder, folder=folder, max_bytes=settings.kiosk.sync_max_bytes, now=_now
        ),
        sync=Sync(settings.kiosk, copies, recorder, folder, erase=hub.erase, now=_now),
        operator_lock=OperatorLock(_secret(settings.kiosk.kiosk_pin), time.monotonic),
        now=_now,
        new_id=_new_id,
        started_at=_now(),
        peers=peers,
    )


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Something is done for as long as the block runs."""
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(work, name=name)
        try:
            yield
        finally:
            working.cancel()


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel until it is over.

    A cancellation can get lost on its way: `asyncio.wait_for` of Python 3.11, which libraries use, drops one that
    comes together with the result it waits for. Tasks that `tasks` started carry their names as a prefix.
    """
    names = tuple(task.get_name() for task in tasks)
    while any(not task.done() for task in tasks):
        for task in asyncio.all_tasks():
            if task.get_name().startswith(names) and task is not asyncio.current_task():
                task.cancel()
        await asyncio.wait(tasks, timeout=CANCEL_AGAIN_S)


def _connect(settings: Settings, url: str, metrics: Metrics, outage: Outage) -> tuple[HotStore, Journal]:
    bounds = hot_settings(settings)
    keys = KeySpace()
    try:
        client = open_client(url, timeout_s=bounds.attempt_timeout_s, max_connections=bounds.max_connections)
    except ValueError as exc:
        raise HotMisconfigured(f"ASKWELL_REDIS_URL can't be used: {exc}") from exc
    connection = Connection(
        client,
        bounds,
        keys,
        on_retry=lambda name: metrics.hot_retries.labels(name).inc(),
        on_unconfirmed=lambda name: log.warning("redis.unconfirmed", operation=name),
        outage=outage,
    )
    return HotStore(connection), Journal.connect(url, keys, bounds, outage=outage)


async def _written(recorder: FileRecorder) -> None:
    """Let recordings that wait be written, within a bound."""
    try:
        async with asyncio.timeout(WRITER_DRAIN_S):
            await recorder.drain()
    except TimeoutError:
        log.warning("recording.drain_incomplete")


def _recordings(settings: Settings, data: Path) -> Recordings:
    # Imported here: it takes time that commands without a server should not spend.
    from audio.recording import Recordings

    return Recordings(settings.speech.recordings or data / RECORDINGS_NAME)


def _secret(value: object) -> str | None:
    reveal = getattr(value, "get_secret_value", None)
    return str(reveal()) if reveal is not None else None


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return str(uuid4())

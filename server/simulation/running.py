"""Holds many simulated interviews, side by side in processes; what is already there is not held again."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Any

from config.loader import Library
from config.personas import Persona
from config.roles import Models
from config.settings import Settings, load
from pipeline.concept import SessionConfiguration
from server.language import load_providers
from server.metrics import Metrics
from server.pipelines import open_pipelines
from server.release import version
from server.simulation.errors import NoDask, NoModel, WorkerDiffers
from server.simulation.interview import Answering, Exchange, Held, hold
from server.simulation.prompted import PromptedRespondent
from server.simulation.respondent import Respondent, Told
from server.simulation.scoring import Score, scored

CONNECT_S = 10
"""How long a Dask scheduler may take to answer."""
FORMAT = 2
"""Of the result files; others are made again."""


@dataclass(frozen=True)
class Job:
    """One interview to hold.

    Attributes:
        persona: its id.
        seed: of the session and of the respondent's chance.
        manner: how it answers; the persona's own if not given.
        engine: decision engine; the concept's if not given.
        max_turns: limit; the concept's if not given.
        by_model: whether the language model of the settings speaks for the respondent.
    """

    persona: str
    seed: int
    manner: str | None = None
    engine: str | None = None
    max_turns: int | None = None
    by_model: bool = False

    @property
    def name(self) -> str:
        """Of its file and its session."""
        parts = (self.persona, self.manner, self.engine, self.max_turns, "model" if self.by_model else None, self.seed)
        return "-".join(str(part) for part in parts if part is not None)


@dataclass(frozen=True)
class Result:
    """What came of one interview.

    Attributes:
        job: what was asked for.
        manner: in which the respondent answered.
        score: the counts.
        transcript: questions and answers, with why they were asked and what they brought.
        missed: ids of ideas that were never told.
        fingerprint: of everything that the result depends on.
        seconds: it took.
    """

    job: Job
    manner: str
    score: Score
    transcript: tuple[dict[str, Any], ...]
    missed: tuple[str, ...]
    fingerprint: str
    seconds: float

    def document(self) -> dict[str, Any]:
        """As it is kept."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Result:
        """From what was kept. Raises KeyError, TypeError where it is of another format."""
        if document["format"] != FORMAT:
            raise KeyError("format")
        fields = {name: document[name] for name in cls.__dataclass_fields__}
        fields["job"], fields["score"] = Job(**fields["job"]), Score(**fields["score"])
        fields["transcript"], fields["missed"] = tuple(fields["transcript"]), tuple(fields["missed"])
        return cls(**fields)


class Room:
    """What interviews in one process need: models that are loaded once, and a loop to run in."""

    def __init__(self, settings: Settings) -> None:
        """Load the models. Raises ConfigError, ProviderError."""
        self.library = library_of(settings)
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        opening = open_pipelines(
            settings, self.library, Metrics(), load=load_providers, change=lambda same: same, say=lambda _: None
        )
        self._pipelines = self._runner.run(self._stack.enter_async_context(opening))

    def close(self) -> None:
        """Give everything back."""
        self._runner.run(self._stack.aclose())
        self._runner.close()

    def hold(self, job: Job) -> Result:
        """Hold one interview. Raises ProviderError, UnknownName, NoModel."""
        begun = time.perf_counter()
        persona = self.library.persona(job.persona)
        configuration = self.library.configuration(persona.concept, engine=job.engine, max_turns=job.max_turns)
        held = self._runner.run(self._held(job, persona, configuration))
        told = {telling.idea for exchange in held.exchanges for telling in exchange.told.tellings}
        return Result(
            job=job,
            manner=job.manner or persona.manner,
            score=scored(persona, held, configuration.methodology),
            transcript=tuple(_line(exchange) for exchange in held.exchanges),
            missed=tuple(idea.id for idea in persona.truth if idea.id not in told),
            fingerprint=fingerprint(self.library, job),
            seconds=round(time.perf_counter() - begun, 2),
        )

    async def _held(self, job: Job, persona: Persona, configuration: SessionConfiguration) -> Held:
        answering = self._respondent(job, persona)
        configuration = await self._pipelines.elements.prepared(configuration)
        pipeline = self._pipelines.of(configuration)
        return await hold(pipeline, configuration, answering, name=job.name, seed=job.seed)

    def _respondent(self, job: Job, persona: Persona) -> Answering:
        respondents = self.library.respondents()
        if not job.by_model:
            respondent = Respondent(persona, respondents, job.seed, job.manner)

            async def answering(question: str) -> Told:
                return respondent.answer(question)

            return answering
        client = self._pipelines.chat("generation")
        if client is None:
            raise NoModel("no language model is set up that could speak for respondents")
        return PromptedRespondent(client, persona, respondents.manners[job.manner or persona.manner]).answer


def _line(exchange: Exchange) -> dict[str, Any]:
    told = exchange.told
    return {
        "turn": exchange.turn,
        "question": exchange.question,
        "strategy": exchange.strategy,
        "about": exchange.about,
        "answer": told.text,
        "told": [telling.idea for telling in told.tellings],
        "wanted": told.wanted,
        "reason": told.reason,
    }


def hold_all(
    jobs: Sequence[Job],
    settings: Settings,
    folder: Path,
    *,
    processes: int,
    fresh: bool = False,
    scheduler: str | None = None,
) -> Iterator[Result]:
    """The results, as they come; those that are already in the folder first.

    Args:
        jobs: interviews to hold.
        settings: of the process.
        folder: where results are kept, one file each.
        processes: that hold interviews at the same time.
        fresh: hold those again that are already there.
        scheduler: address of a Dask scheduler whose workers hold them instead, with settings of their own.
    Raises:
        ProviderError, NoModel, WorkerDiffers: of the first interview that fails; results until then are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    library = library_of(settings)
    waiting = []
    for job in jobs:
        kept = None if fresh else _kept(folder, job, fingerprint(library, job))
        if kept is not None:
            yield kept
        else:
            waiting.append(job)
    if not waiting:
        return
    if scheduler is not None:
        results = _held_by_dask(waiting, scheduler, library)
    else:
        results = _held(waiting, settings, min(processes, len(waiting)))
    for result in results:
        _keep(folder, result)
        yield result


def library_of(settings: Settings) -> Library:
    """The concepts and personas of these settings."""
    return Library(
        settings.pipeline,
        config_dir=settings.storage.config_dir,
        max_turns=settings.sessions.max_turns,
        models=Models(settings),
    )


def fingerprint(library: Library, job: Job) -> str:
    """Digest of what a result depends on: configuration, persona, manners and version. Raises UnknownName."""
    persona = library.persona(job.persona)
    configuration = library.configuration(persona.concept, engine=job.engine, max_turns=job.max_turns)
    digest = hashlib.sha256()
    for part in (configuration, persona, library.respondents()):
        digest.update(part.model_dump_json().encode())
    digest.update(f"{version()} {FORMAT} {job}".encode())
    return digest.hexdigest()


def _kept(folder: Path, job: Job, wanted: str) -> Result | None:
    """The result that is there, if it is of the same configuration; a damaged file counts as none."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        result = Result.of(json.loads((folder / f"{job.name}.json").read_text("utf-8")))
        return result if result.fingerprint == wanted else None
    return None


def _keep(folder: Path, result: Result) -> None:
    path = folder / f"{result.job.name}.json"
    partly = path.with_suffix(".part")
    partly.write_text(json.dumps(result.document(), ensure_ascii=False, indent=1) + "\n", "utf-8")
    partly.replace(path)


_room: Room | None = None
"""Of a process that holds interviews for another one."""


def _open_room(settings: Settings) -> None:
    global _room
    _room = Room(settings)


def _hold_here(job: Job) -> Result:
    assert _room is not None
    return _room.hold(job)


def _held(jobs: Sequence[Job], settings: Settings, processes: int) -> Iterator[Result]:
    if processes == 1:
        room = Room(settings)
        try:
            yield from map(room.hold, jobs)
        finally:
            room.close()
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_open_room, initargs=(settings,))
    try:
        for future in as_completed([pool.submit(_hold_here, job) for job in jobs]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _held_by_dask(jobs: Sequence[Job], address: str, library: Library) -> Iterator[Result]:
    try:
        from distributed import Client
        from distributed import as_completed as as_they_come
    except ImportError as error:
        raise NoDask("--scheduler needs the extra `dask`: pip install 'askwell[dask]'") from error
    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, ValueError) as error:
        raise NoDask(f"no Dask scheduler answers at {address}") from error
    with client:
        for future in as_they_come(client.map(_hold_elsewhere, jobs, pure=False)):
            result: Result = future.result()
            if result.fingerprint != fingerprint(library, result.job):
                raise WorkerDiffers("a worker has other concepts, personas or settings, or another version of askwell")
            yield result


_alone = Lock()
"""A worker of several threads holds one interview at a time; processes are what makes it faster."""


def _hold_elsewhere(job: Job) -> Result:
    with _alone:
        if _room is None:
            _open_room(load().settings)
        return _hold_here(job)

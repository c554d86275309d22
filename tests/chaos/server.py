"""A whole askwell that kills itself, −9, the n-th time it reaches a boundary.

Everything is the real thing but for the language providers, which are quick and find two concepts in any answer.
`python -m tests.chaos.server --data DIR --kill after_commit --nth 3` prints `READY url`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from config import settings as config_settings
from config.loader import Library
from config.settings import Settings
from pipeline.concept import SessionConfiguration
from pipeline.language.acts.reading import RuleReader
from pipeline.methodology import Methodology
from pipeline.ports import (
    ExtractedConcept,
    ExtractedRelationship,
    Extraction,
    ExtractionRequest,
    QuestionRequest,
    Rating,
    RatingRequest,
)
from pipeline.turn import Providers
from server.app import build_app
from server.hot.journal import JournalRecord
from server.hot.redis import HotStore
from server.serving import bind, serving, url_of
from server.speech.engine import LoadSpeech
from server.store.grouped import GroupedApplier, Part
from server.wiring import Overrides, running
from server.writer import Writer
from tests.support.interview import FixedRater, OwnSlots, PlainWriter, TableEmbedder, WordParser
from tests.support.speech import teach, tones
from tests.support.whole import deaf

BOUNDARIES = (
    "before_accept",
    "after_accept",
    "in_extraction",
    "in_question",
    "before_commit",
    "after_commit",
    "before_apply",
    "in_transaction",
    "after_apply",
)
"""From the answer's arrival to its rows, in order."""


DRAIN_S = 120.0
"""Until everything is in the store: the lock of a writer that was killed has to run out first. A server that is just
told to end leaves the rest in the journal."""


class Plan:
    """Ends this process at the n-th visit to one boundary, without a goodbye."""

    def __init__(self, boundary: str, nth: int) -> None:
        self._boundary = boundary
        self._left = nth

    def reached(self, boundary: str) -> None:
        """We are at the boundary now."""
        if boundary != self._boundary:
            return
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Orders(Plan):
    """A plan that can be changed while the server lives, and whose victim may be another process group.

    The file holds one JSON object: `number` (a new one starts the count anew), `boundary`, `nth`, `victim` (process
    group that is killed; 0: this process).
    """

    def __init__(self, path: Path) -> None:
        super().__init__("never", 1)
        self._path = path
        self._number = -1
        self._victim = 0

    def reached(self, boundary: str) -> None:
        """We are at the boundary now."""
        orders = json.loads(self._path.read_text(encoding="utf-8"))
        if orders["number"] != self._number:
            self._number, self._victim = orders["number"], orders["victim"]
            self._boundary, self._left = orders["boundary"], orders["nth"]
        if self._victim == 0:
            super().reached(boundary)
        elif boundary == self._boundary:
            self._left -= 1
            if self._left == 0:
                with suppress(ProcessLookupError):
                    os.killpg(self._victim, signal.SIGKILL)


class KillingHot(HotStore):
    """The hot store, with boundaries around accept and around the commit of a turn."""

    plan: Plan

    async def accept(self, *args: Any, **kwargs: Any) -> Any:
        self.plan.reached("before_accept")
        done = await super().accept(*args, **kwargs)
        self.plan.reached("after_accept")
        return done

    async def commit(self, *args: Any, **kwargs: Any) -> Any:
        self.plan.reached("before_commit")
        done = await super().commit(*args, **kwargs)
        self.plan.reached("after_commit")
        return done


class KillingApplier(GroupedApplier):
    """The way into the store, with boundaries around and inside its transaction."""

    plan: Plan

    async def apply(self, partition: int, expected: str, records: Sequence[JournalRecord]) -> None:
        self.plan.reached("before_apply")
        await super().apply(partition, expected, records)
        self.plan.reached("after_apply")

    async def move_all(self, connection: AsyncConnection, parts: Sequence[Part]) -> None:
        await super().move_all(connection, parts)
        self.plan.reached("in_transaction")


class PairExtractor:
    """Finds the answer's first and last three words, linked; every third answer repeats a concept."""

    def __init__(self, plan: Plan, configuration: SessionConfiguration) -> None:
        ontology = configuration.methodology.ontology
        self._edge = ontology.edges[0].name
        self._kinds = ontology.edges[0].permitted_connections[0]
        self._plan = plan

    async def extract(self, request: ExtractionRequest) -> Extraction:
        self._plan.reached("in_extraction")
        words = request.text.split()
        first, last = " ".join(words[:3]), " ".join(words[-3:])
        found = tuple(
            ExtractedConcept(label=label, node_type=kind, quote=label)
            for label, kind in zip((first, last), self._kinds, strict=True)
        )
        link = ExtractedRelationship(source=first, target=last, edge_type=self._edge, quote=request.text)
        return Extraction(concepts=found, relationships=(link,))


class ForgetfulRater(FixedRater):
    """Keeps nothing of what it was asked: this server's memory is measured."""

    async def rate(self, request: RatingRequest) -> Rating:
        self.requests.clear()
        return await super().rate(request)


class MortalWriter(PlainWriter):
    """Writes plain questions; may end the process in the middle of one."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._plan = plan

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        self.requests.clear()
        number = 0
        async for piece in super().write(request):
            number += 1
            if number == 6 and request.turn_number:
                await asyncio.sleep(0)
                self._plan.reached("in_question")
            yield piece


def overrides(plan: Plan, hear: LoadSpeech = deaf) -> Overrides:
    """Real parts with boundaries in them."""

    def hot(store: HotStore) -> HotStore:
        killing = KillingHot(store.connection)
        killing.plan = plan
        return killing

    def writer(original: Writer) -> Writer:
        applier = KillingApplier(original._applier.database)
        applier.plan = plan
        return Writer(original._hot, original._journal, applier, original._settings, original._hooks)

    async def load(settings: Settings, executor: Executor, methodologies: tuple[Methodology, ...]) -> Providers:
        configuration = Library(settings.pipeline).configuration("coffee_mec")
        return Providers(
            PairExtractor(plan, configuration),
            ForgetfulRater(4),
            OwnSlots(),
            MortalWriter(plan),
            TableEmbedder(),
            WordParser(),
            RuleReader(),
        )

    return Overrides(hot=hot, writer=writer, load=load, hear=hear)


async def main(arguments: argparse.Namespace) -> None:
    """Serve until killed, by the plan or from outside."""
    plan = Orders(arguments.orders) if arguments.orders else Plan(arguments.kill, arguments.nth)
    settings = config_settings.load(None, {"data": arguments.data, "port": arguments.port}).settings
    sock = bind("127.0.0.1", arguments.port)
    teach(arguments.hear.split())
    hear = tones() if arguments.hear else deaf
    ended = asyncio.Event()
    async with (
        running(settings, overrides=overrides(plan, hear)) as (parts, _),
        serving(build_app(parts), sock),
    ):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        sys.stdout.write(f"READY {url_of(sock, '127.0.0.1')}\n")
        sys.stdout.flush()
        await ended.wait()
        async with asyncio.timeout(DRAIN_S):
            while not await parts.writer.drain(DRAIN_S):
                await asyncio.sleep(0.1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--kill", default="never")
    parser.add_argument("--nth", type=int, default=1)
    parser.add_argument("--orders", type=Path, default=None, help="a file with the plan, read at every boundary")
    parser.add_argument("--hear", default="", help="words whose tones are understood")
    asyncio.run(main(parser.parse_args()))

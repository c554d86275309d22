"""One pipeline for each combination of models, prompts and failure policy that sessions are pinned to."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

import structlog

from config.loader import Library, UnknownName
from config.prices import load_prices
from config.settings import Settings
from pipeline.calls import Role
from pipeline.concept import SessionConfiguration
from pipeline.language.acts.rules import rules_for
from pipeline.methodology import Methodology
from pipeline.ports import Clock
from pipeline.question.checker import prepare
from pipeline.turn import Providers, TurnPipeline
from server.elements import ElementMaker
from server.language import Language
from server.metrics import Metrics

if TYPE_CHECKING:
    from pipeline.language.clients.base import ChatClient

log = structlog.get_logger("askwell.language")

Load = Callable[[Settings, Executor, tuple[Methodology, ...]], Awaitable[Providers]]
"""Loads what works on this machine; see `server.language.load_providers`."""

MOST: Final = 64
"""Pipelines that are kept beside the offline one; a pipeline in use lives on without being kept."""


class Pipelines:
    """The pipelines of sessions of any configuration.

    Args:
        language: the providers of each configuration, on this machine and remote.
        clock: monotonic seconds, for timings only.
        change: wraps the providers; for tests, see `server.wiring.Overrides`.
        most: pipelines that are kept.
    """

    def __init__(
        self,
        language: Language,
        clock: Clock,
        *,
        change: Callable[[Providers], Providers] = lambda providers: providers,
        most: int = MOST,
    ) -> None:
        self._language = language
        self._clock = clock
        self._change = change
        self._most = most
        self._offline = TurnPipeline(change(language.offline), clock)
        self._made: OrderedDict[Hashable, TurnPipeline] = OrderedDict()
        self.elements = ElementMaker(lambda configuration: change(language.providers_for(configuration)).concept_parser)
        """Makes elements for sessions on a stimulus whose concept names none."""

    def of(self, configuration: SessionConfiguration) -> TurnPipeline:
        """The pipeline of such a session."""
        if not configuration.prompts:
            return self._offline
        key = (
            configuration.concept.llm.model_dump_json(),
            self._language.policy(configuration),
            tuple(sorted(configuration.prompts.items())),
        )
        known = self._made.get(key)
        if known is None:
            providers = self._change(self._language.providers_for(configuration))
            for tag in configuration.concept.languages:
                # The secrets are the prompts, which no question may repeat.
                prepare(tag, providers.secrets)
            known = TurnPipeline(providers, self._clock)
            self._made[key] = known
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return known

    def chat(self, role: Role) -> ChatClient | None:
        """The language model that the settings name for a role; None where that is done on this machine."""
        return self._language.chat(role)

    def deadline_s(self, configuration: SessionConfiguration) -> float:
        """The longest that a turn of such a session may take, in seconds."""
        return self._language.deadline_s(configuration)


@asynccontextmanager
async def open_pipelines(
    settings: Settings,
    library: Library,
    metrics: Metrics,
    *,
    load: Load,
    change: Callable[[Providers], Providers],
    say: Callable[[str], None],
) -> AsyncIterator[Pipelines]:
    """Pipelines whose models are warm. Enter before the sessions that use them: connections to providers end with it.

    Args:
        settings: of the process.
        library: what new sessions begin with.
        metrics: told of calls and circuits.
        load: loads what works on this machine.
        change: what providers are replaced by before they are used.
        say: told what is being done.
    Raises:
        ConfigError: the prices can't be read.
        ProviderError: a model of this machine can't be loaded.
    """
    prices = load_prices(settings.storage.config_dir)
    with ThreadPoolExecutor(settings.language.language_threads, thread_name_prefix="language") as executor:
        say("loading the language models")
        began = time.perf_counter()
        methodologies = tuple(library.methodologies().values())
        tags = {tag for concept in library.concepts().values() for tag in concept.languages}
        providers, _ = await asyncio.gather(
            load(settings, executor, methodologies), asyncio.to_thread(_prepare_rules, tags)
        )
        language = Language(
            providers,
            settings,
            prices,
            prompts=library.known_prompts,
            observe=metrics.llm_call,
            on_fallback=metrics.llm_fallback,
        )
        metrics.watch_circuits(language.circuits)
        try:
            for problem in await language.warm(concept.llm for concept in library.concepts().values()):
                log.warning("language.provider_unusable", reason=problem)
            pipelines = Pipelines(language, time.perf_counter, change=change)
            for concept_id in library.concepts():
                with suppress(UnknownName):
                    pipelines.of(library.configuration(concept_id))
            say(f"models are warm after {time.perf_counter() - began:.1f} s")
            yield pipelines
        finally:
            await language.aclose()


def _prepare_rules(tags: Iterable[str]) -> None:
    """Compile what questions are checked and answers are heard by, so that no turn has to."""
    for tag in tags:
        prepare(tag)
        rules_for(tag)

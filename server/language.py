"""The language providers of sessions: models on this machine, and language models behind an API.

The offline provider is loaded once per process. It embeds and parses for all sessions, does the roles that are
`offline`, and is the fallback for language models where the failure policy is `offline`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, TypeVar, cast

import structlog

from config.models import Temperature
from config.prices import Price, price_table
from config.roles import ModelMisconfigured, Models, describe, host_of, is_local, unencrypted
from config.settings import PREFIX, ROLES, Settings
from pipeline.calls import LLMCall, Role
from pipeline.concept import FailurePolicy, ModelOverrides, SessionConfiguration
from pipeline.language.fallback import (
    CountedWriter,
    FallbackConceptParser,
    FallbackExtractor,
    FallbackRater,
    FallbackSlotProposer,
    Missing,
    OnFallback,
)
from pipeline.methodology import Methodology
from pipeline.ports import QuestionWriter
from pipeline.turn import Providers
from server.metrics import Circuit

if TYPE_CHECKING:
    from pipeline.language.clients.base import ChatClient, RoleModel
    from pipeline.language.clients.clients import Clients
    from pipeline.language.offline import SharedModels
    from pipeline.language.prompted.prompts import Prompts

log = structlog.get_logger("askwell.language")

P = TypeVar("P")
Fallback = Callable[[P, P, OnFallback], P]
"""Makes a provider of two: the second one does what the first one fails at."""

KEPT_NAME = "models"
"""Folder in the data directory with what the models made of methodologies; it can be deleted."""

SPARE_S = 5.0
"""What a turn takes at the most beside its calls of language models, in seconds."""


def load_shared_models(settings: Settings) -> SharedModels:
    """What is loaded once for all workers, before they are forked. Raises ProviderError."""
    from pipeline.language.offline import load_shared

    language = settings.language
    return load_shared(
        spacy_model=language.spacy_model,
        built_in=language.embedder != "sentence-transformers",
        reader=language.reader == "trained",
    )


async def load_providers(
    settings: Settings,
    executor: Executor,
    methodologies: tuple[Methodology, ...],
    shared: SharedModels | None = None,
) -> Providers:
    """Providers of all roles on this machine.

    Args:
        settings: which embedder and parser.
        executor: where parsing and embedding run.
        methodologies: those whose types are to be ready before the first session.
        shared: what was loaded before this process was forked.
    Raises:
        ProviderError: a model is missing or can't be loaded.
    """
    # Imported here: it takes seconds that commands without a model should not spend.
    from pipeline.language.offline import load_offline

    language = settings.language
    offline = await load_offline(
        shared=shared,
        executor=executor,
        spacy_model=language.spacy_model,
        embedding_model=language.embedder_model if language.embedder == "sentence-transformers" else None,
        reader=language.reader == "trained",
        methodologies=methodologies,
        kept=settings.storage.data / KEPT_NAME,
    )
    return Providers(
        extractor=offline.extractor,
        rater=offline.rater,
        slot_proposer=offline.slot_proposer,
        writer=offline.writer,
        embedder=offline.embedder,
        parser=offline.parser,
        act_reader=offline.act_reader,
        concept_parser=offline.concept_parser,
    )


class Language:
    """The providers of every configuration that sessions of this process are pinned to.

    Args:
        offline: the providers on this machine.
        settings: of the process.
        prices: of models.
        prompts: those that new sessions begin with; for sessions whose own can't be used any more.
        observe: called with every call of a language model.
        on_fallback: called with the role whenever the offline provider does a language model's task.
    """

    def __init__(
        self,
        offline: Providers,
        settings: Settings,
        prices: Mapping[str, Price],
        *,
        prompts: Callable[[], Mapping[str, str]],
        observe: Callable[[LLMCall], None],
        on_fallback: Callable[[Role], None],
    ) -> None:
        self.offline = offline
        self._settings = settings
        self._models = Models(settings)
        self._prices = dict(prices)
        self._current_prompts = prompts
        self._observe = observe
        self._on_fallback = on_fallback
        self._made: Clients | None = None

    @property
    def _clients(self) -> Clients:
        if self._made is None:
            # Imported here: an offline process needs no HTTP client.
            from pipeline.language.clients.clients import Clients

            self._made = Clients(prices=price_table(self._prices), observe=self._observe)
        return self._made

    async def warm(self, concepts: Iterable[ModelOverrides]) -> list[str]:
        """Open connections to the providers of the settings and of these concepts, and try their keys.

        Returns:
            What is wrong, one sentence each. Nothing of it keeps the process from starting.
        """
        models = [model for overrides in (ModelOverrides(), *concepts) for model in self._role_models(overrides)]
        for model in models:
            self._clients.client(model)
        return await self._clients.warm() if models else []

    def _role_models(self, overrides: ModelOverrides) -> Iterator[RoleModel]:
        for role in ROLES:
            try:
                model = self._models.role_model(role, overrides)
            except ModelMisconfigured:
                continue
            if model is not None:
                yield model

    def chat(self, role: Role) -> ChatClient | None:
        """The language model that the settings name for a role; None for the offline one. Raises ModelMisconfigured."""
        model = self._models.role_model(role, ModelOverrides())
        return self._clients.client(model) if model is not None else None

    def circuits(self) -> Iterator[Circuit]:
        """The circuit breaker of each model."""
        if self._made is not None:
            for (provider, base_url, model, role), breaker in self._made.breakers.items():
                yield Circuit(role, provider, host_of(base_url), model, is_open=breaker.state == "open")

    async def aclose(self) -> None:
        """Close the connections to providers."""
        if self._made is not None:
            await self._made.aclose()

    def policy(self, configuration: SessionConfiguration) -> FailurePolicy:
        """What happens in such a session when a language model fails."""
        return configuration.concept.on_llm_failure or self._settings.models.on_llm_failure

    def deadline_s(self, configuration: SessionConfiguration) -> float:
        """The longest that a turn of such a session may take, in seconds.

        Extraction and rating run side by side, each with one repair; a question may be written twice.
        """
        usual = self._settings.sessions.turn_deadline_s
        if not configuration.prompts:
            return usual
        model_s = {model.role: model.deadline_s for model in self._role_models(configuration.concept.llm)}
        understanding_s = max(model_s.get("extraction", 0.0), model_s.get("scoring", 0.0))
        return max(usual, 2 * understanding_s + 2 * model_s.get("generation", 0.0) + SPARE_S)

    def providers_for(self, configuration: SessionConfiguration) -> Providers:
        """Providers of such a session; one without prompts began with the offline provider and stays with it."""
        if not configuration.prompts:
            return self.offline
        from pipeline.language.prompted.elements import PromptedConceptParser
        from pipeline.language.prompted.extraction import PromptedExtractor
        from pipeline.language.prompted.questions import PromptedQuestionWriter
        from pipeline.language.prompted.rating import PromptedRater
        from pipeline.language.prompted.slots import PromptedSlotProposer

        offline, prompts = self.offline, self._prompts(configuration)
        falls_back = self.policy(configuration) == "offline"

        def provider(role: Role, prompted: Callable[[ChatClient], P], second: P, fallback: Fallback[P] | None) -> P:
            """A language model with these prompts, with or without a fallback; `second` where the role is offline."""
            try:
                model = self._models.role_model(role, configuration.concept.llm)
            except ModelMisconfigured as exc:
                log.warning("language.model_missing", role=role, reason=exc.reason)
                first = cast("P", Missing(exc.reason, offline.writer))
            else:
                if model is None:
                    return second
                first = prompted(self._clients.client(model))
            return fallback(first, second, self._on_fallback) if falls_back and fallback is not None else first

        def prompted_writer(client: ChatClient) -> QuestionWriter:
            temperature = self._opening_temperature(client)
            return PromptedQuestionWriter(client, prompts, templates=offline.writer, opening_temperature=temperature)

        writer = provider("generation", prompted_writer, offline.writer, None)
        is_offline = writer is offline.writer
        return Providers(
            extractor=provider(
                "extraction", lambda client: PromptedExtractor(client, prompts), offline.extractor, FallbackExtractor
            ),
            concept_parser=offline.concept_parser
            and provider(
                "extraction",
                lambda client: PromptedConceptParser(client, prompts),
                offline.concept_parser,
                FallbackConceptParser,
            ),
            rater=provider("scoring", lambda client: PromptedRater(client, prompts), offline.rater, FallbackRater),
            slot_proposer=provider(
                "scoring",
                lambda client: PromptedSlotProposer(client, prompts),
                offline.slot_proposer,
                FallbackSlotProposer,
            ),
            writer=writer,
            embedder=offline.embedder,
            parser=offline.parser,
            act_reader=offline.act_reader,
            fallback_writer=CountedWriter(offline.writer, self._on_fallback) if falls_back and not is_offline else None,
            secrets=() if is_offline else tuple(prompts.texts.values()),
        )

    def _prompts(self, configuration: SessionConfiguration) -> Prompts:
        from pipeline.language.prompted.prompts import PromptInvalid, Prompts

        try:
            return Prompts(configuration.prompts)
        except PromptInvalid as exc:
            log.warning("language.prompts_outdated", concept=configuration.concept.id, reason=str(exc))
            return Prompts(self._current_prompts())

    def _opening_temperature(self, client: ChatClient) -> float:
        """For opening questions; clients whose role leaves the temperature out leave this one out as well."""
        temperature: Temperature = self._settings.models.opening_temperature
        return float((client.spec.temperature or 0.0) if temperature == "unset" else temperature)


def role_lines(settings: Settings) -> list[str]:
    """The provider of each role by the settings, one line each, for the person who started the process; no secrets."""
    used = list(Models(settings).used())
    if all(model is None for _, model in used):
        return ["offline: extraction, scoring and questions without a language model", *_reader_lines(settings)]
    policy = settings.models.on_llm_failure
    after = "the turn fails and can be tried again" if policy == "fail" else "the offline provider does that task"
    lines = [f"{role}: {describe(model)}" for role, model in used]
    return [*lines, f"when a language model fails: {after} ({PREFIX}ON_LLM_FAILURE={policy})", *_reader_lines(settings)]


def _reader_lines(settings: Settings) -> list[str]:
    if settings.language.reader == "trained":
        return []
    return [f"answers are judged by rules alone, which hear and understand much less ({PREFIX}READER=rules)"]


def cautions(settings: Settings) -> list[str]:
    """Warnings about language models for the person who started the process."""
    models = [model for _, model in Models(settings).used() if model is not None]
    found = []
    hosts = dict.fromkeys(host_of(model.base_url) for model in models if not is_local(model))
    if hosts:
        found.append(f"what respondents say is sent to {', '.join(hosts)}")
    found += [
        f"{PREFIX}{model.role.upper()}_BASE_URL is http: answers{' and the key' if model.api_key else ''} travel "
        "unencrypted"
        for model in models
        if unencrypted(model)
    ]
    return found

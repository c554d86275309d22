"""Who understands answers and writes questions: models on this machine, and language models over the wire.

What works on this machine is loaded once per process, warm, and always there: it embeds and parses for everybody, does
the roles that are `offline`, and steps in where a language model fails and the policy is `offline`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import structlog

from config.models import Temperature
from config.prices import Price, price_table
from config.roles import ModelMisconfigured, Models, describe, host_of, is_local, unencrypted
from config.settings import PREFIX, ROLES, Settings
from pipeline.calls import LLMCall, Role
from pipeline.concept import FailurePolicy, ModelOverrides, SessionConfiguration
from pipeline.language.fallback import CountedWriter, FallbackExtractor, FallbackRater, FallbackSlotProposer, Missing
from pipeline.methodology import Methodology
from pipeline.ports import Extractor, QuestionWriter, Rater, SlotProposer
from pipeline.turn import Providers
from server.metrics import Circuit

if TYPE_CHECKING:
    from pipeline.language.clients.base import ChatClient, RoleModel
    from pipeline.language.clients.clients import Clients
    from pipeline.language.prompted.prompts import Prompts

log = structlog.get_logger("askwell.language")

SPARE_S = 5.0
"""What a turn takes at the most beside its calls of language models, in seconds."""


async def load_providers(settings: Settings, executor: Executor, methodologies: tuple[Methodology, ...]) -> Providers:
    """Providers of all roles on this machine.

    Args:
        settings: which embedder and parser.
        executor: where parsing and embedding run.
        methodologies: those whose types are to be ready before the first session.
    Raises:
        ProviderError: a model is missing or can't be loaded.
    """
    # Imported here: it takes seconds that commands without a model should not spend.
    from pipeline.language.offline import load_offline

    language = settings.language
    offline = await load_offline(
        executor=executor,
        spacy_model=language.spacy_model,
        embedding_model=language.embedder_model if language.embedder == "sentence-transformers" else None,
        methodologies=methodologies,
    )
    return Providers(
        extractor=offline.extractor,
        rater=offline.rater,
        slot_proposer=offline.slot_proposer,
        writer=offline.writer,
        embedder=offline.embedder,
        parser=offline.parser,
    )


class Language:
    """The providers of every configuration that sessions of this process are pinned to.

    Args:
        offline: what works on this machine.
        settings: of the process.
        prices: of models.
        prompts: those that new sessions begin with; for sessions whose own can't be used any more.
        observe: told of every call of a language model.
        on_fallback: told whenever the offline provider does a language model's task.
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
        """Providers of such a session. Without prompts it began offline, and stays so."""
        if not configuration.prompts:
            return self.offline
        return _Assembly(self, configuration, self._prompts(configuration)).providers()

    def _prompts(self, configuration: SessionConfiguration) -> Prompts:
        from pipeline.language.prompted.prompts import PromptInvalid, Prompts

        try:
            return Prompts(configuration.prompts)
        except PromptInvalid as exc:
            log.warning("language.prompts_outdated", concept=configuration.concept.id, reason=str(exc))
            return Prompts(self._current_prompts())

    def client(self, role: Role, overrides: ModelOverrides) -> ChatClient | None:
        """The client of a role, None for the offline provider. Raises ModelMisconfigured."""
        model = self._models.role_model(role, overrides)
        return None if model is None else self._clients.client(model)

    def opening_temperature(self, client: ChatClient) -> float:
        """For opening questions; clients whose role leaves the temperature out leave this one out as well."""
        temperature: Temperature = self._settings.models.opening_temperature
        return float((client.spec.temperature or 0.0) if temperature == "unset" else temperature)

    def fell_back(self, role: Role) -> None:
        """The offline provider did a task of a language model."""
        self._on_fallback(role)


class _Assembly:
    """Puts the providers of one configuration together."""

    def __init__(self, language: Language, configuration: SessionConfiguration, prompts: Prompts) -> None:
        self._language = language
        self._offline = language.offline
        self._overrides = configuration.concept.llm
        self._prompts = prompts
        self._falls_back = language.policy(configuration) == "offline"

    def providers(self) -> Providers:
        """The providers."""
        writer, second = self._writers()
        return Providers(
            extractor=self._extractor(),
            rater=self._rater(),
            slot_proposer=self._slot_proposer(),
            writer=writer,
            embedder=self._offline.embedder,
            parser=self._offline.parser,
            fallback_writer=second,
            secrets=tuple(self._prompts.texts.values()) if writer is not self._offline.writer else (),
        )

    def _client(self, role: Role) -> ChatClient | Missing | None:
        try:
            return self._language.client(role, self._overrides)
        except ModelMisconfigured as exc:
            log.warning("language.model_missing", role=role, reason=exc.reason)
            return Missing(exc.reason, self._offline.writer)

    def _extractor(self) -> Extractor:
        from pipeline.language.prompted.extraction import PromptedExtractor

        client, second = self._client("extraction"), self._offline.extractor
        if client is None:
            return second
        first = client if isinstance(client, Missing) else PromptedExtractor(client, self._prompts)
        return FallbackExtractor(first, second, self._language.fell_back) if self._falls_back else first

    def _rater(self) -> Rater:
        from pipeline.language.prompted.rating import PromptedRater

        client, second = self._client("scoring"), self._offline.rater
        if client is None:
            return second
        first = client if isinstance(client, Missing) else PromptedRater(client, self._prompts)
        return FallbackRater(first, second, self._language.fell_back) if self._falls_back else first

    def _slot_proposer(self) -> SlotProposer:
        from pipeline.language.prompted.slots import PromptedSlotProposer

        client, second = self._client("scoring"), self._offline.slot_proposer
        if client is None:
            return second
        first = client if isinstance(client, Missing) else PromptedSlotProposer(client, self._prompts)
        return FallbackSlotProposer(first, second, self._language.fell_back) if self._falls_back else first

    def _writers(self) -> tuple[QuestionWriter, QuestionWriter | None]:
        """Who writes questions, and who does where that fails."""
        from pipeline.language.prompted.questions import PromptedQuestionWriter

        client, second = self._client("generation"), self._offline.writer
        if client is None:
            return second, None
        first: QuestionWriter = (
            client
            if isinstance(client, Missing)
            else PromptedQuestionWriter(
                client,
                self._prompts,
                templates=second,
                opening_temperature=self._language.opening_temperature(client),
            )
        )
        return first, CountedWriter(second, self._language.fell_back) if self._falls_back else None


def who_does_what(settings: Settings) -> list[str]:
    """Who does each role by the settings, for the person who started the process; nothing secret in it."""
    used = list(Models(settings).used())
    if all(model is None for _, model in used):
        return ["offline: extraction, scoring and questions without a language model"]
    policy = settings.models.on_llm_failure
    after = "the turn fails and can be tried again" if policy == "fail" else "the offline provider does that task"
    lines = [f"{role}: {describe(model)}" for role, model in used]
    return [*lines, f"when a language model fails: {after} ({PREFIX}ON_LLM_FAILURE={policy})"]


def cautions(settings: Settings) -> list[str]:
    """What the person who started the process should know about language models."""
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

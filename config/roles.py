"""Which language model does which role, by the settings and the overrides of a concept.

A key is sent only to addresses that the settings name; a concept with another `base_url` gets none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from config.models import RoleSettings, Temperature, checked_base_url
from config.settings import PREFIX, ROLES, Settings, SettingsError
from pipeline.calls import Role
from pipeline.concept import ModelOverrides, ProviderName, RoleOverrides

if TYPE_CHECKING:
    from pipeline.language.clients.base import RoleModel

BASE_URLS: Final[dict[ProviderName, str]] = {
    "anthropic": "https://api.anthropic.com/v1",
    "openai": "https://api.openai.com/v1",
    "kimi": "https://api.moonshot.ai/v1",
    "deepseek": "https://api.deepseek.com",
}
"""Where the providers' APIs are; `openai_compatible` is anywhere."""


class ModelMisconfigured(SettingsError):
    """A role's language model can't be used as things stand; `field` says what is missing or wrong."""

    def __init__(self, role: Role, field: str, reason: str) -> None:
        super().__init__(reason)
        self.role: Role = role
        self.field = field
        self.reason = reason


@dataclass(frozen=True)
class ModelProblem:
    """What keeps a concept from its language model."""

    role: Role
    field: str
    reason: str


class Models:
    """The language models of a process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def check(self) -> None:
        """Whether every role of the settings can be done.

        Raises:
            ModelMisconfigured: a model, a key or an address is missing; the message names the setting.
        """
        for role in ROLES:
            self.role_model(role)

    def role_model(self, role: Role, overrides: ModelOverrides | None = None) -> RoleModel | None:
        """Who does a role, None for the offline provider.

        Args:
            role: the role.
            overrides: of a concept.
        Raises:
            ModelMisconfigured: a model, a key or an address is missing or wrong.
        """
        own, over = self._settings.role(role), _of_role(overrides, role)
        provider = over.provider or own.provider
        if provider == "offline":
            return None
        # Imported here: an offline process needs nothing of the clients.
        from pipeline.language.clients.base import RoleModel

        same = provider == own.provider
        model = over.model or (own.model if same else None)
        if model is None:
            raise ModelMisconfigured(
                role, "model", f"{_env(role, 'model')} is not set: `{provider}` needs the name of a model"
            )
        base_url = self._base_url(role, provider, over)
        temperature = own.temperature if same else _usual_temperature(own)
        if over.temperature is not None:
            temperature = over.temperature
        key, key_setting = self._key(role, provider, base_url)
        return RoleModel(
            role=role,
            provider=provider,
            model=model,
            base_url=base_url,
            api_key=key,
            temperature=None if temperature == "unset" else float(temperature),
            max_tokens=over.max_tokens or own.max_tokens,
            deadline_s=over.deadline_s or own.deadline_s,
            effort=over.effort or (own.effort if same else None),
            structured=over.structured_output or (own.structured_output if same else "auto"),
            key_setting=key_setting,
        )

    def _base_url(self, role: Role, provider: ProviderName, over: RoleOverrides) -> str:
        own = self._settings.role(role)
        if over.base_url is not None:
            try:
                return checked_base_url(over.base_url)
            except ValueError as exc:
                raise ModelMisconfigured(role, "base_url", str(exc)) from exc
        found = (own.base_url if provider == own.provider else None) or BASE_URLS.get(provider)
        if found is None:
            reason = f"{_env(role, 'base_url')} is not set: `{provider}` needs the address of a server"
            raise ModelMisconfigured(role, "base_url", reason)
        return found

    def _key(self, role: Role, provider: ProviderName, base_url: str) -> tuple[SecretStr | None, str]:
        """The key to send there, and the setting where it is, or where it would be."""
        own = self._settings.role(role)
        named = BASE_URLS.get(provider)
        if provider == own.provider:
            named = own.base_url or named
        trusted = base_url in (named, BASE_URLS.get(provider))
        if own.api_key is not None and provider == own.provider and base_url == named:
            return own.api_key, _env(role, "api_key")
        if provider == "openai_compatible":
            return None, _env(role, "api_key")
        shared = f"{provider}_api_key"
        key = getattr(self._settings.models, shared)
        if key is not None and trusted:
            assert isinstance(key, SecretStr)
            return key, shared.upper()
        if not trusted:
            reason = (
                f"`{provider}` needs a key, which is sent only to an address that {_env(role, 'base_url')} names; "
                "for a server without keys use `openai_compatible`"
            )
        else:
            reason = f"{_env(role, 'api_key')} or {shared.upper()} is not set: `{provider}` needs a key"
        raise ModelMisconfigured(role, "api_key", reason)

    def problems(self, overrides: ModelOverrides) -> list[ModelProblem]:
        """What keeps a concept from its language models here."""
        found = []
        for role in ROLES:
            over = _of_role(overrides, role)
            try:
                model = self.role_model(role, overrides)
            except ModelMisconfigured as exc:
                found.append(ModelProblem(role, exc.field, exc.reason))
                continue
            if model is None and over.provider is None and over.model is not None:
                reason = f"without effect: no provider is given, and {_env(role, 'provider')} is `offline`"
                found.append(ModelProblem(role, "model", reason))
        return found

    def remote(self, overrides: ModelOverrides) -> bool:
        """Whether a language model does any of the roles."""
        return any(self.is_remote(role, overrides) for role in ROLES)

    def is_remote(self, role: Role, overrides: ModelOverrides) -> bool:
        """Whether a language model does that role."""
        return (_of_role(overrides, role).provider or self._settings.role(role).provider) != "offline"

    def pinned(self, overrides: ModelOverrides) -> ModelOverrides:
        """Who does which role, as a session keeps it: everything but keys, deadlines and addresses of the settings.

        Raises:
            ModelMisconfigured: as `role_model`.
        """
        return ModelOverrides(**{role: self._pinned_role(role, overrides) for role in ROLES})

    def _pinned_role(self, role: Role, overrides: ModelOverrides) -> RoleOverrides:
        model = self.role_model(role, overrides)
        if model is None:
            return RoleOverrides(provider="offline")
        over = _of_role(overrides, role)
        return RoleOverrides(
            provider=model.provider,
            model=model.model,
            base_url=over.base_url,
            temperature="unset" if model.temperature is None else model.temperature,
            max_tokens=model.max_tokens,
            deadline_s=over.deadline_s,
            effort=model.effort,
            structured_output=model.structured,
        )

    def used(self) -> Iterator[tuple[Role, RoleModel | None]]:
        """Each role of the settings and who does it."""
        for role in ROLES:
            yield role, self.role_model(role)


def describe(model: RoleModel | None) -> str:
    """Who does a role, for people: provider, model and host, without anything secret."""
    if model is None:
        return "offline"
    return f"{model.provider}, {model.model}, at {host_of(model.base_url)}"


def host_of(base_url: str) -> str:
    """Host and port of an address, without anything secret."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host


def is_local(model: RoleModel) -> bool:
    """Whether the model is on this machine."""
    host = urlsplit(model.base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def unencrypted(model: RoleModel) -> bool:
    """Whether answers, and the key if there is one, travel unencrypted to another machine."""
    return urlsplit(model.base_url).scheme == "http" and not is_local(model)


def _of_role(overrides: ModelOverrides | None, role: Role) -> RoleOverrides:
    found = getattr(overrides, role) if overrides is not None else None
    return found if isinstance(found, RoleOverrides) else RoleOverrides()


def _usual_temperature(own: RoleSettings) -> Temperature:
    usual: Temperature = type(own).model_fields["temperature"].default
    return usual


def _env(role: Role, field: str) -> str:
    return f"{PREFIX}{role.upper()}_{field.upper()}"

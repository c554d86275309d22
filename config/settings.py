"""The settings of an operator, each with one flat name: `ASKWELL_NAME` in the environment, `name` in `askwell.toml`.

A setting comes from, in this order: the command line, the environment, a file named by `ASKWELL_…_FILE` (secrets
only), `askwell.toml` in the data directory, the default. `load` is called once, by whoever starts the process.
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo

from config.alerts import AlertSettings
from config.bounds import LimitSettings, SessionSettings
from config.group import Group, check_url
from config.kiosk import KioskSettings
from config.models import (
    ExtractionSettings,
    GenerationSettings,
    LanguageSettings,
    ModelSettings,
    RoleSettings,
    ScoringSettings,
    checked_key,
)
from config.speech import SpeechSettings
from config.voice import VoiceSettings
from pipeline.calls import Role
from pipeline.concept import PipelineSettings

PREFIX = "ASKWELL_"
TOML_NAME = "askwell.toml"
SHORTEST_TOKEN = 32
"""Characters of a configured token."""
ROLES: tuple[Role, ...] = ("extraction", "scoring", "generation")


class SettingsError(Exception):
    """A setting can't be used; the message says which, where it came from and why."""


def default_data_dir() -> Path:
    """Where data go when nothing is said: the user's data directory of this platform. Raises SettingsError."""
    base = os.environ.get("XDG_DATA_HOME")
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "askwell"
        return (Path(base) if base else Path.home() / ".local" / "share") / "askwell"
    except RuntimeError as exc:
        raise SettingsError("this user has no home directory; say where data go with --data or ASKWELL_DATA") from exc


class ServerSettings(Group):
    """Where the server listens and whom it lets in."""

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Processes that serve the port together, one per core at the most; they share what is loaded. "
        "More than one needs Linux, and no kiosk.",
    )
    public_url: str | None = Field(
        default=None,
        description="How people reach the server, such as `https://ask.example.org`; made of host and port if not set.",
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(),
        description="Further origins whose pages may talk to the server; its own is always allowed. `*` allows all.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Further host names to answer under; on loopback only its own names work. `*` allows all.",
    )
    open_enrolment: bool | None = Field(
        default=None,
        description="Whether anyone may start an interview; if not set, only where the address is a loopback one.",
    )
    open_concepts: bool | None = Field(
        default=None,
        description="Whether anyone may list all concepts and methodologies; if not set, only where enrolment is open. "
        "Elsewhere it takes a token, and others see the concepts that anyone may start.",
    )
    open_metrics: bool | None = Field(
        default=None,
        description="Whether anyone may read `/metrics`; if not set, only where enrolment is open. Elsewhere it takes "
        "`ASKWELL_METRICS_TOKEN` or a moderator's token.",
    )
    open_readiness: bool | None = Field(
        default=None,
        description="Whether `/readyz` tells anyone what is wrong; if not set, only where enrolment is open. Elsewhere "
        "it tells that to moderators, and others only whether the process is ready.",
    )
    moderator_token: SecretStr | None = Field(
        default=None,
        description="Token of the moderator, 32 characters or more; if not set, one is made, kept in the data "
        "directory and printed at start.",
    )
    metrics_token: SecretStr | None = Field(
        default=None, description="Token with which `/metrics` can be read, and nothing else; 32 characters or more."
    )
    forwarded_allow_ips: str = Field(
        default="127.0.0.1", description="Proxies whose `X-Forwarded-*` headers are believed, separated by commas."
    )

    @field_validator("host")
    @classmethod
    def _name_possible(cls, host: str) -> str:
        try:
            host.encode("idna")
        except UnicodeError as exc:
            raise ValueError("not a host name: a part between dots has 1 to 63 characters") from exc
        return host

    @field_validator("public_url")
    @classmethod
    def _is_url(cls, url: str | None) -> str | None:
        if url is not None:
            check_url(url, ["http", "https"], "https://ask.example.org")
        return url

    @field_validator("moderator_token", "metrics_token")
    @classmethod
    def _hard_to_guess(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and len(token.get_secret_value()) < SHORTEST_TOKEN:
            raise ValueError(
                f"too short: a token has {SHORTEST_TOKEN} characters or more, so that nobody guesses it; "
                "`openssl rand -hex 24` makes one"
            )
        return token

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @property
    def enrolment_open(self) -> bool:
        """Whether anyone may start an interview, where a concept does not say otherwise."""
        return self.loopback if self.open_enrolment is None else self.open_enrolment

    @property
    def concepts_open(self) -> bool:
        """Whether anyone may list all concepts and methodologies."""
        return self.enrolment_open if self.open_concepts is None else self.open_concepts

    @property
    def metrics_open(self) -> bool:
        """Whether anyone may read the metrics."""
        return self.enrolment_open if self.open_metrics is None else self.open_metrics

    @property
    def readiness_open(self) -> bool:
        """Whether anyone is told what a process that is not ready lacks."""
        return self.enrolment_open if self.open_readiness is None else self.open_readiness


class StorageSettings(Group):
    """Where sessions live while they run, and where they are kept."""

    data: Path = Field(default_factory=default_data_dir, description="Data directory.")
    config_dir: Path | None = Field(
        default=None,
        description="Directory with your own `concepts/`, `methodologies/`, `prompts/`, `texts/` and `prices.yaml`, "
        "over those that come along.",
    )
    redis_url: SecretStr | None = Field(
        default=None, description="Redis or Valkey to use instead of the embedded one, such as `redis://host:6379/0`."
    )
    database_url: SecretStr | None = Field(
        default=None, description="Database instead of `askwell.db` in the data directory, as an SQLAlchemy async URL."
    )
    wait_replicas: int = Field(
        default=0, ge=0, description="Replicas of an external Redis that must have a write before it counts (`WAIT`)."
    )
    wait_aof: int = Field(
        default=0,
        ge=0,
        le=1,
        description="1 if an external Redis must have synced a write to disk before it counts (`WAITAOF`).",
    )
    wait_timeout_ms: int = Field(
        default=1000, ge=1, description="How long to wait for replicas or disk, in milliseconds."
    )
    hot_ttl_s: int = Field(
        default=86_400, ge=60, description="How long a stored session stays in Redis after its last turn, in seconds."
    )

    @field_validator("config_dir")
    @classmethod
    def _directory_there(cls, path: Path | None) -> Path | None:
        if path is None:
            return None
        path = _expanded(path)
        if not path.is_dir():
            raise ValueError(f"{path} is not a directory")
        return path

    @field_validator("redis_url")
    @classmethod
    def _redis_url_usable(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            check_url(url.get_secret_value(), "redis rediss unix".split(), "redis://host:6379/0")
        return url

    @field_validator("database_url")
    @classmethod
    def _database_url_usable(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            check_url(url.get_secret_value(), None, "postgresql+asyncpg://user:password@host:5432/name")
        return url


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as exc:
        raise ValueError(f"{path}: there is no user of that name") from exc


class LogSettings(Group):
    """What is logged, and how."""

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important lines that are logged."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="`json`, `console`, or console on a terminal and JSON elsewhere."
    )
    log_pii: bool = Field(default=False, description="Whether what respondents say may appear in the log.")
    log_loop_held_ms: int = Field(
        default=100,
        ge=0,
        description="How long the event loop may be held, in milliseconds, before what holds it is logged "
        "(`loop.held`); 0 logs nothing.",
    )


class Settings(Group):
    """All settings, in groups; their flat names are those of the fields, with the role in front for the roles."""

    server: ServerSettings = ServerSettings()
    storage: StorageSettings = Field(default_factory=StorageSettings)
    sessions: SessionSettings = SessionSettings()
    limits: LimitSettings = LimitSettings()
    language: LanguageSettings = LanguageSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    scoring: ScoringSettings = ScoringSettings()
    generation: GenerationSettings = GenerationSettings()
    models: ModelSettings = ModelSettings()
    speech: SpeechSettings = SpeechSettings()
    voice: VoiceSettings = VoiceSettings()
    kiosk: KioskSettings = KioskSettings()
    alerts: AlertSettings = AlertSettings()
    logs: LogSettings = LogSettings()
    pipeline: PipelineSettings = PipelineSettings()

    def role(self, name: Role) -> RoleSettings:
        """Settings of a role."""
        found = getattr(self, name)
        assert isinstance(found, RoleSettings)
        return found


@dataclass(frozen=True)
class Setting:
    """One setting as an operator sees it."""

    name: str
    group: str
    field: str
    info: FieldInfo

    @property
    def env(self) -> str:
        """Its environment variable: the providers' keys have the names that the providers gave them."""
        return ("" if self.is_shared else PREFIX) + self.name.upper()

    @property
    def is_shared(self) -> bool:
        """Whether other programs know its variable as well."""
        return self.group == "models" and self.name.endswith("_api_key")

    @property
    def secret(self) -> bool:
        """Whether it may be read from a file named by its `_FILE` variable."""
        return SecretStr in (self.info.annotation, *get_args(self.info.annotation))

    @property
    def is_list(self) -> bool:
        """Whether its value is a list (separated by commas in the environment)."""
        return "tuple" in str(self.info.annotation)


def catalogue() -> Iterator[Setting]:
    """Every setting there is, in the order of the documentation."""
    for group, outer in Settings.model_fields.items():
        model = outer.annotation
        assert isinstance(model, type)
        assert issubclass(model, BaseModel)
        for name, info in model.model_fields.items():
            yield Setting(f"{group}_{name}" if group in ROLES else name, group, name, info)


@dataclass(frozen=True)
class Loaded:
    """Settings, and what was odd about where they came from."""

    settings: Settings
    warnings: tuple[str, ...] = ()


def load(environment: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None) -> Loaded:
    """The settings of this process.

    Args:
        environment: `os.environ` if not given.
        overrides: from the command line, by flat name; None values do not count.
    Raises:
        SettingsError: a value can't be used, a file can't be read, or `askwell.toml` has an unknown key.
    """
    env = os.environ if environment is None else environment
    known = {setting.name: setting for setting in catalogue()}
    given: dict[str, tuple[Any, str]] = {}
    warnings: list[str] = []
    for name, (value, origin) in _from_environment(env, known, warnings).items():
        given[name] = (value, origin)
    for name, value in (overrides or {}).items():
        if value is not None:
            given[name] = (value, f"--{name.replace('_', '-')}")
    try:
        data = _expanded(Path(given["data"][0])) if "data" in given else default_data_dir()
    except ValueError as exc:
        raise SettingsError(f"{given['data'][1]}: {exc}") from exc
    toml = data / TOML_NAME
    for name, value in _from_toml(toml, known).items():
        given.setdefault(name, (value, f"{toml}: {name}"))
    given["data"] = (data, given["data"][1] if "data" in given else "default")
    settings = _build(given, known)
    return Loaded(settings, (*warnings, *_without_effect(settings, given)))


def _without_effect(settings: Settings, given: Mapping[str, tuple[Any, str]]) -> Iterator[str]:
    for role in ROLES:
        if settings.role(role).provider == "offline":
            for name in ("model", "base_url", "api_key"):
                value, origin = given.get(f"{role}_{name}", (None, ""))
                if value is not None:
                    yield f"{origin} has no effect: {PREFIX}{role.upper()}_PROVIDER is `offline`"


def _from_environment(
    env: Mapping[str, str], known: Mapping[str, Setting], warnings: list[str]
) -> dict[str, tuple[Any, str]]:
    by_env = {setting.env: setting for setting in known.values()}
    found: dict[str, tuple[Any, str]] = {}
    shared = {setting.env + suffix for setting in known.values() if setting.is_shared for suffix in ("", "_FILE")}
    for variable in sorted(name for name in env if name.startswith(PREFIX) or name in shared):
        raw = env[variable]
        setting = by_env.get(variable)
        if setting is not None:
            problem = _unusable_key(raw) if setting.is_shared else None
            if problem is not None:
                warnings.append(f"{variable}: {problem}; it is ignored")
            elif raw != "":
                found[setting.name] = (_split(raw) if setting.is_list else raw, variable)
            continue
        owner = by_env.get(variable.removesuffix("_FILE"))
        if variable.endswith("_FILE") and owner is not None and owner.secret:
            if raw != "" and not env.get(owner.env):
                try:
                    secret = _read_secret(Path(raw), variable)
                    problem = _unusable_key(secret) if owner.is_shared else None
                    if problem is not None:
                        raise SettingsError(f"{variable}: {problem}")
                    found[owner.name] = (secret, variable)
                except SettingsError as exc:
                    if not owner.is_shared:
                        raise
                    warnings.append(f"{exc}; it is ignored")
            continue
        near = difflib.get_close_matches(variable, by_env, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        warnings.append(f"{variable} is not a setting of askwell and is ignored{hint}")
    return found


def _unusable_key(raw: str) -> str | None:
    """Why a key that may be meant for another program can't be used; nothing if it can."""
    try:
        checked_key(SecretStr(raw))
    except ValueError as exc:
        return str(exc)
    return None


def _split(raw: str) -> list[str]:
    return [part.strip() for part in raw.split(",") if part.strip()]


def _read_secret(path: Path, variable: str) -> str:
    try:
        secret = path.expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"{variable}: {path} can't be read: {exc}") from exc
    if not secret:
        raise SettingsError(f"{variable}: {path} is empty")
    return secret


def _from_toml(path: Path, known: Mapping[str, Setting]) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"{path} can't be read: {exc}") from exc
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{path}: {exc}") from exc
    for key in data:
        if key == "data":
            raise SettingsError(
                f"{path}: data: the data directory can't be set by a file inside it; use --data or ASKWELL_DATA"
            )
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise SettingsError(f"{path}: {key}: unknown setting{hint}")
    return data


def _build(given: Mapping[str, tuple[Any, str]], known: Mapping[str, Setting]) -> Settings:
    groups: dict[str, dict[str, Any]] = {}
    for name, (value, _) in given.items():
        setting = known[name]
        groups.setdefault(setting.group, {})[setting.field] = value
    try:
        return Settings.model_validate(groups)
    except ValidationError as exc:
        raise SettingsError("; ".join(_problem(error, given, known) for error in exc.errors())) from exc


def _problem(error: Any, given: Mapping[str, tuple[Any, str]], known: Mapping[str, Setting]) -> str:
    location = [str(part) for part in error["loc"]]
    reason = str(error["msg"]).removeprefix("Value error, ")
    field = location[1] if len(location) > 1 else "provider"
    for setting in known.values():
        if setting.group == location[0] and setting.field == field and setting.name in given:
            origin = given[setting.name][1]
            shown = "" if setting.secret or error["type"] == "value_error" else f" (got {error['input']!r})"
            return f"{origin}: {reason}{shown}"
    return f"{'.'.join(location)}: {reason}"

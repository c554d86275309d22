"""Settings of language: local models, the three roles, language models in general, the providers' keys."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from config.group import Group, check_url
from pipeline.concept import Effort, FailurePolicy, ProviderName, StructuredOutput

Temperature = float | Literal["unset"]


class LanguageSettings(Group):
    """What understands and measures text on this machine."""

    embedder: Literal["onnx", "sentence-transformers"] = Field(
        default="onnx",
        description="Sentence embeddings: the packaged ONNX model, or any model of the `sentence-transformers` extra.",
    )
    embedder_model: str = Field(
        default="sentence-transformers/all-MiniLM-L6-v2",
        description="Model of the sentence-transformers embedder, by name or path.",
    )
    reader: Literal["trained", "rules"] = Field(
        default="trained",
        description="What judges answers offline: the trained reader together with the rules, or the `rules` alone, "
        "which hear and understand much less.",
    )
    spacy_model: str | None = Field(
        default=None, description="spaCy model by name; if not set, the best one that is installed."
    )
    language_threads: int = Field(default=2, ge=1, le=64, description="Threads for parsing and embedding.")


class RoleSettings(Group):
    """Who does one of the language tasks, and how a model is asked."""

    provider: ProviderName = Field(
        default="offline", description="Who does it: `offline` on this machine, or whose language model."
    )
    model: str | None = Field(
        default=None, description="Model, by the provider's name for it; needed unless the provider is `offline`."
    )
    base_url: str | None = Field(
        default=None,
        description="Address of the API, such as `http://127.0.0.1:8000/v1`; the provider's own if not set. "
        "`openai_compatible` has none of its own.",
    )
    api_key: SecretStr | None = Field(
        default=None, description="Key for the API; the provider's key if not set. `openai_compatible` may do without."
    )
    temperature: Temperature = Field(
        default=0.3, description="Sampling temperature, 0 to 2; `unset` for models that refuse it."
    )
    max_tokens: int = Field(default=1024, ge=1, le=200_000, description="Longest answer, in tokens.")
    deadline_s: float = Field(
        default=30.0,
        gt=0,
        le=600,
        description="Longest time for one call, its retry included, in seconds; the first try has 60 % of it.",
    )
    effort: Effort | None = Field(
        default=None, description="Reasoning effort, where the model has it; left out if not set."
    )
    structured_output: StructuredOutput = Field(
        default="auto",
        description="How the model is made to answer in a form: by a JSON schema, a tool call, JSON mode or by asking; "
        "`auto` takes what the provider has.",
    )

    @field_validator("model", "base_url")
    @classmethod
    def _blank_is_nothing(cls, text: str | None) -> str | None:
        return (text or "").strip() or None

    @field_validator("base_url")
    @classmethod
    def _base_url_usable(cls, url: str | None) -> str | None:
        return None if url is None else checked_base_url(url)

    @field_validator("api_key")
    @classmethod
    def _key_sendable(cls, key: SecretStr | None) -> SecretStr | None:
        return checked_key(key)

    @field_validator("temperature", mode="before")
    @classmethod
    def _temperature_possible(cls, value: Any) -> Any:
        if value == "unset":
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError("should be a number from 0 to 2, or `unset`") from None
        if isinstance(value, bool) or not 0 <= number <= 2:
            raise ValueError("should be a number from 0 to 2, or `unset`")
        return number


class ExtractionSettings(RoleSettings):
    """Who finds concepts and relations in answers."""

    max_tokens: int = Field(default=2048, ge=1, le=200_000, description="Longest answer, in tokens.")


class ScoringSettings(RoleSettings):
    """Who rates answers and names slots."""


class GenerationSettings(RoleSettings):
    """Who writes questions."""

    temperature: Temperature = Field(
        default=0.7, description="Sampling temperature, 0 to 2; `unset` for models that refuse it."
    )


class ModelSettings(Group):
    """What goes for all language models, and the providers' keys."""

    on_llm_failure: FailurePolicy = Field(
        default="fail",
        description="When a language model fails: let the turn fail, so that it can be tried again, or have the "
        "offline provider do that task, which is marked as `fallback`.",
    )
    opening_temperature: Temperature = Field(
        default=0.9,
        description="Sampling temperature of opening questions, 0 to 2; `unset` for that of the other questions.",
    )
    anthropic_api_key: SecretStr | None = Field(default=None, description="Key of Anthropic, for roles without one.")
    openai_api_key: SecretStr | None = Field(default=None, description="Key of OpenAI, for roles without one.")
    kimi_api_key: SecretStr | None = Field(default=None, description="Key of Kimi, for roles without one.")
    deepseek_api_key: SecretStr | None = Field(default=None, description="Key of DeepSeek, for roles without one.")

    @field_validator("opening_temperature", mode="before")
    @classmethod
    def _temperature_possible(cls, value: Any) -> Any:
        return RoleSettings._temperature_possible(value)

    @field_validator("anthropic_api_key", "openai_api_key", "kimi_api_key", "deepseek_api_key")
    @classmethod
    def _key_sendable(cls, key: SecretStr | None) -> SecretStr | None:
        return checked_key(key)


def checked_base_url(url: str) -> str:
    """The address of an API without a trailing slash.

    Raises:
        ValueError: it is no http(s) URL with a host, or has parts that do not belong there; the message does not
            repeat it.
    """
    check_url(url, ["http", "https"], "https://api.example.org/v1")
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError("not a URL such as https://api.example.org/v1")
    if not url.isascii() or any(character.isspace() for character in url):
        raise ValueError("has characters that can't be part of an address")
    if parts.username is not None or parts.password is not None:
        raise ValueError("holds a user name or password; a key belongs into the setting of keys")
    if parts.query or parts.fragment:
        raise ValueError("should end with the path, without `?` or `#`")
    plain = url.rstrip("/")
    for suffix in ("/chat/completions", "/messages", "/completions"):
        if plain.endswith(suffix):
            raise ValueError(f"should end before `{suffix}`, which is added")
    return plain


def checked_key(key: SecretStr | None) -> SecretStr | None:
    """A key without blanks around it, None for nothing. Raises ValueError, without repeating it."""
    if key is None:
        return None
    text = key.get_secret_value().strip()
    if not text:
        return None
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("has characters that no key has")
    return SecretStr(text)

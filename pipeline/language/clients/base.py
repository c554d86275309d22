"""Requests to language models and their answers, in a form that is the same for every provider."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import Field, SecretStr

from pipeline.calls import Role
from pipeline.records import Record

ProviderName = Literal["anthropic", "openai", "kimi", "deepseek", "openai_compatible"]
Effort = Literal["minimal", "low", "medium", "high"]
StructuredOutput = Literal["auto", "json_schema", "tool", "json_object", "none"]
"""How a provider is told the form of an answer: as a JSON schema, as a tool, by JSON mode, or in the prompt only."""


@dataclass(frozen=True, slots=True)
class RoleModel:
    """The model of one role, with its parameters and address.

    Args:
        role: the role.
        provider: decides on the wire format and the defaults.
        model: its name, as the provider knows it.
        base_url: of the API, without a trailing slash; `/messages` or `/chat/completions` is added.
        api_key: None where none is needed.
        temperature: None leaves the parameter out, for models that refuse it.
        max_tokens: longest answer, in tokens.
        deadline_s: longest time for one call, its retry included, in seconds; the first try gets 60 % of it.
        effort: reasoning effort, where the model has it; None leaves it out.
        structured: how structured output is asked for.
        key_setting: the setting or variable where the key came from or would be looked for, for messages.
    """

    role: Role
    provider: ProviderName
    model: str
    base_url: str
    api_key: SecretStr | None = None
    temperature: float | None = None
    max_tokens: int = 1024
    deadline_s: float = 30.0
    effort: Effort | None = None
    structured: StructuredOutput = "auto"
    key_setting: str = ""

    def setting(self, name: str) -> str:
        """The environment variable of one of this role's settings: `setting("model")` → ASKWELL_SCORING_MODEL."""
        return f"ASKWELL_{self.role.upper()}_{name.upper()}"


class ChatMessage(Record):
    """One message of a conversation with a model."""

    speaker: Literal["user", "assistant"]
    content: str = Field(repr=False)


class OutputForm(Record):
    """The form a structured answer must have: an object of this JSON schema."""

    name: str
    description: str
    json_schema: dict[str, Any]


class ChatRequest(Record):
    """One request. `temperature` and `max_tokens` replace those of the role where they are given.

    Where the temperature of the role is None, none is sent, whatever a request has. Prompts and answers are left out of
    `repr`, and so out of log lines and tracebacks: they hold what respondents say.
    """

    task: str
    system: str = Field(repr=False)
    messages: tuple[ChatMessage, ...] = Field(repr=False)
    form: OutputForm | None = Field(default=None, repr=False)
    temperature: float | None = None
    max_tokens: int | None = None


class Completion(Record):
    """The answer of a model.

    `data` is the JSON object of a structured answer, None when the answer holds none or an incomplete one;
    `text` is then the answer as it came. `stop` says why it ended.
    """

    text: str = Field(default="", repr=False)
    data: dict[str, Any] | None = Field(default=None, repr=False)
    stop: Literal["end", "length", "refusal", "other"] = "end"


class ChatClient(Protocol):
    """The client of one role. Every try is observed and recorded (`pipeline.calls`), also one that fails."""

    @property
    def spec(self) -> RoleModel:
        """The model, with its parameters and address."""
        ...

    async def complete(self, request: ChatRequest) -> Completion:
        """The whole answer.

        Raises:
            LLMTimeout, LLMRateLimited, LLMUnavailable: also after the one retry.
            LLMRejected: the provider refused the request; the message names the setting to look at.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[str]:
        """The answer in pieces, as they come; errors as `complete`, from the iterator.

        There is one retry before the first piece and none after it. Close the iterator (`aclosing`) to stop early.
        """
        ...

"""What a language model is asked and answers, whoever's it is."""

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
"""How a model is made to answer in a form: by a JSON schema, by a tool call, by JSON mode, or by asking for it."""


@dataclass(frozen=True, slots=True)
class RoleModel:
    """Which model does a role, and how it is asked.

    Args:
        role: the role.
        provider: whose format is spoken, and whose defaults apply.
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
    """What a model is asked. `temperature` and `max_tokens` stand for the role's where given.

    A role whose temperature is None is sent none, whatever a request says. Prompts and answers are left out of `repr`,
    and so out of log lines and tracebacks: they hold what respondents say.
    """

    task: str
    system: str = Field(repr=False)
    messages: tuple[ChatMessage, ...] = Field(repr=False)
    form: OutputForm | None = Field(default=None, repr=False)
    temperature: float | None = None
    max_tokens: int | None = None


class Completion(Record):
    """What a model answered.

    `data` is the JSON object of a structured answer, None when there was none or it could not be read (prose, cut in
    half); `text` is then what came instead. `stop` says why it ended.
    """

    text: str = Field(default="", repr=False)
    data: dict[str, Any] | None = Field(default=None, repr=False)
    stop: Literal["end", "length", "refusal", "other"] = "end"


class ChatClient(Protocol):
    """One role's model. Every try is observed and recorded (`pipeline.calls`), also one that fails."""

    @property
    def spec(self) -> RoleModel:
        """Which model, and how it is asked."""
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

"""Why a try failed: a sentence for people that names the setting to look at, and whether a retry may help.

Faults are values and the exceptions made from them have neither cause nor context: exceptions of the HTTP library hold
requests, and requests hold keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal

from pipeline.errors import LLMRateLimited, LLMRejected, LLMTimeout, LLMUnavailable, ProviderError
from pipeline.language.clients.base import RoleModel
from pipeline.language.clients.redaction import shown, shown_url

_QUOTE = re.compile(r' It said: "(.*)"\.', re.DOTALL)
_NO_WORD = re.compile(r"[\W_]+")
ECHO: Final = 20
"""Length in characters from which text that a quote shares with the request counts as a repetition of it."""

Kind = Literal["timeout", "rate_limit", "error", "rejected"]

FORM: Final = "structured_output"
HINTS: Final[tuple[tuple[str, str], ...]] = (
    (
        r"response_format|json_schema|output_config\.format|output_format|input_schema|tool_choice|\btools?\b",
        FORM,
    ),
    (r"temperature", "temperature"),
    (r"effort|reasoning|thinking", "effort"),
    (r"max_(?:completion_)?tokens|maximum context|context (?:length|size|window)|too long", "max_tokens"),
    (r"\bmodel\b", "model"),
)
"""Patterns of refusals, each with the setting to look at; the first that matches counts."""

NAMES: Final = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "kimi": "Kimi",
    "deepseek": "DeepSeek",
    "openai_compatible": "The language model server",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a try failed.

    Args:
        error: the exception to raise if there is no retry.
        message: one line for people, without secrets.
        kind: the kind of failure, for logs and the circuit breaker.
        retryable: whether a retry may help.
        status: the HTTP status, if there was an answer.
        wait_s: pause that the provider asked for, in seconds.
    """

    error: type[ProviderError]
    message: str
    kind: Kind
    retryable: bool
    status: int | None = None
    wait_s: float | None = None

    @property
    def is_outage(self) -> bool:
        """Whether the circuit breaker counts it as a failure of the provider."""
        return self.kind in ("timeout", "error")


class TryFailed(Exception):
    """Raised inside this package in place of the errors of the HTTP library; carries a fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def secret_of(spec: RoleModel) -> str | None:
    """The key as sent, None where there is none."""
    key = spec.api_key.get_secret_value().strip() if spec.api_key is not None else ""
    return key or None


def timed_out(spec: RoleModel, waited_s: float) -> Fault:
    """No answer in time."""
    return Fault(
        LLMTimeout,
        f"{_who(spec)} did not answer within {waited_s:.3g} s. If it needs longer, raise {spec.setting('deadline_s')} "
        f"(now {spec.deadline_s:g}).",
        "timeout",
        retryable=True,
    )


def unreachable(spec: RoleModel, reason: str) -> Fault:
    """The connection could not be made or was lost."""
    return Fault(
        LLMUnavailable, f"{_who(spec)} can't be reached: {_said(spec, reason)}. {_check_url(spec)}", "error", True
    )


def invalid_address(spec: RoleModel, reason: str) -> Fault:
    """The base URL is not valid."""
    return Fault(
        LLMRejected, f"{_who(spec)} can't be asked: {_said(spec, reason)}. {_check_url(spec)}", "rejected", False
    )


def invalid_key(spec: RoleModel) -> Fault:
    """The key has characters that a header can't have."""
    return Fault(
        LLMRejected,
        f"The key for {_who(spec, inside=True)} has characters that no key has. Check {_key(spec)}.",
        "rejected",
        retryable=False,
    )


def refused_to_answer(spec: RoleModel) -> Fault:
    """The model refused to answer."""
    return Fault(
        LLMRejected,
        f"{_who(spec)} refused to answer. Another model may not: {spec.setting('model')}.",
        "rejected",
        retryable=False,
    )


def not_in_format(spec: RoleModel, text: str) -> Fault:
    """The status was 200, but the body does not have the format."""
    return Fault(
        LLMUnavailable,
        f"{_who(spec)} answered something that is not its format: {_said(spec, text)}. {_check_url(spec)}",
        "error",
        retryable=True,
        status=200,
    )


def broken_off(spec: RoleModel, text: str) -> Fault:
    """The answer is incomplete, or longer than allowed.

    Args:
        spec: the model that was asked.
        text: predicate of the sentence, such as "broke off before its end".
    """
    return Fault(
        LLMUnavailable, f"The answer of {_who(spec, inside=True)} {text}.", "error", retryable=True, status=200
    )


def circuit_open(spec: RoleModel, wait_s: float) -> Fault:
    """The circuit breaker is open."""
    when = f"is not asked again for {max(1, round(wait_s))} s" if wait_s > 0 else "is being tried by another call"
    return Fault(
        LLMUnavailable,
        f"{_who(spec)} failed several times in a row and {when}. {_check_url(spec)}",
        "rejected",
        retryable=False,
    )


def from_status(spec: RoleModel, status: int, text: str, wait_s: float | None = None) -> Fault:
    """A status other than 2xx, or an error in a stream that corresponds to one.

    Args:
        spec: the model that was asked.
        status: the HTTP status.
        text: the body, or the provider's message.
        wait_s: pause that the provider asked for, in seconds.
    """
    said = _said(spec, _message(text))
    who, quote = f"{_who(spec)}", f' It said: "{said}".' if said else ""
    if status == 429:
        exhausted = "insufficient_quota" in text or "exceeded_current_quota" in text
        advice = "Its quota is used up: check the account." if exhausted else "Check the limits of the account."
        return Fault(
            LLMRateLimited,
            f"{who} asked to slow down (429). {advice}{quote}",
            "rate_limit",
            not exhausted,
            status,
            wait_s,
        )
    if status >= 500 or status == 408:
        what = "is overloaded" if status == 529 else "failed"
        # Some servers fail where they should refuse a form of answer that they don't know.
        advice = f" Check {spec.setting(FORM)}." if _hint(text) == FORM else ""
        return Fault(LLMUnavailable, f"{who} {what} ({status}).{advice}{quote}", "error", True, status, wait_s)
    return Fault(LLMRejected, f"{who} {_refusal(spec, status, text)}{quote}", "rejected", False, status)


def retry_after_s(headers: dict[str, str], now: float) -> float | None:
    """The pause that a response asks for, in seconds, at least 0; None where it asks for none.

    It is in `retry-after-ms`, or in `retry-after` as seconds or a date.

    Args:
        headers: of the response, names in lower case.
        now: seconds since 1970.
    """
    try:
        if "retry-after-ms" in headers:
            return _reasonable(float(headers["retry-after-ms"]) / 1000)
    except ValueError:
        pass
    value = headers.get("retry-after", "").strip()
    try:
        return _reasonable(float(value))
    except ValueError:
        pass
    try:
        return _reasonable(parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _reasonable(seconds: float) -> float | None:
    return None if seconds != seconds else max(0.0, seconds)


def _refusal(spec: RoleModel, status: int, text: str) -> str:
    if status in (401, 403):
        have = "refused the key" if secret_of(spec) else "requires a key"
        return f"{have} ({status}). Check {_key(spec)}."
    if status == 402:
        return f"requires payment ({status}). Check the account that {_key(spec)} belongs to."
    if status == 404:
        model = f"{spec.setting('model')} (now {shown(spec.model, secret_of(spec))!r})"
        return f"has no such model or address ({status}). Check {model}, then {_url(spec)}."
    if status == 405 or 300 <= status < 400 or status < 200:
        return f"does not accept requests at this address ({status}). {_check_url(spec)}"
    hint = _hint(text)
    advice = f"Check {spec.setting(hint)}." if hint else f"Check {spec.setting('model')} and the settings beside it."
    return f"refused the request ({status}). {advice}"


def _hint(text: str) -> str | None:
    """The setting to look at, by what was said; None where nothing points to one."""
    return next((setting for pattern, setting in HINTS if re.search(pattern, text, re.IGNORECASE)), None)


def without_echo(fault: Fault, texts: Iterable[str]) -> Fault:
    """The fault without the provider's message where that repeats the request, which may hold a respondent's answer.

    Args:
        fault: why a try failed.
        texts: of the messages in the request.
    """
    found = _QUOTE.search(fault.message)
    if found is None:
        return fault
    quote, sent = _comparable(found[1]), _comparable(" ".join(texts))
    echoes = any(quote[at : at + ECHO] in sent for at in range(max(1, len(quote) - ECHO + 1)))
    if len(quote) < ECHO or not echoes:
        return fault
    told = _QUOTE.sub(" What it said repeats the question and is left out.", fault.message)
    return replace(fault, message=told)


def _comparable(text: str) -> str:
    return _NO_WORD.sub(" ", text).casefold().strip()


def _message(text: str) -> str:
    """The error message in a body, or all of it where it has none."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for key in ("error", "message", "detail", "msg"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    if isinstance(value, list):
        value = [{key: part[key] for key in ("loc", "msg") if key in part} for part in value if isinstance(part, dict)]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _who(spec: RoleModel, *, inside: bool = False) -> str:
    name = NAMES[spec.provider]
    if inside and name.startswith("The "):
        name = "t" + name[1:]
    return f"{name} ({spec.role}, model {shown(spec.model, secret_of(spec))})"


def _said(spec: RoleModel, text: str) -> str:
    return shown(text, secret_of(spec)).rstrip(". ")


def _key(spec: RoleModel) -> str:
    return spec.key_setting or spec.setting("api_key")


def _url(spec: RoleModel) -> str:
    return f"{spec.setting('base_url')} (now {shown_url(spec.base_url)})"


def _check_url(spec: RoleModel) -> str:
    return f"Check {_url(spec)}."

"""Structured output of language models: validated, and repaired once by the model when it is invalid."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import ValidationError

from pipeline.errors import ProviderOutputInvalid
from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest, Completion, RoleModel
from pipeline.language.prompted.delimiting import block, quoted
from pipeline.language.prompted.prompts import Prompts

T = TypeVar("T")
Validator = Callable[[dict[str, Any]], T]

MAX_ECHO_CHARS = 6000
"""Characters of an invalid answer that the repair prompt repeats."""
MAX_ERRORS = 8
_OPENING = re.compile(r'\{(?=\s*["}])')
"""Where an object begins, other than braces in prose. What is inside a broken object is never taken for the whole."""
_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


class OutputProblem(ValueError):
    """A model's output breaks the agreed form; the message says where, never what a respondent said."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


async def ask(
    client: ChatClient,
    request: ChatRequest,
    validator: Validator[T],
    prompts: Prompts,
    *,
    last_resort: Validator[T] | None = None,
    seed: int = 0,
) -> T:
    """A validated answer.

    Args:
        client: the role's model.
        request: with `form`, and one user message.
        validator: returns the answer as it is used; raises OutputProblem or pydantic.ValidationError.
        prompts: for the repair.
        last_resort: takes the place of `validator` for the repaired answer; may ask for less.
        seed: the session's.
    Raises:
        ProviderOutputInvalid: the model refused, or its answer breaks the form also after one repair.
        ProviderError: as the client raises it.
    """
    first = await client.complete(request)
    try:
        return _validated(first, validator, client.spec, request.task)
    except OutputProblem as problem:
        again = await client.complete(_repair(request, first, problem, prompts, seed))
        try:
            return _validated(again, last_resort or validator, client.spec, request.task)
        except OutputProblem as left:
            raise ProviderOutputInvalid(_failure_message(client.spec, request.task, again, left)) from left


def json_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text: alone, in a code fence, or with prose around; none when it is broken."""
    text = _THOUGHT.sub("", text)
    opening = _OPENING.search(text)
    if opening is None:
        return None
    try:
        found, _end = json.JSONDecoder(parse_constant=_no_constant).raw_decode(text, opening.start())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _validated(completion: Completion, validator: Validator[T], spec: RoleModel, task: str) -> T:
    if completion.stop == "refusal":
        raise ProviderOutputInvalid(
            f"The model `{spec.model}` refused the task `{task}`; another one can be set by {spec.setting('model')}."
        )
    data = completion.data if completion.data is not None else json_object(completion.text)
    if data is None:
        if completion.stop == "length":
            raise OutputProblem("the answer was cut off before its end")
        raise OutputProblem("there is no JSON object" if completion.text.strip() else "the answer is empty")
    try:
        return validator(data)
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_context=False, include_input=False)
        raise OutputProblem(*(_error_line(error["loc"], error["msg"]) for error in errors[:MAX_ERRORS])) from exc


def _error_line(location: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part) for part in location)
    return f"{where}: {message}" if where else message


def _repair(
    request: ChatRequest, first: Completion, problem: OutputProblem, prompts: Prompts, seed: int
) -> ChatRequest:
    """The same request with the broken answer and what is wrong with it, all in one message."""
    said = first.text or (json.dumps(first.data, ensure_ascii=False) if first.data is not None else "")
    rendered = prompts.render(
        "repair",
        {
            "system": request.system,
            "user": request.messages[-1].content,
            "output": block("output", said[:MAX_ECHO_CHARS], seed) if said.strip() else None,
            "errors": [quoted(line) for line in problem.problems[:MAX_ERRORS]],
            "truncated": first.stop == "length",
        },
    )
    messages = (*request.messages[:-1], ChatMessage(speaker="user", content=rendered.user))
    return request.model_copy(
        update={"task": f"{request.task}.repair", "system": rendered.system, "messages": messages}
    )


def _failure_message(spec: RoleModel, task: str, again: Completion, left: OutputProblem) -> str:
    if again.stop == "length":
        return (
            f"The answer of the model `{spec.model}` to the task `{task}` was cut off at {spec.max_tokens} tokens, "
            f"twice; raise {spec.setting('max_tokens')}."
        )
    return (
        f"The model `{spec.model}` did not answer the task `{task}` in the agreed form, also after one repair "
        f"({left.problems[0] if left.problems else 'no reason'}); another model can be set by "
        f"{spec.setting('model')}, another way of asking for the form by {spec.setting('structured_output')}."
    )

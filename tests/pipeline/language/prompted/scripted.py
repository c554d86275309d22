"""A language model that says what it was told to, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pipeline.language.clients.base import ChatRequest, Completion, RoleModel
from pipeline.language.prompted.prompts import Prompts
from pipeline.methodology import Methodology
from pipeline.ports import ExtractionRequest, QuestionRequest

CONFIG = Path(__file__).resolve().parents[4] / "config"
FOLDER = CONFIG / "prompts"


class ScriptedModel:
    """ChatClient whose answers come from a list; the last one is said again and again.

    An answer is an object (structured output), text, or an error that is raised.
    """

    def __init__(
        self,
        *answers: dict[str, Any] | str | Completion | Exception,
        temperature: float | None = 0.3,
        pieces: Sequence[str] = (),
    ) -> None:
        self.spec = RoleModel(
            role="extraction",
            provider="openai_compatible",
            model="scripted-1",
            base_url="http://localhost:1/v1",
            temperature=temperature,
        )
        self.requests: list[ChatRequest] = []
        self.closed = self.ended = False
        self.told = 0
        self._answers = list(answers)
        self._pieces = pieces

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        if isinstance(answer, str):
            return Completion(text=answer)
        return Completion(text=json.dumps(answer), data=answer)

    async def stream(self, request: ChatRequest) -> AsyncIterator[str]:
        self.requests.append(request)
        try:
            for piece in self._pieces:
                self.told += 1
                yield piece
            self.ended = True
            if self._answers and isinstance(self._answers[0], Exception):
                raise self._answers[0]
        finally:
            self.closed = True

    @property
    def system(self) -> str:
        """What the latest request said in its system part."""
        return self.requests[-1].system

    @property
    def user(self) -> str:
        """What the latest request said in its user part."""
        return self.requests[-1].messages[-1].content


@cache
def methodology(name: str) -> Methodology:
    """A methodology that comes with askwell."""
    return Methodology.model_validate(
        yaml.safe_load((CONFIG / "methodologies" / f"{name}.yaml").read_text(encoding="utf-8"))
    )


def texts() -> dict[str, str]:
    """The prompt files that come with askwell."""
    return {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}


@cache
def prompts() -> Prompts:
    """The prompts that come with askwell."""
    return Prompts(texts())


def extraction_request(text: str = "It is quick, so I save time in the morning.", **given: Any) -> ExtractionRequest:
    """An answer to be coded."""
    fields: dict[str, Any] = {
        "text": text,
        "utterance_id": "u1",
        "question": "What do you like about it?",
        "topic": "oat milk",
        "methodology": methodology(given.pop("name", "means_end_chain")),
        "language": "en",
        **given,
    }
    return ExtractionRequest(**fields)


def question_request(**given: Any) -> QuestionRequest:
    """A question to be written."""
    chosen = methodology("means_end_chain")
    fields: dict[str, Any] = {
        "kind": "follow_up",
        "methodology": chosen,
        "topic": "oat milk",
        "objective": "Understand why people choose oat milk.",
        "language": "en",
        "seed": 7,
        "turn_number": 3,
        "strategy": chosen.strategies[0],
        **given,
    }
    return QuestionRequest(**fields)

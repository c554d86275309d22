"""A respondent whose answers a language model words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr

from config.personas import Manner
from pipeline.language.clients.base import ChatRequest, Completion, RoleModel
from server.simulation.prompted import PromptedRespondent
from tests.server.simulation.test_respondent import PERSONA

MODEL = RoleModel("generation", "openai", "small", "http://127.0.0.1", SecretStr("k"))


class _Model:
    """Answers what it is told to."""

    spec = MODEL

    def __init__(self, *answers: Completion) -> None:
        self._answers = list(answers)
        self.asked: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Completion:
        self.asked.append(request)
        return self._answers.pop(0)

    def stream(self, request: ChatRequest) -> AsyncIterator[str]:
        raise NotImplementedError


def _pieces(*pieces: tuple[Any, Any]) -> Completion:
    return Completion(data={"pieces": [{"text": text, "idea": idea} for text, idea in pieces]})


async def test_pieces_become_an_answer_with_what_each_tells() -> None:
    model = _Model(_pieces(("Well,", None), ("it is the thick crust.", "crust"), ("", None), ("And so on.", "unknown")))
    told = await PromptedRespondent(model, PERSONA, Manner(description="Shy.")).answer("What comes to mind?")
    assert told.text == "Well, it is the thick crust. And so on."
    assert [(each.idea, told.text[each.start : each.end]) for each in told.tellings] == [
        ("crust", "it is the thick crust.")
    ]
    assert "Shy." in model.asked[0].system
    assert "have to chew" in model.asked[0].system


@pytest.mark.parametrize(
    "answer",
    [
        Completion(text="I don't want to play."),
        Completion(data={"pieces": "none"}, text="I don't want to play."),
        Completion(data={"pieces": [{"idea": "crust"}]}, text="I don't want to play."),
    ],
)
async def test_answer_out_of_form_is_taken_as_text_that_tells_nothing(answer: Completion) -> None:
    told = await PromptedRespondent(_Model(answer), PERSONA, Manner(description="Shy.")).answer("Why?")
    assert (told.text, told.tellings, told.reason) == ("I don't want to play.", (), "nothing_left")


async def test_conversation_so_far_goes_along() -> None:
    model = _Model(_pieces(("The crust.", "crust")), Completion())
    respondent = PromptedRespondent(model, PERSONA, Manner(description="Shy."))
    await respondent.answer("What?")
    assert (await respondent.answer("Why?")).text == "I don't know."
    assert [message.content for message in model.asked[1].messages] == ["What?", "The crust.", "Why?"]

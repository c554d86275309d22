"""A simulated respondent whose answers a language model words; what there is to tell stays the persona's truth."""

from __future__ import annotations

import json
from typing import Any

from config.personas import PURPOSES, Manner, Persona
from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest, OutputForm
from server.simulation.respondent import Telling, Told

TASK = "respondent"
MAX_TOKENS = 600
NOTHING = "I don't know."
SYSTEM = """You play a respondent in a research interview. You are: {title}
How you answer: {manner}

What you know is this list of ideas, each with what it brings up when somebody asks why it matters (why), how it feels
(feel), what happened next (then), what led to it (cause), or for more about it (detail). `first` is what you tell to
the first question, `more` what you tell, one at a time, when asked what else there is.

{truth}

Answer only what is asked, in the voice of a real person talking, in one to three sentences. Tell at most two ideas in
one answer, and only ideas that the question brings up by that list. Where it brings up nothing that you have not told
yet, say so as people do. Invent no other facts. Never help the interviewer, and never speak of this list."""
FORM = OutputForm(
    name="answer",
    description="The answer in pieces, in the order in which they are said.",
    json_schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["pieces"],
        "properties": {
            "pieces": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["text", "idea"],
                    "properties": {
                        "text": {"type": "string", "description": "Words as they are said."},
                        "idea": {
                            "type": ["string", "null"],
                            "description": "The id of the idea that these words tell; null for anything else.",
                        },
                    },
                },
            }
        },
    },
)


class PromptedRespondent:
    """One respondent in one interview."""

    def __init__(self, client: ChatClient, persona: Persona, manner: Manner) -> None:
        """Speak for `persona`, in that manner, by the model of `client`."""
        self._client = client
        self._known = {idea.id for idea in persona.truth}
        self._system = SYSTEM.format(title=persona.title, manner=manner.description, truth=_truth(persona))
        self._messages: list[ChatMessage] = []

    async def answer(self, question: str) -> Told:
        """What is said to a question. Raises ProviderError."""
        self._messages.append(ChatMessage(speaker="user", content=question))
        request = ChatRequest(
            task=TASK, system=self._system, messages=tuple(self._messages), form=FORM, max_tokens=MAX_TOKENS
        )
        completion = await self._client.complete(request)
        told = _told(completion.data, self._known)
        if told is None:
            told = Told(completion.text.strip() or NOTHING, reason="nothing_left")
        self._messages.append(ChatMessage(speaker="assistant", content=told.text))
        return told


def _truth(persona: Persona) -> str:
    ideas = [
        {
            "id": idea.id,
            "idea": idea.says,
            **{purpose: list(idea.told_for(purpose)) for purpose in PURPOSES if idea.told_for(purpose)},
        }
        for idea in persona.truth
    ]
    cues = [{"asked for": list(cue.words), "tells": cue.tells} for cue in persona.asked]
    whole = {"first": list(persona.first), "more": list(persona.more), "asked": cues, "ideas": ideas}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def _told(data: dict[str, Any] | None, known: set[str]) -> Told | None:
    """The answer, if it has the form that was asked for."""
    pieces = data.get("pieces") if data is not None else None
    if not isinstance(pieces, list):
        return None
    text, tellings = "", []
    for piece in pieces:
        if not isinstance(piece, dict) or not isinstance(piece.get("text"), str):
            return None
        said = " ".join(piece["text"].split())
        if not said:
            continue
        text += (" " if text else "") + said
        if piece.get("idea") in known:
            tellings.append(Telling(piece["idea"], len(text) - len(said), len(text)))
    return Told(text, tuple(tellings), reason="" if tellings else "nothing_left") if text else None

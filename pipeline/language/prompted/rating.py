"""Ratings of an answer by a language model and the rubrics: one call per answer.

{"response_depth": {"rationale": "…", "score": 4}, …,
 "hedging_language": {"rationale": "…", "level": "low"}, "momentum": {"rationale": "…", "level": "high"},
 "qualitative": {"uncertainty": "none", "reasoning": "causal", "emotion": "mild", "contradiction": "",
                 "turning_point": "", "knowledge_ceiling": "none", "concept_depth": "functional"}}
"""

from __future__ import annotations

import math
import re
from typing import Any, cast, get_args

from pipeline.acts import ACTS, Act
from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest, OutputForm
from pipeline.language.prompted.delimiting import block, clean, conversation, quoted
from pipeline.language.prompted.grounding import AnswerText
from pipeline.language.prompted.languages import language_name
from pipeline.language.prompted.prompts import Prompts
from pipeline.language.prompted.rubrics import EXPECTED, HEDGING, MOMENTUM
from pipeline.language.prompted.structured import OutputProblem, ask
from pipeline.momentum import Momentum
from pipeline.ports import RATED_SIGNALS, Hedging, QualitativeSignals, Rating, RatingRequest

NAME = "rating"
MAX_RATIONALE_CHARS = 400
_NUMBER = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,9})?)\s*(?:/\s*5)?\s*")
HEARD = tuple(act for act in ACTS if act != "tells")
MOST_ACTS = 12


class PromptedRater:
    """Rater of the ports; safe to share between sessions."""

    def __init__(self, client: ChatClient, prompts: Prompts) -> None:
        self._client = client
        self._prompts = prompts
        self._system = prompts.system(NAME, {"rubrics": prompts.rubrics.text()})
        self._form = rating_form()

    async def rate(self, request: RatingRequest) -> Rating:
        """Ratings of one answer, with rationales.

        Raises:
            ProviderOutputInvalid: the model refused, or a score is still missing after one repair.
            ProviderError: as the client raises it.
        """
        chat = ChatRequest(
            task=NAME,
            system=self._system,
            messages=(ChatMessage(speaker="user", content=self._prompts.user(NAME, user_values(request))),),
            form=self._form,
        )
        provider = self._client.spec.provider

        def whole(data: dict[str, Any]) -> Rating:
            return _rating(data, request, provider, strict=True)

        def enough(data: dict[str, Any]) -> Rating:
            return _rating(data, request, provider, strict=False)

        return await ask(self._client, chat, whole, self._prompts, last_resort=enough, seed=request.seed)


def user_values(request: RatingRequest) -> dict[str, Any]:
    """What the prompt says about one answer."""
    return {
        "language": language_name(request.language),
        "lines": conversation(request.history),
        "question": quoted(request.question),
        "answer": block("answer", request.text, request.seed),
    }


def rating_form() -> OutputForm:
    """The form of a rating. Rationales come before what they are for, so that they are written first."""
    rationale = {"type": "string", "description": "One short sentence: what in the answer speaks for it."}
    score = _object({"rationale": rationale, "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]}})
    properties: dict[str, Any] = dict.fromkeys(RATED_SIGNALS, score)
    for name in (HEDGING, MOMENTUM):
        properties[name] = _object({"rationale": rationale, "level": _choice(EXPECTED[name])})
    properties["qualitative"] = _object(
        {
            name: _choice(EXPECTED[name])
            if EXPECTED[name]
            else {"type": "string", "description": "Quoted from the answer; empty when there is none."}
            for name in QualitativeSignals.model_fields
        }
    )
    properties["acts"] = {
        "type": "array",
        "items": _object(
            {"words": {"type": "string", "description": "Quoted from the answer."}, "act": _choice(HEARD)}
        ),
    }
    return OutputForm(
        name="record_rating",
        description="Record how the respondent's answer is, by the rubrics.",
        json_schema=_object(properties),
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _choice(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _rating(data: dict[str, Any], request: RatingRequest, provider: str, *, strict: bool) -> Rating:
    """The rating in an answer of the agreed form.

    Args:
        data: the answer.
        request: what was rated.
        provider: who did it.
        strict: also require momentum and the qualitative signals, which engines do not need.
    Raises:
        OutputProblem: something is missing, or means nothing.
    """
    problems: list[str] = []
    rationales: dict[str, str] = {}
    scores: dict[str, int] = {}
    for name in RATED_SIGNALS:
        score = _score(_value(data, name, "score", rationales))
        if score is None:
            problems.append(f"{name}: should have a score from 1 to 5")
        else:
            scores[name] = score
    hedging = _level(_value(data, HEDGING, "level", rationales), HEDGING)
    if hedging is None:
        problems.append(f"{HEDGING}: should have a level, one of {', '.join(EXPECTED[HEDGING])}")
    momentum = _level(_value(data, MOMENTUM, "level", rationales), MOMENTUM)
    if momentum is None and strict:
        problems.append(f"{MOMENTUM}: should have a level, one of {', '.join(EXPECTED[MOMENTUM])}")
    qualitative, doubts = _qualitative(data.get("qualitative"), request)
    if strict:
        problems += doubts
    if problems:
        raise OutputProblem(*problems)
    return Rating(
        scores=scores,
        hedging=cast(Hedging, hedging),
        rationales=rationales,
        momentum=cast(Momentum | None, momentum),
        qualitative=qualitative,
        acts=_acts(data.get("acts"), request),
        provider=provider,
    )


def _acts(value: Any, request: RatingRequest) -> tuple[tuple[Act, str], ...]:
    """The acts whose words stand in the answer; what means nothing is left out."""
    if not isinstance(value, list):
        return ()
    answer = AnswerText(request.text)
    found: list[tuple[Act, str]] = []
    for entry in value[:MOST_ACTS]:
        if not isinstance(entry, dict) or entry.get("act") not in HEARD or not isinstance(entry.get("words"), str):
            continue
        words = answer.find(entry["words"])
        if words:
            found.append((cast(Act, entry["act"]), words))
    return tuple(found)


def _value(data: dict[str, Any], name: str, key: str, rationales: dict[str, str]) -> Any:
    """What an entry says, whether it comes with a rationale or alone; the rationale is kept."""
    entry = data.get(name)
    if not isinstance(entry, dict):
        return entry
    rationale = entry.get("rationale")
    if isinstance(rationale, str) and rationale.strip():
        rationales[name] = " ".join(clean(rationale).split())[:MAX_RATIONALE_CHARS]
    return entry.get(key)


def _score(value: Any) -> int | None:
    """A score, clamped to 1–5; none for what is no number."""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return math.floor(min(max(value, 1), 5) + 0.5)


def _level(value: Any, name: str) -> str | None:
    word = value.strip().casefold() if isinstance(value, str) else None
    return word if word in EXPECTED[name] else None


def _qualitative(value: Any, request: RatingRequest) -> tuple[QualitativeSignals | None, list[str]]:
    """What could be read of the qualitative signals, and what is wrong with the rest."""
    if not isinstance(value, dict):
        return None, ["qualitative: should be an object"]
    found: dict[str, str] = {}
    problems = []
    for name, info in QualitativeSignals.model_fields.items():
        given = value.get(name)
        if get_args(info.annotation):
            level = _level(given, name)
            if level is None:
                problems.append(f"qualitative.{name}: should be one of {', '.join(EXPECTED[name])}")
            else:
                found[name] = level
        elif isinstance(given, str) and given.strip():
            found[name] = AnswerText(request.text).find(given) or ""
    return QualitativeSignals.model_validate(found), problems

"""Which of several wordings a moderator would choose here: a linear model over features that a person can read.

The weights are in `ranker.json` beside this module, made by `python -m pipeline.language.training ranker` from
judged questions; a feature without a weight counts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from pipeline.language.offline.wording import Wording
from pipeline.methodology import Stance
from pipeline.ports import QuestionRequest
from pipeline.question.fluency import Phrase
from pipeline.question.templates import was_asked
from pipeline.question.text import jaccard, word_count, words

JITTER = 0.05
"""Most that chance adds, so that wordings of the same worth take turns."""


def features(wording: Wording, request: QuestionRequest, about: Phrase | None, stance: Stance) -> dict[str, float]:
    """What speaks for and against a wording at a moment, by name; most are 0 or 1."""
    return dict(_features(wording, request, about, stance))


def _features(
    wording: Wording, request: QuestionRequest, about: Phrase | None, stance: Stance
) -> Iterator[tuple[str, float]]:
    form, naming = wording.form, wording.naming
    kind = request.focus_type or "none"
    ask = " ".join(words(form.ask))
    yield f"form={ask}", 1.0
    yield f"form={ask}|type={kind}", 1.0
    yield f"form={ask}|stance={stance}", 1.0
    yield f"naming={naming}", 1.0
    yield f"naming={naming}|last_said={request.focus_is_last_said}", 1.0
    if about is not None:
        yield f"naming={naming}|phrase={about.kind}", 1.0
        yield f"naming={naming}|words={min(len(about.text.split()) // 3, 4)}", 1.0
    answer = next((line.text for line in reversed(request.lines) if line.speaker == "respondent"), "")
    length = len(answer.split())
    size = "terse" if length <= 5 else "short" if length <= 15 else "long"
    yield f"naming={naming}|answer={size}", 1.0
    yield f"types={request.focus_type in form.types if form.types else None}", 1.0
    yield f"stance={stance in form.stance if form.stance else None}|{stance}", 1.0
    yield f"feeling={form.feeling}|{request.focus_emotion}", 1.0
    yield "words", word_count(wording.text) / 25
    recent = request.recent_questions
    yield "asked_before", float(sum(was_asked(form.ask, question) for question in recent))
    yield "asked_last", float(bool(recent) and was_asked(form.ask, recent[-1]))
    yield "like_recent", max((jaccard(wording.text, question) for question in recent), default=0.0)
    if len(request.lines) >= 2 and length <= 5 and "example" in ask:
        yield "example_of_little", 1.0


@lru_cache(maxsize=1)
def weights() -> Mapping[str, float]:
    """The weights by feature; empty if it is missing or damaged, so that forms come in their own order."""
    try:
        loaded = json.loads(files(__package__).joinpath("ranker.json").read_text("utf-8"))["weights"]
        return {str(name): float(value) for name, value in loaded.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def score(wording: Wording, request: QuestionRequest, about: Phrase | None, stance: Stance) -> float:
    """How much a moderator would prefer this wording; only differences within a moment mean something."""
    known = weights()
    return sum(known.get(name, 0.0) * value for name, value in features(wording, request, about, stance).items())


def ranked(
    wordings: Sequence[Wording], request: QuestionRequest, about: Phrase | None, stance: Stance, chance: Sequence[float]
) -> list[tuple[float, Wording]]:
    """The wordings with their scores, the best first.

    Args:
        wordings: of one moment.
        request, about, stance: the moment.
        chance: a number in [0, 1) for each wording, which decides between equals.
    """
    scored = [
        (score(wording, request, about, stance) + JITTER * luck, wording)
        for wording, luck in zip(wordings, chance, strict=True)
    ]
    return sorted(scored, key=lambda pair: -pair[0])

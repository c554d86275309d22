"""What is known of a moment before a question is worded: what could be said back, and which probes suit (English)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pipeline.language.offline.echo_worth import CONCEPT_TEST
from pipeline.language.offline.probe_worth import Before, ratings
from pipeline.language.offline.saying_back import REMEMBERED, Said, SayingBack, method_of
from pipeline.language.offline.telling import told_by
from pipeline.language.offline.worth_model import WorthModel
from pipeline.language.reader.network import LONGEST_REMEMBERED
from pipeline.language.srl import DocCache
from pipeline.ports import QuestionRequest


@dataclass(frozen=True)
class Advice:
    """What is known of a moment.

    Attributes:
        said: what could be said back, the best first.
        ratings: by kind of probe, in a concept test by move, what moderators are expected to think of it here, 0 to 3.
        most: what saying something back promises at the most, whatever the question is about.
        foremost: what of the last answer promises most to be said back where the interview ends.
        losses: the words of the last answer that tell of a death.
    """

    said: Sequence[Said] = ()
    ratings: Mapping[str, float] = field(default_factory=dict)
    most: float = 0.0
    foremost: Said | None = None
    losses: tuple[str, ...] = ()


NONE = Advice()


class Adviser:
    """Advises on questions; safe to share between sessions.

    Args:
        model: of what is worth saying next; None to know nothing of it.
        docs: parses of answers, for what is said back.
    """

    def __init__(self, model: WorthModel | None, docs: DocCache | None = None) -> None:
        self._model = model
        self._back = SayingBack(model, docs) if model is not None else None
        self._rated = lru_cache(REMEMBERED)(self._foretold)
        self._told_of = lru_cache(REMEMBERED)(self._losses_in)

    @property
    def knows_worth(self) -> bool:
        """Whether it knows what is worth saying."""
        return self._model is not None

    def on(self, request: QuestionRequest) -> Advice:
        """What is known for a request."""
        if self._back is None:
            return NONE
        back = self._back
        return Advice(
            back.found(request),
            self._ratings(request),
            back.most(request),
            back.foremost(request),
            self._losses(request),
        )

    def _losses(self, request: QuestionRequest) -> tuple[str, ...]:
        """The words of the last answer that tell of a death."""
        said, last = [line.text for line in request.lines if line.speaker == "interviewer"], request.lines[-1:]
        english = request.language.casefold().startswith("en")
        if not english or not last or last[0].speaker != "respondent" or not last[0].text.strip():
            return ()
        if len(last[0].text.split()) > LONGEST_REMEMBERED or last[0].text.islower():
            return ()  # Of what was typed without a capital the model hears deaths where there are none.
        return self._told_of(said[-1] if said else "", last[0].text)

    def _losses_in(self, asked: str, answer: str) -> tuple[str, ...]:
        """The same, of an answer to a question."""
        return self._model.loss.told(answer, self._model.read(asked, answer)) if self._model is not None else ()

    def _ratings(self, request: QuestionRequest) -> Mapping[str, float]:
        answers = tuple(line.text for line in request.lines if line.speaker == "respondent")
        asked = [line.text for line in request.lines if line.speaker == "interviewer"]
        told = bool(answers) and request.lines[-1].speaker == "respondent" and bool(answers[-1].strip())
        english = request.language.casefold().startswith("en")
        if not told or not english or request.kind != "follow_up":
            return {}
        if len(answers[-1].split()) > LONGEST_REMEMBERED or request.focus_is_jump:
            return {}
        questions = request.all_questions or tuple(asked)
        return self._rated(answers, questions, asked[-1] if asked else "", method_of(request))

    def _foretold(
        self, answers: tuple[str, ...], questions: tuple[str, ...], asked: str, method: str
    ) -> Mapping[str, float]:
        """What each kind of probe is expected to be worth; the same for all that could be asked about."""
        if self._model is None:
            return {}
        before = Before(answers, questions, method, told_by(answers, "en"))
        reading = self._model.read(asked, answers[-1])
        return ratings(self._model.moves, before, reading, tested=method == CONCEPT_TEST)

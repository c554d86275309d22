"""What is known of a moment before a question is worded: what could be said back, and which probes suit (English)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pipeline.language.offline import echo_worth, move_worth, probe_worth
from pipeline.language.offline.linear import LinearModel
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.probe_worth import Before
from pipeline.language.offline.saying_back import REMEMBERED, Said, SayingBack, method_of
from pipeline.language.offline.telling import telling_of
from pipeline.language.reader.network import LONGEST_REMEMBERED, ReaderNetwork
from pipeline.language.srl import DocCache
from pipeline.ports import QuestionRequest


@dataclass(frozen=True)
class Advice:
    """What is known of a moment.

    Attributes:
        said: what could be said back, the best first.
        ratings: by kind of probe, in a concept test by move, what moderators are expected to think of it here, 0 to 3.
    """

    said: Sequence[Said] = ()
    ratings: Mapping[str, float] = field(default_factory=dict)


NONE = Advice()


class Adviser:
    """Advises on questions; safe to share between sessions.

    Args:
        network: of the reader, with the encoder that the weights belong to.
        echoes: weights of what is said back; None to say nothing back.
        probes: weights of bare probes; None to know nothing of them.
        moves: weights of the ways to go on in a concept test; None to know nothing of them.
        docs: parses of answers, for what is said back.
    """

    def __init__(
        self,
        network: ReaderNetwork,
        echoes: LinearModel | None,
        probes: LinearModel | None,
        moves: LinearModel | None = None,
        docs: DocCache | None = None,
    ) -> None:
        self._network = network
        self._back = SayingBack(network, echoes, docs) if echoes is not None else None
        self._probes = probes
        self._moves = moves
        self._rated = lru_cache(REMEMBERED)(self._foretold)

    @classmethod
    def of(cls, network: ReaderNetwork, encoder: str, docs: DocCache | None = None) -> Adviser:
        """With the weights that are shipped, as far as they belong to the reader.

        Args:
            network: of the reader.
            encoder: digest of its encoder.
            docs: as of the adviser.
        """
        echoes, probes, moves = (
            model if model is not None and model.encoder == encoder else None
            for model in (echo_worth.shipped(), probe_worth.shipped(), move_worth.shipped())
        )
        return cls(network, echoes, probes, moves, docs)

    @property
    def knows_echoes(self) -> bool:
        """Whether it knows what is worth saying back."""
        return self._back is not None

    @property
    def knows_probes(self) -> bool:
        """Whether it knows which probes suit."""
        return self._probes is not None

    @property
    def knows_moves(self) -> bool:
        """Whether it knows which ways to go on suit in a concept test."""
        return self._moves is not None

    def on(self, request: QuestionRequest) -> Advice:
        """What is known for a request."""
        said = self._back.found(request) if self._back is not None else ()
        return Advice(said, self._ratings(request))

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
        tested = method == echo_worth.CONCEPT_TEST
        model = self._moves if tested else self._probes
        if model is None:
            return {}
        before = Before(answers, questions, method, telling_of(answers, phrasing("en")))
        foretold = move_worth.ratings if tested else probe_worth.ratings
        return foretold(model, before, self._network.read(asked, "", answers[-1]))

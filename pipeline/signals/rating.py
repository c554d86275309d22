"""Stage `rating`, which runs beside srl, extraction, graph and slots: the ratings of the answer, as signals."""

from __future__ import annotations

from typing import ClassVar

import structlog

from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract, RatingOutput, UtteranceOutput
from pipeline.errors import ProviderOutputInvalid
from pipeline.graph.tracker import Depth
from pipeline.ports import RATED_SIGNALS, Rater, Rating, RatingRequest
from pipeline.signals.base import Rated

DEPTH_OF_SCORE: dict[int, Depth] = {1: "surface", 2: "shallow", 3: "moderate", 4: "deep", 5: "deep"}

log = structlog.get_logger()


def normalised(score: int) -> float:
    """A score from 1 to 5 as a number in [0, 1]; scores outside are clamped first."""
    return (min(5, max(1, score)) - 1) / 4


def as_signals(rating: Rating) -> Rated:
    """A rating as signals.

    Raises:
        ProviderOutputInvalid: a score is missing.
    """
    missing = [name for name in RATED_SIGNALS if name not in rating.scores]
    if missing:
        raise ProviderOutputInvalid(f"the rating lacks {', '.join(missing)}", stage="rating")
    scores, quality = rating.scores, rating.qualitative
    return Rated(
        depth=DEPTH_OF_SCORE[min(5, max(1, scores["response_depth"]))],
        specificity=normalised(scores["specificity"]),
        certainty=normalised(scores["certainty"]),
        valence=normalised(scores["valence"]),
        engagement=normalised(scores["engagement"]),
        intellectual_engagement=normalised(scores["intellectual_engagement"]),
        hedging=rating.hedging,
        contradiction=rating.contradicts if quality is None else bool(quality.contradiction),
        turning_point=rating.turns if quality is None else bool(quality.turning_point),
    )


class AnswerRating:
    """Asks the rater once; runs beside srl → extraction → graph → slots."""

    name: ClassVar[str] = "rating"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput, UtteranceOutput)
    provides: ClassVar[type[Contract]] = RatingOutput

    def __init__(self, rater: Rater) -> None:
        self._rater = rater

    async def run(self, context: TurnContext) -> RatingOutput:
        """The ratings of this answer; none for a skip. Raises ProviderError."""
        said = context.get(UtteranceOutput)
        if not said.has_content:
            return RatingOutput(rating=None, rated=None)
        start = context.get(ContextOutput)
        limit = context.configuration.settings.rating_max_chars
        text = said.content
        rating = await self._rater.rate(
            RatingRequest(
                text=text[:limit],
                question=start.question,
                language=context.state.language,
                history=start.lines[:-1],
                seed=context.state.seed,
            )
        )
        if len(text) > limit:
            log.warning("rating.cut", session=context.state.session_id, rated_chars=limit, said_chars=len(text))
        return RatingOutput(rating=rating, rated=as_signals(rating))

"""What is asked where an interview ends with something that weighs (English)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.finished import closes
from pipeline.language.offline.advice import Advice
from pipeline.language.offline.phrasings import LanguagePhrasing
from pipeline.language.offline.sympathy import confides, ends_with_loss, tells_of_harm, tells_of_tears
from pipeline.language.offline.telling import Telling
from pipeline.ports import QuestionRequest
from pipeline.question.templates import stable_hash
from pipeline.question.text import sentences

TOLD_TO_THE_END = 12
"""Words of the last answer but one from which on there may be more to say of it."""
WORTH_BACK = 2.4
"""What something of the last answer must promise to be said back before the end: of 21 ends two readers gave the five
that promised so much 2.8 of 3 with it and 1.9 without, the others 1.8 and 2.8."""


def left_to_tell(request: QuestionRequest, speaking: LanguagePhrasing, told: Telling, advice: Advice) -> str:
    """The words of the last answer that should be asked about before an interview ends; empty without any.

    Not where its teller has no more to tell, complained, refused, or tells of tears.

    Args:
        request: for the closing question, or for one behind its answer.
        speaking: the language's sentences.
        told: how the answer is told.
        advice: what is known of the moment.
    """
    last = request.lines[-1:]
    answer = last[0].text if last and last[0].speaker == "respondent" else ""
    done = request.complained or request.turned_away or request.spent or told.exhausted or closes(answer)
    if done or len(answer.split()) < TOLD_TO_THE_END or tells_of_tears(request, answer):
        return ""
    if request.after_closing and re.search(speaking.over_already, answer.casefold().replace("’", "'")):
        return sentences(answer)[-1]
    if advice.foremost is not None and advice.foremost.rating >= WORTH_BACK:
        return answer[advice.foremost.echo.start : advice.foremost.echo.end]
    weighs = confides(request, answer) or tells_of_harm(request, answer)
    weighs = weighs or ends_with_loss(request, answer, advice.losses)
    return sentences(answer)[-1] if weighs else ""


def asked_after_closing(request: QuestionRequest, speaking: LanguagePhrasing, advice: Advice) -> Iterator[str]:
    """Questions about what the answer to the closing question brought; arguments as for `left_to_tell`."""
    answer = (request.lines[-1].text if request.lines else "").casefold().replace("’", "'")
    before = f"{speaking.not_over} " if re.search(speaking.over_already, answer) else ""
    echo = advice.foremost.echo.text if advice.foremost and advice.foremost.rating >= WORTH_BACK else ""
    texts = speaking.closings_after_back if echo else speaking.closings_after
    first = stable_hash(request.seed, "after closing") % max(1, len(texts))
    yield from (before + text.replace("{echo}", echo) for text in (*texts[first:], *texts[:first]))

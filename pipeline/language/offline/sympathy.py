"""What is said when somebody tells of a death, of tears, or of what nobody was told before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.language.offline.phrasings import LanguagePhrasing, phrasing
from pipeline.ports import QuestionRequest
from pipeline.question.templates import stable_hash
from pipeline.question.text import sentences

LAUGHED_IN = 3
"""Sentences at the end of an answer in which laughter is answered by no sympathy."""
SORRY_FOR = 2
"""Questions for which a death that is told of again is not answered again."""
HEAVY_IN = 3
"""Sentences at the end of an answer in which tears, or what nobody was told before, are answered."""
CONFIDED_FOR = 5
"""Questions for which that is not thanked for again."""
SORRY_AGAIN = 5
"""Questions for which a death is not answered again that the model alone hears, which can't tell one from another."""
LOSS_IN = 2
"""Sentences at the end of an answer in which a death is answered for every time that it is told."""


def tells_of_loss(request: QuestionRequest, answer: str, heard: Sequence[str] = ()) -> bool:
    """Whether somebody's death was told of at the end of an answer, or for the first time.

    Args:
        request: for the next question.
        answer: the last one.
        heard: its words that tell of a death, as the model of losses hears them.
    """
    speaking, said = phrasing(request.language), sentences(answer.casefold())
    if any(re.search(speaking.laughs, sentence) for sentence in said[-LAUGHED_IN:]):
        return False
    if any(after < LOSS_IN for after, _ in _losses(request, answer)):
        return not _was_sorry(request, SORRY_FOR)
    if not _told_before(request) and _losses(request, answer):
        return True
    return bool(heard) and not _was_sorry(request, SORRY_AGAIN)


def ends_with_loss(request: QuestionRequest, answer: str, heard: Sequence[str] = ()) -> bool:
    """Whether one of the last sentences of an answer tells of somebody's death; arguments as for `tells_of_loss`."""
    end = " ".join(sentences(answer)[-LOSS_IN:])
    return any(after < LOSS_IN for after, _ in _losses(request, answer)) or any(words in end for words in heard)


def sympathy(request: QuestionRequest, answer: str, heard: Sequence[str] = ()) -> str:
    """What is said after a death: with who it was, where that is one of the respondent's family.

    Arguments as for `tells_of_loss`.
    """
    speaking, told = phrasing(request.language), answer.casefold()
    said = [sentence for _, sentence in _losses(request, answer)] or [words.casefold() for words in heard]
    mourned = {who for sentence in said for who in re.findall(speaking.family, sentence)}
    own = [who for who in mourned if not re.search(speaking.of_others.replace("{x}", re.escape(who)), told)]
    named = len(mourned) == len(own) == 1 and speaking.acknowledgements_loss_of
    pool = named or speaking.acknowledgements_loss
    text = pool[stable_hash(request.seed, request.turn_number, "loss") % len(pool)] if pool else ""
    return text.replace("{x}", own[0]) if named else text


def confides(request: QuestionRequest, answer: str) -> bool:
    """Whether somebody says at the end of an answer that nobody was told this before."""
    return _ends_with(phrasing(request.language).confides, answer)


def tells_of_tears(request: QuestionRequest, answer: str) -> bool:
    """Whether somebody tells at the end of an answer, and without laughing, that they cried."""
    speaking = phrasing(request.language)
    return _ends_with(speaking.wept, answer) and not _ends_with(speaking.laughs, answer)


def _ends_with(pattern: str, answer: str) -> bool:
    end = sentences(answer.casefold().replace("’", "'"))[-HEAVY_IN:]
    return any(re.search(pattern, sentence) for sentence in end)


def answered(request: QuestionRequest, answer: str) -> str:
    """What is said to tears, or to what nobody was told before; empty where neither was told, or lately."""
    speaking = phrasing(request.language)
    said = (
        speaking.acknowledgements_confided
        if confides(request, answer)
        else speaking.acknowledgements_loss
        if tells_of_tears(request, answer)
        else ()
    )
    lately = request.all_questions[-CONFIDED_FOR:] or request.recent_questions
    return "" if not said or any(asked.startswith(tuple(said)) for asked in lately) else said[0]


def sympathies(speaking: LanguagePhrasing) -> tuple[str, ...]:
    """How what is said after a death, or tears, begins."""
    return (
        *speaking.acknowledgements_loss,
        *(text.partition("{x}")[0] for text in speaking.acknowledgements_loss_of),
    )


def _was_sorry(request: QuestionRequest, lately: int) -> bool:
    """Whether one of the latest questions began with sympathy."""
    asked = (request.all_questions or request.recent_questions)[-lately:]
    return any(question.startswith(sympathies(phrasing(request.language))) for question in asked)


def _told_before(request: QuestionRequest) -> bool:
    """Whether an earlier answer told of a death."""
    pattern = phrasing(request.language).loss
    before = (request.briefing.conversation or request.lines)[:-1]
    return any(re.search(pattern, line.text.casefold()) for line in before if line.speaker == "respondent")


def _losses(request: QuestionRequest, answer: str) -> list[tuple[int, str]]:
    """The sentences that tell of somebody's death, in lower case, each with how many come after it.

    “After she died” only says when something was; “after my dad died” tells of it where nothing had told of it yet.
    """
    speaking, said = phrasing(request.language), sentences(answer.casefold())
    known = _told_before(request)
    return [
        (len(said) - 1 - at, sentence)
        for at, sentence in enumerate(said)
        if (
            re.search(speaking.loss, sentence)
            or (re.search(speaking.gone_long, sentence) and re.search(speaking.mourned, " ".join(said[: at + 1])))
            or (re.search(speaking.lost_it, sentence) and re.search(speaking.expected, " ".join(said)))
        )
        and not re.search(speaking.relief, sentence)
        and not re.search(speaking.supposes, sentence)
        and not _says_when(speaking.since_loss, sentence, known=known)
    ]


def _says_when(pattern: str, sentence: str, *, known: bool) -> bool:
    """Whether a sentence only says that something was before or after a death."""
    found = re.search(pattern, sentence)
    return found is not None and (known or re.search(r"\b(?:my|our)\b", found[0]) is None)

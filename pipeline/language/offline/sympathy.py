"""What is said when somebody tells of a death, of tears, or of what nobody was told before, or is sorry for telling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pipeline.language.offline.phrasings import LanguagePhrasing, phrasing
from pipeline.ports import QuestionRequest
from pipeline.question.templates import stable_hash
from pipeline.question.text import sentences

REMEMBERED = 1024
"""Texts of which is kept whether they tell of a death: a turn asks it of the same few for all that it compares."""
LAUGHED_IN = 3
"""Sentences at the end of an answer in which laughter is answered by no sympathy."""
SORRY_FOR = 2
"""Questions for which a death that is told of again is not answered again."""
HEAVY_IN = 3
"""Sentences at the end of an answer in which tears, or what nobody was told before, are answered."""
SORRY_IN = 2
"""Sentences at the end of an answer in which an apology for telling so much is answered."""
CONFIDED_FOR = 5
"""Questions for which that is not thanked for again."""
SORRY_AGAIN = 5
"""Questions for which a death is not answered again that the model alone hears, which can't tell one from another."""
_SAYS = re.compile(r"\b(?:told|tells|said|says|asked|asks|rang|wrote|thinks|thought|knew|knows|called|calls)\b")
"""Words by which somebody in a clause lives, whoever has died."""
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
    speaking, who = phrasing(request.language), mourned(request, answer, heard)
    pool = (who and speaking.acknowledgements_loss_of) or speaking.acknowledgements_loss
    text = pool[stable_hash(request.seed, request.turn_number, "loss") % len(pool)] if pool else ""
    return text.replace("{x}", who)


def mourned(request: QuestionRequest, answer: str, heard: Sequence[str] = ()) -> str:
    """Who of the respondent's family has died by what an answer tells; empty where that is nobody, or several.

    Arguments as for `tells_of_loss`.
    """
    speaking, told = phrasing(request.language), answer.casefold()
    said = [sentence for _, sentence in _losses(request, answer)]
    said = said or [low for words in heard if not _SAYS.search(low := words.casefold())]
    named = {who for sentence in said for who in re.findall(speaking.family, sentence)}
    own = [who for who in named if not re.search(speaking.of_others.replace("{x}", re.escape(who)), told)]
    return own[0] if len(named) == len(own) == 1 else ""


def of_the_mourned(request: QuestionRequest, answer: str, heard: Sequence[str] = ()) -> tuple[str, ...]:
    """Invitations to tell of who has died, where nobody was asked for yet; arguments as for `tells_of_loss`."""
    speaking, who = phrasing(request.language), mourned(request, answer, heard)
    known = _of_her_or_him(who, speaking, speaking.after_loss_of_her, speaking.after_loss_of_him)
    return () if _was_asked_for(request, who) else known


def remembered(request: QuestionRequest) -> str:
    """What somebody was like of whose death an earlier answer told; empty where that was nobody, or was asked."""
    speaking = phrasing(request.language)
    conversation = request.briefing.conversation or request.lines
    before = [line.text for line in conversation if line.speaker == "respondent"][:-1]
    for answer in reversed(before):
        who = mourned(request, answer) if _losses(request, answer) else ""
        known = _of_her_or_him(who, speaking, speaking.remembers_her, speaking.remembers_him)
        if known and not _was_asked_for(request, who):
            return known[0].replace("{x}", who)
    return ""


def _of_her_or_him(
    who: str, speaking: LanguagePhrasing, of_her: tuple[str, ...], of_him: tuple[str, ...]
) -> tuple[str, ...]:
    """The texts for a woman or a man of the family; none for anybody else."""
    if re.fullmatch(speaking.women, who):
        return of_her
    return of_him if re.fullmatch(speaking.men, who) else ()


def _was_asked_for(request: QuestionRequest, who: str) -> bool:
    """Whether a question has asked for somebody who has died."""
    speaking = phrasing(request.language)
    texts = (*speaking.after_loss_of_her, *speaking.after_loss_of_him, *speaking.remembers_her, *speaking.remembers_him)
    return any(text.replace("{x}", who) in question for text in texts for question in request.all_questions)


def confides(request: QuestionRequest, answer: str) -> bool:
    """Whether somebody says at the end of an answer that nobody was told this before."""
    return _ends_with(phrasing(request.language).confides, answer)


def tells_of_tears(request: QuestionRequest, answer: str) -> bool:
    """Whether somebody tells at the end of an answer, and without laughing, that they cried."""
    speaking = phrasing(request.language)
    return _ends_with(speaking.wept, answer) and not _ends_with(speaking.laughs, answer)


def tells_of_harm(request: QuestionRequest, answer: str) -> bool:
    """Whether somebody tells at the end of an answer, and without laughing, that somebody came to harm."""
    speaking = phrasing(request.language)
    return _ends_with(speaking.harmed, answer) and not _ends_with(speaking.laughs, answer)


def _ends_with(pattern: str, answer: str) -> bool:
    end = sentences(answer.casefold().replace("’", "'"))[-HEAVY_IN:]
    return any(re.search(pattern, sentence) for sentence in end)


def answered(request: QuestionRequest, answer: str) -> str:
    """What is said to tears, to harm, to what nobody was told before, or to who is sorry that they tell so much.

    Empty where none was told, or it was said lately.
    """
    speaking = phrasing(request.language)
    said = (
        speaking.acknowledgements_confided
        if confides(request, answer)
        else speaking.acknowledgements_loss
        if tells_of_tears(request, answer) or tells_of_harm(request, answer)
        else speaking.acknowledgements_apology
        if _apologises(speaking, answer)
        else ()
    )
    lately = request.all_questions[-CONFIDED_FOR:] or request.recent_questions
    return "" if not said or any(asked.startswith(tuple(said)) for asked in lately) else said[0]


def _apologises(speaking: LanguagePhrasing, answer: str) -> bool:
    """Whether an answer ends by saying sorry for how it was told."""
    said = " ".join(sentences(answer.casefold().replace("’", "'"))[-SORRY_IN:])
    return re.search(speaking.apologises, said) is not None


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
    before = (request.briefing.conversation or request.lines)[:-1]
    return any(_names_a_death(line.text, request.language) for line in before if line.speaker == "respondent")


@lru_cache(REMEMBERED)
def _names_a_death(text: str, language: str) -> bool:
    return re.search(phrasing(language).loss, text.casefold()) is not None


def _losses(request: QuestionRequest, answer: str) -> tuple[tuple[int, str], ...]:
    """The sentences that tell of somebody's death, in lower case, each with how many come after it.

    “After she died” only says when something was; “after my dad died” tells of it where nothing had told of it yet.
    """
    return _losses_in(answer, request.language, known=_told_before(request))


@lru_cache(REMEMBERED)
def _losses_in(answer: str, language: str, *, known: bool) -> tuple[tuple[int, str], ...]:
    speaking, said = phrasing(language), sentences(answer.casefold())
    return tuple(
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
    )


def _says_when(pattern: str, sentence: str, *, known: bool) -> bool:
    """Whether a sentence only says that something was before or after a death."""
    found = re.search(pattern, sentence)
    return found is not None and (known or re.search(r"\b(?:my|our)\b", found[0]) is None)

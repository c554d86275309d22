"""What a question could say back of the last answer, with the probe behind it, and what that is worth (English)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from pipeline.language.offline import echo_worth
from pipeline.language.offline.echo_worth import PROBES, Probe, Told, Worth
from pipeline.language.offline.echoes import Echo, echoes, is_imagined, may_be_imagined
from pipeline.language.offline.phrasings import LanguagePhrasing, OwnProbe, ToldAs, phrasing
from pipeline.language.offline.probe_worth import kind_of
from pipeline.language.offline.sayable import sayable
from pipeline.language.offline.telling import tells_stories, told_by
from pipeline.language.offline.worth_model import WorthModel
from pipeline.language.reader.network import LONGEST_REMEMBERED
from pipeline.language.srl import DocCache
from pipeline.ports import QuestionRequest
from pipeline.question.lexicon import IRREGULAR_PAST, PAST_FORMS
from pipeline.question.templates import stable_hash, was_asked
from pipeline.question.text import sentences, words

MUCH = 30
"""Words of an answer beside a complaint, or what was told before, from which on something of it is said back all the
same."""
SOME = 12
"""The same where nobody complained, or they complained of being asked for more alone."""
REMEMBERED = 64
"""Moments of which what was found is kept while their question is made."""
REMEMBERED_LINES = 1024
"""Lines of which is kept whether their speaker was tired of their own words."""
LATELY = 6
"""Questions that are lately."""
ASKED, ASKED_LAST, MORE_AGAIN = 0.12, 0.3, 0.3
"""What a probe loses for each of the latest questions that asked the same, and for the last one besides; and what share
of that asking for more of it loses, which has several wordings."""
LEAST = 1.4
"""What saying something back must be worth. Of 107 moments at which only a probe had been asked readers who saw both
called 7 in a hundred of the probes exactly right and 63 bad, of the clauses that promise most 20 and 40; where they
promised less than this, one of 13 and ten."""
FITS = {"more": 0.3, "mind": 0.1, "like": -0.3, "means": -0.1}
"""What probes gain behind what is said back. Whole conversations (a round with two judges): of 46 times that something
was said back and then asked what it was like two were good and 23 bad, with what it means four of 22 and ten, with more
of it 21 of 70 and 25, with what went through their mind four of six and none."""
SHORT, CLIPPED = 4, 0.3
"""Words up to which what is said back is short, and what that loses: of 44 times nine were good and 26 bad."""
OF_A_MOMENT, UNTOLD = ("like", "mind", "then", "did", "why"), 0.25
"""Probes for something that happened, and what they lose where no stories are asked for."""
IN_A_ROW, LATELY_SAID = 0.05, 0.03
"""What saying something back loses right after a question that did so, and for each of the latest that did."""
RUN, EACH_MORE, MOST_RUN = 2, 0.1, 3
"""Questions in a row that said something back, from which on it loses so much for each, of so many at the most: of
twelve people four called it a parrot, but where it was left out for that readers liked the probe still less (of 17 one
was good and 13 bad, of the clauses two and seven)."""
ELSEWHERE = 0.1
"""What a clause loses that does not tell what the engine would ask about: of 71 that promised most and were not said
back readers called 30 in a hundred exactly right and 39 bad, of what was asked instead ten and 58."""
LATE, MORE_BY_THEN = 8, 0.3
"""Questions from which on asking for more of what is said back loses so much: of 19 times six or seven hurt, of 46
before that seven."""
MISFIT = 9.0
"""What a probe loses that does not fit the time of what is said back."""
THOUGHT = 0.6
"""What asking what went through somebody's mind loses where they have just said what they thought: of eleven times that
it was asked in stories five hurt, all but one of them so."""
INSTEAD = 0.5
"""What share of what a probe promises less than the best one is lost where the best one can't be asked."""
MORE_TO_IT, THERE_IS_MORE = 0.5, 0.6
"""What something gains by the chance that there is more to it, and the chance from which on its teller is told to go
on. Of 184 clauses of which readers said so other readers had called 55 in a hundred exactly right and 7 bad, of 642
that a model had taken for such, and readers had not, 21 and 30."""
OUTRIGHT = {"matter": 0.8, "gives": 0.4}
"""What asking outright why it matters, or what it gives somebody, loses."""
COUNTS = (
    r"\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|a hundred"
)
HEARD_ODDLY: Sequence[tuple[re.Pattern[str], float]] = (
    (
        re.compile(
            r"\b(?:looks?|looked|sound(?:s|ed)|feels?|felt|was|were|is|are|it's|he's|she's|they're|stayed) like\b"
            r"|\blike (?:an?|every\w+|some\w+|you|shutting) ",
            re.IGNORECASE,
        ),
        0.6,
    ),
    (re.compile(r"^you (?:don't|do not|haven't|have not|wouldn't)(?: \w+){1,2}\.$", re.IGNORECASE), 0.6),
    (re.compile(rf"\bthere (?:was|were|are|is)(?: only| just)? (?:{COUNTS})\b", re.IGNORECASE), 0.4),
)
"""What of a clause makes it sound odd from somebody else's mouth, and what it loses: of 11 comparisons that were said
back seven were bad, and respondents put 4 of 16 right; a number is seldom what weighs; 110 short denials of what is
(“You haven't done it.”) were rated 0.5 of 3, other clauses 1.2."""
_THINKS = re.compile(
    r"\bi(?:'m|'d| was| am| had| just| only| kept| keep)*(?: just| only)?"
    r" (?:think|thinking|thought|figured|reckoned|wondered|wondering)\b"
    r"|\bthrough my (?:mind|head)\b|\bsaid to myself\b",
    re.IGNORECASE,
)
_WOULD_BE = re.compile(r"\bwould(?:n't)? be\b", re.IGNORECASE)
_WAS_NOT = re.compile(r"\b(?:could|should|would|might|\w+['’]d)(?:n't| not)? have\b(?! to\b)", re.IGNORECASE)
"""What was not, and could have been: nobody is asked what it was like."""
_STILL = re.compile(
    r"\bstill (?!(?:had|went|said|did|was|were|knew|got|felt|thought|kept|came|stood|sat)\b)[a-z]+(?<!ed)\b",
    re.IGNORECASE,
)
"""What is so now, whatever was told before it: “He still tells it that way.”"""
_ANY_PAST = re.compile(r"\b(?:was|were|had|did|didn't|couldn't|wasn't|weren't|hadn't|used to)\b", re.IGNORECASE)


_WAS_SO = (PAST_FORMS | IRREGULAR_PAST) - {"could", "couldn't", "wouldn't", "learned", "used"}
"""Verbs that tell of what was."""
_IS_DONE = re.compile(
    r"(?:\b(?:is|are|am|be|being|gets?|has|have)|'(?:s|re|m|ve))"
    r"(?: not| never| nothing| nobody| no one| all| already| just)?"
    r" (?:\w+ed|left|made|given|taken|done|broken|lost|put|paid|told|kept|sent|brought|thrown|cut|shut|known|seen"
    r"|got)\b",
    re.IGNORECASE,
)
"""What is done to something, or has been: it is so now."""
_MIXED_UP = re.compile(
    r"you (?:\w+ )?(?:\w+ (?:at|to|on|for|with|from|by)|asked|told|gave|hugged|kissed|called|sent|pushed|pulled|made"
    r"|let|left|drove|took|paid|thanked|helped|rang|phoned) you(?= |[.,;]|$)",
    re.IGNORECASE,
)
"""What somebody else did, with the respondent as who did it: “You looked at you.”"""
_LOST = re.compile(
    r"\b(?:don't|don’t|didn't|do not|not sure i)(?: quite| really)? (?:understand|follow|get (?:you|that|it))\b"
    r"|\b(?:did|do|was|is|about) what\?|\bwhat do you mean\b",
    re.IGNORECASE,
)
"""Words of somebody who did not understand the question."""


@dataclass(frozen=True)
class Said:
    """A question that says something back.

    Attributes:
        text: the sentence and the probe.
        echo: what is said back.
        rating: what moderators are expected to think of it, 0 to 3.
        value: the same less what it loses by what was asked before.
        about: whether it tells what the question was to be about.
    """

    text: str
    echo: Echo
    rating: float
    value: float
    about: bool = True


class SayingBack:
    """Finds what could be said back; safe to share between sessions.

    Args:
        model: of what is worth saying.
        docs: parses; without them only what marks set apart is said back.
    """

    def __init__(self, model: WorthModel, docs: DocCache | None = None) -> None:
        self._model = model
        self._docs = docs
        self._offered = lru_cache(REMEMBERED)(self._offers)

    def found(self, request: QuestionRequest) -> tuple[Said, ...]:
        """What the question of a request could say back of the last answer, the best first.

        In a concept test only of what it is about, since staying with each sentence is weighed there.
        """
        if not may_say_back(request):
            return ()
        moment = _Moment.of(request)
        found = []
        for said in self._right(request, moment):
            if said.echo.clause.casefold() in request.stimulus.casefold():
                continue  # They quote the description.
            if _is_about(request, said.echo, moment.answers[-1]):
                found.append(said)
            elif not request.stimulus:
                found.append(replace(said, value=said.value - ELSEWHERE, about=False))
        return tuple(sorted(found, key=lambda said: -said.value))

    def most(self, request: QuestionRequest) -> float:
        """What saying back is worth that promises most, whatever would be asked about; 0 where there is nothing."""
        if not _may_hear(request):
            return 0.0
        return max((said.value for said in self._right(request, _Moment.of(request))), default=0.0)

    def foremost(self, request: QuestionRequest) -> Said | None:
        """What promises most of the last answer where the interview ends; None where nothing should be said back."""
        if not request.ends or request.stimulus:
            return None
        if not _may_hear(request.model_copy(update={"kind": "follow_up"})):
            return None
        return max(self._right(request, _Moment.of(request)), key=lambda said: said.rating, default=None)

    def _right(self, request: QuestionRequest, moment: _Moment) -> Iterator[Said]:
        """All that could be said back but what its teller has put right, the best first."""
        wrong = _put_right(request)
        for said in self._offered(moment):
            if not _MIXED_UP.match(said.echo.text) and not any(
                said.echo.start < end and said.echo.end > start for start, end in wrong
            ):
                yield said

    def _offers(self, moment: _Moment) -> tuple[Said, ...]:
        """All that could be said back, the best first; the same for whatever would be asked about."""
        speaking = phrasing(moment.language)
        found = [said for worth in self._weighed(moment) for said in _said(worth, moment, speaking)]
        return tuple(sorted(found, key=lambda said: -said.value))

    def _weighed(self, moment: _Moment) -> Sequence[Worth]:
        """What each clause of the last answer is worth."""
        answer = moment.answers[-1]
        if len(answer.split()) > LONGEST_REMEMBERED:
            return ()
        found = echoes(answer) if self._docs is None else sayable(answer, self._docs.doc(answer))
        if not found:
            return ()
        told = Told(
            answer=answer,
            mean_words=sum(len(each.split()) for each in moment.answers) / len(moment.answers),
            asked=moment.count,
            method=moment.method,
            telling=told_by(moment.answers, "en"),
        )
        reading = self._model.read(moment.question, answer)
        more = self._model.dangling.chances(found, answer, reading)
        rated = echo_worth.worths(self._model.echoes, found, told, reading)
        return [replace(each, dangles=float(chance)) for each, chance in zip(rated, more, strict=True)]


def _put_right(request: QuestionRequest) -> list[tuple[int, int]]:
    """What of the last answer its teller would not go into, or puts right, with the sentence before, which is wrong."""
    found = []
    for line in request.lines[-1:]:
        for told in line.refused:
            if (at := line.text.find(told)) >= 0:
                found.append((at, at + len(told)))
        for said in line.put_right:
            at = line.text.find(said)
            before = sentences(line.text[:at]) if at > 0 else []
            start = line.text.rfind(before[-1], 0, at) if before else at
            if at >= 0:
                found.append((max(0, start), at + len(said)))
    return found


@dataclass(frozen=True)
class _Moment:
    """What decides how something is said back.

    Attributes:
        answers: the latest, the last one at the end.
        question: the one that the last answer answers.
        questions: the latest, …
        count: … and how many there were.
        method: by whose ratings is judged.
        stories: whether stories are asked for.
        language, seed, turn: of the interview.
        weary: whether the respondent is tired of being asked for more.
    """

    answers: tuple[str, ...]
    question: str
    questions: tuple[str, ...]
    count: int
    method: str
    stories: bool
    language: str
    seed: int
    turn: int
    weary: bool

    @classmethod
    def of(cls, request: QuestionRequest) -> _Moment:
        """The moment of a request."""
        asked = [line.text for line in request.lines if line.speaker == "interviewer"]
        return cls(
            answers=tuple(line.text for line in request.lines if line.speaker == "respondent"),
            question=asked[-1] if asked else "",
            questions=(request.all_questions or request.recent_questions)[-LATELY:],
            count=len(request.all_questions) or len(asked),
            method=method_of(request),
            stories=tells_stories(request.methodology, request.language),
            language=request.language,
            seed=request.seed,
            turn=request.turn_number,
            weary=is_weary_of_more(request),
        )


def method_of(request: QuestionRequest) -> str:
    """The method by whose ratings is judged what suits a moment."""
    return echo_worth.CONCEPT_TEST if request.stimulus else request.methodology.name


def may_say_back(request: QuestionRequest) -> bool:
    """Whether something of the last answer could be said back where this is asked about.

    Not where the question is about no concept that they spoke of, such as an element of a concept test, which is named
    as it is; and not to somebody of whom nothing is said back.
    """
    return (
        bool(request.focus_label)
        and not request.focus_is_jump
        and not (request.strategy is not None and request.strategy.generates_closing_question)
        and not (request.strategy is not None and request.strategy.node_binding == "none")
        and _may_hear(request)
    )


def _may_hear(request: QuestionRequest) -> bool:
    """Whether something may be said back to the respondent now.

    Not to somebody who complained or was just answered and tells little beside, refused, wants to talk of something
    else, did not understand, or has no more to tell; not to somebody who learns the language, whose slips would be
    said back.
    """
    told = told_by(tuple(line.text for line in request.lines if line.speaker == "respondent"), request.language)
    return (
        request.language.casefold().startswith("en")
        and request.kind == "follow_up"
        and bool(request.lines)
        and request.lines[-1].speaker == "respondent"
        and not (request.turned_away or request.composed or request.spent)
        and not (
            (request.complained or request.follows_reply or told.retold)
            and len(request.lines[-1].text.split()) < _told_beside(request)
        )
        and not _is_weary(request)
        and not (told.exhausted or told.closed or told.learning)
        and not _LOST.search(request.lines[-1].text)
    )


def _told_beside(request: QuestionRequest) -> int:
    """Words of an answer from which on something of it is said back beside a complaint, or a reply."""
    return SOME if not request.complained or is_weary_of_more(request) else MUCH


def is_weary_of_more(request: QuestionRequest) -> bool:
    """Whether the respondent has said, right behind such a question, that they are tired of being asked for more."""
    lines = request.briefing.conversation or request.lines
    return any(
        _says_weary_of_more(line.complaint, line.text, request.language)
        for before, line in pairwise(lines)
        if (before.speaker, line.speaker) == ("interviewer", "respondent") and kind_of(before.text) == "more"
    )


@lru_cache(REMEMBERED_LINES)
def _says_weary_of_more(complaint: str, text: str, language: str) -> bool:
    ends = sentences(text)
    said = " ".join((complaint, *ends[:1], *ends[1:][-1:])).casefold().replace("’", "'")
    return re.search(phrasing(language).weary_of_more, said) is not None


def _is_weary(request: QuestionRequest) -> bool:
    """Whether the respondent has said that they are tired of hearing their own words."""
    lines = request.briefing.conversation or request.lines
    said = (f"{line.complaint} {line.text}" for line in lines if line.speaker == "respondent")
    return any(_says_weary(each, request.language) for each in said)


@lru_cache(REMEMBERED_LINES)
def _says_weary(text: str, language: str) -> bool:
    return re.search(phrasing(language).echo_weary, text.casefold().replace("’", "'")) is not None


def _is_about(request: QuestionRequest, echo: Echo, answer: str) -> bool:
    """Whether what is said back stands in the sentence that tells what is asked about."""
    wanted = (request.focus_quote or request.focus_label or "").casefold()
    sentence = echo.sentence.casefold()
    if wanted and (wanted in sentence or sentence.strip(" .,!") in wanted):
        return True
    if request.focus_quote and wanted in answer.casefold():
        # It may go over the end of a sentence.
        at = answer.casefold().find(wanted)
        return echo.start < at + len(wanted) and at < echo.end
    own = set(words(wanted))
    return bool(own) and len(own & set(words(sentence))) * 3 > len(own) * 2


def _said(worth: Worth, moment: _Moment, speaking: LanguagePhrasing) -> Iterator[Said]:
    """What is said back with the probe that fits best."""
    questions = moment.questions
    time = _time_of(worth.echo, moment, speaking)
    likely = {
        probe: value
        + FITS.get(probe, 0.0) * (time != "imagined" or probe == "more")
        - UNTOLD * (probe in OF_A_MOMENT and not moment.stories)
        - THOUGHT * (probe == "mind" and _says_thoughts(worth.echo, moment))
        - OUTRIGHT.get(probe, 0.0)
        - MISFIT * (probe in OF_A_MOMENT and _WAS_NOT.search(worth.echo.text) is not None)
        - _worn(probe, questions)
        - MISFIT * (not speaking.behind(probe, time))
        - MISFIT * (probe == "more" and moment.weary)
        for probe, value in worth.probes.items()
    }
    probe = max(PROBES, key=lambda each: likely[each])
    dangles = worth.dangles >= THERE_IS_MORE and not moment.weary
    if dangles:
        probe = "more"
    lost = IN_A_ROW * says_back(questions[-1:], speaking) + LATELY_SAID * says_back(questions, speaking)
    lost += EACH_MORE * min(MOST_RUN, max(0, _run(questions, speaking) - RUN + 1))
    lost += CLIPPED * (len(worth.echo.text.split()) <= SHORT)
    lost += sum(amount for said, amount in HEARD_ODDLY if said.search(worth.echo.text))
    lost += MORE_BY_THEN * (probe == "more" and moment.count >= LATE and moment.method != echo_worth.CONCEPT_TEST)
    texts = (speaking.go_on if dangles else ()) or speaking.behind(probe, time)
    rating = worth.rating + MORE_TO_IT * worth.dangles
    if moment.weary:
        rating -= INSTEAD * max(0.0, max(worth.probes.values()) - worth.probes[probe])
    if time == "past" and (own := _own_probe(worth.echo, moment, speaking)):
        texts, rating = (own.ask,), rating + own.gains
    if texts and rating >= LEAST:
        at = stable_hash(moment.seed, moment.turn, "echo", probe) % len(texts)
        fresh = [text for text in (*texts[at:], *texts[:at]) if not any(was_asked(text, asked) for asked in questions)]
        text = f"{worth.echo.text} {(fresh or texts)[0]}"
        yield Said(text, worth.echo, rating, rating - lost)


def _own_probe(echo: Echo, moment: _Moment, speaking: LanguagePhrasing) -> OwnProbe | None:
    """The probe that a clause has of its own; None where it has none, it was asked lately, or its answer was told."""
    for own in speaking.own_probes:
        if re.search(own.said, echo.text.rstrip(".")) is None:
            continue
        told = kind_of(own.ask) == "mind" and _says_thoughts(echo, moment)
        if not told and not any(was_asked(own.ask, asked) for asked in moment.questions):
            return own
    return None


def _says_thoughts(echo: Echo, moment: _Moment) -> bool:
    """Whether the sentence of what is said back, or one near it, says what the respondent thought."""
    said = sentences(moment.answers[-1])
    at = len(said) - 1 - echo.back
    return _THINKS.search(" ".join(said[max(0, at - 2) : at + 3])) is not None


def told_as(clause: str, speaking: LanguagePhrasing) -> ToldAs:
    """Whether a clause by itself tells of what was, of what is, or of what would be."""
    low = clause.casefold()
    if _ANY_PAST.search(low) or re.search(speaking.past, low):
        return "past"
    return "imagined" if is_imagined(clause) else "present"


def _time_of(echo: Echo, moment: _Moment, speaking: LanguagePhrasing) -> ToldAs:
    """Whether a clause tells of what was, of what is, or of what would be.

    In a sentence that tells of what was, “would” tells of what used to be.
    """
    could = moment.method == echo_worth.CONCEPT_TEST and may_be_imagined(echo.text)
    if moment.method == echo_worth.CONCEPT_TEST and _WOULD_BE.search(echo.text):
        return "imagined"
    if is_imagined(echo.text) or could:
        return "past" if _ANY_PAST.search(echo.sentence) or _used_to(echo) else "imagined"
    return "present" if _is_present(echo, moment, speaking) else "past"


def _used_to(echo: Echo) -> bool:
    """Whether “would” tells of what used to be: beside it something is told that was, and nothing is supposed."""
    beside = words(echo.sentence)
    own = set(words(echo.text))
    told = any(word in _WAS_SO and word not in own for word in beside)
    return told and "if" not in beside and not {"said", "thought", "hoped", "wish"} & set(beside)


def _is_present(echo: Echo, moment: _Moment, speaking: LanguagePhrasing) -> bool:
    """Whether a clause tells of what is; in a story that is told as if it happened now it does not.

    Where no stories are asked for, what is not told as past is.
    """
    said, own = sentences(moment.answers[-1]), echo.text.casefold()
    if _STILL.search(own) and not _ANY_PAST.search(own):
        return True
    before = said[max(0, len(said) - echo.back - 2) : len(said) - echo.back] if moment.stories else []
    around = _IS_DONE.sub("", " ".join((*before, own)).casefold())
    was = _ANY_PAST.search(around) is not None or re.search(speaking.past, around) is not None
    is_now = echo.is_now or re.search(speaking.present, own) is not None
    return not was and (not moment.stories or is_now)


def _worn(probe: Probe, questions: Sequence[str]) -> float:
    """What a probe loses by the latest questions that asked for the same, in whatever words."""
    asked = [kind_of(question) == probe for question in questions]
    worn = ASKED * sum(asked) + ASKED_LAST * float(asked[-1:] == [True])
    return worn * (MORE_AGAIN if probe == "more" else 1.0)


def _run(questions: Sequence[str], speaking: LanguagePhrasing) -> int:
    """How many of the latest questions in a row say something back."""
    run = 0
    while run < len(questions) and says_back(questions[-run - 1 : len(questions) - run], speaking):
        run += 1
    return run


def says_back(questions: Sequence[str], speaking: LanguagePhrasing) -> int:
    """How many questions say something of an answer back before a probe."""
    asked = (
        *speaking.go_on,
        *(own.ask for own in speaking.own_probes),
        *(text for known in speaking.after_echo.values() for text in known.texts),
    )
    probes = tuple(f". {text}" for text in asked)
    return sum(question.endswith(probes) for question in questions)

"""The offline question writer: chooses among the wordings of the methodology's forms.

The same request and seed always give the same question. A recent question is never repeated.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache, partial
from itertools import islice, pairwise
from typing import TypeVar

from pipeline.finished import closes
from pipeline.language.offline.advice import NONE, Advice, Adviser
from pipeline.language.offline.ending import WORTH_BACK, asked_after_closing, left_to_tell
from pipeline.language.offline.phrasings import LanguagePhrasing, phrasing
from pipeline.language.offline.probe_worth import kind_of
from pipeline.language.offline.ranking import LATELY, REPLIED, THIRD, Moment, bare, in_a_run, ranked, shipped
from pipeline.language.offline.saying_back import is_weary_of_more, says_back, told_as
from pipeline.language.offline.sympathy import (
    answered,
    confides,
    ends_with_loss,
    of_the_mourned,
    remembered,
    sympathies,
    sympathy,
    tells_of_loss,
    tells_of_tears,
)
from pipeline.language.offline.telling import NOTHING, Telling, about_focus, asks_story, fit, tells_stories, told_by
from pipeline.language.offline.wording import Wording, fitting, stance_of, stands_in_much, worded
from pipeline.methodology import Form, Stance
from pipeline.ports import Embedder, QuestionRequest, Rendering
from pipeline.question.checker import check, compared_with
from pipeline.question.clauses import said_back
from pipeline.question.lexicon import KIN_NOUNS, PERSON_NOUNS
from pipeline.question.phrases import Phrase, phrase, second_person
from pipeline.question.templates import (
    capitalised,
    fill,
    rotated,
    shuffled,
    stable_hash,
    uncapitalised,
    was_asked,
)
from pipeline.question.text import jaccard, sentences, words
from pipeline.question.topics import fits_topic
from pipeline.strategies import Move

ACKNOWLEDGE_ONE_IN = 5
ACKNOWLEDGE_FROM = 6
"""Words of an answer from which on it may be acknowledged."""
TEMPLATE_SKIPS = 2
FRESH_TRIES = 5
CLOSE_COSINE = 0.90
DONT_KNOW_WORDS = 9
BEHIND, LEAST_GAIN, AWAY = 0.25, 0.25, 0.6
"""What a candidate loses for each point that it scored less than the engine's choice; how much more it must promise to
be preferred; and what counts for leaving the respondent's words where the engine wants to, which no wording shows.
Going back to something is the engine's to choose: only what was said just now is preferred."""
RETURNS, RETURNED, LONGEST_SMALL_WORD = 0.5, 3, 4
"""What a candidate gains that is about something which so many answers speak of, by a word of more than so many
letters."""
COMMON = frozenset(
    (
        "about after again always anyway because before being could couldn't didn't doesn't doing don't every "
        "everything first going having little maybe might never other people really right should something "
        "still suppose that's their there there's these thing things think thought today until wasn't where "
        "which while would years yourself "
    ).split()
)
"""Words that come back in anybody's answers."""
NEWCOMER = 0.4
"""What asking who somebody is gains over the plainest probe."""
BEGUN = 4
"""Questions up to which an interview has only begun, so that nothing is left to go back to."""
BACK = 0.3
"""What asking what else has stayed from a story gains over the plainest probe at its end."""
HINTS_IN, HINTED = 2, 2.8
"""Sentences at the end of an answer in which something may be held back, and what asking for it gains."""
NOT_LIVED = 0.8
"""What asking what something was like loses where no stories are asked for and the respondent did not live through
it."""
UNCLEAR = 1.6
"""What a question with a bare “that” loses behind an answer of the interviewer's, which it would seem to be about."""
WAS_LIKE = re.compile(r"\b(?:what was (?:that|it) like|how was (?:that|it))\b", re.IGNORECASE)
GAIN, MIDDLING = 2.0, 1.4
"""What a probe gains or loses for each point by which what moderators are expected to think of it differs from that.
After 325 answers that the model has not seen, what was asked was worth 1.93 of 3 with 1.6 and 1.96 with 2.2."""
RANKED_SHARE = 0.5
"""What counts of the ranker's opinion where ratings of a probe of that kind are foretold."""
LIST_OF, LIST_EARLY, LISTED = 3, 2, 2.0
"""Words of an enumeration that make a list of what somebody looks for; questions up to which it is asked what matters
most of it, and what that gains over the plainest probe, after which nobody knows what is meant."""
CHOSEN = 8
"""Words behind a question which of several things is meant up to which nobody has chosen by themselves."""
HALFWAY, STORY_TOLD = 4, 0.4
"""Questions from which on a story has mostly been told, and what asking how it went on loses then: of 42 before that 57
of a hundred were good and 9 bad, of 20 in the next four questions 15 and 20."""
NOTHING_NEXT = 0.8
"""What asking how it went on loses where the answer ends with what is, or would be: there it was worth 0.9 of 3 in
stories (238 moments), where it ends with what was 1.7 (744)."""
LATE = 8
"""Questions from which on most has been told, …"""
TOLD_BY_THEN = {"then": 0.5, "like": 0.5, "more": 0.3, "means": 0.3}
"""… and what the plainest probes lose then: of 74 19 in a hundred were good and 32 bad, of 138
before that 43 and 12."""
LITTLE, LITTLE_TOLD = 2.0, 30
"""What all that could be asked of the last answer must promise from then on, where it has no more than so many words:
of 43 questions that were asked where nothing promised so much 21 in a hundred were good and 56 bad, of as many that
asked what else there is, or whether anything is left to add, 49 and 7. After longer answers those hurt, too: what was
just disclosed was passed over (five of eight)."""
BROAD, BROADLY = 2.5, 4
"""What asking what else there is gains then over the plainest probe, where none of so many latest questions did."""
WHAT_ELSE = re.compile(r"\b(?:what else|apart from|what haven't we|to tell me next)\b", re.IGNORECASE)
AGAIN = {
    "then": (2, 0.2),
    "more": (2, 0.08),
    "else": (0, 0.4),
    "matter": (1, 0.3),
    "means": (1, 0.3),
    "like": (2, 0.1),
}
"""How often a probe of a kind may have been asked in an interview, and what it loses for each time more: how it went on
was bad in 1 % of 73 first times and in 47 % of 53 from the fifth on, more of something in 7 % of 108 and 34 % of 53."""
BLUNT = {"matter": 2.0, "gives": 2.0}
"""What asking outright why something matters, or what it gives somebody, loses: of 23 times all hurt."""
SPURNED = 0.8
"""What a probe of a kind loses from then on each time that somebody had enough of it."""
WEARY = 2.5
"""What asking for more loses from then on, once somebody is tired of it: of six people who were
interviewed two had said so, and both named as the worst of it that it went on."""
TWICE = frozenset({"means", "matter", "like"})
LATELY_ASKED, JUST_ASKED = 2, 0.4
"""What asking for such a thing loses besides where one of the latest questions asked for it: who was asked what
something means, and then what that means, has said so."""
SIMPLY = {"more": 0.0, "like": 1.0}
"""Bare probes by which a concept test stays with the end of an answer, and what each must promise more: of 18
times that somebody was asked what “that” was like eleven hurt, mostly because they could not tell what was meant."""
WORN_IN, WORN_BY = 3, 0.2
"""Latest questions in which such a probe makes itself worth so much less."""
LISTED_MOVES: frozenset[Move | float] = frozenset({"part", "side"})
PER_STAY, MOST_STAYS = 0.2, 3
"""What a part or a side of the idea gains over what it is worth by itself for each of the latest questions in a row
that stayed with what was said, so that they are spoken of at all, and for how many at the most, …"""
HEAVY = 0.4
"""… and what it loses right after what weighs: a death, a feeling, a promise."""
STAYS = ("more", "then", "like", "means")
"""Probes that stay with what was just told: leaving it loses by as much as one of them promises to be good."""
SAYS_BACK = 0.8
"""What saying something back gains over a bare probe of which as much is expected. Seen side by side readers prefer it
by far; judged question by question in whole conversations it was good in 69 of a hundred and bad in 11 where it
promised 2.6 or more (103 judgements), below that in 40 and 27 (214), more of it without anything said back in 16 and 27
(197). Readers of whole interviews put versions in which it gained about as much before one in which it gained less in
22 of 32 cases."""
HEARD_OUT = {"then": (1.7, 0.5), "like": (2.3, 0.3)}
"""What bare probes must promise to be as good as what is said back of which more is expected, and what they gain then:
in whole conversations how it went on was good in 58 of a hundred and bad in eight where it promised 1.7 (145), what it
was like in 54 and 15 where it promised 2.3 (26)."""
BARELY = {"means": 0.6}
"""What bare probes lose besides: of 66 that asked what it means 15 in a hundred were good and 23 bad."""
STAYING = 0.3
"""… and in a concept test, where lists and the bare probes are weighed against it."""
APPEARED = 2.0
"""What asking about somebody gains who appears in the last sentence, about whom the answer then stops."""
SPOKEN_OF = 2
"""Answers with something, or sentences of the last one with somebody, from which on a question may name just that."""
UNFEELING = frozenset(("matter", "gives", "means", "why"))
"""Kinds of probes that follow neither a word of sympathy nor, in a concept test, what was said beside the idea, where
there are others."""
OF_A_STORY = frozenset(("then", "did"))
"""Kinds of probes for what somebody lived through."""
FELT = 0.15
"""What a candidate gains for each step of feeling in what it is about."""
PEAK = 0.6
"""What a candidate gains that is about what weighs most, such as guilt, a promise, a decision; and loses that is
about a date or a figure."""
MUCH_BESIDE = 30
"""Words beside a complaint from which on more is asked of what they tell; with fewer the subject is left."""
SOME_BESIDE = 8
"""Words beside a complaint from which on their teller is asked to go on with them: of six people five named, as the
worst of their interviews, that "Sorry. What else …" passed over what they had just told with it."""
THANKED_IN = 4
"""Latest questions of which none has thanked, where a list goes on after what weighs."""
MUCH = 15
"""Words of an answer after which the last question does not come without a word of thanks."""
_A_PIECE = re.compile(r"[“„\"]?(?:i|it|we|he|she|they|that|this)\b(?:\W+\w+){0,3}\W*$", re.IGNORECASE)
"""A piece of a sentence in quotation marks that nobody is asked about again: “I eat it”."""
_POINTS = re.compile(r"\bthat\b(?= (?:make|mean|do|give|like|for|was|is|happen)\b|\W*$| about\b)", re.IGNORECASE)
"""A “that” that may stand for several things."""
TIE = 0.01
"""By how much a probe is worth less than the one before it, so that each has its turn."""
FLOOR = 1.3
"""What the plainest probe is worth: where the ranker expects less of the best wording, it is asked."""
RANKED = 1 << 20
"""Chance is drawn from this many steps."""


Result = TypeVar("Result")


class OfflineQuestionWriter:
    """Writes questions without a language model. Stateless; safe to share between sessions.

    With an embedder, wordings too close in meaning to a recent question are passed over before the first word is out;
    the vectors it keeps serve the check that follows.

    Args:
        embedder: of sentences.
        adviser: what is known of a moment; without it only rules say what suits it.
        executor: threads in which wordings are compared; None to do so at once.
    """

    def __init__(
        self, embedder: Embedder | None = None, adviser: Adviser | None = None, *, executor: Executor | None = None
    ) -> None:
        self._embedder = embedder
        self._adviser = adviser
        self._executor = executor

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        """The question, known as a whole. Raises ProviderError only where the embedder does."""
        yield await self._fresh(request)

    def template(self, request: QuestionRequest) -> str:
        """A question of the strategy without acknowledgement, other than the first attempts of `write`."""
        return compose(request.model_copy(update={"avoid_similar": True}), skip=TEMPLATE_SKIPS, plain=True)

    async def preferred(self, choices: Sequence[QuestionRequest], behind: Sequence[float]) -> int:
        """Which question the ranker expects a moderator to prefer, weighed against what the engine thinks."""
        return await self._aside(partial(self.preferred_sync, choices, behind))

    def preferred_sync(self, choices: Sequence[QuestionRequest], behind: Sequence[float]) -> int:
        """Which question the ranker expects a moderator to prefer, weighed against what the engine thinks."""
        if shipped() is None:
            return 0
        told = _telling(choices[0])
        advice = self._advice(choices[0])
        away = (-AWAY if told.felt or told.peak else AWAY) if _leaves(choices[0]) else 0.0
        if _leaves(choices[0]) and advice.ratings:
            away -= GAIN * max(0.0, max(advice.ratings[kind] for kind in STAYS) - MIDDLING)
        least = _promise(choices[0], told, advice) + _weight(choices[0]) + away + LEAST_GAIN
        taken = 0
        for index, (choice, lag) in enumerate(zip(choices, behind, strict=True)):
            if index == 0 or choice.focus_said_earlier_turns:
                continue
            value = _promise(choice, told, self._advice(choice)) + _weight(choice) - BEHIND * lag
            if value > least:
                taken, least = index, value
        return taken

    async def weighed(self, choices: Sequence[QuestionRequest], worth: Sequence[Move | float], in_a_row: int) -> int:
        """Which question of a concept test moderators are expected to prefer; the engine's where nothing is known."""
        return await self._aside(partial(self.weighed_sync, choices, worth, in_a_row))

    def weighed_sync(self, choices: Sequence[QuestionRequest], worth: Sequence[Move | float], in_a_row: int) -> int:
        """Which question of a concept test moderators are expected to prefer; the engine's where nothing is known."""
        advices = [self._advice(choice) for choice in choices]
        told = len((_last_answer(choices[0]) or "").split())
        put_out = choices[0].complained and told < MUCH_BESIDE
        if choices[0].turned_away or choices[0].spent:
            return next((at for at, move in enumerate(worth) if move in LISTED_MOVES), 0)
        if not advices[0].ratings or put_out or choices[0].composed:
            return 0
        heavy = _is_heavy(choices[0], advices[0])
        listed = -HEAVY if heavy else PER_STAY * min(in_a_row, MOST_STAYS)
        values = [
            _worth_of(move, choice, advice)
            + listed * (move in LISTED_MOVES)
            - HEAVY * (heavy and not isinstance(move, str))
            for move, choice, advice in zip(worth, choices, advices, strict=True)
        ]
        return max(range(len(values)), key=lambda at: (values[at], -at))

    async def finds_little(self, request: QuestionRequest) -> bool:
        """Whether nothing that could be asked promises much any more, and what else there is was asked for."""
        return await self._aside(partial(self.finds_little_sync, request))

    def finds_little_sync(self, request: QuestionRequest) -> bool:
        """Whether nothing that could be asked promises much any more, and what else there is was asked for."""
        broad = bool(request.stimulus) or _asked_broadly(request)
        return broad and _promises_little(request, self._advice(request))

    async def repeats_what_else(self, request: QuestionRequest) -> bool:
        """Whether somebody leaves what was asked, and was asked before what else there is."""
        return await self._aside(partial(_repeats_what_else, request))

    async def left_to_tell(self, request: QuestionRequest) -> str:
        """The words of the last answer that should be asked about before the end; empty without any."""
        return await self._aside(partial(self.left_to_tell_sync, request))

    def left_to_tell_sync(self, request: QuestionRequest) -> str:
        """The words of the last answer that should be asked about before the end; empty without any."""
        return left_to_tell(request, phrasing(request.language), _telling(request), self._advice(request))

    async def consolation(self, request: QuestionRequest) -> str:
        """What is said to a death that the last answer tells of; empty without one."""
        return await self._aside(partial(self.consolation_sync, request))

    def consolation_sync(self, request: QuestionRequest) -> str:
        """What is said to a death that the last answer tells of; empty without one."""
        answer, advice = _last_answer(request) or "", self._advice(request)
        told = request.kind == "follow_up" and bool(answer) and tells_of_loss(request, answer, advice.losses)
        return sympathy(request, answer, advice.losses) if told else ""

    def worth(self, request: QuestionRequest, text: str) -> float | None:
        """What a moderator is expected to think of a wording of the request; None for another text."""
        said = next((each for each in self._advice(request).said if text.endswith(each.text)), None)
        return round(said.rating, 2) if said is not None else worth(request, text)

    def said_instead(self, request: QuestionRequest, text: str) -> str | None:
        """The respondent's words that a question says back where they do not tell what it was to be about."""
        found = next((each for each in self._advice(request).said if text.endswith(each.text)), None)
        return (_last_answer(request) or "")[found.echo.start : found.echo.end] if found and not found.about else None

    async def _aside(self, work: Callable[[], Result]) -> Result:
        """What takes long, on another thread, so that nobody else waits for it."""
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _advice(self, request: QuestionRequest) -> Advice:
        return self._adviser.on(request) if self._adviser is not None else NONE

    async def _fresh(self, request: QuestionRequest) -> str:
        """The first wording that is not close to a recent question, else the least close of a few."""
        recent = request.recent_questions
        advice = await self._aside(partial(self._advice, request))
        if self._embedder is None or not recent:
            return compose(request, skip=request.variant, advice=advice)
        passed_over: list[tuple[float, str]] = []
        to_skip = request.variant
        for candidate in islice(wordings(request, advice=advice), FRESH_TRIES + request.variant):
            compared = compared_with(candidate, recent)
            rows = await self._embedder.embed([candidate, *compared])
            closest = float((rows[1:] @ rows[0]).max(initial=-1.0))
            if closest < CLOSE_COSINE and to_skip == 0:
                return candidate
            to_skip -= closest < CLOSE_COSINE
            passed_over.append((closest, candidate))
        return min(passed_over)[1] if passed_over else compose(request)


def compose(request: QuestionRequest, *, skip: int = 0, plain: bool = False, advice: Advice = NONE) -> str:
    """The question for a request.

    Args:
        request: what to ask about, and what was said so far.
        skip: how many acceptable wordings to pass over; the last one stands if there are fewer.
        plain: leave acknowledgements out.
        advice: what is known of the moment.
    """
    found = list(islice(wordings(request, plain=plain, advice=advice), skip + 1))
    return found[-1] if found else _last_resort(request, phrasing(request.language))


def wordings(request: QuestionRequest, *, plain: bool = False, advice: Advice = NONE) -> Iterator[str]:
    """Acceptable questions for a request, the best first, none twice; arguments as for `compose`."""
    seen: set[str] = set()
    for candidate in _candidates(request, phrasing(request.language), plain, advice):
        if candidate not in seen and _acceptable(candidate, request):
            seen.add(candidate)
            yield candidate


def worth(request: QuestionRequest, text: str) -> float | None:
    """What the ranker expects a moderator to think of a text, without what came before it; None if it can't tell."""
    ranker = shipped()
    if ranker is None:
        return None
    speaking = phrasing(request.language)
    about = _phrase_of(request)
    stance = _stance(request)
    moment = _moment(request, about, stance, NOTHING)
    for wording in _worded(_forms(request, speaking, about), request, speaking, about):
        if text.endswith(wording.text):
            return round(ranker.score(wording, moment), 2)
    return None


def _worth_of(move: Move | float, request: QuestionRequest, advice: Advice) -> float:
    """What moderators are expected to think of a question of a concept test, 0 to 3."""
    if not isinstance(move, str):
        return move
    if move != "stay":
        return advice.ratings.get(move, 0.0)
    return max((value for value, _ in _staying(request, phrasing(request.language), advice)), default=0.0)


def _staying(request: QuestionRequest, speaking: LanguagePhrasing, advice: Advice) -> list[tuple[float, str]]:
    """How a concept test can stay with what was said, by what moderators are expected to think of it, the best first.

    Something is said back of it; where it ends the answer, the bare probes are there besides.
    """
    found = [(each.value + STAYING, each.text) for each in advice.said]
    if request.focus_is_last_said or _ends_answer(request):
        time, lately = told_as(request.focus_label or "", speaking), request.all_questions[-WORN_IN:]
        for kind, dear in SIMPLY.items() if advice.ratings else ():
            value = advice.ratings[kind] - dear - WORN_BY * sum(kind_of(question) == kind for question in lately)
            texts = _turned(speaking.behind(kind, time), request, kind)
            found += [(value - TIE * at, text) for at, text in enumerate(texts)]
    return sorted(found, key=lambda pair: -pair[0])


def _goes_on_from_what_weighs(request: QuestionRequest, speaking: LanguagePhrasing, advice: Advice) -> bool:
    """Whether a list goes on in a concept test after what weighs, and nobody was thanked lately."""
    lately = request.all_questions[-THANKED_IN:]
    thanked = any(question.startswith(speaking.thanks) for question in lately)
    return bool(request.stimulus) and request.kind == "follow_up" and not thanked and _is_heavy(request, advice)


def _is_heavy(request: QuestionRequest, advice: Advice) -> bool:
    """Whether the answer tells of what weighs, so that a list can't go on as if nothing had been said."""
    told, answer = _telling(request), _last_answer(request) or ""
    weighs = confides(request, answer) or tells_of_tears(request, answer)
    return told.felt or told.peak or weighs or tells_of_loss(request, answer, advice.losses)


def _ends_answer(request: QuestionRequest) -> bool:
    """Whether a question is about the last sentence of the answer."""
    said = sentences(_last_answer(request) or "")
    return bool(said and request.focus_label) and said[-1].startswith(request.focus_label or "")


def _is_of_a_sentence(request: QuestionRequest) -> bool:
    """Whether a question of a concept test is about a sentence rather than a concept."""
    bound = request.strategy is not None and request.strategy.node_binding == "required"
    return bool(request.stimulus) and bound and request.focus_type is None


def _promises_little(request: QuestionRequest, advice: Advice) -> bool:
    """Whether it is late in an interview, little was told, and nothing that could be asked of it promises much.

    Never after what weighs or holds something back, or where nothing is foretold.
    """
    if len((_last_answer(request) or "").split()) > LITTLE_TOLD:
        return False
    if len(request.all_questions) < LATE or request.kind != "follow_up" or _is_heavy(request, advice):
        return False
    if _hinted(request, phrasing(request.language)):
        return False
    if not advice.ratings.keys() >= set(STAYS):
        return False
    return max(advice.most, *(advice.ratings[kind] for kind in STAYS)) < LITTLE


def _asked_broadly(request: QuestionRequest) -> bool:
    """Whether one of the latest questions asked what else there is."""
    return any(WHAT_ELSE.search(question) for question in request.all_questions[-BROADLY:])


def _repeats_what_else(request: QuestionRequest) -> bool:
    """Whether somebody leaves what was asked, and was asked before what else there is."""
    if request.kind != "follow_up" or request.stimulus or request.composed or _language(request) != "en":
        return False
    exhausted = _telling(request).exhausted
    told = len((_last_answer(request) or "").split()) >= MUCH_BESIDE and not exhausted
    leaves = request.complained or request.turned_away or request.spent or exhausted
    return leaves and not told and any(WHAT_ELSE.search(question) for question in request.all_questions)


def _promise(request: QuestionRequest, told: Telling, advice: Advice) -> float:
    """The worth of the best wording of a request; that of the plainest probe where none is worth more."""
    speaking = phrasing(request.language)
    about = _phrase_of(request)
    best = _best(request, speaking, about, told, advice)
    return max((value for value, _ in best), default=FLOOR if about is None else 0.0)


def _weight(request: QuestionRequest) -> float:
    """What a question gains or loses by the weight of what it is about, where that was told just now."""
    label = (request.focus_label or "").casefold()
    if not label or request.focus_said_earlier_turns:
        return 0.0
    speaking = phrasing(request.language)
    if re.search(speaking.loss, label) or re.search(r"\bdead\b", label):
        return -PEAK
    felt = FELT * request.focus_emotion
    if re.search(speaking.peak, _around(request)):
        felt += PEAK
    if _returns(request):
        felt += RETURNS
    return felt - PEAK * (
        re.search(speaking.figures, label) is not None or re.search(speaking.dates, label) is not None
    )


def _around(request: QuestionRequest) -> str:
    """The sentence of the last answer that what is asked about stands in; its label where it is in none."""
    label = (request.focus_label or "").casefold()
    wanted = (request.focus_quote or label).casefold()
    said = sentences((_last_answer(request) or "").casefold())
    return next((sentence for sentence in said if wanted in sentence), label)


def _lived(request: QuestionRequest) -> bool:
    """Whether what is asked about is told as something that the respondent did or that happened to them."""
    lived = phrasing(request.language).lived
    return not lived or re.search(lived, _around(request)) is not None


def _returns(request: QuestionRequest) -> bool:
    """Whether what is asked about is something that the respondent comes back to and nobody has asked about."""
    answers = [set(words(line.text.casefold())) for line in request.lines if line.speaker == "respondent"]
    asked = {word for question in request.all_questions for word in words(question.casefold())}
    topic = set(words(request.topic.casefold()))
    own = {word for word in words((request.focus_label or "").casefold()) if len(word) > LONGEST_SMALL_WORD}
    return any(sum(word in answer for answer in answers) >= RETURNED for word in own - asked - topic - COMMON)


def _leaves(request: QuestionRequest) -> bool:
    """Whether a question leaves what was said for the topic or the guide."""
    return request.strategy is not None and request.strategy.node_binding == "none"


def is_dont_know(answer: str, language: str) -> bool:
    """Whether an answer only says that the respondent has no answer."""
    return len(answer.split()) <= DONT_KNOW_WORDS and bool(_dont_know(language).match(answer.strip().casefold()))


def _burdens(label: str, language: str) -> bool:
    return bool(_burden(language).search(label.casefold()))


@lru_cache(maxsize=32)
def _burden(language: str) -> re.Pattern[str]:
    return re.compile(phrasing(language).burden)


@lru_cache(maxsize=32)
def _dont_know(language: str) -> re.Pattern[str]:
    return re.compile(phrasing(language).dont_know)


def _candidates(request: QuestionRequest, speaking: LanguagePhrasing, plain: bool, advice: Advice) -> Iterator[str]:
    """Wordings, the best first; some may be unacceptable."""
    about = _phrase_of(request)
    if request.kind == "rephrase":
        yield from _rephrased(request, speaking, about)
        return
    if request.kind == "opening":
        openings = _openings(request, speaking)
        yield from _asked(rotated(shuffled(openings, request.seed, "opening"), 0), request, speaking, None)
        return
    before = ""
    answer = _last_answer(request)
    if request.follows_reply:
        if answer and request.kind == "follow_up" and tells_of_loss(request, answer, advice.losses):
            before = sympathy(request, answer, advice.losses)
    elif answer == "":
        before = _pick(speaking.skipped, request, "skipped")
    elif answer is not None and request.kind == "follow_up" and is_dont_know(answer, request.language):
        easier = speaking.easier_focus if about else speaking.easier_topic
        yield from _asked(_turned(easier, request, "easier"), request, speaking, about)
    elif not plain and request.kind == "follow_up" and _acknowledges(request, answer or "", advice):
        before = _fresh_acknowledgement(request, speaking, advice)
    if answer and speaking.whichever and _asks_which(answer, speaking):
        yield from _asked(_turned(speaking.whichever, request, "which"), request, speaking, None)
    told = _telling(request)
    ranking = _best(request, speaking, about, told, advice)
    best = [text for _, text in ranking]
    best = [*_before_all(request, speaking, told, advice, best), *best]
    if memory := _remembered(request, best):
        best = [memory, *best]
    listed = about is None and bool(best) and not kind_of(best[0])
    thanks = request.ends or (not before and listed and _goes_on_from_what_weighs(request, speaking, advice))
    if thanks and len((answer or "").split()) >= MUCH and not plain and not request.complained:
        before = _pick(speaking.thanks, request, "thanks")
    if request.ends and advice.foremost and best and best[0].startswith(advice.foremost.echo.text):
        before = ""  # It was heard by that.
    looks_for_words = request.kind == "follow_up" and not request.reply  # Else they went on with what was answered.
    if answer and looks_for_words and re.search(speaking.hesitates, answer.casefold()):
        best = [*_asked(_turned(speaking.hesitating, request, "hesitating"), request, speaking, None), *best]
        before = ""
    if answer and not plain and request.kind == "follow_up" and _is_moved(request, answer):
        before = _pick(speaking.takes_time, request, "moved")
    sorry = bool(before) and before.startswith(sympathies(speaking)) and not request.ends
    left = request.turned_away or request.spent  # Who wants to leave it is not asked for more of it.
    if answer and sorry and not left and (ends_with_loss(request, answer, advice.losses) or about is None):
        of_them = [] if request.stimulus else [*of_the_mourned(request, answer, advice.losses)]
        best = [*of_them, *_asked(_turned(speaking.after_loss, request, "loss"), request, speaking, None), *best]
    elif sorry:
        best = sorted(best, key=lambda text: kind_of(text) in UNFEELING)
    if before:
        yield from (f"{before} {text}" for text in best[:6])
    yield from best
    yield from _asked(speaking.any_focus if about else speaking.any_topic, request, speaking, about)
    yield from _asked(_turned(speaking.any_topic, request, "any"), request, speaking, None)


def _remembered(request: QuestionRequest, best: Sequence[str]) -> str:
    """What somebody who has died was like, in place of what else there is; empty where that is not asked."""
    left = request.complained or request.turned_away or request.unheard or request.stimulus
    broad = request.kind == "follow_up" and bool(best) and WHAT_ELSE.search(best[0])
    return remembered(request) if broad and not left else ""


def _before_all(
    request: QuestionRequest, speaking: LanguagePhrasing, told: Telling, advice: Advice, best: Sequence[str]
) -> Iterator[str]:
    """What comes before the best wordings, the first of all first.

    Where somebody was not understood, asks to be asked, complained, refused, or has no more to tell; and where the
    interview ends with what weighs.

    Args:
        request: what to ask about.
        speaking: the language's sentences.
        told: how the last answer is told.
        advice: what is known of the moment.
        best: the wordings, the best first.
    """
    answer = _last_answer(request) or ""
    if request.unheard and not request.complained:
        yield from _asked(_turned(speaking.probes, request, "probe"), request, speaking, None)
    wished = not request.ends and request.kind == "follow_up" and _hinted(request, speaking, wished=True)
    if hint := wished or (request.complained and _hinted(request, speaking)):
        yield hint
    if request.after_closing:
        yield from asked_after_closing(request, speaking, advice)
        return
    if request.ends:
        if answer and not request.complained and advice.foremost and advice.foremost.rating >= WORTH_BACK:
            back = _turned(speaking.closings_back, request, "closing")
            yield from (text.replace("{echo}", advice.foremost.echo.text) for text in back)
        done = request.complained or request.spent or told.exhausted or closes(answer)
        if answer and _is_heavy(request, advice) and not done:
            yield from _asked(_turned(speaking.closings_heavy, request, "closing"), request, speaking, None)
        return
    stays = request.turned_away and bool(best) and kind_of(best[0]) in STAYS
    if request.stimulus and _phrase_of(request) is None and not stays:
        return
    told_more = len(answer.split()) >= MUCH_BESIDE and not told.exhausted
    late = len(request.all_questions) >= LATE
    if not told_more and _tells_beside(request, speaking, told):
        if is_weary_of_more(request):
            yield from (each.text for each in advice.said[:1])
            yield from _not_more(request, speaking, advice)
        yield from _asked(_turned(speaking.hears_on, request, "hears on"), request, speaking, None)
    over = request.spent or (told.exhausted and (late or closes(answer) or not (told.felt or told.peak)))
    over = over and not _answers_what_else(request, answer)
    if request.complained and told_more and not request.turned_away:
        yield from _asked(_beside_complaint(request, speaking, advice), request, speaking, None)
    elif _is_of_the_guide(request):
        return  # It leads away already.
    elif request.complained or (over and request.kind == "follow_up") or request.turned_away or request.composed:
        yield from _asked(_turned(_elsewhere(request, speaking), request, "any"), request, speaking, None)


def _is_of_the_guide(request: QuestionRequest) -> bool:
    """Whether a topic of the guide is asked for, in the guide's words, where it was asked before what else there is."""
    guided = bool(request.forms) and request.strategy is not None and request.strategy.focus_mode == "guide"
    return guided and any(WHAT_ELSE.search(question) for question in request.all_questions)


def _answers_what_else(request: QuestionRequest, answer: str) -> bool:
    """Whether it was just asked what else there is, and the answer tells something: it is not asked again."""
    just = any(WHAT_ELSE.search(question) for question in request.all_questions[-1:])
    return just and not request.spent and len(answer.split()) >= SOME_BESIDE


def _tells_beside(request: QuestionRequest, speaking: LanguagePhrasing, told: Telling) -> bool:
    """Whether somebody who complained, or put something right, tells on beside it, and is to go on.

    Not where they were just told so, or want something else.
    """
    some = len((_last_answer(request) or "").split()) >= SOME_BESIDE
    just = any(was_asked(text, question) for text in speaking.hears_on for question in request.all_questions[-1:])
    turned = request.turned_away or request.spent or told.exhausted or told.closed
    return request.kind == "follow_up" and request.complained and some and not (just or turned)


def _not_more(request: QuestionRequest, speaking: LanguagePhrasing, advice: Advice) -> Iterator[str]:
    """The bare probe that promises most of those that do not ask for more; none where none promises anything."""
    time = told_as(" ".join(sentences(_last_answer(request) or "")[-1:]), speaking)
    just = {kind_of(question) for question in request.all_questions[-LATELY_ASKED:]}
    likely = [(advice.ratings.get(kind, 0.0), kind) for kind in ("then", "like", "means", "mind") if kind not in just]
    for rating, kind in sorted(likely, reverse=True):
        texts = speaking.behind(kind, time)
        if texts and rating >= FLOOR:
            yield from _asked(_turned(texts, request, "not more"), request, speaking, None)
            return


def _beside_complaint(request: QuestionRequest, speaking: LanguagePhrasing, advice: Advice) -> Sequence[str]:
    """What is asked of somebody who complained and told on: about what they told, but not what they had enough of."""
    just_asked = {kind_of(question) for question in request.all_questions[-1:]}
    spurned = set(_spurned(request)) | just_asked
    if not re.search(speaking.tired_of_more, request.lines[-1].complaint.casefold()):
        spurned.discard("more")  # Who tells something new wants it heard; asking what else there is passes it over.
    found = [each.text for each in advice.said if kind_of(each.text) not in spurned]
    probes = [] if "more" in spurned | just_asked else _turned(speaking.probes, request, "probe")
    return [*found, *probes] or _turned(speaking.hears_on or _elsewhere(request, speaking), request, "any")


def _openings(request: QuestionRequest, speaking: LanguagePhrasing) -> Sequence[str]:
    """How an interview begins: with what the respondent was just shown, else as the method does.

    In English only as the topic's name fits into it: nobody is asked of the last time they chose “what people eat”.
    """
    if request.stimulus:
        return speaking.presenting
    own = request.methodology.openings.get(_language(request)) or speaking.openings
    return _fitting_topic(own, request) or _fitting_topic(speaking.openings, request) or own


def _fitting_topic(texts: Sequence[str], request: QuestionRequest) -> list[str]:
    english = _language(request) == "en"
    return [text for text in texts if not english or fits_topic(text, request.topic)]


def _last_resort(request: QuestionRequest, speaking: LanguagePhrasing) -> str:
    """A general question about the topic, the one least like what was asked lately."""
    general = [fill(template, topic=request.topic) for template in speaking.any_topic]
    return min(general, key=lambda text: max((jaccard(text, asked) for asked in request.recent_questions), default=0.0))


def _without_sympathy(question: str, speaking: LanguagePhrasing) -> str:
    """A question without what was said to a death, a confidence, or an apology, before it."""
    said = sentences(question)
    answers = (*speaking.acknowledgements_confided, *speaking.acknowledgements_apology)
    begins = (*sympathies(speaking), *answers, *speaking.thanks)
    return " ".join(said[1:]) if len(said) > 1 and said[0].startswith(tuple(begins)) else question


def _without_leads(question: str, speaking: LanguagePhrasing) -> str:
    """A question without what it was led in with when it was put differently before."""
    leads = tuple(lead.split("{question}")[0].casefold() for lead in speaking.rephrase)
    while found := next((lead for lead in leads if lead and question.casefold().startswith(lead)), ""):
        rest = question[len(found) :]
        question = rest[:1].upper() + rest[1:]
    return question


def _rephrased(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None) -> Iterator[str]:
    """Rephrasings: what it is about, said plainly; then other forms of the same strategy and focus."""
    original = request.original or ""
    if about is not None and about.kind == "quote" and _A_PIECE.match(about.text):
        about = None
    if _asks_which(_last_answer(request) or "", speaking):
        yield from _asked(_turned(speaking.whichever, request, "which"), request, speaking, None)
    if about is not None:
        plainest = [f"{{mention}} {probe}" for probe in _turned(speaking.probes, request, "probe")]
        yield from _different(_asked(plainest, request, speaking, about), original)
    if request.strategy is not None:
        forms = _forms(request, speaking, about)
        pool = [form for form in forms if not was_asked(form.ask, original) and not asks_story(form.ask)]
        ranking = _ranked(pool, request, speaking, about, _telling(request))
        yield from _different((text for _, text in ranking), original)
    else:
        openings = _openings(request, speaking)
        if any(was_asked(template, original) for template in openings):
            pool_of_openings = [template for template in openings if not was_asked(template, original)]
            turned = _turned(pool_of_openings, request, "opening")
            yield from _different(_asked(turned, request, speaking, None), original)
    original = _without_leads(_without_sympathy(original, speaking), speaking)
    if _POINTS.search(" ".join(sentences(original)[-1:])):
        # “How does that make you feel?” is no clearer in other words.
        yield from _asked(_turned(speaking.whichever, request, "which"), request, speaking, None)
    spoken = original if speaking.keep_case else uncapitalised(original)
    for lead in _turned(speaking.rephrase, request, "rephrase"):
        if original:
            yield lead.replace("{question}", spoken)
    plainly = speaking.rephrase_topic
    if request.follows_reply:  # Which says already that it is put differently.
        plainly = tuple(capitalised(text.partition(": ")[2]) or text for text in plainly)
    yield from _asked(plainly, request, speaking, None)


def _different(texts: Iterable[str], original: str) -> Iterator[str]:
    return (text for text in texts if words(text) != words(original))


def _forms(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None) -> Sequence[Form]:
    """What the question can be made of: what the request says, else the forms of the strategy, else general ones."""
    strategy = request.strategy
    own = request.forms or (strategy.templates.get(_language(request), ()) if strategy else ())
    if about is None and strategy is not None and strategy.node_binding == "required" and not request.forms:
        own = ()  # a form of its own would be about something, and there is nothing
    if own:
        return own
    if request.ends:
        return _plain(speaking.closings)
    if strategy is not None and strategy.focus_mode == "guide" and request.focus_label:
        return _plain(speaking.elements)
    return _plain(speaking.any_focus if about else _elsewhere(request, speaking))


def _elsewhere(request: QuestionRequest, speaking: LanguagePhrasing) -> Sequence[str]:
    """What is asked where there is nothing to ask about: the topic, or the story where no more of it is to be told."""
    exhausted = request.spent or _telling(request).exhausted
    over = request.complained or request.composed or exhausted or len(request.all_questions) >= LATE
    back = over and not (request.stimulus or request.turned_away)
    stories = back and tells_stories(request.methodology, request.language)
    texts = (speaking.back_to_story if stories else ()) or speaking.any_topic
    asked = request.all_questions
    fresh = [text for text in texts if not any(was_asked(fill(text, topic=request.topic), each) for each in asked)]
    return fresh or texts


def _weighed(value: float, gain: float | None) -> float:
    """What a wording is worth: by the ranker, and by what moderators are expected to think of its kind."""
    return value if gain is None else FLOOR + RANKED_SHARE * (value - FLOOR) + gain


def _instead(request: QuestionRequest, speaking: LanguagePhrasing) -> Iterator[str]:
    """What is asked where nothing can be said of what it is about: for more, or what else there is."""
    stories = tells_stories(request.methodology, request.language)
    back = (speaking.back_to_story if stories else ()) or speaking.any_topic
    texts = back if request.focus_is_jump or _leaves(request) else speaking.probes
    return _asked(_turned(texts, request, "instead"), request, speaking, None)


def _plain(texts: Sequence[str]) -> list[Form]:
    return [Form(ask=text) for text in texts]


def _best(
    request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None, told: Telling, advice: Advice = NONE
) -> list[tuple[float, str]]:
    """The wordings of the strategy's forms with what they are worth, the best first.

    What was told just now can be asked about by the plainest probes as well, each of which makes all of them worth less
    where it was used lately; and something of it can be said back.
    """
    if _is_of_a_sentence(request) and (staying := _staying(request, speaking, advice)):
        return staying
    worn, gains = _worn(request), _gains(request, advice)
    tells = tells_stories(request.methodology, request.language)
    found = _of_forms(request, speaking, about, told, gains)
    if request.stimulus and request.focus_type is not None:
        found = [pair for pair in found if kind_of(pair[1]) not in UNFEELING | OF_A_STORY] or found
        if not told.happening:
            found = [pair for pair in found if WAS_LIKE.search(pair[1]) is None] or found
    if not found:
        return [(FLOOR - TIE * place, text) for place, text in enumerate(_instead(request, speaking))]
    if about is None or request.focus_is_jump or request.complained or shipped() is None:
        return found
    goes_on = told.happening and not told.felt and not told.peak
    stories = tells and not request.stimulus
    lately = (request.all_questions or request.recent_questions)[-LATELY:]
    plainest = []
    probes = speaking.probes if request.focus_is_last_said or stands_in_much(request) else ()
    for kind, texts in (("probe", probes), ("story probe", speaking.story_probes if goes_on else ())):
        if not texts or (kind == "story probe" and not stories):
            continue
        asked = sum(any(was_asked(probe, question) for probe in texts) for question in lately)
        asked = asked if kind == "probe" else sum(was_asked(probe, lately[-1]) for probe in texts) if lately else 0
        for place, probe in enumerate(_turned(texts, request, kind)):
            value = FLOOR * (1 - asked) - TIE * place + fit(probe, named=False, told=told)
            value -= THIRD * (kind == "story probe" and in_a_run(lately))
            value -= REPLIED * (kind == "probe" and request.follows_reply)
            value += gains.get(kind_of(probe), 0.0)
            plainest.append((value, probe))
    if told.several and not (told.peak or told.felt) and stories and (part := _part(request)):
        asked = sum(any(was_asked(probe, question) for probe in probes) for question in lately)
        naming = [probe.replace("{x}", part) for probe in _turned(speaking.naming_probes, request, "naming")]
        worths = (
            FLOOR * (1 - asked) - TIE * place + fit(text, named=True, told=told) for place, text in enumerate(naming)
        )
        plainest += zip(worths, naming, strict=True)
    plainest += _leading_on(request, speaking, told, advice, gains)
    if not told.exhausted:
        plainest += [
            (FLOOR + GAIN * (each.value - MIDDLING) + SAYS_BACK - worn.get(kind_of(each.text), 0.0), each.text)
            for each in advice.said
        ]
    if _follows_an_answer(request):
        plainest = [(value - UNCLEAR * _is_bare(text), text) for value, text in plainest]
    return sorted((*found, *plainest, *_invited(request, speaking, tells=tells)), key=lambda pair: -pair[0])


def _follows_an_answer(request: QuestionRequest) -> bool:
    """Whether a question comes right behind something that the interviewer says, which “that” would mean (English)."""
    return request.follows_reply and not request.complained and _language(request) == "en"


def _is_bare(text: str) -> bool:
    """Whether a question says “that” and nothing that it could mean."""
    return len(sentences(text)) == 1 and _POINTS.search(text) is not None


def _of_forms(
    request: QuestionRequest,
    speaking: LanguagePhrasing,
    about: Phrase | None,
    told: Telling,
    gains: Mapping[str, float],
) -> list[tuple[float, str]]:
    """The wordings of the forms with what they are worth, by the ranker and by what is foretold of their kind."""
    tells = tells_stories(request.methodology, request.language)
    answers = _follows_an_answer(request)
    not_lived = NOT_LIVED * (not tells and (told.lasting or not _lived(request)))
    return [
        (
            _weighed(value, gains.get(kind_of(text)))
            - not_lived * (WAS_LIKE.search(text) is not None)
            - UNCLEAR * (answers and _POINTS.search(text) is not None),
            text,
        )
        for value, text in _ranked(_forms(request, speaking, about), request, speaking, about, told)
    ]


def _leading_on(
    request: QuestionRequest, speaking: LanguagePhrasing, told: Telling, advice: Advice, gains: Mapping[str, float]
) -> Iterator[tuple[float, str]]:
    """Questions that lead away from what was just told, to the story or the topic, with what they are worth.

    There are none while something is left to ask of it.
    """
    tells = tells_stories(request.methodology, request.language)
    lately = (request.all_questions or request.recent_questions)[-LATELY:]
    over = (told.over or told.exhausted) and not (told.felt or told.peak) and len(request.all_questions) >= BEGUN
    if over and tells and not request.stimulus:
        for place, text in enumerate(_turned(speaking.back_to_story, request, "back")):
            asked = sum(was_asked(other, question) for other in speaking.back_to_story for question in lately)
            yield FLOOR + BACK - asked - TIE * place + gains.get("else", 0.0), text
    if not request.stimulus and not _asked_broadly(request) and _promises_little(request, advice):
        turned = _asked(_turned(_elsewhere(request, speaking), request, "broad"), request, speaking, None)
        yield from ((FLOOR + BROAD - TIE * place, text) for place, text in enumerate(turned))
    if told.exhausted and not tells:
        turned = _asked(_turned(speaking.any_topic, request, "any"), request, speaking, None)
        yield from ((FLOOR + BACK - TIE * place + gains.get("else", 0.0), text) for place, text in enumerate(turned))


def _gains(request: QuestionRequest, advice: Advice) -> dict[str, float]:
    """What a probe of each kind gains or loses by what moderators are expected to think of it, and by how often and how
    late it is asked; nothing for kinds of which that is not known.
    """
    worn = _worn(request)
    gains = {kind: GAIN * (rating - MIDDLING) - worn.get(kind, 0.0) for kind, rating in advice.ratings.items()}
    for kind, loss in BARELY.items():
        gains[kind] = gains.get(kind, -worn.get(kind, 0.0)) - loss
    for kind, (least, gain) in HEARD_OUT.items():
        if advice.ratings.get(kind, 0.0) >= least and not worn.get(kind):
            gains[kind] += gain
    asked = len(request.all_questions)
    if _language(request) == "en" and not _ends_with_what_was(request):
        gains["then"] = gains.get("then", -worn["then"]) - NOTHING_NEXT
    if asked >= HALFWAY:
        gains["then"] = gains.get("then", -worn["then"]) - STORY_TOLD
    for kind, loss in TOLD_BY_THEN.items() if asked >= LATE else ():
        gains[kind] = gains.get(kind, -worn.get(kind, 0.0)) - loss
    for kind, loss in BLUNT.items():
        gains[kind] = gains.get(kind, -worn.get(kind, 0.0)) - loss
    return gains


def _ends_with_what_was(request: QuestionRequest) -> bool:
    """Whether the last sentence of the answer tells of something that was."""
    said = sentences(_last_answer(request) or "")
    return not said or told_as(said[-1], phrasing(request.language)) == "past"


def _invited(request: QuestionRequest, speaking: LanguagePhrasing, *, tells: bool) -> Iterator[tuple[float, str]]:
    """Questions that the answer itself asks for, with what they are worth: something is held back, several things are
    named, somebody appears.

    Args:
        request: what to ask about.
        speaking: the language's sentences.
        tells: whether the method asks for stories.
    """
    latest = (request.all_questions or request.recent_questions)[-1:]
    if (hint := _hinted(request, speaking)) and not any(was_asked(hint, question) for question in latest):
        yield FLOOR + HINTED, hint
    if _lists(request, speaking) and not tells:
        yield from ((FLOOR + LISTED, text) for text in speaking.which_most)
    if appeared := _appeared(request, speaking):
        yield from ((FLOOR + APPEARED, probe.replace("{x}", appeared)) for probe in speaking.appearing)
    if name := _newcomer(request):
        yield from ((FLOOR + NEWCOMER, probe.replace("{x}", name)) for probe in speaking.newcomers)


def _lists(request: QuestionRequest, speaking: LanguagePhrasing) -> bool:
    """Whether an answer early in the interview enumerates what somebody looks for."""
    asked = request.all_questions
    if not speaking.which_most or request.stimulus or len(asked) > LIST_EARLY or request.focus_is_jump:
        return False
    if any(was_asked(text, question) for text in speaking.which_most for question in asked):
        return False
    if re.search(speaking.ranks, (_last_answer(request) or "").casefold()):
        return False
    return len(re.findall(speaking.enumerates, (_last_answer(request) or "").casefold())) >= LIST_OF


def _asks_which(answer: str, speaking: LanguagePhrasing) -> bool:
    """Whether somebody asks which of several things is meant, and has not chosen by themselves."""
    found = [*re.finditer(speaking.asks_which, answer.casefold())]
    return bool(found) and len(answer[found[-1].end() :].split()) <= CHOSEN


def _worn(request: QuestionRequest) -> dict[str, float]:
    """What a probe of each kind loses because it was asked so often."""
    asked = Counter(map(kind_of, request.all_questions))
    worn = {kind: loss * max(0, asked[kind] - free) for kind, (free, loss) in AGAIN.items()}
    for kind in TWICE.intersection(map(kind_of, request.all_questions[-LATELY_ASKED:])):
        worn[kind] += JUST_ASKED
    for kind in _spurned(request):
        worn[kind] = worn.get(kind, 0.0) + SPURNED
    if is_weary_of_more(request):
        worn["more"] += WEARY
    return worn


def _spurned(request: QuestionRequest) -> Iterator[str]:
    """The kinds of the probes that somebody had enough of, once for each time.

    Who complains of a question that said something back, in words that do not say of what, may mean what was chosen.
    """
    speaking = phrasing(request.language)
    lines = request.briefing.conversation or request.lines
    for before, line in pairwise(lines):
        if (before.speaker, line.speaker) != ("interviewer", "respondent"):
            continue
        bare = line.complaint and not says_back((before.text,), speaking)
        if bare or _grumbles(line.complaint, line.text, request.language):
            yield from filter(None, [kind_of(before.text)])


@lru_cache(maxsize=1024)
def _grumbles(complaint: str, text: str, language: str) -> bool:
    """Whether somebody grumbles in what was heard as a complaint, or in the first sentence of an answer."""
    first = " ".join(sentences(text.casefold().replace("’", "'"))[:1])
    said = f"{complaint} {first}".casefold().replace("’", "'")
    return re.search(phrasing(language).grumbles, said) is not None


def _part(request: QuestionRequest) -> str:
    """Somebody in what is asked about who came up more than once and in no question yet; else nothing.

    Things are left alone: people were asked about a cupboard, a van and the wagons while they told of something else.
    """
    part = request.focus_rendering.part
    if not part or part[:1].isupper() or not _is_somebody(part):
        return ""
    head = words(part)[-1]
    asked = any(head in words(text.casefold()) for text in (*request.all_questions, request.topic))
    return part if _came_up(request, part) and not asked else ""


def _is_somebody(part: str) -> bool:
    return words(part)[-1] in PERSON_NOUNS | KIN_NOUNS


def _came_up(request: QuestionRequest, part: str) -> bool:
    """Whether something came up in several answers, or somebody in several sentences of the last one."""
    head = words(part)[-1]
    answers = [line.text.casefold() for line in request.lines if line.speaker == "respondent"]
    everywhere = sum(head in words(answer) for answer in answers) >= SPOKEN_OF
    lately = sum(head in words(sentence) for answer in answers[-1:] for sentence in sentences(answer)) >= SPOKEN_OF
    return everywhere or (lately and _is_somebody(part))


def _newcomer(request: QuestionRequest) -> str:
    """Somebody in what is asked about who was named there for the first time and not introduced; else nothing."""
    name = request.focus_rendering.part
    if not name[:1].isupper() or len(name.split()) > 1:
        return ""
    *before, last = [line.text for line in request.lines if line.speaker == "respondent"] or [""]
    known = any(name.casefold() in words(text.casefold()) for text in (*before, *request.all_questions, request.topic))
    introduced = re.search(
        phrasing(request.language).introduces.replace("{x}", re.escape(name.casefold())), last.casefold()
    )
    return "" if known or introduced else name


def _hinted(request: QuestionRequest, speaking: LanguagePhrasing, *, wished: bool = False) -> str:
    """The question for what the last answer holds back at its end; nothing where it holds back nothing.

    Args:
        request: what to ask about.
        speaking: the language's sentences.
        wished: only what the respondent asks to be asked for, in the complaint before the answer, too.
    """
    last = _last_answer(request) or ""
    end = " ".join([request.lines[-1].complaint if wished and request.lines else "", *sentences(last)[-HINTS_IN:]])
    for hint in speaking.hints:
        found = re.search(hint.said, end) if hint.wished or not wished else None
        if found and not any(was_asked(hint.ask, question) for question in request.all_questions):  # Once is enough.
            named = found.groupdict().get("x") or ""
            named = named.lower() if named.lower() in ("he", "she", "they") else second_person(named)
            return hint.ask.replace("{x}", named)
    return ""


def _appeared(request: QuestionRequest, speaking: LanguagePhrasing) -> str:
    """Somebody of whom the last sentence says no more than that they were there; nothing where they were known."""
    *before, last = [line.text for line in request.lines if line.speaker == "respondent"] or [""]
    found = re.search(speaking.appears, ["", *sentences(last)][-1].strip())
    name = found["name"] if found else ""
    known = any(name.casefold() in words(text.casefold()) for text in (*before, *request.all_questions, request.topic))
    return "" if known else name


def _telling(request: QuestionRequest) -> Telling:
    return told_by(tuple(line.text for line in request.lines if line.speaker == "respondent"), request.language)


def _ranked(
    forms: Sequence[Form], request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None, told: Telling
) -> Iterator[tuple[float, str]]:
    """The wordings of the forms that fit with their scores, the best first."""
    stance = _stance(request)
    found = _worded(forms, request, speaking, about)
    name = request.strategy.name if request.strategy else request.kind
    chance = [
        stable_hash(request.seed, request.turn_number, name, wording.form.ask) % RANKED / RANKED for wording in found
    ]
    for score, wording in ranked(found, _moment(request, about, stance, told), chance):
        yield score, wording.text


def _worded(
    forms: Sequence[Form], request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None
) -> list[Wording]:
    """Every wording of the forms that fit."""
    label = request.focus_label or ""
    english = _language(request) == "en"
    back = said_back(label) if english else ""
    named = f"the point {label}" if english and label.casefold().startswith("that ") else label
    forms = [form for form in forms if back or "{said}" not in form.ask] or _plain(speaking.probes)
    if about is None and english:
        forms = [form for form in forms if fits_topic(form.ask, request.topic)] or _plain(speaking.any_topic)
    found = [
        Wording(wording.text.replace("{element}", named).replace("{said}", back), wording.form, wording.naming)
        for wording in worded(_unused(fitting(forms, request, _stance(request)), request), request, speaking, about)
    ]
    thing = request.focus_rendering.thing
    if not thing or (_is_somebody(thing) and _came_up(request, thing)):
        return found
    return [wording for wording in found if "about {thing}." not in wording.form.ask] or found


def _unused(forms: Sequence[Form], request: QuestionRequest) -> Sequence[Form]:
    """In a concept test the forms that were not asked in this interview, as long as there are any."""
    if not request.stimulus:
        return forms
    asked = request.all_questions
    return [form for form in forms if not any(was_asked(form.ask, question) for question in asked)] or forms


def _stance(request: QuestionRequest) -> Stance:
    return stance_of(request, _burdens(request.focus_label or "", request.language))


def _moment(request: QuestionRequest, about: Phrase | None, stance: Stance, told: Telling) -> Moment:
    return Moment(
        type=request.focus_type,
        stance=stance,
        feels=request.focus_emotion > 0,
        last_said=request.focus_is_last_said and not request.focus_is_jump,
        about=about,
        time=request.focus_time,
        answer=_last_answer(request) or "",
        recent=request.all_questions or request.recent_questions,
        complained=request.complained,
        replied=request.follows_reply,
        told=about_focus(told, request.focus_label or "", phrasing(request.language)),
        jump=request.focus_is_jump,
        bare=bare(request.all_questions, [line.text for line in request.lines if line.speaker == "respondent"]),
    )


def _asked(
    texts: Sequence[str], request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None
) -> Iterator[str]:
    """Texts as questions, in their order."""
    return (wording.text for wording in worded(_plain(texts), request, speaking, about))


def _acknowledges(request: QuestionRequest, answer: str, advice: Advice) -> bool:
    """Whether to acknowledge the answer: a death always, else at random, where much was told; never twice in a row."""
    spoken = _acknowledgements(phrasing(request.language))
    last = request.recent_questions[-1] if request.recent_questions else ""
    if tells_of_loss(request, answer, advice.losses) and not last.startswith(sympathies(phrasing(request.language))):
        return True
    if answered(request, answer):
        return True
    if any(last.startswith(ack) for ack in spoken):
        return False
    if len(answer.split()) < ACKNOWLEDGE_FROM or request.focus_is_jump or request.turn_number < 1:
        return False
    return stable_hash(request.seed, request.turn_number, "acknowledge") % ACKNOWLEDGE_ONE_IN == 0


def _acknowledgements(speaking: LanguagePhrasing) -> tuple[str, ...]:
    return (*speaking.acknowledgements, *sympathies(speaking))


def _is_moved(request: QuestionRequest, answer: str) -> bool:
    """Whether somebody is close to tears and goes on telling."""
    speaking = phrasing(request.language)
    before = request.recent_questions[-1:] and request.recent_questions[-1].startswith(speaking.takes_time)
    return bool(speaking.takes_time) and not before and re.search(speaking.moved, answer.casefold()) is not None


def _fresh_acknowledgement(request: QuestionRequest, speaking: LanguagePhrasing, advice: Advice) -> str:
    """One that fits the weight of what was said and was not used lately; none where only silence would fit."""
    answer = _last_answer(request) or ""
    if tells_of_loss(request, answer, advice.losses):
        return sympathy(request, answer, advice.losses)
    if heard := answered(request, answer):
        return heard
    if request.focus_emotion > 1:
        return ""
    pool = speaking.acknowledgements
    unused = [a for a in pool if not any(q.startswith(a) for q in request.recent_questions)]
    return _pick(unused or pool, request, "acknowledgement")


def _acceptable(text: str, request: QuestionRequest) -> bool:
    if asks_of_no_moment(text, request.language):
        return False
    said = [line.text for line in request.lines if line.speaker == "respondent"]
    return not check(
        text,
        recent_questions=request.recent_questions,
        language=request.language,
        max_words=request.max_words,
        allowed_words=(*said, request.topic, request.focus_label or ""),
    )


_LED_BACK = re.compile(
    r"^You (?:said|told me)\b(?: earlier| a while ago)?(?: that)? (?P<clause>[^.?!]+)\. "
    r"(?:[^.?!]*\b(?:at that moment|just then|then|at that point)\?|What (?:was|were|went|did)\b[^.?!]*\?)$"
)


def asks_of_no_moment(text: str, language: str) -> bool:
    """Whether a question leads back to what is always so, and asks of a moment: “You said earlier that she eats late.
    What went through your mind at that moment?”
    """
    led = _LED_BACK.match(text) if language.casefold().startswith("en") else None
    return led is not None and told_as(led["clause"], phrasing(language)) == "present"


def _phrase_of(request: QuestionRequest) -> Phrase | None:
    if not request.focus_label or (request.strategy and request.strategy.node_binding == "none"):
        return None
    said = [line.text for line in request.lines if line.speaker == "respondent"]
    told = request.focus_rendering
    if request.focus_is_jump and not told.named:
        told = Rendering()
    return phrase(
        request.focus_label,
        node_type=request.focus_type or "",
        language=request.language,
        said=said,
        rendering=told,
    )


def _last_answer(request: QuestionRequest) -> str | None:
    """The latest answer, empty for a skip; none before the first."""
    if not request.lines or request.lines[-1].speaker != "respondent":
        return None
    return request.lines[-1].text


def _language(request: QuestionRequest) -> str:
    return request.language.casefold().split("-")[0]


def _pick(items: Sequence[str], request: QuestionRequest, what: str) -> str:
    return items[stable_hash(request.seed, request.turn_number, what) % len(items)] if items else ""


def _turned(items: Sequence[str], request: QuestionRequest, what: str) -> list[str]:
    return rotated(shuffled(items, request.seed, what), request.turn_number)

"""Which of several wordings a moderator would choose here: a linear model over features that a person can read.

The weights are in `ranker.json` beside this module, made by `python -m pipeline.language.training.ranker` from judged
questions; a feature without a weight counts nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from pipeline.language.embedder import known_words
from pipeline.language.offline.telling import BARE, NAMED, NOTHING, Telling, asks_story, fit
from pipeline.language.offline.wording import Wording
from pipeline.methodology import Stance, Time
from pipeline.question.lexicon import CONTRACTED_SUBJECTS, DETERMINERS, SUBJECT_PRONOUNS
from pipeline.question.phrases import Phrase
from pipeline.question.templates import was_asked
from pipeline.question.text import jaccard, word_count, words

JITTER = 0.15
"""Most that chance adds, so that wordings of the same worth take turns."""
ASKED_EVER, ASKED_LATELY, ASKED_LAST = 0.4, 0.5, 1.5
"""What a wording loses for each question of the interview that asked the same, for each of the latest besides, and for
the last one: people notice, and no single moment that was judged can show it."""
LATELY = 6
"""Questions that are lately."""
ALIKE = 0.5
"""What a wording loses for each of the last `LATELY` questions that asked the same in other words."""
ALIKE_LAST = 1.2
"""What it loses besides if the last question asked the same in other words."""
STEMS = tuple(
    (re.compile(asks, re.I), re.compile(told, re.I))
    for asks, told in (
        (r"\bmean (?:to|for) you\b", r"\b(?:it|that|which) means?\b"),
        (
            r"\b(?:is|was|be) (?:that|it) like\b|\bhow was (?:that|it)\b",
            r"\bit (?:was|is|'s|felt) (?:like|just like|so)\b",
        ),
        (r"\b(?:matter|important)\b", r"\b(?:important|matters|mattered|that's everything|it's everything)\b"),
        (r"\b(?:do|give|difference)\b.*\byou\b", r"\b(?:gives|gave|lets) me\b"),
        (r"\bmore about that\b", r"(?!)"),
        (
            r"\bcome from\b",
            r"\b(?:from|because of|like) (?:my|nan|mum|dad|gran|home)\b|\bgrew up\b|\b(?:when|since) i was\b"
            r"|\bas a (?:kid|child)\b|\b(?:comes?|came) from\b",
        ),
        (r"\b(?:went through your mind|make of that|get to you)\b", r"\bi (?:was thinking|thought)\b"),
    )
)
"""What questions ask in several wordings, and words by which an answer has told just that; how a story goes on may be
asked again and again."""
TOLD = 0.8
"""What a wording loses that asks for what the answer says by itself."""
ONCE, ROOTS = re.compile(r"\bcome from\b", re.I), 3.0
MEANS, MEANT = re.compile(r"\bmean (?:to|for) you\b", re.I), 0.6
"""What is asked once in an interview, and what it loses after that; and for each time that it was asked."""
COMPLAINED, AGAIN = 2.0, 3
"""What a wording loses after a complaint if one of so many latest questions asked the same."""
MADE = re.compile(r"^What made you\b", re.IGNORECASE)
FEELS = re.compile(r"\byou feel (\w+)", re.IGNORECASE)
BECAUSE = re.compile(r"\b(?:because|cos|'cause|that's why|so i|so we)\b[^.!?]*[.!?]?[^.!?]*[.!?]?\s*$", re.IGNORECASE)
REASON_TOLD = 0.8
"""What asking what made somebody do or feel something loses where the answer gives the reason."""
ASIDE = 0.7
"""What asking about something else that was told loses in the middle of a story."""
REPLIED = 1.2
"""What a wording loses that says “that” right after a refusal, a question or a correction was answered."""
MIMICRY = 1.0
"""What a wording loses that says back words of somebody who learns the language, or in dialect."""
SAID_PIECE = 0.6
"""What saying back a piece of an answer loses besides: what is worth it is found by itself."""
MANGLED = 1.0
"""What going back to something loses that is quoted without who it is about: “said to a nurse through me”."""
SAID_BACK, SAID_BACK_LIGHT = 0.3, 1.3
"""What a wording loses that says back a clause of what was said just now, or quotes it, and one in which nothing …"""
WEIGHS = re.compile(
    r"n't\b|\b(?:not|never|nobody|no one|nothing|only|first|still|always|for years|want(?:ed|s)?|need(?:ed|s)?"
    r"|wish(?:ed)?|hoped?|expect(?:ed|s)?|belong(?:ed|s)?|trust(?:ed|s)?|relieved|proud|ashamed|alone|safe|free"
    r"|thought|felt|the same|(?:by|on) (?:your own|yourself|himself|herself|themselves)|sees? you)\b",
    re.IGNORECASE,
)
"""… weighs: of clauses said back in judged interviews, those with such a word were good in 13 of 24 cases and bad in 4,
the others, people who got up, a late shift, in 3 and 20 of 26."""
WORN_OUT = tuple(
    (re.compile(pattern, re.IGNORECASE), loss)
    for pattern, loss in (
        (r"\b(?:do|does|did) that do to you\b", 1.0),
        (r"\b(?:do|does|did) that do for you\b", 0.6),
        (r"\bmean (?:to|for) you\b", 0.3),
        (r"\bcome from\b", 1.6),
        (r"\bbehind that\b", 0.6),
        (r"\bmade you think of that\b", 1.0),
        (r"\bdoes that matter\b", 0.4),
        (r"^And what did you do(?: then)?\?$", 0.8),
        (r"^What did that mean to you\?$", 0.6),
        (r"^What led to that\?$", 0.8),
        (r"^How did you come to do it that way\?$", 0.8),
        (r"^What made you hesitate\?$", 0.4),
        (r"^Tell me more about that\.$", 0.3),
        (r"\bis that like for\b", 0.9),
        (r"\bbothers you\b", 1.2),
        (r"\bdeal with that\b", 1.0),
        (r"\bwhat difference does\b", 1.0),
        (r"\bso much to you\b", 0.4),
        (r"\bn't right about\b", 1.5),
        (r"\bmake you feel\?", 0.5),
        (r"\bma(?:de|kes) you feel\b", 1.2),
        (r"\bwhat is it about that\b", 1.0),
        (r"\bexplain that to yourself\b", 1.0),
        (r"\bmade you hesitate\b", 0.6),
        (r"\bwhen you\b", 1.2),
        (r"\bweren't possible\b", 0.8),
        (r"\bwhen (?:he|she|they|it|your|his|her|the|my|our)\b", 1.2),
        (r"\belse did you think\b|\bdifferently since\b", 0.5),
    )
)
"""What forms lose that moderators hardly ever called good in interviews, however well they looked by themselves."""
RUN, THIRD = 2, 1.5
"""What asking how it went on loses after so many questions in a row that asked just that."""
TAKEN_UP = 0.6
"""What a wording gains that says what it is about, where the last `UNNAMED` questions did not take up a word."""
UNNAMED = 2
LONG_WORD = 4
"""Letters of a word beyond which it says something."""
TERSE, SHORT = 5, 15
"""An answer of at most so many words is terse, or short."""
OTHERS = re.compile(r"\b(?:he|she|they|him|her|them|we|us|who|somebody|someone|everyone|everybody|people)\b", re.I)
ASKS_IMAGINED = re.compile(r"\b(?:would|could|if)\b", re.I)
ASKS_PAST = re.compile(r"\b(?:did|was|were|happened|made|brought|came|played|went)\b", re.I)
TENSES = {"does": "do", "did": "do", "would": "do", "is": "be", "are": "be", "was": "be", "were": "be", "'s": "be"}


@dataclass(frozen=True)
class Moment:
    """What the choice of a wording depends on.

    Attributes:
        type: of what is asked about; None for the topic.
        stance: to it.
        feels: whether feeling was heard in it.
        last_said: whether it was said last in the last answer.
        about: it, as a phrase.
        time: when it is so, as it was told; None where that is not known.
        answer: the last answer, or nothing.
        recent: the questions of the interview, the last at the end.
        bare: whether the latest of them took up no word of what was told.
        complained: whether somebody has just complained about one.
        replied: whether something they said of the interview was answered before the question.
        told: how the last answer is told.
        jump: whether the question leads back to something from before.
    """

    type: str | None
    stance: Stance
    feels: bool
    last_said: bool
    about: Phrase | None
    time: Time | None = None
    answer: str = ""
    recent: tuple[str, ...] = ()
    bare: bool = False
    complained: bool = False
    replied: bool = False
    told: Telling = NOTHING
    jump: bool = False


def features(wording: Wording, moment: Moment) -> dict[str, float]:
    """What speaks for and against a wording at a moment, by name; most are 0 or 1."""
    return dict(_features(wording, moment, tuple(_conditions(moment))))


def _features(wording: Wording, moment: Moment, conditions: Sequence[str]) -> Iterator[tuple[str, float]]:
    form, naming = wording.form, wording.naming
    ask, stem, asks = _form(form.ask)
    yield f"form={ask}", 1.0
    yield f"stem={stem}", 1.0
    yield f"asks={asks}|time={moment.time}", 1.0
    for condition in conditions:
        yield f"form={ask}|{condition}", 1.0
        yield f"naming={naming}|{condition}", 1.0
    yield f"naming={naming}", 1.0
    yield f"naming={naming}|last_said={moment.last_said}", 1.0
    if moment.about is not None:
        yield f"naming={naming}|phrase={moment.about.kind}", 1.0
        yield f"naming={naming}|words={min(len(moment.about.text.split()) // 3, 4)}", 1.0
    yield f"naming={naming}|answer={_size(moment.answer)}", 1.0
    yield f"types={moment.type in form.types if form.types else None}", 1.0
    yield f"stance={moment.stance in form.stance if form.stance else None}|{moment.stance}", 1.0
    yield f"feeling={form.feeling}|{moment.feels}", 1.0
    yield "words", word_count(wording.text) / 25


def _conditions(moment: Moment) -> Iterator[str]:
    yield f"type={moment.type or 'none'}"
    yield f"stance={moment.stance}"
    yield f"feels={moment.feels}"
    yield f"answer={_size(moment.answer)}"
    yield f"others={bool(OTHERS.search(moment.answer))}"
    yield f"time={moment.time}"


@lru_cache(maxsize=4096)
def _form(ask: str) -> tuple[str, str, Time]:
    """The words of a form, the same without their tense, and the time that it asks for."""
    return " ".join(words(ask)), _stem(ask), _asks(ask)


def _asks(ask: str) -> Time:
    """The time that a form asks for, by its verb."""
    return "imagined" if ASKS_IMAGINED.search(ask) else "past" if ASKS_PAST.search(ask) else "present"


def _stem(ask: str) -> str:
    """A form without its tense: "What did that do for you?" asks what "What does that do for you?" asks."""
    return " ".join(TENSES.get(word, word) for word in words(ask.replace("'s", " 's")))


def _size(answer: str) -> str:
    length = len(answer.split())
    return "terse" if length <= TERSE else "short" if length <= SHORT else "long"


@dataclass(frozen=True)
class Ranker:
    """Weights by feature, and the worth of a wording of which nothing is known."""

    weights: Mapping[str, float]
    base: float = 0.0

    def score(self, wording: Wording, moment: Moment) -> float:
        """The judgement to be expected: 0 for a wording that shames its speaker, 3 for the one that fits best."""
        return self._score(wording, moment, tuple(_conditions(moment)))

    def scores(self, wordings: Sequence[Wording], moment: Moment) -> list[float]:
        """The same for several wordings of one moment."""
        conditions = tuple(_conditions(moment))
        return [self._score(wording, moment, conditions) for wording in wordings]

    def _score(self, wording: Wording, moment: Moment, conditions: Sequence[str]) -> float:
        found = _features(wording, moment, conditions)
        return self.base + sum(self.weights.get(name, 0.0) * value for name, value in found)


@lru_cache(maxsize=1)
def shipped() -> Ranker | None:
    """The ranker that is shipped; None where its file is missing or damaged, so that forms come in their own order."""
    try:
        loaded = json.loads(files(__package__).joinpath("ranker.json").read_text("utf-8"))
        weights = {str(name): float(value) for name, value in loaded["weights"].items()}
        return Ranker(weights, float(loaded["base"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def ranked(wordings: Sequence[Wording], moment: Moment, chance: Sequence[float]) -> list[tuple[float, Wording]]:
    """The wordings with their scores, the best first.

    Args:
        wordings: of one moment.
        moment: what the choice depends on.
        chance: a number in [0, 1) for each wording, which decides between equals.
    """
    ranker = shipped()
    scores = ranker.scores(wordings, moment) if ranker else [0.0] * len(wordings)
    scored = [
        (
            score
            + JITTER * luck
            - _worn(wording, moment)
            + _taken_up(wording, moment)
            + _fit(wording, moment)
            - (_known(wording, moment) if ranker else 0.0),
            wording,
        )
        for score, wording, luck in zip(scores, wordings, chance, strict=True)
    ]
    return sorted(scored, key=lambda pair: -pair[0])


def _worn(wording: Wording, moment: Moment) -> float:
    """What a wording loses because the same was asked before."""
    lately = moment.recent[-LATELY:]
    asked = [was_asked(wording.form.ask, question) for question in moment.recent]
    stems = _stems(wording.form.ask)
    alike = sum(not stems.isdisjoint(_stems(question)) for question in lately)
    answered = any(STEMS[number][1].search(moment.answer) for number in stems)
    once = _says(ONCE, wording.form.ask)
    roots = ROOTS * (once and any(_says(ONCE, question) for question in moment.recent))
    roots += TOLD * (once and moment.told.origins)
    if _says(MEANS, wording.form.ask):
        roots += MEANT * sum(_says(MEANS, question) for question in moment.recent)
    again = moment.complained and any(not stems.isdisjoint(_stems(question)) for question in moment.recent[-AGAIN:])
    return (
        TOLD * answered
        + roots
        + COMPLAINED * again
        + ASKED_EVER * sum(asked)
        + ASKED_LATELY * sum(asked[-LATELY:])
        + ASKED_LAST * float(asked[-1:] == [True])
        + ALIKE * max(0, alike - sum(asked[-LATELY:]))
        + ALIKE_LAST * any(not stems.isdisjoint(_stems(question)) for question in lately[-1:])
        + max((jaccard(wording.text, question) for question in lately), default=0.0)
    )


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[int]:
    """Numbers of those of `STEMS` that a question, or a form, asks for."""
    return frozenset(number for number, (asks, _) in enumerate(STEMS) if asks.search(text))


@lru_cache(maxsize=8192)
def _says(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a question, or a form, has words of a pattern."""
    return pattern.search(text) is not None


@lru_cache(maxsize=8192)
def _worn_out(text: str) -> float:
    """What a wording loses by words that people have had enough of."""
    return sum(loss for pattern, loss in WORN_OUT if pattern.search(text))


def _fit(wording: Wording, moment: Moment) -> float:
    """What a wording gains or loses by how the answer was told, and by what was asked just before."""
    about = moment.about
    quoted = wording.naming == "sentence" and not moment.jump
    quoted = quoted and about is not None and about.kind == "quote"
    value = fit(wording.text, named=wording.naming != "unnamed", told=moment.told, quoted=quoted)
    if _says_back(wording, moment) and not quoted:
        value -= NAMED * (moment.told.several or moment.told.unclear)
    value -= THIRD * (asks_story(wording.text) and in_a_run(moment.recent))
    value -= REASON_TOLD * _reason_told(wording.text, moment.answer)
    aside = wording.naming in ("woven", "inside") and not moment.last_said and not asks_story(wording.text)
    value -= ASIDE * (moment.told.happening and aside)
    if wording.naming == "sentence" and moment.jump and about is not None and about.kind == "quote":
        value -= MANGLED * (words(about.label)[:1] != [] and not _begins_a_clause(about.label))
    if wording.naming == "echo":
        value -= MIMICRY * (moment.told.learning or not all(word in known_words() for word in _echoed(wording)))
    if wording.naming == "unnamed" and BARE.search(wording.text):
        value -= COMPLAINED if moment.complained else REPLIED * moment.replied
    return value


def _begins_a_clause(label: str) -> bool:
    """Whether the first word of what is quoted says who or what it is about."""
    first = words(label)[0]
    return first in SUBJECT_PRONOUNS | CONTRACTED_SUBJECTS | DETERMINERS


def _reason_told(question: str, answer: str) -> bool:
    """Whether the end of an answer says why somebody did what is asked about, or the answer why they feel so."""
    feels = FEELS.search(question)
    if feels is not None:
        reason = rf"\b{re.escape(feels[1])}\W+(?:\w+\W+){{0,3}}(?:because|cos|that)\b"
        return re.search(reason, answer, re.IGNORECASE) is not None
    return MADE.search(question) is not None and BECAUSE.search(answer) is not None


def _known(wording: Wording, moment: Moment) -> float:
    """What a wording loses by what is known of its kind from interviews that were judged."""
    back = 0.0
    if _says_back(wording, moment):
        back = SAID_BACK if WEIGHS.search(wording.text.split(".")[0]) else SAID_BACK_LIGHT
        back += SAID_PIECE * (wording.naming == "echo")
    return back * (1 + moment.replied) + _worn_out(wording.text)


def _says_back(wording: Wording, moment: Moment) -> bool:
    return not moment.jump and wording.naming in ("echo", "sentence", "inside")


def in_a_run(questions: Sequence[str]) -> bool:
    """Whether the latest questions all asked how it went on."""
    latest = questions[-RUN:]
    return len(latest) == RUN and all(asks_story(question) for question in latest)


def _echoed(wording: Wording) -> list[str]:
    """The words of what a wording says back, without endings that a list of words does not have."""
    said = wording.text.split(".")[0]
    return [word.split("'")[0] for word in words(said) if word.split("'")[0].isalpha()]


def _taken_up(wording: Wording, moment: Moment) -> float:
    """What a wording gains by saying what it is about, after questions that did not."""
    if wording.naming == "echo" and asks_story(wording.form.ask):
        return -TAKEN_UP
    return TAKEN_UP if moment.bare and wording.naming == "woven" else 0.0


def bare(questions: Sequence[str], told: Sequence[str]) -> bool:
    """Whether the latest questions took up no word of what was told.

    Args:
        questions: of the interview, the last at the end.
        told: what the respondent said.
    """
    said = {word for text in told for word in words(text) if len(word) > LONG_WORD}
    latest = questions[-UNNAMED:]
    return len(latest) == UNNAMED and not any(said & {w for w in words(q) if len(w) > LONG_WORD} for q in latest)

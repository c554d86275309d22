"""Refuses questions that a trained interviewer would not ask.

A question is one question at a time, open, not leading, short, in the respondent's language, and never about the
software that asks it.

`check` judges a whole question once. A `Checker` judges one question while it streams: `whole` the text, `beginning` a
prefix of it, for refusals that no continuation can remove. It is made once per question, so that the respondent's words
and the secret texts are prepared once and not for every piece.

Words of the respondent and the topic excuse a single word, never a phrase: not an instruction, not a request for
personal data, not a copy of a secret text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from pipeline.question.forms import (
    QUESTION_MARKS,
    beginning_refusals,
    is_request,
    leading_refusals,
    loaded_refusals,
    may_be_refused,
    sets_a_scene,
    table_of,
    whole_refusals,
)
from pipeline.question.languages import FUNCTION_WORDS, language_refusals
from pipeline.question.leaks import Secrets, leak_refusals, secrets_of
from pipeline.question.markup import markup_refusals
from pipeline.question.patterns import QUOTED, QUOTES, TABLES, normalise
from pipeline.question.presumptions import explaining_refusals, presuming_refusals
from pipeline.question.refusals import RETRACTING, Code, Refusal, unique
from pipeline.question.text import WORD, jaccard, sentences, word_count, words
from pipeline.question.unacceptable import (
    beyond_hearing_refusals,
    may_ask_for_data,
    may_refuse,
    overstepping_refusals,
    self_refusals,
    statement_refusals,
    unsafe_refusals,
)

__all__ = [
    "REPEAT_COSINE",
    "REPEAT_JACCARD",
    "REPEAT_WINDOW",
    "RETRACTING",
    "Checker",
    "Code",
    "Refusal",
    "Similarity",
    "check",
    "ends_in_a_scene",
    "prepare",
    "question_part",
]

REPEAT_WINDOW = 6
REPEAT_JACCARD = 0.85
REPEAT_COSINE = 0.92

SHORT_PROBE_WORDS = 9
"""A question of at most so many words, such as “Why is that important to you?”, may come again …"""
SHORT_PROBE_WINDOW = 3
"""… once so many others were asked: by then it is about something else."""

LEAD_WORDS = 30
"""Words before a question that do not count among its own."""
CHARACTERS_PER_WORD = 40
"""A text of more characters than this for every word allowed is too long, however few words it has."""
LONGEST_RUN = 400
"""Longest run without white space, in characters; longer ones are no words in any script."""
OPEN_QUOTE_WORDS = 14
"""Words after which an unclosed quotation mark no longer counts as the beginning of a quotation."""
CIRCLES = 3
"""A text that repeats a pair of words more often than this is refused as repetitive."""

Similarity = Callable[[str, str], float] | Mapping[str, float] | Sequence[float]

_EDGES = ".,;:!?…\"'“”„«»()‘’[]"


class Checker:
    """The rules for one question.

    Args:
        language: code of the respondent's language; without a table only the general rules apply.
        max_words: most words allowed; None for no limit.
        allowed_words: words that belong to the topic or to the respondent; never machinery, never loaded.
        secrets: texts that must not be repeated: system prompts, instructions, markers.
    """

    def __init__(
        self,
        *,
        language: str = "en",
        max_words: int | None = 25,
        allowed_words: Collection[str] = (),
        secrets: Sequence[str] = (),
    ) -> None:
        self.language = language
        self.max_words = max_words
        self.secrets: Secrets = secrets_of(tuple(secrets))
        self._said = _said(tuple(allowed_words))
        self._table = table_of(language)

    @property
    def most_characters(self) -> int:
        """Length of the longest text that is checked by patterns, in characters."""
        return (self.max_words or 25) * CHARACTERS_PER_WORD

    def whole(self, text: str) -> list[Refusal]:
        """Everything that is wrong with a whole question, but for repetition; one refusal per code, the worst first."""
        if self.is_endless(text):
            return [Refusal(code="too_long", detail=f"{len(text)} characters")]
        if not WORD.search(text):
            return [Refusal(code="empty", detail="there are no words")]
        return unique(self._whole(text))

    def beginning(self, prefix: str) -> list[Refusal]:
        """Refusals that hold for `prefix`, which ends with a complete word, and for every text that continues it."""
        if self.is_endless(prefix):
            return [Refusal(code="too_long", detail=f"more than {len(prefix)} characters")]
        return unique(self._beginning(prefix))

    def statement(self, text: str) -> list[Refusal]:
        """Everything that is wrong with words that ask nothing; one refusal per code, the worst first."""
        if self.is_endless(text):
            return [Refusal(code="too_long", detail=f"{len(text)} characters")]
        if not WORD.search(text):
            return [Refusal(code="empty", detail="there are no words")]
        return unique(self._statement(text))

    def is_undecided(self, prefix: str) -> bool:
        """Whether the next words tell if `prefix`, which is acceptable so far, has to be refused."""
        if may_ask_for_data(_plain(prefix), self.language):
            return True
        plain = normalise(_open_quote_removed(prefix))
        return may_refuse(plain, self.language) or may_be_refused(plain, self.language)

    def _whole(self, text: str) -> Iterator[Refusal]:
        plain = normalise(text)
        spared = self._spared(plain)
        yield from self._exposing(text, whole=True)
        yield from self._improper(text, plain, spared, whole=True)
        yield from whole_refusals(plain, self.language)
        yield from leading_refusals(plain, self.language)
        yield from loaded_refusals(spared, self.language)
        yield from presuming_refusals(plain, self._said, self.language)
        count = _counted(text)
        if self.max_words is not None and count > self.max_words:
            yield Refusal(code="too_long", detail=f"{count} words, at most {self.max_words}")

    def _statement(self, text: str) -> Iterator[Refusal]:
        plain = normalise(text)
        yield from self._exposing(text, whole=True)
        yield from self._improper(text, plain, self._spared(plain), whole=True)
        yield from loaded_refusals(self._spared(plain), self.language)
        yield from presuming_refusals(plain, self._said, self.language)
        yield from beyond_hearing_refusals(plain, self._spared(plain), self.language)
        if QUESTION_MARKS.search(text):
            yield Refusal(code="double", detail="it asks something")
        if self.max_words is not None and word_count(text) > self.max_words + LEAD_WORDS:
            yield Refusal(code="too_long", detail=f"{word_count(text)} words, at most {self.max_words}")

    def _beginning(self, prefix: str) -> Iterator[Refusal]:
        open_text = _open_quote_removed(prefix)
        plain = normalise(open_text)
        spared = self._spared(plain)
        yield from self._exposing(prefix, whole=False)
        yield from self._improper(open_text, plain, spared, whole=False)
        if self.max_words is not None and _counted(prefix) > self.max_words:
            yield Refusal(code="too_long", detail=f"more than {self.max_words} words")
        yield from beginning_refusals(plain, self.language)
        yield from loaded_refusals(spared, self.language)
        yield from presuming_refusals(plain, self._said, self.language)

    def _exposing(self, text: str, *, whole: bool) -> Iterator[Refusal]:
        """Refusals that hold inside quotation marks, too."""
        plain = _plain(text)
        quotes_spared = QUOTES.sub(lambda match: self._spared(match.group(0)), plain) if self._said else plain
        yield from unsafe_refusals(plain, quotes_spared, self.language, whole=whole)
        yield from leak_refusals(text, plain, self._spared(plain), self._said, self.secrets, whole=whole)
        yield from markup_refusals(text, said=self._said, whole=whole)

    def _improper(self, text: str, plain: str, spared: str, *, whole: bool) -> Iterator[Refusal]:
        """Refusals that hold anywhere but inside quotation marks."""
        yield from self_refusals(plain, self.language, whole=whole)
        yield from overstepping_refusals(plain, spared, self.language)
        yield from self._machinery(spared)
        if _goes_in_circles(plain):
            yield Refusal(code="not_a_question", detail="goes round in circles")
        yield from language_refusals(QUOTES.sub(QUOTED, text), self.language)
        yield from statement_refusals(sentences(plain), self.language)
        if self._said:
            yield from explaining_refusals(sentences(spared), self.language)

    def _machinery(self, spared: str) -> Iterator[Refusal]:
        for known in (self._table,) if self._table else TABLES.values():
            if match := known.machinery.search(known.machinery_spared.sub(" ", spared)):
                yield Refusal(code="machinery", detail=f"“{match.group(0)}” names the machinery")

    def _spared(self, plain: str) -> str:
        """The text with the respondent's words masked, so that lists of forbidden words do not match them."""
        said = self._said
        return WORD.sub(lambda match: "q" if match.group(0) in said else match.group(0), plain) if said else plain

    def is_endless(self, text: str) -> bool:
        """Whether a text is too long to be checked by patterns."""
        return len(text) > self.most_characters or max(map(len, text.split()), default=0) > LONGEST_RUN


def _counted(text: str) -> int:
    """Words of a question; up to `LEAD_WORDS` in sentences before it don't count, which only show that it was heard."""
    *before, _ = sentences(text) or [""]
    return word_count(text) - min(word_count(" ".join(before)), LEAD_WORDS)


def check(
    text: str,
    *,
    recent_questions: Sequence[str] = (),
    language: str = "en",
    max_words: int = 25,
    cosine: Similarity | None = None,
    allowed_words: Collection[str] = (),
    repeat_window: int = REPEAT_WINDOW,
    repeat_jaccard: float = REPEAT_JACCARD,
    repeat_cosine: float = REPEAT_COSINE,
    secrets: Sequence[str] = (),
) -> list[Refusal]:
    """Everything that is wrong with a question; empty when it may be asked.

    Args:
        text: the whole question as the respondent would see it.
        recent_questions: earlier questions, oldest first; the last `repeat_window` count.
        language: code of the respondent's language; without a table only the general rules apply.
        max_words: most words allowed.
        cosine: a function of two texts, a mapping from earlier question to similarity, or similarities aligned with
            the end of `recent_questions`; in [-1, 1].
        allowed_words: words that belong to the topic or to the respondent; never machinery, never loaded.
        repeat_window: how many earlier questions a new one is compared with.
        repeat_jaccard: word overlap that makes a repetition.
        repeat_cosine: cosine that makes a repetition.
        secrets: texts that must not be repeated.
    """
    checker = Checker(language=language, max_words=max_words, allowed_words=allowed_words, secrets=secrets)
    window = recent_questions[-repeat_window:] if repeat_window else ()
    return unique([*checker.whole(text), *repeat_refusals(text, window, cosine, repeat_jaccard, repeat_cosine)])


def repeat_refusals(
    text: str,
    window: Sequence[str],
    cosine: Similarity | None,
    least_jaccard: float = REPEAT_JACCARD,
    least_cosine: float = REPEAT_COSINE,
) -> list[Refusal]:
    """Whether a question was asked before; arguments as those of `check`."""
    compared = compared_with(text, window)
    for index, earlier in enumerate(window):
        if index < len(window) - len(compared):
            continue
        overlap = jaccard(text, earlier)
        if overlap >= least_jaccard:
            return [Refusal(code="repeated", detail=f"word overlap {overlap:.2f} with “{earlier}”")]
        if cosine is None:
            continue
        if callable(cosine):
            similar = cosine(text, earlier)
        elif isinstance(cosine, Mapping):
            similar = cosine.get(earlier, 0.0)
        else:
            from_end = len(window) - index
            similar = cosine[-from_end] if from_end <= len(cosine) else 0.0
        if similar >= least_cosine:
            return [Refusal(code="repeated", detail=f"cosine {similar:.2f} with “{earlier}”")]
    return []


def compared_with(text: str, window: Sequence[str]) -> Sequence[str]:
    """The earlier questions, oldest first, that a new one must differ from: for a short probe only the latest."""
    return window[-SHORT_PROBE_WINDOW:] if word_count(text) <= SHORT_PROBE_WORDS else window


def question_part(text: str, language: str = "en") -> str:
    """The sentence that asks, without what leads up to it; the whole text if none does."""
    table = table_of(language)
    for part in reversed(sentences(text)):
        if QUESTION_MARKS.search(part) or (table and is_request(normalise(part), table)):
            return part
    return text.strip()


def ends_in_a_scene(text: str, language: str = "en") -> bool:
    """Whether the last sentence only prepares a question, so that another question would not fit behind it."""
    table = table_of(language)
    last = sentences(normalise(text))[-1:]
    return bool(
        table and last and not QUESTION_MARKS.search(last[0]) and (sets_a_scene(last[0]) or is_request(last[0], table))
    )


def _plain(text: str) -> str:
    """Lower case, apostrophes straight, white space collapsed; quotations stay."""
    return " ".join(text.replace("’", "'").casefold().split())


def _goes_in_circles(plain: str) -> bool:
    """Whether a pair of words is repeated again and again, as in degenerate output of a model."""
    said = plain.split()
    pairs = list(pairwise(said))
    return len(pairs) - len(set(pairs)) >= CIRCLES and max(map(pairs.count, pairs)) > CIRCLES


@lru_cache(maxsize=64)
def _said(allowed: tuple[str, ...]) -> frozenset[str]:
    """Words and unbroken runs of some texts, case-folded."""
    runs = {run.strip(_EDGES) for phrase in allowed for run in phrase.casefold().split()}
    said = runs | {word for phrase in allowed for word in words(phrase)}
    # "the", said a hundred times, does not excuse "the respondent".
    return frozenset(said) - {""} - FUNCTION_WORDS["en"]


def _open_quote_removed(prefix: str) -> str:
    """The prefix with an unclosed quotation replaced: it may be a quote of the respondent."""
    for opening, closing in (("“", "”"), ("„", "“"), ("«", "»")):
        at = prefix.rfind(opening)
        if at >= 0 and closing not in prefix[at + 1 :]:
            return _cut(prefix, at)
    return _cut(prefix, prefix.rfind('"')) if prefix.count('"') % 2 else prefix


def _cut(prefix: str, at: int) -> str:
    return prefix[:at] + QUOTED if word_count(prefix[at:]) <= OPEN_QUOTE_WORDS else prefix


def prepare(language: str, secrets: Sequence[str] = ()) -> None:
    """Compile the rules of a language and prepare secret texts, so that the first question is not delayed."""
    Checker(language=language, secrets=secrets).whole("What?")
    Checker(language=language, secrets=secrets).beginning("What ")

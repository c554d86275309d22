"""Splits an answer into clauses of one idea each, with the markers that join them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spacy.tokens import Doc, Token

from pipeline.language.connectors import Connector, connector_at, normalised_text, phrases, words

STOPS = frozenset(".?!;:…")
DASHES = words("- – — -- / | • *")
SUBJECTS = words(
    "i we they he she it you that this there people everyone everybody nobody somebody someone everything nothing"
)
SUBJECT_DEPS = words("nsubj nsubjpass csubj csubjpass expl")
VERBS = words("VERB AUX")
AND_WORDS = words("and or plus also &")
BEFORE_MAIN = phrases(
    "when|whenever|if|until|till|once|while|whilst|before|after|as soon as|every time|each time|unless"
)
ATTACHED = BEFORE_MAIN | phrases("in case|ever since")
"""Behind their main clause these stay part of it: "ready when I need it" is one idea."""
LOOSE_ENDS = phrases("because|so|then|but|that way|which means|therefore|however|as a result|if")
"""Markers that may stand alone before a comma or an end."""
CAUSATIVES = words("make let give help keep allow mean save cause drive stop bring")
SERIAL_VERBS = words("try go come sit wait")
"""Before "and" these belong to the verb that follows: "try and find"."""
AFTER_CAUSE = words("then the my there if when")
VAGUE_ENDS = phrases("or anything|or something|or whatever|and stuff|and everything|and whatnot")
NOT_BEFORE_SO = words("or even think do not hope is was 's am 'm m")


@dataclass(frozen=True)
class Clause:
    """Tokens `start` to `end` (exclusive) of a Doc, without the marker in front.

    `joined_to` is the index of the clause that the marker joins this one to, or None; `fronted` clauses open a
    sentence ("When …, …") and are joined to the clause behind them.
    """

    start: int
    end: int
    sentence: int
    connector: Connector | None = None
    fronted: bool = False
    break_before: str = "start"
    joined_to: int | None = None


_KEPT = "askwell.clauses"
"""Where a Doc keeps its clauses: an answer is split once, whoever asks."""
_WHOLE = "askwell.text"
"""Where a Doc keeps its text, which it would put together from its tokens each time."""


def text_of(doc: Doc) -> str:
    """The text of a parsed answer."""
    known: str | None = doc.user_data.get(_WHOLE)
    if known is None:
        known = doc.user_data[_WHOLE] = doc.text
    return known


def split(doc: Doc) -> list[Clause]:
    """Clauses of a parsed answer, in order; punctuation and markers belong to none of them."""
    known: tuple[Clause, ...] | None = doc.user_data.get(_KEPT)
    if known is None:
        known = doc.user_data[_KEPT] = tuple(_joined(_Splitter(doc).run()))
    return list(known)


class _Splitter:
    """One pass over the tokens; keeps the clause that is not complete yet."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.words = [normalised_text(token.text) for token in doc]
        self.clauses: list[Clause] = []
        self.start = 0
        self.sentence = 0
        self.reason = "start"
        self.pending: Connector | None = None
        self.deferred: Connector | None = None
        self.fronted_until: int | None = None
        self.fronted = False

    def run(self) -> list[Clause]:
        i = 0
        count = len(self.doc)
        while i < count:
            token = self.doc[i]
            if self.fronted_until is not None and i >= self.fronted_until:
                self._close(i, "main")
                self.start = i
            if self._ends_sentence(i):
                self._close(i, "sentence")
                self.sentence += 1
                i += 1
                self.start = i
            elif self._is_comma(i):
                self._close(i, "comma")
                i += 1
                self.start = i
            elif connector := self._connector(i):
                i = self._take(i, connector)
            elif i > self.start and " ".join(self.words[i : i + 2]) in VAGUE_ENDS:
                self._close(i, "comma")
                i += 2
                self.start = i
            elif self.words[i] in AND_WORDS and self._and_splits(token):
                self._close(i, "and")
                i += 1
                self.start = i
            elif self.words[i] == "which" and self._relative(i):
                self._close(i, "which")
                self.pending = Connector(("which",), "which", "cause", "after")
                i += 1
                self.start = i
            elif i == self.start and self._points_back(i):
                self.pending = Connector((self.words[i],), "which", "cause", "after")
                i += 1
            elif i > self.start and self._causative(token):
                self._close(i, "causative")
                self.pending = Connector((self.words[i],), token.lemma_.lower(), "cause", "after")
                self.start = i
                i += 1
            elif i > self.start and self._purpose(i):
                self._close(i, "purpose")
                self.start = i
                i += 2
            elif i > self.start and self._runs_on(token):
                self._close(i, "comma")
                self.start = i
                i += 1
            else:
                i += 1
        self._close(count, "sentence")
        return self.clauses

    def _close(self, end: int, reason: str) -> None:
        """End the current clause before token `end`."""
        if end > self.start and any(self.doc[j].is_alpha or self.doc[j].like_num for j in range(self.start, end)):
            self.clauses.append(Clause(self.start, end, self.sentence, self.pending, self.fronted, self.reason))
            self.pending = self.deferred if self.fronted else None
            self.deferred = None
            self.fronted = False
            self.fronted_until = None
        elif reason == "sentence" and not (self.pending and end < len(self.doc) and self.words[end] in {"…", "..."}):
            self.pending = self.deferred = None
            self.fronted = False
            self.fronted_until = None
        self.reason = reason

    def _take(self, i: int, connector: Connector) -> int:
        """Close before the connector and begin behind it; returns the next token's index."""
        at_start = i == self.start or not any(
            self.doc[j].is_alpha and self.doc[j].pos_ not in {"INTJ", "CCONJ"} for j in range(self.start, i)
        )
        self._close(i if not at_start else self.start, "connector")
        after = i + len(connector.words)
        fronted = connector.fronted and at_start and self.reason != "and" and self._opens(i)
        if fronted and connector.kind != "contrast":
            if self.pending is not None:
                self.deferred = self.pending
            self.fronted = True
            self.fronted_until = self._main_clause_start(i, after)
        elif self.pending is not None and connector.kind == "contrast" and self.pending.kind != "contrast":
            connector = self.pending
        if self.pending is None or connector.marker != "then":
            self.pending = connector
        self.start = after
        return after

    def _opens(self, i: int) -> bool:
        """Whether a main clause follows in the same sentence."""
        return self._main_clause_start(i, i + 1) is not None or any(
            self._is_comma(j) for j in range(i, self._sentence_end(i))
        )

    def _sentence_end(self, i: int) -> int:
        return next((j for j in range(i, len(self.doc)) if self._ends_sentence(j)), len(self.doc))

    def _main_clause_start(self, i: int, after: int) -> int | None:
        """First token of the main clause behind a fronted one that no comma ends, if the words show it."""
        end = next((j for j in range(after, self._sentence_end(i)) if self._is_comma(j)), None)
        limit = end if end is not None else self._sentence_end(i)
        head = self.doc[i].head
        if head.dep_ in {"advcl", "ccomp"} and head.i > i and head.head.i > head.i:
            edge = head.right_edge.i + 1
            if after < edge <= head.head.i and edge < limit:
                return edge
        seen_verb = False
        for j in range(after, limit):
            if seen_verb and self.words[j] in SUBJECTS - {"that", "it"} and self._verb_follows(j, limit):
                return j
            seen_verb = seen_verb or self.doc[j].pos_ in VERBS
        return None

    def _verb_follows(self, i: int, limit: int) -> bool:
        """Whether a verb stands right behind token i, adverbs aside."""
        for j in range(i + 1, min(limit, i + 4)):
            if self.doc[j].pos_ in VERBS:
                return True
            if self.doc[j].pos_ not in {"ADV", "PART", "INTJ"}:
                return False
        return False

    def _ends_sentence(self, i: int) -> bool:
        text = self.doc[i].text
        return "\n" in text or (bool(text) and all(ch in STOPS for ch in text) and not self.doc[i].is_alpha)

    def _is_comma(self, i: int) -> bool:
        text = self.doc[i].text
        if text in DASHES:
            return bool(self.doc[i - 1].whitespace_) if i else True
        if text in {"(", ")", "[", "]", '"', "\u201c", "\u201d"}:
            return text in {"(", ")"}
        return text in {",", "，", "、"} and not self._between_adjectives(i)

    def _between_adjectives(self, i: int) -> bool:
        """Whether a comma stands between adjectives of one noun, as in "a big, red box"."""
        if not 0 < i < len(self.doc) - 1:
            return False
        left, right = self.doc[i - 1], self.doc[i + 1]
        return left.dep_ == "amod" and right.dep_ == "amod" and left.head.i == right.head.i and left.head.i > right.i

    def _connector(self, i: int) -> Connector | None:
        found = connector_at(self.words, i)
        if found is None or not self._plausible(i, found):
            return None
        return found

    def _plausible(self, i: int, connector: Connector) -> bool:
        """Whether these words join clauses here, rather than being part of one."""
        words, doc = self.words, self.doc
        after = i + len(connector.words)
        following = words[after] if after < len(words) else ""
        previous = words[i - 1] if i else ""
        at_break = bool(following) and (self._ends_sentence(after) or self._is_comma(after))
        if not following or (at_break and connector.marker not in LOOSE_ENDS):
            return False
        if connector.words == ("so",):
            return previous not in NOT_BEFORE_SO and not self._intensifies(after)
        if connector.words == ("cause",):
            return following in SUBJECTS | AFTER_CAUSE and (i == self.start or self.doc[i].pos_ != "VERB")
        if connector.words == ("since",):
            return following not in {"then", "last", "the"} and not doc[after].like_num and previous != "ever"
        if connector.words == ("once",) and following in {"a", "an", "every", "in", "or", "per", "again", "you"}:
            return following == "you"
        if connector.words == ("yet",) and (previous in {"not", "n't", "and"} or i != self.start):
            return False
        if connector.words == ("then",) and previous in {"since", "by", "until", "from", "now", "than"}:
            return False
        if connector.marker == "that way" and previous in {"in", "all", "go", "like", "feel"}:
            return False
        if connector.words == ("meaning",):
            return i == self.start or self._is_comma(i - 1)
        if connector.words == ("except",):
            return i == self.start
        if connector.marker in ATTACHED or connector.marker in {"since", "as long as", "now that"}:
            if not self._clause_ahead(after):
                return False
            behind = self._has_content(self.start, i)
            return not (connector.marker in ATTACHED and behind)
        return True

    def _intensifies(self, i: int) -> bool:
        """Whether the "so" before token i means "very"."""
        token = self.doc[i]
        raised = token.pos_ == "ADV" and token.head.pos_ in {"ADJ", "ADV"} and token.head.i > i
        return token.pos_ == "ADJ" or raised or self.words[i] in {"much", "many", "far", "called", "on"}

    def _clause_ahead(self, start: int) -> bool:
        """Whether a verb comes before the next break."""
        for j in range(start, min(len(self.doc), start + 12)):
            if self._ends_sentence(j) or self._is_comma(j):
                return False
            if self.doc[j].pos_ in VERBS:
                return True
        return False

    def _has_content(self, start: int, end: int) -> bool:
        return any(self.doc[j].pos_ in {"NOUN", "VERB", "ADJ", "PROPN", "NUM"} for j in range(start, end))

    def _clause_has_verb(self, end: int) -> bool:
        return any(self.doc[j].pos_ in VERBS for j in range(self.start, end))

    def _and_splits(self, token: Token) -> bool:
        """Whether "and" begins a new idea: a clause with its own verb, or the next item of a plain list."""
        i = token.i
        end = next(
            (j for j in range(i + 1, len(self.doc)) if self._ends_sentence(j) or self._is_comma(j)), len(self.doc)
        )
        if i == self.start or i + 1 >= len(self.doc):
            return True
        j = i + 1
        while j < end and self.doc[j].pos_ in {"ADV", "INTJ"}:
            j += 1
        if j < end and self.words[j] in SUBJECTS and self._verb_follows(j, end):
            return True
        if j < end and self.words[j] == "not":
            return True
        head = token.head
        if self.words[i - 1] in SERIAL_VERBS or self.words[j : j + 1] in (["anything"], ["something"], ["stuff"]):
            return False
        for other in head.children:
            if other.dep_ == "conj" and other.i > i:
                if other.pos_ in VERBS and head.pos_ in VERBS:
                    return True
                if other.pos_ in {"NOUN", "PROPN"} and not self._clause_has_verb(i):
                    return True
                if other.pos_ == "ADJ" and other.right_edge.i - i > 3 and self._clause_has_verb(i):
                    return True
        return any(
            self.doc[k].dep_ in SUBJECT_DEPS
            and k < self.doc[k].head.i < end
            and self.doc[k].head.dep_ in {"conj", "ROOT", "advcl", "ccomp"}
            and (self.doc[k].left_edge.i <= j + 1 or self.doc[j].pos_ in {"ADP", "NUM"})
            for k in range(j, end)
        )

    def _relative(self, i: int) -> bool:
        """Whether "which" begins a remark on the whole clause before: "no lumps, which saves time"."""
        following = self.doc[i + 1] if i + 1 < len(self.doc) else None
        if following is None or (i and self.words[i - 1] in {"in", "of", "for", "to", "with", "on", "at"}):
            return False
        felt = following.pos_ == "VERB" and i + 2 < len(self.doc) and self.words[i + 2] in {"me", "us", "you"}
        judged = following.lemma_ == "be" and i + 2 < len(self.doc) and self.doc[i + 2].pos_ in {"ADJ", "ADV", "DET"}
        return i == self.start or felt or judged or following.lemma_.lower() in CAUSATIVES | {"matter"}

    def _causative(self, token: Token) -> bool:
        """Whether this is a verb like "makes" with an idea as subject: "leaving it outside makes me nervous"."""
        if token.lemma_.lower() not in CAUSATIVES or token.pos_ != "VERB" or token.tag_ not in {"VBZ", "VBP", "VBD"}:
            return False
        subjects = [
            child
            for child in token.children
            if child.dep_ in SUBJECT_DEPS and child.i < token.i and child.left_edge.i >= self.start
        ]
        follows = self.doc[token.i + 1] if token.i + 1 < len(self.doc) else None
        if not subjects or follows is None or follows.tag_ == "VBG":
            return False
        subject = subjects[-1]
        ahead = self.doc[token.i + 1 : token.i + 4]
        return subject.tag_ == "VBG" or (
            subject.pos_ == "NOUN" and any(right.pos_ in VERBS or right.pos_ == "PRON" for right in ahead)
        )

    def _points_back(self, i: int) -> bool:
        """Whether the clause's subject refers to the clause before: "… and that's not clean"."""
        return (
            self.reason in {"and", "comma"}
            and self.pending is None
            and self.words[i] in {"that", "this"}
            and i + 1 < len(self.doc)
            and self.doc[i + 1].pos_ in VERBS
            and bool(self.clauses)
        )

    def _purpose(self, i: int) -> bool:
        """Whether a purpose begins here that follows a situation: "I was at my desk trying to …"."""
        return self.words[i : i + 2] == ["trying", "to"] and self.doc[i].dep_ in {"advcl", "acl", "xcomp"}

    def _runs_on(self, token: Token) -> bool:
        """Whether a new sentence with its own pronoun and verb begins here without punctuation before it."""
        return (
            bool(token.is_sent_start)
            and self.words[token.i] in SUBJECTS
            and self._clause_has_verb(token.i)
            and self._verb_follows(token.i, len(self.doc))
        )


def _joined(clauses: list[Clause]) -> list[Clause]:
    """The clauses with the index that each marker joins them to."""
    done = []
    for k, clause in enumerate(clauses):
        target: int | None = None
        if clause.connector is not None:
            follows = k + 1 < len(clauses) and clauses[k + 1].sentence == clause.sentence
            if clause.fronted and follows and clauses[k + 1].break_before != "and":
                target = k + 1
            elif k > 0:
                behind_fronted = clauses[k - 1].fronted and clauses[k - 1].sentence == clause.sentence
                target = (k - 2 if k > 1 else None) if behind_fronted else k - 1
        done.append(replace(clause, joined_to=target))
    return done

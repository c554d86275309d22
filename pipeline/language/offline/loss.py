"""Hears that somebody tells of a death that touches them, a lost pregnancy or a beloved animal among them (English).

“I have it standing up. It's not worth a pot for one now.” – “His boots are still by the door.” People seldom say that
somebody died. A small network over the vectors of a clause, of what stands around it and of the answer, with words that
a person can read, has learned it from messages that were written for it by many hands, and from interviews in which
readers marked it. It is made by `python -m pipeline.language.training.loss`, and lies in the folder `worth` beside this
module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

import numpy as np

from pipeline.language.acts.reading import Clause, clauses_of
from pipeline.language.offline.clause_model import ClauseModel
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.talk import seen

LANGUAGE: Final = "en"
LEAST: Final = 0.75
"""Chance of a clause from which a death is heard in it."""
LONG_CLAUSE = 20
"""Words from which on a clause is simply long."""
_CLOSE = re.compile(
    r"\b(?:mum|mam|mom|mother|dad|father|brother|sister|wife|husband|son|daughter|nan|gran|grandma|grandad|grandpa"
    r"|baby|partner|twin)\b"
)
_SOMEBODY = re.compile(
    r"\b(?:mum|mam|mom|mother|ma|dad|da|father|pa|papa|brother|sister|wife|husband|son|daughter|nan|nana|gran|granny"
    r"|grandma|grandad|grandpa|grandfather|grandmother|uncle|aunt|auntie|cousin|baby|babies|boy|girl|lad|friend|mate"
    r"|partner|dog|cat|neighbour|neighbor|twin|niece|nephew|child|kid|man|woman|he|she|him|her|his|they)\b"
)
_DEATH = re.compile(
    r"\b(?:die|died|dies|dying|dead|death|funeral|buried|bury|burial|cremat\w+|ashes|grave\w*|cemetery|churchyard"
    r"|widow\w*|stillborn|miscarr\w*|hospice|coffin|urn|wake|late|headstone|obituary|heaven|suicide|killed|murdered"
    r"|drowned|heartbeat|morphine|palliative|undertaker|memorial|eulogy|mourn\w*|grief|griev\w*|bereave\w*"
    r"|condolence\w*|probate|will)\b"
)
_GONE = re.compile(
    r"\b(?:gone|passed|lost|left|went|took|taken|put down|put to sleep|slipped away|no longer"
    r"|without (?:him|her|them)|anymore|any more|used to|never (?:came|woke|got|met|saw)|last|end|rest)\b"
)
_OTHERWISE = re.compile(
    r"\b(?:phone|battery|car|engine|laptop|plant|bush|tree|printer|fridge|kettle|bus|train|exam|test|law|bill|parcel"
    r"|post|laughing|nearly|almost|thought|would have|could have|if)\b"
)


class LossModel(ClauseModel):
    """Hears that somebody died."""

    file: ClassVar[str] = "loss.npz"
    judge: ClassVar[str] = "loss"

    def told(self, answer: str, reading: Reading) -> tuple[str, ...]:
        """The words of an answer that tell of a death.

        Args:
            answer: its words.
            reading: of the answer, by the model of what is worth saying next.
        """
        found = list(judged(answer, reading))
        chances = self.probabilities((vector, named(clause.text, answer)) for clause, vector in found)
        return tuple(
            answer[clause.start : clause.end].strip()
            for (clause, _), chance in zip(found, chances, strict=True)
            if chance >= LEAST
        )


def judged(answer: str, reading: Reading) -> Iterator[tuple[Clause, Floats]]:
    """The clauses of an answer that have a word, each with what is seen of it, [4 · width]."""
    clauses = clauses_of(answer, LANGUAGE)
    nothing = np.zeros(0, dtype=np.float32)
    vectors = seen(reading, [(clause.start, clause.end) for clause in clauses], [nothing] * len(clauses))
    for clause, vector in zip(clauses, vectors, strict=True):
        if vector is not None:
            yield clause, vector


def named(clause: str, answer: str) -> Mapping[str, float]:
    """Features of a clause of an answer, by name."""
    speaking, own, whole = phrasing(LANGUAGE), clause.casefold(), answer.casefold()
    return {
        "loss": float(re.search(speaking.loss, own) is not None),
        "loss anywhere": float(re.search(speaking.loss, whole) is not None),
        "relief": float(re.search(speaking.relief, own) is not None),
        "supposes": float(re.search(speaking.supposes, own) is not None),
        "since": float(re.search(speaking.since_loss, own) is not None),
        "somebody": float(_SOMEBODY.search(own) is not None),
        "close": float(_CLOSE.search(own) is not None),
        "close anywhere": float(_CLOSE.search(whole) is not None),
        "death": float(_DEATH.search(own) is not None),
        "death anywhere": float(_DEATH.search(whole) is not None),
        "gone": float(_GONE.search(own) is not None),
        "otherwise": float(_OTHERWISE.search(own) is not None),
        "words": min(len(own.split()), LONG_CLAUSE) / LONG_CLAUSE,
    }

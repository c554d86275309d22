"""Which clauses of an answer leave what was asked about (English): there is no more to tell of it, it is not to be
spoken of, or something else is.

“I've wrung that morning dry.”, “It's me and the landlord you want to be hearing about.” The network has learned from
messages that were written for it, and from interviews in which readers marked such words. It is made by
`python -m pipeline.language.training.leaving`, and lies beside the reader's model as `leaving.npz`.
"""

from __future__ import annotations

from typing import ClassVar

from pipeline.language.reader.clauses import ClauseModel

SPENT, DECLINES, ELSEWHERE = range(3)
"""Its outputs."""


class LeavingModel(ClauseModel):
    """Hears who leaves a subject."""

    prefix: ClassVar[str] = "leaving"
    acts: ClassVar[tuple[str, ...]] = ("spent", "declines", "elsewhere")

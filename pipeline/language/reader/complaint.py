"""Which clauses of an answer are a complaint about the interview (English).

People seldom complain outright. They answer, and say beside it that this is asked again, or what an odd thing it is to
ask: “Third time philosophy.”, “You do like that one.” The network has learned from answers of interviews in which
readers marked such words. It is made by `python -m pipeline.language.training.complaint`, and lies beside the reader's
model as `complaint.npz`.
"""

from __future__ import annotations

from typing import ClassVar

from pipeline.language.reader.clauses import ClauseModel


class ComplaintModel(ClauseModel):
    """Hears complaints."""

    prefix: ClassVar[str] = "complaint"
    acts: ClassVar[tuple[str, ...]] = ("complains",)

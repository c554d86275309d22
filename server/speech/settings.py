"""How spoken answers are listened to, where session and concept do not say."""

from __future__ import annotations

from dataclasses import dataclass

from config.speech import SpeechSettings
from pipeline.concept import Patience

_DECLARED = SpeechSettings()


@dataclass(frozen=True, slots=True)
class ListeningSettings:
    """Times and bounds.

    Args:
        patience: how long a pause may be.
        max_answer_s: the longest spoken answer.
        reopen_s: audio without speech after the end of an answer in which it may still go on; 0 for none.
        barge_in: whether speech counts while a question is read aloud; if not, audio that comes then is ignored.
        hold_s: audio that `take_your_time` adds before silence may end an answer.
        grace_s: audio without speech that ends an answer which was begun before its question was there.
        kept_s: audio after the end of an answer that is kept for the next one.
        backlog_s: audio that may wait to be heard; more is refused.
    """

    patience: Patience = _DECLARED.patience
    max_answer_s: float = _DECLARED.max_answer_s
    reopen_s: float = _DECLARED.reopen_s
    barge_in: bool = _DECLARED.barge_in
    hold_s: float = _DECLARED.take_your_time_s
    grace_s: float = 3.0
    kept_s: float = 60.0
    backlog_s: float = 30.0

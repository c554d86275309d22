"""Words in which people doubt what they are told, or are curious to know more."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_DOUBTS: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        r"s[ck]eptical|doubtful|suspicious|too good to be true|hard to believe|not (?:quite |really |so )?convinced",
        r"(?:i|i'd|i would|i really|i rather) doubt|if (?:it's|it is|that's|that is) (?:really )?true",
        r"(?:hardly|don't|do not|can't|cannot|couldn't|wouldn't) (?:quite |really )?(?:believe|trust)",
        r"(?:have|need|want) to see (?:it|that)|believe (?:it|that) when|(?:where'?s|what'?s) the catch",
    ),
    "de": (
        r"skeptisch|misstrauisch|zweifle|bezweifle|nicht überzeugt|kaum zu glauben|zu schön,? um wahr zu sein",
        r"glaube? (?:ich |ich das |das |da )?(?:nicht|kaum)|wenn das (?:wirklich )?stimmt|wo ist der haken",
        r"traue (?:ich )?(?:dem|der|denen) nicht",
    ),
    "ar": (r"أشك|متشكك|لا أصدق|لا أثق|صعب التصديق|غير مقتنع",),
}
_WONDERS: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        r"curious|i wonder|(?:i'm|i am) wondering|intrigu\w+|interested to (?:know|see)",
        r"(?:would|i'd) (?:like|love) to (?:know|try|see)",
    ),
    "de": (
        r"neugierig|ich frage mich|gespannt",
        r"(?:würde|möchte) (?:ich )?(?:gern(?:e)? )?(?:wissen|ausprobieren)",
    ),
    "ar": (r"فضول|أتساءل|أود أن أعرف|أريد أن أعرف",),
}


@lru_cache(maxsize=32)
def _pattern(kind: str, language: str) -> re.Pattern[str] | None:
    phrases = (_DOUBTS if kind == "doubts" else _WONDERS).get(language)
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)") if phrases else None


def _says(kind: str, text: str, language: str) -> bool:
    pattern = _pattern(kind, language.casefold().split("-")[0])
    return pattern is not None and pattern.search(" ".join(text.casefold().replace("’", "'").split())) is not None


def doubts(text: str, language: str) -> bool:
    """Whether an answer says in so many words that it is not believed; False in languages that are not known."""
    return _says("doubts", text, language)


def wonders(text: str, language: str) -> bool:
    """Whether an answer says in so many words that the respondent would like to know more."""
    return _says("wonders", text, language)

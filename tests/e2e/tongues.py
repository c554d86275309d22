"""Interviews in German and Arabic: a concept that is told in both, and a language model that asks in both."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.llm_double import LLMDouble
from tests.support.llm_double.behaviour import Answer, Pace
from tests.support.llm_double.brain import answer_for, task_of
from tests.support.llm_double.request import Asked
from tests.support.llm_double.wire import Wire
from tests.support.process import ServerProcess

QUESTIONS = {
    "German": (
        "Was macht Ihnen daran am meisten Freude?",
        "Wie kam es dazu, dass Ihnen das wichtig wurde?",
        "Was würde Ihnen ohne diesen Duft fehlen?",
        "Wie fühlen Sie sich danach?",
        "Wann haben Sie das zuletzt bemerkt?",
    ),
    "Arabic": (
        "ما أكثر ما يسعدك في ذلك؟",
        "كيف أصبح هذا الأمر مهمًا عندك؟",
        "ماذا ستفتقد لو غابت هذه الرائحة؟",
        "كيف تشعر بعد ذلك؟",
        "متى لاحظت ذلك آخر مرة؟",
    ),
}
ANSWERS = {
    "de": "Der Duft von frischem Brot erinnert mich an meine Großmutter, deshalb fühle ich mich geborgen.",
    "ar": "رائحة الخبز الطازج تذكرني ببيت جدتي في بيروت، ولذلك أشعر بالأمان كلما دخلت المخبز (Bäckerei Müller).",
}
CONSENT = {
    "de": "Dieses Interview führt ein Computerprogramm, kein Mensch. Es fragt Sie nach dem Brot, das Sie kaufen.\n\n"
    "Was Sie schreiben, wird gespeichert, damit die Leute, die diese Studie durchführen, es lesen können. Mit "
    "„Zurückziehen“ wird alles gelöscht, was Sie gesagt haben.",
    "ar": "يُجري هذه المقابلة برنامج حاسوبي وليس شخصًا. يسألك عن الخبز الذي تشتريه.\n\n"
    "يُحفظ ما تكتبه ليقرأه القائمون على هذه الدراسة. وباختيار «انسحاب» يُمسح كل ما قلته.",
}
OPENING = {
    "en": "What comes to your mind when you think of the bread you buy?",
    "de": "Was fällt Ihnen ein, wenn Sie an das Brot denken, das Sie kaufen?",
    "ar": "ما الذي يخطر ببالك حين تفكر في الخبز الذي تشتريه؟",
}
CONCEPT: dict[str, Any] = {
    "id": "bread",
    "name": "bread",
    "title": "Your bread, and where you buy it",
    "methodology": "means_end_chain",
    "objective": "Understand why people buy the bread they buy.",
    "languages": ["en", "de", "ar"],
    "max_turns": 6,
    "opening_question": OPENING,
    "consent": {
        "version": "2",
        "required": True,
        "text": "This interview is held by a computer program. Do you agree?",
    },
    "stimulus": "Sourdough, 48 hours.",
    "elements": [],
    "translations": {
        "de": {
            "name": "Brot",
            "title": "Ihr Brot, und wo Sie es kaufen",
            "consent_text": CONSENT["de"],
            "stimulus": "Sauerteig, 48 Stunden geführt.",
            "helpline_text": "Wenn Sie etwas bedrückt: Telefonseelsorge 0800 1110111, rund um die Uhr.",
        },
        "ar": {
            "name": "الخبز",
            "title": "خبزك، ومن أين تشتريه",
            "consent_text": CONSENT["ar"],
            "stimulus": "خبز بالخميرة الطبيعية (Sauerteig)، تخمّر 48 ساعة.",
            "helpline_text": "إن كان هناك ما يثقل عليك فاتصل بالرقم +961 1 234 567 في أي وقت.",
        },
    },
}


@dataclass(slots=True)
class Polyglot:
    """A cooperative model that asks in the language it is told to."""

    token_s: float = 0.0

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Structured answers as the double's brain makes them; questions in the respondent's language."""
        if task_of(asked) != "question":
            await answer_for(asked).play(asked, wire)
            return
        named = re.findall(r"in (German|Arabic)\b", asked.text)
        known = QUESTIONS[named[-1]] if named else ("What else comes to your mind?",)
        fresh = next((question for question in known if question not in asked.text), known[-1])
        await Answer(fresh, pace=Pace(token_s=self.token_s)).play(asked, wire)


def write_concept(folder: Path) -> Path:
    """A configuration directory with the one concept, beside those that come along."""
    (folder / "concepts").mkdir(parents=True)
    text = yaml.safe_dump(CONCEPT, allow_unicode=True, sort_keys=False)
    (folder / "concepts" / "bread.yaml").write_text(text, encoding="utf-8")
    return folder


@asynccontextmanager
async def polyglot_server(folder: Path) -> AsyncIterator[ServerProcess]:
    """`askwell serve` with a language model that speaks German and Arabic."""
    async with LLMDouble(default=Polyglot()) as double:
        environment = {"ASKWELL_CONFIG_DIR": str(write_concept(folder / "config"))}
        for role in ("EXTRACTION", "SCORING", "GENERATION"):
            environment[f"ASKWELL_{role}_PROVIDER"] = "openai_compatible"
            environment[f"ASKWELL_{role}_MODEL"] = "polyglot"
            environment[f"ASKWELL_{role}_BASE_URL"] = double.base_url
        async with ServerProcess(folder / "data", environment) as process:
            yield process

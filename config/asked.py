"""What a concept's own questions may say and probably do not mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.concept import Concept
from pipeline.question.checker import Checker

Caution = tuple[tuple[str | int, ...], str]


def question_cautions(concept: Concept) -> Iterator[Caution]:
    """Questions that lead, can be answered by yes or no or ask two things, and languages that a question lacks.

    They are asked all the same, in the words of the file.
    """
    if concept.opening_question is not None:
        yield from _of(concept, concept.opening_question, ("opening_question",))
    for at, wanted in enumerate(concept.must_ask):
        yield from _of(concept, wanted.question, ("must_ask", at, "question"))


def _of(concept: Concept, question: str | Mapping[str, str], here: tuple[str | int, ...]) -> Iterator[Caution]:
    first, *others = concept.languages
    texts = {first: question} if isinstance(question, str) else question
    for language, text in texts.items():
        named = tuple(word for element in concept.elements for word in element.label.split())
        words = (*concept.name.split(), *(concept.title or "").split(), *named)
        if found := Checker(language=language, max_words=None, allowed_words=words).whole(text):
            at = here if isinstance(question, str) else (*here, language)
            yield at, f"this may be {found[0].code.replace('_', ' ')}: {found[0].detail}"
    lacking = others if isinstance(question, str) else [one for one in concept.languages if one not in question]
    if lacking:
        named_languages = ", ".join(f"`{language}`" for language in lacking)
        yield here, f"there is no text in {named_languages}: give one text per language"

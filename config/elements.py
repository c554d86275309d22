"""What a concept file says of stimulus and elements and probably does not mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.concept import DEFAULT_MAX_TURNS, Concept
from pipeline.elements import key_of
from pipeline.question.text import word_count

Path = tuple[str | int, ...]
Caution = tuple[Path, str]

LONGEST_WORDS = 3000
"""Most words of a stimulus: a quarter of an hour of reading."""
LONG_WORDS = 400
"""A stimulus from here on is long to read."""
WORDS_PER_MINUTE = 200
"""People read about so many."""


def stimulus_problems(concept: Concept) -> Iterator[Caution]:
    """Stimuli that say nothing, or more than anybody reads before an interview: places and reasons."""
    for path, text in _texts(concept):
        length = word_count(text)
        if length > LONGEST_WORDS:
            yield path, f"{length} words are more than anybody reads before an interview; at most {LONGEST_WORDS}"
        elif not text.strip():
            yield path, "says nothing"


def stimulus_cautions(concept: Concept) -> Iterator[Caution]:
    """Places (keys and list positions) and reasons."""
    for path, text in _texts(concept):
        length = word_count(text)
        if length >= LONG_WORDS:
            yield path, f"{length} words take about {round(length / WORDS_PER_MINUTE)} minutes to read"
    if concept.stimulus and not concept.has_own_elements:
        yield (
            ("stimulus",),
            "`elements` are made of this text by a program; look at them with "
            f"`askwell elements {concept.id}` and write down those that you mean",
        )
    shown = concept.stimulus or concept.stimulus_image
    for language in concept.languages[1:] if shown else ():
        found = concept.translations.get(language)
        if concept.stimulus and (found is None or found.stimulus is None):
            yield ("stimulus",), f"there is no stimulus in `{language}`: `translations.{language}.stimulus`"
    yield from element_cautions(concept)


def _texts(concept: Concept) -> list[tuple[Path, str]]:
    texts: list[tuple[Path, str | None]] = [(("stimulus",), concept.stimulus)]
    texts += [(("translations", name, "stimulus"), told.stimulus) for name, told in concept.translations.items()]
    return [(path, text) for path, text in texts if text is not None]


def element_cautions(concept: Concept) -> Iterator[Caution]:
    """Names of elements that say nothing, that two elements share, or that are part of another one's."""
    turns = concept.max_turns or DEFAULT_MAX_TURNS
    if len(concept.elements) > turns:
        yield (
            ("elements",),
            f"{len(concept.elements)} elements can't all be asked about in {turns} turns; those at the end may be left",
        )
    owner: dict[tuple[str, ...], int] = {}
    places: list[tuple[int, Path, str, tuple[str, ...]]] = []
    for i, element in enumerate(concept.elements):
        at: Path = ("elements", i)
        named = [((*at, "label"), element.label), *(((*at, "aliases", j), a) for j, a in enumerate(element.aliases))]
        for path, name in named:
            key = key_of(name)
            if not key:
                yield path, "this name has no words, so nobody can say it"
            elif owner.setdefault(key, i) != i:
                yield path, f"“{name}” is a name of `{concept.elements[owner[key]].id}` as well: who says it means both"
            else:
                places.append((i, path, name, key))
    yield from _nested(concept, owner, places)


def _nested(
    concept: Concept, owner: Mapping[tuple[str, ...], int], places: list[tuple[int, Path, str, tuple[str, ...]]]
) -> Iterator[Caution]:
    """Names that have a name of another element in them: O(names × words²)."""
    for i, path, name, key in places:
        if path[2] != "label":
            continue
        runs = {key[a:b] for a in range(len(key)) for b in range(a + 1, len(key) + 1)} - {key}
        for other in sorted({owner[run] for run in runs if run in owner} - {i}):
            inner = concept.elements[other]
            yield path, f"has the name of `{inner.id}` in it: who says “{name}” is taken to mean this one alone"

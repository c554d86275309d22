"""How well an extraction agrees with the corpus: concepts, types, links. Rules: tests/corpus/extraction/README.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from pipeline.ports import Extraction, Vectors

CORPUS = Path(__file__).parent.parent / "corpus" / "extraction"
LEMMA_OVERLAP = 0.5
COSINE = 0.75
SMALL_WORDS = frozenset(
    "a an the my your our his her its their i me you we they he she it to of is are was were be been am do does did "
    "that this these those and or so just really".split()
)

Lemmas = Callable[[Sequence[str]], list[tuple[str, ...]]]
Embed = Callable[[Sequence[str]], Vectors]


@dataclass
class Tally:
    """Counts that precision, recall and F1 are made of."""

    hits: int = 0
    missed: int = 0
    extra: int = 0

    @property
    def precision(self) -> float:
        """Share of what was found that is right; 1 when nothing was found."""
        return self.hits / (self.hits + self.extra) if self.hits + self.extra else 1.0

    @property
    def recall(self) -> float:
        """Share of what is to be found that was found; 1 when nothing was to be found."""
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def add(self, other: Tally) -> None:
        """Add another's counts."""
        self.hits += other.hits
        self.missed += other.missed
        self.extra += other.extra


@dataclass
class Score:
    """Agreement on one answer or on many."""

    concepts: Tally = field(default_factory=Tally)
    links: Tally = field(default_factory=Tally)
    focus_links: Tally = field(default_factory=Tally)
    typed: int = 0
    typed_right: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def type_accuracy(self) -> float:
        """Share of matched concepts with an accepted type; 1 when none was matched."""
        return self.typed_right / self.typed if self.typed else 1.0

    @property
    def all_links(self) -> Tally:
        """Links within the answer and links to the focus together."""
        both = Tally()
        both.add(self.links)
        both.add(self.focus_links)
        return both

    @property
    def quality(self) -> float:
        """One number to rank answers by."""
        return 0.6 * self.concepts.f1 + 0.4 * self.all_links.f1

    def add(self, other: Score) -> None:
        """Add another's counts."""
        self.concepts.add(other.concepts)
        self.links.add(other.links)
        self.focus_links.add(other.focus_links)
        self.typed += other.typed
        self.typed_right += other.typed_right


def load(part: str) -> list[dict[str, Any]]:
    """Items of `tuning` or `held_out`."""
    data: list[dict[str, Any]] = yaml.safe_load((CORPUS / f"{part}.yaml").read_text(encoding="utf-8"))
    return data


class Matcher:
    """Decides whether a label found is a label expected, and scores an extraction against its item."""

    def __init__(self, lemmas: Lemmas, embed: Embed) -> None:
        self._lemmas = lemmas
        self._embed = embed

    def closeness(self, found: str, expected: Sequence[str]) -> float:
        """How close a label is to an expected one (label and aliases): 0 for no match, else in (0, 3]."""
        return max((self._closeness(found, label) for label in expected), default=0.0)

    def _closeness(self, found: str, expected: str) -> float:
        left, right = _words(found), _words(expected)
        if left == right:
            return 3.0
        own, other = (
            set(lemmas) or set(words)
            for lemmas, words in zip(self._lemmas([found, expected]), (left, right), strict=True)
        )
        if ("not" in own) != ("not" in other):
            return 0.0
        overlap = len(own & other) / len(own | other) if own | other else 0.0
        contained = _contains(left, right) or _contains(right, left)
        vectors = self._embed([found, expected])
        cosine = float(np.dot(vectors[0], vectors[1]))
        if contained or overlap >= LEMMA_OVERLAP or cosine >= COSINE:
            return 0.5 * overlap + cosine + (0.5 if contained else 0.0)
        return 0.0

    def assign(self, found: Sequence[str], expected: Sequence[Sequence[str]]) -> dict[int, int]:
        """One-to-one matches, index found → index expected, the closest first."""
        options = sorted(
            (
                (self.closeness(label, accepted), i, j)
                for i, label in enumerate(found)
                for j, accepted in enumerate(expected)
            ),
            key=lambda option: (-option[0], option[1], option[2]),
        )
        matches: dict[int, int] = {}
        taken: set[int] = set()
        for closeness, i, j in options:
            if closeness > 0 and i not in matches and j not in taken:
                matches[i] = j
                taken.add(j)
        return matches

    def score(self, item: dict[str, Any], extraction: Extraction) -> Score:
        """Agreement of an extraction with a corpus item."""
        score = Score()
        demanded = item["concepts"]
        optional = item.get("optional_concepts", [])
        focus = item.get("focus")
        accepted = [[c["label"], *c.get("aliases", [])] for c in demanded]
        accepted_optional = [[c["label"], *c.get("aliases", [])] for c in optional]
        found = list(extraction.concepts)
        labels = [concept.label for concept in found]
        matches = self.assign(labels, accepted)
        rest = [i for i in range(len(found)) if i not in matches]
        names: dict[str, set[str]] = {}
        for i, j in matches.items():
            names.setdefault(labels[i].casefold(), set()).add(demanded[j]["label"])
            types = (demanded[j]["node_type"], *demanded[j].get("also_types", []))
            score.typed += 1
            score.typed_right += found[i].node_type in types
            if found[i].node_type not in types:
                score.notes.append(f"type: {labels[i]!r} is {found[i].node_type}, expected {'/'.join(types)}")
        for i in rest:
            hit = self._first(labels[i], accepted_optional, optional)
            if hit is not None:
                names.setdefault(labels[i].casefold(), set()).add(hit)
                continue
            split = self._first(labels[i], accepted, demanded)
            if split is not None:
                names.setdefault(labels[i].casefold(), set()).add(split)
                continue
            if focus and self.closeness(labels[i], [focus["label"]]) > 0:
                continue
            score.concepts.extra += 1
            score.notes.append(f"extra: {labels[i]!r} ({found[i].node_type})")
        score.concepts.hits = len(matches)
        score.concepts.missed = len(demanded) - len(matches)
        for j in sorted(set(range(len(demanded))) - set(matches.values())):
            score.notes.append(f"missed: {demanded[j]['label']!r} ({demanded[j]['node_type']})")
        self._score_links(item, extraction, names, score)
        return score

    def _first(self, label: str, accepted: Sequence[Sequence[str]], named: Sequence[dict[str, Any]]) -> str | None:
        options = [(self.closeness(label, labels), named[j]["label"]) for j, labels in enumerate(accepted)]
        best = max(options, default=(0.0, ""), key=lambda option: option[0])
        return best[1] if best[0] > 0 else None

    def _score_links(
        self, item: dict[str, Any], extraction: Extraction, names: dict[str, set[str]], score: Score
    ) -> None:
        focus = item["focus"]["label"] if item.get("focus") else None
        demanded = {(k["source"], k["target"]): k for k in item.get("links", [])}
        to_focus = {(k["source"], k["target"]): k for k in item.get("focus_links", [])}
        optional = {(k["source"], k["target"]): k for k in item.get("optional_links", [])}
        done: set[tuple[str, str]] = set()
        for link in extraction.relationships:
            ends = [(s, t) for s in _named(link.source, focus, names) for t in _named(link.target, focus, names)]
            at_focus = focus is not None and any(focus in pair for pair in ends)
            tally = score.focus_links if at_focus else score.links
            wanted = to_focus if at_focus else demanded
            right = next((e for e in ends if e in wanted and _typed(wanted[e], link.edge_type)), None)
            if right is not None:
                if right not in done:
                    tally.hits += 1
                    done.add(right)
                continue
            if any(s == t for s, t in ends) or any(e in optional and _typed(optional[e], link.edge_type) for e in ends):
                continue
            tally.extra += 1
            score.notes.append(f"extra link: {link.source!r} -{link.edge_type}-> {link.target!r}")
        for wanted, tally in ((demanded, score.links), (to_focus, score.focus_links)):
            for ends_wanted, link_wanted in wanted.items():
                if ends_wanted not in done:
                    tally.missed += 1
                    score.notes.append(f"missed link: {ends_wanted[0]!r} -{link_wanted['type']}-> {ends_wanted[1]!r}")


def _named(label: str, focus: str | None, names: dict[str, set[str]]) -> set[str]:
    """What the corpus calls this label."""
    if focus is not None and label.casefold() == focus.casefold():
        return {focus}
    return names.get(label.casefold(), {label})


def _typed(expected: dict[str, Any], edge_type: str) -> bool:
    return edge_type == expected["type"] or edge_type in expected.get("also_types", [])


def _words(text: str) -> tuple[str, ...]:
    plain = text.lower().replace("\u2019", "'")
    words = tuple(re.findall(r"[\w'-]+", plain))
    kept = tuple(word for word in words if word not in SMALL_WORDS)
    return kept or words


def _contains(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return bool(part) and any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))

"""How well answers are understood: `python -m tests.quality.answers FILE…`.

Each line of a file is an answer with its coding (`tests/corpus/answers/README.md`). A concept found is one expected if
half of the content words of the longer are in both, one to one, the closest first; what is found besides counts as
wrong. A link is right if both of its ends are, typed if its relation is the same, too. Types count among matched
concepts. Calibration is the expected error of the confidence of links, in ten bins.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.extraction import OfflineExtractor
from pipeline.language.reader.files import load_reader
from pipeline.language.srl import SpacyParser
from pipeline.methodology import EdgeType, Method, Methodology, NodeType, Ontology, Strategy
from pipeline.ports import Extraction, ExtractionRequest
from tests.quality.run import methodology
from tests.quality.score import Tally

NEAR = 0.5
NO_CONTENT = frozenset(
    "a an the my your our his her its their i me you we us they them he him she it to of is are was were be been am do "
    "does did have has had that this these those and or but so just really very quite at in on for with by as if then "
    "there here what which who when where how why get gets got would could can will s t d m re ve ll".split()
)
FOCUS = -1


@dataclass(frozen=True)
class Found:
    """What was found in one answer; links are (source, target, relation, confidence), −1 is the focus."""

    concepts: Sequence[tuple[str, str]]
    links: Sequence[tuple[int, int, str, float]]


@dataclass
class Figures:
    """Agreement on many answers."""

    concepts: Tally = field(default_factory=Tally)
    links: Tally = field(default_factory=Tally)
    typed_links: Tally = field(default_factory=Tally)
    focus_links: Tally = field(default_factory=Tally)
    typed: int = 0
    typed_right: int = 0
    empty: int = 0
    empty_kept: int = 0
    answers: int = 0
    confidences: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, item: dict[str, Any], found: Found) -> None:
        """Count one answer."""
        self.answers += 1
        coded = item["concepts"]
        matches = matched([words for words, _ in found.concepts], [c["words"] for c in coded])
        self.concepts.add(Tally(len(matches), len(coded) - len(matches), len(found.concepts) - len(matches)))
        self.typed += len(matches)
        self.typed_right += sum(found.concepts[i][1] == coded[j]["type"] for i, j in matches.items())
        if not coded:
            self.empty += 1
            self.empty_kept += not found.concepts
        ends = {**matches, FOCUS: FOCUS}
        wanted = {(k["source"], k["target"]): k["type"] for k in item["links"] if k["type"] != "revises"}
        right, typed, at_focus, wrong_focus = set(), set(), 0, 0
        links = [link for link in found.links if link[2] != "revises"]
        for source, target, relation, confidence in links:
            pair = (ends.get(source, -2), ends.get(target, -2))
            hit = pair in wanted and pair not in right
            self.confidences.append((confidence, hit))
            if FOCUS in (source, target):
                at_focus += hit
                wrong_focus += not hit
            if hit:
                right.add(pair)
                if wanted[pair] == relation:
                    typed.add(pair)
        self.links.add(Tally(len(right), len(wanted) - len(right), len(links) - len(right)))
        self.typed_links.add(Tally(len(typed), len(wanted) - len(typed), len(links) - len(typed)))
        focus_wanted = sum(FOCUS in pair for pair in wanted)
        self.focus_links.add(Tally(at_focus, focus_wanted - at_focus, wrong_focus))

    def calibration_error(self, bins: int = 10) -> float:
        """Expected calibration error of the links' confidence, in [0, 1]."""
        total = sum(abs(said - right) * number for said, right, number in self.bins(bins))
        return total / len(self.confidences) if self.confidences else 0.0

    def bins(self, count: int = 10) -> list[tuple[float, float, int]]:
        """Per bin with links in it: mean confidence, share of right ones, number."""
        found = []
        for number in range(count):
            own = [(c, hit) for c, hit in self.confidences if min(int(c * count), count - 1) == number]
            if own:
                found.append((sum(c for c, _ in own) / len(own), sum(hit for _, hit in own) / len(own), len(own)))
        return found

    def line(self) -> str:
        """The figures in one line."""
        c, k, t, f = self.concepts, self.links, self.typed_links, self.focus_links
        return (
            f"{self.answers:5} answers  concepts P {c.precision:.3f} R {c.recall:.3f} F1 {c.f1:.3f}"
            f"  type {self.typed_right / max(1, self.typed):.3f}"
            f"  links P {k.precision:.3f} R {k.recall:.3f} F1 {k.f1:.3f} typed {t.f1:.3f}"
            f"  focus P {f.precision:.3f} R {f.recall:.3f}"
            f"  empty {self.empty_kept}/{self.empty}  ECE {self.calibration_error():.3f}"
        )


def plotted(figures: Figures) -> str:
    """A reliability diagram of the links' confidence, as SVG; the area of a dot is the number of links."""
    side, edge = 320, 46
    dots = "".join(
        f'<circle cx="{edge + said * side:.1f}" cy="{edge / 2 + (1 - right) * side:.1f}" r="{2 + number**0.5:.1f}" '
        f'fill="#3b6ea5" fill-opacity="0.75"><title>{number} links: said {said:.2f}, right {right:.2f}</title></circle>'
        for said, right, number in figures.bins()
    )
    ticks = "".join(
        f'<text x="{edge + value * side:.0f}" y="{edge / 2 + side + 16:.0f}" text-anchor="middle">{value:.1f}</text>'
        f'<text x="{edge - 6}" y="{edge / 2 + (1 - value) * side + 4:.0f}" text-anchor="end">{value:.1f}</text>'
        for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side + 2 * edge}" height="{side + 2 * edge}" '
        'font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="#fff"/><rect x="{edge}" y="{edge / 2}" width="{side}" '
        f'height="{side}" fill="none" stroke="#999"/><line x1="{edge}" y1="{edge / 2 + side}" x2="{edge + side}" '
        f'y2="{edge / 2}" stroke="#999" stroke-dasharray="4 4"/>{ticks}{dots}'
        f'<text x="{edge + side / 2}" y="{edge / 2 + side + 36}" text-anchor="middle">confidence of the link</text>'
        f'<text x="12" y="{edge / 2 + side / 2}" text-anchor="middle" transform="rotate(-90 12 {edge / 2 + side / 2})">'
        f"share that is right (ECE {figures.calibration_error():.3f})</text></svg>\n"
    )


def matched(found: Sequence[str], expected: Sequence[str]) -> dict[int, int]:
    """One-to-one matches, index found → index expected, the closest first."""
    options = sorted(
        ((_share(_words(a), _words(b)), i, j) for i, a in enumerate(found) for j, b in enumerate(expected)),
        key=lambda option: (-option[0], option[1], option[2]),
    )
    matches: dict[int, int] = {}
    for share, i, j in options:
        if share >= NEAR and i not in matches and j not in matches.values():
            matches[i] = j
    return matches


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+", text.lower().replace("n't", " not"))
    return frozenset(word for word in words if word not in NO_CONTENT) or frozenset(words)


def _share(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / max(len(left), len(right)) if left and right else 0.0


def request_of(item: dict[str, Any], methodology: Methodology) -> ExtractionRequest:
    """What the extractor gets for an answer of the corpus."""
    known = methodology.ontology.node_type(item.get("focus_type") or "")
    return ExtractionRequest(
        text=item["answer"],
        utterance_id="u",
        question=item["question"],
        topic=item.get("topic") or "this",
        methodology=methodology,
        language="en",
        focus_label=item["focus"] or None,
        focus_type=known.name if known and item["focus"] else None,
    )


def found_in(extraction: Extraction, focus: str | None) -> Found:
    """An extraction in the terms of the corpus; inferred links are none."""
    places = {concept.label.casefold(): number for number, concept in enumerate(extraction.concepts)}
    if focus:
        places.setdefault(focus.casefold(), FOCUS)
    links = []
    for link in extraction.relationships:
        ends = places.get(link.source.casefold()), places.get(link.target.casefold())
        if ends[0] is not None and ends[1] is not None and link.basis != "inferred":
            links.append((ends[0], ends[1], link.edge_type, link.confidence))
    return Found([(concept.quote, concept.node_type) for concept in extraction.concepts], links)


def invented(path: Path) -> Methodology:
    """A methodology of the corpus that is not one of askwell's, from its JSON file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Methodology(
        method=Method(name=data["name"], goal=data.get("goal") or data["name"]),
        ontology=Ontology(
            nodes=tuple(
                NodeType(name=t["name"], description=t["description"], exemplars=tuple(t.get("exemplars", ())))
                for t in data.get("types") or data["nodes"]
            ),
            edges=tuple(
                EdgeType(
                    name=e["name"],
                    description=e.get("description", ""),
                    permitted_connections=tuple((a, b) for a, b in e.get("permitted") or e["permitted_connections"]),
                )
                for e in data["edges"]
            ),
        ),
        signals={},
        strategies=(Strategy(name="explore", signal_weights={}),),
    )


def measured(
    items: Sequence[dict[str, Any]], extractor: OfflineExtractor, other: Methodology | None
) -> dict[str, Figures]:
    """Figures of all answers together and by method and voice."""
    groups: dict[str, Figures] = {"all": Figures()}
    for item in items:
        used = other or methodology(item["methodology"])
        found = found_in(extractor.extract_sync(request_of(item, used)), item["focus"])
        for name in ("all", used.method.name, f"voice {item.get('voice') or 'none'}"):
            groups.setdefault(name, Figures()).add(item, found)
    return groups


def main() -> None:
    """Print the figures of files, by the reader and by rules alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--methodology", type=Path, help="JSON file of a methodology that the answers are coded by")
    parser.add_argument("--plot", type=Path, help="write the calibration of the reader's links there, as SVG")
    parser.add_argument("--hand", nargs="*", help="only answers of these hands")
    options = parser.parse_args()
    items = [json.loads(line) for path in options.files for line in path.read_text(encoding="utf-8").splitlines()]
    if options.hand:
        items = [item for item in items if item.get("hand") in options.hand]
    other = invented(options.methodology) if options.methodology else None
    spacy, embedder = SpacyParser(), OnnxEmbedder()
    for name, reader in (("reader", load_reader()), ("rules alone", None)):
        print(name)
        found = measured(items, OfflineExtractor(spacy, embedder, reader=reader), other)
        for group, figures in found.items():
            print(f"  {group:28} {figures.line()}")
        if options.plot and reader is not None:
            options.plot.write_text(plotted(found["all"]), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Run the offline extractor over a part of the corpus."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.extraction import OfflineExtractor
from pipeline.language.srl import SpacyParser
from pipeline.methodology import Method, Methodology, Ontology, Strategy
from pipeline.ports import ExtractionRequest
from tests.quality.score import Matcher, Score, load

METHODOLOGIES = Path(__file__).parent.parent.parent / "config" / "methodologies"


@dataclass
class Evaluation:
    """Scores of a part of the corpus, per answer, per domain and in all."""

    answers: list[tuple[dict[str, Any], Score]] = field(default_factory=list)
    domains: dict[str, Score] = field(default_factory=dict)
    total: Score = field(default_factory=Score)

    def worst(self, count: int) -> list[tuple[dict[str, Any], Score]]:
        """The answers with the least agreement, worst first."""
        return sorted(self.answers, key=lambda answer: answer[1].quality)[:count]


@cache
def methodology(name: str) -> Methodology:
    """The methodology's ontology with a strategy that no extraction looks at."""
    data = yaml.safe_load((METHODOLOGIES / f"{name}.yaml").read_text(encoding="utf-8"))
    return Methodology(
        method=Method(**data["method"]),
        ontology=Ontology(**data["ontology"]),
        signals={},
        strategies=(Strategy(name="explore", signal_weights={}),),
    )


def request_of(item: dict[str, Any]) -> ExtractionRequest:
    """The extraction request that an interview would make for this item."""
    focus = item.get("focus") or {}
    return ExtractionRequest(
        text=item["answer"],
        utterance_id=item["id"],
        question=item["question"],
        topic=item["topic"],
        methodology=methodology(item["methodology"]),
        language="en",
        focus_label=focus.get("label"),
        focus_type=focus.get("node_type"),
        existing=((focus["label"], focus["node_type"]),) if focus else (),
    )


@cache
def _parts() -> tuple[SpacyParser, OnnxEmbedder, OfflineExtractor]:
    parser = SpacyParser()
    embedder = OnnxEmbedder()
    return parser, embedder, OfflineExtractor(parser, embedder)


def shared_matcher() -> Matcher:
    """The matcher that all evaluations use."""
    parser, embedder, _ = _parts()
    return Matcher(parser.lemmas_sync, embedder.embed_sync)


async def evaluate(part: str) -> Evaluation:
    """Extract and score every answer of a part of the corpus."""
    extractor = _parts()[2]
    matcher = shared_matcher()
    result = Evaluation()
    for item in load(part):
        score = matcher.score(item, await extractor.extract(request_of(item)))
        result.answers.append((item, score))
        result.domains.setdefault(item["id"].rsplit("-", 1)[0], Score()).add(score)
        result.total.add(score)
    return result

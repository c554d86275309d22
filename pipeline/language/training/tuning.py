"""Chooses the reader's thresholds and calibrates its links, on messages and answers that it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.acts import ACTS, ASKED_BACK
from pipeline.language.acts.hearing import BOTH, clause_chances
from pipeline.language.acts.reading import heard_clauses
from pipeline.language.acts.rules import rules_for
from pipeline.language.reader import heads
from pipeline.language.reader.encoding import focus_text
from pipeline.language.reader.network import Floats, ReaderNetwork
from pipeline.language.reader.settings import ActThreshold
from pipeline.language.training.corpus import Answer, Message

STEPS = tuple(round(0.02 * step, 2) for step in range(2, 49))
MISSED = 2.0
"""How many times worse it is to miss that somebody wants to stop or is in danger than to ask back without need."""
SURE_FROM = 0.9
"""Share of cases in which an act that is done without being asked back must be right."""
ALONE_AT_LEAST = 0.3
"""Least probability with which the reader alone hears anything: below it, ordinary answers are interrupted."""
SURE_AT_LEAST = 0.9
"""Least probability with which the reader alone is sure that somebody is upset or in danger."""
MOST_SURE = 0.003
"""Share of content in which an act may be done that is not there, without being asked back."""
MOST_FALSE = 0.012
"""Share of content in which an act may be heard that is not there; in the tuning file a third sounds like one."""
MOST_ASKED_BACK = 0.015
"""The same for acts that are asked back: one sentence too many is better than somebody who is not heard."""
AGREES_FROM = 0.6
"""Least probability with which the reader confirms a rule that ends, pauses or erases."""
GUESS_FROM = 0.2
"""Probability from which a link is kept as inferred; a careful coder signed none of those below."""
NONE_FROM = 0.95
"""Probability of no type from which a concept is dropped; lower ones cost more concepts than they save."""


@dataclass(frozen=True)
class Tuned:
    """What was chosen; the fields are those of the reader's settings."""

    keep_from: float
    none_from: float
    link_from: float
    guess_from: float
    link_scale: float
    link_shift: float
    acts: dict[str, ActThreshold]


def tuned(network: ReaderNetwork, messages: Sequence[Message], answers: Sequence[Answer]) -> Tuned:
    """Thresholds and calibration for this network."""
    keep_from = _keep_from(network, answers)
    logits, right = _pairs(network, answers, keep_from)
    scale, shift = calibrated(logits, right)
    chances = heads.sigmoid((scale * logits + shift).astype(np.float32))
    return Tuned(
        keep_from=keep_from,
        none_from=NONE_FROM,
        link_from=_link_from(chances, right),
        guess_from=GUESS_FROM,
        link_scale=round(scale, 4),
        link_shift=round(shift, 4),
        acts=_acts(network, messages),
    )


def _keep_from(network: ReaderNetwork, answers: Sequence[Answer]) -> float:
    """The logit from which spans are kept that gives the best F1 of concepts."""
    read = []
    for answer in answers:
        reading = network.read(*_texts(answer))
        read.append((answer, heads.span_logits(network, reading)))
    best = (0.0, 0.0)
    for least in np.arange(-2.0, 1.01, 0.1):
        hits = found = wanted = 0
        for answer, logits in read:
            spans = [place for place, _ in heads.best_spans(logits, float(least))]
            gold = [(c.first, c.last) for c in answer.concepts]
            hits += sum(value is not None for value in _matches(answer, spans, gold))
            found += len(spans)
            wanted += len(gold)
        f1 = 2 * hits / max(1, found + wanted)
        best = max(best, (f1, float(least)))
    return round(best[1], 2)


def _matches(answer: Answer, found: Sequence[heads.Place], gold: Sequence[heads.Place]) -> list[int | None]:
    """For each span found the coded one that it is, one to one, the closest first."""
    text = answer.source["answer"]
    options = sorted(
        (
            (-heads.content_share(answer.encoding.words, a, b, text), i, j)
            for i, a in enumerate(found)
            for j, b in enumerate(gold)
        )
    )
    matches: list[int | None] = [None] * len(found)
    for share, i, j in options:
        if -share >= 0.5 and matches[i] is None and j not in matches:
            matches[i] = j
    return matches


def _texts(answer: Answer) -> tuple[str, str, str]:
    item = answer.source
    return item["question"], focus_text(item["focus"], item.get("focus_type")), item["answer"]


def _pairs(
    network: ReaderNetwork, answers: Sequence[Answer], keep_from: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logit of the better direction of every pair of concepts found, and whether that link was coded."""
    logits: list[float] = []
    right: list[float] = []
    for answer in answers:
        reading = network.read(*_texts(answer))
        places = [place for place, _ in heads.best_spans(heads.span_logits(network, reading), keep_from)]
        if not places:
            continue
        own = _matches(answer, places, [(c.first, c.last) for c in answer.concepts])
        vectors = heads.concept_vectors(network, heads.seen_concepts(reading, places))
        ends: list[tuple[Floats, heads.Place | None]] = list(zip(vectors, places, strict=True))
        numbers: list[int | None] = list(own)
        focus = heads.seen_focus(reading)
        if focus is not None:
            ends.append((heads.concept_vectors(network, focus)[0], None))
            numbers.append(-1)
        pairs = [(i, j) for i in range(len(ends)) for j in range(len(ends)) if i != j]
        if not pairs:
            continue
        found = network.linear("link", heads.pair_vectors(network, reading, ends, pairs))[:, 0]
        coded = {(source, target) for source, target, _, _ in answer.links}
        by_pair = dict(zip(pairs, found, strict=True))
        for i, j in pairs:
            if by_pair[i, j] > by_pair[j, i] or (by_pair[i, j] == by_pair[j, i] and i < j):
                logits.append(float(by_pair[i, j]))
                right.append(float((numbers[i], numbers[j]) in coded))
    return np.asarray(logits), np.asarray(right)


def calibrated(logits: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[float, float]:
    """Factor and summand that make logits those of probabilities.

    Source: Platt 1999, by Newton's method on the log loss.
    """
    scale, shift = 1.0, 0.0
    rows = np.stack([logits, np.ones_like(logits)], axis=1)
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-np.clip(scale * logits + shift, -30, 30)))
        gradient = rows.T @ (chance - right) + 1e-3 * np.asarray([scale - 1.0, shift])
        weight = chance * (1 - chance)
        hessian = (rows * weight[:, None]).T @ rows + 1e-3 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        scale, shift = scale - step[0], shift - step[1]
        if float(np.abs(step).max()) < 1e-6:
            break
    return float(scale), float(shift)


def _link_from(chances: NDArray[np.float32], right: NDArray[np.float64]) -> float:
    """The probability with the best F1 of links among the pairs found."""
    best = (0.0, 0.5)
    for least in STEPS:
        taken = chances >= least
        hits = float(right[taken].sum())
        best = max(best, (2 * hits / max(1.0, float(taken.sum()) + float(right.sum())), least))
    return best[1]


def _acts(network: ReaderNetwork, messages: Sequence[Message]) -> dict[str, ActThreshold]:
    """A threshold per act."""
    rules = rules_for("en")
    assert rules is not None
    gold, by_rule, chances = [], [], []
    for message in messages:
        item = message.source
        clauses, heard = heard_clauses(item["message"], item["question"], rules)
        own = [
            chance
            for clause, chance in zip(
                clauses, clause_chances(network, item["message"], item["question"], clauses), strict=True
            )
            if chance is not None and not clause.filler
        ]
        gold.append({act for _, act in item["spans"]} - {"tells"})
        by_rule.append({one.act: one.sure for one in heard if one is not None})
        chances.append(np.max(own, axis=0) if own else np.zeros(len(ACTS)))
    found: dict[str, ActThreshold] = {}
    for number, act in enumerate(ACTS):
        if act == "tells":
            continue
        there = np.asarray([act in one for one in gold])
        content = np.asarray([not one for one in gold])
        ruled = np.asarray([act in one for one in by_rule])
        likely = np.asarray([one[number] for one in chances])
        weight = MISSED if act in ASKED_BACK else 1.0
        most = MOST_ASKED_BACK if act in ASKED_BACK else MOST_FALSE
        careful = [least for least in STEPS if (likely[content] >= least).mean() <= most] or STEPS[-1:]
        careful = [least for least in careful if least >= ALONE_AT_LEAST] or STEPS[-1:]
        alone = max(careful, key=lambda least: (_score(ruled | (likely >= least), there, weight), least))
        higher = [least for least in STEPS if least >= max(alone, SURE_AT_LEAST)]
        sure = next(
            (
                least
                for least in higher
                if _precision(likely >= least, there) >= SURE_FROM and (likely[content] >= least).mean() <= MOST_SURE
            ),
            1.01,
        )
        if act in BOTH:
            sure = 1.01
        elif act not in ASKED_BACK:
            sure = alone
        matter = np.asarray([one.get(act) is (act in BOTH) for one in by_rule])
        agrees = next((least for least in STEPS if _precision(matter & (likely >= least), there) >= 0.95), 0.3)
        agrees = max(agrees, AGREES_FROM) if act in BOTH else min(agrees, alone)
        found[act] = ActThreshold(alone=alone, agrees=agrees, sure=sure)
    return found


def _score(taken: NDArray[np.bool_], there: NDArray[np.bool_], weight: float) -> float:
    """F-measure in which recall counts `weight` times."""
    hits = float((taken & there).sum())
    return (1 + weight**2) * hits / max(1.0, weight**2 * float(there.sum()) + float(taken.sum()))


def _precision(taken: NDArray[np.bool_], there: NDArray[np.bool_]) -> float:
    return float((taken & there).sum()) / max(1.0, float(taken.sum()))

"""Fits the reader's network to the corpus."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from pipeline.acts import ACTS
from pipeline.language.reader.encoding import Encoder, Encoding
from pipeline.language.reader.heads import between_words, content_share, pair_shape
from pipeline.language.training.corpus import EMPTY, PLAIN, Answer, Kind, Message, Words
from pipeline.language.training.network import WIDEST, ReaderNetwork, padded

SHOWN = 3
"""Exemplars of a type that one step of the training sees; the reader sees all."""
ACT_BATCH = 32
ANSWER_BATCH = 20
CONTENT = 0.5
"""Share of the answers that an epoch reads as messages, too: as content that is no act, however it sounds."""
WITH_TOPIC = 0.4
"""Share of the messages that are read with their topic as focus, as answers are."""

Item = TypeVar("Item", Message, Answer)


@dataclass(frozen=True)
class Plan:
    """How long and how fast to train.

    Attributes:
        epochs: how often everything is read.
        rate: the encoder's, at its highest.
        head_rate: the heads'.
        answers: share of the answers that an epoch reads, others each time.
        seed: of the order.
    """

    epochs: int = 6
    rate: float = 1.2e-4
    head_rate: float = 1e-3
    answers: float = 1.0
    seed: int = 1

    def slower(self, factor: float) -> Plan:
        """The same at a share of the rates, for a network that has learned already."""
        return replace(self, rate=self.rate * factor, head_rate=self.head_rate * factor)


def fit(
    network: ReaderNetwork,
    messages: Sequence[Message],
    answers: Sequence[Answer],
    methodologies: dict[str, Words],
    encoder: Encoder,
    plan: Plan,
    tell: Callable[[str], None] = print,
) -> None:
    """Train the network in place.

    Args:
        messages: with their acts.
        answers: with their codings.
        methodologies: the words of all that the answers are coded by; a coding in another one is left out.
        encoder: makes word pieces of the methodologies' texts.
        plan: how long and how fast.
        tell: gets a line per epoch.
    """
    torch.manual_seed(plan.seed)
    chance = random.Random(plan.seed)
    # What words mean stays as it was learned from far more text than there is here.
    network.encoder.pieces.weight.requires_grad_(False)
    trainer = _Trainer(network, methodologies, encoder, chance)
    optimiser = torch.optim.AdamW(
        [
            {"params": [p for p in network.encoder.parameters() if p.requires_grad], "lr": plan.rate},
            {"params": list(network.heads.parameters()), "lr": plan.head_rate},
        ],
        weight_decay=0.01,
        fused=True,
    )
    total = plan.epochs * len(_batches(messages, _share(answers, plan, chance), methodologies, chance))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / (0.08 * total)) * max(0.0, 1.0 - step / (total + 1))
    )
    for epoch in range(plan.epochs):
        network.train()
        began, losses = time.monotonic(), {"acts": [0.0], "content": [0.0], "answers": [0.0]}
        for kind, part in _batches(messages, _share(answers, plan, chance), methodologies, chance):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = trainer.loss(kind, part)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses[kind if kind in losses else "answers"].append(loss.item())
        means = ", ".join(f"{name} {np.mean(values):.3f}" for name, values in losses.items())
        tell(f"epoch {epoch + 1} of {plan.epochs}: loss of {means}; {time.monotonic() - began:.0f} s")
    network.eval()


def _share(answers: Sequence[Answer], plan: Plan, chance: random.Random) -> Sequence[Answer]:
    """The answers that an epoch reads."""
    return answers if plan.answers >= 1 else chance.sample(list(answers), round(len(answers) * plan.answers))


def _batches(
    messages: Sequence[Message], answers: Sequence[Answer], methodologies: dict[str, Words], chance: random.Random
) -> list[tuple[str, list[Any]]]:
    """Batches of like length in random order: messages ("acts"), answers as if they were messages ("content"), or
    answers by the methodology of their coding.
    """
    found: list[tuple[str, list[Any]]] = [("acts", part) for part in _cut(messages, ACT_BATCH, chance)]
    some = [answer for answer in answers if chance.random() < CONTENT]
    found += [("content", part) for part in _cut(some, ACT_BATCH, chance)]
    by_method: dict[str, list[Answer]] = {}
    for answer in answers:
        for name in (answer.methodology, *answer.codings):
            if name in methodologies:
                by_method.setdefault(name, []).append(answer)
    for name, own in by_method.items():
        found += [(name, part) for part in _cut(own, ANSWER_BATCH, chance)]
    chance.shuffle(found)
    return found


def _cut(items: Sequence[Item], size: int, chance: random.Random) -> list[list[Item]]:
    ordered = sorted(items, key=lambda item: len(item.encoding.windows[0].ids) + chance.random() * 16)
    return [ordered[i : i + size] for i in range(0, len(ordered), size)]


class Read:
    """Encoded answers of a batch: vectors of words, padded.

    `first`, `last` and `words` are [batch, words, HIDDEN], `valid` is [batch, words], `whole` [batch, HIDDEN]; `focus`
    has per answer what is seen of the focus as of a concept, or None. Only the first window of an answer counts.
    """

    def __init__(self, network: ReaderNetwork, encodings: Sequence[Encoding]) -> None:
        windows = [encoding.windows[0] for encoding in encodings]
        ids, mask = padded([window.ids for window in windows])
        segments = torch.zeros_like(ids)
        for number, window in enumerate(windows):
            segments[number, : len(window.segments)] = torch.tensor(window.segments)
        hidden = network.encoder(ids, segments, mask)
        self.counts = [
            sum(word.last < window.pieces[1] for word in encoding.words)
            for encoding, window in zip(encodings, windows, strict=True)
        ]
        longest = max(self.counts)
        places = torch.zeros(2, len(windows), longest, dtype=torch.long)
        self.valid = torch.zeros(len(windows), longest)
        self.spoken = torch.zeros(len(windows), longest)
        for number, (encoding, window, count) in enumerate(zip(encodings, windows, self.counts, strict=True)):
            own = encoding.words[:count]
            places[0, number, :count] = torch.tensor([word.first + window.shift for word in own])
            places[1, number, :count] = torch.tensor([word.last + window.shift for word in own])
            self.valid[number, :count] = 1
            self.spoken[number, :count] = torch.tensor([float(word.spoken) for word in own])
        rows = torch.arange(len(windows))[:, None]
        self.first, self.last = hidden[rows, places[0]], hidden[rows, places[1]]
        self.words = (self.first + self.last) / 2
        self.whole = hidden[:, 0]
        self.focus = [
            torch.cat(
                [
                    hidden[n, w.focus[0]],
                    hidden[n, w.focus[1] - 1],
                    hidden[n, w.focus[0] : w.focus[1]].mean(0),
                    hidden[n, 0],
                ]
            )
            if w.focus[1]
            else None
            for n, w in enumerate(windows)
        ]


class _Trainer:
    def __init__(
        self, network: ReaderNetwork, methodologies: dict[str, Words], encoder: Encoder, chance: random.Random
    ) -> None:
        self.network = network
        self.methodologies = methodologies
        self.encoder = encoder
        self.chance = chance
        self._spans_of: dict[int, list[tuple[int, int, float]]] = {}
        self._known = {text: number for number, text in enumerate(network.known)}
        self.plain = torch.tensor([act in PLAIN for act in ACTS])
        self.empty = torch.tensor([number for number, act in enumerate(ACTS) if act in EMPTY])

    def loss(self, kind: str, batch: Sequence[Any]) -> Tensor:
        """Loss of a batch of this kind."""
        if kind == "acts":
            return self.acts(batch)
        return self.content(batch) if kind == "content" else self.answers(batch, kind)

    def content(self, batch: Sequence[Answer]) -> Tensor:
        """Loss of hearing acts in answers: what is a concept tells, however much it sounds like something else."""
        read = Read(self.network, [answer.bare for answer in batch])
        whole = self._whole(read)[:, self.plain]
        return self._telling(batch, read) + 3.0 * nn.functional.binary_cross_entropy_with_logits(
            whole, torch.zeros_like(whole)
        )

    def acts(self, batch: Sequence[Message]) -> Tensor:
        """Loss of hearing."""
        heads = self.network.heads
        # With a focus now and then: otherwise whether there is one would say whether acts are to be expected.
        read = Read(self.network, [m.about if self.chance.random() < WITH_TOPIC else m.encoding for m in batch])
        wanted = torch.full(read.valid.shape, -100)
        there = torch.zeros(len(batch), len(ACTS))
        for number, message in enumerate(batch):
            own = message.acts[: read.counts[number]]
            wanted[number, : len(own)] = torch.tensor(own)
            there[number, list(set(message.acts))] = 1
        logits = heads.act_word(heads.dropout(read.words)).float()
        each = nn.functional.cross_entropy(
            logits.flatten(0, 1), wanted.flatten(), ignore_index=-100, reduction="none"
        ).view(wanted.shape)
        words = (each.sum(1) / read.valid.sum(1)).mean()
        whole = nn.functional.binary_cross_entropy_with_logits(self._whole(read), there)
        return words + 3.0 * whole + self._silent(wanted, read)

    def _silent(self, acts: Tensor, read: Read) -> Tensor:
        """No span is a concept that has a word of an act in which nothing is told; `acts` are [batch, words]."""
        silent = torch.nn.functional.pad(torch.isin(acts, self.empty).cumsum(1), (1, 0))
        count = acts.shape[1]
        ends = torch.arange(count)[:, None] + torch.arange(WIDEST)[None]
        reached = ends.clamp(max=count - 1)
        covers = silent[:, reached + 1] - silent[:, :count, None]
        spoken = (read.spoken[:, :, None] > 0) & (read.spoken[:, reached] > 0)
        counted = ((ends < count)[None] & spoken & (covers > 0)).float()
        heads = self.network.heads
        logits = heads.spans(read.first, read.last, read.words).float()
        each = nn.functional.binary_cross_entropy_with_logits(logits, torch.zeros_like(logits), reduction="none")
        return (each * counted).sum((1, 2)).mean() * 0.3

    def _whole(self, read: Read) -> Tensor:
        heads = self.network.heads
        mean = (read.words * read.valid[..., None]).sum(1) / read.valid.sum(1, keepdim=True)
        return heads.act_message(heads.dropout(mean)).float()

    def answers(self, batch: Sequence[Answer], method: str) -> Tensor:
        """Loss of understanding, by the coding of one methodology."""
        network, heads = self.network, self.network.heads
        words = self.methodologies[method]
        read = Read(network, [answer.encoding for answer in batch])
        losses = []
        own = all(answer.methodology == method for answer in batch)
        spans = heads.spans(read.first, read.last, read.words).float()
        losses.append((1.0 if own else 0.3) * self._spans(spans, batch, read))
        if own:
            losses.append(self._words(batch, read))
        seen, places = self._seen(batch, read)
        if not places:
            return sum(losses, torch.zeros(()))
        losses += self._kinds(batch, words, seen, places, own)
        if own:
            vectors = heads.concepts(seen)
            losses += self._judged(batch, vectors, places)
            losses += self._links(batch, words, read, vectors, places)
        return sum(losses, torch.zeros(()))

    def _spans(self, logits: Tensor, batch: Sequence[Answer], read: Read) -> Tensor:
        """Soft targets: a span that shares content with a coded one is nearly it."""
        wanted = torch.zeros_like(logits)
        counted = torch.zeros_like(logits)
        for number, answer in enumerate(batch):
            count = read.counts[number]
            spoken = read.spoken[number, :count]
            ends = torch.arange(count)[:, None] + torch.arange(WIDEST)[None]
            inside = (ends < count) & (spoken[:, None] > 0) & (spoken[ends.clamp(max=count - 1)] > 0)
            counted[number, :count] = inside.float()
            for start, width, share in self._targets(answer, count):
                wanted[number, start, width] = share
        each = nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none") * counted
        concepts = torch.tensor([1.0 + len(answer.concepts) for answer in batch])
        return (each.sum((1, 2)) / concepts).mean() * 0.3

    def _targets(self, answer: Answer, count: int) -> list[tuple[int, int, float]]:
        """Spans that are a coded concept, or share most of their content with one: start, width − 1, how much."""
        known = self._spans_of.get(id(answer))
        if known is None:
            found: dict[tuple[int, int], float] = {}
            for concept in answer.concepts:
                if concept.last >= count:
                    continue
                for start in range(max(0, concept.first - 8), min(count, concept.last + 1)):
                    for end in range(max(start, concept.first), min(count, start + WIDEST, concept.last + 9)):
                        share = content_share(
                            answer.encoding.words, (start, end), (concept.first, concept.last), answer.source["answer"]
                        )
                        if share > 0.5:
                            at = (start, end - start)
                            found[at] = max(found.get(at, 0.0), share**2)
            known = [(start, width, share) for (start, width), share in found.items()]
            self._spans_of[id(answer)] = known
        return known

    def _words(self, batch: Sequence[Answer], read: Read) -> Tensor:
        """Which words begin, end and belong to a concept."""
        heads = self.network.heads
        wanted = torch.zeros(3, *read.valid.shape)
        for number, answer in enumerate(batch):
            for concept in answer.concepts:
                if concept.last < read.counts[number]:
                    wanted[0, number, concept.first] = wanted[1, number, concept.last] = 1
                    wanted[2, number, concept.first : concept.last + 1] = 1
        logits = torch.stack(
            [heads.start_alone(read.first), heads.end_alone(read.last), heads.inside(read.words)]
        ).squeeze(-1)
        each = nn.functional.binary_cross_entropy_with_logits(logits.float(), wanted, reduction="none")
        return (each * read.spoken[None]).sum() / read.spoken.sum()

    def _telling(self, batch: Sequence[Answer], read: Read) -> Tensor:
        """Words of concepts tell."""
        wanted = torch.full(read.valid.shape, -100)
        for number, answer in enumerate(batch):
            for concept in answer.concepts:
                if concept.last < read.counts[number]:
                    wanted[number, concept.first : concept.last + 1] = 0
        if not bool((wanted == 0).any()):
            return torch.zeros(())
        heads = self.network.heads
        logits = heads.act_word(heads.dropout(read.words)).float()
        return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)

    def _seen(self, batch: Sequence[Answer], read: Read) -> tuple[Tensor, list[tuple[int, int]]]:
        """What is seen of all coded concepts, ends moved a little now and then, and (answer, concept) of each."""
        total = nn.functional.pad(read.words.float().cumsum(1), (0, 0, 1, 0))
        places, seen = [], []
        for number, answer in enumerate(batch):
            for position, concept in enumerate(answer.concepts):
                start, end = concept.first, concept.last
                if end >= read.counts[number]:
                    continue
                if self.chance.random() < 0.2:
                    start = max(0, min(end, start + self.chance.choice((-1, 1))))
                if self.chance.random() < 0.2:
                    end = min(read.counts[number] - 1, max(start, end + self.chance.choice((-1, 1))))
                places.append((number, position))
                mean = (total[number, end + 1] - total[number, start]) / (end + 1 - start)
                first = read.first[number, start]
                seen.append(torch.cat([first, read.last[number, end], mean.to(first.dtype), read.whole[number]]))
        return (torch.stack(seen) if seen else torch.zeros(0)), places

    def _texts(self, kinds: Sequence[Kind]) -> tuple[Tensor, Tensor, Tensor]:
        """Pooled vectors of descriptions and of some exemplars, and whose exemplars they are."""
        phrases = [self.encoder.phrase(kind.text) for kind in kinds]
        owner = []
        for number, kind in enumerate(kinds):
            shown = self.chance.sample(kind.exemplars, min(SHOWN, len(kind.exemplars)))
            phrases += [self.encoder.phrase(text) for text in shown]
            owner += [number] * len(shown)
        pooled = self.network.pooled(phrases)
        return pooled[: len(kinds)], pooled[len(kinds) :], torch.tensor(owner, dtype=torch.long)

    def _kinds(
        self, batch: Sequence[Answer], words: Words, seen: Tensor, places: list[tuple[int, int]], own: bool
    ) -> list[Tensor]:
        names = {kind.name: number for number, kind in enumerate(words.types)}
        wanted = []
        for number, position in places:
            answer = batch[number]
            name = answer.concepts[position].type if own else answer.codings[words.name][position]
            wanted.append(names.get(name, len(names)) if name is not None else len(names))
        known = None
        if self.chance.random() < 0.5:
            known = torch.tensor([self._known.get(kind.text, -1) for kind in words.types])
        logits = self.network.heads.types(seen, *self._texts(words.types), known).float()
        return [nn.functional.cross_entropy(logits, torch.tensor(wanted), label_smoothing=0.05)]

    def _judged(self, batch: Sequence[Answer], vectors: Tensor, places: list[tuple[int, int]]) -> list[Tensor]:
        heads, losses = self.network.heads, []
        for name, head in (("salience", heads.salience), ("stance", heads.stance), ("emotion", heads.emotion)):
            wanted = [getattr(batch[n].concepts[p], name) for n, p in places]
            known = [i for i, value in enumerate(wanted) if value is not None]
            if known:
                logits = head(vectors[known]).float()
                losses.append(0.3 * nn.functional.cross_entropy(logits, torch.tensor([wanted[i] for i in known])))
        return losses

    def _links(
        self, batch: Sequence[Answer], words: Words, read: Read, vectors: Tensor, places: list[tuple[int, int]]
    ) -> list[Tensor]:
        heads = self.network.heads
        source, target, between, shape, wanted, edges, basis = [], [], [], [], [], [], []
        at = {place: number for number, place in enumerate(places)}
        total = nn.functional.pad(read.words.float().cumsum(1), (0, 0, 1, 0))
        names = {kind.name: number for number, kind in enumerate(words.edges)}
        for number, answer in enumerate(batch):
            own = [p for p in range(len(answer.concepts)) if (number, p) in at]
            focus = read.focus[number]
            ends = {p: vectors[at[number, p]] for p in own}
            if focus is not None and own:
                ends[-1] = heads.concepts(focus[None])[0]
            links = {(s, t): (name, why) for s, t, name, why in answer.links}
            for s in ends:
                for t in ends:
                    if s == t:
                        continue
                    places_of = [None if e < 0 else (answer.concepts[e].first, answer.concepts[e].last) for e in (s, t)]
                    low, high = between_words(places_of[0], places_of[1], read.counts[number])
                    source.append(ends[s])
                    target.append(ends[t])
                    between.append((total[number, high] - total[number, low]) / max(1, high - low))
                    shape.append(pair_shape(places_of[0], places_of[1]))
                    name, why = links.get((s, t), (None, None))
                    wanted.append(float(name is not None))
                    edges.append(names.get(name, -100) if name is not None else -100)
                    basis.append({"stated": 0, "answered": 1}.get(why or "", -100))
        if not wanted:
            return []
        vectors_of = heads.pairs(
            torch.stack(source), torch.stack(target), torch.stack(between).to(source[0].dtype), torch.tensor(shape)
        )
        logits = heads.link(vectors_of).squeeze(-1).float()
        losses = [
            nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(wanted), reduction="sum")
            / max(10.0, len(batch))
            * 0.5
        ]
        known = [i for i, value in enumerate(edges) if value >= 0]
        if known and len(words.edges) > 1:
            pooled = self.network.pooled([self.encoder.phrase(kind.text) for kind in words.edges])
            chosen = heads.edges(vectors_of[known], pooled).float()
            losses.append(0.5 * nn.functional.cross_entropy(chosen, torch.tensor([edges[i] for i in known])))
        known = [i for i, value in enumerate(basis) if value >= 0]
        if known:
            chosen = heads.basis(vectors_of[known]).float()
            losses.append(0.2 * nn.functional.cross_entropy(chosen, torch.tensor([basis[i] for i in known])))
        return losses

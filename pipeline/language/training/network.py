"""The network of the reader in torch: MiniLM's encoder and a head per judgement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

HIDDEN = 384
LAYERS = 6
EARLY = 2
"""First layers, whose vectors the model of what is worth saying goes on from."""
ATTENTIONS = 12
ACT_COUNT = 17
WIDEST = 24
"""Words of the longest concept."""
SPAN = 128
CONCEPT = 256
TYPE = 128
LINK = 192
PAIR_SHAPES = 10
"""Kinds of pairs by order and distance; see `pipeline.language.reader.heads.pair_shape`."""


def gelu(x: Tensor) -> Tensor:
    """The form of GELU that numpy can do as well."""
    return nn.functional.gelu(x, approximate="tanh")


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.attended = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.wide, self.narrow = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)
        self.last_norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """`x` is [batch, length, HIDDEN]; `mask` is added to the attention."""
        batch, length, _ = x.shape
        query, key, value = (
            part(x).view(batch, length, ATTENTIONS, HIDDEN // ATTENTIONS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        weights = torch.softmax(query @ key.transpose(-1, -2) / math.sqrt(HIDDEN // ATTENTIONS) + mask, -1)
        attended = (weights @ value).transpose(1, 2).reshape(batch, length, HIDDEN)
        x = self.norm(x + self.dropout(self.attended(attended)))
        return self.last_norm(x + self.dropout(self.narrow(nn.functional.gelu(self.wide(x)))))


class TextEncoder(nn.Module):
    """MiniLM: word pieces in, one vector each out."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces = nn.Embedding(30522, HIDDEN)
        self.positions = nn.Embedding(512, HIDDEN)
        self.segments = nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """All [batch, length]; the result is [batch, length, HIDDEN]."""
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        x = self.dropout(self.norm(self.pieces(ids) + self.positions(places) + self.segments(segments)))
        added = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        for layer in self.layers:
            x = layer(x, added)
        return x

    def load(self, path: Path) -> None:
        """Take the weights of a `model.safetensors` of BERT's naming."""
        there = load_file(path)
        names = {
            "pieces.weight": "embeddings.word_embeddings.weight",
            "positions.weight": "embeddings.position_embeddings.weight",
            "segments.weight": "embeddings.token_type_embeddings.weight",
            "norm.weight": "embeddings.LayerNorm.weight",
            "norm.bias": "embeddings.LayerNorm.bias",
        }
        parts = {
            "query": "attention.self.query",
            "key": "attention.self.key",
            "value": "attention.self.value",
            "attended": "attention.output.dense",
            "norm": "attention.output.LayerNorm",
            "wide": "intermediate.dense",
            "narrow": "output.dense",
            "last_norm": "output.LayerNorm",
        }
        for layer in range(LAYERS):
            for own, its in parts.items():
                for kind in ("weight", "bias"):
                    names[f"layers.{layer}.{own}.{kind}"] = f"encoder.layer.{layer}.{its}.{kind}"
        self.load_state_dict({own: there[its] for own, its in names.items()})


class Heads(nn.Module):
    """What judges the encoder's vectors; `pipeline.language.reader.heads` does the same in numpy."""

    def __init__(self, known: int) -> None:
        """Args: known: how many types have a vector of their own, besides their words."""
        super().__init__()
        self.act_word = nn.Linear(HIDDEN, ACT_COUNT)
        self.act_message = nn.Linear(HIDDEN, ACT_COUNT)
        self.start_wide, self.start_narrow = nn.Linear(HIDDEN, CONCEPT), nn.Linear(CONCEPT, SPAN)
        self.end_wide, self.end_narrow = nn.Linear(HIDDEN, CONCEPT), nn.Linear(CONCEPT, SPAN)
        self.start_alone, self.end_alone = nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, 1)
        self.inside = nn.Linear(HIDDEN, 1)
        self.width = nn.Embedding(WIDEST + 1, 1)
        self.concept = nn.Linear(4 * HIDDEN, CONCEPT)
        self.salience, self.stance, self.emotion = nn.Linear(CONCEPT, 4), nn.Linear(CONCEPT, 3), nn.Linear(CONCEPT, 3)
        self.type_wide, self.type_of = nn.Linear(4 * HIDDEN, CONCEPT), nn.Linear(CONCEPT, TYPE)
        self.type_described, self.type_shown = nn.Linear(HIDDEN, TYPE), nn.Linear(HIDDEN, TYPE)
        self.type_none = nn.Linear(CONCEPT, 1)
        self.type_known = nn.Embedding(known, TYPE)
        self.scales = nn.Parameter(torch.tensor([6.0, 6.0, 4.0, 6.0]))
        self.link_source, self.link_target = nn.Linear(CONCEPT, LINK), nn.Linear(CONCEPT, LINK)
        self.link_between = nn.Linear(HIDDEN, LINK)
        self.link_shape = nn.Embedding(PAIR_SHAPES, LINK)
        self.link, self.basis = nn.Linear(LINK, 1), nn.Linear(LINK, 2)
        self.edge_of, self.edge_described = nn.Linear(LINK, TYPE), nn.Linear(HIDDEN, TYPE)
        self.dropout = nn.Dropout(0.15)
        nn.init.constant_(self.inside.bias, -4.0)
        nn.init.zeros_(self.width.weight)

    def spans(self, first: Tensor, last: Tensor, words: Tensor) -> Tensor:
        """Logits of spans, [batch, words, WIDEST]; entry [b, i, k] is for words i to i + k.

        Args:
            first: vector of each word's first piece, [batch, words, HIDDEN].
            last: of its last piece.
            words: mean of both.
        """
        count = first.shape[1]
        start = self.start_narrow(gelu(self.start_wide(self.dropout(first))))
        end = self.end_narrow(gelu(self.end_wide(self.dropout(last))))
        both = start @ end.transpose(1, 2) / math.sqrt(SPAN)
        alone = self.start_alone(first) + self.end_alone(last).transpose(1, 2)
        inside = nn.functional.pad(self.inside(words).squeeze(-1).float().cumsum(1), (1, 0))
        widths = torch.arange(WIDEST, device=first.device)
        ends = torch.arange(count, device=first.device)[:, None] + widths[None]
        reached = ends.clamp(max=count - 1)
        mean = (inside[:, (reached + 1)] - inside[:, :count, None]) / (widths + 1.0)
        picked = (both + alone).gather(2, reached[None].expand(len(first), -1, -1))
        return picked + mean + self.width(widths).squeeze(-1)

    def concepts(self, seen: Tensor) -> Tensor:
        """Vectors of concepts, [concepts, CONCEPT].

        Args:
            seen: vectors of the first and last word piece, of all words, and of the whole, [concepts, 4 · HIDDEN].
        """
        return torch.tanh(self.concept(self.dropout(seen)))

    def types(
        self, seen: Tensor, texts: Tensor, exemplars: Tensor, owner: Tensor, known: Tensor | None = None
    ) -> Tensor:
        """Logits of a methodology's types and, last, of none; [concepts, types + 1].

        Args:
            seen: as in `concepts`.
            texts: pooled vectors of the types' descriptions, [types, HIDDEN].
            exemplars: pooled vectors of their exemplars, [exemplars, HIDDEN].
            owner: the type of each exemplar, [exemplars].
            known: the number of each type's own vector, −1 for none, [types].
        """
        wide = gelu(self.type_wide(self.dropout(seen)))
        own = nn.functional.normalize(self.type_of(wide), dim=-1)
        logits = self.scales[0] * own @ nn.functional.normalize(self.type_described(texts), dim=-1).T
        if len(exemplars):
            close = own @ nn.functional.normalize(self.type_shown(exemplars), dim=-1).T
            belongs = owner[None] == torch.arange(len(texts), device=owner.device)[:, None]
            spread = torch.where(belongs[None], 8.0 * close[:, None], torch.tensor(-1e4, dtype=close.dtype))
            nearest = torch.logsumexp(spread, -1) - torch.log(belongs.sum(1).clamp(min=1))
            shown = belongs.any(1)
            logits = logits + self.scales[1] / 8.0 * torch.where(shown[None], nearest, torch.zeros_like(nearest))
        if known is not None:
            learned = self.scales[3] * own @ nn.functional.normalize(self.type_known(known.clamp(min=0)), dim=-1).T
            logits = logits + torch.where(known[None] >= 0, learned, torch.zeros_like(learned))
        return torch.cat([logits, self.type_none(wide) + self.scales[2]], -1)

    def pairs(self, source: Tensor, target: Tensor, between: Tensor, shape: Tensor) -> Tensor:
        """Vectors of ordered pairs of concepts, [pairs, LINK]."""
        return gelu(
            self.link_source(source) + self.link_target(target) + self.link_between(between) + self.link_shape(shape)
        )

    def edges(self, pairs: Tensor, texts: Tensor) -> Tensor:
        """Logits of a methodology's relations for pairs, [pairs, relations]."""
        own = nn.functional.normalize(self.edge_of(pairs), dim=-1)
        return 10.0 * own @ nn.functional.normalize(self.edge_described(texts), dim=-1).T


class ReaderNetwork(nn.Module):
    """Encoder and heads; `known` are the types, as texts, that get a vector of their own besides their words."""

    def __init__(self, known: Sequence[str]) -> None:
        super().__init__()
        self.known = tuple(known)
        self.encoder = TextEncoder()
        self.heads = Heads(len(self.known))

    def pooled(self, phrases: list[list[int]]) -> Tensor:
        """Mean vectors of short texts, [texts, HIDDEN]."""
        ids, mask = padded(phrases)
        x = self.encoder(ids, torch.zeros_like(ids), mask)
        kept = mask[..., None].to(x.dtype)
        return (x * kept).sum(1) / kept.sum(1)


def padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Ids and mask, both [rows, longest]."""
    longest = max(map(len, rows))
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
    return ids, mask

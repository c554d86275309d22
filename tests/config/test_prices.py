"""Prices: the packaged ones, the operator's over them, mistakes by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.prices import load_prices, price_table, read_prices
from config.yamlfile import ConfigError


@pytest.mark.parametrize(
    ("model", "tokens", "amount"),
    [
        ("claude-sonnet-4-6", (1_000_000, 1_000_000, 0), 18.0),
        ("claude-3-5-sonnet-20241022", (1_000_000, 0, 500_000), 1.65),
        ("Kimi-K2-0905-preview", (1_000_000, 1_000_000, 0), 3.1),
        ("deepseek-chat", (1_000_000, 1_000_000, 0), 0.42),
    ],
)
def test_packaged_prices_are_those_of_the_models(model: str, tokens: tuple[int, int, int], amount: float) -> None:
    cost = price_table(load_prices()).cost(model, *tokens)
    assert cost is not None
    assert (round(cost.amount, 6), cost.currency) == (amount, "USD")


def test_model_without_a_price_has_no_cost() -> None:
    assert price_table(load_prices()).cost("my-own-model", 1, 1, 0) is None


def test_operators_prices_go_over_the_packaged_ones(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(
        '"deepseek-chat": {input: 1, output: 2, currency: EUR}\nmine: {input: 5, output: 6}\n'
    )
    table = price_table(load_prices(tmp_path))
    cost = table.cost("deepseek-chat", 1_000_000, 0, 0)
    assert cost is not None
    assert (cost.amount, cost.currency) == (1.0, "EUR")
    assert table.cost("mine", 0, 1_000_000, 0) is not None
    assert table.cost("kimi-k2", 1, 1, 0) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mine: {input: 1}\n", ["p.yaml:1: mine: the key `output` is missing"]),
        (
            "mine:\n  input: -1\n  output: 2\n  cached: 1\n",
            [
                "p.yaml:2: mine: input: input should be greater than or equal to 0",
                "p.yaml:4: mine: cached: unknown key; did you mean `cached_input`?",
            ],
        ),
        ("mine: {input: .nan, output: 1}\n", ["p.yaml:1: mine: input: input should be a finite number"]),
        (
            "a: {input: 1, output: 1}\nmine: 3\n",
            ["p.yaml:2: mine: should be lines of the form `key: value`"],
        ),
        ("- mine\n", ["p.yaml:1: should be a mapping of models to prices"]),
    ],
)
def test_mistake_is_reported_with_its_line(text: str, expected: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        read_prices(text, "p.yaml")
    assert [str(problem) for problem in caught.value.problems] == expected


def test_file_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_prices(tmp_path)

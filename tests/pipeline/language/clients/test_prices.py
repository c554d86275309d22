"""Prices: which pattern counts, and what a call costs."""

from __future__ import annotations

import pytest

from pipeline.language.clients.prices import Cost, Price, PriceTable

TABLE = PriceTable(
    {
        "*": Price(input=100, output=100),
        "claude-*": Price(input=3, output=15, cached_input=0.3),
        "claude-?-4*": Price(input=1, output=5),
        "Claude-X-4": Price(input=2, output=10, currency="EUR"),
    }
)


@pytest.mark.parametrize(
    ("model", "price"),
    [("claude-x-4", 2), ("CLAUDE-X-4", 2), ("claude-x-4-1", 1), ("claude-sonnet", 3), ("gpt", 100)],
)
def test_price_of_model_is_that_of_the_most_specific_pattern(model: str, price: float) -> None:
    found = TABLE.price(model)
    assert found is not None and found.input == price
    assert TABLE.price(model) is found


@pytest.mark.parametrize(
    ("tokens", "amount"),
    [
        ((1_000_000, 0, None), 3.0),
        ((1_000_000, 1_000_000, 0), 18.0),
        ((1_000_000, 0, 400_000), 0.6 * 3 + 0.4 * 0.3),
        ((100, 0, 500), 100 * 0.3 / 1e6),
        ((1_000_000, None, None), 3.0),
        ((None, 1_000_000, None), 15.0),
    ],
)
def test_cost_counts_cached_input_at_its_own_price(tokens: tuple[int | None, ...], amount: float) -> None:
    found = TABLE.cost("claude-sonnet", *tokens)
    assert found is not None
    assert found.amount == pytest.approx(amount)
    assert found.currency == "USD"


def test_cost_without_a_cached_price_counts_the_whole_input() -> None:
    assert TABLE.cost("claude-x-4", 1_000_000, 0, 500_000) == Cost(amount=2.0, currency="EUR")


def test_cost_of_unknown_model_or_without_tokens_is_not_known() -> None:
    assert PriceTable({"claude-*": Price(input=3, output=15)}).cost("gpt", 10, 10) is None
    assert PriceTable().cost("gpt", 10, 10) is None
    assert TABLE.cost("claude-sonnet", None, None, None) is None

"""The cost of calls, from a price table of the operator."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from pydantic import Field

from pipeline.records import Record

TOKENS_PER_PRICE = 1_000_000


class Price(Record):
    """The price of a model per million tokens. Without `cached_input`, cached input costs what other input does."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    currency: str = "USD"


class Cost(Record):
    """The cost of a call."""

    amount: float
    currency: str


class PriceTable:
    """Prices by model.

    Args:
        prices: by model name, or by a pattern of names (`*`, `?`, `[…]`, as in file names; case does not matter). Of
            several patterns that fit, the most specific one counts: an exact name, else the one with most literal
            characters, of equal ones the one without `*`, then the first in the alphabet.
    """

    def __init__(self, prices: Mapping[str, Price] | None = None) -> None:
        self._prices = sorted(((name.lower(), price) for name, price in (prices or {}).items()), key=_rank)
        self._known: dict[str, Price | None] = {}

    def price(self, model: str) -> Price | None:
        """The price of a model, None if the table does not have it."""
        if model not in self._known:
            name = model.lower()
            exact = (price for pattern, price in self._prices if pattern == name)
            fitting = (price for pattern, price in self._prices if fnmatchcase(name, pattern))
            self._known[model] = next(exact, None) or next(fitting, None)
        return self._known[model]

    def cost(
        self, model: str, input_tokens: int | None, output_tokens: int | None, cached_tokens: int | None = None
    ) -> Cost | None:
        """The cost of a call, in the currency of the price.

        Args:
            model: its name.
            input_tokens: read, those from the cache included.
            output_tokens: written. A number that is not known counts as 0, so the cost is then a lower bound.
            cached_tokens: those of the input that were read from the provider's cache.
        Returns:
            None if the table does not have the model, or no tokens are known. Surcharges for writing to a cache are
            not included.
        """
        price = self.price(model)
        if price is None or (input_tokens is None and output_tokens is None):
            return None
        read = input_tokens or 0
        cached = min(cached_tokens or 0, read)
        cached_price = price.input if price.cached_input is None else price.cached_input
        total = (read - cached) * price.input + cached * cached_price + (output_tokens or 0) * price.output
        return Cost(amount=total / TOKENS_PER_PRICE, currency=price.currency)


def _rank(item: tuple[str, Price]) -> tuple[int, int, str]:
    name = item[0]
    literal = sum(character not in "*?[]" for character in name)
    return (-literal, name.count("*"), name)

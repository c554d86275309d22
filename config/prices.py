"""What language models cost: `prices.yaml`, the packaged one with the operator's over it."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from config.yamlfile import ConfigError, ConfigProblem, Document, parse, read_text, validate
from pipeline.methodology import Spec

if TYPE_CHECKING:
    from pipeline.language.clients.prices import PriceTable

FILE = "prices.yaml"


class Price(Spec):
    """What a model costs per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False, description="Of what the model reads.")
    output: float = Field(ge=0, allow_inf_nan=False, description="Of what it writes.")
    cached_input: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Of what it reads from the provider's cache; as `input` if not given.",
    )
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$", description="Three letters (ISO 4217).")


def read_prices(text: str, file: str) -> dict[str, Price]:
    """The prices of one file, by pattern of model names.

    Raises:
        ConfigError: with `file:line: reason` for each mistake.
    """
    document = parse(text, file)
    if not isinstance(document.data, dict):
        raise ConfigError([document.problem((), "should be a mapping of models to prices")])
    prices: dict[str, Price] = {}
    problems: list[ConfigProblem] = []
    for name, fields in document.data.items():
        lines = {path[1:]: line for path, line in document.lines.items() if path[:1] == (str(name),)}
        try:
            prices[str(name)] = validate(Document(file, fields, {(): document.line((str(name),)), **lines}), Price)
        except ConfigError as exc:
            problems += [ConfigProblem(p.file, p.line, f"{name}: {p.reason}") for p in exc.problems]
    if problems:
        raise ConfigError(sorted(problems))
    return prices


def load_prices(config_dir: Path | None = None, packaged: Traversable | None = None) -> dict[str, Price]:
    """All prices, the operator's over the packaged ones.

    Raises:
        ConfigError: a file can't be read or has mistakes.
    """
    prices: dict[str, Price] = {}
    for root in (packaged if packaged is not None else files("config"), config_dir):
        path = root / FILE if root is not None else None
        if path is not None and path.is_file():
            prices |= read_prices(_text(path), str(path))
    return prices


def price_table(prices: dict[str, Price]) -> PriceTable:
    """The table as clients use it."""
    # Imported here: an offline process needs nothing of the clients.
    from pipeline.language.clients.prices import Price as ClientPrice
    from pipeline.language.clients.prices import PriceTable

    return PriceTable({name: ClientPrice(**price.model_dump()) for name, price in prices.items()})


def _text(path: Traversable) -> str:
    try:
        return read_text(path)
    except UnicodeDecodeError as exc:
        raise ConfigError([ConfigProblem(str(path), 1, f"the file is not UTF-8: {exc.reason}")]) from exc
    except OSError as exc:
        raise ConfigError([ConfigProblem(str(path), 1, f"the file can't be read: {exc.strerror}")]) from exc

"""What tokens cost, in exact decimals of US dollars."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from msglog.budget.usage import Usage, read_usage

Amount: TypeAlias = "Decimal | int | float | str"


@dataclass(frozen=True, slots=True)
class Pricing:
    """US dollars for a million tokens. A float stands for the decimal that it is written as."""

    input_per_1m: Amount
    output_per_1m: Amount
    cache_read_per_1m: Amount | None = None
    cache_write_per_1m: Amount | None = None


_OPUS = Pricing(5, 25, 0.5, 6.25)

PRICING: Mapping[str, Pricing] = {
    "claude-fable-5": Pricing(10, 50, 1, 12.5),
    "claude-haiku-4-5": Pricing(1, 5, 0.1, 1.25),
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-sonnet-4-6": Pricing(3, 15, 0.3, 3.75),
}
"""The built-in prices, by model. `{**PRICING, "mine": Pricing(…)}` adds to them."""

Prices: TypeAlias = "Mapping[str, Pricing] | Pricing | None"
"""Prices by model, or of the one model in question; None for those built in and those of `genai-prices`."""


def cost_of(usage: Any, model: str | None, pricing: Prices = None) -> Decimal:
    """What a response cost, in US dollars; 0 for a model without a price.

    `usage` is what the provider reported, as a dict or an object. Cached tokens are billed once: at their
    own rate, or where that is unknown as the input tokens that the provider counted them among, if it did.
    Without `pricing` the package `genai-prices`, where it is installed, knows what is not built in. A date
    at the end of the model's name (`-20251001`) is overlooked.
    """
    return known_cost(usage, model, pricing) or Decimal(0)


def known_cost(usage: Any, model: str | None, pricing: Prices = None) -> Decimal | None:
    """`cost_of`, but None for a model without a price."""
    rates = _rates(model, pricing)
    counted, within = (usage, False) if isinstance(usage, Usage) else read_usage(usage)
    if rates is None:
        return _elsewhere(counted, model) if pricing is None and model is not None else None
    billed = counted.input_tokens
    cost = Decimal(0)
    for count, rate in (
        (counted.cache_read_input_tokens, rates.cache_read_per_1m),
        (counted.cache_creation_input_tokens, rates.cache_write_per_1m),
    ):
        if rate is not None:
            cost += count * Decimal(str(rate))
        elif within:
            billed += count
    cost += billed * Decimal(str(rates.input_per_1m)) + counted.output_tokens * Decimal(str(rates.output_per_1m))
    return cost / 1_000_000


def _rates(model: str | None, pricing: Prices) -> Pricing | None:
    if isinstance(pricing, Pricing):
        return pricing
    table = PRICING if pricing is None else pricing
    return None if model is None else table.get(model) or table.get(re.sub(r"-\d{8}\Z", "", model))


def _elsewhere(usage: Usage, model: str) -> Decimal | None:
    """The price that the package `genai-prices` knows."""
    try:
        prices = importlib.import_module("genai_prices")
    except ImportError:
        return None
    counts = prices.Usage(
        input_tokens=usage.all_input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_input_tokens,
        cache_write_tokens=usage.cache_creation_input_tokens,
    )
    try:
        return Decimal(prices.calc_price(counts, model_ref=model).total_price)
    except LookupError:
        return None

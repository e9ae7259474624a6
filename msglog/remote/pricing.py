"""Prices and totals on their way to a server and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from msglog.budget import Pricing, UsagePart, UsageTotal
from msglog.budget.pricing import Prices
from msglog.budget.usage import Usage


def prices_json(pricing: Prices) -> dict[str, Any]:
    """Prices as JSON: amounts as text."""
    if pricing is None:
        return {}
    if isinstance(pricing, Pricing):
        return {"price": _price_json(pricing)}
    return {"prices": {model: _price_json(price) for model, price in pricing.items()}}


def _price_json(price: Pricing) -> dict[str, str]:
    amounts = {name: getattr(price, name) for name in Pricing.__slots__}
    return {name: str(amount) for name, amount in amounts.items() if amount is not None}


def part_of(data: Mapping[str, Any]) -> tuple[UsagePart, UsageTotal]:
    """A part of a usage, and its total."""
    tokens, cost, unpriced = Usage(**data["tokens"]), Decimal(data["cost"]), frozenset(data["unpriced"])
    part = UsagePart(data["branch"], data["model"], date.fromisoformat(data["day"]))
    return part, UsageTotal(data["responses"], tokens, cost, unpriced)

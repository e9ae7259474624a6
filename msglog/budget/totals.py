"""Tokens and cost added up, over responses, models and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from msglog.budget.pricing import Prices, price_of
from msglog.budget.usage import as_usage


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What responses took together: tokens, each counted once, and US dollars.

    `unpriced` are the models without a price: where there are any, `cost` is `partial`.
    """

    responses: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: frozenset[str | None] = frozenset()

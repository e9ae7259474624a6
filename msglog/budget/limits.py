"""When an agent should stop: predicates of its state."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

Limit: TypeAlias = Callable[[Any, Any], bool]
"""Takes an agent's state and what else its framework tells; True says: stop."""


def max_tokens(n: int) -> Limit:
    """True once `state.usage.input_tokens + state.usage.output_tokens` has come to `n`. What is missing is 0."""

    def reached(state: Any, info: Any = None) -> bool:  # noqa: ARG001 the shape of a predicate
        usage = getattr(state, "usage", None)
        return sum(getattr(usage, name, None) or 0 for name in ("input_tokens", "output_tokens")) >= n

    return reached


def max_cost(usd: Decimal | float | str) -> Limit:
    """True once `state.cost` has come to `usd`. A missing cost is 0. A float is the decimal that it is written as."""
    limit = Decimal(str(usd))

    def reached(state: Any, info: Any = None) -> bool:  # noqa: ARG001 the shape of a predicate
        return Decimal(str(getattr(state, "cost", None) or 0)) >= limit

    return reached

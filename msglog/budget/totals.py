"""Tokens and cost added up, over responses, models and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from msglog.budget.pricing import Prices, known_cost
from msglog.budget.usage import Usage, as_usage

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What responses took together: tokens, and US dollars.

    `unpriced` are the models without a price (None: a response that names no model). Where there are any,
    the cost is `partial`.
    """

    responses: int = 0
    tokens: Usage = field(default_factory=Usage)
    cost: Decimal = Decimal(0)
    unpriced: frozenset[str | None] = frozenset()

    @property
    def partial(self) -> bool:
        """Whether responses are missing from the cost, since their price is not known."""
        return bool(self.unpriced)

    def __add__(self, other: UsageTotal) -> UsageTotal:
        return UsageTotal(
            self.responses + other.responses,
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.unpriced | other.unpriced,
        )


def total_usage(responses: Iterable[tuple[Any, str | None]], pricing: Prices = None) -> UsageTotal:
    """What responses took together: pairs of a reported usage and the model's name. Prices as for `cost_of`."""
    total = UsageTotal()
    for usage, model in responses:
        cost = known_cost(usage, model, pricing)
        unpriced = frozenset((model,)) if cost is None else frozenset[str | None]()
        total += UsageTotal(1, as_usage(usage), cost or Decimal(0), unpriced)
    return total


class UsagePart(NamedTuple):
    """Which responses are added up together: the branch they were stored through, the model, and the day, in UTC."""

    branch: str
    model: str | None
    day: date


@dataclass(frozen=True, slots=True)
class LogUsage:
    """What the model responses of a log took: `parts` by branch, model and day, each response in one of them.

    A response belongs to the branch that it was stored through, so branches add up to the log. Its day is that of
    its storing, in UTC.
    """

    log: str
    parts: Mapping[UsagePart, UsageTotal]

    @property
    def total(self) -> UsageTotal:
        """All of it."""
        return sum(self.parts.values(), UsageTotal())

    @property
    def by_branch(self) -> dict[str, UsageTotal]:
        """The totals of the branches."""
        return self._by(lambda part: part.branch)

    @property
    def by_model(self) -> dict[str | None, UsageTotal]:
        """The totals of the models."""
        return self._by(lambda part: part.model)

    @property
    def by_day(self) -> dict[date, UsageTotal]:
        """The totals of the days, in UTC."""
        return self._by(lambda part: part.day)

    def _by(self, key: Callable[[UsagePart], K]) -> dict[K, UsageTotal]:
        totals: dict[K, UsageTotal] = {}
        for part, total in self.parts.items():
            totals[key(part)] = totals.get(key(part), UsageTotal()) + total
        return totals

"""Cutting a conversation down to a budget, without parting a tool call from its results."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, takewhile
from typing import Literal, TypeAlias, TypeVar

from msglog.budget.forms import is_kept, spoken
from msglog.budget.tokens import MEDIA_TOKENS, estimate_tokens
from msglog.checks import checked_list
from msglog.errors import BudgetTooSmall
from msglog.history.pairs import exchanges
from msglog.message import Message, make_entry

T = TypeVar("T")
Unit: TypeAlias = list[int]
"""The positions, rising, of messages that are kept or dropped together."""

Overflow: TypeAlias = Literal["truncate-oldest", "throw"]


def trim(
    messages: Iterable[T],
    budget: int,
    measure: Callable[[T], int] | None = None,
    *,
    measure_list: Callable[[list[T]], int] | None = None,
    overflow: Overflow = "truncate-oldest",
    keep_recent: int = 0,
    start_on: str | None = None,
) -> list[T]:
    """The messages that fit into `budget` tokens: the newest ones, in their order, each as it was given.

    Always kept are system and developer messages, those labelled `pinned`, and the `keep_recent` newest
    others. Older ones are added from the newest backwards, up to the first that does not fit. An assistant
    message with tool calls and all its results are one unit: kept together, or dropped together.

    - `measure`: the tokens of one message; without it, `estimate_tokens` with 1,500 for each image, sound or file.
    - `measure_list`: the tokens of a list instead, for a counter that wants whole conversations. It is asked
      about log n lists, none of them empty or with half a tool exchange, and is taken to grow with the list.
    - `overflow`: where what must be kept is over the budget by itself, `"throw"` raises `BudgetTooSmall`;
      otherwise just that is returned.
    - `start_on`: the role, such as `"user"`, with which the window begins, for providers that demand one: what is
      not required and stands before the first such message is dropped. Where there is none, nothing is.

    What the counter raises is not caught.
    """
    if overflow not in ("truncate-oldest", "throw"):
        raise ValueError('overflow must be "truncate-oldest" or "throw"')
    if keep_recent < 0:
        raise ValueError(f"keep_recent must not be negative, but is {keep_recent}")
    if measure is not None and measure_list is not None:
        raise ValueError("measure and measure_list exclude each other")
    items = list(checked_list(messages))
    turns = [spoken(item) for item in items]
    required, optional = _sorted_out(_units(turns), _needed(items, turns, keep_recent))

    def of(units: Sequence[Unit]) -> list[T]:
        return [items[at] for at in sorted(at for unit in units for at in unit)]

    def count(units: Sequence[Unit]) -> int:
        if measure_list is not None:
            return measure_list(of(units)) if units else 0
        return sum(map(measure or _estimate, of(units)))

    total = count(required)
    if total > budget:
        if overflow == "throw":
            raise BudgetTooSmall(total - budget, budget)
        return of(required)
    if measure_list is None:
        totals = accumulate((count([unit]) for unit in optional), initial=total)
        taken = sum(1 for _ in takewhile(lambda total: total <= budget, totals)) - 1
    else:
        numbers = range(1, len(optional) + 1)
        taken = bisect_right(numbers, budget, key=lambda number: count([*required, *optional[:number]]))
    window = optional[:taken]
    if start_on is not None:
        begins = min((at for unit in (*required, *window) for at in unit if turns[at][0].role == start_on), default=0)
        window = [unit for unit in window if unit[0] >= begins]
    return of([*required, *window])


def _estimate(message: object) -> int:
    return estimate_tokens([message], media=MEDIA_TOKENS)


def _needed(items: Sequence[object], turns: Sequence[Sequence[Message]], keep_recent: int) -> set[int]:
    """The positions of what must be kept."""
    others = [at for at, turn in enumerate(turns) if turn[0].role not in ("system", "developer")]
    return {at for at, item in enumerate(items) if is_kept(item)}.union(others[max(0, len(others) - keep_recent) :])


def _sorted_out(units: Iterable[Unit], needed: set[int]) -> tuple[list[Unit], list[Unit]]:
    """The units that must be kept, and the others from the newest backwards."""
    required: list[Unit] = []
    optional: list[Unit] = []
    for unit in sorted(units, key=lambda unit: unit[-1], reverse=True):
        (optional if needed.isdisjoint(unit) else required).append(unit)
    return required, optional


def _units(turns: Sequence[Sequence[Message]]) -> Iterable[Unit]:
    """The positions of what stays together: tool exchanges, and every other message by itself."""
    said = [(at, message) for at, turn in enumerate(turns) for message in turn]
    together = list(range(len(turns)))  # each position leads to an earlier one of its unit

    def first(at: int) -> int:
        while together[at] != at:
            together[at] = at = together[together[at]]
        return at

    def join(a: int, b: int) -> None:
        low, high = sorted((first(a), first(b)))
        together[high] = low

    for exchange in exchanges([make_entry("", message) for _, message in said]):
        for place in exchange:
            join(said[exchange[0]][0], said[place][0])
    asked: dict[str, int] = {}
    for at, message in said:  # a second result for a call belongs to it as well
        asked.update((call.id, at) for call in message.tool_calls)
        caller = asked.get(message.tool_call_id or "") if message.role == "tool" else None
        if caller is not None and together[at] == at:
            join(caller, at)
    units: dict[int, Unit] = {}
    for at in range(len(turns)):
        units.setdefault(first(at), []).append(at)
    return units.values()

"""Limits: predicates of an agent's state."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from msglog.budget import max_cost, max_tokens


def state(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**fields)


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out", "reached"),
    [(0, 0, False), (60, 39, False), (60, 40, True), (60, 41, True), (None, 100, True)],
)
def test_max_tokens_adds_input_and_output(tokens_in: int | None, tokens_out: int, *, reached: bool) -> None:
    usage = SimpleNamespace(input_tokens=tokens_in, output_tokens=tokens_out)
    assert max_tokens(100)(state(usage=usage), {}) is reached


def test_missing_usage_is_none_used() -> None:
    assert max_tokens(1)(state(), None) is False
    assert max_tokens(1)(state(usage=None), None) is False
    assert max_tokens(0)(state(), None) is True


@pytest.mark.parametrize(
    ("cost", "reached"),
    [
        (0, False),
        (None, False),
        (0.09, False),
        (0.1, True),
        (Decimal("0.1"), True),
        (Decimal("0.0999999"), False),
        (1, True),
    ],
)
def test_max_cost_compares_decimals_as_they_are_written(cost: Any, *, reached: bool) -> None:
    assert max_cost(0.1)(state(cost=cost), {}) is reached
    assert max_cost(Decimal("0.1"))(state(cost=cost), {}) is reached


def test_a_missing_cost_is_0() -> None:
    assert max_cost(0.1)(state(), {}) is False
    assert max_cost(0)(state(), {}) is True

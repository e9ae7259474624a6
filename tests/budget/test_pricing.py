"""Prices: exact, cached tokens once, and silence about models that nobody knows."""

from __future__ import annotations

import sys
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.budget import PRICING, Pricing, Usage, UsageTotal, cost_of, total_usage
from msglog.budget.usage import as_usage

MILLION = {
    "input_tokens": 1_000_000,
    "output_tokens": 1_000_000,
    "cache_read_input_tokens": 1_000_000,
    "cache_creation_input_tokens": 1_000_000,
}


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        ("claude-fable-5", (10, 50, 1, "12.5")),
        ("claude-opus-4-8", (5, 25, "0.5", "6.25")),
        ("claude-opus-4-7", (5, 25, "0.5", "6.25")),
        ("claude-opus-4-6", (5, 25, "0.5", "6.25")),
        ("claude-sonnet-4-6", (3, 15, "0.3", "3.75")),
        ("claude-haiku-4-5", (1, 5, "0.1", "1.25")),
    ],
)
def test_the_built_in_prices(model: str, rates: tuple[Any, ...]) -> None:
    for name, rate in zip(MILLION, rates, strict=True):
        assert cost_of({name: 1_000_000}, model) == Decimal(rate)
    assert cost_of(MILLION, model) == sum(map(Decimal, rates))
    assert cost_of(SimpleNamespace(**MILLION), model) == cost_of(MILLION, model)
    assert cost_of(MILLION, f"{model}-20251001") == cost_of(MILLION, model)


def test_these_are_all_the_built_in_models() -> None:
    assert len(PRICING) == 6


def test_cache_traffic_counts_only_where_its_rate_is_known() -> None:
    bare = Pricing(2, 10)
    assert cost_of(MILLION, "any", bare) == 12
    assert cost_of(MILLION, "any", Pricing(2, 10, cache_read_per_1m=1)) == 13
    assert cost_of({"input_tokens": 1_000_000}, "any", Pricing(2, 10, 1, 1)) == 2


def test_cached_tokens_that_were_counted_as_input_are_billed_as_such_where_they_have_no_rate() -> None:
    usage = {"prompt_tokens": 1_000_000, "prompt_tokens_details": {"cached_tokens": 400_000}}
    assert cost_of(usage, "any", Pricing(2, 10)) == 2
    assert cost_of(usage, "any", Pricing(2, 10, 1)) == Decimal("1.6")


@pytest.mark.parametrize("model", ["nobody-knows", "", None])
def test_a_model_without_a_price_costs_nothing(model: str | None) -> None:
    assert cost_of(MILLION, model) == 0
    assert cost_of(MILLION, model, {}) == 0


def test_prices_of_ones_own_stand_instead_of_the_built_in_ones() -> None:
    assert cost_of(MILLION, "mine", {"mine": Pricing("0.1", 1)}) == Decimal("1.1")
    assert cost_of(MILLION, "claude-haiku-4-5", {"mine": Pricing(1, 1)}) == 0
    assert cost_of({"output_tokens": 1_000_000}, "claude-haiku-4-5", {**PRICING, "mine": Pricing(1, 1)}) == 5


def counts(given: int, output: int, read: int, created: int) -> dict[str, int]:
    """Counts in Anthropic's form."""
    return dict(zip(MILLION, (given, output, read, created), strict=True))


ZERO = counts(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("reported", "read"),
    [
        (None, ZERO),
        ({}, ZERO),
        ({"input_tokens": None, "output_tokens": "12", "cache_read_input_tokens": True}, ZERO),
        (MILLION, MILLION),
        (
            {"prompt_tokens": 1000, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 500}},
            counts(500, 200, 500, 0),
        ),
        (
            {
                "input_tokens": 1000,
                "output_tokens": 200,
                "input_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 100},
            },
            {
                "input_tokens": 400,
                "output_tokens": 200,
                "cache_read_input_tokens": 500,
                "cache_creation_input_tokens": 100,
            },
        ),
        (
            {
                "input_tokens": 1000,
                "output_tokens": 200,
                "input_token_details": {"cache_read": 500, "cache_creation": 1},
            },
            {
                "input_tokens": 499,
                "output_tokens": 200,
                "cache_read_input_tokens": 500,
                "cache_creation_input_tokens": 1,
            },
        ),
        (
            {
                "prompt_tokens": 1000,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 300},
                "cache_read_input_tokens": 300,
                "cache_creation_input_tokens": 200,
            },
            {
                "input_tokens": 500,
                "output_tokens": 2,
                "cache_read_input_tokens": 300,
                "cache_creation_input_tokens": 200,
            },
        ),
    ],
    ids=["none", "empty", "no numbers", "anthropic", "openai chat", "openai responses", "langchain", "litellm"],
)
def test_usage_is_read_from_every_form(reported: Any, read: dict[str, int]) -> None:
    assert as_usage(reported).to_json() == read
    if isinstance(reported, dict):
        nested = {k: SimpleNamespace(**v) if isinstance(v, dict) else v for k, v in reported.items()}
        assert as_usage(SimpleNamespace(**nested)).to_json() == read


def test_totals_add_up_and_say_when_they_are_partial() -> None:
    both = total_usage([(MILLION, "claude-haiku-4-5"), ({"output_tokens": 7}, "nobody-knows")])
    assert (both.responses, both.tokens.total_tokens) == (2, 4_000_007)
    assert (both.cost, both.partial, both.unpriced) == (Decimal("7.35"), True, frozenset(["nobody-knows"]))
    assert total_usage([(MILLION, "claude-haiku-4-5")]).partial is False
    assert total_usage([]) == UsageTotal()
    assert both == total_usage([(MILLION, "claude-haiku-4-5")]) + total_usage([({"output_tokens": 7}, "nobody-knows")])


@given(st.lists(st.builds(Usage, *[st.integers(0, 10**9)] * 4), max_size=6))
def test_sums_are_exact(usages: list[Usage]) -> None:
    model = "claude-sonnet-4-6"
    total = total_usage([(usage, model) for usage in usages])
    assert total.cost == cost_of(total.tokens, model) == sum(cost_of(usage, model) for usage in usages)
    cents_a_million = dict(zip(MILLION, (300, 1500, 30, 375), strict=True))
    exact = sum(usage.to_json()[name] * rate for usage in usages for name, rate in cents_a_million.items())
    assert total.cost * 10**8 == exact


def test_genai_prices_is_asked_about_models_that_are_not_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def calc_price(usage: SimpleNamespace, model_ref: str) -> SimpleNamespace:
        if model_ref != "gpt-4o":
            raise LookupError(model_ref)
        asked.append(vars(usage))
        return SimpleNamespace(total_price=Decimal("0.5"))

    monkeypatch.setitem(sys.modules, "genai_prices", SimpleNamespace(Usage=SimpleNamespace, calc_price=calc_price))
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 400}}
    assert cost_of(usage, "gpt-4o") == Decimal("0.5")
    assert asked == [{"input_tokens": 1000, "output_tokens": 200, "cache_read_tokens": 400, "cache_write_tokens": 0}]
    assert cost_of(usage, "nobody-knows") == cost_of(usage, "gpt-4o", {}) == 0
    assert cost_of({"output_tokens": 200}, "claude-haiku-4-5") == Decimal("0.001")


def test_genai_prices_knows_more_models_where_it_is_installed() -> None:
    pytest.importorskip("genai_prices", reason="the extra msglog[prices] is not installed")
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 500}}
    assert cost_of(usage, "gpt-4o") == Decimal("0.003875")
    assert cost_of(usage, "gpt-4o", {}) == 0
    assert total_usage([(usage, "gpt-4o")]).partial is False
    assert cost_of(usage, "nobody-knows") == 0

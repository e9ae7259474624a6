from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from msglog.budget import Pricing, cost_of, estimate_tokens, total_usage, trim
from msglog.budget.usage import as_usage
from tests.strategies import Json, user

BASE64 = "QUJD" * 100_000
URL = f"data:application/octet-stream;base64,{BASE64}"
PARTS = [
    {"type": "image_url", "image_url": {"url": URL}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}},
    {"type": "input_image", "image_url": URL},
    {"type": "input_audio", "input_audio": {"data": BASE64, "format": "wav"}},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": URL}},
    {"type": "never-seen", "stuff": {"inside": URL}},
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part["type"])
def test_tok_1_media_are_not_counted_as_text(part: Json) -> None:
    turns = [*(user(f"message {n}") for n in range(30)), {"role": "user", "content": [part]}]
    assert trim(turns, 8000) == turns
    assert estimate_tokens(turns[-1:], media=1500) < 5000


PRICES = Pricing(2, 10, 0.2)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 1000, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 500}},
        {"input_tokens": 1000, "output_tokens": 200, "input_tokens_details": {"cached_tokens": 500}},
        {"input_tokens": 1000, "cached_tokens": 500, "output_tokens": 200},
        {"input_tokens": 500, "output_tokens": 200, "cache_read_input_tokens": 500},
    ],
    ids=["openai chat", "openai responses", "openai flat", "anthropic"],
)
def test_tok_2_cached_tokens_are_billed_once(usage: dict[str, Any]) -> None:
    assert cost_of(usage, "any", PRICES) == Decimal("0.0031")
    assert as_usage(usage).total_tokens == 1200
    total = total_usage([(usage, "any")] * 1000, PRICES)
    assert (total.cost, total.tokens.total_tokens) == (Decimal("3.1"), 1_200_000)


def test_tok_5_images_are_not_free() -> None:
    images = [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"https://example.com/{n}.png"}}]}
        for n in range(50)
    ]
    assert trim(images, 10_000) == images[-6:]
    assert trim(images, 10_000, lambda message: estimate_tokens([message], media=3000)) == images[-3:]


def test_tok_5_what_a_counter_raises_is_raised() -> None:
    turns = [user("a"), {"role": "user", "content": [{"type": "text", "text": "b"}]}]

    def count(message: Any) -> int:
        return len("" + message["content"])  # which only strings can be added to

    with pytest.raises(TypeError):
        trim(turns, 100, count)
    with pytest.raises(TypeError):
        trim(turns, 100, measure_list=lambda messages: sum(map(count, messages)))
    assert trim(turns, 100, partial(lambda _: 1)) == turns

"""The messages that are stored: of about 500 bytes, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import accumulate
from random import Random
from typing import Any

TEXT = "The quick brown fox jumps over the lazy dog. " * 10
MESSAGE: dict[str, Any] = {"role": "user", "content": TEXT}
JSON_BYTES = len(json.dumps(MESSAGE))


def varied(count: int) -> Iterator[dict[str, Any]]:
    """Messages of about the same length, of words as frequent as those of a language: always the same ones."""
    random = Random(1)  # noqa: S311 it guards nothing
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(20_000)]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for _ in range(count):
        text = " ".join(random.choices(words, cum_weights=weights, k=len(TEXT) // 6))
        yield {"role": "user", "content": text}


def result(call: str, text: str) -> dict[str, Any]:
    """What a tool returned."""
    return {"role": "tool", "tool_call_id": call, "content": text}


def conversation(count: int) -> list[dict[str, Any]]:
    """A talk of so many messages in turns of four: a question, a tool call, its result as data, an answer."""
    rows = [{"departs": f"{hour:02}:58", "platform": hour, "delayed": False} for hour in range(9)]
    talk: list[dict[str, Any]] = []
    for turn in range((count + 3) // 4):
        call = {"id": f"c{turn}", "name": "find_trains", "args": {"to": "Trieste", "note": TEXT[:380]}}
        talk += [
            {"role": "user", "content": TEXT},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": rows},
            {"role": "assistant", "content": TEXT},
        ]
    return talk[:count]

"""The messages that are stored: of about 500 bytes, as JSON."""

from __future__ import annotations

import json
from typing import Any

TEXT = "The quick brown fox jumps over the lazy dog. " * 10
MESSAGE: dict[str, Any] = {"role": "user", "content": TEXT}
JSON_BYTES = len(json.dumps(MESSAGE))


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

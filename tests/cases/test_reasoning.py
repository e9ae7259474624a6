from __future__ import annotations

from pathlib import Path
from typing import Any

import msglog
from tests.concurrency.workers import LOG

BLOCKS: list[dict[str, Any]] = [
    {"type": "redacted_thinking", "data": "QUJD"},
    {"type": "thinking", "thinking": "", "signature": "sig==", "further": {"x": [1]}},
    {"type": "text", "text": "hi"},
]


async def test_rsn_1_thinking_blocks_survive_storage_as_they_are(path: Path) -> None:
    call = {"id": "c1", "name": "f", "args": {}}
    async with msglog.open(path) as store:
        await store.log(LOG).append({"role": "assistant", "content": BLOCKS, "toolCalls": [call]})
    async with msglog.open(path) as store:
        (message,) = await store.log(LOG).all()
    assert message.content == BLOCKS
    assert message.tool_calls[0].to_json() == call

"""What a log holds is sent as it should be, redacted messages too, and repairs name the entry."""

from __future__ import annotations

import pytest

from msglog import MessageLog, adapters
from msglog.adapters import Repair
from msglog.message import Message
from tests.adapters import checks
from tests.strategies import Json

pytestmark = pytest.mark.every_engine


TURNS: list[Json] = [
    {"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "a_new_block"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"secret": 1}},
            {"type": "text", "text": "and"},
            {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "x"}]},
            {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True},
        ],
    },
    {"role": "assistant", "content": "done"},
]


@pytest.mark.parametrize("which", [(n,) for n in range(1, 6)] + [(1, 2, 3, 4, 5)])
async def test_redacted_messages_are_sent_as_their_places(log: MessageLog, which: tuple[int, ...]) -> None:
    await log.append_many(adapters.from_anthropic(TURNS))
    assert await log.to_anthropic() == TURNS
    for seq in which:
        await log.redact(seq, "asked to")
    stored = await log.all()
    checks.check_anthropic(adapters.to_anthropic_request(stored), own=True)
    checks.check_openai(adapters.to_openai(stored))
    checks.check_responses(adapters.to_openai_responses(stored))
    checks.check_gemini(adapters.to_gemini(stored))
    checks.check_langchain(adapters.to_langchain_messages(stored))
    sent = str(await log.to_anthropic())
    assert sent.count("[redacted]") == len(which)
    assert ("secret" in sent) == (2 not in which)


async def test_the_report_names_the_stored_entry(log: MessageLog) -> None:
    await log.append(Message(role="tool", content="stray", tool_call_id="c"), id="e1")
    await log.add("user", "hi")
    report: list[Repair] = []
    adapters.to_anthropic(await log.all(), report)
    assert [(repair.what, repair.index, repair.entry_id) for repair in report] == [("dropped", 0, "e1")]

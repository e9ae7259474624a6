from __future__ import annotations

from typing import Any

from msglog import MessageLog


async def test_sum_4_only_the_summarised_range_is_replaced(log: MessageLog) -> None:
    await log.append({"role": "system", "content": "S"})
    for turn in range(1, 5):
        call = {"id": f"c{turn}", "name": "f", "args": {}}
        exchange: list[dict[str, Any]] = [
            {"role": "assistant", "toolCalls": [call]},
            {"role": "tool", "toolCallId": f"c{turn}", "content": f"t{turn}"},
        ]
        await log.append_many(exchange)
    before = await log.all()
    sources = [message.entry_id for message in before[1:5]]
    entry = {"role": "user", "content": "summary"}
    await log.edit({"op": "summary", "sourceIds": sources, "entry": entry, "replace": True})

    after = await log.all()
    assert after[0] == before[0]
    assert (after[1].text, after[1].kind, list(after[1].sources)) == ("summary", "summary", sources)
    assert after[2:] == before[5:]
    assert (await log.raw.all())[:9] == before
    assert await log.restore() == [message.message for message in before]

from __future__ import annotations

import json

from msglog import MessageLog
from msglog.adapters import Repair, to_anthropic, to_anthropic_request
from tests.adapters.checks import check_anthropic
from tests.strategies import calls, reply, result, user


async def test_ant_1_results_of_parallel_calls_become_one_user_message(log: MessageLog) -> None:
    parallel = calls("c1", "c2", "c3") | {"content": "ok"}
    await log.append_many([user("q"), parallel, *(result(i) for i in ("c2", "c1", "c3")), user("thanks")])
    turns = await log.to_anthropic()
    check_anthropic({"messages": turns})
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert [block["type"] for block in turns[1]["content"]] == ["text", "tool_use", "tool_use", "tool_use"]
    assert [block.get("tool_use_id", block.get("text")) for block in turns[2]["content"]] == [
        "c2",
        "c1",
        "c3",
        "thanks",
    ]


async def test_ant_2_no_empty_text_block_is_produced(log: MessageLog) -> None:
    await log.append_many(
        [
            user(""),
            calls("c1") | {"content": ""},
            result("c1", ""),
            reply("  \n"),
            calls("c2"),
            result("c2", "x"),
        ]
    )
    report: list[Repair] = []
    turns = to_anthropic(await log.all(), report)
    check_anthropic({"messages": turns})
    blocks = [block for turn in turns[1:] for block in turn["content"]]
    assert [block["id"] for block in blocks if block["type"] == "tool_use"] == ["c1", "c2"]
    assert [block for block in blocks if block["type"] == "tool_result"] == [
        {"type": "tool_result", "tool_use_id": "c1"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "x"},
    ]
    assert [(repair.what, repair.index) for repair in report] == [("dropped", 0), ("dropped", 3), ("added", 1)]


async def test_ant_4_system_messages_go_to_the_top_level_field_and_none_is_lost(log: MessageLog) -> None:
    later = {"role": "system", "content": "from now on be brief"}
    first = {"role": "system", "content": "You book trains."}
    await log.append_many([first, user("q"), reply("a"), later, user("r"), reply("b")])
    report: list[Repair] = []
    request = to_anthropic_request(await log.all(), report)
    check_anthropic(request)
    assert [block["text"] for block in request["system"]] == ["You book trains.", "from now on be brief"]
    assert request["messages"] == [user("q"), reply("a"), user("r"), reply("b")] == await log.to_anthropic()
    assert [(repair.what, repair.index) for repair in report] == [("moved", 3)]
    assert json.dumps(request).count("from now on be brief") == 1

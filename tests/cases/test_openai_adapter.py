from __future__ import annotations

import json
from typing import Any

from msglog import MessageLog
from msglog.adapters import to_openai
from tests.adapters.checks import check_openai
from tests.strategies import calls, result


async def test_oai_1_a_turn_of_calls_only_always_has_a_content_key(log: MessageLog) -> None:
    await log.append_many([calls("c1"), result("c1"), calls("c2") | {"content": ""}, result("c2")])
    sent = await log.to_openai()
    check_openai(sent)
    assert [message["content"] for message in sent] == [None, "done", None, "done"]
    strings = to_openai(await log.all(), call_only_content="")
    assert [message["content"] for message in strings] == ["", "done", "", "done"]
    assert json.dumps(strings) == json.dumps(sent).replace("null", '""')


async def test_oai_2_tool_content_is_always_a_string_and_the_log_keeps_the_value(log: MessageLog) -> None:
    values: list[Any] = [{"ok": True, "n": 1}, None, 3.5, ["a", "b"], "plain"]
    ids = [f"c{n}" for n in range(len(values))]
    await log.append_many([calls(*ids), *(result(call_id, value) for call_id, value in zip(ids, values, strict=True))])
    sent = await log.to_openai()
    check_openai(sent)
    assert [message["content"] for message in sent[1:]] == ['{"ok":true,"n":1}', "", "3.5", '["a","b"]', "plain"]
    kept = [message.content for message in (await log.all())[1:]]
    assert [(value, type(value).__mro__) for value in kept][2:3] == [(3.5, float.__mro__)]
    assert kept == values

from __future__ import annotations

from typing import Any

from msglog import Message, MessageHistory
from msglog.budget import trim
from msglog.history.pairs import broken_pairs
from msglog.strategies import selective_summary_history_strategy, summarizing_history_strategy
from tests.context.models import READ, ScriptedModel, talk
from tests.strategies import Json, calls, reply, result, user

SYSTEM: Json = {"role": "system", "content": "  S: be exact\r\n", "x-cache": {"ttl": "1h"}}
DEVELOPER: Json = {"role": "developer", "content": [{"type": "text", "text": "D: e\u0301"}]}
EXACT = [repr(Message(**message).to_json()) for message in (SYSTEM, DEVELOPER)]


def exact(messages: list[Any]) -> list[str]:
    return [repr(message.to_json()) for message in messages]


async def test_pin_1_system_and_developer_survive_every_reduction_first_and_unchanged() -> None:
    history = MessageHistory().append(SYSTEM, DEVELOPER, *talk(20))
    trimmed = trim(history.render(), 3, lambda _: 1)
    assert exact(trimmed[:2]) == EXACT
    assert [message.text[:3] for message in trimmed[2:]] == ["a20"]

    summarised = ScriptedModel()
    view = await summarizing_history_strategy(summarised, 1, 2, history=history).on_read(READ)
    assert exact(view.messages[:2]) == EXACT
    assert [message.text[:3] for message in view.messages[2:]] == ["[Co", "q20", "a20"]

    selected = ScriptedModel()
    strategy = selective_summary_history_strategy(selected, lambda h, _: [e.id for e in h][:10], "", history=history)
    view = await strategy.on_read(READ)
    assert exact(view.messages[:2]) == EXACT
    assert view.messages[2].text.startswith("[Selected history summary]")

    for model in (summarised, selected):
        (request,) = model.requests
        told = "".join(message.text for message in request.messages)
        assert "S: be exact" not in told
        assert "D: e" not in told


async def test_pin_2_recent_turns_and_pinned_messages_are_kept() -> None:
    turns: list[Json] = [*talk(8), reply("well"), user("what is the total?"), calls("c1"), result("c1", {"total": 7})]
    assert len(turns) == 20
    turns[6] = {"message": turns[6], "meta": {"labels": ["pinned"]}}
    history = MessageHistory().append(*turns)
    strategy = summarizing_history_strategy(ScriptedModel(), 1, 3, history=history)
    view = await strategy.on_read(READ)
    assert [message.text.split(" x")[0] for message in view.messages] == [
        "[Conversation summary]\nshort",
        "q4",
        "what is the total?",
        "",
        '{"total":7}',
    ]
    assert view.messages[1] == history.render()[6]
    assert view.messages[2:] == history.render()[17:]
    assert broken_pairs(view.history.refs()) == {}

    kept = trim(history.refs(), 5, lambda _: 1, keep_recent=3)
    assert [entry.message.text.split(" ")[0] for entry in kept] == ["q4", "well", "what", "", '{"total":7}']

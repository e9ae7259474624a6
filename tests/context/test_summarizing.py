"""The summarising strategy: when it summarises, what it takes, and what becomes of calls that fail."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from msglog import MessageHistory
from msglog.message import as_entry
from msglog.strategies import HistoryReadContext, summarizing_history_strategy
from msglog.strategies.summarizing import SummarizingHistoryStrategy, safe_cut
from tests.context.models import READ, USAGE, Answer, HeldModel, Memory, ScriptedModel, fill, heads, talk
from tests.strategies import Json, calls, reply, result, user

SYSTEM = {"role": "system", "content": "you are terse"}


def strategy_of(model: ScriptedModel, *messages: Any, **options: Any) -> SummarizingHistoryStrategy:
    """A strategy that summarises at every chance, with messages in it."""
    options = {"trigger_tokens": 1, "keep_recent": 2, **options}
    return summarizing_history_strategy(model, history=MessageHistory().append(*messages), **options)


# When


async def test_below_the_trigger_nothing_is_done_and_no_model_is_called() -> None:
    model = ScriptedModel()
    strategy = strategy_of(model, *talk(4), trigger_tokens=10_000)
    before = strategy.history
    view = await strategy.on_read(READ)
    assert (view.history, model.requests) == (before, [])
    assert view.messages == before.render()


async def test_the_trigger_is_the_estimate_of_the_whole_view() -> None:
    model = ScriptedModel()
    history = MessageHistory().append(*talk(4))
    tokens = history.estimate_tokens()
    above = summarizing_history_strategy(model, tokens + 1, 2, history=history)
    await above.on_read(READ)
    assert model.requests == []
    at = summarizing_history_strategy(model, tokens, 2, history=history)
    await at.on_read(READ)
    assert len(model.requests) == 1


async def test_another_counter_may_decide() -> None:
    model = ScriptedModel(["s"])
    strategy = strategy_of(model, *talk(4), trigger_tokens=8, measure_list=len)
    await strategy.on_read(READ)
    assert heads(strategy) == ["[Conversation summary]", "q4", "a4"]


async def test_an_image_does_not_trigger_a_summary_by_the_size_of_its_base64() -> None:
    model = ScriptedModel()
    image = {"type": "image", "mediaType": "image/png", "data": "A" * 400_000}
    strategy = strategy_of(model, *talk(3), {"role": "user", "content": [image]}, trigger_tokens=5000)
    await strategy.on_read(READ)
    assert model.requests == []


async def test_the_read_after_a_summary_calls_no_model_even_above_the_trigger() -> None:
    model = ScriptedModel()
    strategy = strategy_of(model, *talk(5))
    first = await strategy.on_read(READ)
    second = await strategy.on_read(READ)
    assert len(model.requests) == 1
    assert second.history is first.history


async def test_between_summaries_the_view_only_grows_at_its_end() -> None:
    model = ScriptedModel()
    strategy = summarizing_history_strategy(model, 400, 4)
    before, summaries = strategy.history, 0
    for message in talk(40):
        await fill(strategy, message)
        view = await strategy.on_read(READ)
        if len(model.requests) == summaries:
            assert before.stable_prefix(view.history) == len(before)
        before, summaries = view.history, len(model.requests)
    assert 3 <= summaries <= 10  # and it is summarised once in a while, not at every turn


# What


async def test_all_but_the_recent_entries_become_one_summary_with_its_sources() -> None:
    strategy = strategy_of(ScriptedModel(), *talk(4))
    sources = [entry.id for entry in strategy.history][:6]
    view = await strategy.on_read(READ)
    assert view.messages[0].text == "[Conversation summary]\nshort"
    assert heads(strategy) == ["[Conversation summary]", "q4", "a4"]
    summary = strategy.history.refs()[0]
    assert (summary.kind, summary.sources, summary.message.role) == ("summary", tuple(sources), "user")
    assert [message.text[:2] for message in view.history.restore()] == ["q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4"]


async def test_a_later_summary_takes_the_earlier_one_in() -> None:
    model = ScriptedModel(["first", "second"])
    strategy = strategy_of(model, *talk(4))
    await strategy.on_read(READ)
    await fill(strategy, *talk(2, start=5))
    view = await strategy.on_read(READ)
    assert view.messages[0].text == "[Conversation summary]\nsecond"
    assert heads(strategy) == ["[Conversation summary]", "q6", "a6"]
    assert "[Conversation summary]\nfirst" in model.requests[1].messages[0].text
    assert len(view.history.restore()) == 12


async def test_the_cut_is_right_after_the_last_assistant_message_without_calls() -> None:
    strategy = strategy_of(ScriptedModel(), *talk(2), user("q3"), calls("c1"), result("c1"), reply("a3"), keep_recent=2)
    await strategy.on_read(READ)
    assert heads(strategy) == ["[Conversation summary]", "q3", "", "done", "a3"]


async def test_without_a_safe_boundary_nothing_is_cut() -> None:
    model = ScriptedModel()
    strategy = strategy_of(model, user("q" * 400), calls("c1"), result("c1"), calls("c2"), result("c2"), keep_recent=0)
    before = strategy.history
    await strategy.on_read(READ)
    assert (strategy.history, model.requests) == (before, [])


async def test_a_boundary_that_an_exchange_reaches_across_is_no_boundary() -> None:
    late: list[Json] = [*talk(2), calls("c1"), reply("meanwhile"), result("c1"), user("q3")]
    strategy = strategy_of(ScriptedModel(), *late, keep_recent=2)
    await strategy.on_read(READ)
    assert heads(strategy) == ["[Conversation summary]", "", "meanwhile", "done", "q3"]


async def test_a_call_that_waits_for_a_result_stays_but_keeps_nothing_else() -> None:
    strategy = strategy_of(ScriptedModel(), user("q0"), calls("c1", "c2"), result("c2"), *talk(4), keep_recent=2)
    await strategy.on_read(READ)
    assert heads(strategy) == ["[Conversation summary]", "", "done", "q4", "a4"]
    await fill(strategy, result("c1", "late"), *talk(2, start=5))
    await strategy.on_read(READ)
    assert heads(strategy) == ["[Conversation summary]", "q6", "a6"]


@pytest.mark.parametrize(
    ("shape", "keep", "cut"),
    [
        ("", 0, 0),
        ("ua", 0, 2),
        ("ua", 1, 0),
        ("ua", 5, 0),
        ("uaua", 1, 2),
        ("ua" + "cr", 0, 2),
        ("uacra", 0, 5),
        ("ucar", 0, 0),
        ("ucarua", 0, 6),
    ],
)
def test_the_safe_cut_of_small_conversations(shape: str, keep: int, cut: int) -> None:
    words = {"u": user("q"), "a": reply("a"), "c": calls("c1"), "r": result("c1")}
    assert safe_cut([as_entry(words[letter]) for letter in shape], keep) == cut


async def test_what_is_pinned_stays_with_its_whole_exchange() -> None:
    pinned = {"message": result("c1", "the key is 7"), "meta": {"labels": ["pinned"]}}
    strategy = strategy_of(ScriptedModel(), *talk(2), calls("c1"), pinned, *talk(3, start=3))
    await strategy.on_read(READ)
    assert heads(strategy) == ["[Conversation summary]", "", "the key is 7", "q5", "a5"]
    await strategy.on_read(READ)
    assert heads(strategy)[:2] == ["[Conversation summary]", ""]


async def test_a_pinned_answer_before_the_cut_does_not_make_a_summary_of_a_summary() -> None:
    model = ScriptedModel()
    pinned = {"message": reply("for good"), "meta": {"labels": ["pinned"]}}
    strategy = strategy_of(model, *talk(2), pinned, user("q3"), user("q4"))
    await strategy.on_read(READ)
    await strategy.on_read(READ)
    assert heads(strategy) == ["[Conversation summary]", "for good", "q3", "q4"]
    assert len(model.requests) == 1


async def test_the_model_is_sent_one_message_that_needs_no_tools_and_the_prompt_and_signal() -> None:
    model, signal = ScriptedModel(), object()
    strategy = strategy_of(
        model, SYSTEM, user("q1"), calls("c1"), result("c1", {"n": 1}), *talk(3), summary_prompt="be brief"
    )
    await strategy.on_read(HistoryReadContext("m", 100, signal))
    (request,) = model.requests
    (message,) = request.messages
    assert (request.system, request.signal, message.role) == ("be brief", signal, "user")
    assert message.text.startswith('user: q1\n\nassistant: [calls look({"at":"c1"})]\n\ntool: {"n":1}\n\nuser: q1 x')
    assert "terse" not in message.text


async def test_the_summary_carries_its_model_and_usage_and_its_revision_the_reason() -> None:
    strategy = strategy_of(ScriptedModel(), *talk(4))
    await strategy.on_read(READ)
    meta = strategy.history.refs()[0].meta
    assert meta is not None
    assert meta.model == "claude-haiku-4-5"
    assert meta.usage == {**USAGE, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    assert strategy.history.head.meta == {"reason": "conversation_summary", "model": "claude-haiku-4-5"}


async def test_the_memory_store_gets_each_summary() -> None:
    memory = Memory()
    strategy = strategy_of(ScriptedModel(["one", "two"]), *talk(4), memory_store=memory)
    await strategy.on_read(READ)
    await fill(strategy, *talk(2, start=5))
    await strategy.on_read(READ)
    kind = {"kind": "conversation_summary"}
    assert memory.items == [{"text": "one", "metadata": kind}, {"text": "two", "metadata": kind}]


async def test_a_memory_store_that_fails_costs_no_summary(caplog: pytest.LogCaptureFixture) -> None:
    strategy = strategy_of(ScriptedModel(), *talk(4), memory_store=Memory(error=OSError("down")))
    await strategy.on_read(READ)
    assert heads(strategy)[0] == "[Conversation summary]"
    assert "memory store" in caplog.text


def test_a_negative_keep_recent_is_refused() -> None:
    with pytest.raises(ValueError, match="keep_recent"):
        summarizing_history_strategy(ScriptedModel(), 1, -1)


# When it fails


@pytest.mark.parametrize("error", [RuntimeError("down"), TimeoutError(), asyncio.CancelledError()], ids=repr)
async def test_a_model_that_raises_changes_nothing_and_the_next_read_tries_again(error: BaseException) -> None:
    model = ScriptedModel([error, "short"])
    strategy = strategy_of(model, *talk(4))
    before = strategy.history
    with pytest.raises(type(error)):
        await strategy.on_read(READ)
    assert strategy.history is before
    await strategy.on_read(READ)
    assert heads(strategy)[0] == "[Conversation summary]"


@pytest.mark.parametrize("nothing", [None, "", " \n\t", Answer(None), Answer(7), "z" * 2000], ids=repr)
async def test_no_summary_or_one_that_is_no_smaller_changes_nothing_but_is_noticed(
    nothing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel([nothing, "short"])
    strategy = strategy_of(model, *talk(4))
    before = strategy.history
    with caplog.at_level(logging.WARNING, "msglog"):
        view = await strategy.on_read(READ)
    assert view.history is strategy.history is before
    assert view.messages == before.render()
    assert "the next read tries again" in caplog.text
    await strategy.on_read(READ)
    assert heads(strategy)[0] == "[Conversation summary]"


async def test_a_summary_of_just_the_size_of_what_it_replaces_is_discarded() -> None:
    model = ScriptedModel(["0123"])
    strategy = strategy_of(model, user("a" * 13), reply("b" * 14), keep_recent=0)
    before = strategy.history  # 27 characters: as many as the heading, its newline and the text
    await strategy.on_read(READ)
    assert strategy.history is before


async def test_a_cancelled_read_changes_nothing_and_the_next_one_tries_again() -> None:
    model = HeldModel()
    strategy = strategy_of(model, *talk(4))
    before = strategy.history
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert strategy.history is before
    model.let_go.set()
    await strategy.on_read(READ)
    assert heads(strategy)[0] == "[Conversation summary]"


# At the same time


async def test_what_is_appended_while_the_model_works_stays_behind_the_summary_in_order() -> None:
    model = HeldModel()
    strategy = strategy_of(model, *talk(4))
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    await fill(strategy, user("late 1"), reply("late 2"))
    model.let_go.set()
    view = await reading
    assert heads(strategy) == ["[Conversation summary]", "q4", "a4", "late 1", "late 2"]
    assert view.messages == strategy.history.render()


async def test_two_reads_at_once_make_one_summary() -> None:
    model = HeldModel()
    strategy = strategy_of(model, *talk(4))
    both = [asyncio.create_task(strategy.on_read(READ)) for _ in range(2)]
    await model.called.wait()
    model.let_go.set()
    first, second = await asyncio.gather(*both)
    assert len(model.requests) == 1
    assert first.messages == second.messages
    assert first.messages[0].text == "[Conversation summary]\nshort"


async def test_where_the_first_of_two_reads_is_cancelled_the_second_makes_the_summary() -> None:
    model = HeldModel()
    strategy = strategy_of(model, *talk(4))
    first, second = (asyncio.create_task(strategy.on_read(READ)) for _ in range(2))
    await model.called.wait()
    first.cancel()
    model.let_go.set()
    view = await second
    assert view.messages[0].text == "[Conversation summary]\nshort"
    assert first.cancelled() or first.done()


async def test_a_summary_of_what_was_removed_meanwhile_is_discarded() -> None:
    model = HeldModel()
    strategy = strategy_of(model, *talk(4))
    gone = strategy.history.refs()[1].id
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    strategy.history = strategy.history.edit({"op": "remove", "id": gone})
    model.let_go.set()
    await reading
    assert heads(strategy) == ["q1", "q2", "a2", "q3", "a3", "q4", "a4"]


async def test_a_result_that_comes_while_the_model_works_still_has_its_call() -> None:
    model = HeldModel()
    strategy = strategy_of(model, user("q0"), calls("c1"), *talk(4))
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    await fill(strategy, result("c1", "late"))
    model.let_go.set()
    await reading
    assert heads(strategy) == ["[Conversation summary]", "", "q4", "a4", "late"]

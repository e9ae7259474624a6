"""Durable strategies in real processes: killed and started again, and several at one log."""

from __future__ import annotations

from pathlib import Path

import msglog
from msglog.history.pairs import broken_pairs
from msglog.strategies import durable_history_strategy, summarizing_history_strategy
from tests.concurrency.processes import Process, at_once
from tests.context.models import READ, ScriptedModel, heads, talk
from tests.context.workers import agent, agent_when_told, append_turns, summarise_and_hang

TURNS = 30


async def test_an_agent_that_is_killed_again_and_again_comes_to_the_same_context(tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed.db", tmp_path / "killed.db"
    expected = at_once(agent, [(str(undisturbed), TURNS)])[0]
    assert expected["calls"] >= 2
    paid = 0
    for steps in (4, 7, 10):
        with Process(agent_when_told, str(killed), TURNS) as process:
            for _ in range(steps):
                said = process.hear()
                process.tell()  # it goes on with the next step, and is killed somewhere in it
            acknowledged, calls = (process.kill() or [said])[-1]
            paid += calls
        async with msglog.open(killed) as store:
            stored = await store.log("talk").restore()
            assert len(stored) > acknowledged
            assert [message.to_json() for message in stored] == talk(TURNS // 2)[: len(stored)]
            assert (await store.verify()).ok
    last = at_once(agent, [(str(killed), TURNS)])[0]
    assert last["shown"] == expected["shown"]
    # What a kill can cost is a summary that was made and not yet stored: one at most each time.
    assert paid + last["calls"] <= expected["calls"] + 3


async def test_a_kill_while_the_model_works_leaves_everything_as_it_was(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").append_many(talk(25))
        before = await store.log("talk").all()
    with Process(summarise_and_hang, str(path)) as process:
        assert process.hear() == "called"
        process.kill()
    async with msglog.open(path) as store:
        log = store.log("talk")
        assert await log.all() == before
        assert await log.count() == 50
        strategy = durable_history_strategy(log, summarizing_history_strategy(ScriptedModel(), 1, 2))
        await strategy.on_read(READ)
        assert heads(strategy) == ["[Conversation summary]", "q25", "a25"]


async def test_agents_at_one_log_lose_nothing_and_agree(path: Path) -> None:
    at_once(append_turns, [(str(path), writer, 20) for writer in range(3)])
    async with msglog.open(path) as store:
        log = store.log("talk")
        expected = {f"{writer}-{number}" for writer in range(3) for number in range(20)}
        originals = {message.entry_id for message in await log.raw.all() if message.kind == "turn"}
        assert originals == expected
        assert len(await log.restore()) == 60
        history = await log.history()
        assert broken_pairs(history.refs()) == {}
        assert (await store.verify()).ok
        for writer in range(3):
            own = [m.entry_id for m in await log.raw.all() if m.entry_id.startswith(f"{writer}-")]
            assert own == [f"{writer}-{number}" for number in range(20)]

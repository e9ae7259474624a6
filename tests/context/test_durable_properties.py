"""What holds of durable strategies at one log, whoever does what in between."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import msglog
from msglog import MessageLog
from msglog.strategies import durable_history_strategy, summarizing_history_strategy
from msglog.strategies.durable import DurableHistoryStrategy
from tests.context.models import APPEND, READ, ScriptedModel
from tests.strategies import reply, user

writers = st.integers(0, 1)
places = st.integers(0, 9)
steps = st.lists(
    st.tuples(st.just("append"), writers)
    | st.tuples(st.just("append beside"), writers)
    | st.tuples(st.just("read"), writers, st.sampled_from(["s", "s", " ", OSError("down")]))
    | st.tuples(st.just("read both"), writers)
    | st.tuples(st.just("remove"), writers, places)
    | st.tuples(st.just("remove beside"), writers, places)
    | st.tuples(st.just("restart"), writers),
    max_size=25,
)


class Table:
    """Two strategies at one log, and somebody who writes to it directly."""

    def __init__(self, log: MessageLog) -> None:
        self.log = log
        self.model = ScriptedModel()
        self.acknowledged: list[str] = []
        self.strategies = [self.strategy(), self.strategy()]

    def strategy(self) -> DurableHistoryStrategy:
        return durable_history_strategy(self.log, summarizing_history_strategy(self.model, 60, 1))

    def message(self) -> dict[str, Any]:
        number = len(self.acknowledged)
        self.acknowledged.append(f"m{number}")
        text = f"m{number} " + "x" * 60
        return {"id": f"m{number}", "message": reply(text) if number % 2 else user(text)}

    async def do(self, step: tuple[Any, ...]) -> None:
        kind, writer, *rest = step
        strategy = self.strategies[writer]
        self.model.script = ["s"]
        if kind == "append":
            await strategy.on_append(self.message(), APPEND)
            assert strategy.history.revision_id == await self.log.head()
        elif kind == "append beside":
            await self.log.append(self.message())
        elif kind == "read":
            self.model.script = rest
            try:
                view = await strategy.on_read(READ)
            except OSError:
                return
            assert view.messages == [message.message for message in await self.log.all()]
            assert await self.log.head() in (None, view.history.revision_id)  # None: there is no log yet
        elif kind == "read both":
            await asyncio.gather(*(each.on_read(READ) for each in self.strategies))
        elif kind == "remove":
            shown = strategy.history.refs()
            if shown:
                target = shown[rest[0] % len(shown)].id
                strategy.history = strategy.history.edit({"op": "remove", "id": target})
        elif kind == "remove beside":
            shown = (await self.log.history()).refs()
            if shown:
                await self.log.edit({"op": "remove", "id": shown[rest[0] % len(shown)].id})
        else:
            self.strategies[writer] = self.strategy()


@given(steps)
def test_nothing_that_was_acknowledged_is_lost_and_all_come_to_agree(story: list[tuple[Any, ...]]) -> None:
    async def live() -> None:
        async with msglog.open(":memory:", durability="normal") as store:
            table = Table(store.log("talk"))
            for step in story:
                await table.do(step)
            table.model.script = [" "]
            for strategy in (*table.strategies, *table.strategies):
                await strategy.on_read(READ)
            shown = [message.entry_id for message in await table.log.all()]
            for strategy in table.strategies:
                assert [entry.id for entry in strategy.history] == shown
            turns = [m.entry_id for m in await table.log.raw.all() if m.kind == "turn"]
            assert turns == table.acknowledged
            assert (await store.verify()).ok

    asyncio.run(live())

"""What the processes of these tests do: agents that keep their context in a log, and may be killed."""

from __future__ import annotations

import asyncio
from typing import Any

import msglog
from msglog.strategies import durable_history_strategy, summarizing_history_strategy
from tests.concurrency.processes import Wire
from tests.context.models import APPEND, READ, Answer, ScriptedModel, talk


def agent(wire: Wire, path: str, turns: int, *, told: bool = False) -> dict[str, Any]:
    """Hold a conversation from wherever the file says that it is. With `told`, say each step, and wait to go on."""

    async def run() -> dict[str, Any]:
        model = ScriptedModel()
        async with msglog.open(path) as store:
            log = store.log("talk")
            strategy = durable_history_strategy(log, summarizing_history_strategy(model, 400, 2))
            view = await strategy.on_read(READ)
            messages = talk(turns // 2)
            for step in range(len(await log.restore()), turns):
                await strategy.on_append({"id": f"step-{step}", "message": messages[step]}, APPEND)
                view = await strategy.on_read(READ)
                if told:
                    wire.say((step, len(model.requests)))
                    wire.hear()
            return {"shown": [message.to_json() for message in view.messages], "calls": len(model.requests)}

    return asyncio.run(run())


def agent_when_told(wire: Wire, path: str, turns: int) -> dict[str, Any]:
    """The same, step by step."""
    return agent(wire, path, turns, told=True)


def summarise_and_hang(wire: Wire, path: str) -> None:
    """Begin a summary whose model never answers, and say so."""

    class Hanging:
        name = "hanging"

        async def generate(self, request: object) -> Answer:
            wire.say("called")
            await asyncio.Event().wait()
            raise AssertionError

    async def run() -> None:
        async with msglog.open(path) as store:
            inner = summarizing_history_strategy(Hanging(), 1, 2)
            await durable_history_strategy(store.log("talk"), inner).on_read(READ)

    asyncio.run(run())


def append_turns(_wire: Wire, path: str, writer: int, turns: int) -> None:
    """Append through a durable strategy that summarises now and then, beside others that do the same."""

    async def run() -> None:
        async with msglog.open(path, durability="normal") as store:
            inner = summarizing_history_strategy(ScriptedModel(), 400, 2)
            strategy = durable_history_strategy(store.log("talk"), inner)
            for number, message in enumerate(talk(turns // 2)):
                await strategy.on_append({"id": f"{writer}-{number}", "message": message}, APPEND)
                await strategy.on_read(READ)

    asyncio.run(run())

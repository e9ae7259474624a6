"""msglog, on both of its faces."""

from __future__ import annotations

from typing import Any

import msglog
import msglog.sync
from scripts.benchmarks.peers.contender import Contender, Conversation
from scripts.benchmarks.setting import Level, Setting


async def _open(setting: Setting, path: str, level: Level) -> Conversation:
    store = await setting.opening(path, level)
    log = store.log("log")

    async def load() -> int:
        return len(await log.all())

    return Conversation(log.append, load, store.close, log.append_many)


def _open_blocking(setting: Setting, path: str, level: Level) -> Conversation:
    store: Any = msglog.sync.open(path, durability=level, driver=setting.driver)
    log = store.log("log")
    return Conversation(log.append, lambda: len(log.all()), store.close, log.append_many)


CONTENDERS = [
    Contender("**msglog**", _open, asynchronous=True),
    Contender("**msglog.sync**", _open_blocking, asynchronous=False),
]

"""The sessions of the OpenAI Agents SDK."""

from __future__ import annotations

from typing import Any

from scripts.benchmarks.peers.contender import Contender, Conversation, Message
from scripts.benchmarks.setting import Level, Setting


def _of(session: Any, close: Any) -> Conversation:
    async def append(message: Message) -> None:
        await session.add_items([message])

    async def load() -> int:
        return len(await session.get_items())

    return Conversation(append, load, close, session.add_items)


async def _sqlite(_setting: Setting, path: str, _level: Level) -> Conversation:
    from agents import SQLiteSession

    session = SQLiteSession("log", path)

    async def close() -> None:
        session.close()

    return _of(session, close)


async def _advanced(_setting: Setting, path: str, _level: Level) -> Conversation:
    from agents.extensions.memory import AdvancedSQLiteSession

    session = AdvancedSQLiteSession(session_id="log", db_path=path, create_tables=True)

    async def close() -> None:
        session.close()

    return _of(session, close)


async def _sqlalchemy(_setting: Setting, path: str, _level: Level) -> Conversation:
    from agents.extensions.memory import SQLAlchemySession
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
    return _of(SQLAlchemySession("log", engine=engine, create_tables=True), engine.dispose)


CONTENDERS = [
    Contender("OpenAI Agents SDK SQLiteSession", _sqlite, asynchronous=True),
    Contender("… AdvancedSQLiteSession (branches)", _advanced, asynchronous=True),
    Contender("… SQLAlchemySession", _sqlalchemy, asynchronous=True),
]

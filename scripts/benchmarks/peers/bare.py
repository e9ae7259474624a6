"""No store at all: one table, one INSERT a transaction, through three drivers."""

from __future__ import annotations

import json
import sqlite3
import time

from scripts.benchmarks import plain
from scripts.benchmarks.peers.contender import Append, Contender, Conversation, Message
from scripts.benchmarks.setting import Level, Setting

PATIENCE = 30


def _row(message: Message) -> tuple[str, str, float]:
    return ("log", json.dumps(message), time.time())


def _sqlite3(_setting: Setting, path: str, _level: Level) -> Conversation:
    opened: list[sqlite3.Connection] = []

    def connection() -> sqlite3.Connection:
        made = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE, check_same_thread=False)
        opened.append(made)
        return made

    def caller() -> Append:
        mine = connection()
        return lambda message: mine.execute(plain.INSERT, _row(message))

    main = connection()
    main.execute(plain.SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS", 1))
    main.execute(plain.INDEX.replace("INDEX", "INDEX IF NOT EXISTS", 1))

    def fill(messages: list[Message]) -> None:
        main.execute("BEGIN")
        main.executemany(plain.INSERT, map(_row, messages))
        main.execute("COMMIT")

    def close() -> None:
        for each in opened:
            each.close()

    return Conversation(
        append=lambda message: main.execute(plain.INSERT, _row(message)),
        load=lambda: len([json.loads(text) for (text,) in main.execute(plain.SELECT, ("log",))]),
        close=close,
        fill=fill,
        caller=caller,
    )


async def _aiosqlite(_setting: Setting, path: str, _level: Level) -> Conversation:
    import aiosqlite

    connection = await aiosqlite.connect(path, timeout=PATIENCE)
    await connection.execute(plain.SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS", 1))
    await connection.execute(plain.INDEX.replace("INDEX", "INDEX IF NOT EXISTS", 1))

    async def append(message: Message) -> None:
        await connection.execute(plain.INSERT, _row(message))
        await connection.commit()

    async def fill(messages: list[Message]) -> None:
        await connection.executemany(plain.INSERT, [_row(message) for message in messages])
        await connection.commit()

    async def load() -> int:
        rows = await connection.execute_fetchall(plain.SELECT, ("log",))
        return len([json.loads(text) for (text,) in rows])

    return Conversation(append, load, connection.close, fill)


async def _sqlalchemy(_setting: Setting, path: str, _level: Level) -> Conversation:
    from sqlalchemy import Column, Float, Integer, MetaData, Table, Text, insert, select
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(f"sqlite+aiosqlite:///{path}", connect_args={"timeout": PATIENCE})
    table = Table(
        "messages",
        metadata := MetaData(),
        Column("id", Integer, primary_key=True),
        Column("session", Text, nullable=False, index=True),
        Column("message", Text, nullable=False),
        Column("at", Float),
    )
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)

    def values(message: Message) -> dict[str, object]:
        return dict(zip(("session", "message", "at"), _row(message), strict=True))

    async def append(message: Message) -> None:
        async with engine.begin() as connection:
            await connection.execute(insert(table), values(message))

    async def fill(messages: list[Message]) -> None:
        async with engine.begin() as connection:
            await connection.execute(insert(table), [values(message) for message in messages])

    async def load() -> int:
        query = select(table.c.message).where(table.c.session == "log").order_by(table.c.id)
        async with engine.connect() as connection:
            return len([json.loads(text) for text in (await connection.execute(query)).scalars()])

    return Conversation(append, load, engine.dispose, fill)


CONTENDERS = [
    Contender("plain sqlite3, one INSERT a transaction", _sqlite3, asynchronous=False, is_store=False),
    Contender("plain aiosqlite, same", _aiosqlite, asynchronous=True, is_store=False),
    Contender("SQLAlchemy Core async, same", _sqlalchemy, asynchronous=True, is_store=False),
]

"""Agno's sessions. What it appends is a run: here one of a single message."""

from __future__ import annotations

from itertools import count

from scripts.benchmarks.peers.contender import Contender, Conversation, Message
from scripts.benchmarks.setting import Level, Setting


def _open(_setting: Setting, path: str, _level: Level) -> Conversation:
    from agno.db.base import SessionType
    from agno.db.sqlite import SqliteDb
    from agno.models.message import Message as AgnoMessage
    from agno.run.agent import RunOutput
    from agno.run.base import RunStatus
    from agno.session import AgentSession

    database = SqliteDb(db_file=path)
    if database.get_session("log", SessionType.AGENT) is None:
        database.upsert_session(AgentSession(session_id="log", agent_id="agent"))
    numbers = count(_stored(database.get_session("log", SessionType.AGENT)))

    def append(message: Message) -> None:
        run = RunOutput(
            run_id=f"run {next(numbers)}",
            agent_id="agent",
            session_id="log",
            messages=[AgnoMessage(role=message["role"], content=message["content"])],
            status=RunStatus.completed,
        )
        database.upsert_run(run, "log")

    return Conversation(append, lambda: _stored(database.get_session("log", SessionType.AGENT)), database.close)


def _stored(session: object) -> int:
    runs = getattr(session, "runs", None) or []
    return sum(len(run.messages) for run in runs)


CONTENDERS = [Contender("Agno SqliteDb", _open, asynchronous=False)]

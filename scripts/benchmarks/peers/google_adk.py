"""The sessions of Google's Agent Development Kit."""

from __future__ import annotations

from scripts.benchmarks.peers.contender import Contender, Conversation, Message
from scripts.benchmarks.setting import Level, Setting


async def _open(_setting: Setting, path: str, _level: Level) -> Conversation:
    from google.adk.events import Event
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from google.genai.types import Content, Part

    service = SqliteSessionService(path)
    who = {"app_name": "bench", "user_id": "user", "session_id": "log"}
    session = await service.get_session(**who) or await service.create_session(**who)

    async def append(message: Message) -> None:
        content = Content(role="user", parts=[Part(text=message["content"])])
        await service.append_event(session, Event(author="user", invocation_id="run", content=content))

    async def load() -> int:
        found = await service.get_session(**who)
        return 0 if found is None else len(found.events)

    return Conversation(append, load, service.close)


CONTENDERS = [Contender("Google ADK SqliteSessionService", _open, asynchronous=True)]

"""LangChain's chat history in SQL, and LangGraph's checkpoints."""

from __future__ import annotations

import sqlite3
from typing import Any

from scripts.benchmarks.peers.contender import Append, Contender, Conversation, Message
from scripts.benchmarks.setting import Level, Setting


def _history(_setting: Setting, path: str, _level: Level) -> Conversation:
    from langchain_community.chat_message_histories import SQLChatMessageHistory
    from langchain_core.messages import HumanMessage
    from sqlalchemy import create_engine

    engine = create_engine(f"sqlite:///{path}")
    history = SQLChatMessageHistory("log", connection=engine)

    def through(own: Any) -> Append:
        return lambda message: own.add_message(HumanMessage(message["content"]))

    return Conversation(
        append=through(history),
        load=lambda: len(history.get_messages()),
        close=engine.dispose,
        fill=lambda messages: history.add_messages([HumanMessage(message["content"]) for message in messages]),
        caller=lambda: through(SQLChatMessageHistory("log", connection=engine)),
    )


def _checkpoints(_setting: Setting, path: str, _level: Level) -> Conversation:
    from langchain_core.messages import HumanMessage
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import MessagesState, StateGraph

    connection = sqlite3.connect(path, check_same_thread=False)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("chat", lambda _: {"messages": []})
    builder.set_entry_point("chat")
    builder.set_finish_point("chat")
    graph = builder.compile(checkpointer=SqliteSaver(connection))
    config = {"configurable": {"thread_id": "log"}}

    def fill(messages: list[Message]) -> None:
        graph.update_state(config, {"messages": [HumanMessage(each["content"]) for each in messages]}, as_node="chat")

    return Conversation(
        append=lambda message: fill([message]),
        load=lambda: len(graph.get_state(config).values["messages"]),
        close=connection.close,
        fill=fill,
    )


CONTENDERS = [
    Contender("LangChain SQLChatMessageHistory, sync", _history, asynchronous=False),
    Contender("LangGraph SqliteSaver", _checkpoints, asynchronous=False),
]

"""LangChain's role and content dicts (https://docs.langchain.com/oss/python/langchain/messages)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msglog.codec import thaw
from msglog.message import Message


def to_langchain(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The user, assistant and system messages as role and content; tool exchanges are left out."""
    return [
        {"role": "system" if message.role == "developer" else message.role, "content": thaw(message.content)}
        for message in messages
        if message.role != "tool" and message.content is not None
    ]

"""A local estimate of tokens, for decisions that need no tokenizer."""

from __future__ import annotations

from collections.abc import Iterable

from msglog.codec import encode
from msglog.message import Message


def estimate_tokens(messages: Iterable[Message]) -> int:
    """A quarter of the characters, rounded up.

    Counted are string contents as they are, and other contents and tool arguments as compact JSON; not
    keys or roles.
    """
    return -(-sum(map(_characters, messages)) // 4)


def _characters(message: Message) -> int:
    content = message.content
    count = len(content) if isinstance(content, str) else 0 if content is None else len(encode(content))
    return count + sum(len(call.arguments) for call in message.tool_calls)

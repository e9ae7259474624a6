"""Messages to and from the formats of providers: pure functions."""

from msglog.adapters.anthropic import to_anthropic
from msglog.adapters.langchain import to_langchain
from msglog.adapters.openai import from_openai, to_openai

__all__ = ["from_openai", "to_anthropic", "to_langchain", "to_openai"]

"""Messages to and from the formats of providers: pure functions."""

from msglog.adapters.anthropic import from_anthropic, to_anthropic, to_anthropic_request
from msglog.adapters.langchain import to_langchain
from msglog.adapters.openai import from_openai, to_openai
from msglog.adapters.responses import from_openai_responses, to_openai_responses

__all__ = [
    "from_anthropic",
    "from_openai",
    "from_openai_responses",
    "to_anthropic",
    "to_anthropic_request",
    "to_langchain",
    "to_openai",
    "to_openai_responses",
]

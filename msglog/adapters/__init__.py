"""Messages to and from the formats of providers: pure functions.

Each `to_…` gives what the provider accepts, whatever is stored, and appends a `Repair` to `report` for everything
that it had to change; nothing stored is touched. Each `from_…` keeps what only its provider understands, so that
the way back gives equal JSON. No provider's package is imported, except by `to_langchain_messages`.
"""

from msglog.adapters.anthropic import from_anthropic, to_anthropic, to_anthropic_request
from msglog.adapters.gemini import from_gemini, to_gemini, to_gemini_request
from msglog.adapters.langchain import from_langchain_dicts, from_langchain_messages, to_langchain, to_langchain_messages
from msglog.adapters.openai import from_openai, to_openai
from msglog.adapters.report import Repair
from msglog.adapters.responses import from_openai_responses, to_openai_responses

__all__ = [
    "Repair",
    "from_anthropic",
    "from_gemini",
    "from_langchain_dicts",
    "from_langchain_messages",
    "from_openai",
    "from_openai_responses",
    "to_anthropic",
    "to_anthropic_request",
    "to_gemini",
    "to_gemini_request",
    "to_langchain",
    "to_langchain_messages",
    "to_openai",
    "to_openai_responses",
]

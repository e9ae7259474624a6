"""What a context costs: token estimates."""

from msglog.budget.tokens import estimate_tokens

__all__ = ["estimate_tokens"]

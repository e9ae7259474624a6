"""What a context costs, and how it is cut: token estimates, trimming, prices, limits."""

from msglog.budget.limits import max_cost, max_tokens
from msglog.budget.pricing import PRICING, Pricing, cost_of
from msglog.budget.tokens import estimate_tokens
from msglog.budget.totals import LogUsage, UsagePart, UsageTotal, total_usage
from msglog.budget.trim import trim
from msglog.budget.usage import Usage
from msglog.errors import BudgetTooSmall

__all__ = [
    "PRICING",
    "BudgetTooSmall",
    "LogUsage",
    "Pricing",
    "Usage",
    "UsagePart",
    "UsageTotal",
    "cost_of",
    "estimate_tokens",
    "max_cost",
    "max_tokens",
    "total_usage",
    "trim",
]

"""What a log's model responses cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from msglog.budget import LogUsage, Pricing, UsageTotal
from msglog.budget.pricing import Prices
from msglog.errors import RequestError
from msglog.server import examples, models
from msglog.server.bodies import answer, field, read_json
from msglog.server.service import Here, ReadingWhole

router = APIRouter(tags=["usage"])


@router.get("/logs/{log}/usage", responses={200: {"model": models.Usage}})
async def usage(request: Request, log: ReadingWhole) -> Response:
    """Tokens and cost of the model's responses in the whole log, by branch, model and day, each counted once."""
    return answer(request, _written(await log.usage()))


@router.post(
    "/logs/{log}/usage",
    responses={200: {"model": models.Usage}},
    openapi_extra=examples.body(models.Prices, price={"input_per_1m": "3", "output_per_1m": "15"}),
)
async def usage_at(request: Request, here: Here, log: ReadingWhole) -> Response:
    """The same, at other prices."""
    body = await read_json(request, here.settings.limits.body_bytes)
    one, table = field(body, "price", dict, None), field(body, "prices", dict, None)
    pricing: Prices = None
    if one is not None:
        pricing = _price(one, "body.price")
    elif table is not None:
        pricing = {model: _price(price, "body.prices") for model, price in table.items()}
    return answer(request, _written(await log.usage(pricing)))


def _price(given: Any, where: str) -> Pricing:
    try:
        return Pricing(**{name: Decimal(amount) for name, amount in given.items()})
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        raise RequestError(where, f"must be an object of amounts as text: {', '.join(Pricing.__slots__)}") from None


def _written(found: LogUsage) -> dict[str, Any]:
    parts = [
        {"branch": part.branch, "model": part.model, "day": part.day.isoformat(), **_total(total)}
        for part, total in found.parts.items()
    ]
    return {"log": found.log, "total": _total(found.total), "parts": parts}


def _total(total: UsageTotal) -> dict[str, Any]:
    return {
        "responses": total.responses,
        "tokens": total.tokens.to_json(),
        "cost": str(total.cost),
        "unpriced": sorted(total.unpriced, key=lambda model: (model is not None, model)),
    }

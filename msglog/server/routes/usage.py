"""What a log's model responses cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from msglog.budget import LogUsage, Pricing, UsageTotal, total_usage
from msglog.budget.pricing import Prices
from msglog.errors import RequestError
from msglog.message import StoredMessage
from msglog.server import examples, models
from msglog.server.bodies import answer, field, read_json
from msglog.server.service import Count, Here, PageSize, ReadingWhole

router = APIRouter(tags=["usage"])

_SCANNED = 1000
"""Messages that are looked at together."""


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


@router.get("/logs/{log}/responses", responses={200: {"model": models.Responses}})
async def responses(request: Request, log: ReadingWhole, limit: PageSize, after: Count = 0) -> Response:
    """The model's responses one by one, in order: the tokens and the cost of each, at the built-in prices."""
    found: list[dict[str, Any]] = []
    at = after
    while page := await log.raw.read(at, _SCANNED):
        for message in page:
            at = message.seq
            if message.meta is None or message.meta.usage is None:
                continue
            found.append(_response(message))
            if len(found) == limit:
                return answer(request, {"responses": found, "next": at})
    return answer(request, {"responses": found, "next": None})


def _response(message: StoredMessage) -> dict[str, Any]:
    assert message.meta is not None  # noqa: S101 only those that have a usage are asked for
    usage, model = message.meta.usage, message.meta.model
    total = total_usage([(usage, model)])
    return {
        "seq": message.seq,
        "at": message.at,
        "model": model,
        "tokens": total.tokens.to_json(),
        "cost": None if total.unpriced else str(total.cost),
    }


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

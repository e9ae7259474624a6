"""What a log's model responses cost."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from msglog.budget import UsageTotal
from msglog.server import models
from msglog.server.bodies import answer
from msglog.server.service import ReadingWhole

router = APIRouter(tags=["usage"])


@router.get("/logs/{log}/usage", responses={200: {"model": models.Usage}})
async def usage(request: Request, log: ReadingWhole) -> Response:
    """Tokens and cost of the model's responses in the whole log, by branch, model and day, each counted once."""
    found = await log.usage()
    parts = [
        {"branch": part.branch, "model": part.model, "day": part.day.isoformat(), **_total(total)}
        for part, total in found.parts.items()
    ]
    return answer(request, {"log": found.log, "total": _total(found.total), "parts": parts})


def _total(total: UsageTotal) -> dict[str, Any]:
    return {
        "responses": total.responses,
        "tokens": total.tokens.to_json(),
        "cost": str(total.cost),
        "unpriced": sorted(total.unpriced, key=lambda model: (model is not None, model)),
    }

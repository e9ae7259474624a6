"""Views: what a branch shows, or what any revision showed, as it is stored or as a provider takes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from msglog import adapters
from msglog.adapters import Repair
from msglog.message import StoredMessage
from msglog.server import models
from msglog.server.bodies import answer
from msglog.server.service import PageSize, Reading

router = APIRouter(tags=["views"])

Format = Literal["openai", "responses", "anthropic", "gemini", "langchain"]

_FORMATS: dict[Format, Callable[[Sequence[StoredMessage], list[Repair]], dict[str, Any]]] = {
    "openai": lambda messages, report: {"messages": adapters.to_openai(messages, report=report)},
    "responses": lambda messages, report: {"input": adapters.to_openai_responses(messages, report=report)},
    "anthropic": lambda messages, report: dict(adapters.to_anthropic_request(messages, report=report)),
    "gemini": lambda messages, report: dict(adapters.to_gemini_request(messages, report=report)),
    "langchain": lambda messages, report: {"messages": adapters.to_langchain(messages, report=report)},
}


@router.get("/logs/{log}/view", responses={200: {"model": models.View | models.ProviderView}})
async def view(
    request: Request,
    log: Reading,
    limit: PageSize,
    revision: Annotated[str | None, Query(description="A revision of the log; without one, the branch's head")] = None,
    start: Annotated[
        int, Query(ge=-(2**53), le=2**53, description="The first position, from 0; negative ones count from the end")
    ] = 0,
    form: Annotated[
        Format | None, Query(alias="format", description="A provider's format; then the whole view is given")
    ] = None,
) -> Response:
    """What a branch shows now, or a revision showed: a page of its messages, or all of it for a provider's API."""
    if form is None:
        return answer(request, await log.view(revision, start, limit))
    whole = await log.view(revision)

    def adapted() -> Response:
        report: list[Repair] = []
        made = _FORMATS[form](whole.messages, report)
        return answer(request, {"format": form, "revision": whole.revision, "request": made, "report": report})

    return await asyncio.to_thread(adapted)  # which takes long where the view is long

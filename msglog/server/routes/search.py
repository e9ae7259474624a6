"""Searching, in a log or in all that the caller may read. Words may be private, so they may be sent in a body."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from msglog.errors import RequestError
from msglog.log import MessageLog
from msglog.message import Role
from msglog.search import Hit
from msglog.server import examples, models
from msglog.server.access import Caller
from msglog.server.bodies import answer, field, read_json, refusal
from msglog.server.service import Asking, Here, PageSize, Reading, Service

router = APIRouter(tags=["search"])

Words = Annotated[str, Query(description='Words that a message must hold, `"a phrase"`, `beg*`')]
Since = Annotated[datetime | None, Query(description="Only messages stored since, with a time zone")]
_HITS: dict[int | str, dict[str, Any]] = {200: {"model": models.Hits}}


@router.get("/logs/{log}/search", responses=_HITS)
async def search_log(
    request: Request,
    log: Reading,
    words: Words,
    limit: PageSize,
    role: Role | None = None,
    since: Since = None,
    whole: Annotated[bool, Query(description="All that was ever appended, instead of the branch's view")] = False,
) -> Response:
    """The newest messages of the view that hold all words, newest first, each with where it matches."""
    return await _in_log(request, log, whole, {"words": words, "role": role, "since": since, "limit": limit})


@router.post(
    "/logs/{log}/search",
    responses=_HITS,
    openapi_extra=examples.body(models.SearchInput, words='"7:58" late', limit=5),
)
async def ask_log(
    request: Request, here: Here, log: Reading, whole: Annotated[bool, Query(description="As above")] = False
) -> Response:
    """The same, with the words in the body, which is in no proxy's log."""
    return await _in_log(request, log, whole, _asked(await _body(request, here), here))


@router.get("/search", responses=_HITS)
async def search_store(
    request: Request,
    here: Here,
    caller: Asking,
    words: Words,
    limit: PageSize,
    prefix: Annotated[str, Query(description="Only logs whose name begins so")] = "",
    role: Role | None = None,
    since: Since = None,
) -> Response:
    """The newest messages that hold all words, of all logs that the caller may read, whatever was edited away since."""
    return await _in_store(
        request, here, caller, prefix, {"words": words, "role": role, "since": since, "limit": limit}
    )


@router.post("/search", responses=_HITS, openapi_extra=examples.body(models.SearchInput, words="refund*", prefix="eu/"))
async def ask_store(request: Request, here: Here, caller: Asking) -> Response:
    """The same, with the words in the body; `log` leaves one log."""
    body = await _body(request, here)
    log = field(body, "log", str, None)
    if log is None:
        return await _in_store(request, here, caller, field(body, "prefix", str, ""), _asked(body, here))
    caller.check("read", log)
    return await _in_log(request, here.store.log(log), True, _asked(body, here))


async def _body(request: Request, here: Service) -> Any:
    return await read_json(request, here.settings.limits.body_bytes)


def _asked(body: Any, here: Service) -> dict[str, Any]:
    since = field(body, "since", str, None)
    limit = field(body, "limit", int, 20)
    if limit > here.settings.limits.page:
        raise RequestError("body.limit", f"a page has at most {here.settings.limits.page:,} items")
    try:
        moment = None if since is None else datetime.fromisoformat(since)
    except ValueError:
        raise RequestError("body.since", "must be a time in ISO 8601") from None
    return {
        "words": field(body, "words", str),
        "role": field(body, "role", str, None),
        "since": moment,
        "limit": limit,
    }


async def _in_log(request: Request, log: MessageLog, whole: bool, asked: dict[str, Any]) -> Response:  # noqa: FBT001
    try:
        hits: list[Hit] = await (log.raw.search if whole else log.search)(**asked)
    except ValueError as error:
        return refusal(error)
    return answer(request, {"hits": hits})


async def _in_store(request: Request, here: Service, caller: Caller, prefix: str, asked: dict[str, Any]) -> Response:
    """Search the logs that begin with `prefix` and that the caller covers: those that begin with the longer of two."""
    caller.check("read")
    if not prefix.startswith(caller.prefix):
        if not caller.prefix.startswith(prefix):
            return answer(request, {"hits": []})
        prefix = caller.prefix
    try:
        hits = await here.store.search(prefix=prefix, **asked)
    except ValueError as error:
        return refusal(error)
    return answer(request, {"hits": hits})

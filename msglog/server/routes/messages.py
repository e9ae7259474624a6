"""Messages: appended, read after a seq, or one by one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.responses import Response

from msglog.checks import checked_name
from msglog.errors import ConflictError, PositionError, RequestError
from msglog.log import MessageLog
from msglog.message import StoredMessage
from msglog.server import examples, models
from msglog.server.bodies import answer, field, read_json, refusal
from msglog.server.service import Appending, Count, EditingWhole, Here, PageSize, Reading, ReadingWhole, Service
from msglog.wire.text import name_of

router = APIRouter(tags=["messages"])

LONGEST_WAIT = 25.0
"""Seconds that a long-poll waits at most; the deadline of requests is later."""


@router.post(
    "/logs/{log}/messages",
    responses={200: {"model": models.Appended}, 201: {"model": models.Appended}},
    openapi_extra=examples.body(models.EntryInput, many=True, **examples.APPEND),
)
async def append(
    request: Request,
    here: Here,
    log: Appending,
    expected_head: Annotated[str | None, Query(alias="expectedHead", description="The branch's head")] = None,
    expected_seq: Annotated[Count | None, Query(alias="expectedSeq", description="The log's last seq")] = None,
    returned: Annotated[
        Literal["places", "messages"], Query(alias="return", description="What to tell of new messages")
    ] = "places",
    idempotency_key: Annotated[
        str | None, Header(description="Becomes the id of a message without one, so that sending it again is safe")
    ] = None,
    if_match: Annotated[str | None, Header(description='The log\'s last seq, as in `"41"`')] = None,
) -> Response:
    """Append a message, or several together: all or none. Answered 201 when they are stored, 200 when they were."""
    limits = here.settings.limits
    body = await read_json(request, limits.body_bytes)
    many = isinstance(body, list)
    if many and len(body) > limits.batch:
        raise RequestError("body", f"at most {limits.batch:,} messages at once; split it into several requests")
    inputs = body if many else [body]
    if idempotency_key is not None:
        inputs = _named(inputs, idempotency_key, many=many)
    if if_match is not None and if_match != "*":
        expected_seq = _seq_of(if_match)
    new: list[StoredMessage] = []
    target = here.store.log(log.name, log.branch, on_append=new.append)
    began = time.perf_counter()
    try:
        if many:
            seq = await target.append_many(inputs, expected_seq=expected_seq, expected_head=expected_head)
        else:
            seq = await target.append(inputs[0], expected_seq=expected_seq, expected_head=expected_head)
    except ConflictError as error:
        if if_match is None:
            raise
        return refusal(error, 412)
    count_append(here, new, time.perf_counter() - began)
    told = new if returned == "messages" else places(new)
    return answer(request, {"seq": seq, "new": told}, 201 if new else 200, {"ETag": f'"{seq}"'})


def count_append(here: Service, new: list[StoredMessage], seconds: float) -> None:
    """Count what was stored."""
    here.metrics.commits.observe(seconds)
    if new:
        here.metrics.appends.inc(len(new))
        here.metrics.batches.observe(len(new))


def places(new: list[StoredMessage]) -> list[dict[str, Any]]:
    """Where new entries stand."""
    return [{"seq": message.seq, "id": message.entry_id, "at": message.at} for message in new]


def _named(inputs: list[Any], key: str, *, many: bool) -> list[Any]:
    """Messages with an id made of the key, where they have none."""
    checked_name(key, "the header Idempotency-Key")
    named = []
    for at, given in enumerate(inputs):
        entry = given
        if isinstance(given, Mapping):
            entry = dict(given) if "message" in given and "role" not in given else {"message": given}
            if entry.get("id") is None:
                entry["id"] = f"{key}/{at + 1}" if many else key
        named.append(entry)
    return named


def _seq_of(tag: str) -> int:
    text = tag.strip().removeprefix("W/").strip('"')
    if not text.isdecimal() or not text.isascii() or len(text) > 18:
        raise RequestError("header If-Match", 'must be the log\'s last seq in quotes, as in "41"')
    return int(text)


@router.get("/logs/{log}/messages", responses={200: {"model": models.MessagePage}})
async def read_messages(
    request: Request,
    here: Here,
    log: Reading,
    limit: PageSize,
    after: Count = 0,
    whole: Annotated[bool, Query(description="Of all branches, instead of the branch's lineage")] = False,
    wait: Annotated[
        float, Query(ge=0, description=f"Seconds to wait where there is none, at most {LONGEST_WAIT:g}")
    ] = 0,
) -> Response:
    """The messages after a seq, in order: of what the branch's lineage brought in, whatever was edited away since.

    With `wait`, the answer comes as soon as there is a message, or, without one, when that time is over: to follow
    a log without server-sent events.
    """
    read = log.raw.read if whole else log.read
    page = await read(after, limit)
    if not page and wait:
        await _check_position(log, after)
        async with here.hub.watch(log.name) as bell:
            ends = time.monotonic() + min(wait, LONGEST_WAIT, here.settings.limits.deadline * 0.8)
            while not page and not here.hub.stopping and (left := ends - time.monotonic()) > 0:
                version = bell.version
                page = await read(after, limit)
                if not page:
                    await bell.wait(version, left)
    end = page[-1].seq if page else after
    return answer(request, {"messages": page, "next": end})


async def _check_position(log: MessageLog, after: int) -> None:
    end = await log.seq()
    if after > end:
        raise PositionError(log.name, after, end)


@router.get("/logs/{log}/messages/{seq}", responses={200: {"model": models.StoredMessage}})
async def message_at(request: Request, log: ReadingWhole, seq: Annotated[int, Path(ge=0, le=2**63 - 1)]) -> Response:
    """The message of a seq."""
    return answer(request, await log.get(seq))


@router.get("/logs/{log}/entries/{entry}", responses={200: {"model": models.StoredMessage}})
async def message_of_id(request: Request, log: ReadingWhole, entry: str) -> Response:
    """The message of an entry id: whether an append whose answer was lost is stored."""
    return answer(request, await log.get(name_of(entry, "the id of an entry")))


@router.post(
    "/logs/{log}/find",
    responses={200: {"model": models.Found}},
    openapi_extra=examples.body(models.Sought, id="turn-1"),
)
async def find(request: Request, here: Here, log: ReadingWhole) -> Response:
    """The message of an entry id, whatever it is made of, or null."""
    body = await read_json(request, here.settings.limits.body_bytes)
    return answer(request, {"message": await log.find(field(body, "id", str))})


@router.post(
    "/logs/{log}/redact",
    responses={200: {"model": models.RedactReceipt}},
    openapi_extra=examples.body(models.RedactInput, entry=4, reason="asked for by the customer"),
)
async def redact(request: Request, here: Here, log: EditingWhole) -> Response:
    """Take an entry's content away for good; its place stays. The receipt names the summaries over it."""
    body = await read_json(request, here.settings.limits.body_bytes)
    entry, reason = field(body, "entry", (int, str)), field(body, "reason", str, "")
    return answer(request, await log.redact(entry, reason))

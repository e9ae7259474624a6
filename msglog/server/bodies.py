"""Bodies of requests and answers: JSON in the library's codec, so that whatever can be stored comes through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from msglog.errors import RequestError, TooLargeError
from msglog.wire.problems import problem_of
from msglog.wire.text import EXACT, JSON, PROBLEM, dumps, loads
from msglog.wire.values import plain

PIECE = 64 * 1024
"""Bytes of a long answer that are sent at once."""


async def read_json(request: Request, limit: int) -> Any:
    """The JSON of a request's body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {JSON, EXACT}:  # also keeps web pages of others out, which may send a few other kinds only
        raise RequestError("header Content-Type", f"must be {JSON}")
    return loads(await read_body(request, limit))


async def read_body(request: Request, limit: int) -> bytes:
    """A request's body, refused as soon as it is known to be too long."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise _too_long(int(announced), limit)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise _too_long(size, limit)
        parts.append(part)
    return b"".join(parts)


def _too_long(size: int, limit: int) -> TooLargeError:
    return TooLargeError(size, limit, "a request's body", "Split it into several requests")


def field(body: Any, name: str, kinds: type | tuple[type, ...], default: Any = ...) -> Any:
    """A field of a body that must be an object, of a type; `RequestError` where it is not so."""
    if not isinstance(body, Mapping):
        raise RequestError("body", "must be a JSON object")
    value = body.get(name, default)
    if value is ...:
        raise RequestError(f"body.{name}", "is missing")
    if value is not default and (not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool)):
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        names = " or ".join(_JSON_TYPES.get(kind, kind.__name__) for kind in wanted)
        raise RequestError(f"body.{name}", f"must be {names}")
    return value


_JSON_TYPES = {str: "a string", int: "an integer", dict: "an object", list: "a list", bool: "true or false"}


def wants_exact(request: Request) -> bool:
    """Whether the caller takes JSON with surrogates as they are."""
    return EXACT in request.headers.get("accept", "")


def answer(request: Request, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value of the library as JSON."""
    exact = wants_exact(request)
    return Response(dumps(plain(value), exact=exact), status, headers, EXACT if exact else JSON)


def long_answer(request: Request, parts: Mapping[str, Any]) -> Response:
    """A JSON object as a stream, for one whose lists may be long: an iterable under a key is written item by item."""
    exact = wants_exact(request)
    return StreamingResponse(_written(parts, exact=exact), media_type=EXACT if exact else JSON)


async def _written(parts: Mapping[str, Any], *, exact: bool) -> AsyncIterator[bytes]:
    buffer = bytearray()
    for piece in _pieces(parts, exact=exact):
        buffer += piece
        if len(buffer) >= PIECE:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)


def _pieces(parts: Mapping[str, Any], *, exact: bool) -> Iterator[bytes]:
    for at, (key, value) in enumerate(parts.items()):
        yield b"%b%b:" % (b"," if at else b"{", dumps(key))
        if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
            yield b"["
            for place, item in enumerate(value):
                yield b"," * bool(place) + dumps(plain(item), exact=exact)
            yield b"]"
        else:
            yield dumps(plain(value), exact=exact)
    yield b"}" if parts else b"{}"


def refusal(error: Exception, status: int | None = None) -> Response:
    """An error as a problem."""
    problem = problem_of(error)
    if status is not None:
        problem["status"] = status
    headers: dict[str, str] = {}
    if problem["status"] == 401:
        headers["WWW-Authenticate"] = "Bearer"
    wait = getattr(error, "retry_after", None)
    if wait is not None or problem["status"] == 503:
        headers["Retry-After"] = str(max(1, round(wait or 1)))
    return Response(dumps(problem), problem["status"], headers, PROBLEM)

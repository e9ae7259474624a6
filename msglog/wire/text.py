"""JSON as bytes, and names as parts of a URL."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from msglog.codec import decode, encode
from msglog.errors import InvalidNameError, RequestError

JSON = "application/json"
EXACT = "application/vnd.msglog+json"
"""JSON in which surrogates stand as they are, as generalised UTF-8: what `application/json` cannot tell apart, the two
halves of an emoji as two characters from the emoji, comes through. Plain JSON writes surrogates as `\\uXXXX`."""

PROBLEM = "application/problem+json"
EVENTS = "text/event-stream"

_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), check_circular=False).encode


def dumps(value: Any, *, exact: bool = False) -> bytes:
    """A JSON value as bytes: UTF-8 where it is plain text; with surrogates, as `exact` says (see `EXACT`)."""
    text = encode(value)
    if exact:
        return text.encode("utf-8", "surrogatepass")
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _escaped(value).encode("ascii")


def loads(data: bytes) -> Any:
    """The frozen value of JSON bytes, in either form; `RequestError` where they are none."""
    try:
        return decode(data.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        raise RequestError("body", "it is not UTF-8") from None
    except json.JSONDecodeError as error:  # its message has a place in it, and nothing of the text
        raise RequestError("body", f"it is not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:
        raise RequestError(
            "body", "it holds a number that JSON does not have, or an int of over 4,300 digits"
        ) from None
    except RecursionError:
        raise RequestError("body", "it is nested too deeply") from None


def segment(name: str) -> str:
    """A name as one segment of a path. `.` and `..`, which a client may resolve, are escaped too."""
    if name in {".", ".."}:
        return name.replace(".", "%2E")
    return quote(name, safe="", errors="surrogatepass")


def name_of(part: str, what: str) -> str:
    """The name that a segment stands for."""
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise InvalidNameError(what, "must be UTF-8, percent-encoded") from None

"""Values of SQL, which JSON lacks some of: bytes and infinite numbers stand as objects, which no SQL value is."""

from __future__ import annotations

import base64
import math
from typing import Any

from msglog.errors import RequestError


def cell_json(value: Any) -> Any:
    """An SQL value as JSON."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def cell_of(data: Any) -> Any:
    """The SQL value of what `cell_json` gave."""
    if not isinstance(data, dict):
        return data
    try:
        return base64.b64decode(data["base64"], validate=True) if "base64" in data else float(data["float"])
    except (LookupError, ValueError, TypeError):
        raise RequestError(
            "a value", 'an object stands for bytes, {"base64": …}, or a number, {"float": "inf"}'
        ) from None

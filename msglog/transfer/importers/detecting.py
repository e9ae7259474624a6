"""Which format a file has, told from what stands in it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from msglog.errors import SourceError
from msglog.transfer.importers import openai_json
from msglog.transfer.importers.json_values import values
from msglog.transfer.report import Losses

LOOKED_AT = 20
"""Values of a JSON file that are looked at."""

_JSON: Mapping[str, Callable[[Any], bool]] = {
    "openai": lambda value: openai_json.is_message(value) or openai_json.is_conversation(value),
}


def detected(path: str) -> str:
    """The name of the file's format; `SourceError` where it is none that is known."""
    for found in itertools.islice(values(path, Losses()), LOOKED_AT):
        for name, fits in _JSON.items():
            if fits(found.value):
                return name
    raise SourceError(
        path, "it is JSON, but of none of the formats known here; msglog.transfer.importers.FORMATS lists them"
    )

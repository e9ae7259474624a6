"""The chunks of views, read back."""

from __future__ import annotations

from collections.abc import Sequence

from msglog.codec import encode
from msglog.errors import CorruptStoreError
from msglog.storage import statements as sql
from msglog.storage.engine import Connection
from msglog.storage.spans import Run, decode_spans


def chunks_of(connection: Connection, log_id: int, numbers: Sequence[int]) -> dict[int, list[Run]]:
    """The runs of chunks, in the order given; `CorruptStoreError` where one is missing or cannot be read."""
    rows = connection.execute(sql.CHUNKS, (log_id, encode(list(numbers)))) if numbers else []
    try:
        found = {number: decode_spans(spans) for number, spans in rows}
        return {number: found[number] for number in numbers}
    except (ValueError, TypeError, LookupError) as error:
        path = connection.execute("PRAGMA database_list")[0][2]
        log = connection.execute("SELECT name FROM logs WHERE id = ?", (log_id,))[0][0]
        raise CorruptStoreError(path, f"log {log!r}", "a part of its view is missing or cannot be read") from error

"""What `llm` keeps once and refers to: fragments of text, and attachments."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from msglog.transfer.importers.reading import Reading
from msglog.transfer.importers.sqlite_source import Database

_KINDS = {"image", "audio", "video"}


class Shared:
    """Fragments and attachments of one file, by id."""

    def __init__(self, reading: Reading, database: Database) -> None:
        self._reading = reading
        self._database = database

    def text(self, pieces: Sequence[Any], where: str) -> str:
        """A text of pieces, which are literal or name a fragment."""
        found = ""
        for piece in pieces:
            if isinstance(piece, Mapping) and isinstance(piece.get("literal"), str):
                found += piece["literal"]
            else:
                found += self.fragment(piece.get("fragment") if isinstance(piece, Mapping) else None, where)
        return found

    def fragment(self, key: Any, where: str) -> str:
        """The text of a fragment; none, and a loss, where it is not there."""
        if "fragments" in self._database.tables:
            for (content,) in self._database.rows("SELECT content FROM fragments WHERE id = ?", (_bound(key),)):
                if isinstance(content, str):
                    return content
        self._reading.losses.add(where, "a fragment of its text is not in the source")
        return ""

    def attachment(self, key: Any, where: str) -> dict[str, Any]:
        """The part that shows an attachment."""
        query = "SELECT type, path, url, content FROM attachments WHERE id = ?"
        rows = list(self._database.rows(query, (_bound(key),))) if "attachments" in self._database.tables else []
        if not rows:
            self._reading.losses.add(where, "an attachment of it is not in the source")
            return {"type": "file", "id": key if isinstance(key, str) else None}
        media_type, path, url, content = rows[0]
        top = media_type.partition("/")[0] if isinstance(media_type, str) else ""
        part: dict[str, Any] = {"type": top if top in _KINDS else "file"}
        part |= {"mediaType": media_type} if isinstance(media_type, str) else {}
        if isinstance(content, bytes):
            return part | {"data": base64.b64encode(content).decode()}
        if isinstance(url, str):
            return part | {"url": url}
        self._reading.losses.add(where, "a file that was attached lies elsewhere; its path came over")
        return part | {"path": path if isinstance(path, str) else None}


def _bound(key: Any) -> Any:
    return key if isinstance(key, (int, str)) and not isinstance(key, bool) else None

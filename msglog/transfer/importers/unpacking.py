"""What LangGraph's serializer wrote, as plain JSON values. Nothing that is stored there is imported, called or built.

A checkpoint is msgpack in which objects are extensions that name their class, or JSON that does. Messages of LangChain
come as `Model`s; dates, UUIDs, sets and the like as JSON; of all else only the plain data, and its class is noted.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msglog.errors import MissingExtraError

_DEEPEST = 64  # extensions in extensions
_OBJECTS = range(6)  # the extensions that hold a class and its data
_DELTA_SNAPSHOT = 7
_JSON_CLASSES = {
    ("uuid", "UUID"),
    ("decimal", "Decimal"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("collections", "deque"),
    ("datetime", "datetime"),
    ("pathlib", "PosixPath"),
    ("zoneinfo", "ZoneInfo"),
}
"""Classes whose data says all that there is to say."""


class Model(NamedTuple):
    """A message of LangChain: the name of its class and its fields."""

    name: str
    fields: dict[str, Any]


class UnreadableError(Exception):
    """A value that cannot be read; says why."""


@dataclass(slots=True)
class Unpacking:
    """Reads values, and notes the classes of which only the data came."""

    reduced: set[str] = field(default_factory=set)
    _depth: int = 0

    def value(self, kind: Any, data: Any) -> Any:
        """A value from its kind and its bytes, as the checkpointer's tables have them."""
        if kind == "null":
            return None
        if not isinstance(data, (bytes, str)):
            raise UnreadableError("it holds no data")
        if kind == "json":
            return self._revived(json.loads(data))
        if kind != "msgpack":
            raise UnreadableError(f"it was written as {kind!r}, which only its own program can read")
        return self._plain(self._unpacked(data if isinstance(data, bytes) else data.encode()))

    def _unpacked(self, data: bytes) -> Any:
        try:
            import ormsgpack  # noqa: PLC0415 an extra, which nothing else needs
        except ImportError:
            raise MissingExtraError("reading LangGraph's checkpoints", "langgraph") from None
        return ormsgpack.unpackb(data, ext_hook=self._extension, option=ormsgpack.OPT_NON_STR_KEYS)

    def _extension(self, code: int, data: bytes) -> Any:
        if self._depth >= _DEEPEST:
            raise UnreadableError("it is nested too deeply")
        self._depth += 1
        try:
            if code == _DELTA_SNAPSHOT:
                return self._unpacked(data)
            if code not in _OBJECTS:
                self.reduced.add(f"extension {code}")
                return None
            module, name, content, *_ = self._unpacked(data)
            return self._object(str(module), str(name), content)
        finally:
            self._depth -= 1

    def _object(self, module: str, name: str, content: Any) -> Any:
        if module.startswith("langchain_core.messages") and isinstance(content, dict):
            return Model(name, content)
        if (module, name) not in _JSON_CLASSES:
            self.reduced.add(f"{module}.{name}")
        return content

    def _revived(self, value: Any) -> Any:
        """A JSON value with the objects in it, as the older serializer wrote them."""
        if isinstance(value, list):
            return [self._revived(item) for item in value]
        if not isinstance(value, dict):
            return value
        made = {key: self._revived(item) for key, item in value.items()}
        path = made.get("id")
        if made.get("lc") not in (1, 2) or made.get("type") != "constructor" or not isinstance(path, list) or not path:
            return made
        kwargs, args = made.get("kwargs"), made.get("args")
        if "messages" in path[:-1] and isinstance(kwargs, dict):
            return Model(str(path[-1]), kwargs)
        return self._object(".".join(map(str, path[:-1])), str(path[-1]), kwargs or args)

    def _plain(self, value: Any) -> Any:
        """JSON of what msgpack holds beyond it: bytes as base64, keys as text."""
        if isinstance(value, Model):
            return Model(value.name, self._plain(value.fields))
        if isinstance(value, Mapping):
            return {key if isinstance(key, str) else str(key): self._plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._plain(item) for item in value]
        if isinstance(value, (bytes, bytearray)):
            self.reduced.add("bytes")
            return base64.b64encode(value).decode()
        return value

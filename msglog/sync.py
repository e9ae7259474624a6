"""The blocking face: the same surface for scripts and synchronous frameworks.

It is derived from the asynchronous one, method by method: each coroutine is run to its end on a store that
blocks instead of awaiting. Reads happen on the calling thread; writes go straight into the writer's queue.
`sync.pyi`, which `scripts/sync_stub` writes, tells type checkers what comes of it.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any, NoReturn, Self

from msglog import log as _log
from msglog import opening as _opening
from msglog import raw as _raw
from msglog import store as _store
from msglog.options import BUSY_TIMEOUT, MAX_MESSAGE_BYTES, POLL_INTERVAL, BeforeStore, Durability, Options
from msglog.storage.access import BlockingAccess, finish, finish_each
from msglog.storage.engine import Driver


def _settled(value: Any) -> Any:
    """A result as the blocking face gives it: waited for, and wrapped where it is a face itself."""
    if inspect.iscoroutine(value):
        value = finish(value)
    if inspect.isasyncgen(value):
        return (_settled(item) for item in finish_each(value))
    face = _face_of(type(value))
    return value if face is None else face.around(value)


@functools.cache
def _face_of(kind: type) -> Any:
    return next((_FACES[base] for base in kind.__mro__ if base in _FACES), None)


class _Face:
    """A blocking object around its asynchronous original."""

    _inner: Any

    @classmethod
    def around(cls, inner: Any) -> Self:
        """The face of an original."""
        made = cls.__new__(cls)
        made._inner = inner  # noqa: SLF001
        return made

    def __repr__(self) -> str:
        return repr(self._inner)


def _derived(original: type) -> Callable[[type], type]:
    """Give a face every public method and property of its original that it does not define itself."""

    def derive(face: type) -> type:
        for name, member in vars(original).items():
            if name.startswith("_") or name in vars(face):
                continue
            if isinstance(member, property):
                setattr(face, name, property(_reading(name), doc=member.__doc__))
            elif callable(member):
                setattr(face, name, _calling(member, name))
            else:
                setattr(face, name, property(_reading(name)))
        _FACES[original] = face
        return face

    return derive


def _reading(name: str) -> Callable[[Any], Any]:
    return lambda self: _settled(getattr(self._inner, name))


def _calling(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: _Face, *arguments: Any, **options: Any) -> Any:
        return _settled(getattr(self._inner, name)(*arguments, **options))

    return call


_FACES: dict[type, Any] = {}


@_derived(_raw.RawLog)
class RawLog(_Face):
    """The blocking `RawLog`."""


@_derived(_log.MessageLog)
class MessageLog(_Face):
    """The blocking `MessageLog`. `on_append` must be a plain function."""

    def __init__(
        self, store: Store, name: str = "default", branch: str = "main", on_append: _log.OnAppend | None = None
    ) -> None:
        self._inner = store.log(name, branch, on_append=on_append)._inner  # noqa: SLF001 a face of the same kind

    name = property(_reading("name"))
    branch = property(_reading("branch"))
    store = property(_reading("store"))


@_derived(_store.Store)
class Store(_Face):
    """The blocking `Store`."""

    def log(self, name: str = "default", branch: str = "main", *, on_append: _log.OnAppend | None = None) -> MessageLog:
        """The log of this name, on a branch. Nothing is read or written: a log exists from its first append."""
        if inspect.iscoroutinefunction(on_append):
            raise TypeError("the blocking face takes a plain function as on_append, not a coroutine function")
        return MessageLog.around(self._inner.log(name, branch, on_append=on_append))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        finish(self._inner.close())

    async def __aenter__(self) -> NoReturn:
        finish(self._inner.close())
        raise TypeError("a blocking store is opened with `with msglog.sync.open(…)`; msglog.open serves `async with`")

    async def __aexit__(self, *_: object) -> None: ...


def open(  # noqa: A001 the word that users know
    path: str | os.PathLike[str],
    *,
    durability: Durability = "full",
    read_only: bool = False,
    create: bool = True,
    busy_timeout: float = BUSY_TIMEOUT,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    before_store: BeforeStore | None = None,
    poll_interval: float = POLL_INTERVAL,
    driver: Driver | ModuleType | None = None,
    token: str | None = None,
) -> Store:
    """Open a store: `with msglog.sync.open("agent.db") as store`. The options are those of `msglog.open`."""
    options = Options(durability, read_only, create, busy_timeout, max_message_bytes, before_store, poll_interval)
    return Store.around(_opening.opened(path, driver, options, BlockingAccess, token))


__all__ = ["MessageLog", "RawLog", "Store", "open"]

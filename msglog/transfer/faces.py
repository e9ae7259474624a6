"""One definition for both faces: a coroutine function that also takes the blocking objects, and then blocks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from msglog.log import MessageLog
from msglog.storage.access import finish
from msglog.store import Store

if TYPE_CHECKING:
    from msglog import sync

P = ParamSpec("P")
R = TypeVar("R")


class OfStores(Generic[P, R]):
    """A function of a store. Given one of `msglog.sync`, it blocks and returns; else it is to be awaited."""

    def __init__(self, function: Callable[Concatenate[Store, P], Coroutine[Any, Any, R]]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    @overload
    def __call__(self, store: Store, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]: ...
    @overload
    def __call__(self, store: sync.Store, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def __call__(self, store: Any, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R] | R:
        """Call it."""
        return cast("R", _called(self._function, store, Store, args, kwargs))


class OfLogs(Generic[P, R]):
    """A function of a log. Given one of `msglog.sync`, it blocks and returns; else it is to be awaited."""

    def __init__(self, function: Callable[Concatenate[MessageLog, P], Coroutine[Any, Any, R]]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    @overload
    def __call__(self, log: MessageLog, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]: ...
    @overload
    def __call__(self, log: sync.MessageLog, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def __call__(self, log: Any, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R] | R:
        """Call it."""
        return cast("R", _called(self._function, log, MessageLog, args, kwargs))


def _called(function: Callable[..., Any], given: Any, face: type, args: Any, kwargs: Any) -> Any:
    if isinstance(given, face):
        return function(given, *args, **kwargs)
    inner = getattr(given, "_inner", None)
    if not isinstance(inner, face):
        raise TypeError(f"a {face.__name__} is expected, not {type(given).__name__}")
    return finish(function(inner, *args, **kwargs))

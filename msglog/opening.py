"""Opening a store: a file, or a server's; awaited, or entered with `async with`."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Generator
from dataclasses import replace
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from msglog.errors import CannotOpenError, MissingExtraError
from msglog.options import BUSY_TIMEOUT, MAX_MESSAGE_BYTES, POLL_INTERVAL, BeforeStore, Durability, Options
from msglog.storage.access import Access, BlockingAccess, TaskAccess
from msglog.storage.engine import Driver
from msglog.storage.file import acquire
from msglog.storage.sqlite import SqliteDriver
from msglog.store import Store

_ELSEWHERE = {"http": "msglog.remote.store", "https": "msglog.remote.store"}
"""The modules that open what is no file. They stand above this one, and are imported when they are needed."""


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
) -> Opening:
    """Open a store: `async with msglog.open("agent.db") as store`, or `store = await msglog.open(…)`.

    A URL, `"http://127.0.0.1:8700"`, opens the store of a server, with `token` where it asks for one. What concerns
    the file is the server's: of the options, `read_only`, `busy_timeout`, `max_message_bytes` and `before_store` count.

    The file is created where it does not exist, with the folders above it that are missing (private to their owner),
    and migrated where it is older.
    `":memory:"` is a private temporary file.

    - `durability`: what an acknowledged append survives: `"full"` loss of power, `"normal"` the death of the process.
    - `busy_timeout`: seconds that a call waits while another process holds the file, then `StoreBusyError`.
    - `max_message_bytes`: larger messages are refused with `TooLargeError`.
    - `before_store`: a function that gets each entry before it is stored and returns it, changed or not.
    - `poll_interval`: seconds after which a follower notices another process's commit at the latest.
    - `driver`: an SQLite module to use instead of `sqlite3`, such as `pysqlite3.dbapi2`, or a `Driver`.

    Raises a `StoreError`: `StoreNotFoundError`, `CannotOpenError`, `NotAStoreError`, `NewerStoreError`, ….
    """
    options = Options(durability, read_only, create, busy_timeout, max_message_bytes, before_store, poll_interval)
    return Opening(lambda: opened(path, driver, options, TaskAccess, token), os.fspath(path) if path else "")


class Opening:
    """A store that is about to be opened: `await` it, or enter it with `async with`."""

    def __init__(self, make: Callable[[], Store], name: str) -> None:
        self._make = make
        self._name = name
        self._store: Store | None = None
        self._used = False

    async def _open(self) -> Store:
        self._used = True
        import asyncio  # noqa: PLC0415 the blocking face needs none

        task = asyncio.get_running_loop().run_in_executor(None, self._make)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # The store may still come to be open: it is closed then.
            task.add_done_callback(_close_unwanted)
            raise

    def __await__(self) -> Generator[Any, None, Store]:
        return self._open().__await__()

    async def __aenter__(self) -> Store:
        self._store = await self._open()
        return self._store

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._store is not None:
            await self._store.close()

    def __enter__(self) -> NoReturn:
        self._used = True
        raise TypeError("a store is opened with `async with msglog.open(…)`; msglog.sync.open serves plain `with`")

    def __exit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"no {name!r}: the store is not open yet; use `async with msglog.open(…)`, or await it")

    def __del__(self) -> None:
        if not self._used:
            warnings.warn(f"msglog.open({self._name!r}) was never awaited", ResourceWarning, source=self, stacklevel=2)


def _close_unwanted(task: Any) -> None:
    if not task.cancelled() and task.exception() is None:
        store: Store = task.result()
        store._closed = True  # noqa: SLF001 nobody else has it
        store._release()  # noqa: SLF001


def opened(
    path: str | os.PathLike[str],
    driver: Driver | ModuleType | None,
    options: Options,
    access: Callable[..., Access],
    token: str | None = None,
) -> Store:
    """Open a file, or reach a server, and make its store. Blocks."""
    elsewhere = _ELSEWHERE.get(path.partition("://")[0].lower()) if isinstance(path, str) and "://" in path else None
    if elsewhere is not None:
        if driver is not None:
            raise TypeError("a driver is for files; a server has its own")
        try:
            remote = importlib.import_module(elsewhere)
        except ImportError as error:
            raise MissingExtraError("a store on a server", "client") from error
        store: Store = remote.opened(path, options, token, blocking=access is BlockingAccess)
        return store
    if token is not None:
        raise TypeError("a token is for servers; a file has the permissions of its file system")
    made = _driver(driver)
    name = _path(path)
    folder = tempfile.mkdtemp(prefix="msglog-") if name == ":memory:" else None
    try:
        lease = acquire(
            name if folder is None else os.path.join(folder, "memory.db"),
            made,
            read_only=options.read_only,
            create=options.create,
            patience=options.busy_timeout,
            full=options.durability == "full",
        )
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if folder is not None:
        options = replace(options, temporary=weakref.finalize(lease, _remove, folder, os.getpid()))
    return Store(lease, access(lease, options.busy_timeout), options)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must leave it to its parent
        shutil.rmtree(folder, ignore_errors=True)


def _driver(given: Driver | ModuleType | None) -> Driver:
    if given is None:
        return SqliteDriver()
    if isinstance(given, ModuleType) and hasattr(given, "sqlite_version_info"):
        return SqliteDriver(given)
    if isinstance(given, ModuleType) or not hasattr(given, "connect"):
        raise TypeError(f"a driver must be an SQLite module or a Driver, not {given!r}")
    return given


def _path(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"a path must be a str or a path, not {type(name).__name__}")
    name = os.path.expanduser(name.removeprefix("sqlite:///"))
    if not name or "\0" in name:
        raise CannotOpenError(name, "the path is empty" if not name else "the path holds NUL")
    if "://" in name:
        raise CannotOpenError(name, "only SQLite files can be opened")
    return name


__all__ = ["Opening", "open"]

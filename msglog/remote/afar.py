"""What a store on a server has in the place of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from msglog.errors import OnlyLocalError
from msglog.remote.server import Server
from msglog.storage.engine import Connection
from msglog.storage.file import StoreFile
from msglog.storage.requests import Request

T = TypeVar("T")

BUNDLES = "export_bundle or import_bundle (over HTTP: GET /v1/export, POST /v1/import)"
"""What asks a store for its file by itself; every method of a store that would is replaced."""


class Afar:
    """An `Access` that can wait, and has no file: what reads or writes one is told so."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.read_only = server.read_only
        self.check = server.check

    @property
    def file(self) -> StoreFile:
        """`OnlyLocalError`."""
        return self._refuse()

    async def read(self, _work: Callable[[Connection], T]) -> T:
        """`OnlyLocalError`."""
        return self._refuse()

    async def write(self, _request: Request) -> Any:
        """`OnlyLocalError`."""
        self._refuse()

    async def run(self, work: Callable[[], T]) -> T:
        """Run something that blocks."""
        return await self._server.transport.run(work)

    async def change(self, _version: int) -> None:
        """`OnlyLocalError`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise OnlyLocalError(self._server.url, BUNDLES)

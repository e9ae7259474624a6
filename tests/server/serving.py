"""A service in the test's own event loop, on a port of its own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import httpx
import uvicorn
from starlette.types import ASGIApp

from msglog.server.app import Application


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are pytest's


@contextlib.asynccontextmanager
async def served(app: Application) -> AsyncIterator[str]:
    """The URL of a service while it runs."""
    async with listening(app) as url:
        try:
            yield url
        finally:
            app.service.hub.stop()


@contextlib.asynccontextmanager
async def listening(app: ASGIApp) -> AsyncIterator[str]:
    """The URL of an application while it runs."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1)
        server = _Server(config)
        task = asyncio.create_task(server.serve([bound]))
        while not server.started:  # noqa: ASYNC110 uvicorn has no event for it
            await asyncio.sleep(0.001)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


def client(url: str, token: str | None = None) -> httpx.AsyncClient:
    """A client of a service."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=30, trust_env=False)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

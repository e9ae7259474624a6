"""A service in the test's own event loop, on a port of its own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import httpx
import uvicorn

from msglog.server.app import Application


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are pytest's


@contextlib.asynccontextmanager
async def served(app: Application, *, port: int = 0) -> AsyncIterator[str]:
    """The URL of a service while it runs."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    config = uvicorn.Config(app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1)
    server = _Server(config)
    task = asyncio.create_task(server.serve([listening]))
    while not server.started:  # noqa: ASYNC110 uvicorn has no event for it
        await asyncio.sleep(0.001)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        app.service.hub.stop()
        server.should_exit = True
        await task
        listening.close()


def client(url: str, token: str | None = None) -> httpx.AsyncClient:
    """A client of a service."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=30, trust_env=False)

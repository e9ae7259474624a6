"""The service as a process: listening, and ending well."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType
from typing import Protocol

import uvicorn

import msglog
from msglog.errors import AccessDeniedError
from msglog.server.app import Application, create_app
from msglog.server.settings import PORT, Settings
from msglog.server.tokens import TokenFile, tokens_path

GRACE = 10
"""Seconds for what runs when the service is told to stop."""


KEEP_ALIVE = 60
"""Seconds for which a connection is kept: longer than clients keep theirs, so that none is cut off as it asks."""


class OnStart(Protocol):
    """Told of the URL when the service listens."""

    def __call__(self, url: str, *, has_tokens: bool) -> None:
        """Take note."""
        ...


class Server(uvicorn.Server):
    """uvicorn, whose followers are told first when it is to stop, since they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, app: Application) -> None:
        super().__init__(config)
        self._app = app

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals on the event loop. uvicorn would raise them again, and the store would not be closed."""
        loop = asyncio.get_running_loop()
        for sig in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(sig, self.handle_exit, sig, None)
        try:
            yield
        finally:
            for sig in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(sig)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take no new work, and end when what runs is done; a second SIGINT ends at once."""
        self._app.service.hub.stop()
        super().handle_exit(sig, frame)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


async def serve(
    store: str,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    settings: Settings | None = None,
    read_only: bool = False,
    create: bool = True,
    on_start: OnStart | None = None,
) -> None:
    """Serve a store until SIGTERM or SIGINT.

    `on_start` is called with the URL once it listens. Where the store has tokens, they are asked for.
    `AccessDeniedError` for an address that others reach without.
    """
    tokens = _tokens_of(store)
    if tokens is None and not is_loopback(host):
        raise AccessDeniedError(
            f"{host} is reached from elsewhere, and {store} has no tokens; make one with `msglog token create` first"
        )
    chosen = settings or Settings()
    chosen = replace(chosen, hosts=(*chosen.hosts, host.lower()))
    _allow_many_files()
    listening = _listening(host, port)
    async with msglog.open(store, read_only=read_only, create=create) as opened:
        app = create_app(opened, tokens=tokens, settings=chosen)
        config = uvicorn.Config(
            app,
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=KEEP_ALIVE,
            ws="none",
        )
        if on_start is not None:
            name = f"[{host}]" if ":" in host else host
            on_start(f"http://{name}:{listening.getsockname()[1]}", has_tokens=tokens is not None)
        await Server(config, app).serve([listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections; `OSError` where the address cannot be had."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # Made with its protocol's number: asyncio sends small answers at once (TCP_NODELAY) only where it sees that, and
    # without it each answer of two pieces waits 40 ms for the client's system to acknowledge the first.
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except OSError as error:
        made.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from error
    return made


def _tokens_of(store: str) -> TokenFile | None:
    """The tokens of a store; None where it has none. A file that is emptied later lets nobody in."""
    path = tokens_path(os.path.realpath(store))
    return TokenFile(path) if os.path.exists(path) else None


def _allow_many_files() -> None:
    """Each follower is an open file: take as many as the system gives."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def write_access_log() -> None:
    """Write the access log to standard output, one JSON object a line."""
    logger = logging.getLogger("msglog.access")
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False

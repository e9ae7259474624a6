"""A service as one would write it by hand: a Starlette handler that inserts a row with `sqlite3`, and commits it."""

from __future__ import annotations

import sqlite3
import sys
import threading

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


class Messages:
    """One table, one connection, a transaction each."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._lock = threading.Lock()
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, log TEXT, message TEXT)")
        self._connection.execute("CREATE INDEX by_log ON messages (log, id)")

    def insert(self, log: str, message: str) -> int | None:
        """The row id of a message that is stored."""
        with self._lock:
            done = self._connection.execute("INSERT INTO messages (log, message) VALUES (?, ?)", (log, message))
            return done.lastrowid


def service(path: str) -> Starlette:
    """The application."""
    messages = Messages(path)

    async def append(request: Request) -> JSONResponse:
        await request.json()  # a service would look at it
        text = (await request.body()).decode()
        return JSONResponse({"seq": await run_in_threadpool(messages.insert, request.path_params["log"], text)})

    return Starlette(routes=[Route("/v1/logs/{log}/messages", append, methods=["POST"])])


if __name__ == "__main__":
    uvicorn.run(service(sys.argv[1]), port=int(sys.argv[2]), log_level="warning", access_log=False)

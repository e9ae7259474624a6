"""What every request passes on its way in and every answer on its way out."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from msglog.errors import AccessDeniedError, DeadlineError, RequestError, StoppingError
from msglog.server.bodies import refusal
from msglog.server.service import Service

_access = logging.getLogger("msglog.access")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""No script and no style but our own files; nothing from elsewhere; no framing."""

_SAFE = {"GET", "HEAD", "OPTIONS"}
_METHODS = _SAFE | {"POST", "PATCH", "DELETE"}
_WHILE_STOPPING = {"/healthz", "/readyz", "/metrics"}


class Gate:
    """The outermost layer: whom a request may come from, how long it may take, what is written down of it."""

    def __init__(self, app: ASGIApp, service: Callable[[], Service]) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        service = self._service()
        # Routes match on the path as it was sent: a slash that is part of a name must not end its segment.
        scope["path"] = scope.get("raw_path", scope["path"].encode()).decode("ascii", "replace").partition("?")[0]
        visit = _Visit(scope, send, service)
        try:
            refused = self._refused(service, scope)
            if refused is not None:
                await refused(scope, receive, visit.send)
            elif visit.preflight:
                await visit.send({"type": "http.response.start", "status": 204, "headers": []})
                await visit.send({"type": "http.response.body", "body": b""})
            else:
                await self._served(scope, receive, visit, service.settings.limits.deadline)
        finally:
            visit.over()

    async def _served(self, scope: Scope, receive: Receive, visit: _Visit, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds) as visit.deadline:
                scope.setdefault("state", {})["deadline"] = visit.deadline
                await self._app(scope, receive, visit.send)
        except TimeoutError:
            if not visit.deadline.expired() or visit.status:
                raise
            await refusal(DeadlineError(seconds), 504)(scope, receive, visit.send)

    def _refused(self, service: Service, scope: Scope) -> Any:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if name.lower() not in service.settings.hosts and "*" not in service.settings.hosts:
            return refusal(RequestError("header Host", "this service is not known by that name; see --allow-host"), 421)
        origin = headers.get("origin")
        if origin and scope["method"] not in _SAFE and not self._is_own(service, origin, host):
            return refusal(AccessDeniedError("a page of another origin may not change anything here", "edit"))
        if service.hub.stopping and scope["path"] not in _WHILE_STOPPING:
            return refusal(StoppingError())
        return None

    @staticmethod
    def _is_own(service: Service, origin: str, host: str) -> bool:
        return origin in service.settings.origins or origin.partition("://")[2] == host


class _Visit:
    """One request on its way through: what its answer gets, and what is written down of it."""

    def __init__(self, scope: Scope, send: Send, service: Service) -> None:
        self._scope = scope
        self._send = send
        self._service = service
        self._began = time.perf_counter()
        self._first = 0.0
        self._bytes = 0
        self.status = 0
        self.deadline: asyncio.Timeout
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        self._origin = origin if origin in service.settings.origins else None
        self.preflight = (
            self._origin is not None
            and scope["method"] == "OPTIONS"
            and headers.get("access-control-request-method") is not None
        )

    async def send(self, message: Message) -> None:
        """Send a part of the answer; a client that does not take it for too long is let go."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._first = time.perf_counter() - self._began
            self._dress(MutableHeaders(scope=message))
            deadline = getattr(self, "deadline", None)
            if deadline is not None and not deadline.expired():
                deadline.reschedule(None)  # it is answered; from here on the client sets the pace
        else:
            self._bytes += len(message.get("body", b""))
        async with asyncio.timeout(self._service.settings.limits.send_deadline):
            await self._send(message)

    def _dress(self, headers: MutableHeaders) -> None:
        headers.setdefault("Content-Security-Policy", POLICY)
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "same-origin"  # with none at all, our own forms would come from the origin "null"
        headers.setdefault("Cache-Control", "no-store")
        if self._service.settings.origins:
            headers.add_vary_header("Origin")
        if self._origin is not None:
            headers["Access-Control-Allow-Origin"] = self._origin
            headers["Access-Control-Allow-Methods"] = "GET, POST, PATCH, DELETE"
            headers["Access-Control-Allow-Headers"] = (
                "Authorization, Content-Type, If-Match, Idempotency-Key, Last-Event-ID"
            )
            headers["Access-Control-Expose-Headers"] = "ETag, Retry-After"
            headers["Access-Control-Max-Age"] = "600"

    def over(self) -> None:
        """Count the request, and write a line about it: never what was asked for in it, or answered."""
        route = getattr(self._scope.get("route"), "path", "none")
        metrics = self._service.metrics
        method = self._scope["method"] if self._scope["method"] in _METHODS else "other"  # callers may make up any
        metrics.requests.labels(method, route, self.status).inc()
        metrics.seconds.labels(route).observe(self._first)
        if not _access.isEnabledFor(logging.INFO):
            return
        caller = self._scope.get("state", {}).get("caller")
        client = self._scope.get("client")
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "method": self._scope["method"],
            "path": self._scope["path"],
            "status": self.status,
            "ms": round((time.perf_counter() - self._began) * 1000, 1),
            "bytes": self._bytes,
            "caller": None if caller is None else caller.id,
            "client": client[0] if client else None,
        }
        _access.info(json.dumps(line))

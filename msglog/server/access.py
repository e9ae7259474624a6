"""Who asks, and whether that is allowed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from msglog.errors import AccessDeniedError, LimitError
from msglog.server.settings import Limits
from msglog.server.tokens import Right, TokenFile

COOKIE = "msglog_token"
"""Holds the token of who logged in to the viewer. Pages cannot read it, and other sites' requests do not carry it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request, and what they may do."""

    id: str
    rights: frozenset[Right]
    prefix: str = ""

    def may(self, right: Right) -> bool:
        """Whether they have a right, for some log."""
        return right in self.rights or "admin" in self.rights

    def covers(self, log: str) -> bool:
        """Whether a log is one of those that their rights hold for."""
        return log.startswith(self.prefix)

    def check(self, right: Right, log: str | None = None) -> None:
        """Raise where they may not. What is said never depends on which logs there are."""
        if not self.may(right):
            raise AccessDeniedError(f"the token lacks the right {right!r}", right)
        if log is not None and not self.covers(log):
            raise AccessDeniedError(f"the token is for logs that begin with {self.prefix!r} only", right)

    def check_store(self, right: Right) -> None:
        """Raise where they may not do something that concerns all logs."""
        self.check(right)
        if self.prefix:
            raise AccessDeniedError("this concerns the whole store, and the token has a prefix", right)


_NEEDED = "a token is needed: the header Authorization: Bearer msglog_…, token= of msglog.open, or $MSGLOG_TOKEN"

LOCAL = Caller("local", frozenset({"admin"}))
"""Anybody, where there are no tokens: the service is then to be reached from its own machine only."""


class Door:
    """Lets callers in: by token, and no faster than the limits say."""

    def __init__(self, tokens: TokenFile | None, limits: Limits) -> None:
        self._tokens = tokens
        self._limits = limits
        self._buckets: dict[str, tuple[float, float]] = {}

    @property
    def has_tokens(self) -> bool:
        """Whether a token is needed."""
        return self._tokens is not None

    def caller(self, connection: HTTPConnection) -> Caller:
        """Who sent a request; `AccessDeniedError` where a token is needed and none is given that is known."""
        if self._tokens is None:
            self._count("local")
            return LOCAL
        scheme, _, given = connection.headers.get("authorization", "").partition(" ")
        text = given.strip() if scheme.lower() == "bearer" else connection.cookies.get(COOKIE, "")
        caller = self.bearer(text)
        if caller is None:
            self._count(f"from {connection.client.host if connection.client else ''}")
            raise AccessDeniedError("the token is not known" if text else _NEEDED)
        self._count(caller.id)
        return caller

    def bearer(self, text: str) -> Caller | None:
        """Whose token a text is."""
        token = self._tokens.find(text) if self._tokens is not None and text else None
        return None if token is None else Caller(token.id, frozenset(token.rights), token.prefix)

    def _count(self, who: str) -> None:
        """Take one from what a caller may send, which fills up at `rate` a second to at most `burst`."""
        rate, burst = self._limits.rate, self._limits.burst
        if not rate:
            return
        now = time.monotonic()
        left, at = self._buckets.get(who, (burst, now))
        left = min(burst, left + (now - at) * rate)
        if left < 1:
            raise LimitError("requests a second of one caller", rate, round((1 - left) / rate + 0.05, 2))
        if len(self._buckets) > 10_000:  # those who were quiet for long are as good as new
            self._buckets = {k: b for k, b in self._buckets.items() if b[0] + (now - b[1]) * rate < burst}
        self._buckets[who] = (left - 1, now)

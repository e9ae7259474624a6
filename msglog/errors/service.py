"""Servers and their clients: what is refused, and what does not come through."""

from __future__ import annotations

from msglog.errors.root import MsgLogError
from msglog.errors.stores import StoreError


class RequestError(MsgLogError, ValueError):
    """A request that a server cannot read: `where` names the part, `reason` says what is wrong with it."""

    where: str
    reason: str

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}", where=where, reason=reason)


class AccessDeniedError(MsgLogError, PermissionError):
    """A server's answer to a caller without a token, or whose token does not allow what was asked for.

    `needed` is the right that it takes (`read`, `append`, `edit`, `admin`); None where a token is lacking at all.
    """

    needed: str | None
    reason: str

    def __init__(self, reason: str, needed: str | None = None) -> None:
        MsgLogError.__init__(self, reason, needed=needed, reason=reason)


class LimitError(MsgLogError):
    """A limit of a server was reached: `what` of at most `limit`. `retry_after` are seconds, where waiting helps."""

    what: str
    limit: float
    retry_after: float | None

    def __init__(self, what: str, limit: float, retry_after: float | None = None, advice: str = "") -> None:
        text = f"{what}: at most {limit:,}"
        text += f"; {advice}" if advice else ""
        text += f"; try again in {retry_after:.1f} s" if retry_after is not None else ""
        super().__init__(text, what=what, limit=limit, retry_after=retry_after)


class StoppingError(MsgLogError, ConnectionError):
    """The server is about to stop and takes no new work; nothing was written."""

    def __init__(self, reason: str = "the server is stopping; nothing was written. Try again in a moment") -> None:
        MsgLogError.__init__(self, reason)


class DeadlineError(MsgLogError, TimeoutError):
    """A server did not finish a request within its deadline of `seconds`. What it was to write may be stored or not."""

    seconds: float

    def __init__(self, seconds: float) -> None:
        MsgLogError.__init__(
            self,
            f"not done within {seconds:g} s; what was to be written may be stored or not. "
            "Ask log.find(id), or send it again with the same ids",
            seconds=seconds,
        )


class UnreachableError(StoreError, ConnectionError):
    """A server cannot be reached, or does not answer as msglog does: `path` is its URL.

    `uncertain` says that the request was sent: what it was to write may be stored or not.
    """

    reason: str
    uncertain: bool

    def __init__(self, path: str, reason: str, *, uncertain: bool = False) -> None:
        text = f"no answer from the server: {reason}"
        text += "; what was to be written may be stored or not" if uncertain else ""
        StoreError.__init__(self, path, text, reason=reason, uncertain=uncertain)


class OnlyLocalError(StoreError, NotImplementedError):
    """A server's store was asked for something that takes the file itself: `what`.

    It is a `NotImplementedError`, since a store on a server has the methods of every store and lacks only what they
    do: who takes any store can catch that, and need not know of servers.
    """

    what: str

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, f"{what} takes the file itself; call it where the store lies", what=what)

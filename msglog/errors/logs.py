"""Logs and their branches: which there are, and where they end."""

from __future__ import annotations

from msglog.errors.root import MsgLogError


class PositionError(MsgLogError, ValueError):
    """A follower was to begin after a seq that the log does not have yet."""

    log: str
    after: int
    end: int

    def __init__(self, log: str, after: int, end: int) -> None:
        super().__init__(
            f"log {log!r} ends at seq {end}, so nothing can follow seq {after}; was it purged, or is it another log?",
            log=log,
            after=after,
            end=end,
        )


class UnknownLogError(MsgLogError, LookupError):
    """No log of this name in the store."""

    log: str

    def __init__(self, log: str) -> None:
        super().__init__(f"no log {log!r} in this store; a log exists from its first append", log=log)


class UnknownBranchError(MsgLogError, LookupError):
    """No branch of this name in the log."""

    log: str
    branch: str

    def __init__(self, log: str, branch: str) -> None:
        super().__init__(f"log {log!r} has no branch {branch!r}; fork({branch!r}) makes one", log=log, branch=branch)


class BranchExistsError(MsgLogError, ValueError):
    """A branch of this name exists already."""

    log: str
    branch: str

    def __init__(self, log: str, branch: str) -> None:
        super().__init__(
            f"log {log!r} already has a branch {branch!r}; pick another name, or open it with store.log(…, branch=…)",
            log=log,
            branch=branch,
        )


class LogExistsError(MsgLogError, ValueError):
    """The name of a log that is to come in belongs to another log of the store."""

    log: str

    def __init__(self, log: str) -> None:
        super().__init__(
            f"the store has another log {log!r}; nothing of the new one was stored. Import it with prefix= or rename=",
            log=log,
        )


class DivergedError(MsgLogError, ValueError):
    """A log and a copy of it went different ways: at `where` they differ, so neither goes on from the other."""

    log: str
    where: str

    def __init__(self, log: str, where: str) -> None:
        super().__init__(
            f"log {log!r} and the copy that was to come in differ at {where}: both went on after they were parted. "
            "Import the copy into a store of its own",
            log=log,
            where=where,
        )

"""How a service is set up: what it allows, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass, field

PORT = 8700


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request, one caller and all together may take."""

    body_bytes: int = 32 * 2**20
    """Bytes of a request's body."""
    import_bytes: int = 4 * 2**30
    """Bytes of an import."""
    batch: int = 10_000
    """Messages that one request appends."""
    page: int = 1000
    """Items of one page."""
    streams: int = 20_000
    """Followers at once, of all callers."""
    streams_of_caller: int = 1000
    """Followers at once of one token."""
    rate: float = 1000
    """Requests a second of one caller, on average; 0 for any number."""
    burst: float = 2000
    """Requests that a caller who was quiet may send at once."""
    deadline: float = 30
    """Seconds until a request that is not a stream is answered."""
    send_deadline: float = 30
    """Seconds for which a client may leave what it is sent untaken."""
    heartbeat: float = 25
    """Seconds after which a follower that has nothing to hear is told that the stream is alive."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a service allows beside its limits.

    `hosts` are the names under which it may be asked, so that no foreign name leads a browser to it (DNS rebinding);
    `origins` are the web origins that may read its answers from a page of theirs.
    """

    limits: Limits = field(default_factory=Limits)
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    origins: tuple[str, ...] = ()

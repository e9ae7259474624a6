"""What is moved between stores: sources of imports, and bundles."""

from __future__ import annotations

from msglog.errors.root import MsgLogError


class SourceError(MsgLogError, ValueError):
    """A file to import from cannot be read as what it is said to be: `path`, and `reason` says why."""

    path: str
    reason: str

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot import from {path}: {reason}", path=path, reason=reason)


class BundleError(MsgLogError, ValueError):
    """A bundle cannot be read, or what it holds does not add up.

    `line` is the line of it, `log` and `where` (a seq, a revision, a branch) lead into what it holds.
    """

    line: int | None
    log: str | None
    where: str | None
    reason: str

    def __init__(self, reason: str, line: int | None = None, log: str | None = None, where: str | None = None) -> None:
        places = [f"line {line}" if line else "", f"log {log!r}" if log else "", where or ""]
        place = ", ".join(filter(None, places)) or "the bundle"
        super().__init__(
            f"{place}: {reason}; nothing from there on was stored. Fetch or export the bundle again and import that: "
            "it goes on from what is stored",
            line=line,
            log=log,
            where=where,
            reason=reason,
        )

    def at(self, line: int | None) -> BundleError:
        """The same error with its line."""
        return BundleError(self.reason, line, self.log, self.where)


class BundleVersionError(MsgLogError, ValueError):
    """A bundle was written by a newer release: `found` and `known` are versions of the format."""

    found: int
    known: int

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"the bundle has format version {found}, this release reads up to {known}; upgrade msglog",
            found=found,
            known=known,
        )

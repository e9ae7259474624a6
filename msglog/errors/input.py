"""What comes in and cannot be kept: values, messages, names, and what is too large."""

from __future__ import annotations

from msglog.errors.root import MsgLogError


class CodecError(MsgLogError, TypeError, ValueError):
    """A value cannot be kept exactly as JSON: `path` leads to it, `reason` says why."""

    path: str
    reason: str

    def __init__(self, path: str, reason: str) -> None:
        where = path or "the value"
        super().__init__(f"{where} cannot be stored exactly: {reason}", path=path, reason=reason)

    def under(self, prefix: str) -> CodecError:
        """The same error with `prefix` before its path."""
        return CodecError(join_path(prefix, self.path), self.reason)


class InvalidMessageError(MsgLogError, ValueError):
    """A message, an entry or a patch does not have the shape that it must have."""

    path: str
    reason: str

    def __init__(self, path: str, reason: str) -> None:
        where = f"{path}: " if path else ""
        super().__init__(f"not a valid message: {where}{reason}", path=path, reason=reason)

    def under(self, prefix: str) -> InvalidMessageError:
        """The same error with `prefix` before its path."""
        return InvalidMessageError(join_path(prefix, self.path), self.reason)


def join_path(prefix: str, path: str) -> str:
    """Join two paths such as `content` and `[0].text`."""
    if not prefix or not path:
        return prefix or path
    return f"{prefix}{path}" if path.startswith("[") else f"{prefix}.{path}"


class InvalidNameError(MsgLogError, ValueError):
    """A name of a log, a branch or an id that cannot be one: `what` and `reason`."""

    what: str
    reason: str

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what} {reason}", what=what, reason=reason)


class TooLargeError(MsgLogError, ValueError):
    """A message is larger than the store takes: `size` and `limit` are bytes."""

    size: int
    limit: int

    def __init__(
        self,
        size: int,
        limit: int,
        what: str = "a message",
        advice: str = "Store large payloads elsewhere and keep a reference, or raise max_message_bytes",
    ) -> None:
        super().__init__(
            f"{what} of {size:,} bytes is over the limit of {limit:,}; nothing was stored. {advice}",
            size=size,
            limit=limit,
        )


class BatchTooLargeError(TooLargeError):
    """The messages of one commit together are larger than one transaction takes."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(size, limit, "a batch", "Split it into smaller batches")

"""Parts of msglog that are not installed."""

from __future__ import annotations

from msglog.errors.root import MsgLogError


class MissingExtraError(MsgLogError, ImportError):
    """Something needs a package that is not installed: `extra` is the part of msglog that brings it."""

    extra: str

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs a further package: pip install 'msglog[{extra}]'", extra=extra)

"""Tokens: who may do what with which logs. They are kept hashed, in a private file beside the store."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

from msglog.errors import InvalidNameError, StoreError

Right: TypeAlias = Literal["read", "append", "edit", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)

_SCHEME = "msglog"


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token: all but its secret.

    `rights` are `read`, `append`, `edit` (commit, fork, rewind, redact) and `admin`, which is all of them and what
    concerns the whole store; they hold for logs whose name begins with `prefix`.
    """

    id: str
    name: str
    rights: tuple[Right, ...]
    prefix: str
    created_at: str
    hash: str


def tokens_path(store: str) -> str:
    """The file of a store's tokens."""
    return f"{store}-tokens"


class TokenFile:
    """The tokens of a store. What another process changes is seen at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def all(self) -> list[Token]:
        """The tokens, oldest first. `StoreError` where the file cannot be read."""
        return list(self._current().values())

    def create(self, name: str, rights: Iterable[Right], prefix: str = "") -> tuple[Token, str]:
        """A new token, and the text to hand to its bearer, which is not kept and cannot be had again."""
        kept = tuple(right for right in RIGHTS if right in set(rights))
        if not kept:
            raise InvalidNameError("the rights of a token", f"must be some of {', '.join(RIGHTS)}")
        secret = secrets.token_urlsafe(32)
        token = Token(
            secrets.token_hex(4), name, kept, prefix, datetime.now(UTC).isoformat(timespec="seconds"), _hash(secret)
        )
        with self._changing() as tokens:
            tokens[token.id] = token
        return token, f"{_SCHEME}_{token.id}_{secret}"

    def revoke(self, token_id: str) -> bool:
        """Take a token away; whether there was one."""
        with self._changing() as tokens:
            return tokens.pop(token_id, None) is not None

    def find(self, text: str) -> Token | None:
        """The token of a text that a caller sent. Takes the same time for every text that is none."""
        scheme, _, rest = text.partition("_")
        token_id, _, secret = rest.partition("_")
        token = self._current().get(token_id)
        expected = token.hash if token is not None else _hash("")
        same = hmac.compare_digest(_hash(secret), expected)
        return token if same and scheme == _SCHEME and secret else None

    def _current(self) -> dict[str, Token]:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            self._seen, self._tokens = None, {}
            return self._tokens
        seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        if seen != self._seen:
            self._tokens, self._seen = self._read(), seen
        return self._tokens

    def _read(self) -> dict[str, Token]:
        try:
            with open(self.path, encoding="utf-8") as file:
                listed = json.load(file)["tokens"]
            tokens = [Token(**{**item, "rights": tuple(item["rights"])}) for item in listed]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise StoreError(self.path, "is no file of tokens, or cannot be read") from error
        return {token.id: token for token in tokens}

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        """The tokens to change: one process at a time, and the file is the old one or the new one at any moment."""
        folder = os.path.dirname(os.path.abspath(self.path))
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = self._read()
            yield tokens
            text = json.dumps({"tokens": [asdict(token) for token in tokens.values()]}, indent=1)
            descriptor, made = tempfile.mkstemp(dir=folder, prefix=".msglog-tokens-")  # private from the start
            try:
                with open(descriptor, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(descriptor)
                os.replace(made, self.path)
            except BaseException:
                os.unlink(made)
                raise
            os.fsync(lock)
        finally:
            os.close(lock)


def _hash(secret: str) -> str:
    """The hash of a secret. It is random and long, so that no slow hash is needed against guessing."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

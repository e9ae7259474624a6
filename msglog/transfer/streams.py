"""Where exports go and imports come from: files by their names, compressed or not, and streams."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import zlib
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO, TypeAlias, cast

from msglog.errors import BundleError, CannotOpenError, MissingExtraError
from msglog.storage.maintenance import appearing

Place: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""A path, `"-"` for the standard streams, or an open binary stream."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZSTD_WINDOW = 2**27
"""Bytes of window that a zstd frame may ask for: what its own tool takes without being told to."""


def _zstandard() -> Any:
    try:
        import zstandard  # noqa: PLC0415 an extra
    except ImportError:
        raise MissingExtraError("a .zst file", "zstd") from None
    return zstandard


def _name(place: Place) -> str | None:
    if hasattr(place, "read") or hasattr(place, "write"):
        return None
    name = os.fspath(place)
    if not isinstance(name, str):
        raise TypeError(f"a path must be a str or a path, not {type(name).__name__}")
    if not name or "\0" in name:
        raise CannotOpenError(name, "the path is empty" if not name else "the path holds NUL")
    return os.path.expanduser(name)


class Sink:
    """Where an export goes. A file appears under its name only once it is whole."""

    def __init__(self, place: Place) -> None:
        self._lock = threading.Lock()  # a cancelled task leaves its thread writing
        self._stack = ExitStack()
        self._file = self._opened(place)

    def _opened(self, place: Place) -> Any:
        name = _name(place)
        if name is None:
            return cast("BinaryIO", place)
        if name == "-":
            return sys.stdout.buffer
        if name.endswith(".zst"):
            _zstandard()
        partial = self._stack.enter_context(appearing(name))
        plain = self._stack.enter_context(io.FileIO(partial, "wb"))
        if name.endswith(".gz"):
            return self._stack.enter_context(gzip.GzipFile("", "wb", 6, plain, mtime=0))
        if name.endswith(".zst"):
            compressor = _zstandard().ZstdCompressor(level=9, write_checksum=True)
            return self._stack.enter_context(compressor.stream_writer(plain, closefd=False))
        return plain

    def write(self, data: bytes) -> None:
        """Write all of it."""
        with self._lock:
            view = memoryview(data)
            while view:
                written = self._file.write(view)
                view = view[len(view) if written is None else written :]

    def flush(self) -> None:
        """Let nothing wait on this side, as streams do: several exports may go into one sink."""
        with self._lock:
            self._file.flush()

    def finish(self) -> None:
        """It is whole."""
        with self._lock:
            self._file.flush()
            self._stack.close()

    def abandon(self, error: BaseException) -> None:
        """It is not: nothing of a file is left."""
        with self._lock, suppress(OSError):  # a disk that is full may have no room for a last word, either
            self._stack.__exit__(type(error), error, error.__traceback__)


class Source:
    """Where an import comes from, line by line. Compression is told by the first bytes."""

    def __init__(self, place: Place, longest: int) -> None:
        self.line = 0
        self._longest = longest
        self._lock = threading.Lock()
        self._stack = ExitStack()
        try:
            self._file = self._opened(place)
        except BaseException:
            self._stack.close()
            raise

    def _opened(self, place: Place) -> Any:
        name = _name(place)
        if name is None:
            plain = cast("BinaryIO", place)
        elif name == "-":
            plain = sys.stdin.buffer
        else:
            try:
                plain = self._stack.enter_context(io.BufferedReader(io.FileIO(name)))
            except OSError as error:
                raise CannotOpenError(name, error.strerror or str(error)) from error
        try:
            if not hasattr(plain, "peek"):
                buffered = io.BufferedReader(cast("io.RawIOBase", plain))
                self._stack.callback(buffered.detach)  # it is its owner's to close
                plain = buffered
            start = plain.peek(4)[:4]
        except (AttributeError, TypeError) as error:
            raise TypeError(f"a binary stream is expected, not {type(place).__name__}") from error
        if start.startswith(_GZIP):
            return self._stack.enter_context(gzip.GzipFile(fileobj=plain, mode="rb"))
        if start.startswith(_ZSTD):
            decompressor = _zstandard().ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
            return io.BufferedReader(
                self._stack.enter_context(decompressor.stream_reader(plain, read_across_frames=True, closefd=False))
            )
        return plain

    def read(self) -> bytes | None:
        """The next line, with its line feed; None at the end.

        Raises `BundleError` for a line that is too long or that ends early, and where nothing can be read on.
        """
        with self._lock:
            self.line += 1
            try:
                line = self._file.readline(self._longest + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise BundleError(
                    "it cannot be decompressed on from here: the file is cut, or damaged", self.line
                ) from error
            except OSError as error:
                raise BundleError(f"it cannot be read ({error.strerror or error})", self.line) from error
            except Exception as error:
                if type(error).__name__ != "ZstdError":
                    raise
                raise BundleError(
                    "it cannot be decompressed on from here: the file is cut, or damaged", self.line
                ) from error
        if len(line) > self._longest:
            raise BundleError(f"it is longer than {self._longest:,} bytes", self.line)
        if line and not line.endswith(b"\n"):
            raise BundleError("it ends early: the file is cut", self.line)
        return line or None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._stack.close()

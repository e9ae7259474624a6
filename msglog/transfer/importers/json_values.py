"""JSON files of any size: one value after another, each where it stands. Only the value at hand is in memory."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, NoReturn

from msglog.codec import JsonValue
from msglog.errors import SourceError
from msglog.transfer.report import Losses

CHUNK = 2**18
"""Bytes that are read at once from a file that is one array."""

_LOOKED_AT = 2**18  # bytes from which it is told how a file is laid out
_BLANK = " \t\r\n"
_LONGEST_WORD = 32  # a number or literal may be cut off by the end of what was read, so near to it nothing is judged


class Found(NamedTuple):
    """A value, where it stands (`line 3`, `item 3`), and the bytes of the file that are read by now.

    `start` is where a line begins in the file, for `line_at`.
    """

    where: str
    value: JsonValue
    read: int
    start: int = 0


def values(path: str, losses: Losses) -> Iterator[Found]:
    """The values of a file: the lines of JSON Lines, the items of one array, or one document.

    What is no JSON is noted as a loss. Raises `SourceError` where nothing in the file is.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(_LOOKED_AT)
            file.seek(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)
            start = start.removeprefix(codecs.BOM_UTF8)
            if not start.strip():
                raise SourceError(path, "it holds nothing")
            if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start.partition(b"\n")[0]:
                raise SourceError(path, "it is not UTF-8 text")  # a later line may be torn: that is a loss
            if _is_array(start):
                yield from _items(path, file, losses)
            else:
                yield from _lines_or_document(path, file, losses)
    except OSError as error:
        raise SourceError(path, error.strerror or str(error)) from error


def _is_array(start: bytes) -> bool:
    """Whether a file is one array, not lines each of which is one."""
    text = start.lstrip()
    first, _, rest = text.partition(b"\n")
    return text.startswith(b"[") and not (first.rstrip().endswith(b"]") and rest.lstrip().startswith((b"[", b"{")))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant)


_NOTHING = object()


def _parsed(text: bytes) -> Any:
    try:
        return _decoder.decode(text.decode())
    except (ValueError, RecursionError):
        return _NOTHING


def _lines_or_document(path: str, file: BinaryIO, losses: Losses) -> Iterator[Found]:
    """The lines of the file, or the one document that it is where its first line is no value."""
    begin = file.tell()
    if _parsed(file.readline()) is _NOTHING:
        file.seek(begin)
        document = _parsed(file.read())
        if document is not _NOTHING:
            yield Found("the document", document, file.tell())
            return
    file.seek(begin)
    yield from _lines(path, file, losses)


def line_at(file: BinaryIO, start: int) -> JsonValue:
    """The value of a line that was found before."""
    file.seek(start)
    value: JsonValue = _parsed(file.readline())
    return value


def _lines(path: str, file: BinaryIO, losses: Losses) -> Iterator[Found]:
    found = False
    read = file.tell()
    for n, line in enumerate(file, 1):
        start = read
        read += len(line)
        if not line.strip():
            continue
        value = _parsed(line)
        if value is _NOTHING:
            losses.add(f"line {n}", "is no JSON" if line.endswith(b"\n") else "is no JSON: the file breaks off in it")
            continue
        found = True
        yield Found(f"line {n}", value, read, start)
    if not found:
        raise SourceError(path, "it is neither JSON, nor lines of JSON, nor an SQLite file")


def _items(path: str, file: BinaryIO, losses: Losses) -> Iterator[Found]:
    """The items of the one array that the file is."""
    reading = _Reading(file)
    n = 0
    try:
        reading.skip("[")
        while reading.skip(",") != "]":
            n += 1
            yield Found(f"item {n}", reading.value(), reading.read)
        if reading.skip("]"):
            losses.add("the end of the file", "what stands after the array was left out")
    except _BrokenError as error:
        if n <= 1:
            raise SourceError(path, f"the array that it begins with cannot be read: {error}") from None
        losses.add(f"item {n}", f"{error}; it and all after it were left out")


class _BrokenError(Exception):
    pass


class _Reading:
    """A text that is read on as more of it is needed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._ended = False
        self.read = file.tell()

    def skip(self, mark: str = "") -> str:
        """Go past blanks and one `mark`; the character that follows, or `""` at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at == len(self._text):
                if not self._more():
                    return ""
            elif mark and self._text[self._at] == mark:
                self._at += 1
                mark = ""
            else:
                return self._text[self._at]

    def value(self) -> JsonValue:
        """The value that begins here."""
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                near_the_end = len(self._text) - error.pos < _LONGEST_WORD
                if not (near_the_end or error.msg.startswith("Unterminated string")):
                    raise _BrokenError("is no JSON") from None
                if not self._more():
                    raise _BrokenError("the file breaks off in it") from None
            except RecursionError:
                raise _BrokenError("is nested too deeply") from None
            except ValueError:
                raise _BrokenError("holds a number that is none of JSON's") from None
            else:
                length = end - self._at
                if end < len(self._text) or not self._more():  # a number may go on
                    self._at += length
                    return value  # type: ignore[no-any-return]

    def _more(self) -> bool:
        """Read on, twice as far each time that one value asks for it; whether there was more."""
        if self._ended:
            return False
        raw = self._file.read(max(CHUNK, 2 * (len(self._text) - self._at)))
        self._ended = not raw
        self.read += len(raw)
        try:
            text = self._decode.decode(raw, final=self._ended)
        except UnicodeDecodeError:
            raise _BrokenError("is not UTF-8 text") from None
        self._text = self._text[self._at :] + text
        self._at = 0
        return bool(text) or not self._ended

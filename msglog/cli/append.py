"""`append`: messages from the command line, or JSON lines from another program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from msglog.cli.app import command, fail
from msglog.cli.messages import OUTSIDE
from msglog.cli.opening import chosen, writing
from msglog.cli.options import AsJson, BranchName, LogName, StoreFile
from msglog.cli.output import progress, say, show_json, tell
from msglog.errors import InvalidMessageError, MsgLogError

if TYPE_CHECKING:
    from msglog.message import Entry
    from msglog.sync import MessageLog

MOST_LINES = 256
"""Lines that are stored together, at most: what waits when the batch before them is stored."""
MOST_BYTES = 4 * 2**20


@command(
    "append",
    "msglog append customer-123 user 'Is the 7:58 on time?'",
    "msglog append customer-123 < messages.jsonl",
    "msglog show customer-123 --json | msglog append a-copy",
)
def append(
    log: LogName,
    role: Annotated[
        str | None, typer.Argument(metavar="ROLE", help="system, developer, user, assistant or tool.")
    ] = None,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The content; - reads it from stdin.")] = None,
    *,
    branch: BranchName = "main",
    entry_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The entry's id: with it, a retry appends nothing twice.")
    ] = None,
    tool_call_id: Annotated[
        str | None, typer.Option("--tool-call-id", metavar="ID", help="The call that a tool message answers.")
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Make the store where there is none.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Append a message; without ROLE, JSON lines from standard input. When the command has ended, they are stored.

    A line is a message ({"role": …, "content": …}), an entry ({"id": …, "message": …}), or a line that `show --json`
    printed. Lines are stored as they come, those that wait together in one commit. Lines with ids may be sent again.
    """
    if role is None and (entry_id is not None or tool_call_id is not None):
        raise typer.BadParameter("--id and --tool-call-id belong to a ROLE and a TEXT; JSON lines hold their own")
    if role is None and sys.stdin.isatty():
        raise typer.BadParameter("give a ROLE and a TEXT, or JSON lines on standard input")
    if role is not None and text is None:
        raise typer.BadParameter("a TEXT is needed beside the ROLE; - reads it from standard input")
    with writing(chosen(store), create=create) as opened:
        on = opened.log(log, branch)
        if role is None:
            _append_lines(on, as_json=as_json)
            return
        content = sys.stdin.read() if text == "-" else text
        message = {"role": role, "content": content}
        if tool_call_id is not None:
            message["tool_call_id"] = tool_call_id
        seq = on.append(message, id=entry_id)
    if as_json:
        show_json({"log": log, "branch": branch, "messages": 1, "seq": seq})
    else:
        tell(f"stored as {seq}")


def _append_lines(log: MessageLog, *, as_json: bool) -> None:
    done = seq = 0
    with progress("appending") as advance:
        try:
            for batch in _batches(_standard_input()):
                entries, fault = _entries(batch)
                if entries:
                    seq = log.append_many(entries)
                    done += len(entries)
                    advance(done)
                    if as_json:
                        show_json({"log": log.name, "branch": log.branch, "messages": len(entries), "seq": seq})
                if fault is not None:
                    fail(f"line {batch[len(entries)].number:,}: {fault}")
        except BaseException:
            say(stored(done, seq))
            raise
    if not as_json:
        tell(stored(done, seq))


def stored(count: int, seq: int) -> str:
    """What came of it, in words."""
    return f"{count:,} stored, the last one as {seq}" if count else "nothing was stored"


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: bytes


def _standard_input() -> BinaryIO:
    """Standard input apart from `sys.stdin`: an interpreter that ends while a thread reads from that one aborts."""
    return open(sys.stdin.fileno(), "rb", closefd=False)


def _batches(stream: BinaryIO) -> Iterator[list[_Line]]:
    """The lines of a stream as they come: those that wait already in one list."""
    waiting: Queue[_Line | None] = Queue(4 * MOST_LINES)

    def read() -> None:
        for number, text in enumerate(stream, 1):
            if not text.isspace():
                waiting.put(_Line(number, text))
        waiting.put(None)

    Thread(target=read, daemon=True).start()
    line = waiting.get()
    while line is not None:
        batch, size = [line], len(line.text)
        while len(batch) < MOST_LINES and size < MOST_BYTES and not waiting.empty():
            line = waiting.get()
            if line is None:
                break
            batch.append(line)
            size += len(line.text)
        yield batch
        if line is not None:
            line = waiting.get()


def _entries(batch: list[_Line]) -> tuple[list[Entry], MsgLogError | None]:
    """The entries of the lines up to the first one that is none, and what is wrong with that one."""
    from msglog.message import as_entry

    entries: list[Entry] = []
    for line in batch:
        try:
            data = json.loads(line.text)
            if isinstance(data, dict) and "message" in data and "role" not in data:
                data = {key: value for key, value in data.items() if key not in OUTSIDE}
            entries.append(as_entry(data))
        except MsgLogError as error:
            return entries, error
        except (ValueError, RecursionError):
            return entries, InvalidMessageError("", "not JSON in UTF-8")
    return entries, None

"""The demo: a small agent with a scripted model holds a conversation in a file and is killed in mid-turn.

The parent starts an agent process, kills it with SIGKILL at a point of the conversation that the agent
cannot choose, and starts it again: the second one goes on from what the file holds. Then the history is
summarised, a what-if branch is forked, and what happened is shown by SQL alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msglog
from msglog.adapters import from_openai

SCRIPT: list[dict[str, Any]] = [
    {"role": "system", "content": "You plan trips. Use the tools."},
    {"role": "user", "content": "I want to go from Vienna to Trieste on Friday."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "name": "find_trains", "args": {"from": "Vienna", "to": "Trieste", "day": "Friday"}},
            {"id": "c2", "name": "weather", "args": {"place": "Trieste", "day": "Friday"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": [{"departs": "07:58", "arrives": "17:18", "price": 39.9}]},
    {"role": "tool", "tool_call_id": "c2", "content": {"sky": "clear", "bora": False, "high": 21}},
    {"role": "assistant", "content": "There is a train at 07:58 for 39.90, and it will be clear. Shall I book it?"},
    {"role": "user", "content": "Yes, with a window seat."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c3", "name": "book", "args": {"train": "07:58", "seat": "window"}}],
    },
    {"role": "tool", "tool_call_id": "c3", "content": {"booked": True, "seat": "24/61"}},
    {"role": "assistant", "content": "Booked: car 24, seat 61, by the window. Have a good trip."},
]
"""What the scripted model, its tools and its user say, one message a step."""


QUERIES = (
    "SELECT number, operation, size, branch, heads FROM lineage WHERE log = ? ORDER BY number DESC LIMIT 6",
    """SELECT position, seq, role, kind, substr(replace(text, char(10), ' '), 1, 52) AS text FROM active_entries
        WHERE log = ? AND branch = 'main' ORDER BY position""",
    "SELECT branch, count(*) AS entries, max(seq) AS last_seq FROM active_entries WHERE log = ? GROUP BY branch",
)
"""What happened, asked of the file by SQL alone."""


def say(text: str = "") -> None:
    """A line of the story."""
    print(text, flush=True)


# The agent: it runs in a process of its own, and may be killed at any moment.


async def agent(path: str, name: str, script: list[msglog.Message]) -> None:
    """Hold the conversation to its end, from wherever the file says that it is."""
    async with msglog.open(path) as store:
        log = store.log(name)
        for step in range(await log.count(), len(script)):
            # The id says which step this is: a step that was stored is never stored twice.
            seq = await log.append(script[step], id=f"step-{step}")
            print(seq, flush=True)  # the acknowledgement, which the parent counts


def start_agent(path: str, name: str, source: str | None) -> subprocess.Popen[str]:
    """An agent process."""
    command = [sys.executable, __file__, "--agent", path, "--name", name]
    if source is not None:
        command.append(source)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def hold_and_kill(path: str, name: str, source: str | None, *, after: int) -> int:
    """Let an agent run until it has acknowledged `after` messages, and kill it; the last seq it acknowledged."""
    acknowledged = 0
    with start_agent(path, name, source) as process:
        for line in process.stdout or ():
            acknowledged = int(line)
            if acknowledged >= after:
                os.kill(process.pid, signal.SIGKILL)
                break
        for line in process.stdout or ():  # what it still acknowledged before the signal came
            acknowledged = int(line)
    return acknowledged


def finish(path: str, name: str, source: str | None) -> None:
    """Run an agent to the end of its conversation."""
    with start_agent(path, name, source) as process:
        process.communicate()
    if process.returncode != 0:
        sys.exit(f"the agent failed with exit code {process.returncode}")


# The story


def conversations(source: str | None) -> Iterator[tuple[str, list[msglog.Message]]]:
    """The conversations of a file, or the scripted one."""
    if source is None:
        yield "trip", [msglog.Message(**message) for message in SCRIPT]
        return
    with open(source, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                data = json.loads(line)
                yield str(data.get("id", f"line-{number}")), from_openai(data["messages"])
            except (ValueError, KeyError, TypeError) as error:
                sys.exit(f"{source}, line {number}: not a conversation in OpenAI's chat format ({error})")


def middle_of_a_turn(script: list[msglog.Message]) -> int:
    """How many messages are stored when a tool was called and has not answered yet, about half way."""
    calls = [i + 1 for i, message in enumerate(script) if message.tool_calls]
    return min(calls, key=lambda i: abs(i - len(script) // 2)) if calls else max(1, len(script) // 2)


async def summarise_and_fork(path: str, name: str) -> None:
    """Put a summary where the first exchange stood, and try another ending on a branch."""
    async with msglog.open(path) as store:
        log = store.log(name)
        history = await log.history()
        entries = history.refs()
        answered = [i for i, e in enumerate(entries) if e.message.role == "assistant" and not e.message.tool_calls]
        first = 1 if entries[0].message.role == "system" else 0
        until = next((i for i in answered if i > first), len(entries) - 1)
        before_summary = history.revision_id
        sources = [entry.id for entry in entries[first : until + 1]]
        summary = f"[Conversation summary]\n{len(sources)} messages: {entries[first].message.text[:60]} …"
        history = history.edit(
            {
                "op": "summary",
                "sourceIds": sources,
                "entry": {"message": {"role": "assistant", "content": summary}},
                "replace": True,
            },
            meta={"reason": "compaction"},
        )
        await log.commit(history)
        say(
            f"Summarised {len(sources)} messages into one: the view went from {len(entries)} to {history.size} entries."
        )
        say(f"Nothing is gone: restore() still gives all {len(await log.restore())} originals.")
        what_if = await log.fork("what-if", at=before_summary)
        await what_if.add("user", "What if I went on Saturday instead?")
        say("Forked the branch 'what-if' from before the summary, and asked something else there.")
        report = await store.verify()
        say(
            f"verify: {'ok' if report.ok else report.problems} ({report.entries} entries, {report.revisions} revisions)"
        )


def show(path: str, name: str) -> None:
    """Lineage and active views, with nothing but SQLite."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for query in QUERIES:
        say()
        say(f"sqlite> {query.replace('?', repr(name))};")
        cursor = connection.execute(query, (name,))
        print_table([column[0] for column in cursor.description], cursor.fetchall())
    connection.close()


def print_table(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    """Rows in columns; control characters of messages never reach the terminal."""
    cells = [names, *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
    for row in cells:
        say("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def main() -> None:
    """Tell the story once for each conversation; for many, show the last one."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("source", nargs="?", metavar="FILE.jsonl", help="conversations in OpenAI's chat format")
    parser.add_argument("--agent", metavar="PATH", help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.source is not None and not Path(arguments.source).is_file():
        parser.error(f"no such file: {arguments.source}")
    told = list(conversations(arguments.source))
    if arguments.agent is not None:
        asyncio.run(agent(arguments.agent, arguments.name, dict(told)[arguments.name]))
        return
    if not told:
        parser.error(f"no conversation in {arguments.source}")
    with tempfile.TemporaryDirectory(prefix="msglog-demo-") as folder:
        path = str(Path(folder) / "agent.db")
        for number, (name, script) in enumerate(told, 1):
            if len(told) > 1:
                say(f"[{number}/{len(told)}] {name}: {len(script)} messages")
            cut = middle_of_a_turn(script)
            acknowledged = hold_and_kill(path, name, arguments.source, after=cut)
            stored = asyncio.run(count(path, name))
            say(f"The agent was killed (SIGKILL) in the middle of a turn. It had acknowledged {acknowledged} messages;")
            say(f"the file holds {stored}. Nothing acknowledged is lost. A new process goes on from there.")
            if stored < acknowledged:
                sys.exit("a message was lost")
            finish(path, name, arguments.source)
            held = asyncio.run(messages(path, name))
            if held != script:
                sys.exit("the conversation in the file is not the one that was held")
            say(f"The conversation is complete: {len(held)} messages, each once, each equal to what was said.")
            asyncio.run(summarise_and_fork(path, name))
        show(path, name)


async def count(path: str, name: str) -> int:
    """How many messages are stored."""
    async with msglog.open(path) as store:
        return await store.log(name).count()


async def messages(path: str, name: str) -> list[msglog.Message]:
    """The messages that are stored."""
    async with msglog.open(path) as store:
        return [stored.message async for stored in store.log(name).iterate()]


if __name__ == "__main__":
    main()

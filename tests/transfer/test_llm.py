"""The log of `llm`, written by its own log store, and the rows that its older releases wrote."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from msglog import Store
from msglog.transfer.importers import import_file
from msglog.transfer.report import ImportedLog
from tests.transfer.sources import changed, contents, untouched

llm = pytest.importorskip("llm", reason="llm is not installed (group importers)")
sqlite_utils = pytest.importorskip("sqlite_utils", reason="llm is not installed (group importers)")

LogStore: Any = pytest.importorskip("llm.logs").LogStore
migrate: Any = pytest.importorskip("llm.migrations").migrate


class Echo(llm.Model):  # type: ignore[misc, name-defined]
    """A model that calls a tool where it has one, and else says what it was told."""

    model_id = "echo"
    supports_tools = True
    attachment_types = {"image/png"}  # noqa: RUF012 as llm has it

    def execute(self, prompt: Any, stream: Any, response: Any, conversation: Any) -> Iterator[str]:
        if prompt.tools and not prompt.tool_results:
            response.add_tool_call(llm.ToolCall(name="status", arguments={"n": 758}, tool_call_id="c1"))
            yield ""
        else:
            response.set_usage(input=7, output=3)
            yield f"You said: {prompt.prompt}"


def status(n: int) -> str:
    return f"{n} is late"


class Log:
    """A file of llm's, and a conversation in it."""

    def __init__(self, path: Path) -> None:
        self.database = sqlite_utils.Database(path)
        self.conversation = llm.Conversation(Echo())

    @property
    def key(self) -> str:
        return str(self.conversation.id)

    def ask(self, prompt: str, **options: Any) -> None:
        response = self.conversation.prompt(prompt, **options)
        response.text()
        response.log_to_db(self.database)

    def chain(self, prompt: str) -> None:
        chain = self.conversation.chain(prompt, tools=[status])
        chain.text()
        for response in self.conversation.responses[-2:]:
            response.log_to_db(self.database)

    def close(self) -> None:
        self.database.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "logs.db"


async def test_a_thread_becomes_a_log_of_typed_messages(source: Path, store: Store) -> None:
    log = Log(source)
    log.ask("Hi", system="Be brief.")
    log.chain("Is it late?")
    log.close()
    with untouched(source):
        report = await import_file(store, source)
    assert report.format == "llm"
    assert report.logs == (ImportedLog(log.key, 7),)
    messages = await store.log(log.key).all()
    assert [message.role for message in messages] == [
        "system", "user", "assistant", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert messages[4].tool_calls[0].args == {"n": 758}
    assert (messages[5].tool_call_id, messages[5].content) == ("c1", "758 is late")
    assert messages[2].content == "You said: Hi"
    assert messages[2].meta is not None
    assert (messages[2].meta.model, messages[2].meta.created_at is not None) == ("echo", True)
    assert (await store.log(log.key).usage()).total.tokens.output_tokens == 6
    assert (await store.describe(log.key)).title == "Hi"


async def test_fragments_are_put_together_and_attachments_are_parts(source: Path, store: Store) -> None:
    log = Log(source)
    shown = llm.Attachment(type="image/png", content=b"\x89PNG\r\n\x1a\n123")
    elsewhere = llm.Attachment(type="image/png", url="https://example.com/x.png")
    log.ask("And this?", fragments=["First.", "Second."], attachments=[shown, elsewhere])
    log.close()
    report = await import_file(store, source)
    assert report.losses == ()
    first = (await store.log(log.key).all())[0]
    assert first.content == [
        {"type": "text", "text": "First.\nSecond.\nAnd this?"},
        {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgoxMjM="},
        {"type": "image", "mediaType": "image/png", "url": "https://example.com/x.png"},
    ]


async def test_a_thread_that_was_forked_is_a_branch(source: Path, store: Store) -> None:
    log = Log(source)
    log.ask("Hi")
    logs = LogStore(log.database)
    fork = logs.fork(logs.thread_tip(log.key), name="what if", forked_from=log.key)
    unused = logs.fork(logs.thread_tip(log.key), forked_from=fork)
    log.ask("One way")
    logs.append(fork, [llm.Message(role="user", parts=[llm.parts.TextPart(text="Another")])])
    log.close()
    report = await import_file(store, source)
    assert report.logs == (ImportedLog(log.key, 5, 0, 1),)
    assert (await contents(store, log.key))[2:] == ["One way", "You said: One way"]
    assert await contents(store, log.key, fork) == ["Hi", "You said: Hi", "Another"]
    assert [unused in loss.what for loss in report.losses] == [True]


async def test_a_second_run_adds_nothing_and_a_grown_thread_its_new_messages(source: Path, store: Store) -> None:
    log = Log(source)
    log.ask("Hi")
    assert (await import_file(store, source, dry_run=True)).entries_new == 2
    assert (await import_file(store, source)).entries_new == 2
    assert (await import_file(store, source)).entries_new == 0
    log.ask("More")
    log.close()
    assert (await import_file(store, source)).logs == (ImportedLog(log.key, 2, 2),)
    assert (await contents(store, log.key))[2] == "More"


def older(path: Path) -> None:
    """The rows that releases before the store of messages wrote, in its own tables."""
    database = sqlite_utils.Database(path)
    migrate(database)
    database.close()
    row = "INSERT INTO responses (id, model, prompt, system, response, conversation_id, datetime_utc"
    changed(
        path,
        "INSERT INTO conversations (id, name, model) VALUES ('conv', 'Trains', 'gpt')",
        f"{row}, output_tokens) VALUES ('r1', 'gpt', 'Hi', 'Be brief.', 'Hello', 'conv', '2025-01-01T00:00:00', 3)",
        f"{row}) VALUES ('r2', 'gpt', 'Late?', 'Be brief.', '', 'conv', '2025-01-01T00:01:00')",
        "INSERT INTO tool_calls (response_id, name, arguments, tool_call_id)"
        " VALUES ('r2', 'status', '{\"n\": 7}', 'c1')",
        f"{row}) VALUES ('r3', 'gpt', '', NULL, 'Late.', 'conv', '2025-01-01T00:02:00')",
        "INSERT INTO tool_results (response_id, name, output, tool_call_id) VALUES ('r3', 'status', 'late', 'c1')",
        f"{row}, response_json) VALUES ('r4', 'gpt', 'Alone', NULL, 'Yes', NULL, '2025-01-01T00:03:00', '{{}}')",
        "INSERT INTO fragments (id, hash, content) VALUES (1, 'h', 'First.')",
        "INSERT INTO prompt_fragments (response_id, fragment_id, \"order\") VALUES ('r4', 1, 0), ('r4', 9, 1)",
        "INSERT INTO attachments (id, type, path) VALUES ('a', 'application/pdf', '/tmp/x.pdf')",
        "INSERT INTO prompt_attachments (response_id, attachment_id, \"order\") VALUES ('r4', 'a', 0)",
    )


async def test_the_rows_of_older_releases_are_read(source: Path, store: Store) -> None:
    older(source)
    with untouched(source):
        report = await import_file(store, source)
    assert report.logs == (ImportedLog("conv", 7), ImportedLog("r4", 2))
    messages = await store.log("conv").all()
    assert [(message.role, message.content) for message in messages] == [
        ("system", "Be brief."),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "Late?"),
        ("assistant", None),
        ("tool", "late"),
        ("assistant", "Late."),
    ]
    assert messages[4].tool_calls[0].args == {"n": 7}
    assert (await store.describe("conv")).title == "Trains"
    assert [loss.where for loss in report.losses] == ["responses", "responses, row r4", "responses, row r4"]
    assert (await contents(store, "r4"))[0][0] == {"type": "text", "text": "First.\n\nAlone"}
    assert (await import_file(store, source)).entries_new == 0


async def test_a_conversation_that_goes_on_in_a_thread_comes_over_once(source: Path, store: Store) -> None:
    older(source)
    log = Log(source)
    log.conversation.id = "conv"
    log.ask("More")
    log.close()
    report = await import_file(store, source)
    assert [entry.name for entry in report.logs] == ["conv", "r4"]
    assert await contents(store, "conv") == ["More", "You said: More"]
    assert "conv" in [loss.where for loss in report.losses]


async def test_what_is_broken_is_listed_and_the_rest_comes_over(source: Path, store: Store) -> None:
    log = Log(source)
    log.ask("Hi", fragments=["First."])
    log.ask("More")
    log.ask("Last")
    log.close()
    with closing(sqlite3.connect(source)) as connection:
        hashes = [row[0] for row in connection.execute("SELECT hash FROM messages ORDER BY rowid")]
    changed(
        source,
        "PRAGMA foreign_keys = OFF",
        "DELETE FROM fragments",
        f"UPDATE parts SET text = NULL, payload = '[1' WHERE message_hash = '{hashes[1]}'",
        f"UPDATE messages SET role = 'king' WHERE hash = '{hashes[2]}'",
        f"UPDATE parts SET type = 7 WHERE message_hash = '{hashes[3]}'",
        f"DELETE FROM parts WHERE message_hash = '{hashes[4]}'",
    )
    report = await import_file(store, source)
    assert [loss.where.split(" ")[-1] for loss in report.losses] == hashes[:3]
    assert (await contents(store, log.key))[-2:] == ["", "You said: Last"]


async def test_links_and_forks_in_circles_are_cut(source: Path, store: Store) -> None:
    log = Log(source)
    log.ask("Hi")
    logs = LogStore(log.database)
    fork = logs.fork(logs.thread_tip(log.key), forked_from=log.key)
    log.close()
    changed(source, f"UPDATE threads SET forked_from = '{fork}' WHERE id = '{log.key}'")
    changed(source, "UPDATE messages SET parent_hash = hash")
    report = await import_file(store, source)
    assert any("circle" in loss.what for loss in report.losses)
    assert len(report.logs) == 1

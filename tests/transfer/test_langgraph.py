"""LangGraph's checkpoints, written by its own SqliteSaver under a real graph: revisions, forks, and nothing is run."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from msglog import Store
from msglog.adapters import to_langchain_messages
from msglog.errors import MissingExtraError
from msglog.transfer.importers import import_file
from tests.transfer.sources import changed, contents, untouched

pytest.importorskip("langgraph.checkpoint.sqlite", reason="LangGraph is not installed (group importers)")

import ormsgpack
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

pytestmark = pytest.mark.every_engine


class State(TypedDict, total=False):
    """What the graph keeps."""

    messages: Annotated[list[AnyMessage], add_messages]
    mood: str


def answer(state: State) -> State:
    count = len(state["messages"])
    call = {"name": "status", "args": {"n": 758}, "id": f"c{count}"}
    return {
        "messages": [
            AIMessage("", id=f"a{count}", tool_calls=[call]),
            ToolMessage("late", id=f"t{count}", tool_call_id=f"c{count}"),
            AIMessage("It is late.", id=f"b{count}"),
        ],
        "mood": "calm",
    }


class Graph:
    """A graph that answers, with its checkpoints in a file."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, check_same_thread=False)
        made = StateGraph(State)
        made.add_node("answer", answer)
        made.add_edge(START, "answer")
        made.add_edge("answer", END)
        self.graph = made.compile(checkpointer=SqliteSaver(self.connection))

    def say(self, text: str, thread: str = "1", **config: Any) -> Any:
        given: RunnableConfig = {"configurable": {"thread_id": thread, **config}}
        return self.graph.invoke({"messages": [HumanMessage(text, id=f"u-{text}")]}, given)

    def update(self, *messages: Any, thread: str = "1", **config: Any) -> Any:
        given: RunnableConfig = {"configurable": {"thread_id": thread, **config}}
        return self.graph.update_state(given, {"messages": list(messages)}, as_node="answer")

    def states(self, thread: str = "1") -> list[Any]:
        return list(self.graph.get_state_history({"configurable": {"thread_id": thread}}))

    def close(self) -> None:
        self.connection.close()


@pytest.fixture
def path_of_source(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.sqlite"


def shown(state: Any) -> list[Any]:
    return list(state.values.get("messages", []))


async def views(store: Store, name: str = "1") -> dict[str, list[Any]]:
    """What each revision that tells of a checkpoint shows."""
    log = store.log(name)
    revisions = [revision async for revision in log.revisions()]
    return {
        str(revision.meta["checkpoint"]): to_langchain_messages((await log.history(at=revision.id)).render())
        for revision in revisions
        if "checkpoint" in revision.meta
    }


async def test_each_checkpoint_that_changes_the_messages_is_a_revision(path_of_source: Path, store: Store) -> None:
    graph = Graph(path_of_source)
    graph.say("one")
    graph.say("two")
    graph.say("other", thread="2")
    states = graph.states()
    graph.close()
    with untouched(path_of_source):
        report = await import_file(store, path_of_source)
    assert report.format == "langgraph"
    assert [(log.name, log.entries_new, log.branches_new) for log in report.logs] == [("1", 8, 0), ("2", 4, 0)]
    assert to_langchain_messages(await store.log("1").all()) == shown(states[0])
    by_name = {state.config["configurable"]["checkpoint_id"]: shown(state) for state in states}
    found = await views(store)
    assert len(found) == 4
    assert found == {name: by_name[name] for name in found}
    assert (await store.verify()).ok


async def test_what_else_the_state_holds_is_listed(path_of_source: Path, store: Store) -> None:
    graph = Graph(path_of_source)
    graph.say("one")
    graph.close()
    report = await import_file(store, path_of_source)
    assert [(loss.where, loss.what) for loss in report.losses] == [("1", "the channels 'mood' were left out")]


async def test_messages_that_are_removed_replaced_and_put_in_are_edits(path_of_source: Path, store: Store) -> None:
    graph = Graph(path_of_source)
    graph.say("one")
    graph.update(HumanMessage("One!", id="u-one"))
    graph.update(RemoveMessage("a1"), RemoveMessage("t1"))
    graph.update(HumanMessage("More", id="more"), RemoveMessage("b1"))
    graph.update(RemoveMessage("more"), RemoveMessage("u-one"))
    graph.update(HumanMessage("Anew", id="anew"))
    states = graph.states()
    graph.close()
    await import_file(store, path_of_source)
    by_name = {state.config["configurable"]["checkpoint_id"]: shown(state) for state in states}
    found = await views(store)
    assert found == {name: by_name[name] for name in found}
    assert len(found) == 7
    assert await contents(store, "1") == ["Anew"]
    assert (await store.verify()).ok


async def test_a_state_that_was_forked_is_a_branch_at_its_revision(path_of_source: Path, store: Store) -> None:
    graph = Graph(path_of_source)
    graph.say("one")
    point = graph.states()[0].config["configurable"]["checkpoint_id"]
    graph.say("two")
    graph.say("instead", checkpoint_id=point)
    newest = shown(graph.states()[0])
    graph.close()
    report = await import_file(store, path_of_source)
    assert report.logs[0].branches_new == 1
    assert to_langchain_messages(await store.log("1").all()) == newest
    (other,) = [branch.name for branch in await store.log("1").branches() if branch.name != "main"]
    assert [text for text in await contents(store, "1", other) if text] == [
        "one", "late", "It is late.", "two", "late", "It is late.",
    ]  # fmt: skip
    assert (await import_file(store, path_of_source)).entries_new == 0


async def test_a_second_run_adds_nothing_and_a_grown_thread_its_new_checkpoints(
    path_of_source: Path, store: Store
) -> None:
    graph = Graph(path_of_source)
    graph.say("one")
    said = await import_file(store, path_of_source, dry_run=True)
    assert await store.logs() == []
    assert (await import_file(store, path_of_source)).logs == said.logs
    before = await store.stats()
    for dry in (True, False):
        again = await import_file(store, path_of_source, dry_run=dry)
        assert (again.entries_new, again.entries_known, again.logs[0].branches_new) == (0, 4, 0)
    assert (await store.stats()).revisions == before.revisions
    point = graph.states()[0].config["configurable"]["checkpoint_id"]
    graph.say("two")
    assert (await import_file(store, path_of_source)).entries_new == 4
    graph.say("three", checkpoint_id=point)
    report = await import_file(store, path_of_source)
    assert report.logs[0].branches_new == 1
    assert any("current path is on branch" in loss.what for loss in report.losses)
    graph.close()
    assert (await store.verify()).ok


async def test_an_interrupted_run_goes_on_where_it_was(path_of_source: Path, store: Store) -> None:
    graph = Graph(path_of_source)
    for n in range(3):
        graph.say(f"{n}", thread="a")
        graph.say(f"{n}", thread="b")
    graph.close()

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            await import_file(store, path_of_source, progress=stop)
    report = await import_file(store, path_of_source)
    assert [(log.entries_new, log.entries_known) for log in report.logs] == [(0, 12), (12, 0)]


async def test_a_live_file_is_read_with_its_write_ahead_log(path_of_source: Path, store: Store) -> None:
    graph = Graph(path_of_source)
    graph.say("one")
    assert (await import_file(store, path_of_source)).entries_new == 4
    graph.say("two")
    assert (await import_file(store, path_of_source)).entries_new == 4
    graph.close()


def stored(path: Path, value: Any, kind: str = "msgpack", name: str = "bad", parent: str | None = None) -> None:
    data = value if isinstance(value, (bytes, type(None))) else ormsgpack.packb(value)
    with closing(sqlite3.connect(path)) as connection:
        SqliteSaver(connection).setup()
        connection.execute("INSERT INTO checkpoints VALUES ('1', '', ?, ?, ?, ?, NULL)", (name, parent, kind, data))
        connection.commit()


def extension(code: int, *content: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(code, ormsgpack.packb(list(content), default=_as_it_is))


def _as_it_is(value: Any) -> Any:
    return value


async def test_nothing_that_is_stored_is_imported_or_called(path_of_source: Path, store: Store, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    values: dict[str, Any] = {
        "messages": [],
        "a": extension(0, "os", "mkdir", str(evidence)),
        "b": extension(1, "os", "mkdir", [str(evidence)]),
        "c": extension(2, "os", "mkdir", {"path": str(evidence)}),
        "d": extension(3, "pathlib", "Path", str(evidence), "touch"),
        "e": extension(5, "os", "mkdir", {"path": str(evidence)}),
    }
    packed = ormsgpack.packb({"channel_values": values}, default=_as_it_is)
    stored(path_of_source, packed)
    lc = {"lc": 2, "type": "constructor", "id": ["os", "mkdir"], "args": [str(evidence)]}
    stored(path_of_source, json.dumps({"channel_values": {"messages": [], "x": lc}}).encode(), "json", "worse")
    stored(path_of_source, b"cos\nmkdir\n.", "pickle", "worst")
    report = await import_file(store, path_of_source)
    assert not evidence.exists()
    assert report.losses[0].where == "1, checkpoint worst"


async def test_the_older_json_form_of_messages_is_read(path_of_source: Path, store: Store) -> None:
    def made(name: str, **fields: Any) -> dict[str, Any]:
        return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": fields}

    messages = [made("HumanMessage", content="Hello", id="u"), made("AIMessage", content="Hi!", id="a", type="ai")]
    stored(path_of_source, json.dumps({"channel_values": {"messages": messages}}).encode(), "json")
    assert (await import_file(store, path_of_source)).losses == ()
    assert [(m.role, m.content) for m in await store.log("1").all()] == [("user", "Hello"), ("assistant", "Hi!")]


GARBAGE: list[tuple[Any, str]] = [
    (None, "msgpack"),
    (b"", "msgpack"),
    (b"\xc1garbage", "msgpack"),
    (b"{", "json"),
    (b"[" * 100_000, "json"),
    (b"secret", "msgpack+aes"),
    ([1, 2], "msgpack"),
    ({"channel_values": 7}, "msgpack"),
    ({"no": "channels"}, "msgpack"),
    ({"channel_values": {}, "channel_versions": {"messages": 1}}, "msgpack"),
]


@pytest.mark.parametrize(("value", "kind"), GARBAGE)
async def test_a_checkpoint_that_cannot_be_read_is_a_loss_and_the_rest_stands(
    value: Any, kind: str, path_of_source: Path, store: Store
) -> None:
    stored(path_of_source, {"channel_values": {"messages": [{"role": "user", "content": "a"}]}}, name="1")
    stored(path_of_source, value, kind, "2", "1")
    messages = [{"role": "user", "content": "a"}, {"role": "king"}, 7, {"role": "user", "content": "c"}]
    stored(path_of_source, {"channel_values": {"messages": messages}}, name="3", parent="2")
    stored(path_of_source, {"channel_values": {"messages": []}}, name="4", parent="gone")
    report = await import_file(store, path_of_source)
    wheres = [loss.where for loss in report.losses]
    assert wheres.count("1, checkpoint 2") == 1
    assert {"1, 4", "1, checkpoint 3, message 2", "1, checkpoint 3, message 3"} <= set(wheres)
    shown = {name: [m.content for m in view] for name, view in (await views(store)).items()}
    assert shown == {"1": ["a"], "3": ["a", "c"]}


async def test_extensions_in_extensions_without_end_are_refused(path_of_source: Path, store: Store) -> None:
    value: Any = "x"
    for _ in range(200):
        value = extension(0, "a", "b", value)
    packed = ormsgpack.packb({"channel_values": {"messages": [], "deep": value}}, default=_as_it_is)
    stored(path_of_source, packed)
    report = await import_file(store, path_of_source)
    assert [loss.where for loss in report.losses] == ["1, checkpoint bad"]


async def test_the_same_message_twice_is_shown_twice(path_of_source: Path, store: Store) -> None:
    message = {"role": "user", "content": "a"}
    stored(path_of_source, {"channel_values": {"messages": [message, message]}})
    await import_file(store, path_of_source)
    assert await contents(store, "1") == ["a", "a"]


async def test_without_the_package_that_reads_msgpack_the_error_says_what_to_install(
    path_of_source: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(path_of_source, {"channel_values": {}})
    monkeypatch.setitem(__import__("sys").modules, "ormsgpack", None)
    with pytest.raises(MissingExtraError, match=r"msglog\[langgraph\]"):
        await import_file(store, path_of_source)


async def test_links_in_circles_are_cut(path_of_source: Path, store: Store) -> None:
    graph = Graph(path_of_source)
    graph.say("one")
    graph.close()
    changed(path_of_source, "UPDATE checkpoints SET parent_checkpoint_id = checkpoint_id")
    report = await import_file(store, path_of_source)
    assert all("circle" in loss.what or "mood" in loss.what for loss in report.losses)
    assert (await contents(store, "1"))[-1] == "It is late."
    assert (await import_file(store, path_of_source)).entries_new == 0

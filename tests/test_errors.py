"""Every error: under one root and the built-in that it promises, whole after pickling, and free of message text."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from msglog import errors
from msglog.errors import MsgLogError
from msglog.history import MessageHistory
from msglog.message import Message, MessageMeta, ToolCall, as_entry
from tests.strategies import calls, result, user

EXAMPLES: list[tuple[MsgLogError, type[Exception]]] = [
    (MsgLogError("said", fact=1), Exception),
    (errors.CodecError("content[0].data", "bytes is not a JSON type"), TypeError),
    (errors.CodecError("", "NaN"), ValueError),
    (errors.InvalidMessageError("role", "unknown"), ValueError),
    (errors.TooLargeError(1_000_001, 1_000_000), ValueError),
    (errors.BatchTooLargeError(70_000_000, 64_000_000), errors.TooLargeError),
    (errors.PatchError("remove", 2, ["a", "b"], "no such active entry"), ValueError),
    (errors.UnknownRevisionError("r1", "this log"), LookupError),
    (errors.UnknownEntryError(7), LookupError),
    (errors.NotLoadedError("revision 'r1'"), LookupError),
    (errors.InvalidHistoryError("no head"), ValueError),
    (errors.DuplicateEntryError("e1", "it is stored with other content"), ValueError),
    (errors.ConflictError("r1", "r2", ["e1"]), Exception),
    (errors.BudgetTooSmall(120, 1000), ValueError),
    (errors.SourceError("talks.json", "it holds nothing"), ValueError),
    (errors.InvalidNameError("a branch", "must not be empty"), ValueError),
    (errors.PositionError("l", 12, 10), ValueError),
    (errors.UnknownLogError("l"), LookupError),
    (errors.UnknownBranchError("l", "b"), LookupError),
    (errors.BranchExistsError("l", "b"), ValueError),
    (errors.BundleError("it is no JSON object", 7, "l", "seq 3"), ValueError),
    (errors.BundleVersionError(2, 1), ValueError),
    (errors.LogExistsError("l"), ValueError),
    (errors.DivergedError("l", "revision 3"), ValueError),
    (errors.MissingExtraError("a .zst file", "zstd"), ImportError),
    (errors.StoreError("a.db", "said"), Exception),
    (errors.StoreClosedError("a.db"), errors.StoreError),
    (errors.ForkedError("a.db"), errors.StoreError),
    (errors.ReentrantCallError("a.db"), RuntimeError),
    (errors.ReadOnlyError("a.db"), PermissionError),
    (errors.StoreNotFoundError("a.db"), FileNotFoundError),
    (errors.CannotOpenError("a.db", "it is a directory"), OSError),
    (errors.NotAStoreError("a.db", "it is a text file"), ValueError),
    (errors.NewerStoreError("a.db", "0009", "0001"), errors.StoreError),
    (errors.OlderStoreError("a.db", "0001", "0009"), errors.StoreError),
    (errors.StoreBusyError("a.db", 2.5), TimeoutError),
    (errors.StoreFullError("a.db"), OSError),
    (errors.StoreIOError("a.db", "SQLITE_IOERR_WRITE"), OSError),
    (errors.CorruptStoreError("a.db", "log 'l', seq 2", "the row holds no message"), ValueError),
    (errors.StoreReplacedError("a.db"), errors.StoreError),
    (errors.CommitUncertainError("a.db", ["e1", "e2"]), errors.StoreError),
    (errors.TwoLibrariesError("a.db"), errors.StoreError),
    (errors.SqlError("a.db", "more than one statement"), ValueError),
    (errors.RequestError("body", "it is not JSON"), ValueError),
    (errors.AccessDeniedError("the token lacks the right 'edit'", "edit"), PermissionError),
    (errors.LimitError("open streams", 100, 2.5, "close some"), Exception),
    (errors.StoppingError(), ConnectionError),
    (errors.DeadlineError(30), TimeoutError),
    (errors.OnlyLocalError("http://h", "backup"), NotImplementedError),
    (errors.UnreachableError("http://h", "connection refused", uncertain=True), ConnectionError),
]
each_error = pytest.mark.parametrize("error", [e for e, _ in EXAMPLES], ids=lambda error: type(error).__name__)


def _classes(root: type[MsgLogError] = MsgLogError) -> Iterator[type[MsgLogError]]:
    yield root
    for child in root.__subclasses__():
        yield from _classes(child)


def test_every_error_has_an_example_here() -> None:
    assert {type(error) for error, _ in EXAMPLES} == set(_classes())


def test_every_error_is_called_by_the_place_that_it_is_imported_from() -> None:
    assert {cls.__module__ for cls in _classes()} == {"msglog.errors"}


@pytest.mark.parametrize(("error", "promised"), EXAMPLES, ids=[type(error).__name__ for error, _ in EXAMPLES])
def test_an_error_derives_from_the_root_and_from_the_built_in_that_fits(
    error: MsgLogError, promised: type[Exception]
) -> None:
    assert isinstance(error, MsgLogError)
    assert isinstance(error, promised)


@each_error
def test_an_error_is_pickled_whole(error: MsgLogError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


@each_error
def test_a_copy_of_an_error_is_whole(error: MsgLogError) -> None:
    again = copy.copy(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


@each_error
def test_an_error_has_every_fact_that_its_class_declares(error: MsgLogError) -> None:
    declared = [name for cls in type(error).__mro__ for name in inspect.get_annotations(cls)]
    assert [name for name in declared if name not in vars(error)] == []


@each_error
def test_the_docstring_of_an_error_begins_with_when_it_is_raised(error: MsgLogError) -> None:
    assert (type(error).__doc__ or "").strip()


def test_notes_added_to_an_error_are_pickled_too() -> None:
    error = errors.UnknownLogError("l")
    error.add_note("while copying")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["while copying"]


def test_the_facts_can_be_read() -> None:
    conflict = errors.ConflictError("r1", "r2", ["e1"])
    assert (conflict.expected, conflict.actual, conflict.ids) == ("r1", "r2", ("e1",))
    patch = errors.PatchError("move", 3, ["a"], "gone")
    assert (patch.op, patch.index, patch.ids) == ("move", 3, ("a",))
    busy = errors.StoreBusyError("a.db", 2.5)
    assert (busy.path, busy.waited) == ("a.db", 2.5)


def test_many_ids_are_counted_not_listed() -> None:
    error = errors.PatchError("move", 0, [f"id{n}" for n in range(1000)], "gone")
    assert len(str(error)) < 200
    assert "995 more" in str(error)
    assert len(error.ids) == 1000


@pytest.mark.parametrize("kind", [errors.CodecError, errors.InvalidMessageError])
@pytest.mark.parametrize(
    ("prefix", "path", "joined"),
    [("a", "b", "a.b"), ("a", "[0].b", "a[0].b"), ("", "b", "b"), ("a", "", "a"), ("", "", "")],
)
def test_a_path_is_led_on_from_where_the_value_stood(
    kind: type[errors.CodecError | errors.InvalidMessageError], prefix: str, path: str, joined: str
) -> None:
    error = kind(path, "why").under(prefix)
    assert (type(error), error.path, error.reason) == (kind, joined, "why")


# Texts stay out of logs and traces

SECRET = "sk-TEST-123"


def _history() -> MessageHistory:
    call = {**calls("c1"), "content": SECRET}
    return MessageHistory().append(
        {"id": "u", "message": user(SECRET)},
        {"id": "a", "message": call, "meta": {"note": SECRET}},
        {"id": "t", "message": result("c1", {"found": SECRET})},
    )


def _as_entry(**fields: Any) -> object:
    return as_entry({"message": user("x"), **fields})


FAULTS: dict[str, Callable[[], object]] = {
    "a role": lambda: Message(role=SECRET, content="x"),  # type: ignore[arg-type]
    "a content": lambda: Message(role="user", content={"text": SECRET}),
    "a part": lambda: Message(role="user", content=[SECRET]),
    "a part's type": lambda: Message(role="user", content=[{"type": [SECRET]}]),
    "a text part": lambda: Message(role="user", content=[{"type": "text", "text": [SECRET]}]),
    "bytes": lambda: Message(role="user", content=SECRET.encode()),
    "a name": lambda: Message(role="user", content="x", name=[SECRET]),  # type: ignore[arg-type]
    "an extra": lambda: Message(role="user", content="x", extra=[SECRET]),  # type: ignore[arg-type]
    "calls": lambda: Message(role="assistant", tool_calls=SECRET),  # type: ignore[arg-type]
    "a call": lambda: Message(role="assistant", tool_calls=(SECRET,)),  # type: ignore[arg-type]
    "arguments": lambda: ToolCall(id="c", name="n", args={SECRET}),
    "raw arguments": lambda: ToolCall(id="c", name="n", raw=[SECRET]),  # type: ignore[arg-type]
    "a message": lambda: MessageHistory().append(SECRET),  # type: ignore[arg-type]
    "a list of messages": lambda: MessageHistory().append([user(SECRET)]),  # type: ignore[arg-type]
    "an entry's kind": lambda: _as_entry(kind=SECRET),
    "an entry's meta": lambda: _as_entry(meta=SECRET),
    "an entry's sources": lambda: _as_entry(sources=SECRET),
    "a time": lambda: MessageMeta(created_at=SECRET),
    "labels": lambda: MessageMeta(labels=SECRET),
    "a usage": lambda: MessageMeta(usage=SECRET),
    "further metadata": lambda: MessageMeta(note={SECRET}),
    "a model": lambda: Message.model_validate({"role": SECRET}),
    "a revision's meta": lambda: MessageHistory().fork(meta={"why": SECRET.encode()}),
    "a known id": lambda: _history().append({"id": "u", "message": user(SECRET + "!")}),
    "a patch": lambda: _history().edit(SECRET),  # type: ignore[arg-type]
    "a patch's op": lambda: _history().edit({"op": SECRET}),
    "a patch's entries": lambda: _history().edit({"op": "replace", "id": "u", "entries": SECRET}),
    "a patch's entry": lambda: _history().edit({"op": "replace", "id": "u", "entries": [SECRET]}),
    "a summary": lambda: _history().edit({"op": "summary", "sourceIds": ["u"], "entry": {"message": {"x": SECRET}}}),
    "a parted pair": lambda: _history().edit({"op": "replace", "id": "a", "entries": []}, keep_pairs=True),
    "a strict patch": lambda: _history().edit({"op": "remove", "id": "gone"}, strict=True),
    "a snapshot's entry": lambda: MessageHistory.from_json({"entries": [SECRET], "revisions": [], "head": "r"}),
    "a snapshot's message": lambda: MessageHistory.from_json(
        {"entries": [{"id": "e", "message": {"role": SECRET}}], "revisions": [], "head": "r"}
    ),
    "a snapshot without its root": lambda: MessageHistory.from_json(
        _history().to_json() | {"revisions": _history().to_json()["revisions"][1:]}
    ),
    "a delta": lambda: MessageHistory().apply({"entries": SECRET, "revisions": [], "head": "r"}),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_no_error_shows_message_text(fault: Callable[[], object]) -> None:
    with pytest.raises((ValueError, LookupError)) as raised:
        fault()
    shown: BaseException | None = raised.value
    while shown is not None:
        assert SECRET not in f"{shown} {shown!r} {vars(shown)}"
        shown = shown.__cause__ if shown.__suppress_context__ else shown.__context__

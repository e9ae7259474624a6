"""`MessageLog`: one conversation, on one branch. It delegates: reads to `reader`, writes to the writer."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar, cast, overload

from msglog.checks import checked_count, checked_list, checked_name, refuse_misspelt
from msglog.codec import EMPTY, JsonValue, freeze_object
from msglog.errors import CodecError, InvalidMessageError, PositionError, TooLargeError, UnknownEntryError
from msglog.history import MessageHistory, Revision
from msglog.history.patches import PatchInput
from msglog.message import (
    MESSAGE_KEYS,
    EntryInput,
    Message,
    MessageMeta,
    Role,
    StoredMessage,
    as_entry,
    as_meta,
    make_entry,
)
from msglog.raw import MISSING, PAGE, Missing, RawLog
from msglog.search import Hit
from msglog.storage import reader
from msglog.storage.catalog import LogInfo
from msglog.storage.engine import Connection
from msglog.storage.ledger import now_us
from msglog.storage.reader import Branch, View, ViewState
from msglog.storage.requests import Append, Appended, Commit, Committed, Fork, Redact, RedactReceipt, Rewind
from msglog.storage.rows import Draft, draft, written_message
from msglog.storage.search import checked_search, search

if TYPE_CHECKING:
    from msglog.adapters import Repair
    from msglog.budget import LogUsage
    from msglog.budget.pricing import Prices
    from msglog.store import Store

T = TypeVar("T")
OnAppend: TypeAlias = Callable[[StoredMessage], "Awaitable[None] | None"]
OnConflict: TypeAlias = Literal["raise", "rebase"]
MetaInput: TypeAlias = "MessageMeta | Mapping[str, Any] | None"

_ADD_OPTIONS = ("expected_seq", "expected_head", "id", "meta", "name", "tool_call_id", "tool_calls")
_logger = logging.getLogger("msglog")


class MessageLog:
    """One conversation of a store, on one branch. It exists from its first append.

    `all`, `iterate`, `last`, `history` and the adapters speak of the branch's view: what a model is shown.
    `read`, `count` and `follow` speak of everything that the branch's lineage brought in, which is the same
    until something is edited. `raw` reads the whole log, all branches.

    `on_append`, a function or a coroutine function, is called with each message that this object appended,
    before `append` returns, at most once and in the order in which one task or thread appended; what it raises is
    logged and harms nothing.
    """

    def __new__(cls, store: Store, *_args: object, **_options: object) -> Self:
        """A log of the kind that the store has: one on a server reads and writes in another way."""
        kind = store._log_class if cls is MessageLog else cls  # noqa: SLF001 a log is a part of its store
        return cast("Self", super().__new__(kind))

    def __init__(
        self, store: Store, name: str = "default", branch: str = "main", on_append: OnAppend | None = None
    ) -> None:
        self._store = store
        self._access = store._access  # noqa: SLF001 a log is a part of its store
        self.name = checked_name(name, "the name of a log")
        self.branch = checked_name(branch, "the name of a branch")
        self._on_append = on_append
        self._committed: str | None = None  # what this object committed last: no need to look behind it again

    def __repr__(self) -> str:
        return f"<MessageLog {self.name!r} on {self.branch!r} in {self._store.path}>"

    @property
    def store(self) -> Store:
        """The store that holds the log."""
        return self._store

    # Appending

    async def add(
        self,
        role: Role,
        content: JsonValue = None,
        *,
        id: str | None = None,  # noqa: A002 the entry's id
        meta: MetaInput = None,
        expected_seq: int | None = None,
        expected_head: str | None = None,
        **fields: Any,
    ) -> int:
        """Append a message given by its parts; further fields are a message's (`tool_calls`, `tool_call_id`, …).

        Other keywords go to its `extra`; `TypeError` for one that is nearly an option.
        """
        refuse_misspelt(fields.keys() - MESSAGE_KEYS, _ADD_OPTIONS, "add")
        message = Message(role=role, content=content, **fields)
        return await self.append(message, id=id, meta=meta, expected_seq=expected_seq, expected_head=expected_head)

    async def append(
        self,
        message: EntryInput,
        *,
        id: str | None = None,  # noqa: A002 the entry's id
        meta: MetaInput = None,
        expected_seq: int | None = None,
        expected_head: str | None = None,
    ) -> int:
        """Append a message and return its seq. When this returns, it is stored.

        With an `id` the append may be repeated safely: the stored seq comes back, or `DuplicateEntryError`
        where the id holds other content. `expected_seq` (the log's last seq) and `expected_head` (the
        branch's head revision) make it conditional: `ConflictError` where they are not so.
        """
        _check_expected(expected_seq, expected_head)
        entry = self._entry(message, id, as_meta(meta), now_us())
        return (await self._append([entry], expected_seq, expected_head))[0]

    async def append_many(
        self,
        messages: Iterable[EntryInput],
        *,
        expected_seq: int | None = None,
        expected_head: str | None = None,
    ) -> int:
        """Append messages together, all or none, with nothing between them; return the last one's seq.

        An empty batch appends nothing and returns the count.
        """
        _check_expected(expected_seq, expected_head)
        now = now_us()
        drafts: list[Draft] = []
        for i, message in enumerate(checked_list(messages)):
            try:
                drafts.append(self._entry(message, None, None, now))
            except (CodecError, InvalidMessageError) as error:
                raise error.under(f"[{i}]") from None
        if not drafts:
            return await self.count()
        return (await self._append(drafts, expected_seq, expected_head))[-1]

    def _entry(self, message: EntryInput, entry_id: str | None, meta: MessageMeta | None, at: int) -> Draft:
        given = entry_id is not None or _names_an_id(message)
        entry = as_entry(message)
        if entry_id is not None or meta is not None:
            if entry_id is not None and _names_an_id(message) and entry.id != entry_id:
                raise InvalidMessageError("id", "given twice, in the entry and beside it")
            if meta is not None and entry.meta is not None:
                raise InvalidMessageError("meta", "given twice, in the entry and beside it")
            if entry_id is None:
                entry_id = entry.id
            entry = make_entry(entry_id, entry.message, entry.kind, meta or entry.meta, entry.sources)
        entry = self._store._before_store(entry)  # noqa: SLF001
        made = draft(entry, at, fresh=not given)
        if made.size > self._store.max_message_bytes:
            raise TooLargeError(made.size, self._store.max_message_bytes)
        return made

    async def _append(self, drafts: Sequence[Draft], expected_seq: int | None, expected_head: str | None) -> list[int]:
        size = sum(item.size for item in drafts)
        request = Append(self.name, self.branch, drafts, EMPTY, expected_seq, expected_head, size)
        appended: Appended = await self._access.write(request)
        if self._on_append is not None:
            await self._tell(written_message(item, seq) for item, seq in appended.new)
        return appended.seqs

    async def _tell(self, new: Iterable[StoredMessage]) -> None:
        if self._on_append is None:
            return
        for message in new:
            try:
                answer = self._on_append(message)
                if inspect.isawaitable(answer):
                    await answer
            except Exception:
                _logger.exception("on_append failed for seq %d of log %r", message.seq, self.name)

    # The view

    async def all(self) -> list[StoredMessage]:
        """The messages of the view, in order."""
        return await self._view(lambda state: (0, state.size))

    @overload
    async def last(self) -> StoredMessage | None: ...
    @overload
    async def last(self, n: int) -> list[StoredMessage]: ...
    async def last(self, n: int | Missing = MISSING) -> list[StoredMessage] | StoredMessage | None:
        """The newest message of the view, or None; with `n`, the newest `n`, oldest first."""
        if isinstance(n, Missing):
            newest = await self._view(lambda state: (state.size - 1, state.size))
            return newest[0] if newest else None
        checked_count(n, "n")
        return await self._view(lambda state: (state.size - n, state.size))

    async def view(self, at: str | None = None, start: int = 0, limit: int | None = None) -> View:
        """A part of the view of the branch, or of the revision `at`: its messages, the revision's id and its size.

        At most `limit` messages from the position `start` on; a negative one counts from the end.
        """
        if isinstance(start, bool) or not isinstance(start, int):
            raise TypeError(f"start must be an int, not {type(start).__name__}")
        if limit is not None:
            checked_count(limit, "limit")
        return await self._read(reader.view, self._store.path, self.name, self.branch, at, start, limit)

    async def iterate(self, page_size: int = PAGE) -> AsyncIterator[StoredMessage]:
        """The messages of the view as it is now, page by page. Nothing is held between pages."""
        checked_count(page_size, "page_size", least=1)
        state = await self._state()
        if state is None:
            return
        for start in range(0, state.size, page_size):
            stop = min(start + page_size, state.size)
            for message in await self._read(self._messages, state, start, stop):
                yield message

    async def _state(self) -> ViewState | None:
        return await self._access.read(lambda c: reader.branch_state(c, self._store.path, self.name, self.branch))

    async def _read(self, work: Callable[..., T], *arguments: Any) -> T:
        return await self._access.read(lambda c: work(c, *arguments))

    def _messages(self, connection: Connection, state: ViewState, start: int, stop: int) -> list[StoredMessage]:
        return reader.view_messages(connection, self._store.path, self.name, state, start, stop)

    async def _view(self, places: Callable[[ViewState], tuple[int, int]]) -> list[StoredMessage]:
        def work(connection: Connection) -> list[StoredMessage]:
            state = reader.branch_state(connection, self._store.path, self.name, self.branch)
            if state is None:
                return []
            start, stop = places(state)
            return self._messages(connection, state, max(0, start), stop)

        return await self._access.read(work)

    async def search(
        self, words: str, *, role: str | None = None, since: datetime | None = None, limit: int = 20
    ) -> list[Hit]:
        """The newest messages of the view that hold all words, newest first, as `Store.search`.

        `raw.search` looks through the whole log: what was edited away, too, and other branches.
        """
        return await search(self._access, checked_search(words, self.name, self.branch, role, since, limit))

    async def to_openai(self, report: list[Repair] | None = None) -> list[dict[str, Any]]:
        """The view in OpenAI's Chat Completions format. What had to be repaired for it is added to `report`."""
        from msglog.adapters import to_openai  # noqa: PLC0415 who does not need it does not wait for it

        return to_openai(await self.all(), report=report)

    async def to_anthropic(self, report: list[Repair] | None = None) -> list[dict[str, Any]]:
        """The turns of the view in Anthropic's Messages format; system messages are left out.

        What had to be repaired for it is added to `report`.
        """
        from msglog.adapters import to_anthropic  # noqa: PLC0415 who does not need it does not wait for it

        return to_anthropic(await self.all(), report=report)

    async def to_langchain(self, report: list[Repair] | None = None) -> list[dict[str, Any]]:
        """The view as LangChain's role and content dicts: user, assistant and system messages, no tool exchanges.

        What was left out or had to be repaired is added to `report`. `msglog.adapters.to_langchain_messages`
        gives real message objects, tools included.
        """
        from msglog.adapters import to_langchain  # noqa: PLC0415 who does not need it does not wait for it

        return to_langchain(await self.all(), report=report)

    # The lineage

    async def count(self) -> int:
        """How many messages the branch's lineage brought in."""
        state = await self._state()
        return 0 if state is None else state.appended

    async def seq(self) -> int:
        """The log's last seq, of any branch; 0 before the first append."""
        return await self._read(reader.last_seq, self.name)

    async def get(self, key: int | str) -> StoredMessage:
        """The message of a seq or of an entry id, anywhere in the log; `UnknownEntryError` where there is none."""
        if isinstance(key, bool) or not isinstance(key, (int, str)):
            raise TypeError(f"a seq or an entry id is expected, not {type(key).__name__}")
        return await self._read(reader.one_entry, self._store.path, self.name, key)

    async def find(self, entry_id: str) -> StoredMessage | None:
        """The message of an entry id, or None: whether an uncertain append is stored."""
        if not isinstance(entry_id, str):
            raise TypeError(f"an entry id is expected, not {type(entry_id).__name__}; get() takes a seq")
        return await self._read(reader.find_entry, self._store.path, self.name, entry_id)

    async def read(self, after: int = 0, limit: int = PAGE) -> list[StoredMessage]:
        """At most `limit` messages of the branch's lineage after a seq, in order."""
        return await self._read_after(after, limit, self.branch)

    async def _read_after(self, after: int, limit: int, branch: str | None) -> list[StoredMessage]:
        checked_count(after, "after")
        checked_count(limit, "limit")
        if limit == 0:
            return []
        page = await self._read(reader.lineage_messages, self._store.path, self.name, branch, after, limit)
        return page.messages

    async def usage(self, pricing: Prices = None) -> LogUsage:
        """Tokens and cost of the model's responses in the whole log, each counted once, by branch, model and day.

        A response is an entry whose metadata holds `usage`; `model` in it says at which price. Where a response
        was stored as several entries, or again by an edit, a `response_id` in their metadata tells that they
        are one. Prices as for `msglog.budget.cost_of`.
        """
        from msglog.budget import LogUsage, UsagePart, UsageTotal, total_usage  # noqa: PLC0415 as above

        parts: dict[UsagePart, UsageTotal] = {}
        counted: set[object] = set()
        after = 0
        while page := await self._read(reader.reported_usage, self._store.path, self.name, after, PAGE):
            for after, at, branch, meta in page:  # noqa: B007 the last one is where the next page goes on
                response, model = meta.get("response_id", meta.get("responseId")), meta.get("model")
                if meta.get("usage") is None or (response is not None and response in counted):
                    continue
                counted.add(response)
                part = UsagePart(branch, model, at.date())
                parts[part] = parts.get(part, UsageTotal()) + total_usage([(meta["usage"], model)], pricing)
        return LogUsage(self.name, parts)

    def follow(self, after: int = 0) -> AsyncIterator[StoredMessage]:
        """Every message of the branch's lineage after a seq, once, in order: what is stored, then what comes.

        It ends only when it is closed. `after=await log.seq()` begins with what comes next; resumed with the
        last seq that it gave, it misses and repeats nothing. `PositionError` where `after` is beyond the log's end.
        """
        return self._follow(after, self.branch)

    async def _follow(self, after: int, branch: str | None) -> AsyncIterator[StoredMessage]:
        checked_count(after, "after")
        file = self._access.file
        log_id: int | None = None
        file.watch(self._store.poll_interval)
        try:
            while True:
                version = file.bell.version
                page = await self._read(reader.lineage_messages, self._store.path, self.name, branch, after, PAGE)
                if after > page.end or (after > 0 and log_id not in (None, page.log_id)):
                    raise PositionError(self.name, after, page.end)
                log_id, after = page.log_id, page.reached
                for message in page.messages:
                    yield message
                if not page.messages:
                    await self._access.change(version)
        finally:
            file.unwatch()

    @property
    def raw(self) -> RawLog:
        """The whole log as it is stored, all branches, read-only."""
        return RawLog(self)

    # Histories

    async def history(
        self,
        at: str | None = None,
        *,
        full: bool = False,
        last: int | None = None,
        limit: int | None = reader.FULL_LIMIT,
    ) -> MessageHistory:
        """The immutable history of the branch's head, or of the revision `at`.

        Loaded is the view, at its cost; with `last`, only so many entries at its end; with `full`, the whole
        lineage, which is refused beyond `limit` revisions. What was left out raises `NotLoadedError` when asked for.
        """
        if last is not None:
            checked_count(last, "last")
        if full and last is not None:
            raise ValueError("full and last exclude each other")
        path, name = self._store.path, self.name

        def work(connection: Connection) -> MessageHistory:
            if at is not None:
                state = reader.revision_state(connection, name, at)
            else:
                found = reader.branch_state(connection, path, name, self.branch)
                if found is None:
                    return MessageHistory()
                state = found
            if full:
                return reader.full_history(connection, path, name, state, limit)
            return reader.partial_history(connection, path, name, state, last)

        return await self._access.read(work)

    async def commit(self, history: MessageHistory, on_conflict: OnConflict = "raise") -> MessageHistory:
        """Store what a history holds beyond the log, and move the branch to its head.

        Where the branch has moved since: `ConflictError`, or with `"rebase"` the history's operations are
        done again on the new head, strictly (every entry that they name must be active there), and the
        history of that is returned. A commit sent again is recognised and changes nothing.
        """
        if not isinstance(history, MessageHistory):
            raise TypeError(f"a MessageHistory is expected, not {type(history).__name__}")
        if on_conflict not in ("raise", "rebase"):
            raise ValueError('on_conflict must be "raise" or "rebase"')
        changed = self._store._before_commit(history, self._committed)  # noqa: SLF001
        request = Commit(
            self.name, self.branch, history, on_conflict == "rebase", changed, self._store.max_message_bytes
        )
        committed: Committed = await self._access.write(request)
        self._committed = committed.revision
        await self._tell(written_message(item, seq) for item, seq in committed.new)
        return await self.history(at=committed.revision) if committed.rebased or changed else history

    async def edit(
        self,
        *patches: PatchInput | Sequence[PatchInput],
        on_conflict: OnConflict = "raise",
        strict: bool = False,
        keep_pairs: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> MessageHistory:
        """Edit the branch's view and commit that; the history that it leads to. See `MessageHistory.edit`."""
        given: list[PatchInput] = []
        for patch in patches:
            given.extend(patch if isinstance(patch, (list, tuple)) else [cast("PatchInput", patch)])
        history = await self.history()
        edited = history.edit(given, strict=strict, keep_pairs=keep_pairs, meta=meta)
        return history if edited is history else await self.commit(edited, on_conflict)

    async def restore(self, entry_ids: Iterable[str] | None = None) -> list[Message]:
        """The original turns behind the view, or behind given entries: summaries expanded to their sources."""
        if isinstance(entry_ids, str):
            raise TypeError("a list of entry ids is expected, not one")
        ids = None if entry_ids is None else list(entry_ids)

        def work(connection: Connection) -> list[Message]:
            state = reader.branch_state(connection, self._store.path, self.name, self.branch)
            if state is None and ids:
                raise UnknownEntryError(ids[0], f"log {self.name!r}")
            return [] if state is None else reader.restored(connection, self._store.path, self.name, state, ids)

        return await self._access.read(work)

    # Branches and revisions

    async def fork(self, name: str, at: str | None = None) -> MessageLog:
        """A new branch at a revision, or at this branch's head: the log on that branch.

        Raises `BranchExistsError`, `UnknownRevisionError`, and `UnknownLogError` before the first append.
        """
        checked_name(name, "the name of a branch")
        await self._access.write(Fork(self.name, self.branch, name, at))
        return MessageLog(self._store, self.name, name, self._on_append)

    async def rewind(
        self, revision: str, expected_head: str | None = None, *, meta: Mapping[str, Any] | None = None
    ) -> str:
        """Show again what a revision showed, as a new revision, whose id is returned. Nothing is lost by it."""
        frozen = freeze_object(meta, "meta") if meta else EMPTY
        head: str = await self._access.write(Rewind(self.name, self.branch, revision, expected_head, frozen))
        return head

    async def branches(self) -> list[Branch]:
        """The branches of the log, oldest first."""
        return await self._read(reader.branches, self.name)

    async def head(self) -> str | None:
        """The id of the branch's head revision; None before the first append."""
        state = await self._state()
        return None if state is None else state.id

    def revisions(self, page_size: int = PAGE, *, before: str | None = None) -> AsyncIterator[Revision]:
        """Every revision of the log, newest first, page by page; only those before a revision, where one is given."""
        return self._revisions(None, page_size, before)

    def lineage(self, page_size: int = PAGE, *, before: str | None = None) -> AsyncIterator[Revision]:
        """The revisions from the branch's head to the root, page by page; `before` as for `revisions`."""
        return self._revisions(self.branch, page_size, before)

    async def _revisions(self, branch: str | None, page_size: int, before: str | None) -> AsyncIterator[Revision]:
        checked_count(page_size, "page_size", least=1)
        below: int | str | None = before
        while page := await self._read(reader.revision_page, self._store.path, self.name, branch, below, page_size):
            for below, revision in page:  # noqa: B007 the last one is where the next page goes on
                yield revision

    # Description

    async def describe(
        self,
        *,
        title: str | Missing | None = MISSING,
        tags: Iterable[str] | Missing | None = MISSING,
        meta: Mapping[str, Any] | Missing | None = MISSING,
        sizes: bool = False,
    ) -> LogInfo:
        """What there is to say of the log, all branches; with arguments, its title, tags or metadata changed first.

        As `Store.describe` of its name.
        """
        return await self._store.describe(self.name, title=title, tags=tags, meta=meta, sizes=sizes)

    # Erasure

    async def redact(self, entry: str | int, reason: str = "") -> RedactReceipt:
        """Take an entry's content away for good; its place, role and tool-call ids stay, so that pairs stay valid.

        The receipt names the summaries over it, which may still tell of it.
        """
        if isinstance(entry, bool) or not isinstance(entry, (int, str)):
            raise TypeError(f"a seq or an entry id is expected, not {type(entry).__name__}")
        if not isinstance(reason, str):
            raise TypeError(f"a reason must be a str, not {type(reason).__name__}")
        receipt: RedactReceipt = await self._access.write(Redact(self.name, entry, reason))
        return receipt


def _names_an_id(message: EntryInput) -> bool:
    if isinstance(message, Mapping):
        return "message" in message and message.get("id") is not None
    return not isinstance(message, Message)


def _check_expected(seq: int | None, head: str | None) -> None:
    if seq is not None:
        checked_count(seq, "expected_seq")
    if head is not None and not isinstance(head, str):
        raise TypeError(f"expected_head must be a revision id, not {type(head).__name__}")

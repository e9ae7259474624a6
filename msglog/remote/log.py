"""`RemoteLog`: a log on a server. What the library can do without the file, it does as for any log."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast, overload

from msglog.budget import LogUsage
from msglog.budget.pricing import Prices
from msglog.checks import checked_count, checked_name
from msglog.codec import JsonValue, freeze_object, thaw
from msglog.errors import BatchTooLargeError, PositionError, UnknownEntryError, UnreachableError
from msglog.history import MessageHistory, Revision
from msglog.history.snapshot import parse_revision
from msglog.log import MessageLog, OnAppend, OnConflict
from msglog.message import Entry, Message, StoredMessage
from msglog.raw import MISSING, PAGE, Missing
from msglog.remote.pricing import part_of, prices_json
from msglog.search import Hit
from msglog.storage.catalog import LogInfo
from msglog.storage.reader import FULL_LIMIT, Branch, View
from msglog.storage.requests import BATCH_BYTES, RedactReceipt
from msglog.storage.rows import Draft
from msglog.storage.search import checked_search
from msglog.wire.text import loads, segment
from msglog.wire.values import stored_message, value_of

if TYPE_CHECKING:
    from msglog.remote.store import RemoteStore

SERVER_PAGE = 1000
"""Items that a server gives at once at most, unless it is set up otherwise."""
REMEMBERED = 64
"""Revisions that are known to be stored, and that a commit may build on."""


class RemoteLog(MessageLog):
    """One conversation of a store on a server, on one branch: a `MessageLog`, and used as one."""

    _store: RemoteStore

    def __init__(
        self, store: RemoteStore, name: str = "default", branch: str = "main", on_append: OnAppend | None = None
    ) -> None:
        self._store = store
        self.name = checked_name(name, "the name of a log")
        self.branch = checked_name(branch, "the name of a branch")
        self._on_append = on_append
        self._committed: str | None = None
        self._known: dict[str, None] = {}
        self._server = store.server
        self._path = f"/logs/{segment(name)}"

    async def _get(self, resource: str, **query: Any) -> Any:
        return await self._server.get(f"{self._path}{resource}", branch=self.branch, **query)

    # Appending

    async def _append(self, drafts: Sequence[Draft], expected_seq: int | None, expected_head: str | None) -> list[int]:
        size = sum(item.size for item in drafts)
        if size > BATCH_BYTES:
            raise BatchTooLargeError(size, BATCH_BYTES)
        told = await self._server.change(
            "POST",
            f"{self._path}/messages",
            [item.entry.to_json() for item in drafts],
            branch=self.branch,
            expectedSeq=expected_seq,
            expectedHead=expected_head,
            **self._returned(),
        )
        await self._tell_of(told)
        return [told["seq"]]

    def _returned(self) -> dict[str, Any]:
        return {} if self._on_append is None else {"return": "messages"}

    async def _tell_of(self, told: Any) -> None:
        if self._on_append is not None:
            await self._tell(map(stored_message, told["new"]))

    # The view

    async def view(self, at: str | None = None, start: int = 0, limit: int | None = None) -> View:
        """A part of the view of the branch, or of a revision. See `MessageLog.view`."""
        if isinstance(start, bool) or not isinstance(start, int):
            raise TypeError(f"start must be an int, not {type(start).__name__}")
        if limit is not None:
            checked_count(limit, "limit")
        first: View | None = None
        messages: list[StoredMessage] = []
        while True:
            left = SERVER_PAGE if limit is None else min(SERVER_PAGE, limit - len(messages))
            found = await self._get("/view", revision=at, start=start, limit=max(1, left))
            page: View = value_of(View, found)
            first = first or page
            messages += page.messages[:left]
            at, start = page.revision, page.start + len(page.messages)
            if not page.messages or start >= page.size or (limit is not None and len(messages) >= limit):
                return View(first.revision, first.size, first.start, messages)

    async def all(self) -> list[StoredMessage]:
        """The messages of the view, in order."""
        return (await self.view()).messages

    @overload
    async def last(self) -> StoredMessage | None: ...
    @overload
    async def last(self, n: int) -> list[StoredMessage]: ...
    async def last(self, n: int | Missing = MISSING) -> list[StoredMessage] | StoredMessage | None:
        """The newest message of the view, or None; with `n`, the newest `n`, oldest first."""
        if isinstance(n, Missing):
            newest = (await self.view(start=-1)).messages
            return newest[0] if newest else None
        checked_count(n, "n")
        return (await self.view(start=-n if n else 0, limit=n)).messages

    async def iterate(self, page_size: int = PAGE) -> AsyncIterator[StoredMessage]:
        """The messages of the view as it is now, page by page."""
        checked_count(page_size, "page_size", least=1)
        at: str | None = None
        start, size = 0, 1
        while start < size:
            page = await self.view(at, start, page_size)
            for message in page.messages:
                yield message
            at, start, size = page.revision, page.start + len(page.messages), page.size

    async def search(
        self, words: str, *, role: str | None = None, since: datetime | None = None, limit: int = 20
    ) -> list[Hit]:
        """The newest messages of the view that hold all words. See `MessageLog.search`."""
        checked_search(words, self.name, self.branch, role, since, limit)
        body = {"words": words, "role": role, "since": None if since is None else since.isoformat(), "limit": limit}
        found = await self._server.ask(f"{self._path}/search", body, branch=self.branch)
        return [value_of(Hit, hit) for hit in found["hits"]]

    # The lineage

    async def _position(self) -> Any:
        return await self._get("/position")

    async def count(self) -> int:
        """How many messages the branch's lineage brought in."""
        return (await self._position())["count"]  # type: ignore[no-any-return]

    async def seq(self) -> int:
        """The log's last seq, of any branch; 0 before the first append."""
        return (await self._server.get(f"{self._path}/position"))["seq"]  # type: ignore[no-any-return]

    async def head(self) -> str | None:
        """The id of the branch's head revision; None before the first append."""
        return (await self._position())["head"]  # type: ignore[no-any-return]

    async def get(self, key: int | str) -> StoredMessage:
        """The message of a seq or of an entry id, anywhere in the log; `UnknownEntryError` where there is none."""
        if isinstance(key, bool) or not isinstance(key, (int, str)):
            raise TypeError(f"a seq or an entry id is expected, not {type(key).__name__}")
        if isinstance(key, int):
            if not 0 < key < 2**63:
                raise UnknownEntryError(key, f"log {self.name!r}")
            return stored_message(await self._server.get(f"{self._path}/messages/{key}"))
        found = await self.find(key)
        if found is None:
            raise UnknownEntryError(key, f"log {self.name!r}")
        return found

    async def find(self, entry_id: str) -> StoredMessage | None:
        """The message of an entry id, or None: whether an uncertain append is stored."""
        if not isinstance(entry_id, str):
            raise TypeError(f"an entry id is expected, not {type(entry_id).__name__}; get() takes a seq")
        found = await self._server.ask(f"{self._path}/find", {"id": entry_id})
        return None if found["message"] is None else stored_message(found["message"])

    async def _read_after(self, after: int, limit: int, branch: str | None) -> list[StoredMessage]:
        checked_count(after, "after")
        if checked_count(limit, "limit") >= 2**63:
            raise ValueError("limit must be below 2**63")
        messages: list[StoredMessage] = []
        while len(messages) < limit:
            size = min(SERVER_PAGE, limit - len(messages))
            query = {"whole": True} if branch is None else {"branch": branch}
            page = await self._server.get(f"{self._path}/messages", after=min(after, 2**63 - 1), limit=size, **query)
            messages += map(stored_message, page["messages"])
            after = page["next"]
            if len(page["messages"]) < size:
                break
        return messages

    async def usage(self, pricing: Prices = None) -> LogUsage:
        """Tokens and cost of the model's responses in the whole log. See `MessageLog.usage`."""
        found = await self._server.ask(f"{self._path}/usage", prices_json(pricing))
        return LogUsage(self.name, dict(map(part_of, found["parts"])))

    async def _follow(self, after: int, branch: str | None) -> AsyncIterator[StoredMessage]:
        checked_count(after, "after")
        query = {"whole": True} if branch is None else {"branch": branch}
        events = cast("AsyncGenerator[Any, Any]", self._server.follow(f"{self._path}/follow", after, **query))
        async with aclosing(events):
            event = await anext(events)
            while True:
                if event.kind == "gone":
                    raise PositionError(self.name, after, await self.seq())
                if event.kind == "message":
                    message = stored_message(loads(event.data))
                    after = message.seq
                    yield message
                event = await events.asend(after)

    # Histories

    async def history(
        self,
        at: str | None = None,
        *,
        full: bool = False,
        last: int | None = None,
        limit: int | None = FULL_LIMIT,
    ) -> MessageHistory:
        """The immutable history of the branch's head, or of the revision `at`. See `MessageLog.history`."""
        if last is not None:
            checked_count(last, "last")
        if full and last is not None:
            raise ValueError("full and last exclude each other")
        if full:
            data = await self._get("/snapshot", at=at, limit=2**53 if limit is None else limit)
            history = MessageHistory() if data["head"] is None else MessageHistory.from_snapshot(data)
        else:
            data = await self._get("/history", at=at, last=last)
            if data["head"] is None:
                return MessageHistory()
            entries = [Entry(**entry) for entry in data["entries"]]
            ids = [entry.id for entry in entries]
            history = MessageHistory.loaded(parse_revision(data["head"]), ids, entries, missing=data["missing"])
        if data["head"] is not None:
            self._remember(history.revision_id)
        return history

    def _remember(self, revision: str) -> None:
        """Know that a revision is stored."""
        self._known.pop(revision, None)
        self._known[revision] = None
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    def _base(self, history: MessageHistory) -> str | None:
        """The newest revision of a history that is known to be stored; what a part of one began with is."""
        revision = history.head
        for revision in history.loaded_lineage():
            if revision.id in self._known:
                return revision.id
        return None if revision.parent is None else revision.id

    async def commit(self, history: MessageHistory, on_conflict: OnConflict = "raise") -> MessageHistory:
        """Store what a history holds beyond the log, and move the branch to its head. See `MessageLog.commit`."""
        if not isinstance(history, MessageHistory):
            raise TypeError(f"a MessageHistory is expected, not {type(history).__name__}")
        if on_conflict not in ("raise", "rebase"):
            raise ValueError('on_conflict must be "raise" or "rebase"')
        base = self._base(history)
        changed = self._store._before_commit(history, base)  # noqa: SLF001
        delta = history.changes_since(base)
        body = delta.to_json()
        body["entries"] = [changed.get(entry.id, entry).to_json() for entry in delta.entries]
        told = await self._server.change(
            "POST", f"{self._path}/commit", body, branch=self.branch, onConflict=on_conflict, **self._returned()
        )
        self._remember(told["head"])
        await self._tell_of(told)
        return await self.history(at=told["head"]) if told["changed"] or changed else history

    async def restore(self, entry_ids: Iterable[str] | None = None) -> list[Message]:
        """The original turns behind the view, or behind given entries. See `MessageLog.restore`."""
        if isinstance(entry_ids, str):
            raise TypeError("a list of entry ids is expected, not one")
        body = {"entryIds": None if entry_ids is None else list(entry_ids)}
        found = await self._server.ask(f"{self._path}/restore", body, branch=self.branch)
        return [Message(**message) for message in found["messages"]]

    # Branches and revisions

    async def fork(self, name: str, at: str | None = None) -> MessageLog:
        """A new branch at a revision, or at this branch's head: the log on that branch. See `MessageLog.fork`."""
        checked_name(name, "the name of a branch")
        if at is None:
            at = await self.head()  # so that a branch of an answer that was lost can be told from another
        body = {"name": name, "at": at}
        try:
            await self._server.change("POST", f"{self._path}/branches", body, branch=self.branch, again=False)
        except UnreachableError as error:
            if not error.uncertain or not any(b.name == name and b.forked_from == at for b in await self.branches()):
                raise
        return RemoteLog(self._store, self.name, name, self._on_append)

    async def rewind(
        self, revision: str, expected_head: str | None = None, *, meta: Mapping[str, Any] | None = None
    ) -> str:
        """Show again what a revision showed, as a new revision, whose id is returned. See `MessageLog.rewind`."""
        body: dict[str, JsonValue] = {"revision": revision, "expectedHead": expected_head}
        body |= {"meta": freeze_object(meta, "meta")} if meta else {}
        told = await self._server.change("POST", f"{self._path}/rewind", body, branch=self.branch, again=False)
        return told["head"]  # type: ignore[no-any-return]

    async def branches(self) -> list[Branch]:
        """The branches of the log, oldest first."""
        return [value_of(Branch, each) for each in (await self._get("/branches"))["branches"]]

    async def _revisions(self, branch: str | None, page_size: int, before: str | None) -> AsyncIterator[Revision]:
        checked_count(page_size, "page_size", least=1)
        resource = "/revisions" if branch is None else "/lineage"
        while True:
            page = await self._get(resource, before=before, limit=min(page_size, SERVER_PAGE))
            for revision in page["revisions"]:
                yield parse_revision(thaw(revision))
            before = page["next"]
            if before is None:
                return

    async def describe(self, **options: Any) -> LogInfo:
        """What there is to say of the log, all branches. See `MessageLog.describe`."""
        return await self._store.describe(self.name, **options)

    # Erasure

    async def redact(self, entry: str | int, reason: str = "") -> RedactReceipt:
        """Take an entry's content away for good. See `MessageLog.redact`."""
        if isinstance(entry, bool) or not isinstance(entry, (int, str)):
            raise TypeError(f"a seq or an entry id is expected, not {type(entry).__name__}")
        if not isinstance(reason, str):
            raise TypeError(f"a reason must be a str, not {type(reason).__name__}")
        told = await self._server.change("POST", f"{self._path}/redact", {"entry": entry, "reason": reason})
        receipt: RedactReceipt = value_of(RedactReceipt, told)
        return receipt

# Written by scripts/sync_stub from log.py, raw.py, store.py and opening.py: change those, then run it again.
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import ModuleType, TracebackType
from typing import Any, Self, overload

from msglog.adapters import Repair
from msglog.budget import LogUsage
from msglog.budget.pricing import Prices
from msglog.codec import JsonValue
from msglog.history import MessageHistory, Revision
from msglog.history.patches import PatchInput
from msglog.log import MetaInput, OnAppend, OnConflict
from msglog.message import EntryInput, Message, Role, StoredMessage
from msglog.options import BeforeStore, Durability
from msglog.raw import Missing
from msglog.storage.catalog import LogInfo, LogOrder
from msglog.search import Hit
from msglog.storage.doctor import Diagnosis
from msglog.storage.engine import Driver
from msglog.storage.reader import Branch, View
from msglog.storage.repair import RepairReport
from msglog.storage.report import Report
from msglog.storage.requests import PurgeReceipt, RedactReceipt
from msglog.store import CompactReport, LoggedMessage, StoreStats


class RawLog:
    """A log as it is stored: every entry of every branch, by seq. Read-only."""
    def all(self) -> list[StoredMessage]:
        """Every message."""
    def iterate(self, page_size: int=...) -> Iterator[StoredMessage]:
        """Every message, page by page, up to the end as it is when the last page is read."""
    @overload
    def last(self) -> StoredMessage | None:
        ...
    @overload
    def last(self, n: int) -> list[StoredMessage]:
        ...
    def count(self) -> int:
        """How many messages the log holds."""
    def get(self, key: int | str) -> StoredMessage:
        """The message of a seq or of an entry id."""
    def read(self, after: int=..., limit: int=...) -> list[StoredMessage]:
        """At most `limit` messages after a seq, in order."""
    def search(self, words: str, *, role: str | None=..., since: datetime | None=..., limit: int=...) -> list[Hit]:
        """The newest messages of the log, of any branch, that hold all words: `Store.search` in this log."""
    def follow(self, after: int=...) -> Iterator[StoredMessage]:
        """Every message after a seq, of any branch, once, in order: what is stored, then what comes."""

class MessageLog:
    """One conversation of a store, on one branch. It exists from its first append.

        `all`, `iterate`, `last`, `history` and the adapters speak of the branch's view: what a model is shown.
        `read`, `count` and `follow` speak of everything that the branch's lineage brought in, which is the same
        until something is edited. `raw` reads the whole log, all branches.

        `on_append`, a function or a coroutine function, is called with each message that this object appended,
        before `append` returns, at most once and in the order in which one task or thread appended; what it raises is
        logged and harms nothing.
        """
    name: str
    branch: str
    def __init__(self, store: Store, name: str = ..., branch: str = ..., on_append: OnAppend | None = ...) -> None: ...
    @property
    def store(self) -> Store:
        """The store that holds the log."""
    def add(self, role: Role, content: JsonValue=..., *, id: str | None=..., meta: MetaInput=..., expected_seq: int | None=..., expected_head: str | None=..., **fields: Any) -> int:
        """Append a message given by its parts; further fields are a message's (`tool_calls`, `tool_call_id`, …).

            Other keywords go to its `extra`; `TypeError` for one that is nearly an option.
            """
    def append(self, message: EntryInput, *, id: str | None=..., meta: MetaInput=..., expected_seq: int | None=..., expected_head: str | None=...) -> int:
        """Append a message and return its seq. When this returns, it is stored.

            With an `id` the append may be repeated safely: the stored seq comes back, or `DuplicateEntryError`
            where the id holds other content. `expected_seq` (the log's last seq) and `expected_head` (the
            branch's head revision) make it conditional: `ConflictError` where they are not so.
            """
    def append_many(self, messages: Iterable[EntryInput], *, expected_seq: int | None=..., expected_head: str | None=...) -> int:
        """Append messages together, all or none, with nothing between them; return the last one's seq.

            An empty batch appends nothing and returns the count.
            """
    def all(self) -> list[StoredMessage]:
        """The messages of the view, in order."""
    @overload
    def last(self) -> StoredMessage | None:
        ...
    @overload
    def last(self, n: int) -> list[StoredMessage]:
        ...
    def view(self, at: str | None=..., start: int=..., limit: int | None=...) -> View:
        """A part of the view of the branch, or of the revision `at`: its messages, the revision's id and its size.

            At most `limit` messages from the position `start` on; a negative one counts from the end.
            """
    def iterate(self, page_size: int=...) -> Iterator[StoredMessage]:
        """The messages of the view as it is now, page by page. Nothing is held between pages."""
    def search(self, words: str, *, role: str | None=..., since: datetime | None=..., limit: int=...) -> list[Hit]:
        """The newest messages of the view that hold all words, newest first, as `Store.search`.

            `raw.search` looks through the whole log: what was edited away, too, and other branches.
            """
    def to_openai(self, report: list[Repair] | None=...) -> list[dict[str, Any]]:
        """The view in OpenAI's Chat Completions format. What had to be repaired for it is added to `report`."""
    def to_anthropic(self, report: list[Repair] | None=...) -> list[dict[str, Any]]:
        """The turns of the view in Anthropic's Messages format; system messages are left out.

            What had to be repaired for it is added to `report`.
            """
    def to_langchain(self, report: list[Repair] | None=...) -> list[dict[str, Any]]:
        """The view as LangChain's role and content dicts: user, assistant and system messages, no tool exchanges.

            What was left out or had to be repaired is added to `report`. `msglog.adapters.to_langchain_messages`
            gives real message objects, tools included.
            """
    def count(self) -> int:
        """How many messages the branch's lineage brought in."""
    def seq(self) -> int:
        """The log's last seq, of any branch; 0 before the first append."""
    def get(self, key: int | str) -> StoredMessage:
        """The message of a seq or of an entry id, anywhere in the log; `UnknownEntryError` where there is none."""
    def find(self, entry_id: str) -> StoredMessage | None:
        """The message of an entry id, or None: whether an uncertain append is stored."""
    def read(self, after: int=..., limit: int=...) -> list[StoredMessage]:
        """At most `limit` messages of the branch's lineage after a seq, in order."""
    def usage(self, pricing: Prices=...) -> LogUsage:
        """Tokens and cost of the model's responses in the whole log, each counted once, by branch, model and day.

            A response is an entry whose metadata holds `usage`; `model` in it says at which price. Where a response
            was stored as several entries, or again by an edit, a `response_id` in their metadata tells that they
            are one. Prices as for `msglog.budget.cost_of`.
            """
    def follow(self, after: int=...) -> Iterator[StoredMessage]:
        """Every message of the branch's lineage after a seq, once, in order: what is stored, then what comes.

            It ends only when it is closed. `after=await log.seq()` begins with what comes next; resumed with the
            last seq that it gave, it misses and repeats nothing. `PositionError` where `after` is beyond the log's end.
            """
    @property
    def raw(self) -> RawLog:
        """The whole log as it is stored, all branches, read-only."""
    def history(self, at: str | None=..., *, full: bool=..., last: int | None=..., limit: int | None=...) -> MessageHistory:
        """The immutable history of the branch's head, or of the revision `at`.

            Loaded is the view, at its cost; with `last`, only so many entries at its end; with `full`, the whole
            lineage, which is refused beyond `limit` revisions. What was left out raises `NotLoadedError` when asked for.
            """
    def commit(self, history: MessageHistory, on_conflict: OnConflict=...) -> MessageHistory:
        """Store what a history holds beyond the log, and move the branch to its head.

            Where the branch has moved since: `ConflictError`, or with `"rebase"` the history's operations are
            done again on the new head, strictly (every entry that they name must be active there), and the
            history of that is returned. A commit sent again is recognised and changes nothing.
            """
    def edit(self, *patches: PatchInput | Sequence[PatchInput], on_conflict: OnConflict=..., strict: bool=..., keep_pairs: bool=..., meta: Mapping[str, Any] | None=...) -> MessageHistory:
        """Edit the branch's view and commit that; the history that it leads to. See `MessageHistory.edit`."""
    def restore(self, entry_ids: Iterable[str] | None=...) -> list[Message]:
        """The original turns behind the view, or behind given entries: summaries expanded to their sources."""
    def fork(self, name: str, at: str | None=...) -> MessageLog:
        """A new branch at a revision, or at this branch's head: the log on that branch.

            Raises `BranchExistsError`, `UnknownRevisionError`, and `UnknownLogError` before the first append.
            """
    def rewind(self, revision: str, expected_head: str | None=..., *, meta: Mapping[str, Any] | None=...) -> str:
        """Show again what a revision showed, as a new revision, whose id is returned. Nothing is lost by it."""
    def branches(self) -> list[Branch]:
        """The branches of the log, oldest first."""
    def head(self) -> str | None:
        """The id of the branch's head revision; None before the first append."""
    def revisions(self, page_size: int=..., *, before: str | None=...) -> Iterator[Revision]:
        """Every revision of the log, newest first, page by page; only those before a revision, where one is given."""
    def lineage(self, page_size: int=..., *, before: str | None=...) -> Iterator[Revision]:
        """The revisions from the branch's head to the root, page by page; `before` as for `revisions`."""
    def describe(self, *, title: str | Missing | None=..., tags: Iterable[str] | Missing | None=..., meta: Mapping[str, Any] | Missing | None=..., sizes: bool=...) -> LogInfo:
        """What there is to say of the log, all branches; with arguments, its title, tags or metadata changed first.

            As `Store.describe` of its name.
            """
    def redact(self, entry: str | int, reason: str=...) -> RedactReceipt:
        """Take an entry's content away for good; its place, role and tool-call ids stay, so that pairs stay valid.

            The receipt names the summaries over it, which may still tell of it.
            """

class Store:
    """One database of many logs. Made by `msglog.open`; any task of any event loop may use it."""
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...
    @property
    def path(self) -> str:
        """The file."""
    @property
    def read_only(self) -> bool:
        """Whether nothing can be written through this store."""
    @property
    def max_message_bytes(self) -> int:
        """The largest message that the store takes, in bytes of its content."""
    @property
    def poll_interval(self) -> float:
        """Seconds after which a follower notices another process's commit at the latest."""
    def log(self, name: str=..., branch: str=..., *, on_append: OnAppend | None=...) -> MessageLog:
        """The log of this name, on a branch. Nothing is read or written: a log exists from its first append."""
    def logs(self, *, prefix: str=..., tag: str | None=..., order: LogOrder=..., sizes: bool=...) -> list[LogInfo]:
        """The logs whose names begin with `prefix` and that have the tag.

            The order is that of their last messages ("activity": the most recent one is the last), of their names,
            byte for byte, or of their numbers of entries. `sizes` adds their bytes, at the cost of reading all entries.
            """
    def describe(self, name: str, *, title: str | Missing | None=..., tags: Iterable[str] | Missing | None=..., meta: Mapping[str, Any] | Missing | None=..., sizes: bool=...) -> LogInfo:
        """What there is to say of a log; what is given of its title, tags and metadata is changed first.

            The rest stays as it is, whoever wrote it. `title` and `tags` are replaced; `meta` is changed key by key.
            None takes away: the title, all tags, all metadata, or a key of it. `sizes` adds the log's bytes.
            Raises `UnknownLogError` where the log has no entry yet, `CodecError` for what is no JSON.
            """
    def stats(self) -> StoreStats:
        """Sizes and counts of the whole store."""
    def verify(self, log: str | None=...) -> Report:
        """Walk every hash and recompute every view, of one log or of all; a report with `ok` and `problems`."""
    def search(self, words: str, *, log: str | None=..., prefix: str=..., role: str | None=..., since: datetime | None=..., limit: int=...) -> list[Hit]:
        """The newest messages that hold all words, of one log or of all, newest first, each with where it matches.

            `prefix` leaves the logs whose names begin so.

            `"a phrase"` holds words in a row, `beg*` a word that begins so; everything else is looked for as it
            stands, in text, tool calls and results, whatever the case and accents. Every entry counts that was ever
            appended, unless it was redacted. `role` and `since` (an aware time) say of which messages.
            """
    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the store, one moment of it, to a path where nothing is yet. Writers go on meanwhile.

            The copy appears under its name only once it is whole. Raises `FileExistsError`, `StoreError`.
            """
    def doctor(self) -> Diagnosis:
        """What is unsafe, or soon will be, about the store, its SQLite library and the place where it lies.

            It looks around the content, which is for `verify`, and costs as reading all entries. A store that may
            write brings its write-ahead log into the file meanwhile, as far as readers allow.
            """
    def repair(self, *, dry_run: bool=...) -> RepairReport:
        """Mend what can be mended without inventing anything; a dry run tells what that would be, and takes it back.

            Before anything is changed, a backup of the store is made beside it, which the report names. Triggers, views
            and indexes are made again, and counters, branches and heads set right where rows and hashes prove them;
            what is lost stays lost, and is listed. Repairing again changes nothing more. Writers wait meanwhile.
            """
    def compact(self) -> CompactReport:
        """Bring the write-ahead log into the file, and give unused space back to the file system.

            The file is written anew, in one transaction, for which it needs up to twice its size of free space; other
            writers wait meanwhile, readers do not. `complete` is False in the report where a reader kept the last
            pages from going into the file; they go there with a later checkpoint.
            """
    def purge(self, name: str) -> PurgeReceipt:
        """Take a whole log away for good, with its name; a receipt without either stays in the file."""
    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any]=...) -> list[dict[str, Any]]:
        """The rows of one read-only SQL statement, as dicts by column.

            This is the way to look at the file from inside the process: a plain `open().close()` of it, or another
            SQLite library, would drop the locks of this one. Raises `SqlError` for anything but one reading statement.
            """
    def read(self, after: int=..., limit: int=...) -> list[LoggedMessage]:
        """At most `limit` messages of any log after a number `n`, in commit order."""
    def follow(self, after: int=...) -> Iterator[LoggedMessage]:
        """Every message of every log after a number `n`, once, in commit order: what is stored, then what comes."""
    def close(self) -> None:
        """Finish what was handed over and let go of the file. Closing again does nothing."""

def open(path: str | os.PathLike[str], *, durability: Durability=..., read_only: bool=..., create: bool=..., busy_timeout: float=..., max_message_bytes: int=..., before_store: BeforeStore | None=..., poll_interval: float=..., driver: Driver | ModuleType | None=..., token: str | None=...) -> Store:
    """Open a store: `async with msglog.open("agent.db") as store`, or `store = await msglog.open(…)`.

    A URL, `"http://127.0.0.1:8700"`, opens the store of a server, with `token` where it asks for one. What concerns
    the file is the server's: of the options, `read_only`, `busy_timeout`, `max_message_bytes` and `before_store` count.

    The file is created where it does not exist, with the folders above it that are missing (private to their owner),
    and migrated where it is older.
    `":memory:"` is a private temporary file.

    - `durability`: what an acknowledged append survives: `"full"` loss of power, `"normal"` the death of the process.
    - `busy_timeout`: seconds that a call waits while another process holds the file, then `StoreBusyError`.
    - `max_message_bytes`: larger messages are refused with `TooLargeError`.
    - `before_store`: a function that gets each entry before it is stored and returns it, changed or not.
    - `poll_interval`: seconds after which a follower notices another process's commit at the latest.
    - `driver`: an SQLite module to use instead of `sqlite3`, such as `pysqlite3.dbapi2`, or a `Driver`.

    Raises a `StoreError`: `StoreNotFoundError`, `CannotOpenError`, `NotAStoreError`, `NewerStoreError`, ….
    """

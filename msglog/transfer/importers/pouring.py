"""Conversations of a source on their way into a store: what it has already is recognised, the rest is appended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from msglog.codec import decode, encode, from_column
from msglog.errors import CodecError, TooLargeError
from msglog.log import MessageLog
from msglog.message import Entry
from msglog.store import Store
from msglog.transfer.importers.conversation import DIGEST, Checkpoints, Conversation, Tree
from msglog.transfer.importers.reading import Reading
from msglog.transfer.report import ImportedLog

Progress: TypeAlias = Callable[[int, int | None], None]

BATCH = 500
"""Entries that are appended together, as one revision."""

BATCH_CHARACTERS = 4 * 2**20
"""Characters after which a batch ends, however few its entries."""

HELD = """
SELECT e.id, e.redacted_at IS NOT NULL AS redacted, e.meta, r.branch, r.id AS revision
FROM logs AS l CROSS JOIN json_each(?) AS wanted CROSS JOIN entries AS e ON e.log_id = l.id AND e.id = wanted.value
CROSS JOIN revisions AS r ON r.log_id = l.id AND r.number = e.revision
WHERE l.name = ? AND l.purged_at IS NULL
"""


class Held(NamedTuple):
    """An entry in the store: the digest of what it was made from, if known, and what brought it in."""

    digest: str | None
    branch: str
    revision: str


@dataclass(slots=True)
class Pouring:
    """One import into one store."""

    store: Store
    reading: Reading
    prefix: str = ""
    dry_run: bool = False
    progress: Progress | None = None
    logs: dict[str, ImportedLog] = field(default_factory=dict)

    async def pour(self, conversation: Conversation) -> None:
        """Append what the store lacks of a conversation.

        Where the store holds another message in the place of one, the rest of it is left out: it would not belong.
        """
        name = self.prefix + conversation.name
        log = self.store.log(name)
        self.count(name)
        for batch in batches(conversation.entries):
            known = await self.known(name, batch)
            for entry in batch:
                if entry.id in known and known[entry.id] not in {None, digest(entry)}:
                    self.reading.losses.add(name, f"message {entry.id}: {_ANOTHER}")
                    return
            new = [entry for entry in batch if entry.id not in known]
            self.count(name, known=len(batch) - len(new))
            await self.append(log, new)
        await self.describe(name, conversation)

    async def describe(self, name: str, conversation: Conversation | Tree | Checkpoints) -> None:
        """Give a log the title and facts of its source, where it has none of its own yet."""
        facts = {key: value for key, value in conversation.facts.items() if value is not None}
        if self.dry_run or not self.logs[name].entries_new or not (facts or conversation.title):
            return
        info = await self.store.describe(name)
        title = info.title or conversation.title
        try:
            await self.store.describe(name, title=title, meta=facts | info.meta)
        except (CodecError, TooLargeError) as error:
            self.reading.losses.add(name, f"what the source says of the conversation cannot be kept: {error}")

    async def known(self, name: str, entries: Sequence[Entry]) -> dict[str, str | None]:
        """Those ids of entries that a log has, with the digests of what they were made from; None where unknown."""
        return {entry_id: found.digest for entry_id, found in (await self.held(name, [e.id for e in entries])).items()}

    async def held(self, name: str, ids: Sequence[str]) -> dict[str, Held]:
        """What a log holds of entries, by their ids."""
        rows = await self.store.sql(HELD, (encode(ids), name))
        return {row["id"]: Held(_digest_in(row), row["branch"], row["revision"]) for row in rows}

    async def append(self, log: MessageLog, entries: Sequence[Entry]) -> None:
        """Append entries that are new, and count them; in a dry run, only that."""
        self.count(log.name, new=await self._append(log, entries))
        if self.progress is not None:
            self.progress(self.reading.done, self.reading.total)

    async def _append(self, log: MessageLog, entries: Sequence[Entry]) -> int:
        """How many of the entries were appended, or would have been."""
        if self.dry_run or not entries:
            return len(entries)
        try:
            await log.append_many(entries)
        except TooLargeError as error:
            if len(entries) > 1:
                return sum([await self._append(log, [entry]) for entry in entries])
            self.reading.losses.add(log.name, f"message {entries[0].id}: {error}")
            return 0
        return len(entries)

    def count(self, name: str, *, new: int = 0, known: int = 0, branches: int = 0) -> None:
        """Add to what the report says of a log."""
        log = self.logs.get(name, ImportedLog(name))
        self.logs[name] = ImportedLog(
            name, log.entries_new + new, log.entries_known + known, log.branches_new + branches
        )


_ANOTHER = "the log has another message in its place; it and all after it were left out. A prefix keeps sources apart"


def digest(entry: Entry) -> str | None:
    """The digest of what an entry was made from."""
    return entry.meta.model_extra.get(DIGEST) if entry.meta is not None and entry.meta.model_extra else None


def _digest_in(row: dict[str, Any]) -> str | None:
    if row["redacted"] or row["meta"] is None:
        return None
    found: str | None = decode(from_column(row["meta"])).get(DIGEST)
    return found


def batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries in runs that are appended together."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += characters(entry)
        if len(batch) >= BATCH or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def characters(entry: Entry) -> int:
    """How large an entry is, roughly."""
    content = entry.message.content
    said = len(content) if isinstance(content, str) else len(encode(content))
    return said + sum(len(call.arguments) for call in entry.message.tool_calls)

"""What can be mended of one log: its counters, its branches, what it shows. Nothing is made up.

A counter is set where the rows and their hashes prove it, a head where its own revision is lost or not what was
stored. What is lost stays lost, and `verify` goes on naming it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msglog.codec import FrozenDict, encode
from msglog.errors import CorruptStoreError
from msglog.ids import new_id
from msglog.storage import statements as sql
from msglog.storage.ledger import now_us
from msglog.storage.log_check import OF_OTHERS
from msglog.storage.report import Kind, Problem
from msglog.storage.spans import count
from msglog.storage.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Mend:
    """Something that was mended: in which log (None: in the store), what kind of thing, which one, and how."""

    log: str | None
    kind: Kind
    key: int | str
    done: str

    def __str__(self) -> str:
        place = Problem(self.log, self.kind, self.key, self.done)
        return str(place)


@dataclass(slots=True)
class _Line:
    """The revisions that came through one branch, as far as they are there."""

    first: int
    newest: int


class LogMender:
    """Mends one log within a transaction in which no trigger stands in the way."""

    def __init__(self, transaction: Transaction, log: str, problems: Sequence[Problem]) -> None:
        self._transaction = transaction
        self._execute = transaction.execute
        self._log = log
        self._problems = problems
        self._id: int = self._execute("SELECT id FROM logs WHERE name = ?", (log,))[0][0]
        self._unsound = sorted(
            {p.key for p in problems if p.kind == "revision" and p.what not in OF_OTHERS and isinstance(p.key, int)}
        )
        self._lines = {
            branch: _Line(first, newest)
            for branch, first, newest in self._execute(
                "SELECT branch, min(number), max(number) FROM revisions WHERE log_id = ? AND typeof(number) = 'integer'"
                " GROUP BY branch",
                (self._id,),
            )
            if isinstance(branch, str)
        }
        self._branches: dict[str, tuple[int, int | None]] = {
            name: (head, forked_from)
            for name, head, forked_from in self._execute(
                "SELECT name, head, forked_from FROM branches WHERE log_id = ? ORDER BY name", (self._id,)
            )
        }

    def mend(self) -> Iterator[Mend]:
        """Mend what can be."""
        if any(p.kind == "log" and p.key == "description" for p in self._problems):
            self._execute("UPDATE logs SET meta = NULL WHERE id = ?", (self._id,))
            yield self._did("log", "description", "taken away, since it cannot be read; the backup holds it")
        yield from self._mend_counters()
        yield from self._mend_branches()
        yield from self._mend_views()

    def _did(self, kind: Kind, key: int | str, done: str) -> Mend:
        return Mend(self._log, kind, key, done)

    # Counters

    def _mend_counters(self) -> Iterator[Mend]:
        """Set a counter that does not reach the rows, or that both the rows and the last hash say is another.

        A count beyond the rows may be right, and what it counts lost: without proof it stays.
        """
        uid, entries, revisions, chained = self._execute(
            "SELECT uid, entry_count, revision_count, chain_hash FROM logs WHERE id = ?", (self._id,)
        )[0]
        entries, revisions = (value if isinstance(value, int) else -1 for value in (entries, revisions))
        last, last_hash = self._last_entry(uid)
        newest = max((line.newest for line in self._lines.values()), default=-1) + 1
        wrong = {p.key for p in self._problems if p.kind == "entry"}
        if revisions < newest and newest - 1 not in self._unsound:
            yield self._set("revision_count", revisions, newest)
        if (entries < last and last not in wrong) or (entries > last and chained == last_hash and not wrong):
            yield self._set("entry_count", entries, last)
            entries = last
        if chained != last_hash and entries == last and last not in wrong:
            self._execute("UPDATE logs SET chain_hash = ? WHERE id = ?", (last_hash, self._id))
            yield self._did("log", "chain_hash", f"set to that of seq {last}")

    def _last_entry(self, uid: bytes) -> tuple[int, bytes]:
        rows = self._execute(
            "SELECT seq, chain_hash FROM entries WHERE log_id = ? AND typeof(seq) = 'integer'"
            " ORDER BY seq DESC LIMIT 1",
            (self._id,),
        )
        return (rows[0][0], rows[0][1]) if rows else (0, uid)

    def _set(self, counter: str, before: int, value: int) -> Mend:
        self._execute(f"UPDATE logs SET {counter} = ? WHERE id = ?", (value, self._id))
        return self._did("log", counter, f"set from {before} to {value}, which the rows and their hashes prove")

    # Branches

    def _mend_branches(self) -> Iterator[Mend]:
        for name, line in sorted(self._lines.items()):
            first = self._execute(
                "SELECT parent, at FROM revisions WHERE log_id = ? AND number = ?", (self._id, line.first)
            )[0]
            began: int | None = first[0]
            target = self._last_sound(name, began)
            if target is None:
                continue
            sound = line.first not in self._unsound
            if name in self._branches:
                head, forked_from = self._branches[name]
                if head != target:
                    yield self._move(name, head, target)
                if sound and forked_from != began:
                    self._execute(
                        "UPDATE branches SET forked_from = ? WHERE log_id = ? AND name = ?", (began, self._id, name)
                    )
                    yield self._did("branch", name, f"forked from {_numbered(began)} again, as its first revision says")
            elif sound:
                self._execute(sql.INSERT_BRANCH, (self._id, name, target, began, first[1]))
                yield self._did("branch", name, f"put back, at revision {target}, since revisions name it")

    def _last_sound(self, branch: str, began: int | None) -> int | None:
        """The newest revision of a branch that is what was stored, or the one that it began at, if that is."""
        number: int | None = self._execute(
            "SELECT max(number) FROM revisions WHERE log_id = ?1 AND (branch = ?2 OR number = ?3)"
            " AND number NOT IN (SELECT value FROM json_each(?4))",
            (self._id, branch, began, encode(self._unsound)),
        )[0][0]
        return number

    def _move(self, name: str, head: int, target: int) -> Mend:
        self._execute("UPDATE branches SET head = ? WHERE log_id = ? AND name = ?", (target, self._id, name))
        return self._did("branch", name, f"moved from revision {head} to {target}, its last sound one")

    # Views

    def _mend_views(self) -> Iterator[Mend]:
        """Where a head is sound but shows entries that are lost: a further revision, which shows what is left."""
        self._transaction.ledger.forget()
        for name, head, forked_from in self._execute(
            "SELECT name, head, forked_from FROM branches WHERE log_id = ? ORDER BY name", (self._id,)
        ):
            if head in self._unsound or (name not in self._lines and head != forked_from):
                continue
            try:
                line = self._transaction.line(self._log, name)
                view = self._transaction.view(line)
            except (CorruptStoreError, TypeError, ValueError, LookupError):
                continue  # no revision of the branch is sound, or an anchor is not
            shown = list(view.runs())
            rows = self._execute(
                "SELECT e.seq, e.id FROM json_each(?) AS s CROSS JOIN entries AS e ON e.log_id = ? AND"
                " e.seq BETWEEN json_extract(s.value, '$[0]') AND json_extract(s.value, '$[1]') ORDER BY s.key, e.seq",
                (encode(shown), self._id),
            )
            if len(rows) == count(shown):
                continue
            there = {seq for seq, _ in rows}
            lost = {seq for first, last in shown for seq in range(first, last + 1)} - there
            view.remove(lost)
            self._transaction.next_chunk(line)
            operation = encode({"type": "view", "entryIds": [entry_id for _, entry_id in rows]})
            meta = FrozenDict({"reason": "repair: what is left of the view, without entries that are lost"})
            line.add_revision(new_id(), operation, now_us(), meta, view, view.tail.runs, len(view))
            self._transaction.accept(line)
            self._transaction.flush()
            left = f"it shows the {len(rows)} entries that are left, without seq {_listed(sorted(lost))}"
            yield self._did("branch", name, f"moved to a new revision, {line.head.number}: {left}")


def _numbered(number: int | None) -> str:
    return "nothing" if number is None else f"revision {number}"


def _listed(seqs: Sequence[Any]) -> str:
    listed = ", ".join(map(str, seqs[:10]))
    return listed if len(seqs) <= 10 else f"{listed} and {len(seqs) - 10} more"

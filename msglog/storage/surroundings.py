"""Where a store's file lies: the files beside it, their rights, the file system, who has it open.

Everything is seen from outside, by `stat` and `/proc`: opening the file would drop its locks.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msglog.storage.findings import Finding, error, ok, warning

BESIDE = ("", "-wal", "-shm", "-lock")
"""What is appended to the path of a store for the names of its files."""

NETWORK = re.compile(
    r"nfs\d?|cifs|smb\w*|ncpfs|afs|coda|ceph|glusterfs|lustre|beegfs|gpfs|9p|fuse\.(?!ext|xfs|zfs|ntfs|exfat|fuse-overlayfs).*"
)
"""Types of file systems that lie elsewhere, as far as the system tells."""

GONE_AT_RESTART = {"tmpfs", "ramfs"}
LEAST_FREE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of a store: its rights, as in `0o600`, the number of its owner, and its size in bytes."""

    path: str
    mode: int
    owner: int
    bytes: int


def files(path: str) -> list[FileState]:
    """The files of a store that are there."""
    found = []
    for name in (path + end for end in BESIDE):
        try:
            status = os.stat(name)
        except OSError:
            continue
        found.append(FileState(name, stat.S_IMODE(status.st_mode), status.st_uid, status.st_size))
    return found


def examine_files(path: str, found: list[FileState], identity: tuple[int, int]) -> Iterator[Finding]:
    """Whether the file is the one that was opened, alone and private."""
    about = "the files"
    try:
        status = os.stat(path)
    except OSError as problem:
        yield error(about, f"{path} is gone ({problem.strerror})", "Close the store; what is in it goes with it")
        return
    if (status.st_dev, status.st_ino) != identity:
        yield error(about, f"{path} is not the file that was opened any more", "Close the store and open it again")
    if status.st_nlink > 1:
        advice = "Unlink one: who opens it by the other has other locks"
        yield error(about, f"{path} has {status.st_nlink} names (hard links)", advice)
    shown = [f"{os.path.basename(file.path)} {file.mode:#o}" for file in found if file.mode & 0o077]
    if shown:
        yield warning(about, f"others than the owner have rights: {', '.join(shown)}", "chmod 600, where that is so")
    owners = {file.owner for file in found}
    if len(owners) > 1:
        yield warning(about, f"they belong to several users ({_listed(owners)})", "Have one user run all processes")
    elif owners != {os.geteuid()}:
        yield warning(about, f"they belong to another user ({_listed(owners)})", "Run as that user, or chown them")
    folder = os.stat(os.path.dirname(path))
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        yield warning(about, "everybody may replace them: the directory can be written by all", "chmod o-w it")
    if not shown and owners == {os.geteuid()}:
        yield ok(about, "private to their owner")


def _listed(numbers: set[int]) -> str:
    return ", ".join(f"user {number}" for number in sorted(numbers))


def examine_copies(path: str) -> Iterator[Finding]:
    """Copies that a repair or a backup that was killed left beside the file."""
    folder, name = os.path.split(path)
    copies = sorted(
        each
        for each in os.listdir(folder)
        if each.startswith(f"{name}.before-repair-") or (each.startswith(f"{name}.") and ".partial-" in each)
    )
    if copies:
        yield warning(
            "copies",
            f"copies lie beside the store, with what was redacted or purged since: {', '.join(copies)}",
            "Delete those that are not needed: of repairs, and of backups that did not come to their end",
        )


def free_bytes(path: str) -> int:
    """Bytes that are free where the file lies."""
    status = os.statvfs(os.path.dirname(path))
    return status.f_bavail * status.f_frsize


def examine_space(size: int, free: int) -> Finding:
    """Whether there is room to go on, and for a copy of the file."""
    found = f"{free:,} bytes are free, the store has {size:,}"
    if free < LEAST_FREE:
        return error("free space", found, "Make room: appends will soon be refused")
    if free < 2 * size:
        return warning("free space", found, "Make room before compact, purge or repair: they write the file anew")
    return ok("free space", found)


# The file system


def file_system(path: str, table: str = "/proc/self/mountinfo") -> str | None:
    """The type of the file system that a path is on; None where the system does not tell."""
    try:
        lines = Path(table).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        device = _device(path)
    except OSError:
        return None
    best: tuple[bool, int, str] | None = None
    for line in lines:
        fields, _, rest = line.partition(" - ")
        where, of = re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), fields.split()[4]), fields.split()[2]
        if path == where or path.startswith(where.rstrip("/") + "/"):
            one = (of == device, len(where), rest.split()[0])
            best = one if best is None or one[:2] >= best[:2] else best  # what is mounted last lies on top
    return None if best is None else best[2]


def _device(path: str) -> str:
    number = os.stat(path).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def examine_file_system(kind: str | None) -> Finding:
    """Whether locks and syncs can be relied on there."""
    about = "the file system"
    if kind is None:
        return ok(about, "the system does not tell what it is; it must be a local one")
    if NETWORK.fullmatch(kind):
        return error(
            about,
            f"{kind} is a network file system: SQLite's locks and shared memory do not work between its hosts",
            "Move the store to a local disk",
        )
    if kind in GONE_AT_RESTART:
        return warning(about, f"{kind} is memory: everything is gone at a restart", "Move the store to a disk")
    return ok(about, kind)


# Who has it open


def processes(path: str) -> list[int] | None:
    """The other processes that have a file of the store open, as far as their rights show; None where none does."""
    if not os.path.isdir("/proc/self/fd"):
        return None
    names = {path + end for end in BESIDE}
    return sorted(number for number in _others() if names & set(_open_files(number)))


def _others() -> Iterator[int]:
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and int(entry) != os.getpid():
            yield int(entry)


def _open_files(number: int) -> Iterator[str]:
    folder = f"/proc/{number}/fd"
    try:
        descriptors = os.listdir(folder)
    except OSError:
        return  # another user's, or it ended
    for descriptor in descriptors:
        try:
            yield os.readlink(f"{folder}/{descriptor}")
        except OSError:
            continue

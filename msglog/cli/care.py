"""`verify`, `doctor`, `repair`, `backup`, `compact`, `migrate`: whether a store is whole, and how it is kept so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from msglog.cli.app import command, no
from msglog.cli.opening import chosen, reading, writing
from msglog.cli.options import AsJson, OneLog, StoreFile, WholeStore
from msglog.cli.output import show, show_json, tell, waiting
from msglog.cli.visible import exact_line
from msglog.cli.words import many

if TYPE_CHECKING:
    from msglog.storage.findings import Finding


@command("verify", "msglog verify", "msglog verify agent.db --log customer-123")
def verify(
    whole_store: WholeStore = None, *, log: OneLog = None, store: StoreFile = None, as_json: AsJson = False
) -> None:
    """Walk every hash and recompute every view. Exit code 1 where something does not add up."""
    with reading(chosen(store, whole_store)) as opened, waiting("verifying"):
        report = opened.verify(log)
    if as_json:
        show_json(report, ok=report.ok)
    else:
        for problem in report.problems:
            tell(exact_line(str(problem)))
        if report.truncated:
            tell("… and more")
        looked = (many(report.logs, "log"), many(report.entries, "message"), many(report.revisions, "revision"))
        tell(f"{'all is well' if report.ok else 'PROBLEMS FOUND'}: {', '.join(looked)}")
    if not report.ok:
        no()


@command("doctor", "msglog doctor")
def doctor(whole_store: WholeStore = None, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """Tell what is unsafe about a store and where it lies.

    It looks around the content, which is for `msglog verify`. Exit code 1 where something is to be done.
    """
    with reading(chosen(store, whole_store)) as opened:
        found = opened.doctor()
    if as_json:
        show_json(found, ok=found.ok)
    else:
        for finding in found.findings:
            _finding(finding)
    if not found.ok:
        no()


def _finding(finding: Finding) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    sign, style = {"ok": ("✓", "green"), "warning": ("!", "bold yellow")}.get(finding.severity, ("✗", "bold red"))
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(
        Text(sign, style=style), Text.assemble((f"{exact_line(finding.about)}: ", "dim"), exact_line(finding.found))
    )
    show(line)
    if finding.advice:
        show(Padding(Text(exact_line(finding.advice), style="italic"), (0, 0, 0, 2), expand=False))


@command("repair", "msglog repair", "msglog repair agent.db --apply")
def repair(
    whole_store: WholeStore = None,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Mend it, after a backup beside the store.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Tell what could be mended; with --apply, mend it.

    Nothing is invented: what is lost stays lost, and is listed. Before anything is changed, a backup of the store is
    made beside it. Exit code 1 where problems stay, or wait for --apply.
    """
    with writing(chosen(store, whole_store)) as opened, waiting("looking, and mending" if apply else "looking"):
        report = opened.repair(dry_run=not apply)
    if as_json:
        show_json(report, ok=report.ok)
    else:
        for mend in report.mended:
            tell(f"{'mended' if apply else 'would mend'}: {exact_line(str(mend))}")
        for problem in report.problems:
            tell(f"stays: {exact_line(str(problem))}")
        if report.truncated:
            tell("there are too many problems to mend; restore a backup")
        if report.backup is not None:
            tell(f"as it was before: {report.backup}")
        if report.ok and not report.mended:
            tell("nothing to mend")
    if not report.ok or (report.mended and not apply):
        no()


@command("backup", "msglog backup agent-monday.db")
def backup(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The file to make; nothing may be there yet.")],
    whole_store: WholeStore = None,
    *,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Copy a store as it is at one moment, while writers go on. Never copy the file itself."""
    path = chosen(store, whole_store)
    with reading(path) as opened, waiting("copying"):
        opened.backup(target)
    if as_json:
        show_json({"store": path, "backup": target})
    else:
        tell(f"{target} holds what {path} held")


@command("compact", "msglog compact")
def compact(whole_store: WholeStore = None, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """Give unused space back to the file system.

    The write-ahead log is brought into the file, and the file is written anew; other writers wait meanwhile.
    """
    with writing(chosen(store, whole_store)) as opened, waiting("writing the file anew"):
        report = opened.compact()
    if as_json:
        show_json(report)
        return
    from msglog.cli.words import size

    before, after = report.bytes_before + report.wal_bytes_before, report.bytes_after + report.wal_bytes_after
    tell(f"{size(before)} before, {size(after)} now")
    if not report.complete:
        tell("a reader keeps the last pages in the write-ahead log; they go into the file with a later checkpoint")


@command("migrate", "msglog migrate agent.db")
def migrate(whole_store: WholeStore = None, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """Bring a store of an older release up to date. Only this, and the commands that write, change its tables."""
    from msglog.errors import OlderStoreError

    path = chosen(store, whole_store)
    before = None
    try:
        with reading(path):
            pass
    except OlderStoreError as error:
        before = error.found
    with writing(path) as opened:
        version = opened.sql("SELECT version_num FROM alembic_version")[0]["version_num"]
    if as_json:
        show_json({"store": path, "before": before or version, "version": version})
    else:
        tell(f"{path} was of version {before} and is now of {version}" if before else f"{path} is current ({version})")

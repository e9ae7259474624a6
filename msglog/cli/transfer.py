"""`export`, `import`: conversations out of a store and into it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal, TypeAlias, cast

import typer

from msglog.cli.app import command, no
from msglog.cli.completion import log_names
from msglog.cli.opening import chosen, is_remote, reading, writing
from msglog.cli.options import AsJson, BranchName, StoreFile, WholeStore
from msglog.cli.output import progress, say, show, show_json, tell
from msglog.cli.revisions import found_revision
from msglog.cli.visible import exact_line
from msglog.cli.words import many

if TYPE_CHECKING:
    from msglog.sync import Store
    from msglog.transfer import ImportReport
    from msglog.transfer.view import ViewFormat

Format: TypeAlias = Literal["bundle", "markdown", "html", "json", "finetuning"]

_ENDINGS: dict[str, Format] = {
    ".bundle": "bundle",
    ".md": "markdown",
    ".html": "html",
    ".json": "json",
    ".jsonl": "finetuning",
}


@command(
    "export",
    "msglog export all.bundle.gz",
    "msglog export talk.html --log customer-123",
    "msglog export training.jsonl agent.db",
)
def export(
    target: Annotated[str, typer.Argument(metavar="FILE", help="The file to make; - is standard output.")],
    whole_store: WholeStore = None,
    *,
    log: Annotated[
        list[str] | None,
        typer.Option("--log", metavar="LOG", help="Only this log; may be repeated.", autocompletion=log_names),
    ] = None,
    branch: BranchName = "main",
    at: Annotated[str | None, typer.Option("--at", metavar="REV", help="As this revision of the one --log.")] = None,
    form: Annotated[
        Format | None, typer.Option("--format", metavar="FORM", help="bundle, markdown, html, json or finetuning.")
    ] = None,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Write logs to a file, in the form that its name tells.

    .bundle carries logs whole (all of them, or those of --log) and is read by `msglog import`. The others say what one
    branch shows: .md and .html to be read, .json for programs, .jsonl as examples to fine-tune a model of OpenAI's
    with, one line a log. A name may go on with .gz or .zst. Nothing is overwritten.
    """
    kind = form or _ENDINGS.get(os.path.splitext(target.removesuffix(".gz").removesuffix(".zst"))[1])
    if kind is None:
        raise typer.BadParameter(f"a FILE ends in {', '.join(_ENDINGS)}, or --format says what it is to be")
    if target == "-" and sys.stdout.isatty():
        raise typer.BadParameter("a terminal is no place for a file; redirect standard output")
    from msglog.transfer import export_bundle

    with reading(chosen(store, whole_store)) as opened:
        if kind == "bundle":
            with progress("exporting") as advance:
                report = export_bundle(opened, target, logs=log or None, progress=advance)
            logs, messages = report.logs, report.entries
        else:
            names = log or [info.name for info in opened.logs()]
            if len(names) != 1 and kind != "finetuning":
                raise typer.BadParameter("this form holds one log: name it with --log")
            logs, messages = len(names), _views(opened, names, branch, at, kind, target)
    if target == "-":
        say(f"{many(logs, 'log')}, {many(messages, 'message')}")
    elif as_json:
        show_json({"file": target, "format": kind, "logs": logs, "messages": messages})
    else:
        tell(f"{target} holds {many(logs, 'log')}, {many(messages, 'message')}")


def _views(store: Store, names: list[str], branch: str, at: str | None, kind: ViewFormat, target: str) -> int:
    """Write views, and count their messages."""
    from msglog.transfer import export_view
    from msglog.transfer.streams import Sink

    sink = Sink(target)
    try:
        with progress("exporting") as advance:
            count = 0
            for done, name in enumerate(names, 1):
                shown = None if at is None else found_revision(store, name, at)
                each = advance if len(names) == 1 else None
                count += export_view(store.log(name, branch), cast("BinaryIO", sink), kind, at=shown, progress=each)
                if each is None:
                    advance(done, len(names))
        sink.finish()
    except BaseException as error:
        sink.abandon(error)
        raise
    return count


@command(
    "import",
    "msglog import all.bundle.gz agent.db",
    "msglog import conversations.json --dry-run",
    "msglog import sessions.sqlite --format openai-agents --prefix old/",
)
def import_(
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="The file to read; it is never changed.", show_default=False)
    ] = None,
    whole_store: WholeStore = None,
    *,
    form: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="What it is, where that cannot be told; ? lists all.")
    ] = None,
    prefix: Annotated[str, typer.Option("--prefix", metavar="TEXT", help="Stands before the names of the logs.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would come, and store nothing.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Store nothing unless all of it can come.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Bring in a bundle, or another program's file.

    The store is made where there is none. What the file is, is told from the file. What is in the store already is
    recognised: doing it again adds nothing, and after an interruption it goes on. What cannot be carried over is
    listed, and the exit code is then 1.
    """
    from msglog.transfer.importers import FORMATS, format_of

    known = {"bundle": "what `msglog export` makes: logs whole", **FORMATS}
    if form == "?":
        _list_formats(known, as_json=as_json)
        return
    if form is not None and form not in known:
        raise typer.BadParameter(f"--format is one of {', '.join(known)}")
    if source is None:
        raise typer.BadParameter("name the SOURCE, the file to read")
    os.stat(source)  # nothing is made where there is nothing to read
    if form is None:
        form = "bundle" if _is_bundle(source) else format_of(source)
    path = chosen(store, whole_store)
    with progress("importing") as advance:
        report = None
        if dry_run or strict:
            into = path if is_remote(path) or os.path.exists(path) else ":memory:"
            report = _brought_in(source, into, form, prefix, dry_run=True, advance=advance)
        if report is None or not (dry_run or report.losses):
            report = _brought_in(source, path, form, prefix, dry_run=False, advance=advance)
    if as_json:
        show_json(report, entriesNew=report.entries_new, entriesKnown=report.entries_known)
    else:
        _print(report, path)
    if report.losses:
        no()


def _brought_in(
    source: str, path: str, form: str, prefix: str, *, dry_run: bool, advance: Callable[..., None]
) -> ImportReport:
    from msglog.transfer import import_bundle
    from msglog.transfer.importers import import_file

    with writing(path, create=True) as store:
        if form == "bundle":
            return import_bundle(store, source, prefix=prefix, dry_run=dry_run, progress=advance)
        return import_file(store, source, format=form, prefix=prefix, dry_run=dry_run, progress=advance)


def _is_bundle(source: str) -> bool:
    """Whether the first line of a file, compressed or not, is that of a bundle."""
    from contextlib import closing

    from msglog.errors import BundleError
    from msglog.transfer.lines import row_of
    from msglog.transfer.streams import Source

    with closing(Source(source, 4096)) as lines:
        try:
            return row_of(lines.read() or b"")[0] == "bundle"
        except (BundleError, ValueError):
            return False


def _list_formats(known: Mapping[str, str], *, as_json: bool) -> None:
    from msglog.cli.tables import facts

    if as_json:
        for name, about in known.items():
            show_json({"format": name, "about": about})
    else:
        show(facts(list(known.items())))


def _print(report: ImportReport, path: str) -> None:
    for loss in report.losses:
        tell(f"not carried over: {exact_line(loss.where)}: {exact_line(loss.what)}")
    if report.losses_unlisted:
        tell(f"not carried over: {report.losses_unlisted:,} more")
    came = "would come" if report.dry_run else "came"
    were = "was" if report.entries_known == 1 else "were"
    known = f", {report.entries_known:,} {were} there already" if report.entries_known else ""
    new = f"{many(report.entries_new, 'message')} {came} into {path}, in {many(len(report.logs), 'log')}"
    tell(f"{report.format}: {new}{known}")

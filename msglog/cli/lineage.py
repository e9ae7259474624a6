"""`lineage`: where a conversation's contexts came from, as a drawing."""

from __future__ import annotations

from typing import Annotated

import typer

from msglog.cli.app import command
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, LogName, StoreFile
from msglog.cli.output import show, show_json, tell
from msglog.errors import UnknownLogError


@command("lineage", "msglog lineage customer-123", "msglog lineage customer-123 --svg > lineage.svg")
def lineage(
    log: LogName,
    *,
    dot: Annotated[bool, typer.Option("--dot", help="For Graphviz.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As a Mermaid flowchart.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="As an SVG image.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Draw where a conversation's contexts came from.

    The oldest revision stands above; a run of appends is one line. The numbers are those of revisions, which other
    commands take as REV; "→ 7" is how many messages are shown there. A summary names the seqs of the messages that it
    covers.
    """
    if dot + mermaid + svg + as_json > 1:
        raise typer.BadParameter("only one of --dot, --mermaid, --svg and --json can be drawn")
    from msglog.cli import diagrams
    from msglog.cli.drawing import drawing
    from msglog.cli.graph import steps

    with reading(chosen(store)) as opened:
        found = steps(opened, log)
    if not found:
        raise UnknownLogError(log)
    if as_json:
        for step in found:
            facts = {"first": step.first, "last": step.last, "parent": step.parent, "branch": step.branch}
            show_json({**facts, "what": step.what, "size": step.size, "heads": step.heads, "operation": step.operation})
    elif dot or mermaid or svg:
        for line in (
            diagrams.dot(log, found) if dot else diagrams.mermaid(found) if mermaid else diagrams.svg(log, found)
        ):
            tell(line)
    else:
        show(*drawing(found))

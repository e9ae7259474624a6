"""`diff`: what changed between two views, and how much of the first prompt a provider's cache still covers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msglog.cli.app import command, no
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, LogName, Revision, StoreFile
from msglog.cli.output import show, show_json
from msglog.cli.revisions import found_revision
from msglog.cli.visible import exact_line

if TYPE_CHECKING:
    from msglog.message import StoredMessage


@command("diff", "msglog diff customer-123 main~1 main", "msglog diff customer-123 7 what-if")
def diff(
    log: LogName,
    old: Revision,
    new: Annotated[str, typer.Argument(metavar="REV", help="The revision to compare with it.")],
    *,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare two views, and the beginnings of their prompts.

    The messages that both begin with are what a provider's prompt cache still covers; tokens are estimates. Exit code
    1 where the views differ.
    """
    from msglog.budget import estimate_tokens
    from msglog.budget.tokens import MEDIA_TOKENS
    from msglog.history.difference import changed

    with reading(chosen(store)) as opened:
        on = opened.log(log)
        ids = [found_revision(opened, log, named) for named in (old, new)]
        prefix = on.history(ids[0]).stable_prefix(on.history(ids[1]))
        before, after = (on.view(revision).messages for revision in ids)
    sizes = [estimate_tokens(part, media=MEDIA_TOKENS) for part in (before, after, before[:prefix])]
    changes = list(changed(before, after))
    if as_json:
        _print_json(log, ids, (len(before), len(after), prefix), sizes, changes)
    else:
        _print(log, (old, new), (len(before), len(after), prefix), sizes, changes)
    if any(sign != " " for sign, _ in changes):
        no()


def _print_json(
    log: str, ids: Sequence[str], counts: Sequence[int], tokens: Sequence[int], changes: Sequence[tuple[str, Any]]
) -> None:
    names = ("old", "new", "prefix")
    data: dict[str, Any] = {"log": log, "old": ids[0], "new": ids[1]}
    data |= {f"{name}Messages": count for name, count in zip(names, counts, strict=True)}
    data |= {f"{name}Tokens": count for name, count in zip(names, tokens, strict=True)}
    for name, wanted in (("removed", "-"), ("added", "+")):
        found = [message for sign, messages in changes if sign == wanted for message in messages]
        data[name] = [{"seq": message.seq, "id": message.entry_id, "role": message.role} for message in found]
    show_json(data)


def _print(
    log: str,
    names: tuple[str, str],
    counts: Sequence[int],
    tokens: Sequence[int],
    changes: Sequence[tuple[str, list[StoredMessage]]],
) -> None:
    from rich.text import Text

    from msglog.cli.lines import message_line
    from msglog.cli.tables import facts
    from msglog.cli.words import many

    show(Text.assemble((exact_line(log), "bold"), (f"  {exact_line(names[0])} → {exact_line(names[1])}", "dim")), "")
    sizes = [
        f"{many(count, 'message')}, about {many(size, 'token')}" for count, size in zip(counts, tokens, strict=True)
    ]
    share = f" ({100 * tokens[2] // tokens[0]} % of it)" if tokens[0] else ""
    show(facts([("before", sizes[0]), ("after", sizes[1]), ("same prefix", f"{sizes[2]}{share}")]), "")
    for sign, messages in changes:
        if sign == " ":
            show(Text(f"  … {many(len(messages), 'message')} as before", style="dim"))
            continue
        for message in messages:
            show(message_line(message, sign, "red" if sign == "-" else "green"))

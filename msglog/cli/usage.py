"""`usage`: what the responses of models took, in tokens and dollars."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from msglog.cli.app import command, no
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, OneLog, StoreFile, WholeStore
from msglog.cli.output import say, show, show_json

if TYPE_CHECKING:
    from msglog.budget import LogUsage, UsageTotal


By: TypeAlias = Literal["log", "branch", "model", "day"]


@command("usage", "msglog usage", "msglog usage --by model", "msglog usage --by day --log customer-123")
def usage(
    whole_store: WholeStore = None,
    *,
    by: Annotated[By, typer.Option("--by", metavar="WHAT", help="log, branch, model or day.")] = "log",
    log: OneLog = None,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Tell what models took, in tokens and dollars.

    Each response is counted once: it is a message whose metadata holds `usage`. Where a model's price is not known,
    the cost has a "+".
    """
    with reading(chosen(store, whole_store)) as opened:
        names = [info.name for info in opened.logs(order="name")] if log is None else [opened.describe(log).name]
        totals = _added_up((opened.log(name).usage() for name in names), by)
    if as_json:
        for key, total in totals.items():
            show_json(total, **{by: key}, partial=total.partial)
    elif totals:
        _table(by, totals)
    else:
        say("no response of a model says what it took")
    if not totals:
        no()


def _added_up(found: Iterable[LogUsage], by: By) -> dict[str | None, UsageTotal]:
    totals: dict[str | None, UsageTotal] = {}
    for logged in found:
        for part, total in logged.parts.items():
            key = {"log": logged.log, "branch": part.branch, "model": part.model, "day": part.day.isoformat()}[by]
            totals[key] = totals[key] + total if key in totals else total
    return dict(sorted(totals.items(), key=lambda item: item[0] or "")) if by == "day" else totals


def _table(by: By, totals: dict[str | None, UsageTotal]) -> None:
    from msglog.budget import UsageTotal
    from msglog.cli.tables import Column, table

    columns = (
        Column(by),
        Column("responses", right=True, spare=2),
        Column("input", right=True),
        Column("cached", right=True, spare=1),
        Column("output", right=True),
        Column("cost", right=True),
    )
    rows = [(key if key is not None else "unknown", *_cells(total)) for key, total in totals.items()]
    if len(rows) > 1:
        rows.append(("total", *_cells(sum(totals.values(), UsageTotal()))))
    show(table(columns, rows))


def _cells(total: UsageTotal) -> list[str]:
    tokens = total.tokens
    counts = (total.responses, tokens.all_input_tokens, tokens.cache_read_input_tokens, tokens.output_tokens)
    return [*(f"{count:,}" for count in counts), _dollars(total)]


def _dollars(total: UsageTotal) -> str:
    cost = total.cost.quantize(Decimal("0.0001")) if total.cost < 1 else total.cost.quantize(Decimal("0.01"))
    return f"${cost:,}{'+' if total.partial else ''}"

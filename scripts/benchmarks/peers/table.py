"""The contenders side by side, in interleaved rounds: the table, and msglog's bounds against the fastest of them."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scripts.benchmarks.measure import Bound, Figures, Measured, at_least
from scripts.benchmarks.peers import agno, bare, google_adk, langchain, openai_agents, ours
from scripts.benchmarks.peers.contender import Contender
from scripts.benchmarks.peers.harness import everything
from scripts.benchmarks.setting import Setting

CONTENDERS: Sequence[Contender] = [
    contender
    for library in (ours, bare, openai_agents, langchain, google_adk, agno)
    for contender in library.CONTENDERS
]


@dataclass
class Standing:
    """What a contender came to, round by round, or why it did not."""

    contender: Contender
    rounds: list[Figures] = field(default_factory=list)
    failure: str | None = None

    def median(self, figure: str) -> float:
        """The median over the rounds."""
        return statistics.median(one[figure] for one in self.rounds)


def measure(setting: Setting, rounds: int, wanted: Callable[[str], bool]) -> list[Standing]:
    """The wanted contenders in turns. One that fails is out, and says why."""
    standings = [Standing(contender) for contender in CONTENDERS if wanted(contender.name)]
    for number in range(rounds):
        for standing in standings:
            if standing.failure is None:
                print(f"  {standing.contender.name}, round {number + 1} …", file=sys.stderr, flush=True)
                try:
                    standing.rounds.append(everything(standing.contender, setting))
                except Exception as error:  # noqa: BLE001 the others are measured all the same
                    standing.failure = f"{type(error).__name__}: {error}"
    return standings


def bounds(standings: Sequence[Standing]) -> list[Measured]:
    """How msglog does against the fastest conversation store of the same round."""
    complete = [one for one in standings if one.failure is None and one.rounds]
    mine = next((one for one in complete if one.contender.name == "**msglog**"), None)
    stores = [one for one in complete if one.contender.is_store and "msglog" not in one.contender.name]
    if mine is None or not stores:
        return []
    rows = [
        ("full", 1, "one caller, full: appends a second / the fastest conversation store's", at_least(1)),
        ("normal", 1, "one caller, normal: appends a second / the fastest conversation store's", None),
        ("callers", 2, "callers at once, full: appends a second / the fastest conversation store's", at_least(8)),
    ]
    return [_against(figure, point, what, bound, mine, stores) for figure, point, what, bound in rows]


def _against(
    figure: str, point: int, what: str, bound: Bound | None, mine: Standing, stores: Sequence[Standing]
) -> Measured:
    ratios = [
        one[figure] / max(store.rounds[number][figure] for store in stores) for number, one in enumerate(mine.rounds)
    ]
    fastest = max(stores, key=lambda store: store.median(figure))
    middle = statistics.median(ratios)
    detail = f"{mine.median(figure):,.0f} against {fastest.median(figure):,.0f} of {fastest.contender.name}"
    holds = None if bound is None else bound.holds(middle)
    return Measured(point, what, middle, min(ratios), max(ratios), str(bound or ""), holds, detail)


def as_data(standings: Sequence[Standing]) -> list[dict[str, Any]]:
    """For JSON."""
    return [
        {
            "name": one.contender.name,
            "failure": one.failure,
            "figures": {figure: one.median(figure) for figure in one.rounds[0]} if one.rounds else {},
            "rounds": [dict(figures) for figures in one.rounds],
        }
        for one in standings
    ]


def as_markdown(data: Sequence[Mapping[str, Any]], sizes: Mapping[str, int]) -> str:
    """The table, made of what `as_data` gave."""
    old = f"{sizes['load']:,}"
    heads = (
        "WAL, `synchronous` FULL",
        "one after another, msg/s",
        f"{sizes['callers']} callers on one log, msg/s (worst call, ms)",
        f"append at {old} / at 10",
        f"load {old}, ms",
        "disk / raw JSON",
        "remarks",
    )
    lines = [heads, ("---",) * len(heads), *((one["name"], *_cells(one)) for one in data)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _cells(one: Mapping[str, Any]) -> list[str]:
    figures = one["figures"]
    remarks = [] if one["failure"] is None else [f"failed: {_one_line(one['failure'])}"]
    if not figures:
        return ["", "", "", "", "", *remarks]
    remarks += [f"{figures[what]:,.0f} {what}" for what in ("refused", "lost") if figures[what] > 0]
    return [
        f"{figures['full']:,.0f} (NORMAL {figures['normal']:,.0f})",
        f"{figures['callers']:,.0f} ({figures['worst']:,.0f})",
        f"{figures['ageing']:.1f}",
        f"{figures['load']:,.0f}",
        f"{figures['disk']:.2f}",
        ", ".join(remarks),
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")[:200]

"""`msglog lineage` and `diff`: the graph as a drawing, and what two views share."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import msglog.sync
from msglog.cli.graph import ranges, steps
from tests.cli.conftest import Run, hostile_name


def drawn(run: Run, *arguments: str) -> str:
    ran = run("lineage", *arguments)
    assert ran.code == 0, ran.err
    return ran.out


def grown(store: msglog.sync.Store, seed: int) -> None:
    """A log with branches, edits and rewinds, at random but the same for the same seed."""
    chance = random.Random(seed)
    log = store.log("wild")
    log.add("user", "x")
    branches = ["main"]
    for number in range(25):
        on = store.log("wild", chance.choice(branches))
        what = chance.random()
        ids = [entry.id for entry in on.history().refs()]
        if what < 0.25:
            name = f"b{number}"
            on.fork(name, at=chance.choice([revision.id for revision in on.lineage()]))
            branches.append(name)
        elif what < 0.5 and len(ids) > 2:
            entry = {"message": {"role": "user", "content": "s"}}
            on.edit({"op": "summary", "sourceIds": ids[:-1], "entry": entry, "replace": True})
        elif what < 0.6 and ids:
            on.edit({"op": "remove", "id": ids[-1]})
        else:
            for _ in range(chance.randint(1, 4)):
                on.add("user", "y")


def test_the_drawing_is_as_it_was(run: Run, story: Path, snapshot: Callable[[str, str], None]) -> None:
    with msglog.sync.open(story) as store:
        grown(store, 7)
    snapshot("lineage", "\n".join(drawn(run, name) for name in ("customer-123", "wild")))


@pytest.mark.parametrize("form", ["dot", "mermaid", "svg"])
def test_the_other_forms_are_as_they_were(
    run: Run, story: Path, snapshot: Callable[[str, str], None], form: str
) -> None:
    snapshot(f"lineage-{form}", drawn(run, "customer-123", f"--{form}"))


def test_ten_thousand_appends_are_one_line(run: Run, story: Path) -> None:
    with msglog.sync.open(story, durability="normal") as store:
        log = store.log("long")
        for _ in range(100):
            log.append_many([{"role": "user", "content": "x"}])
        log.append_many([{"role": "user", "content": "x"}] * 9_900)
    assert drawn(run, "long") == "○ 0      root\n● 1-101  [main] +10,000 messages in 101 appends → 10,000\n"


def test_every_revision_is_in_one_step_and_every_head_at_one(story: Path) -> None:
    for seed in range(4):
        with msglog.sync.open(":memory:") as store:
            grown(store, seed)
            found = steps(store, "wild")
            revisions = store.sql("SELECT count(*) AS n FROM revisions")[0]["n"]
            assert sum(step.count for step in found) == revisions, seed
            assert sorted(head for step in found for head in step.heads) == sorted(
                branch.name for branch in store.log("wild").branches()
            )
            ends = {step.last for step in found}
            assert all(step.parent in ends or step.parent is None for step in found), seed


def test_a_step_shares_its_lane_with_no_other_line_that_goes_past_it(story: Path) -> None:
    for seed in range(4):
        with msglog.sync.open(":memory:") as store:
            grown(store, seed)
            past: set[int] = set()
            owner: dict[int, int | None] = {}
            for step in steps(store, "wild"):
                if step.parent is not None:
                    assert owner[step.lane] == step.parent, seed
                owner[step.lane] = step.last
                owner |= dict.fromkeys(step.forks, step.last)
                past = set(step.through)
            assert past == set(), seed


def test_a_summary_names_what_it_covers(run: Run, story: Path) -> None:
    assert "summary of 4 messages (2-5)" in drawn(run, "customer-123")


def test_svg_is_sound_xml_that_loads_and_runs_nothing(run: Run, story: Path) -> None:
    for name in ("customer-123", hostile_name()):
        image = ET.fromstring(drawn(run, name, "--svg"))
        tags = {element.tag.partition("}")[2] for element in image.iter()}
        assert tags <= {"svg", "title", "rect", "path", "circle", "text", "tspan"}
        attributes = {name for element in image.iter() for name in element.attrib}
        assert not any(name.startswith("on") or "href" in name for name in attributes)


def test_mermaid_labels_hold_nothing_that_it_would_take_for_its_own(run: Run, story: Path) -> None:
    for line in drawn(run, hostile_name(), "--mermaid").splitlines()[1:]:
        labels = re.findall(r'"([^"]*)"', line)
        assert line.count('"') == 2 * len(labels)
        assert all(re.fullmatch(r"(?:[\w .,+()-]|#\d+;)*", label) for label in labels), line


def test_only_one_form_can_be_drawn(run: Run, story: Path) -> None:
    assert run("lineage", "customer-123", "--dot", "--svg").code == 2


def test_numbers_as_ranges() -> None:
    assert ranges([5, 2, 3, 4, 9]) == "2-5, 9"


# diff


def compared(run: Run, *arguments: str) -> tuple[int, dict[str, Any]]:
    ran = run("diff", "customer-123", *arguments, "--json")
    return ran.code, json.loads(ran.out)


def test_a_summary_leaves_the_prefix_before_it(run: Run, story: Path) -> None:
    code, found = compared(run, "6", "7")
    assert code == 1
    assert (found["oldMessages"], found["newMessages"], found["prefixMessages"]) == (6, 3, 1)
    assert [entry["seq"] for entry in found["removed"]] == [2, 3, 4, 5]
    assert [entry["seq"] for entry in found["added"]] == [7]
    assert 0 < found["prefixTokens"] < found["oldTokens"]


def test_an_append_keeps_the_whole_prefix(run: Run, story: Path) -> None:
    _, found = compared(run, "6", "what-if")
    assert found["prefixMessages"] == found["oldMessages"] == 6
    assert (found["removed"], [entry["seq"] for entry in found["added"]]) == ([], [8])


def test_the_same_view_differs_in_nothing(run: Run, story: Path) -> None:
    code, found = compared(run, "6", "main~1")
    assert (code, found["removed"], found["added"]) == (0, [], [])


def test_what_moved_is_shown_once_away_and_once_there(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        log = store.log("customer-123", "what-if")
        log.edit({"op": "move", "ids": ["question"], "after": "answer"})
    _, found = compared(run, "what-if~1", "what-if")
    assert [entry["id"] for entry in found["removed"]] == [entry["id"] for entry in found["added"]] == ["question"]


def test_media_is_counted_by_a_fixed_figure(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        part = {"type": "image", "mediaType": "image/png", "data": "A" * 400_000}
        store.log("customer-123", "what-if").append({"role": "user", "content": [part]})
    _, found = compared(run, "what-if~1", "what-if")
    assert found["newTokens"] - found["oldTokens"] == 1500

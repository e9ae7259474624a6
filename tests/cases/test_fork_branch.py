from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import msglog
from msglog import Store
from msglog.errors import CorruptStoreError
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, append_until_killed, user


async def shown(store: Store, branch: str = "main") -> list[str]:
    return [message.text for message in await store.log(LOG, branch).all()]


async def test_frk_1_a_stored_message_never_points_to_what_was_not_stored(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append_many(user(f"{i}") for i in range(20))
        sources = [message.entry_id for message in (await log.all())[:15]]
        await log.edit({"op": "summary", "sourceIds": sources, "entry": user("summary"), "replace": True})
    view = ["summary", *(f"{i}" for i in range(15, 20))]

    for life in range(5):
        with Process(append_until_killed, str(path), f"life {life}") as process:
            assert process.hear()[0] == 0
            process.kill()
        async with msglog.open(path) as store:
            log = store.log(LOG)
            stored = await shown(store)
            assert stored[: len(view) + 1] == [*view, f"life {life} 0"]
            await log.append(user("reopened"))
            view = [*stored, "reopened"]
        async with msglog.open(path) as store:
            assert await shown(store) == view
            assert (await store.verify()).ok
            full = await store.log(LOG).history(full=True)
            known = {revision.id for revision in full.revisions()}
            assert all(revision.parent in known for revision in full.lineage() if revision.parent)


async def test_frk_2_branches_show_the_same_after_a_reload(path: Path) -> None:
    async with msglog.open(path) as store:
        base = store.log(LOG)
        await base.append_many([user("m1"), user("m2")])
        at_m2 = await base.head()
        await base.append_many([user("m3"), user("m4")])
        x = await base.fork("X", at=at_m2)
        await x.append(user("x3"))
        at_x3 = await x.head()
        await x.append(user("x4"))
        y = await x.fork("Y", at=at_x3)
        await y.append(user("y4"))

    expected = {"main": ["m1", "m2", "m3", "m4"], "X": ["m1", "m2", "x3", "x4"], "Y": ["m1", "m2", "x3", "y4"]}
    async with msglog.open(path) as store:
        for branch, texts in expected.items():
            assert await shown(store, branch) == texts
            await store.log(LOG, branch).append(user("more"))
            texts.append("more")
    async with msglog.open(path) as store:
        for branch, texts in expected.items():
            assert await shown(store, branch) == texts
        branches = await store.log(LOG).branches()
        assert [(branch.name, branch.forked_from) for branch in branches] == [
            ("main", None),
            ("X", at_m2),
            ("Y", at_x3),
        ]


def break_open(path: Path, *statements: str) -> None:
    """Change a store behind its back, without the triggers that would refuse it."""
    connection = sqlite3.connect(path, isolation_level=None)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "place", "lost"),
    [
        ("DELETE FROM entries WHERE seq = 3", "seq 3", 3),
        ("DELETE FROM revisions WHERE number = 4", "revision_count", 0),
        ("DELETE FROM chunks", "revision 4", 0),
        ("UPDATE branches SET head = 99", "branch 'main'", 0),
    ],
)
async def test_frk_5_a_dangling_head_is_reported_never_hangs_and_is_repaired_to_the_nearest_good_message(
    path: Path, statement: str, place: str, lost: int
) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append_many(user(f"m{i}") for i in range(1, 101))
        for text in ("m101", "m102"):
            await log.add("user", text)
        scattered = [message.entry_id for message in (await log.all())[::2]]
        await log.commit((await log.history()).with_view(scattered))
    break_open(path, statement)

    async with msglog.open(path) as store:
        with pytest.raises(CorruptStoreError, match=LOG):
            await store.log(LOG).all()
        if statement != "DELETE FROM entries WHERE seq = 3":
            with pytest.raises(CorruptStoreError, match=LOG):
                await store.log(LOG).edit({"op": "remove", "id": scattered[0]})
        problems = (await store.verify()).problems
        assert any(problem.log == LOG and problem.where == place for problem in problems)
        assert [message.text for message in await store.log(LOG).raw.read(limit=2)] == ["m1", "m2"]

        await store.repair(dry_run=False)
        gone_back = place in ("revision 4", "revision_count")
        shown = [message.text for message in await store.log(LOG).all()]
        assert shown == [f"m{i}" for i in (range(1, 103) if gone_back else range(1, 103, 2)) if i != lost]
        await store.log(LOG).add("user", "further")
        assert (await store.verify()).ok == (place == "branch 'main'")

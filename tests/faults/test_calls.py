"""Any call of the file system fails, or finds the disk full: what a store says of it is so, and it goes on."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

if importlib.util.find_spec("apsw") is None:
    pytest.skip("apsw is not installed", allow_module_level=True)

import msglog
from msglog.errors import CannotOpenError, StoreIOError
from tests.faults.calls import EVERY_KIND, sweep
from tests.faults.vfs import faulty_disk
from tests.strategies import user


@pytest.mark.parametrize("kind", EVERY_KIND)
async def test_a_call_that_fails_leaves_what_was_said(tmp_path: Path, kind: str) -> None:
    figures = await sweep(tmp_path, 1, "io", [kind], sample=3)
    assert figures["points"] == 6


@pytest.mark.parametrize("kind", EVERY_KIND)
async def test_a_disk_that_is_full_at_any_call_leaves_what_was_said(tmp_path: Path, kind: str) -> None:
    figures = await sweep(tmp_path, 2, "full", [kind], sample=3)
    assert figures["points"] >= 4


async def test_a_read_that_fails_says_why_and_the_next_one_is_right(path: Path) -> None:
    with faulty_disk() as (faults, driver):
        async with msglog.open(path, driver=driver) as store:
            await store.log("talk").append_many([user("x" * 3000)] * 100)
        async with msglog.open(path, driver=driver) as store:
            for at in range(200):
                faults.arm(at, "io", lasting=True)
                try:
                    await store.log("talk").all()
                except (StoreIOError, CannotOpenError) as error:
                    assert "the query" not in str(error)  # noqa: PT017 it may also come to no call
                if not faults.failed:
                    break
                faults.disarm()
                assert len(await store.log("talk").all()) == 100
            assert at > 0


async def test_what_cannot_be_read_on_is_a_finding_of_verify(path: Path) -> None:
    with faulty_disk() as (faults, driver):
        async with msglog.open(path, driver=driver) as store:
            await store.log("talk").append_many([user("x" * 3000)] * 100)
        async with msglog.open(path, driver=driver) as store:
            faults.arm(20, "io", lasting=True)
            report = await store.verify()
            assert faults.failed
            faults.disarm()
            assert [problem.where for problem in report.problems] == ["the file"]
            assert (await store.verify()).ok

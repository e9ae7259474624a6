"""An import that is killed leaves a beginning of each log, sound as any; done again, it goes on from there."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import msglog
from msglog.storage import copies
from msglog.transfer import export_bundle, import_bundle
from tests.concurrency.processes import Process
from tests.transfer.bundles import exported, fill
from tests.transfer.workers import import_slowly


@pytest.fixture
async def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of many parts."""
    monkeypatch.setattr(copies, "PART_REVISIONS", 2)
    target = tmp_path / "bundle.jsonl"
    async with msglog.open(tmp_path / "source.db", durability="normal") as store:
        await fill(store)
        await export_bundle(store, target)
    return target


@pytest.mark.parametrize("seed", range(4))
async def test_an_import_that_is_killed_leaves_a_sound_beginning_and_goes_on(
    bundle: Path, path: Path, seed: int
) -> None:
    chance = Random(seed)
    heard = 0
    for _ in range(3):
        with Process(import_slowly, str(path), str(bundle)) as importing:
            for _ in range(chance.randrange(1, 12)):
                heard = max(heard, importing.hear())
            importing.kill()
        async with msglog.open(path) as store:
            assert (await store.verify()).problems == []
            assert (await store.stats()).entries >= heard, "what was said to be done is there"
            for info in await store.logs():
                for branch in await store.log(info.name).branches():
                    await store.log(info.name, branch.name).history(full=True)
    async with msglog.open(path) as store:
        known = (await store.stats()).entries
        report = await import_bundle(store, bundle)
        assert report.entries_known == known
        assert await exported(store) == bundle.read_bytes()  # noqa: ASYNC240 a small file


async def test_two_imports_of_one_bundle_at_once_make_one_copy(bundle: Path, path: Path) -> None:
    async with msglog.open(path):
        pass
    with Process(import_slowly, str(path), str(bundle)) as one, Process(import_slowly, str(path), str(bundle)) as two:
        new = one.result() + two.result()
    async with msglog.open(path) as store:
        assert new == (await store.stats()).entries
        assert (await store.verify()).problems == []
        assert await exported(store) == bundle.read_bytes()  # noqa: ASYNC240 a small file

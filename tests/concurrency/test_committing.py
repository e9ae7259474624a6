from __future__ import annotations

import itertools
from pathlib import Path
from typing import Literal

import msglog
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, commit_when_told, user

ROUNDS = 10


async def committed(path: Path, on_conflict: Literal["raise", "rebase"]) -> tuple[list[int], list[str]]:
    """Two processes that commit to the same head, round after round: how many came through, and the log's texts."""
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append(user("first"))
        pair = [Process(commit_when_told, str(path), name, ROUNDS, on_conflict) for name in "ab"]
        for process in pair:
            process.go()
        for _ in range(ROUNDS):
            built = [process.hear() for process in pair]
            head = await log.head()
            assert head not in built
            for process in pair:
                process.tell("commit")
            for process in pair:
                assert process.hear() == "done"
            if on_conflict == "raise":
                assert await log.head() in built
        won = [process.result() for process in pair]
        for process in pair:
            process.kill()
        assert (await store.verify()).ok
        lineage = [revision async for revision in log.lineage()]
        assert all(revision.parent == before.id for revision, before in itertools.pairwise(lineage))
        return won, [message.text for message in await log.all()]


async def test_of_two_commits_to_one_head_exactly_one_wins(path: Path) -> None:
    won, texts = await committed(path, "raise")
    assert sum(won) == ROUNDS
    assert len(texts) == 1 + ROUNDS
    assert [int(text.split()[1]) for text in texts[1:]] == list(range(ROUNDS))


async def test_of_two_rebasing_commits_to_one_head_both_come_in(path: Path) -> None:
    won, texts = await committed(path, "rebase")
    assert won == [ROUNDS, ROUNDS]
    for name in "ab":
        assert [text for text in texts if text[0] == name] == [f"{name} {i}" for i in range(ROUNDS)]
    assert len(texts) == 1 + 2 * ROUNDS

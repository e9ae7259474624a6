from __future__ import annotations

import pytest

from msglog import Store
from msglog.storage import search
from tests.concurrency.workers import user

pytestmark = pytest.mark.every_engine


NAMES = ["a') OR 1=1 --", 'a"b', "$.x", "tenant.name", "a;DROP TABLE entries", "a\nb", "%", "_", "?1", ":name"]


@pytest.mark.parametrize("name", NAMES)
async def test_inj_1_names_and_ids_from_outside_never_become_sql(store: Store, name: str) -> None:
    await store.log("other").append(user("untouched"), id="id")
    schema = await store.sql("SELECT * FROM sqlite_master")
    log = store.log(name)
    assert await log.all() == []
    assert await store.log("other").find(name) is None
    await log.append(user(name), id=name, meta={name: name})
    fork = await log.fork(name)
    await fork.append(user("more"))
    assert [message.text for message in await fork.all()] == [name, "more"]
    assert (await log.get(name)).text == name
    assert await store.sql("SELECT count(*) AS n FROM active_entries WHERE log = ?", (name,)) == [{"n": 3}]
    assert [info.name for info in await store.logs()] == ["other", name]
    assert [message.text for message in await store.log("other").all()] == ["untouched"]
    assert await store.sql("SELECT * FROM sqlite_master") == schema


@pytest.mark.parametrize("words", [*NAMES, "a\0b", "'; DROP TABLE entries; --", 'x" OR "untouched', "* OR untouched"])
@pytest.mark.parametrize("kept", [0, 1000])
async def test_inj_1_words_that_are_searched_never_become_sql_or_a_query(
    store: Store, monkeypatch: pytest.MonkeyPatch, words: str, kept: int
) -> None:
    monkeypatch.setattr(search, "UNINDEXED", kept)
    await store.log("other").append(user("untouched"))
    await store.log("talk").append(user(f"say {words} now"))
    await store.search("make the index")
    schema = await store.sql("SELECT * FROM sqlite_master")
    assert [hit.log for hit in await store.search(words)] == ["talk"]
    assert await store.search(words, log="other") == await store.log(f"{NAMES[0]}").search("untouched") == []
    assert [hit.log for hit in await store.search("untouched", log="other")] == ["other"]
    assert await store.sql("SELECT * FROM sqlite_master") == schema

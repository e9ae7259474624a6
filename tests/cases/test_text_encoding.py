from __future__ import annotations

import json
from pathlib import Path

import pytest

import msglog
from msglog import MessageHistory, MessageLog, Store
from msglog.errors import InvalidNameError
from tests.concurrency.workers import LOG
from tests.transfer.bundles import exported, exported_view, taken_in

pytestmark = pytest.mark.every_engine


async def test_txt_1_a_lone_surrogate_is_stored_and_comes_back_unchanged(path: Path) -> None:
    result = {"role": "tool", "toolCallId": "c1", "content": "menu \ud83d…"}
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append(result, meta={"note": "\udc97"})
        await log.add("user", "ok \U0001f600 \ud83d\ude00")
    for _ in range(2):
        async with msglog.open(path) as store:
            first, second = await store.log(LOG).all()
            assert first.content == result["content"]
            assert first.meta is not None
            assert first.meta.model_extra == {"note": "\udc97"}
            assert second.content == "ok \U0001f600 \ud83d\ude00"
            assert (await store.verify()).ok


async def test_txt_1_what_is_sent_to_a_provider_encodes_to_utf_8(log: MessageLog) -> None:
    await log.add("user", "menu \ud83d… \U0001f600")
    for sent in (await log.to_openai(), await log.to_anthropic()):
        assert "menu \ufffd… \U0001f600" in json.dumps(sent, ensure_ascii=False).encode().decode()


async def test_txt_1_for_people_a_surrogate_has_a_stand_in(store: Store, log: MessageLog) -> None:
    await log.add("user", "menu \ud83d…")
    assert [row["text"] for row in await store.sql("SELECT text FROM active_entries")] == ["menu \ufffd…"]


@pytest.mark.parametrize("name", ["\udc97", "a\0b", ""])
async def test_txt_1_a_name_holds_neither_surrogates_nor_nul(store: Store, log: MessageLog, name: str) -> None:
    with pytest.raises(InvalidNameError):
        store.log(name)
    await log.add("user", "hi")
    with pytest.raises(InvalidNameError):
        await log.fork(name)


async def test_txt_2_nul_characters_pass(path: Path) -> None:
    result = {"role": "tool", "toolCallId": "c1", "content": {"k\0": "v\0"}}
    async with msglog.open(path) as store:
        await store.log(LOG).append_many([{"role": "user", "content": "a\0b"}, result])
    async with msglog.open(path) as store:
        log = store.log(LOG)
        first, second = await log.all()
        assert first.content == "a\0b"
        assert second.content == {"k\0": "v\0"}
        history = await log.history(full=True)
        restored = MessageHistory.from_json(json.loads(json.dumps(history.to_json())))
        assert [message.content for message in restored.render()] == ["a\0b", {"k\0": "v\0"}]
        assert (await log.to_openai())[0]["content"] == "a\0b"
        assert [hit.message.seq for hit in await log.search("b")] == [1]
        assert [hit.message.seq for hit in await log.search("v")] == [2]
        assert "".join(part.text for part in (await log.search("b"))[0].context) == "a\0b"
        shown = await store.sql("SELECT text, length(text) AS length FROM active_entries WHERE seq = 1")
        assert shown == [{"text": "a\u2400b", "length": 3}]
        exports = json.loads(await exported_view(log, "json"))
        assert [message["content"] for message in exports] == ["a\0b", {"k\0": "v\0"}]
        for form in ("markdown", "html"):
            assert "a\u2400b" in await exported_view(log, form)
        async with msglog.open(":memory:") as other:
            await taken_in(other, await exported(store))
            assert [m.content for m in await other.log(LOG).all()] == ["a\0b", {"k\0": "v\0"}]

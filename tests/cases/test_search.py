"""Cases of the kind search: text is text, and is found wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

import msglog
from msglog.message import ToolCall

SAID = ["see POL-358", "don't use v2.0", "C++ a*b (x) AND y"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        *(("POL-358", [0]), ("don't", [1]), ("2.0", [1]), ("C++", [2]), ("a*b", [2]), ("(x)", [2]), ("AND", [2])),
        *(('"quoted"', []), ("-x", []), ("*", [2]), ("", []), ("x" * 5000, []), ("x " * 2500, [2])),
        *(("NEAR(a, b)", []), ("words_1: y", []), ('"', []), ('""', []), ("OR", []), ("NOT y", []), ("^see", [])),
        *(("\0", []), ("\ud83d", []), ("see\0POL-358", [0]), ("' OR 1=1 --", []), ("\n", []), ("{y}", [])),
    ],
    ids=ascii,
)
async def test_src_1_search_text_is_text_not_query_syntax(tmp_path: Path, words: str, found: list[int]) -> None:
    async with msglog.open(tmp_path / "a.db", durability="normal") as store:
        log = store.log("talk")
        await log.append_many([{"role": "user", "content": text} for text in SAID])
        assert sorted(hit.message.seq - 1 for hit in await store.search(words)) == found
        assert sorted(hit.message.seq - 1 for hit in await log.search(words)) == found


async def test_src_3_search_covers_what_tools_say_and_follows_edits(tmp_path: Path) -> None:
    async with msglog.open(tmp_path / "a.db", durability="normal") as store:
        log = store.log("talk")
        await log.append({"id": "said", "message": {"role": "user", "content": "the word ZED"}})
        await log.add("assistant", tool_calls=[ToolCall(id="c1", name="look", args={"for": "ZED"})])
        result = {"role": "tool", "toolCallId": "c1", "content": {"found": [{"names": ["a", "ZED"]}]}}
        await log.append({"id": "result", "message": result})
        summary = {"role": "user", "content": "they said ZED"}
        await log.append({"id": "sum", "kind": "summary", "sources": ["said"], "message": summary})
        picture = {"type": "image", "url": "https://example.org/1.png", "alt": "a ZED"}
        await log.append({"role": "user", "content": [picture]})
        await log.add("user", "请帮我重置密码")

        async def places() -> list[tuple[int, str]]:
            return [(hit.message.seq, hit.message.kind) for hit in reversed(await log.search("zed"))]

        everywhere = [(1, "turn"), (2, "turn"), (3, "turn"), (4, "summary"), (5, "turn")]
        assert await places() == everywhere
        assert [hit.message.seq for hit in await log.search("密码")] == [6]

        replacement = {"role": "user", "content": "another word"}
        await log.edit({"op": "replace", "id": "said", "entries": [replacement]}, {"op": "remove", "id": "result"})
        assert await places() == [(2, "turn"), (4, "summary"), (5, "turn")]
        assert [hit.message.seq for hit in await log.raw.search("zed")] == [5, 4, 3, 2, 1]

        await log.redact("sum")
        assert await places() == [(2, "turn"), (5, "turn")]
        assert [hit.message.seq for hit in await log.raw.search("zed")] == [5, 3, 2, 1]

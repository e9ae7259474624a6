from __future__ import annotations

from typing import Any

import pytest

from msglog import MessageHistory, MessageLog
from msglog.adapters import from_anthropic, from_openai, from_openai_responses
from msglog.errors import CodecError
from tests.concurrency.workers import user

PNG = {"type": "image", "mediaType": "image/png", "data": bytes(range(256)), "name": "p.png"}


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"role": "user", "content": [PNG]}, "content[0].data"),
        ({"message": user("x"), "meta": {"sig": b"\x00\xd6"}}, "meta.sig"),
    ],
)
async def test_bin_1_raw_bytes_are_refused_with_their_path(log: MessageLog, entry: dict[str, Any], place: str) -> None:
    with pytest.raises(CodecError, match="base64") as caught:
        await log.append(entry)
    assert caught.value.path == place
    assert await log.count() == 0


async def test_bin_3_bytes_deep_inside_are_refused_alike_on_every_way_in(log: MessageLog) -> None:
    result = {"role": "tool", "toolCallId": "c1", "content": {"rows": [{"id": 1, "blob": b"\xff\xfe"}]}}
    for attempt in (log.append(result), log.append_many([result])):
        with pytest.raises(CodecError, match=r"content\.rows\[0\]\.blob"):
            await attempt
    with pytest.raises(CodecError, match=r"content\.rows\[0\]\.blob"):
        MessageHistory().append(result)
    assert await log.count() == 0


def test_bin_3_bytes_in_what_a_provider_sent_are_refused_with_their_path() -> None:
    blob = {"type": "image", "source": {"data": b"\xff"}}
    for read, given in (
        (from_openai, {"role": "user", "content": [blob]}),
        (from_openai_responses, {"role": "user", "content": [blob]}),
        (from_anthropic, {"role": "user", "content": [blob]}),
    ):
        with pytest.raises(CodecError) as caught:
            read([given])
        assert caught.value.path == "[0].content[0].source.data"

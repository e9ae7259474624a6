"""The store that the viewer's tests look at: one of each thing that there is to see."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msglog
from msglog import Store

TALK = "support/train 7:58"
LONG = "long"
HOSTILE = '<script>document.title="ran"</script>'
MARKUP = '<img src=x onerror="document.title=\'ran\'"><script>document.title="ran"</script>'
LENGTH = 20_000
BIG = 12345678901234567890
HIDDEN = "turn\u202e around \u200b\U000e0041 and a half \ud800 end"


@dataclass(frozen=True, slots=True)
class Made:
    """What tests have to know of it: revisions of the talk."""

    start: str
    summarised: str
    head: str


def image(colour: tuple[int, int, int] = (40, 120, 90)) -> str:
    """A small PNG, as base64."""
    rows = b"".join(b"\0" + bytes(colour) * 24 for _ in range(12))
    parts = ((b"IHDR", struct.pack(">IIBBBBB", 24, 12, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in parts)
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


def response(message: dict[str, Any], read: int, written: int, cached: int = 0) -> dict[str, Any]:
    """A model's response, and what it took."""
    usage = {"input_tokens": read, "output_tokens": written, "cache_read_input_tokens": cached}
    return {"message": {"role": "assistant", **message}, "meta": {"model": "claude-sonnet-4-5", "usage": usage}}


async def make(path: Path) -> Made:
    """Make the store."""
    async with msglog.open(path) as store:
        made = await _talk(store)
        await _hostile(store)
        for start in range(0, LENGTH, 5000):
            await store.log(LONG).append_many(
                {"role": ("user", "assistant")[n % 2], "content": f"Message {n + 1}." + " On time?" * (n % 40)}
                for n in range(start, start + 5000)
            )
        return made


async def _talk(store: Store) -> Made:
    log = store.log(TALK)
    await log.add(
        "system", "You are the assistant of a railway.\n\n- Look at the **status** first, with `train_status`."
    )
    await log.add("user", "Is the 7:58 on time?")
    thought = {"type": "reasoning", "text": "The 7:58 is the IC 61."}
    call = {"id": "c1", "name": "train_status", "args": {"train": "IC 61", "ticket": BIG, "factor": 1.0}}
    await log.append(
        response({"content": [thought, {"type": "text", "text": "Let me look."}], "tool_calls": [call]}, 400, 60)
    )
    await log.add("tool", {"delay_minutes": 12}, tool_call_id="c1")
    await log.append(response({"content": "It runs 12 minutes late."}, 60, 20, 400))
    board = {"type": "image", "mediaType": "image/png", "data": image()}
    await log.append({"role": "user", "content": [{"type": "text", "text": "The board says so too."}, board]})
    await log.append(
        response({"content": None, "tool_calls": [{"id": "c2", "name": "timetable", "args": {}}]}, 500, 10)
    )
    await log.add("tool", "\n".join(f"row {n} of the timetable" for n in range(3000)), tool_call_id="c2")
    await log.append(response({"content": "There is a train every half hour."}, 9000, 12, 500))
    history = await log.history()
    start = history.revision_id
    summary = {"role": "assistant", "content": "The 7:58 is 12 minutes late; the customer knows."}
    ids = [entry.id for entry in history.refs()[1:6]]
    history = history.edit({"op": "summary", "sourceIds": ids, "entry": summary, "replace": True})
    summarised = (await log.commit(history)).revision_id
    await log.add("user", "My card is 4111 1111 1111 1111.")
    await log.redact(await log.count(), "a card number")
    await log.append(response({"content": "Please send no card numbers."}, 2000, 9))
    side = await log.fork("what-if", at=start)
    await side.add("user", "And the 9:58?")
    await log.describe(title="The 7:58 to Basel", tags=["trains"])
    head = await log.head()
    assert head is not None
    return Made(start, summarised, head)


async def _hostile(store: Store) -> None:
    """Everything that a page shows of a log, as something that would run if it were taken for a page."""
    log = store.log(HOSTILE)
    drawing = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').decode()
    parts = [
        {"type": "image", "mediaType": "image/svg+xml", "data": drawing},
        {"type": "image", "mediaType": "image/png", "data": f'{image()}" onerror="alert(1)'},
        {"type": "image", "mediaType": "image/png", "url": "https://tracker.example/pixel.png"},
        {"type": "image_url", "image_url": {"url": "javascript:alert(1)"}},
        {"type": MARKUP, "text": MARKUP},
        {"type": "text", "text": f"[a link](javascript:alert(1)) </textarea></script>{MARKUP}"},
    ]
    await log.append({"role": "user", "name": MARKUP, "content": parts})
    call = {"id": MARKUP, "name": MARKUP, "args": {MARKUP: MARKUP, "__proto__": {"polluted": True}}}
    await log.append(
        {
            "message": {"role": "assistant", "content": None, "tool_calls": [call]},
            "meta": {"model": MARKUP, "usage": {"input_tokens": 1}},
        }
    )
    await log.add("tool", MARKUP, tool_call_id=MARKUP)
    await log.add("user", HIDDEN)
    await log.add("user", f"# {MARKUP}\n\n```{MARKUP}\n{MARKUP}\n```\n- **{MARKUP}** `{MARKUP}`")
    history = await log.history()
    summary = {"role": "assistant", "content": MARKUP}
    ids = [entry.id for entry in history.refs()[3:5]]
    await log.commit(history.edit({"op": "summary", "sourceIds": ids, "entry": summary, "replace": True}))
    await log.fork(MARKUP)
    await log.rewind(history.revision_id, meta={"reason": MARKUP})
    await log.describe(title=MARKUP, tags=[MARKUP])

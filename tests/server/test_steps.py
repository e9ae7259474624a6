"""What each step kept of the prompt before it, where a message stands, what each response took."""

from __future__ import annotations

import httpx

from msglog import MessageLog


async def test_a_step_tells_what_it_kept_of_the_view_before_it(http: httpx.AsyncClient, log: MessageLog) -> None:
    for text in ("a" * 40, "b" * 40, "c" * 40, "d" * 40):
        await log.add("user", text)
    history = await log.history()
    summary = {"role": "assistant", "content": "b and c" * 4}
    ids = [entry.id for entry in history.refs()[1:3]]
    await log.commit(history.edit({"op": "summary", "sourceIds": ids, "entry": summary, "replace": True}))
    await log.add("user", "e" * 40)
    steps = (await http.get("/v1/logs/talk/steps")).json()["steps"]
    told = [(s["type"], s["messages"], s["tokens"], s["kept"]["messages"], s["kept"]["tokens"]) for s in steps[:3]]
    assert told == [("append", 4, 37, 3, 27), ("edit", 3, 27, 1, 10), ("append", 4, 40, 3, 30)]
    assert (steps[-1]["type"], steps[-1]["parent"], steps[-1]["messages"]) == ("root", None, 0)


async def test_a_message_that_says_the_same_is_still_covered(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.append_many([{"role": "user", "content": text} for text in ("a", "b")])
    history = await log.history()
    first = history.refs()[0].id
    same = {"op": "replace", "id": first, "entries": [{"role": "user", "content": "a"}]}
    await log.commit(history.edit(same))
    step = (await http.get("/v1/logs/talk/steps", params={"limit": 1})).json()["steps"][0]
    assert step["kept"]["messages"] == 2


async def test_steps_come_page_by_page(http: httpx.AsyncClient, log: MessageLog) -> None:
    for n in range(5):
        await log.add("user", str(n))
    sizes: list[int] = []
    query: dict[str, str | int] = {"limit": 2}
    while True:
        page = (await http.get("/v1/logs/talk/steps", params=query)).json()
        sizes += [step["messages"] for step in page["steps"]]
        if page["next"] is None:
            break
        query["before"] = page["next"]
    assert sizes == [5, 4, 3, 2, 1, 0]


async def test_the_place_of_a_message_is_that_in_the_view(http: httpx.AsyncClient, log: MessageLog) -> None:
    for n in range(4):
        await log.add("user", str(n))
    before = await log.head()
    history = await log.history()
    await log.commit(history.edit({"op": "remove", "id": history.refs()[1].id}))

    async def place(seq: int, **query: str | int) -> object:
        return (await http.get("/v1/logs/talk/place", params={"seq": seq, **query})).json()["position"]

    assert [await place(seq) for seq in (1, 2, 3, 5)] == [0, None, 1, None]
    assert await place(2, revision=str(before)) == 1


async def test_responses_are_told_one_by_one_with_their_cost(http: httpx.AsyncClient, log: MessageLog) -> None:
    for n, model in enumerate(("claude-sonnet-4-5", "no-such-model")):
        await log.add("user", "hi")
        meta = {"model": model, "usage": {"input_tokens": 1000, "output_tokens": n}}
        await log.append({"message": {"role": "assistant", "content": "x"}, "meta": meta})
    first = (await http.get("/v1/logs/talk/responses", params={"limit": 1})).json()
    assert [(one["seq"], one["cost"]) for one in first["responses"]] == [(2, "0.003")]
    rest = (await http.get("/v1/logs/talk/responses", params={"after": first["next"]})).json()
    assert [(one["seq"], one["cost"], one["tokens"]["output_tokens"]) for one in rest["responses"]] == [(4, None, 1)]
    assert rest["next"] is None

"""Tool exchanges as providers want them: each call with exactly one result, right after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msglog.adapters.names import Renaming
from msglog.adapters.stand_ins import INTERRUPTED
from msglog.adapters.steps import Step
from msglog.message import Message


def closed(steps: Iterable[Step], ids: Renaming, *, adjacent: bool = True, unique: bool = True) -> list[Step]:
    """The steps with every tool exchange whole, and with the ids to send.

    A result belongs to the nearest call of its id before it that is still unanswered; one without such a call is
    left out. A call without a result gets one that says so. With `adjacent`, results stand right after their
    message, in the order in which they came; else only after it. With `unique`, every call of the conversation
    has its own id; else every call of a message.
    """
    kept, answers = _matched(steps)
    seen: Counter[str] = Counter()
    ordered: list[Step] = []
    for place, step in enumerate(kept):
        if step.message.role == "tool":
            if not adjacent:
                ordered.append(step)
            continue
        ordered.append(step)
        if place not in answers:
            continue
        if not unique:
            seen.clear()
        _name_calls(step, ids, seen)
        results = answers[place]
        for k, result in enumerate(results):
            if result is not None:
                kept[result].call, kept[result].call_id = step.calls[k], step.call_ids[k]
        if adjacent:
            for expected, result in enumerate(sorted(r for r in results if r is not None), place + 1):
                if result != expected:
                    kept[result].note("moved", "a result stands right after its call")
                ordered.append(kept[result])
        ordered += [_stand_in(step, k) for k, result in enumerate(results) if result is None]
    return ordered


def _matched(steps: Iterable[Step]) -> tuple[list[Step], dict[int, list[int | None]]]:
    """The steps without stray results, and for each that calls tools, by its place, the places of the results."""
    kept: list[Step] = []
    answers: dict[int, list[int | None]] = {}
    waiting: dict[str | None, list[tuple[int, int]]] = {}  # id -> place and number of its open calls, nearest last
    for step in steps:
        if step.message.role == "tool":
            open_calls = waiting.get(step.message.tool_call_id)
            if not open_calls:
                step.note("dropped", "a result without a call that waits for it")
                continue
            place, k = open_calls.pop()
            answers[place][k] = len(kept)
        elif step.calls:
            place = len(kept)
            answers[place] = [None] * len(step.calls)
            for k in reversed(range(len(step.calls))):
                waiting.setdefault(step.calls[k].id, []).append((place, k))
        kept.append(step)
    return kept, answers


def _name_calls(step: Step, ids: Renaming, seen: Counter[str]) -> None:
    named = []
    for k, call in enumerate(step.calls):
        named.append(ids(call.id, seen[call.id]))
        seen[call.id] += 1
        if named[k] != call.id:
            step.note("renamed", "the id is not one that the provider takes, or was used before", f"tool_calls[{k}].id")
    step.call_ids = tuple(named)


def _stand_in(step: Step, k: int) -> Step:
    call = step.calls[k]
    step.note("answered", "the call has no result", f"tool_calls[{k}]")
    message = Message(role="tool", content=INTERRUPTED, tool_call_id=call.id, extra={"isError": True})
    return Step(message, step.index, step.entry_id, step.provider, None, call=call, call_id=step.call_ids[k])

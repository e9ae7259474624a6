"""Tool-call pairs: which results answer which calls, and which entries belong together."""

from __future__ import annotations

from collections.abc import Sequence

from msglog.message import Entry


def exchanges(entries: Sequence[Entry]) -> list[list[int]]:
    """The positions of each tool exchange: an assistant message with calls, and the results that answer it.

    A result belongs to the nearest call of its id before it that is still unanswered, so ids that a provider
    uses again in a later turn pair rightly.
    """
    found: list[list[int]] = []
    unanswered: dict[str, list[int]] = {}  # call id -> indices into `found`, oldest first
    for position, entry in enumerate(entries):
        message = entry.message
        if message.role == "assistant" and message.tool_calls:
            for call in message.tool_calls:
                unanswered.setdefault(call.id, []).append(len(found))
            found.append([position])
        elif message.role == "tool" and message.tool_call_id is not None:
            waiting = unanswered.get(message.tool_call_id)
            if waiting:
                found[waiting.pop()].append(position)
    return found


def broken_pairs(entries: Sequence[Entry]) -> dict[str, str]:
    """Entries that stand apart from their other half, by id, with what is wrong.

    That is a call without its result or with something between, and a result without its call.
    """
    wrong: dict[str, str] = {}
    paired: set[int] = set()
    for positions in exchanges(entries):
        paired.update(positions)
        head = entries[positions[0]]
        if len(positions) != 1 + len(head.message.tool_calls):
            wrong[head.id] = "a call without its result"
        elif positions[-1] - positions[0] != len(positions) - 1:
            wrong[head.id] = "a call apart from its result"
    for position, entry in enumerate(entries):
        if entry.message.role == "tool" and position not in paired:
            wrong[entry.id] = "a result without its call"
    return wrong


def widened(ids: Sequence[str], entries: Sequence[Entry]) -> tuple[str, ...]:
    """`ids`, and the other members of every exchange that they touch, in the order of `entries`; last, unknown ids."""
    wanted = set(ids)
    for positions in exchanges(entries):
        members = {entries[p].id for p in positions}
        if members & wanted:
            wanted |= members
    found = {entry.id: entry for entry in entries if entry.id in wanted}
    return (*found, *(i for i in ids if i not in found))

"""Messages on their way to a provider: each with its place, and the report of what is changed about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from msglog.adapters.blocks import unfolded
from msglog.adapters.names import Renaming
from msglog.adapters.origin import came_from, foreign, own
from msglog.adapters.report import Repair, What
from msglog.checks import checked_list
from msglog.message import Entry, Message, ToolCall, as_message

Given: TypeAlias = Message | Entry | Mapping[str, Any]
"""What the adapters take as a message: messages, stored messages, entries, and dicts of messages."""

Report: TypeAlias = list[Repair] | None


@dataclass(slots=True)
class Step:
    """A message on its way out.

    Of an assistant message, `call_ids` are the ids to send for its calls, in their order. Of a tool message, `call`
    is the call that it answers, and `call_id` the id to send for it.
    """

    message: Message
    index: int
    entry_id: str | None
    provider: str
    report: Report
    call_ids: tuple[str, ...] = ()
    call: ToolCall | None = None
    call_id: str = ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of an assistant message; others call nothing."""
        return self.message.tool_calls if self.message.role == "assistant" else ()

    def note(self, what: What, why: str, path: str = "") -> None:
        """Put a repair into the report, if one is kept."""
        if self.report is not None:
            self.report.append(Repair(what, why, self.index, path, self.entry_id))

    @property
    def came_from_provider(self) -> bool:
        """Whether the provider that it goes to once sent it."""
        return came_from(self.message.extra, self.provider)

    @property
    def own(self) -> dict[str, Any]:
        """What the provider that it goes to once sent beyond the common fields."""
        return own(self.message.extra, self.provider)

    def own_of(self, call: ToolCall) -> dict[str, Any]:
        """What the provider that it goes to once sent with a call beyond the common fields."""
        return own(call.extra, self.provider)

    @property
    def is_error(self) -> bool:
        """Whether a tool message reports a failure: `isError` in its `extra`."""
        return bool(self.message.extra.get("isError"))

    def named(self, k: int, names: Renaming, *, own: bool = False) -> str:
        """The name of call number `k` as the provider takes it."""
        raw = self.calls[k].name
        name = names(raw, own=own)
        if name != raw:
            self.note("renamed", "the name is not one that the provider takes", f"tool_calls[{k}].name")
        return name

    def sent(self, value: Any) -> Any:
        """A plain copy of a JSON value that UTF-8 can hold: each lone surrogate becomes U+FFFD."""
        try:
            return _copied(value, strict=True)
        except UnicodeEncodeError:
            self.note("replaced", "lone surrogates cannot be sent as UTF-8")
            return _copied(value, strict=False)

    def note_name(self) -> None:
        """Report that the format has no place for the name of the message, unless the call that it answers has it."""
        if self.message.name is not None and (self.call is None or self.call.name != self.message.name):
            self.note("dropped", "the format has no place for a name here", "name")

    def note_error(self) -> None:
        """Report that the format cannot mark a result as an error."""
        if self.is_error:
            self.note("dropped", "the format has no mark for a result that is an error", "extra.isError")


def steps(messages: Iterable[Given], provider: str, report: Report) -> list[Step]:
    """The messages as steps to `provider`; what only another provider understands is reported as left out."""
    found: list[Step] = []
    for index, given in enumerate(checked_list(messages)):
        message = given.message if isinstance(given, Entry) else as_message(given)
        entry_id = given.id if isinstance(given, Entry) else getattr(given, "entry_id", None)
        for one in [message] if came_from(message.extra, provider) else unfolded(message):
            step = Step(one, index, entry_id, provider, report)
            _note_foreign(step)
            found.append(step)
    return found


def _note_foreign(step: Step) -> None:
    message = step.message
    why = "fields that this provider did not send"
    if foreign(message, step.provider):
        step.note("dropped", why, "extra")
    for k, call in enumerate(message.tool_calls):
        if foreign(call, step.provider):
            step.note("dropped", why, f"tool_calls[{k}].extra")
    if message.tool_calls and message.role != "assistant":
        step.note("dropped", "only an assistant calls tools", "tool_calls")
    if message.tool_call_id is not None and message.role != "tool":
        step.note("dropped", "only a tool message answers a call", "tool_call_id")


def _copied(value: Any, *, strict: bool) -> Any:
    if isinstance(value, str):
        return _encodable(value, strict=strict)
    if isinstance(value, dict):  # in loops: a comprehension would take a second frame of the stack a level
        copy: dict[str, Any] = {}
        for key, item in value.items():
            name = _encodable(key, strict=strict)
            while name in copy:  # two keys that differ only in their surrogates
                name += "\ufffd"
            copy[name] = _copied(item, strict=strict)
        return copy
    if isinstance(value, list):
        items: list[Any] = []
        for item in value:
            items.append(_copied(item, strict=strict))  # noqa: PERF401 see above
        return items
    return value


def _encodable(text: str, *, strict: bool) -> str:
    if text.isascii():
        return text
    if strict:
        text.encode()
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

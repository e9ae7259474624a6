"""A message on one line."""

from __future__ import annotations

from rich.text import Text

from msglog.cli.output import on_terminal, width
from msglog.cli.transcript import ROLES, arguments
from msglog.cli.visible import one_line
from msglog.message import StoredMessage

_SEQ, _ROLE, _TIME = 6, 9, 8


def message_line(message: StoredMessage, mark: str = "", style: str = "") -> Text:
    """Seq, time, role and the words or calls of a message; cut where a terminal ends. Narrow ones lack the time."""
    head = Text.assemble((mark, style), (f"{message.seq:>{_SEQ}}  ", style or "dim"))
    if width() >= 60:
        head.append(f"{message.at:%H:%M:%S}  ", "dim")
    head.append(f"{message.role:<{_ROLE}}  ", ROLES[message.role])
    room = max(10, width() - head.cell_len) if on_terminal() else None
    words = Text(one_line(summary_of(message), room), style="dim" if message.redacted else "")
    if room is not None:
        words.truncate(room, overflow="ellipsis")
    return head + words


def summary_of(message: StoredMessage) -> str:
    """The words of a message, or its calls."""
    if message.redacted:
        return "[redacted]"
    calls = " ".join(f"{call.name}({arguments(call)})" for call in message.tool_calls)
    said = f"{message.text} {calls}" if calls else message.text
    return f"(summary) {said}" if message.kind == "summary" else said

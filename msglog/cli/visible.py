r"""What is stored, made fit for a terminal: whatever would steer it, or deceive its reader, stands as an escape.

This is the one rule for it. `Output` applies it to everything that it prints, so that no command can forget it;
commands apply it themselves where the width of a text matters, which an escape changes.
"""

from __future__ import annotations

import re

_STEERING = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # the control characters but tab and newline: C0, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of writing
    "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # what cannot be seen; joiners are needed
    "\u2028\u2029"  # line and paragraph separators
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # further invisible ones: tags above all
    "\ud800-\udfff"  # surrogates, which no terminal can be sent
    "]"
)
_SPACE = re.compile(r"\s+")


def visible(text: str) -> str:
    r"""`text` with every steering or invisible character as an escape (`\x1b`, `\u202e`); lines stay lines."""
    text = text.replace("\r\n", "\n")
    return _STEERING.sub(lambda found: _escape(found[0]), text)


def one_line(text: str, most: int | None = None) -> str:
    """`text` made visible on one line, runs of space as one; cut with an ellipsis after `most` characters."""
    if most is not None:
        text = text[: 4 * most + 100]  # a preview of a huge text costs what it shows
    line = _SPACE.sub(" ", visible(text)).strip()
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def exact_line(text: str) -> str:
    r"""`text` made visible on one line, exactly: newlines and tabs as escapes too. For names, ids and messages."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

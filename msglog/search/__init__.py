"""What it means that a message matches: words, phrases and beginnings of words, in any script. Pure: no index, no I/O.

A store's index only narrows down which messages are looked at; whether one matches is decided here.
"""

from __future__ import annotations

from msglog.search.context import Fragment, Hit

__all__ = ["Fragment", "Hit"]

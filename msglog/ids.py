"""Generated ids: 16 characters, time-ordered, unique within a log for all practical purposes.

Nine characters of milliseconds since 1970 and seven of randomness that counts up within a millisecond,
in Crockford's base 32, which sorts as ASCII. Uniqueness is enforced by the log, not assumed.
"""

from __future__ import annotations

import os
import threading
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TAIL_BITS = 35
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]


class IdSource:
    """Makes ids that rise within one process. Safe to call from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._high = 0
        self._start = ""

    def __call__(self) -> str:
        """The next id."""
        moment = time.time_ns() // 1_000_000 << _TAIL_BITS
        with self._lock:
            if moment >> _TAIL_BITS > self._last >> _TAIL_BITS:
                # One bit is left free, so that counting up has room within the millisecond.
                self._last = moment | int.from_bytes(os.urandom(5), "big") >> 6
            else:
                self._last += 1
            value = self._last
            high = value >> 30
            if high != self._high:  # the first five of the eight pairs serve for a millisecond
                self._high = high
                self._start = "".join([_PAIRS[high >> shift & 1023] for shift in range(40, -1, -10)])
            start = self._start
        return f"{start}{_PAIRS[value >> 20 & 1023]}{_PAIRS[value >> 10 & 1023]}{_PAIRS[value & 1023]}"

    def restart(self) -> None:
        """Forget the last id, in a forked child: it must not count on from its parent's."""
        self._lock = threading.Lock()
        self._last = self._high = 0


new_id = IdSource()
"""The process's source of ids."""

os.register_at_fork(after_in_child=new_id.restart)

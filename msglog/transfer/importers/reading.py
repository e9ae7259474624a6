"""A source while it is read: where it is, how far the reading is, what was lost, and what its logs are called."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from msglog.checks import checked_name
from msglog.errors import InvalidNameError
from msglog.transfer.report import Losses


@dataclass(slots=True)
class Reading:
    """What an importer is given, and keeps up to date. `done` of `total` counts bytes of a text, rows of a database."""

    path: str
    losses: Losses = field(default_factory=Losses)
    done: int = 0
    total: int | None = None
    names: set[str] = field(default_factory=set)

    @property
    def stem(self) -> str:
        """The name of the file, without its last suffix: what a log is called where the source has no name for it."""
        return os.path.splitext(os.path.basename(self.path))[0] or "imported"

    def name(self, given: Any, otherwise: str) -> str:
        """A name for one more log, from the source's own: made valid, and told apart from those before it.

        What had to be changed is noted as a loss. `otherwise` serves where the source gives no name.
        """
        name = (
            str(given) if isinstance(given, (str, int)) and not isinstance(given, bool) and given != "" else otherwise
        )
        valid = name.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if valid != name:
            self.losses.add(valid, "the name of the log had characters that no name can have; they stand as U+FFFD")
        free = valid
        n = 1
        while free in self.names:
            n += 1
            free = f"{valid}-{n}"
        if free != valid:
            self.losses.add(free, "the name of the log was taken by an earlier one of this source; it got a number")
        self.names.add(free)
        return free


def is_name(value: Any) -> bool:
    """Whether a value of a source can be an id or a name as it is."""
    try:
        checked_name(value, "an id")
    except InvalidNameError:
        return False
    return True

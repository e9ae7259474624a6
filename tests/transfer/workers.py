"""What the processes of the tests of transfer do."""

from __future__ import annotations

from pathlib import Path

import msglog.sync
from msglog.transfer import import_bundle
from tests.concurrency.processes import Wire


def import_slowly(wire: Wire, path: str, bundle: str) -> int:
    """Import a bundle, saying after each part how many entries are done; how many were new."""
    with msglog.sync.open(path) as store:
        return import_bundle(store, Path(bundle), progress=lambda done, _total: wire.say(done)).entries_new

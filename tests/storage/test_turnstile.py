"""Turns between processes: whoever waits looks often, for another that never rests leaves little time between turns."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from msglog.storage.turnstile import LONGEST_PAUSE, Turnstile


def test_whoever_waits_for_long_looks_as_often_as_at_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, pauses = str(tmp_path / "agent.db"), []
    with closing(Turnstile(path)) as ours, closing(Turnstile(path)) as theirs:
        assert theirs.enter(time.monotonic())

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 100:
                theirs.leave()

        monkeypatch.setattr(time, "sleep", pause)
        assert ours.enter(time.monotonic() + 60)
        assert len(pauses) == 100
        assert max(pauses) <= 1.5 * LONGEST_PAUSE

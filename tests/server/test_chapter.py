"""docs/server.md: its examples are run, in order, against one service, and print what it says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.server.serving import free_port

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "server.md").read_text("utf-8")
EXAMPLES = re.findall(r"```(console|python)\n((?:(?!```).)*)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
MADE = re.compile(r'\d{4}-\d\d-\d\dT[\d:.+]+|(?<="revision":")[^"]+')
"""What is another each time: times, and ids of revisions."""


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl to run the examples with")
def test_every_example_prints_what_the_page_says(path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "msglog", "serve", str(path), "--create", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as service:
        try:
            while True:
                try:
                    httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False)
                    break
                except httpx.TransportError:
                    time.sleep(0.02)
            for language, code, expected in EXAMPLES:
                at = code.replace(":8700", f":{port}")
                if language == "python":
                    printed = run([sys.executable, "-W", "error", "-c", at])
                else:
                    commands = [line.replace("\\\n", "") for line in at.removeprefix("$ ").split("\n$ ")]
                    printed = "".join(f"{run(['bash', '-c', each]).strip()}\n" for each in commands)
                assert MADE.sub("…", printed) == MADE.sub("…", expected), code
        finally:
            service.terminate()
    assert len(EXAMPLES) == 5


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return done.stdout
